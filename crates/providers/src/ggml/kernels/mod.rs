//! ggml's kernels as [`KernelSet`]s: the base library, and its builds for one kind of processor each.
//!
//! The functions run in the calling process, and may end it. A [child](crate::child) that is given the
//! [`file()`] of a build serves its kernels from a process of its own, on guarded memory.
//!
//! | operation | base library | a build |
//! | --- | --- | --- |
//! | dequantize | `to_float` of the table of types | |
//! | quantize-row | `from_float_ref` of the table | `from_float` of its own table |
//! | dot | | `from_float` of the `vec_dot_type`, then `vec_dot` |
//! | matmul | | a graph of one `ggml_mul_mat` |
//! | matmul-id | | a graph of one `ggml_mul_mat_id` |
//! | get-rows | | a graph of one `ggml_get_rows` |
//!
//! Graphs work on the memory of the caller, so that a read past its end shows. There are exceptions, in which
//! operands are copied first: rows or experts that are not whole blocks apart, which ggml does not have
//! (`llamafile_sgemm` counts its stride in blocks), and results whose columns have gaps, which no graph of ggml
//! makes.

mod abi;
mod contract;
mod words;

use std::borrow::Cow;
use std::fs;
use std::path::{Path, PathBuf};

use gguf_spec::kernel::contract::Contract;
use gguf_spec::kernel::{KernelError, KernelSet, Matmul, MatmulId, Matrix, Operation, check};
use gguf_spec::types::TensorType;

use super::{Error, library_name};

/// The name of the base library among the builds.
pub const BASE: &str = "base";

/// The file of a build: `libggml-cpu-haswell.so`, beside the base library; of the base library `libggml-base.so`.
#[must_use]
pub fn file(directory: &Path, build: &str) -> PathBuf {
    let (before, after) = around();
    directory.join(if build == BASE { library_name().to_owned() } else { format!("{before}{build}{after}") })
}

/// The directory and the build of a file that has a name of ggml's.
#[must_use]
pub fn of_file(path: &Path) -> Option<(&Path, &str)> {
    let (before, after) = around();
    let name = path.file_name()?.to_str()?;
    let build = if name == library_name() { BASE } else { name.strip_prefix(&before)?.strip_suffix(after)? };
    Some((path.parent()?, build))
}

/// What stands before and after the name of a build in the name of its file.
fn around() -> (String, &'static str) {
    let (before, after) = library_name().split_once(BASE).unwrap_or_default();
    (format!("{before}cpu-"), after)
}

/// The names of the builds in a directory, such as `haswell`, in alphabetical order; without the base library.
///
/// # Errors
///
/// [`Error::Folder`] if it cannot be read.
pub fn builds(directory: &Path) -> Result<Vec<String>, Error> {
    let folder = |source| Error::Folder { path: directory.to_owned(), source };
    let mut names = Vec::new();
    for entry in fs::read_dir(directory).map_err(folder)? {
        let path = entry.map_err(folder)?.path();
        let build = of_file(&path).map(|(_, build)| build);
        names.extend(build.filter(|&build| build != BASE).map(str::to_owned));
    }
    names.sort_unstable();
    Ok(names)
}

/// Whether this processor runs a build, as the build itself says by `ggml_backend_score`. The base library
/// runs anywhere.
///
/// # Errors
///
/// [`Error::Load`] if it cannot be loaded, [`Error::Symbol`] if it lacks the function.
pub fn runs(directory: &Path, build: &str) -> Result<bool, Error> {
    if build == BASE { Ok(true) } else { abi::runs(&file(directory, build)) }
}

/// The kernels of a build, or those of the base library if the name is [`BASE`].
///
/// The directory is trusted: code of the libraries runs in this process.
///
/// # Errors
///
/// [`Error::Load`] if a library cannot be loaded, [`Error::Symbol`] if it lacks a function, [`Error::Processor`]
/// if this processor does not run it, [`Error::Layout`] if it is of another version.
pub fn open(directory: &Path, build: &str) -> Result<Box<dyn KernelSet>, Error> {
    if build == BASE {
        return Ok(Box::new(Base::load(directory)?));
    }
    Ok(Box::new(Cpu::load(directory, build)?))
}

