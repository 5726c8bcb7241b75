//! A provider as a set of kernels: arguments checked before they cross, codes and terms made sense of after.

use std::path::Path;

use assay_guard::Buffer;
use gguf_spec::kernel::contract::{Accumulator, Contract, Form, Promises};
use gguf_spec::kernel::{KernelError, KernelSet, Matmul, MatmulId, Matrix, OPERATIONS, Operation, alignment, check};
use gguf_spec::types::TensorType;
use serde::{Deserialize, Serialize};

use super::abi::{Library, Terms};
use super::{LoadError, MOST_READS_PAST};

/// The codes that operations return, other than 0.
const UNSUPPORTED: i32 = 1;
const BAD_ARGUMENTS: i32 = 2;

/// Flags of a contract.
const FLUSHES_SUBNORMALS: u32 = 1;
const BATCH_INVARIANT: u32 = 2;
const SPLIT_INVARIANT: u32 = 4;
const REPEATABLE: u32 = 8;

/// Bytes after the one result of a dot product in which a write is noticed.
const SLACK: usize = 64;

/// Which of the optional functions a provider exports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Optional {
    /// `assay_matmul_id`.
    pub matmul_id: bool,
    /// `assay_get_rows`.
    pub get_rows: bool,
}

/// A library behind the C interface, in this process.
pub struct Provider {
    library: Library,
}

impl Provider {
    /// Loads a library, and asks for its name and for all its contracts with one column.
    ///
    /// # Errors
    ///
    /// See [`LoadError`].
    pub fn load(path: &Path) -> Result<Self, LoadError> {
        if !path.is_file() {
            return Err(LoadError::Missing { path: path.to_owned() });
        }
        let provider = Self { library: Library::load(path)? };
        for operation in OPERATIONS {
            for ty in TensorType::live() {
                provider.terms(operation.operation, ty, 1).map_err(|problem| LoadError::Terms {
                    path: path.to_owned(),
                    operation: operation.name.to_owned(),
                    ty: ty.name.to_owned(),
                    problem,
                })?;
            }
        }
        Ok(provider)
    }

    /// Which of the optional functions it exports.
    #[must_use]
    pub fn optional(&self) -> Optional {
        Optional { matmul_id: self.library.has_matmul_id(), get_rows: self.library.has_get_rows() }
    }

    /// What `assay_contract` says; `None` if there is no kernel.
    ///
    /// # Errors
    ///
    /// What is wrong with the answer: the field, with expected and actual.
    pub fn terms(&self, operation: Operation, ty: &TensorType, columns: usize) -> Result<Option<Contract>, String> {
        let optional = self.optional();
        let exported = match operation {
            Operation::MatmulId => optional.matmul_id,
            Operation::GetRows => optional.get_rows,
            Operation::Dequantize | Operation::QuantizeRow | Operation::Dot | Operation::Matmul => true,
        };
        if !exported || !ty.has_layout() {
            return Ok(None);
        }
        let first = self.asked(operation, ty, columns)?;
        match self.asked(operation, ty, columns)? {
            again if again == first => Ok(first),
            again => Err(format!("expected the same terms whenever it is asked, got {first:?}, then {again:?}")),
        }
    }

    /// What it says this time.
    fn asked(&self, operation: Operation, ty: &TensorType, columns: usize) -> Result<Option<Contract>, String> {
        match self.library.contract(operation.id(), ty.id, columns as u64) {
            (0, terms) => contract(&terms).map(Some),
            (UNSUPPORTED, _) => Ok(None),
            (code, _) => Err(format!("expected 0 (terms) or {UNSUPPORTED} (unsupported), it returned {code}")),
        }
    }
}

