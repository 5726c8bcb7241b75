//! The record of what kernels were asked: JSON lines that are only ever added to. A header, a line for each
//! question and set, a footer; a record without a footer is one of a run that did not come to its end.

use std::collections::BTreeMap;

use assay_oracles::kernels::judge::{Outcome, Verdict, Worst};
use gguf_spec::kernel::contract::{Accumulator, Contract};
use serde::{Deserialize, Serialize};

use super::{Answered, Question};
use crate::record::{Machine, NotRun, now, processor_line};

/// The version of the form of a record.
pub const FORMAT: u32 = 1;

/// A line of a record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "line", rename_all = "kebab-case")]
pub enum Line {
    /// The first.
    Kernels(Box<Header>),
    /// One for each question and set.
    KernelResult(Box<Result>),
    /// The last.
    KernelFooter(Box<Footer>),
}

/// What was run, and where.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Header {
    /// The version of the form, [`FORMAT`].
    pub format: u32,
    /// The version of the program that wrote it.
    pub assay: String,
    /// When the run began, in seconds since 1970.
    pub unix_time: u64,
    /// The machine.
    pub machine: Machine,
    /// What the processor can do, as the system names it; empty if it does not.
    pub features: Vec<String>,
    /// What the questions were drawn from.
    pub seed: u64,
    /// How many questions there are.
    pub questions: usize,
    /// The names of the sets.
    pub sets: Vec<String>,
    /// What was left out, and why.
    pub not_run: Vec<NotRun>,
}

/// What came of one question to one set.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Result {
    /// The set.
    pub set: String,
    /// The question; its name asks it again.
    pub question: String,
    /// What was asked for.
    pub operation: String,
    /// The type.
    #[serde(rename = "type")]
    pub ty: String,
    /// The tier that judged.
    pub tier: String,
    /// The law, if it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub law: Option<String>,
    /// `pass`, `fail`, `error`, `not-supported`, `no-room` or `not-run`.
    pub verdict: String,
    /// Elements that were compared.
    pub checked: usize,
    /// The largest share of a bound that was used; `None` where there is one right value and it was not given.
    pub share: Option<f64>,
    /// The largest share of the limit of a row's errors as a whole.
    pub row_share: f64,
    /// The contract, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contract: Option<String>,
    /// The element that is the furthest off, of a failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worst: Option<WorstLine>,
    /// What is wrong, or why nothing was asked, if it is not one element.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// The element that is the furthest off. Numbers that JSON does not have, and the bits of all, are text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WorstLine {
    /// 0 for the first call of a question, 1 for the second.
    pub call: usize,
    /// The column.
    pub column: usize,
    /// The row; of decoding, the weight.
    pub row: usize,
    /// What is right, as text.
    pub expected: String,
    /// What was given, as text.
    pub got: String,
    /// The bits of what was given, in hexadecimal.
    pub got_bits: String,
    /// How far apart they may be; `0` where there is one right value.
    pub bound: String,
}

impl From<&Worst> for WorstLine {
    fn from(worst: &Worst) -> Self {
        Self {
            call: worst.call,
            column: worst.column,
            row: worst.row,
            expected: format!("{:e}", worst.expected),
            got: format!("{:e}", worst.got),
            got_bits: format!("{:08x}", worst.got.to_bits()),
            bound: format!("{:e}", worst.bound),
        }
    }
}

/// What came of all.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Footer {
    /// For each set, how many answers have each verdict; those that none has are left out.
    pub tallies: BTreeMap<String, BTreeMap<String, usize>>,
    /// Elements that were compared.
    pub checked: u64,
    /// How long it took, in seconds.
    pub seconds: f64,
    /// Whether every question was put to every set.
    pub complete: bool,
}

/// The word of a verdict.
#[must_use]
pub fn verdict_name(outcome: Option<&Outcome>) -> &'static str {
    match outcome.map(|outcome| &outcome.verdict) {
        Some(Verdict::Pass) => "pass",
        Some(Verdict::Fail) => "fail",
        Some(Verdict::Error(_)) => "error",
        Some(Verdict::NotSupported) => "not-supported",
        Some(Verdict::NoRoom(_)) => "no-room",
        None => "not-run",
    }
}

