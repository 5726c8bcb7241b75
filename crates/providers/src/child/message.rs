//! What the two processes say to each other. Types and operations go by their numbers, operands as the parts of the
//! frame, in the order in which they are named here. Where the caller has memory for the result, the last part is
//! what that holds before the call.

use gguf_spec::kernel::KernelError;
use gguf_spec::kernel::contract::{Accumulator, Contract, Form, Promises};
use serde::{Deserialize, Serialize};

use crate::c_abi::LoadError;

/// From the parent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "call", rename_all = "kebab-case")]
pub(super) enum Request {
    /// Answered by [`Reply::Contract`].
    Contract { operation: u32, ty: u32, columns: usize },
    /// Blocks, the result before the call; answered by as many elements.
    Dequantize { ty: u32 },
    /// Elements, the result before the call; answered by blocks.
    QuantizeRow { ty: u32 },
    /// Blocks, elements; answered by one element.
    Dot { ty: u32 },
    /// Weights, activations, the result before the call; answered by its columns, `y_stride` apart.
    Matmul {
        ty: u32,
        rows: usize,
        k: usize,
        row_stride: usize,
        columns: usize,
        x_stride: usize,
        y_stride: usize,
        threads: usize,
    },
    /// Weights, ids, activations, the result before the call; answered by its columns, `y_stride` apart.
    MatmulId {
        ty: u32,
        rows: usize,
        k: usize,
        row_stride: usize,
        experts: usize,
        expert_stride: usize,
        used: usize,
        columns: usize,
        x_stride: usize,
        y_stride: usize,
        threads: usize,
    },
    /// Weights, ids, the result before the call; answered by the rows.
    GetRows { ty: u32, rows: usize, k: usize, row_stride: usize },
}

/// From the child.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "reply", rename_all = "kebab-case")]
pub(super) enum Reply {
    /// The first of all: the library is loaded, and calls itself so.
    Ready { name: String },
    /// The first and last: it cannot be used.
    Unusable { error: LoadError },
    /// What may be done.
    Contract { terms: Terms },
    /// The result is the one part.
    Done,
    /// No kernel.
    Unsupported,
    /// The arguments do not fit.
    Arguments { what: String },
    /// The kernel failed; the child is not to be asked again.
    Failed { what: String },
}

impl From<KernelError> for Reply {
    fn from(error: KernelError) -> Self {
        match error {
            KernelError::Unsupported => Self::Unsupported,
            KernelError::Arguments(what) => Self::Arguments { what },
            KernelError::Failed(what) => Self::Failed { what },
        }
    }
}

/// A contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Terms {
    weights: u32,
    activations: u32,
    accumulator: Sum,
    reads_past: usize,
    flushes_subnormals: bool,
    batch_invariant: bool,
    split_invariant: bool,
    repeatable: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Sum {
    F32,
    F16 { chunk: u32 },
    F64,
}

impl From<Contract> for Terms {
    fn from(contract: Contract) -> Self {
        let Contract { weights, activations, accumulator, reads_past, flushes_subnormals, promises } = contract;
        let Promises { batch_invariant, split_invariant, repeatable } = promises;
        Self {
            weights: weights.id(),
            activations: activations.id(),
            accumulator: match accumulator {
                Accumulator::F32 => Sum::F32,
                Accumulator::F16 { chunk } => Sum::F16 { chunk },
                Accumulator::F64 => Sum::F64,
            },
            reads_past,
            flushes_subnormals,
            batch_invariant,
            split_invariant,
            repeatable,
        }
    }
}

impl Terms {
    /// The contract; `None` if a number names no form.
    pub(super) fn contract(self) -> Option<Contract> {
        let Self { batch_invariant, split_invariant, repeatable, .. } = self;
        Some(Contract {
            weights: Form::from_id(self.weights)?,
            activations: Form::from_id(self.activations)?,
            accumulator: match self.accumulator {
                Sum::F32 => Accumulator::F32,
                Sum::F16 { chunk } => Accumulator::F16 { chunk },
                Sum::F64 => Accumulator::F64,
            },
            reads_past: self.reads_past,
            flushes_subnormals: self.flushes_subnormals,
            promises: Promises { batch_invariant, split_invariant, repeatable },
        })
    }
}

/// Floats as bytes of this machine; both ends are on it.
pub(super) fn to_bytes(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_ne_bytes()).collect()
}

/// Bytes as floats of this machine; what is no whole number at the end is dropped.
pub(super) fn to_floats(bytes: &[u8]) -> impl Iterator<Item = f32> + '_ {
    bytes.as_chunks().0.iter().map(|&bytes| f32::from_ne_bytes(bytes))
}
