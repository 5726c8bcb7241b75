//! Planted faults: what these judgements are worth is what they kill.
//!
//! Each is one small thing that a kernel does wrong, for one type, at one place or under one condition. Many
//! are made after a fault that somebody reported. [`kills`] says whether a case kills one, [`kill`] which is the first
//! that does, [`nmse_kills`] whether the customary test would.

pub mod fault;
mod kill;
mod nmse;
pub(super) mod steps;
mod table;

use std::fmt;

use gguf_spec::kernel::{KernelSet, Operation};
use gguf_spec::types::TensorType;

pub use fault::{Fault, Where};
pub use kill::{Kill, first_of_tier, kill};
pub use nmse::{NMSE_LIMIT, nmse_kills};
pub use table::MUTANTS;

use super::cases::{Case, Tier, named};
use super::expect::Prepared;
use super::generic::{Family, Generic};
use super::judge::{Verdict, judge};
use super::laws::{self, Law};

/// What a fault is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// Codes of weights.
    Code,
    /// Points of a grid, signs and shifts.
    Grid,
    /// Scales of a block: their bits, their place, their precision.
    Scale,
    /// Scales of a part of a block.
    SubScale,
    /// What is taken off.
    Minimum,
    /// Data taken for another format, or from the wrong byte.
    Layout,
    /// The end of a row: the last of an odd number of blocks, what is behind the last 256.
    Tail,
    /// Scales that are zero, subnormal or large.
    Extreme,
    /// The activations' form: rounding, scale.
    Activation,
    /// The sums that are stored with activations.
    Sum,
    /// What is added up in.
    Accumulator,
    /// Columns, their number, the path that depends on it.
    Columns,
    /// Rows, and what is written.
    Rows,
    /// Bytes and elements from one to the next.
    Stride,
    /// Experts.
    Experts,
    /// What is left of the call before.
    State,
    /// Decoding alone.
    Decoding,
    /// Blocks of activations.
    Quantizing,
    /// What the contract promises beyond its bounds.
    Promise,
}

named!(Kind: Code = "code", Grid = "grid", Scale = "scale", SubScale = "sub-scale", Minimum = "minimum",
    Layout = "layout", Tail = "tail", Extreme = "extreme", Activation = "activation", Sum = "sum",
    Accumulator = "accumulator", Columns = "columns", Rows = "rows", Stride = "stride", Experts = "experts",
    State = "state", Decoding = "decoding", Quantizing = "quantizing", Promise = "promise");

/// What kills a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Killer {
    /// A case of this tier.
    Tier(Tier),
    /// This law.
    Law(Law),
}

impl fmt::Display for Killer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tier(tier) => tier.fmt(f),
            Self::Law(law) => write!(f, "law {law}"),
        }
    }
}

/// A planted fault.
#[derive(Clone, Copy, Debug)]
pub struct Mutant {
    /// What goes wrong, as a phrase; the name of the fault.
    pub name: &'static str,
    /// What it is about.
    pub kind: Kind,
    /// The type of weights that it concerns.
    pub ty: &'static str,
    /// The set that it is planted into.
    pub family: Family,
    /// The operations that it concerns.
    pub operations: &'static [Operation],
    /// Where it acts.
    pub at: Where,
    /// What it does.
    pub fault: Fault,
    /// What kills it.
    pub killer: Killer,
    /// The public report that it is modelled on.
    pub after: Option<&'static str>,
}

impl Mutant {
    /// Whether it does anything to an operation with a type.
    #[must_use]
    pub fn concerns(&self, operation: Operation, ty: &TensorType) -> bool {
        ty.name == self.ty && self.operations.contains(&operation)
    }

    /// The type.
    ///
    /// # Panics
    ///
    /// If the table names a type that there is not; a test holds it to that.
    #[must_use]
    pub fn tensor_type(&self) -> &'static TensorType {
        TensorType::from_name(self.ty).unwrap_or_else(|| panic!("{}: no type is called {}", self.name, self.ty))
    }

    /// Whether it acts on one block, one row, one group of weights or one column alone.
    #[must_use]
    pub fn is_local(&self) -> bool {
        let one = |pick| matches!(pick, fault::Pick::At(_) | fault::Pick::Last | fault::Pick::LastOfOdd);
        one(self.at.rows) || one(self.at.blocks) || one(self.at.columns) || matches!(self.fault, Fault::KeepsRow(_))
    }

    /// Whether it acts on the second of two calls alone.
    #[must_use]
    pub fn is_of_second_call(&self) -> bool {
        matches!(self.at.calls, fault::Pick::At(1..) | fault::Pick::From(1..))
    }

    /// Whether it acts on tails, odd numbers of blocks, or several columns alone.
    #[must_use]
    pub fn is_conditional(&self) -> bool {
        matches!(self.at.blocks, fault::Pick::LastOfOdd | fault::Pick::Tail)
            || self.at.batch.0 >= 2
            || matches!(self.at.columns, fault::Pick::From(1..) | fault::Pick::At(1..))
    }
}

/// Whether a case kills a fault: the verdict is a failure, or the kernel gives none.
///
/// The case is prepared once and judged for many faults; its contract is that of the fault's set.
#[must_use]
pub fn kills(mutant: &Mutant, prepared: &Prepared) -> bool {
    let outcome = judge(&mut Generic::with(*mutant), prepared);
    matches!(outcome.verdict, Verdict::Fail | Verdict::Error(_))
}

/// Whether a law, applied to a case, kills a fault.
#[must_use]
pub fn breaks(mutant: &Mutant, law: Law, case: &Case) -> bool {
    matches!(laws::check(&mut Generic::with(*mutant), law, case).verdict, Verdict::Fail | Verdict::Error(_))
}

/// A case under the contract of a fault's set; `None` if there are no such inputs.
#[must_use]
pub fn prepare(family: Family, case: &Case) -> Option<Prepared> {
    let contract = Generic::new(family).contract(case.operation, case.ty, case.inputs()).ok()?;
    Prepared::new(case, &contract).ok()
}
