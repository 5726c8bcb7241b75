//! The planted faults: [`weights`] and [`calls`].
//!
//! Abbreviations in reports: LCPP is `ggml-org/llama.cpp`, IKL is `ikawrakow/ik_llama.cpp`.

mod calls;
mod weights;

use gguf_spec::kernel::Operation;

use super::fault::{Fault, Pick, Where};
use super::{Killer, Kind, Mutant};
use crate::kernels::cases::Tier;
use crate::kernels::generic::Family::{self, Integer};

const PRODUCTS: &[Operation] = &[Operation::Dot, Operation::Matmul, Operation::MatmulId];
const EXPERTS: &[Operation] = &[Operation::MatmulId];
const DECODING: &[Operation] = &[Operation::Dequantize, Operation::GetRows];
const LOOKUP: &[Operation] = &[Operation::GetRows];
const QUANTIZING: &[Operation] = &[Operation::QuantizeRow];

const EXACT: Killer = Killer::Tier(Tier::Exact);
const LOSSLESS: Killer = Killer::Tier(Tier::Lossless);
const ORDINARY: Killer = Killer::Tier(Tier::Ordinary);
const BITS: Killer = Killer::Tier(Tier::Bits);

const ANY: Where = Where::ANY;
const SECOND: Where = Where { calls: Pick::At(1), ..ANY };
const ODD: Where = block(Pick::LastOfOdd);
const TAIL: Where = block(Pick::Tail);

const fn block(blocks: Pick) -> Where {
    Where { blocks, ..ANY }
}

const fn row(rows: Pick) -> Where {
    Where { rows, ..ANY }
}

const fn columns(columns: Pick) -> Where {
    Where { columns, ..ANY }
}

const fn batch(least: usize, most: usize) -> Where {
    Where { batch: (least, most), ..ANY }
}

/// A fault in products of a set that holds activations as CPUs do.
const fn fault(kind: Kind, ty: &'static str, name: &'static str, at: Where, fault: Fault, killer: Killer) -> Mutant {
    Mutant { name, kind, ty, family: Integer, operations: PRODUCTS, at, fault, killer, after: None }
}

impl Mutant {
    const fn after(self, report: &'static str) -> Self {
        Self { after: Some(report), ..self }
    }

    const fn of(self, operations: &'static [Operation]) -> Self {
        Self { operations, ..self }
    }

    const fn family(self, family: Family) -> Self {
        Self { family, ..self }
    }
}

/// All of them.
pub const MUTANTS: &[Mutant] = &{
    let mut all = [weights::FAULTS[0]; weights::FAULTS.len() + calls::FAULTS.len()];
    let (first, rest) = all.split_at_mut(weights::FAULTS.len());
    first.copy_from_slice(weights::FAULTS);
    rest.copy_from_slice(calls::FAULTS);
    all
};
