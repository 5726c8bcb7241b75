//! Questions put to sets of kernels, a few at a time.

use std::sync::atomic::{AtomicUsize, Ordering};

use assay_oracles::kernels::expect::Prepared;
use assay_oracles::kernels::inputs::NoRoom;
use assay_oracles::kernels::judge::{Outcome, Verdict, settled};
use assay_oracles::kernels::laws;
use gguf_spec::kernel::KernelSet;
use gguf_spec::kernel::contract::Contract;

use super::Question;
use crate::parallel::with_tools;

/// Makes a set of kernels, one for each thread that asks.
pub type Maker<'a> = dyn Fn() -> Result<Box<dyn KernelSet>, String> + Sync + 'a;

/// How many at once, and how often a set may fail.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// How many threads ask.
    pub jobs: usize,
    /// After so many answers of a set that are none, because it crashed or hung, it is asked no more.
    pub errors: usize,
}

/// Told how many questions have been put, of how many.
pub type Told<'a> = dyn Fn(usize, usize) + Sync + 'a;

/// What a set answered to a question.
#[derive(Clone, Debug)]
pub struct Answered {
    /// The place of the set in the list.
    pub set: usize,
    /// The question.
    pub question: Question,
    /// What came of it; `None` if the set had failed too often before.
    pub outcome: Option<Outcome>,
}

/// Puts every question to every set. The answers are in the order of the questions, and of the sets.
///
/// # Errors
///
/// If a set cannot be made.
pub fn ask(
    makers: &[&Maker<'_>],
    questions: &[Question],
    bounds: Bounds,
    told: &Told<'_>,
) -> Result<Vec<Answered>, String> {
    let ended = AtomicUsize::new(0);
    let errors: Vec<AtomicUsize> = makers.iter().map(|_| AtomicUsize::new(0)).collect();
    let sets = || makers.iter().map(|maker| maker()).collect::<Result<Vec<_>, _>>();
    let answered = with_tools(bounds.jobs, questions, sets, |sets, question| {
        let answers = put(question, sets, &errors, bounds.errors);
        told(ended.fetch_add(1, Ordering::Relaxed) + 1, questions.len());
        answers
    })?;
    Ok(answered.into_iter().flatten().collect())
}

/// Puts one question to all sets. What is right is computed once for each contract, and most sets have the same.
fn put(question: &Question, sets: &mut [Box<dyn KernelSet>], errors: &[AtomicUsize], most: usize) -> Vec<Answered> {
    let mut known: Vec<(Contract, Result<Prepared, NoRoom>)> = Vec::new();
    let mut answers = Vec::with_capacity(sets.len());
    for (at, set) in sets.iter_mut().enumerate() {
        let outcome = (errors[at].load(Ordering::Relaxed) < most).then(|| match question.law {
            Some(law) => laws::check(set.as_mut(), law, &question.case),
            None => case(question, set.as_mut(), &mut known),
        });
        if matches!(&outcome, Some(outcome) if matches!(outcome.verdict, Verdict::Error(_))) {
            errors[at].fetch_add(1, Ordering::Relaxed);
        }
        answers.push(Answered { set: at, question: *question, outcome });
    }
    answers
}

fn case(
    question: &Question,
    set: &mut dyn KernelSet,
    known: &mut Vec<(Contract, Result<Prepared, NoRoom>)>,
) -> Outcome {
    let case = &question.case;
    let contract = match set.contract(case.operation, case.ty, case.inputs()) {
        Ok(contract) => contract,
        Err(error) => return Outcome::without_contract(case, error),
    };
    let at = known.iter().position(|(other, _)| *other == contract).unwrap_or_else(|| {
        known.push((contract, Prepared::new(case, &contract)));
        known.len() - 1
    });
    settled(set, case, contract, &known[at].1)
}