/// The base library's functions: one for each type, for any processor.
pub struct Base {
    name: String,
    library: abi::Base,
}

impl Base {
    /// Loads the base library.
    ///
    /// # Errors
    ///
    /// Those of [`open`].
    pub fn load(directory: &Path) -> Result<Self, Error> {
        let library = abi::Base::load(directory)?;
        Ok(Self { name: format!("ggml-{}/{BASE}", library.version()), library })
    }
}

impl KernelSet for Base {
    fn name(&self) -> &str {
        &self.name
    }

    fn contract(
        &self,
        operation: Operation,
        ty: &'static TensorType,
        _columns: usize,
    ) -> Result<Contract, KernelError> {
        let contract = match operation {
            Operation::Dequantize => self.library.decodes(ty).then_some(contract::DECODE),
            Operation::QuantizeRow => contract::encode(ty).filter(|_| self.library.encodes(ty)),
            Operation::Dot | Operation::Matmul | Operation::MatmulId | Operation::GetRows => None,
        };
        contract.ok_or(KernelError::Unsupported)
    }

    fn dequantize(&mut self, ty: &'static TensorType, blocks: &[u8], out: &mut [f32]) -> Result<(), KernelError> {
        self.library.dequantize(ty, blocks, out)
    }

    fn quantize_row(&mut self, ty: &'static TensorType, values: &[f32], out: &mut [u8]) -> Result<(), KernelError> {
        self.contract(Operation::QuantizeRow, ty, 1)?;
        self.library.quantize(ty, values, out)
    }

    fn dot(&mut self, _: &'static TensorType, _: &[u8], _: &[f32]) -> Result<f32, KernelError> {
        Err(KernelError::Unsupported)
    }

    fn matmul(&mut self, _: &Matmul<'_>, _: &mut [f32]) -> Result<(), KernelError> {
        Err(KernelError::Unsupported)
    }
}

/// A build for one kind of processor.
pub struct Cpu {
    name: String,
    library: abi::Cpu,
}

impl Cpu {
    /// Loads a build, and the base library beside it.
    ///
    /// # Errors
    ///
    /// Those of [`open`].
    pub fn load(directory: &Path, build: &str) -> Result<Self, Error> {
        let library = abi::Cpu::load(directory, &file(directory, build))?;
        Ok(Self { name: format!("ggml-{}/{build}", library.base().version()), library })
    }

    /// Whether a contract is there; the base library knows types that a build does not multiply.
    fn has(&self, operation: Operation, ty: &'static TensorType) -> Result<(), KernelError> {
        self.contract(operation, ty, 1).map(|_| ())
    }
}

impl KernelSet for Cpu {
    fn name(&self) -> &str {
        &self.name
    }

    fn contract(
        &self,
        operation: Operation,
        ty: &'static TensorType,
        _columns: usize,
    ) -> Result<Contract, KernelError> {
        let held = self.library.vec_dot_type(ty);
        let contract = match operation {
            Operation::Dequantize => None,
            Operation::QuantizeRow => contract::encode(ty).filter(|_| self.library.encodes(ty)),
            Operation::Dot | Operation::Matmul | Operation::MatmulId => {
                held.and_then(|held| contract::product(ty, held, self.library.multiplies_bf16()))
            }
            // What is multiplied can be looked up too; for types of activations ggml aborts.
            Operation::GetRows => held.map(|_| contract::DECODE),
        };
        contract.ok_or(KernelError::Unsupported)
    }

    fn dequantize(&mut self, _: &'static TensorType, _: &[u8], _: &mut [f32]) -> Result<(), KernelError> {
        Err(KernelError::Unsupported)
    }

    fn quantize_row(&mut self, ty: &'static TensorType, values: &[f32], out: &mut [u8]) -> Result<(), KernelError> {
        self.has(Operation::QuantizeRow, ty)?;
        self.library.quantize(ty, values, out)
    }

    fn dot(&mut self, ty: &'static TensorType, weights: &[u8], activations: &[f32]) -> Result<f32, KernelError> {
        self.has(Operation::Dot, ty)?;
        self.library.dot(ty, weights, activations)
    }

