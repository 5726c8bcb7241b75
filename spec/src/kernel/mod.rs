//! Kernels: the operations on quantized tensors that are judged, what each gets and gives, and the
//! [`KernelSet`] that somebody's kernels stand behind.
//!
//! A matrix of weights is stored as ggml stores a tensor: row after row, each row `k` weights in whole blocks,
//! row `i` beginning `i * row_stride` bytes into the data. Activations and results are `f32`, column after
//! column, as ggml stores `src1` and `dst` of a product: `y[c * y_stride + r] = sum over i of w[r, i] * x[c *
//! x_stride + i]`.
//!
//! What a right kernel may do beyond the arithmetic is its [`contract::Contract`].

pub mod check;
pub mod contract;

use std::fmt;

use crate::types::{ScaleKind, TensorType};
use contract::Contract;

/// What a kernel does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Operation {
    /// Blocks to weights.
    Dequantize,
    /// A row of activations to blocks of a type that activations are held in.
    QuantizeRow,
    /// One row of weights with one row of activations.
    Dot,
    /// A matrix of weights with columns of activations.
    Matmul,
    /// The same with one of several matrices for each column: a mixture of experts.
    MatmulId,
    /// Chosen rows of a matrix, decoded.
    GetRows,
}

/// One row of the table of operations.
#[derive(Clone, Copy, Debug)]
pub struct OperationRow {
    /// The operation.
    pub operation: Operation,
    /// The name in case names, filters and records.
    pub name: &'static str,
    /// The number in the C interface.
    pub id: u32,
    /// What it does, as a phrase.
    pub meaning: &'static str,
}

/// The operations, in the order of their ids.
pub const OPERATIONS: [OperationRow; 6] = {
    const fn row(operation: Operation, name: &'static str, id: u32, meaning: &'static str) -> OperationRow {
        OperationRow { operation, name, id, meaning }
    }
    [
        row(Operation::Dequantize, "dequantize", 0, "blocks to weights"),
        row(Operation::QuantizeRow, "quantize-row", 1, "a row of activations to blocks"),
        row(Operation::Dot, "dot", 2, "one row of weights with one row of activations"),
        row(Operation::Matmul, "matmul", 3, "a matrix of weights with columns of activations"),
        row(Operation::MatmulId, "matmul-id", 4, "columns of activations, each with one of several matrices"),
        row(Operation::GetRows, "get-rows", 5, "chosen rows of a matrix, decoded"),
    ]
};

impl Operation {
    fn row(self) -> &'static OperationRow {
        // The table is in the order of the enum; a unit test holds it to that.
        &OPERATIONS[self as usize]
    }

    /// The name in case names, filters and records.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// The number in the C interface.
    #[must_use]
    pub fn id(self) -> u32 {
        self.row().id
    }

    /// What it does, as a phrase.
    #[must_use]
    pub fn meaning(self) -> &'static str {
        self.row().meaning
    }

    /// The operation of this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        OPERATIONS.iter().find(|row| row.name == name).map(|row| row.operation)
    }

    /// The operation of this number.
    #[must_use]
    pub fn from_id(id: u32) -> Option<Self> {
        OPERATIONS.iter().find(|row| row.id == id).map(|row| row.operation)
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Why a kernel gave no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KernelError {
    /// The set has no kernel for this.
    Unsupported,
    /// The arguments do not fit each other; says which, with expected and actual.
    Arguments(String),
    /// The kernel itself failed: it returned an error, or the process it ran in ended or did not answer.
    Failed(String),
}

impl fmt::Display for KernelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unsupported => f.write_str("not supported"),
            Self::Arguments(what) | Self::Failed(what) => f.write_str(what),
        }
    }
}

impl std::error::Error for KernelError {}

/// Rows of weights in memory.
#[derive(Clone, Copy, Debug)]
pub struct Matrix<'a> {
    /// The type of the weights.
    pub ty: &'static TensorType,
    /// How many rows.
    pub rows: usize,
    /// Weights a row, whole blocks.
    pub k: usize,
    /// Bytes from the start of one row to the start of the next, at least [`Matrix::row_bytes`].
    pub row_stride: usize,
    /// The rows. The last one need not be followed by what fills its stride.
    pub bytes: &'a [u8],
}

impl<'a> Matrix<'a> {
    /// A matrix whose parts fit each other.
    ///
    /// # Errors
    ///
    /// [`KernelError::Arguments`] if a row is not whole blocks, if rows overlap, or if `bytes` is too short.
    pub fn new(
        ty: &'static TensorType,
        rows: usize,
        k: usize,
        row_stride: usize,
        bytes: &'a [u8],
    ) -> Result<Self, KernelError> {
        let matrix = Self { ty, rows, k, row_stride, bytes };
        let row = row_bytes(ty, k)?;
        if row_stride < row {
            return Err(KernelError::Arguments(format!(
                "row stride: expected at least {row} bytes ({k} weights of {}), got {row_stride}",
                ty.name
            )));
        }
        let needed = match rows {
            0 => Some(0),
            _ => (rows - 1).checked_mul(row_stride).and_then(|start| start.checked_add(row)),
        };
        match needed {
            Some(needed) if bytes.len() >= needed => Ok(matrix),
            _ => Err(KernelError::Arguments(format!(
                "weights: expected {} bytes for {rows} rows of {row} bytes, {row_stride} apart, got {}",
                needed.map_or_else(|| "more than memory holds".to_owned(), |needed| needed.to_string()),
                bytes.len()
            ))),
        }
    }