/// A contract in words: `q8_k activations, f32 sums`.
#[must_use]
pub fn contract_text(contract: &Contract) -> String {
    use gguf_spec::kernel::contract::Form;
    let sums = match contract.accumulator {
        Accumulator::F32 => "f32 sums".to_owned(),
        Accumulator::F16 { chunk } => format!("f16 sums of {chunk}"),
        Accumulator::F64 => "f64 sums".to_owned(),
    };
    let mut text = String::new();
    if contract.weights != Form::Exact {
        text.push_str(&format!("{} weights, ", contract.weights.name()));
    }
    text.push_str(&format!("{} activations, {sums}", contract.activations.name()));
    if contract.reads_past > 0 {
        text.push_str(&format!(", reads {} bytes past the end", contract.reads_past));
    }
    if contract.flushes_subnormals {
        text.push_str(", flushes subnormals");
    }
    text
}

impl Header {
    /// The header of a run that begins now.
    #[must_use]
    pub fn new(seed: u64, questions: usize, sets: Vec<String>, not_run: Vec<NotRun>) -> Self {
        Self {
            format: FORMAT,
            assay: env!("CARGO_PKG_VERSION").to_owned(),
            unix_time: now(),
            machine: Machine::this(),
            features: features(),
            seed,
            questions,
            sets,
            not_run,
        }
    }
}

/// What the processor can do.
fn features() -> Vec<String> {
    let line = processor_line(&["flags", "Features"]).unwrap_or_default();
    line.split_whitespace().map(str::to_owned).collect()
}

impl Result {
    /// The line of an answer of a set of this name.
    #[must_use]
    pub fn new(set: &str, answered: &Answered) -> Self {
        let Question { law, case } = answered.question;
        let outcome = answered.outcome.as_ref();
        let failed = outcome.is_some_and(|outcome| outcome.verdict == Verdict::Fail);
        let reason = match outcome.map(|outcome| &outcome.verdict) {
            Some(Verdict::Error(error)) => Some(error.to_string()),
            Some(Verdict::NoRoom(reason)) => Some(reason.to_string()),
            Some(_) => outcome.and_then(|outcome| outcome.reason.clone()),
            None => Some("the set failed too often before".to_owned()),
        };
        Self {
            set: set.to_owned(),
            question: answered.question.to_string(),
            operation: case.operation.name().to_owned(),
            ty: case.ty.name.to_owned(),
            tier: case.tier.name().to_owned(),
            law: law.map(|law| law.name().to_owned()),
            verdict: verdict_name(outcome).to_owned(),
            checked: outcome.map_or(0, |outcome| outcome.checked),
            share: outcome.map(|outcome| outcome.share).filter(|share| share.is_finite()),
            row_share: outcome.map_or(0.0, |outcome| outcome.row_share).min(f64::MAX),
            contract: outcome.and_then(|outcome| outcome.contract.as_ref()).map(contract_text),
            worst: outcome.filter(|_| failed).and_then(|outcome| outcome.worst.as_ref()).map(WorstLine::from),
            reason,
        }
    }
}

impl Result {
    /// Whether it is a failure: something wrong was given, or nothing.
    #[must_use]
    pub fn is_wrong(&self) -> bool {
        matches!(self.verdict.as_str(), "fail" | "error")
    }
}

impl Footer {
    /// The footer of a run that has ended.
    #[must_use]
    pub fn new(results: &[Result], seconds: f64) -> Self {
        let mut tallies: BTreeMap<String, BTreeMap<String, usize>> = BTreeMap::new();
        for result in results {
            *tallies.entry(result.set.clone()).or_default().entry(result.verdict.clone()).or_default() += 1;
        }
        let checked = results.iter().map(|result| result.checked as u64).sum();
        let complete = results.iter().all(|result| result.verdict != "not-run");
        Self { tallies, checked, seconds, complete }
    }
}
