//! The planted faults of kernels, each asked the questions that have to kill it.

use std::sync::atomic::{AtomicUsize, Ordering};

use assay_oracles::kernels::mutants::{MUTANTS, Mutant, kill, nmse_kills};

use super::{Question, Told};
use crate::parallel::side_by_side;

/// What came of a planted fault.
#[derive(Clone, Debug)]
pub struct Planted {
    /// The fault.
    pub mutant: &'static Mutant,
    /// The question that killed it; or why it counts as alive.
    pub killed: Result<Question, String>,
    /// Whether the customary test kills it; `None` if it does not ask about the operations of the fault.
    pub nmse: Option<bool>,
}

/// Asks all of them, some at a time, questions drawn from a seed. They come back in the order of the table.
#[must_use]
pub fn planted(seed: u64, jobs: usize, told: &Told<'_>) -> Vec<Planted> {
    let ended = AtomicUsize::new(0);
    side_by_side(jobs, MUTANTS, |mutant| {
        let killed = kill(mutant, seed).map(|kill| Question { law: kill.law, case: kill.case });
        let planted = Planted { mutant, killed, nmse: nmse_kills(mutant, seed) };
        told(ended.fetch_add(1, Ordering::Relaxed) + 1, MUTANTS.len());
        planted
    })
}