/// Terms as a contract.
fn contract(terms: &Terms) -> Result<Contract, String> {
    let expected = |field: &str, expected: &str, actual: u64| format!("{field}: expected {expected}, got {actual}");
    let form =
        |field, id| Form::from_id(id).ok_or_else(|| expected(field, "one of the ASSAY_FORM_ numbers", u64::from(id)));
    let (weights, activations) = (form("weights", terms.weights)?, form("activations", terms.activations)?);
    if weights.blocks().is_some() {
        let what = "ASSAY_FORM_EXACT, ASSAY_FORM_F16 or ASSAY_FORM_BF16";
        return Err(expected("weights", what, u64::from(terms.weights)));
    }
    let accumulator = match (terms.accumulator, terms.chunk) {
        (0, 0) => Accumulator::F32,
        (2, 0) => Accumulator::F64,
        (1, chunk) if chunk > 0 => Accumulator::F16 { chunk },
        (1, _) => return Err(expected("chunk", "at least 1 with ASSAY_ACCUMULATE_F16", 0)),
        (0 | 2, chunk) => return Err(expected("chunk", "0 without ASSAY_ACCUMULATE_F16", u64::from(chunk))),
        (other, _) => {
            return Err(expected("accumulator", "one of the ASSAY_ACCUMULATE_ numbers", u64::from(other)));
        }
    };
    let has = |flag: u32| terms.flags & flag != 0;
    let known = FLUSHES_SUBNORMALS | BATCH_INVARIANT | SPLIT_INVARIANT | REPEATABLE;
    if terms.flags & !known != 0 {
        return Err(expected("flags", "a sum of the flags of assay_kernels.h", u64::from(terms.flags)));
    }
    if terms.reserved != 0 {
        return Err(expected("reserved", "0", u64::from(terms.reserved)));
    }
    let reads_past = usize::try_from(terms.reads_past).ok().filter(|_| terms.reads_past <= MOST_READS_PAST);
    Ok(Contract {
        weights,
        activations,
        accumulator,
        reads_past: reads_past
            .ok_or_else(|| expected("reads_past", &format!("at most {MOST_READS_PAST} bytes"), terms.reads_past))?,
        flushes_subnormals: has(FLUSHES_SUBNORMALS),
        promises: Promises {
            batch_invariant: has(BATCH_INVARIANT),
            split_invariant: has(SPLIT_INVARIANT),
            repeatable: has(REPEATABLE),
        },
    })
}

/// What a code says.
fn done(code: i32) -> Result<(), KernelError> {
    match code {
        0 => Ok(()),
        UNSUPPORTED => Err(KernelError::Unsupported),
        BAD_ARGUMENTS => Err(KernelError::Arguments(format!("the provider refused the arguments: it returned {code}"))),
        code => Err(KernelError::Failed(format!("the provider returned {code}"))),
    }
}

/// Blocks lie and follow one another as the header says.
fn aligned(ty: &TensorType, what: &str, number: usize) -> Result<(), KernelError> {
    let alignment = alignment(ty);
    if number.is_multiple_of(alignment) {
        return Ok(());
    }
    Err(KernelError::Arguments(format!("{what}: expected a multiple of {alignment} for {}, got {number}", ty.name)))
}

fn aligned_matrix(weights: &Matrix<'_>) -> Result<(), KernelError> {
    aligned(weights.ty, "row stride", weights.row_stride)?;
    aligned(weights.ty, "address of the weights", weights.bytes.as_ptr().addr())
}

/// Columns of zeroes, for rows without weights.
fn zeroes(columns: usize, rows: usize, stride: usize, y: &mut [f32]) {
    for column in 0..columns {
        y[column * stride..][..rows].fill(0.0);
    }
}

impl KernelSet for Provider {
    fn name(&self) -> &str {
        self.library.name()
    }

    fn contract(&self, operation: Operation, ty: &'static TensorType, columns: usize) -> Result<Contract, KernelError> {
        let wrong = |problem| KernelError::Failed(format!("assay_contract: {problem}"));
        self.terms(operation, ty, columns).map_err(wrong)?.ok_or(KernelError::Unsupported)
    }

    fn dequantize(&mut self, ty: &'static TensorType, blocks: &[u8], out: &mut [f32]) -> Result<(), KernelError> {
        self.contract(Operation::Dequantize, ty, 1)?;
        check::dequantize(ty, blocks.len(), out.len())?;
        aligned(ty, "address of the blocks", blocks.as_ptr().addr())?;
        if out.is_empty() { Ok(()) } else { done(self.library.dequantize(ty.id, blocks, out)) }
    }

    fn quantize_row(&mut self, ty: &'static TensorType, values: &[f32], out: &mut [u8]) -> Result<(), KernelError> {
        self.contract(Operation::QuantizeRow, ty, 1)?;
        check::quantize_row(ty, values.len(), out.len())?;
        aligned(ty, "address of the blocks", out.as_ptr().addr())?;
        if values.is_empty() { Ok(()) } else { done(self.library.quantize_row(ty.id, values, out)) }
    }

    fn dot(&mut self, ty: &'static TensorType, weights: &[u8], activations: &[f32]) -> Result<f32, KernelError> {
        self.contract(Operation::Dot, ty, 1)?;
        check::dot(ty, weights.len(), activations.len())?;
        aligned(ty, "address of the weights", weights.as_ptr().addr())?;
        if activations.is_empty() {
            return Ok(0.0);
        }
        let memory = |error| KernelError::Failed(format!("no memory for the result: {error}"));
        let mut result = Buffer::new(size_of::<f32>(), SLACK).map_err(memory)?;
        let code = self.library.dot(ty.id, weights, activations, result.f32s_mut());
        result
            .intact()
            .map_err(|damage| KernelError::Failed(format!("wrote out of bounds: {}", damage.of("result"))))?;
        done(code)?;
        // A number that is returned has no memory of the caller that would stay as it was.
        match result.first_written(0..size_of::<f32>()) {
            Some(_) => Ok(result.f32s()[0]),
            None => Err(KernelError::Failed("assay_dot: the result was not written".to_owned())),
        }
    }