    /// Bytes of a row without what fills its stride.
    #[must_use]
    pub fn row_bytes(&self) -> usize {
        row_bytes(self.ty, self.k).unwrap_or(0)
    }

    /// The blocks of a row.
    ///
    /// # Panics
    ///
    /// If there is no such row.
    #[must_use]
    pub fn row(&self, row: usize) -> &'a [u8] {
        assert!(row < self.rows, "row {row} of {}", self.rows);
        &self.bytes[row * self.row_stride..][..self.row_bytes()]
    }
}

/// Bytes of so many weights.
///
/// # Errors
///
/// [`KernelError::Arguments`] if they are not whole blocks, or the type has no layout.
pub fn row_bytes(ty: &'static TensorType, k: usize) -> Result<usize, KernelError> {
    let whole = || {
        let block = usize::try_from(ty.block).ok()?;
        let bytes = usize::try_from(ty.bytes).ok()?;
        (block > 0 && k.is_multiple_of(block)).then_some(())?;
        (k / block).checked_mul(bytes)
    };
    whole().ok_or_else(|| {
        KernelError::Arguments(match ty.block {
            0 => format!("type: {} was removed and has no layout", ty.name),
            block => format!("row: expected a multiple of {block} weights for {}, got {k}", ty.name),
        })
    })
}

/// What the address of a block is a multiple of, in bytes: what the widest number in a block needs. C structures
/// of the blocks need as much and not more, so the strides of rows and of experts are multiples of it for kernels
/// that may be written in C.
#[must_use]
pub fn alignment(ty: &TensorType) -> usize {
    if !ty.quantized {
        return usize::try_from(ty.bytes).unwrap_or(1);
    }
    let needs = |kind| match kind {
        ScaleKind::E8M0 | ScaleKind::Ue4M3 => 1,
        ScaleKind::F16 | ScaleKind::SplitF16 => 2,
        ScaleKind::F32 => 4,
    };
    ty.scales().map(|field| needs(field.kind)).max().unwrap_or(1)
}

/// Columns of `f32`, `k` each, column `c` beginning `c * stride` elements into the data.
#[derive(Clone, Copy, Debug)]
pub struct Columns<'a> {
    /// How many columns.
    pub count: usize,
    /// Elements a column.
    pub k: usize,
    /// Elements from the start of one column to the start of the next, at least `k`.
    pub stride: usize,
    /// The columns. The last one need not be followed by what fills its stride.
    pub values: &'a [f32],
}

impl<'a> Columns<'a> {
    /// Columns whose parts fit each other.
    ///
    /// # Errors
    ///
    /// [`KernelError::Arguments`] if columns overlap or `values` is too short.
    pub fn new(count: usize, k: usize, stride: usize, values: &'a [f32]) -> Result<Self, KernelError> {
        if stride < k {
            return Err(KernelError::Arguments(format!("column stride: expected at least {k} elements, got {stride}")));
        }
        let needed = extent(count, k, stride);
        if needed.is_none_or(|needed| values.len() < needed) {
            return Err(KernelError::Arguments(format!(
                "activations: expected {} elements for {count} columns of {k}, {stride} apart, got {}",
                needed.map_or_else(|| "more than memory holds".to_owned(), |needed| needed.to_string()),
                values.len()
            )));
        }
        Ok(Self { count, k, stride, values })
    }

    /// One column.
    ///
    /// # Panics
    ///
    /// If there is no such column.
    #[must_use]
    pub fn column(&self, column: usize) -> &'a [f32] {
        assert!(column < self.count, "column {column} of {}", self.count);
        &self.values[column * self.stride..][..self.k]
    }
}

/// Elements from the start of the first of `count` runs of `length` to the end of the last, `stride` apart.
#[must_use]
pub fn extent(count: usize, length: usize, stride: usize) -> Option<usize> {
    match count {
        0 => Some(0),
        _ => (count - 1).checked_mul(stride)?.checked_add(length),
    }
}

/// A product of weights and columns: `y` gets `columns.count` columns of `weights.rows` elements, `y_stride`
/// apart; what fills the stride is left as it is.
#[derive(Clone, Copy, Debug)]
pub struct Matmul<'a> {
    /// The weights.
    pub weights: Matrix<'a>,
    /// The activations; their `k` is that of the weights.
    pub columns: Columns<'a>,
    /// Elements from the start of one column of the result to the start of the next.
    pub y_stride: usize,
    /// How many threads may be used, at least 1.
    pub threads: usize,
}

