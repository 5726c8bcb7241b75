//! What the inputs of targets of kernels say: any bytes at all are some blocks of some type, and any shape.
//!
//! | kind | head | rest |
//! | --- | --- | --- |
//! | [`Kind::Blocks`] | the type | blocks |
//! | [`Kind::Products`] | the type; rows, blocks a row, columns, paddings; how many activations; these, as binary32 | blocks |
//!
//! Numbers of the head are bytes, taken modulo what they choose from. Rows are made of the blocks in turn, columns
//! of the activations in turn, from the first again after the last: small inputs make large products.

use gguf_spec::kernel::{Columns, KernelError, Matmul, Matrix, extent};
use gguf_spec::types::TensorType;

use crate::Kind;

/// Bytes of the head of a product before its activations.
pub const SHAPE: usize = 6;

/// Bytes of an activation.
pub const ACTIVATION: usize = size_of::<f32>();

/// What fills the bytes behind a row of weights: as a scale of any kind, NaN.
const JUNK: u8 = 0xFF;

/// The types that inputs choose from, those with a layout.
#[must_use]
pub fn types() -> usize {
    TensorType::live().count()
}

/// The type that a byte chooses.
///
/// # Panics
///
/// If the table of types is empty.
#[must_use]
pub fn chosen(byte: u8) -> &'static TensorType {
    match TensorType::live().nth(usize::from(byte) % types()) {
        Some(ty) => ty,
        None => panic!("the table of types is empty"),
    }
}

/// The byte that chooses a type; 0 for one without a layout.
#[must_use]
pub fn choice(ty: &TensorType) -> u8 {
    TensorType::live().position(|row| row.id == ty.id).and_then(|at| u8::try_from(at).ok()).unwrap_or(0)
}

/// Bytes of a block of a type.
#[must_use]
pub fn block_bytes(ty: &TensorType) -> usize {
    usize::try_from(ty.bytes).unwrap_or(usize::MAX)
}

/// Where the blocks of an input begin: nothing but the length of the head.
#[must_use]
pub fn head(kind: Kind, bytes: &[u8]) -> usize {
    let length = match (kind, bytes.get(SHAPE - 1)) {
        (Kind::Products, Some(&count)) => SHAPE + ACTIVATION * (usize::from(count) + 1),
        (Kind::Products, None) => SHAPE,
        (Kind::Blocks | Kind::File | Kind::Lines, _) => 1,
    };
    length.min(bytes.len())
}

/// An input of [`Kind::Blocks`]: the type and all bytes behind it, whole blocks or not.
#[must_use]
pub fn blocks(bytes: &[u8]) -> Option<(&'static TensorType, &[u8])> {
    bytes.split_first().map(|(&first, rest)| (chosen(first), rest))
}

/// The shape of a product, in terms of what is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Rows, 1 to 8.
    pub rows: usize,
    /// Blocks a row: 1 to 5; of plain numbers, which are blocks of one, 1 to 80.
    pub blocks: usize,
    /// Columns, 1 to 9.
    pub columns: usize,
    /// Blocks between rows, 0 to 3.
    pub row_padding: usize,
    /// Elements between columns, 0 to 3.
    pub column_padding: usize,
    /// Elements between columns of the result, 0 to 3.
    pub result_padding: usize,
    /// Threads that may be used, 1 to 4.
    pub threads: usize,
}

impl Shape {
    fn read(ty: &TensorType, bytes: &[u8]) -> Option<Self> {
        let &[_, rows, blocks, columns, paddings, _] = bytes.first_chunk::<SHAPE>()?;
        let two_bits = |from: u8| usize::from(paddings >> from & 3);
        Some(Self {
            rows: usize::from(rows % 8) + 1,
            blocks: usize::from(blocks % if ty.quantized { 5 } else { 80 }) + 1,
            columns: usize::from(columns % 9) + 1,
            row_padding: two_bits(0),
            column_padding: two_bits(2),
            result_padding: two_bits(4),
            threads: two_bits(6) + 1,
        })
    }

    /// The bytes that say so, behind the one of the type.
    #[must_use]
    pub fn bytes(&self) -> [u8; SHAPE - 2] {
        let byte = |number: usize| u8::try_from(number).unwrap_or(u8::MAX);
        let paddings = self.row_padding | self.column_padding << 2 | self.result_padding << 4 | (self.threads - 1) << 6;
        [byte(self.rows - 1), byte(self.blocks - 1), byte(self.columns - 1), byte(paddings)]
    }
}

