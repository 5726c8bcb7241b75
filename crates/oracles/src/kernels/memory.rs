//! Where operands and results of a call lie: operands end where memory may not be read, but for what the contract
//! allows, and results lie among elements that have to stay as they are.

use assay_guard::Buffer;
use gguf_spec::kernel::{Columns, KernelError, Matmul, Matrix, extent};

use super::inputs::{Inputs, Operands};

/// What the result is filled with before a call: NaN, so that what is not written fails, and unlike others, so
/// that what is written beside it is seen.
pub(super) const CANARY: u32 = 0x7FC0_CAFE;

/// Elements behind the result that have to stay as they are.
const GUARD: usize = 16;

/// Operands in memory that ends where they do.
pub(super) struct Memory {
    weights: Buffer,
    activations: Buffer,
    ids: Buffer,
}

impl Memory {
    /// Holds operands; so many bytes past the end of each may be read.
    ///
    /// # Errors
    ///
    /// [`KernelError::Failed`] if the system gives no memory.
    pub(super) fn holding(
        weights: &[u8],
        activations: &[f32],
        ids: &[u32],
        reads_past: usize,
    ) -> Result<Self, KernelError> {
        let buffer = |length: usize, slack: usize| {
            Buffer::new(length, slack).map_err(|e| KernelError::Failed(format!("memory for the operands: {e}")))
        };
        // Numbers are aligned: what may be read behind them is whole ones.
        let slack = reads_past.next_multiple_of(4);
        let mut memory = Self {
            weights: buffer(weights.len(), reads_past)?,
            activations: buffer(size_of_val(activations), slack)?,
            ids: buffer(size_of_val(ids), slack)?,
        };
        memory.store(weights, activations, ids);
        Ok(memory)
    }

    fn store(&mut self, weights: &[u8], activations: &[f32], ids: &[u32]) {
        self.weights.bytes_mut().copy_from_slice(weights);
        self.activations.f32s_mut().copy_from_slice(activations);
        for (bytes, id) in self.ids.bytes_mut().chunks_exact_mut(4).zip(ids) {
            bytes.copy_from_slice(&id.to_ne_bytes());
        }
    }

    /// Takes the inputs of a call, which are as long as those that it holds.
    pub(super) fn load<'a>(&'a mut self, inputs: &'a Inputs) -> Operands<'a> {
        self.store(&inputs.weights, &inputs.activations, &inputs.ids);
        Operands { inputs, weights: self.weights.bytes(), activations: self.activations.f32s(), ids: self.ids.u32s() }
    }

    /// Holds the operands of a product, up to the end of the last row and of the last column.
    ///
    /// # Errors
    ///
    /// As [`Memory::holding`].
    pub(super) fn of_product(product: &Matmul<'_>, reads_past: usize) -> Result<Self, KernelError> {
        let Matmul { weights, columns, .. } = product;
        let bytes = upto(weights.bytes, extent(weights.rows, weights.row_bytes(), weights.row_stride));
        let values = upto(columns.values, extent(columns.count, columns.k, columns.stride));
        Self::holding(bytes, values, &[], reads_past)
    }

    /// A product of the operands that it holds, alike but for where they lie.
    pub(super) fn product<'a>(&'a self, product: &Matmul<'_>) -> Matmul<'a> {
        let Matmul { weights, columns, y_stride, threads } = *product;
        let Matrix { ty, rows, k, row_stride, .. } = weights;
        let Columns { count, stride, .. } = columns;
        Matmul {
            weights: Matrix { ty, rows, k, row_stride, bytes: self.weights.bytes() },
            columns: Columns { count, k: columns.k, stride, values: self.activations.f32s() },
            y_stride,
            threads,
        }
    }
}

fn upto<T>(all: &[T], end: Option<usize>) -> &[T] {
    &all[..end.map_or(all.len(), |end| end.min(all.len()))]
}

/// Where a result of so many columns of `rows` elements goes, and what lies behind it.
pub(super) fn result(columns: usize, rows: usize, stride: usize) -> Vec<f32> {
    vec![f32::from_bits(CANARY); extent(columns, rows, stride).unwrap_or(0) + GUARD]
}

/// The first element that was written between the columns of a result, or behind the last.
pub(super) fn written_beside(y: &[f32], rows: usize, columns: usize, stride: usize) -> Option<usize> {
    let beside = |i: &usize| i % stride >= rows || i / stride >= columns;
    (0..y.len()).filter(beside).find(|&i| y[i].to_bits() != CANARY)
}