/// Products with experts: token `t` uses the experts `ids[t * used + s]` for `s` in `0..used`, and the result
/// has a column for each pair, `y[(t * used + s) * y_stride + row]`.
#[derive(Clone, Copy, Debug)]
pub struct MatmulId<'a> {
    /// The first expert; the others follow, `expert_stride` bytes apart, alike but for their blocks. `bytes`
    /// holds all of them.
    pub weights: Matrix<'a>,
    /// How many experts.
    pub experts: usize,
    /// Bytes from the start of one expert to the start of the next.
    pub expert_stride: usize,
    /// One expert of each pair, token after token; those of one token differ in every question that is asked here.
    pub ids: &'a [u32],
    /// Experts a token.
    pub used: usize,
    /// The activations: a column a token, used with each of its experts; or, if there are as many as `ids`, a
    /// column a pair.
    pub columns: Columns<'a>,
    /// Elements from the start of one column of the result to the start of the next.
    pub y_stride: usize,
    /// How many threads may be used, at least 1.
    pub threads: usize,
}

/// Somebody's kernels.
///
/// A call that is not for an operation, a type or a number of columns of which [`KernelSet::contract`] tells a
/// contract answers [`KernelError::Unsupported`]. Arguments that do not fit each other are
/// [`KernelError::Arguments`], never undefined behaviour.
pub trait KernelSet {
    /// The name in tables and records, such as `scalar` or `ggml-0.25.1/haswell`.
    fn name(&self) -> &str;

    /// What a right kernel of this set may do, for so many columns.
    ///
    /// # Errors
    ///
    /// [`KernelError::Unsupported`] if it has no kernel, [`KernelError::Failed`] if it could not be asked.
    fn contract(&self, operation: Operation, ty: &'static TensorType, columns: usize) -> Result<Contract, KernelError>;

    /// Decodes whole blocks: one `f32` a weight into `out`.
    ///
    /// # Errors
    ///
    /// See [`KernelError`].
    fn dequantize(&mut self, ty: &'static TensorType, blocks: &[u8], out: &mut [f32]) -> Result<(), KernelError>;

    /// Encodes a row of activations into whole blocks of `ty`.
    ///
    /// # Errors
    ///
    /// See [`KernelError`].
    fn quantize_row(&mut self, ty: &'static TensorType, values: &[f32], out: &mut [u8]) -> Result<(), KernelError>;

    /// One row of weights with as many activations. The set brings the activations into the form its contract
    /// names.
    ///
    /// # Errors
    ///
    /// See [`KernelError`].
    fn dot(&mut self, ty: &'static TensorType, weights: &[u8], activations: &[f32]) -> Result<f32, KernelError>;

    /// A matrix with columns.
    ///
    /// # Errors
    ///
    /// See [`KernelError`].
    fn matmul(&mut self, product: &Matmul<'_>, y: &mut [f32]) -> Result<(), KernelError>;

    /// Experts with columns.
    ///
    /// # Errors
    ///
    /// See [`KernelError`].
    fn matmul_id(&mut self, product: &MatmulId<'_>, y: &mut [f32]) -> Result<(), KernelError> {
        let _ = (product, y);
        Err(KernelError::Unsupported)
    }

    /// The chosen rows, decoded: `ids.len()` columns of `k`, one after the other.
    ///
    /// # Errors
    ///
    /// See [`KernelError`].
    fn get_rows(&mut self, weights: &Matrix<'_>, ids: &[u32], y: &mut [f32]) -> Result<(), KernelError> {
        let _ = (weights, ids, y);
        Err(KernelError::Unsupported)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_of_operations_is_in_order() {
        for (i, row) in OPERATIONS.iter().enumerate() {
            assert_eq!(row.operation as usize, i);
            assert_eq!(row.id as usize, i);
            assert_eq!(Operation::from_name(row.name), Some(row.operation));
            assert_eq!(Operation::from_id(row.id), Some(row.operation));
        }
    }

    #[test]
    fn blocks_keep_the_alignment_of_the_first() {
        for ty in TensorType::live() {
            assert!(ty.bytes.is_multiple_of(alignment(ty) as u64), "{}", ty.name);
        }
    }

    #[test]
    fn a_matrix_must_fit_its_bytes() {
        let ty = TensorType::from_name("Q4_0").unwrap();
        assert!(Matrix::new(ty, 2, 64, 40, &[0; 76]).is_ok());
        let says = |rows, k, stride, bytes: &[u8]| Matrix::new(ty, rows, k, stride, bytes).unwrap_err().to_string();
        assert_eq!(says(2, 64, 40, &[0; 75]), "weights: expected 76 bytes for 2 rows of 36 bytes, 40 apart, got 75");
        assert_eq!(says(2, 48, 40, &[0; 76]), "row: expected a multiple of 32 weights for Q4_0, got 48");
        assert_eq!(says(1, 64, 35, &[0; 76]), "row stride: expected at least 36 bytes (64 weights of Q4_0), got 35");
        assert_eq!(
            says(3, 32, usize::MAX / 2 + 1, &[0; 76]),
            format!(
                "weights: expected more than memory holds bytes for 3 rows of 18 bytes, {} apart, got 76",
                usize::MAX / 2 + 1
            )
        );
    }
}
