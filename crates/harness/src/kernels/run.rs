//! Questions put to sets of kernels, a few at a time.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use assay_oracles::kernels::expect::Prepared;
use assay_oracles::kernels::inputs::NoRoom;
use assay_oracles::kernels::judge::{Outcome, Verdict, settled};
use assay_oracles::kernels::laws;
use gguf_spec::kernel::contract::Contract;
use gguf_spec::kernel::{KernelSet, Operation};

use super::Question;
use crate::parallel::with_tools;

/// Makes a set of kernels, one for each thread that asks.
pub type Maker<'a> = dyn Fn() -> Result<Box<dyn KernelSet>, String> + Sync + 'a;

/// How many at once, and how often a set may fail.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// How many threads ask.
    pub jobs: usize,
    /// After so many answers to one operation with one type that are none, because the set crashed or hung, it is not
    /// asked for that operation with that type any more.
    pub errors: usize,
    /// When so much time has been spent on answers that are none, a set is not asked any more.
    pub lost: Duration,
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
    let failures: Vec<Failures> = makers.iter().map(|_| Failures::default()).collect();
    let sets = || makers.iter().map(|maker| maker()).collect::<Result<Vec<_>, _>>();
    let answered = with_tools(bounds.jobs, questions, sets, |sets, question| {
        let mut known = Vec::new();
        let put = |(at, set): (usize, &mut Box<dyn KernelSet>)| {
            let outcome = failures[at].leave(question, bounds).then(|| {
                let start = Instant::now();
                let mut outcome = put(question, set.as_mut(), &mut known);
                if failures[at].add(question, &outcome, start.elapsed()) {
                    alone(question, makers[at], &mut outcome);
                }
                outcome
            });
            Answered { set: at, question: *question, outcome }
        };
        let answers: Vec<_> = sets.iter_mut().enumerate().map(put).collect();
        told(ended.fetch_add(1, Ordering::Relaxed) + 1, questions.len());
        answers
    })?;
    Ok(answered.into_iter().flatten().collect())
}

/// What went wrong with a set.
#[derive(Default)]
struct Failures {
    /// By operation and type.
    counts: Mutex<HashMap<(Operation, u32), Count>>,
    /// The time that was spent on answers that are none, in milliseconds.
    lost: AtomicU64,
}

#[derive(Clone, Copy, Default)]
struct Count {
    /// Answers that are none.
    errors: usize,
    /// Wrong answers.
    wrong: usize,
}

/// So many wrong answers to one operation with one type are asked for again, each of a new set.
const AGAIN: usize = 3;

impl Failures {
    /// Whether a question may still be put.
    fn leave(&self, question: &Question, bounds: Bounds) -> bool {
        self.count(question, |count| count.errors < bounds.errors)
            && u128::from(self.lost.load(Ordering::Relaxed)) < bounds.lost.as_millis()
    }

    /// Takes an answer into account. Whether it is one of the first wrong ones.
    fn add(&self, question: &Question, outcome: &Outcome, took: Duration) -> bool {
        match outcome.verdict {
            Verdict::Error(_) => {
                self.lost.fetch_add(u64::try_from(took.as_millis()).unwrap_or(u64::MAX), Ordering::Relaxed);
                self.count(question, |count| count.errors += 1);
                false
            }
            Verdict::Fail => self.count(question, |count| {
                count.wrong += 1;
                count.wrong <= AGAIN
            }),
            Verdict::Pass | Verdict::NotSupported | Verdict::NoRoom(_) => false,
        }
    }

    fn count<T>(&self, question: &Question, with: impl FnOnce(&mut Count) -> T) -> T {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        with(counts.entry((question.case.operation, question.case.ty.id)).or_default())
    }
}

/// Asks for a wrong answer again, of a new set: one that was wrong because of the questions before is right then, and
/// whoever asks the question by its name finds nothing.
fn alone(question: &Question, maker: &Maker<'_>, outcome: &mut Outcome) {
    let Ok(mut set) = maker() else { return };
    if put(question, set.as_mut(), &mut Vec::new()).verdict == Verdict::Pass {
        let why = "asked alone, in a new process, it is right: something is left of the questions before";
        outcome.reason = Some(match outcome.reason.take() {
            Some(reason) => format!("{reason}; {why}"),
            None => why.to_owned(),
        });
    }
}

/// What is known of a question: what is right is computed once for each contract, and most sets have the same.
type Known = Vec<(Contract, Result<Prepared, NoRoom>)>;

/// Puts a question to a set.
fn put(question: &Question, set: &mut dyn KernelSet, known: &mut Known) -> Outcome {
    match question.law {
        Some(law) => laws::check(set, law, &question.case),
        None => case(question, set, known),
    }
}

fn case(question: &Question, set: &mut dyn KernelSet, known: &mut Known) -> Outcome {
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