    fn matmul(&mut self, product: &Matmul<'_>, y: &mut [f32]) -> Result<(), KernelError> {
        let (weights, columns) = (&product.weights, product.columns.count);
        self.contract(Operation::Matmul, weights.ty, columns)?;
        check::matmul(product, y.len())?;
        aligned_matrix(weights)?;
        match (weights.rows, columns, weights.k) {
            (0, ..) | (_, 0, _) => Ok(()),
            (rows, columns, 0) => {
                zeroes(columns, rows, product.y_stride, y);
                Ok(())
            }
            _ => done(self.library.matmul(product, y)),
        }
    }

    fn matmul_id(&mut self, product: &MatmulId<'_>, y: &mut [f32]) -> Result<(), KernelError> {
        let (weights, columns) = (&product.weights, product.columns.count);
        self.contract(Operation::MatmulId, weights.ty, columns)?;
        check::matmul_id(product, y.len())?;
        aligned_matrix(weights)?;
        aligned(weights.ty, "stride of experts", product.expert_stride)?;
        match (weights.rows, product.ids.len(), weights.k) {
            (0, ..) | (_, 0, _) => Ok(()),
            (rows, pairs, 0) => {
                zeroes(pairs, rows, product.y_stride, y);
                Ok(())
            }
            _ => done(self.library.matmul_id(product, y).unwrap_or(UNSUPPORTED)),
        }
    }

    fn get_rows(&mut self, weights: &Matrix<'_>, ids: &[u32], y: &mut [f32]) -> Result<(), KernelError> {
        self.contract(Operation::GetRows, weights.ty, 1)?;
        check::get_rows(weights, ids, y.len())?;
        aligned_matrix(weights)?;
        if y.is_empty() { Ok(()) } else { done(self.library.get_rows(weights, ids, y).unwrap_or(UNSUPPORTED)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_of_zeroes_are_the_plainest_contract() {
        assert_eq!(contract(&Terms::default()), Ok(Contract::F32));
    }

    #[test]
    fn terms_that_say_what_cannot_be_are_told_by_field() {
        let zero = Terms::default();
        for (terms, says) in [
            (
                Terms { weights: 3, ..zero },
                "weights: expected ASSAY_FORM_EXACT, ASSAY_FORM_F16 or ASSAY_FORM_BF16, got 3",
            ),
            (Terms { activations: 6, ..zero }, "activations: expected one of the ASSAY_FORM_ numbers, got 6"),
            (Terms { accumulator: 3, ..zero }, "accumulator: expected one of the ASSAY_ACCUMULATE_ numbers, got 3"),
            (Terms { accumulator: 1, ..zero }, "chunk: expected at least 1 with ASSAY_ACCUMULATE_F16, got 0"),
            (Terms { chunk: 8, ..zero }, "chunk: expected 0 without ASSAY_ACCUMULATE_F16, got 8"),
            (Terms { flags: 16, ..zero }, "flags: expected a sum of the flags of assay_kernels.h, got 16"),
            (Terms { reserved: 1, ..zero }, "reserved: expected 0, got 1"),
            (Terms { reads_past: 65_537, ..zero }, "reads_past: expected at most 65536 bytes, got 65537"),
        ] {
            assert_eq!(contract(&terms), Err(says.to_owned()));
        }
    }

    #[test]
    fn every_term_arrives() {
        let terms =
            Terms { weights: 1, activations: 4, accumulator: 1, chunk: 32, flags: 15, reserved: 0, reads_past: 64 };
        let expected = Contract {
            weights: Form::F16,
            activations: Form::Q8_1,
            accumulator: Accumulator::F16 { chunk: 32 },
            reads_past: 64,
            flushes_subnormals: true,
            promises: Promises { batch_invariant: true, split_invariant: true, repeatable: true },
        };
        assert_eq!(contract(&terms), Ok(expected));
        for flag in [FLUSHES_SUBNORMALS, BATCH_INVARIANT, SPLIT_INVARIANT, REPEATABLE] {
            let contract = contract(&Terms { flags: flag, ..Terms::default() }).unwrap();
            let Promises { batch_invariant, split_invariant, repeatable } = contract.promises;
            let flags = [contract.flushes_subnormals, batch_invariant, split_invariant, repeatable];
            assert_eq!(flags, [1, 2, 4, 8].map(|bit| bit == flag));
        }
    }
}
