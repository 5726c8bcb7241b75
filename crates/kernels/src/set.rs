//! The kernels as a set: arguments checked, calls taken apart into rows and columns.

use std::ops::Range;

use gguf_spec::kernel::contract::{Contract, Form};
use gguf_spec::kernel::{Columns, KernelError, KernelSet, Matmul, MatmulId, Matrix, Operation, check, row_bytes};
use gguf_spec::types::TensorType;

use crate::arch::{Arch, Dot, Kernel, SCALAR};
use crate::contract;

/// The kernels of one kind of processor.
#[derive(Clone, Copy, Debug)]
pub struct Kernels {
    arch: &'static Arch,
}

impl Kernels {
    /// Plain Rust without intrinsics.
    #[must_use]
    pub fn scalar() -> Self {
        Self { arch: &SCALAR }
    }

    /// The kernel of a type, if this operation has one.
    fn kernel(&self, operation: Operation, ty: &TensorType) -> Result<Kernel, KernelError> {
        contract::contract(operation, ty).and_then(|_| (self.arch.kernel)(ty)).ok_or(KernelError::Unsupported)
    }

    /// What multiplies rows of a type.
    fn multiplier(&self, operation: Operation, ty: &'static TensorType) -> Result<Multiplier, KernelError> {
        let kernel = self.kernel(operation, ty)?;
        let form = contract::activations(ty).ok_or(KernelError::Unsupported)?;
        let dot = kernel.dot.ok_or(KernelError::Unsupported)?;
        Ok(Multiplier { dot, form, quantize: self.arch.quantize })
    }
}

/// How rows of a type are multiplied.
struct Multiplier {
    dot: Dot,
    form: Form,
    quantize: fn(Form, &[f32], &mut Vec<u8>),
}

impl Multiplier {
    /// One column with some rows: `y` gets one element a row.
    fn column(&self, weights: &Matrix<'_>, rows: Range<usize>, column: &[f32], held: &mut Vec<u8>, y: &mut [f32]) {
        let rows = rows.map(|row| weights.row(row));
        match self.dot {
            Dot::Floats(dot) => rows.zip(y).for_each(|(row, y)| *y = dot(row, column)),
            Dot::Held(dot) => {
                held.clear();
                (self.quantize)(self.form, column, held);
                rows.zip(y).for_each(|(row, y)| *y = dot(row, held));
            }
        }
    }
}

impl KernelSet for Kernels {
    fn name(&self) -> &str {
        self.arch.name
    }

    fn contract(
        &self,
        operation: Operation,
        ty: &'static TensorType,
        _columns: usize,
    ) -> Result<Contract, KernelError> {
        contract::contract(operation, ty).ok_or(KernelError::Unsupported)
    }

    fn dequantize(&mut self, ty: &'static TensorType, blocks: &[u8], out: &mut [f32]) -> Result<(), KernelError> {
        let kernel = self.kernel(Operation::Dequantize, ty)?;
        check::dequantize(ty, blocks.len(), out.len())?;
        (kernel.decode)(blocks, out);
        Ok(())
    }

    fn quantize_row(&mut self, ty: &'static TensorType, values: &[f32], out: &mut [u8]) -> Result<(), KernelError> {
        let form = self.contract(Operation::QuantizeRow, ty, 1)?.activations;
        check::quantize_row(ty, values.len(), out.len())?;
        let mut blocks = Vec::with_capacity(out.len());
        (self.arch.quantize)(form, values, &mut blocks);
        out.copy_from_slice(&blocks);
        Ok(())
    }

    fn dot(&mut self, ty: &'static TensorType, weights: &[u8], activations: &[f32]) -> Result<f32, KernelError> {
        let multiplier = self.multiplier(Operation::Dot, ty)?;
        check::dot(ty, weights.len(), activations.len())?;
        let row = Matrix { ty, rows: 1, k: activations.len(), row_stride: weights.len(), bytes: weights };
        let mut y = [0.0];
        multiplier.column(&row, 0..1, activations, &mut Vec::new(), &mut y);
        Ok(y[0])
    }

    // One thread, here and below: a call says how many there may be.
    fn matmul(&mut self, product: &Matmul<'_>, y: &mut [f32]) -> Result<(), KernelError> {
        let Matmul { weights, columns, y_stride, .. } = product;
        let multiplier = self.multiplier(Operation::Matmul, weights.ty)?;
        check::matmul(product, y.len())?;
        let mut held = Vec::new();
        for column in 0..columns.count {
            let y = &mut y[column * y_stride..][..weights.rows];
            multiplier.column(weights, 0..weights.rows, columns.column(column), &mut held, y);
        }
        Ok(())
    }

    fn matmul_id(&mut self, product: &MatmulId<'_>, y: &mut [f32]) -> Result<(), KernelError> {
        let multiplier = self.multiplier(Operation::MatmulId, product.weights.ty)?;
        check::matmul_id(product, y.len())?;
        let mut held = Vec::new();
        for (pair, &id) in product.ids.iter().enumerate() {
            let weights = expert(product, id)?;
            let column = column_of(&product.columns, pair, product.ids.len(), product.used);
            let y = &mut y[pair * product.y_stride..][..weights.rows];
            multiplier.column(&weights, 0..weights.rows, column, &mut held, y);
        }
        Ok(())
    }

    fn get_rows(&mut self, weights: &Matrix<'_>, ids: &[u32], y: &mut [f32]) -> Result<(), KernelError> {
        let kernel = self.kernel(Operation::GetRows, weights.ty)?;
        check::get_rows(weights, ids, y.len())?;
        for (at, &id) in ids.iter().enumerate() {
            (kernel.decode)(weights.row(index(id)?), &mut y[at * weights.k..][..weights.k]);
        }
        Ok(())
    }
}

fn index(id: u32) -> Result<usize, KernelError> {
    usize::try_from(id).map_err(|_| KernelError::Arguments(format!("ids: {id} is more than memory holds")))
}

/// The matrix of one expert.
fn expert<'a>(product: &MatmulId<'a>, id: u32) -> Result<Matrix<'a>, KernelError> {
    let Matrix { ty, rows, k, row_stride, bytes } = product.weights;
    debug_assert!(row_bytes(ty, k).is_ok());
    Matrix::new(ty, rows, k, row_stride, &bytes[index(id)? * product.expert_stride..])
}

/// The activations of a pair of token and expert: one column a token, or one a pair.
fn column_of<'a>(columns: &Columns<'a>, pair: usize, pairs: usize, used: usize) -> &'a [f32] {
    columns.column(if columns.count == pairs { pair } else { pair / used })
}