    fn matmul(&mut self, product: &Matmul<'_>, y: &mut [f32]) -> Result<(), KernelError> {
        self.has(Operation::Matmul, product.weights.ty)?;
        check::matmul(product, y.len())?;
        let (rows, columns) = (product.weights.rows, product.columns.count);
        if rows == 0 || columns == 0 {
            return Ok(());
        }
        let packed = Packed::new(&product.weights, 1, 0);
        let product = Matmul { weights: packed.matrix(), ..*product };
        without_gaps(rows, columns, product.y_stride, y, |y| {
            self.library.mul_mat(&Matmul { y_stride: rows, ..product }, y)
        })
    }

    fn matmul_id(&mut self, product: &MatmulId<'_>, y: &mut [f32]) -> Result<(), KernelError> {
        self.has(Operation::MatmulId, product.weights.ty)?;
        check::matmul_id(product, y.len())?;
        let (rows, columns) = (product.weights.rows, product.ids.len());
        if rows == 0 || columns == 0 {
            return Ok(());
        }
        let packed = Packed::new(&product.weights, product.experts, product.expert_stride);
        let product = MatmulId { weights: packed.matrix(), expert_stride: packed.expert_stride, ..*product };
        without_gaps(rows, columns, product.y_stride, y, |y| {
            self.library.mul_mat_id(&MatmulId { y_stride: rows, ..product }, y)
        })
    }

    fn get_rows(&mut self, weights: &Matrix<'_>, ids: &[u32], y: &mut [f32]) -> Result<(), KernelError> {
        self.has(Operation::GetRows, weights.ty)?;
        check::get_rows(weights, ids, y.len())?;
        if y.is_empty() {
            return Ok(());
        }
        let packed = Packed::new(weights, 1, 0);
        self.library.get_rows(&packed.matrix(), ids, y)
    }
}

/// Weights whose rows and experts are whole blocks apart: a copy, where they are not.
struct Packed<'a> {
    from: Matrix<'a>,
    bytes: Cow<'a, [u8]>,
    row_stride: usize,
    expert_stride: usize,
}

impl<'a> Packed<'a> {
    /// The arguments have been checked.
    fn new(from: &Matrix<'a>, experts: usize, expert_stride: usize) -> Self {
        let block = usize::try_from(from.ty.bytes).unwrap_or(1);
        let apart = |stride: usize| stride.is_multiple_of(block);
        if apart(from.row_stride) && (experts < 2 || apart(expert_stride)) {
            return Self { from: *from, bytes: from.bytes.into(), row_stride: from.row_stride, expert_stride };
        }
        let row = from.row_bytes();
        let mut bytes = Vec::with_capacity(experts * from.rows * row);
        for expert in 0..experts {
            for i in 0..from.rows {
                bytes.extend_from_slice(&from.bytes[expert * expert_stride + i * from.row_stride..][..row]);
            }
        }
        Self { from: *from, bytes: bytes.into(), row_stride: row, expert_stride: row * from.rows }
    }

    fn matrix(&self) -> Matrix<'_> {
        Matrix { row_stride: self.row_stride, bytes: &self.bytes, ..self.from }
    }
}

/// Computes columns without gaps, and puts them where they belong.
fn without_gaps(
    rows: usize,
    columns: usize,
    stride: usize,
    y: &mut [f32],
    compute: impl FnOnce(&mut [f32]) -> Result<(), KernelError>,
) -> Result<(), KernelError> {
    if stride == rows || columns == 1 {
        return compute(y);
    }
    let mut all = vec![0.0; rows * columns];
    compute(&mut all)?;
    for (column, y) in all.chunks_exact(rows).zip(y.chunks_mut(stride)) {
        y[..rows].copy_from_slice(column);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_have_the_names_of_builds() {
        let directory = Path::new("libraries");
        for build in [BASE, "x64", "haswell"] {
            assert_eq!(of_file(&file(directory, build)), Some((directory, build)));
        }
        assert_eq!(of_file(Path::new("libraries/libmine.so")), None);
    }
}
