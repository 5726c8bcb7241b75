//! Whether the arguments of a call fit each other. Every [`KernelSet`](super::KernelSet) asks here before it
//! touches memory, so that a call from outside can be wrong but not dangerous.
//!
//! Each function answers [`KernelError::Arguments`], which says what was expected and what came.

use super::{Columns, KernelError, Matmul, MatmulId, Matrix, extent, row_bytes};
use crate::types::TensorType;

fn arguments(message: String) -> Result<(), KernelError> {
    Err(KernelError::Arguments(message))
}

/// The one comparison of lengths that must be equal.
fn exactly(what: &str, unit: &str, actual: usize, expected: usize) -> Result<(), KernelError> {
    if actual == expected { Ok(()) } else { arguments(format!("{what}: expected {expected} {unit}, got {actual}")) }
}

/// The weights in so many bytes of whole blocks.
///
/// # Errors
///
/// If they are not whole blocks, or the type has no layout.
pub fn weights_in(ty: &'static TensorType, bytes: usize) -> Result<usize, KernelError> {
    let size = row_bytes(ty, usize::try_from(ty.block).unwrap_or(usize::MAX))?;
    if !bytes.is_multiple_of(size) {
        arguments(format!("blocks: expected a multiple of {size} bytes for {}, got {bytes}", ty.name))?;
    }
    usize::try_from(ty.block).ok().and_then(|block| (bytes / size).checked_mul(block)).ok_or_else(|| {
        KernelError::Arguments(format!("blocks: {bytes} bytes of {} are more weights than memory holds", ty.name))
    })
}

/// Blocks to weights: `blocks` bytes, `out` elements.
///
/// # Errors
///
/// If the bytes are not whole blocks, or there is not one element a weight.
pub fn dequantize(ty: &'static TensorType, blocks: usize, out: usize) -> Result<(), KernelError> {
    exactly("weights", "elements", out, weights_in(ty, blocks)?)
}

/// A row to blocks: `values` elements, `out` bytes.
///
/// # Errors
///
/// If the elements are not those of whole blocks, or the bytes not as many as these have.
pub fn quantize_row(ty: &'static TensorType, values: usize, out: usize) -> Result<(), KernelError> {
    exactly("blocks", "bytes", out, row_bytes(ty, values)?)
}

/// A row with a row: `weights` bytes, `activations` elements.
///
/// # Errors
///
/// If the elements are not those of whole blocks, or the bytes not as many as these have.
pub fn dot(ty: &'static TensorType, weights: usize, activations: usize) -> Result<(), KernelError> {
    exactly("weights", "bytes", weights, row_bytes(ty, activations)?)
}

/// A matrix whose fields were set by hand.
///
/// # Errors
///
/// Those of [`Matrix::new`].
pub fn matrix(weights: &Matrix<'_>) -> Result<(), KernelError> {
    Matrix::new(weights.ty, weights.rows, weights.k, weights.row_stride, weights.bytes).map(|_| ())
}

/// A result of so many columns in `y` elements.
fn result(columns: usize, rows: usize, stride: usize, y: usize) -> Result<(), KernelError> {
    if stride < rows {
        return arguments(format!("stride of the result: expected at least {rows} elements, got {stride}"));
    }
    match extent(columns, rows, stride) {
        Some(needed) if y >= needed => Ok(()),
        needed => arguments(format!(
            "result: expected {} for {columns} columns of {rows}, {stride} apart, got {y}",
            needed.map_or_else(|| "more than memory holds".to_owned(), |needed| format!("{needed} elements"))
        )),
    }
}

fn operands(weights: &Matrix<'_>, columns: &Columns<'_>, threads: usize) -> Result<(), KernelError> {
    matrix(weights)?;
    Columns::new(columns.count, columns.k, columns.stride, columns.values)?;
    exactly("activations", "elements a column", columns.k, weights.k)?;
    if threads == 0 { arguments("threads: expected at least 1, got 0".to_owned()) } else { Ok(()) }
}

/// A product, with `y` elements for its result.
///
/// # Errors
///
/// If the operands do not fit each other, or the result does not fit the elements.
pub fn matmul(product: &Matmul<'_>, y: usize) -> Result<(), KernelError> {
    operands(&product.weights, &product.columns, product.threads)?;
    result(product.columns.count, product.weights.rows, product.y_stride, y)
}

/// A product with experts, with `y` elements for its result.
///
/// # Errors
///
/// If the operands do not fit each other, an id names no expert, or the result does not fit the elements.
pub fn matmul_id(product: &MatmulId<'_>, y: usize) -> Result<(), KernelError> {
    let MatmulId { weights, experts, expert_stride, ids, used, columns, y_stride, threads } = product;
    operands(weights, columns, *threads)?;
    ids_below(ids, *experts, "experts")?;
    if *used == 0 || !ids.len().is_multiple_of(*used) {
        return arguments(format!("ids: expected a multiple of the {used} experts a token, got {}", ids.len()));
    }
    let tokens = ids.len() / used;
    if columns.count != tokens && columns.count != ids.len() {
        return arguments(format!(
            "activations: expected {tokens} columns, one a token, or {}, one an id, got {}",
            ids.len(),
            columns.count
        ));
    }
    let expert = extent(weights.rows, weights.row_bytes(), weights.row_stride).unwrap_or(usize::MAX);
    if *expert_stride < expert {
        return arguments(format!("stride of experts: expected at least {expert} bytes, got {expert_stride}"));
    }
    let needed = extent(*experts, expert, *expert_stride);
    if needed.is_none_or(|needed| weights.bytes.len() < needed) {
        return arguments(format!(
            "weights: expected {} for {experts} experts of {expert} bytes, {expert_stride} apart, got {}",
            needed.map_or_else(|| "more than memory holds".to_owned(), |needed| format!("{needed} bytes")),
            weights.bytes.len()
        ));
    }
    result(ids.len(), weights.rows, *y_stride, y)
}