/// An input of [`Kind::Products`].
#[derive(Clone, Debug)]
pub struct Product {
    ty: &'static TensorType,
    shape: Shape,
    /// Weights a row.
    k: usize,
    weights: Vec<u8>,
    activations: Vec<f32>,
}

impl Product {
    /// What an input says; `None` if it has no block or no activation.
    #[must_use]
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let ty = chosen(*bytes.first()?);
        let shape = Shape::read(ty, bytes)?;
        let (head, rest) = bytes.split_at(head(Kind::Products, bytes));
        let values = head[SHAPE..].chunks_exact(ACTIVATION).map(|bytes| match bytes.first_chunk() {
            Some(bytes) => f32::from_le_bytes(*bytes),
            None => 0.0,
        });
        let (values, blocks): (Vec<f32>, Vec<&[u8]>) = (values.collect(), rest.chunks_exact(block_bytes(ty)).collect());
        if values.is_empty() || blocks.is_empty() {
            return None;
        }
        let k = shape.blocks * usize::try_from(ty.block).ok()?;
        let mut in_turn = blocks.iter().cycle();
        let rows = (0..shape.rows).map(|_| in_turn.by_ref().take(shape.blocks).copied().collect::<Vec<_>>().concat());
        let weights = spread(rows, (shape.blocks + shape.row_padding) * block_bytes(ty), JUNK);
        let mut in_turn = values.iter().copied().cycle();
        let columns = (0..shape.columns).map(|_| in_turn.by_ref().take(k).collect());
        let activations = spread(columns, k + shape.column_padding, f32::NAN);
        Some(Self { ty, shape, k, weights, activations })
    }

    /// The type of the weights.
    #[must_use]
    pub fn ty(&self) -> &'static TensorType {
        self.ty
    }

    /// The product as a kernel is asked for it.
    ///
    /// # Errors
    ///
    /// If the parts do not fit each other, which is a fault of this module.
    pub fn matmul(&self) -> Result<Matmul<'_>, KernelError> {
        let Shape { rows, blocks, columns, row_padding, column_padding, result_padding, threads } = self.shape;
        let row_stride = (blocks + row_padding) * block_bytes(self.ty);
        debug_assert_eq!(extent(columns, self.k, self.k + column_padding), Some(self.activations.len()));
        Ok(Matmul {
            weights: Matrix::new(self.ty, rows, self.k, row_stride, &self.weights)?,
            columns: Columns::new(columns, self.k, self.k + column_padding, &self.activations)?,
            y_stride: rows + result_padding,
            threads,
        })
    }
}

/// Runs of elements, so far apart; what is between them is filled, and nothing follows the last.
fn spread<T: Copy>(runs: impl Iterator<Item = Vec<T>>, stride: usize, fill: T) -> Vec<T> {
    let mut all = Vec::new();
    for (i, run) in runs.enumerate() {
        all.resize(i * stride, fill);
        all.extend_from_slice(&run);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_can_be_chosen() {
        for ty in TensorType::live() {
            assert_eq!(chosen(choice(ty)).id, ty.id, "{}", ty.name);
        }
    }

    #[test]
    fn a_product_is_its_blocks_and_activations_in_turn() {
        let q8_0 = TensorType::from_name("Q8_0").unwrap();
        let shape =
            Shape { rows: 2, blocks: 2, columns: 2, row_padding: 1, column_padding: 3, result_padding: 2, threads: 4 };
        let mut bytes = [&[choice(q8_0)][..], &shape.bytes(), &[2]].concat();
        bytes.extend([1.0_f32, 2.0, 3.0].map(f32::to_le_bytes).concat());
        bytes.extend([[0x11; 34], [0x22; 34], [0x33; 34]].concat());
        bytes.extend([0x44; 33]);
        let product = Product::read(&bytes).unwrap();
        let matmul = product.matmul().unwrap();
        let blocks = [[0x11; 34], [0x22; 34], [JUNK; 34], [0x33; 34], [0x11; 34]];
        assert_eq!(matmul.weights.bytes, blocks.concat());
        assert_eq!((matmul.weights.rows, matmul.weights.k), (2, 64));
        // 64 is one more than a multiple of three.
        assert_eq!(matmul.columns.column(0)[..3], [1.0, 2.0, 3.0]);
        assert_eq!(matmul.columns.column(1)[..3], [2.0, 3.0, 1.0]);
        assert_eq!((matmul.columns.stride, matmul.y_stride, matmul.threads), (67, 4, 4));
        assert!(Product::read(&bytes[..SHAPE + 3]).is_none() && Product::read(&[]).is_none());
    }
}