/// Chosen rows, decoded into `y` elements.
///
/// # Errors
///
/// If the matrix does not fit its bytes, an id names no row, or there are not `k` elements an id.
pub fn get_rows(weights: &Matrix<'_>, ids: &[u32], y: usize) -> Result<(), KernelError> {
    matrix(weights)?;
    ids_below(ids, weights.rows, "rows")?;
    match ids.len().checked_mul(weights.k) {
        Some(expected) => exactly("result", "elements", y, expected),
        None => arguments(format!("result: {} rows of {} elements are more than memory holds", ids.len(), weights.k)),
    }
}

fn ids_below(ids: &[u32], count: usize, what: &str) -> Result<(), KernelError> {
    let inside = |id: u32| usize::try_from(id).is_ok_and(|id| id < count);
    match ids.iter().position(|&id| !inside(id)) {
        Some(at) => arguments(format!("ids[{at}]: expected one of {count} {what}, got {}", ids[at])),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ty(name: &str) -> &'static TensorType {
        TensorType::from_name(name).unwrap()
    }

    fn says(result: Result<(), KernelError>) -> String {
        result.unwrap_err().to_string()
    }

    #[test]
    fn rows_are_whole_blocks_and_outputs_as_long() {
        assert_eq!(dequantize(ty("Q4_0"), 36, 64), Ok(()));
        assert_eq!(says(dequantize(ty("Q4_0"), 37, 64)), "blocks: expected a multiple of 18 bytes for Q4_0, got 37");
        assert_eq!(says(dequantize(ty("Q4_0"), 36, 63)), "weights: expected 64 elements, got 63");
        assert_eq!(says(dequantize(ty("Q4_2"), 36, 64)), "type: Q4_2 was removed and has no layout");
        assert_eq!(says(quantize_row(ty("Q8_0"), 33, 34)), "row: expected a multiple of 32 weights for Q8_0, got 33");
        assert_eq!(says(dot(ty("Q8_0"), 33, 32)), "weights: expected 34 bytes, got 33");
    }

    #[test]
    fn a_product_must_fit_its_operands_and_its_result() {
        let (bytes, values) = ([0; 72], [0.0; 96]);
        let good = Matmul {
            weights: Matrix::new(ty("Q4_0"), 4, 32, 18, &bytes).unwrap(),
            columns: Columns::new(3, 32, 32, &values).unwrap(),
            y_stride: 5,
            threads: 1,
        };
        assert_eq!(matmul(&good, 14), Ok(()));
        assert_eq!(says(matmul(&good, 13)), "result: expected 14 elements for 3 columns of 4, 5 apart, got 13");
        let bad = Matmul { y_stride: 3, ..good };
        assert_eq!(says(matmul(&bad, 99)), "stride of the result: expected at least 4 elements, got 3");
        let bad = Matmul { columns: Columns { k: 16, ..good.columns }, ..good };
        assert_eq!(says(matmul(&bad, 14)), "activations: expected 32 elements a column, got 16");
        let bad = Matmul { weights: Matrix { rows: 5, ..good.weights }, ..good };
        assert!(says(matmul(&bad, 99)).starts_with("weights: expected 90 bytes"));
        assert_eq!(says(matmul(&Matmul { threads: 0, ..good }, 14)), "threads: expected at least 1, got 0");
    }

    #[test]
    fn experts_and_rows_must_exist() {
        let (bytes, values) = ([0; 72], [0.0; 64]);
        let weights = Matrix::new(ty("Q4_0"), 2, 32, 18, &bytes).unwrap();
        let columns = Columns::new(2, 32, 32, &values).unwrap();
        let ids = [0, 1, 1, 0];
        let good =
            MatmulId { weights, experts: 2, expert_stride: 36, ids: &ids, used: 2, columns, y_stride: 2, threads: 1 };
        assert_eq!(matmul_id(&good, 8), Ok(()));
        assert_eq!(says(matmul_id(&MatmulId { ids: &[0, 2], ..good }, 8)), "ids[1]: expected one of 2 experts, got 2");
        assert!(
            says(matmul_id(&MatmulId { used: 3, ..good }, 8)).contains("a multiple of the 3 experts a token, got 4")
        );
        assert!(says(matmul_id(&MatmulId { used: 1, ..good }, 8)).contains("expected 4 columns"));
        assert!(says(matmul_id(&MatmulId { expert_stride: 35, ..good }, 8)).contains("at least 36 bytes, got 35"));
        assert!(says(matmul_id(&MatmulId { expert_stride: 37, ..good }, 8)).contains("expected 73 bytes"));
        assert!(says(matmul_id(&good, 7)).contains("expected 8 elements"));
        assert_eq!(get_rows(&weights, &ids, 128), Ok(()));
        assert_eq!(says(get_rows(&weights, &[2], 32)), "ids[0]: expected one of 2 rows, got 2");
        assert_eq!(says(get_rows(&weights, &ids, 127)), "result: expected 128 elements, got 127");
    }
}
