//! The record of what kernels were asked: JSON lines that are only ever added to. A header, a line for each
//! question and set, a footer; a record without a footer is one of a run that did not come to its end.

use std::collections::BTreeMap;

use assay_oracles::kernels::judge::{Outcome, Verdict, Worst};
use assay_oracles::kernels::sides::Taken;
use gguf_spec::kernel::Operation;
use gguf_spec::kernel::contract::{Contract, Form};
use serde::{Deserialize, Serialize};

use super::{Answered, Question};
use crate::record::{self, Machine, NotRun, now, processor_line};

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
    /// The wrong elements, of a failure that has some.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wrong: Option<WrongLine>,
    /// What is wrong, or why nothing was asked, if it is not one element; of a law, what was compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The sides that the set takes where authorities differ about scales, one for each dispute that was met.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sides: Vec<SideLine>,
}

/// How many elements are wrong, and where.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WrongLine {
    /// How many.
    pub elements: usize,
    /// How many of them were never written.
    pub unwritten: usize,
    /// Where, in words: `rows 1, 3, 5..15 of 17; all 3 columns`; empty if there is only one place.
    pub places: String,
}

/// The sides that a set takes in a dispute about a scale.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SideLine {
    /// Which blocks are disputed.
    pub blocks: String,
    /// Who makes the same of all of them; empty if nobody known does.
    pub who: Vec<String>,
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
    /// Its bits, in hexadecimal, where there is one right value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_bits: Option<String>,
    /// What was given, as text.
    pub got: String,
    /// The bits of what was given, in hexadecimal.
    pub got_bits: String,
    /// How far apart they may be; `0` where there is one right value.
    pub bound: String,
    /// Whether the kernel has not written there at all.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unwritten: bool,
}

impl From<&Worst> for WorstLine {
    fn from(worst: &Worst) -> Self {
        let right = (worst.bound <= 0.0).then(|| worst.right());
        Self {
            call: worst.call,
            column: worst.column,
            row: worst.row,
            expected: right.map_or_else(|| format!("{:e}", worst.expected), |right| format!("{right:e}")),
            expected_bits: right.map(|right| format!("{:08x}", right.to_bits())),
            got: format!("{:e}", worst.got),
            got_bits: format!("{:08x}", worst.got.to_bits()),
            bound: format!("{:e}", worst.bound),
            unwritten: worst.is_unwritten(),
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

/// The words of verdicts.
const VERDICTS: [&str; 6] = ["pass", "fail", "error", "not-supported", "no-room", "not-run"];

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

/// What a contract says about an operation, in words: `q8_k activations, f32 sums`; `None` if it says nothing.
#[must_use]
pub fn contract_text(contract: &Contract, operation: Operation) -> Option<String> {
    let mut words = Vec::new();
    // What decodes or encodes multiplies no activations and adds nothing up, and promises are about that.
    if matches!(operation, Operation::Dot | Operation::Matmul | Operation::MatmulId) {
        if contract.weights != Form::Exact {
            words.push(format!("{} weights", contract.weights.name()));
        }
        words.push(format!("{} activations", contract.activations.name()));
        words.push(contract.accumulator.to_string());
        let promises: Vec<_> = contract.promises.names().collect();
        if !promises.is_empty() {
            words.push(format!("promises {}", promises.join(" | ")));
        }
    }
    if contract.reads_past > 0 {
        words.push(format!("reads {} bytes past the end", contract.reads_past));
    }
    if contract.flushes_subnormals {
        words.push("flushes subnormals".to_owned());
    }
    (!words.is_empty()).then(|| words.join(", "))
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
            contract: outcome
                .and_then(|outcome| outcome.contract.as_ref())
                .and_then(|contract| contract_text(contract, case.operation)),
            worst: outcome.filter(|_| failed).and_then(|outcome| outcome.worst.as_ref()).map(WorstLine::from),
            wrong: outcome.filter(|outcome| failed && outcome.wrong.elements > 0).map(|outcome| WrongLine {
                elements: outcome.wrong.elements,
                unwritten: outcome.wrong.unwritten,
                places: outcome.wrong.places(&case),
            }),
            reason,
            sides: outcome.map(|outcome| outcome.sides.iter().map(SideLine::from).collect()).unwrap_or_default(),
        }
    }
}

impl From<&Taken> for SideLine {
    fn from(taken: &Taken) -> Self {
        Self { blocks: taken.dispute.blocks.to_owned(), who: taken.sides().map(|side| side.who.to_owned()).collect() }
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

/// A record as it was read.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// The header.
    pub header: Header,
    /// The answers, in the order of the questions.
    pub results: Vec<Result>,
    /// The footer; `None` if the run did not come to its end.
    pub footer: Option<Footer>,
}

/// Whether a file is the record of kernels, whatever its format: whether its first line says so.
#[must_use]
pub fn is_of_kernels(text: &str) -> bool {
    #[derive(Deserialize)]
    struct First {
        line: String,
    }
    let first = text.lines().next().and_then(|line| serde_json::from_str::<First>(line).ok());
    first.is_some_and(|first| first.line == "kernels")
}

/// Reads the records of a file: one for each header, in their order.
///
/// # Errors
///
/// The line that is not as it should be, and why: a header of another format, an answer of a set that the header does
/// not name, a footer that counts other answers than are there. A last line that was not written to its end is none.
pub fn read(text: &str) -> std::result::Result<Vec<Record>, String> {
    let mut records: Vec<Record> = Vec::new();
    for (number, line) in record::lines(text, FORMAT)? {
        let wrong = |what: &str| Err(format!("line {number}: {what}"));
        match (line, records.last_mut()) {
            (Line::Kernels(header), _) if header.format != FORMAT => {
                return Err(record::other_format(number, header.format, FORMAT));
            }
            (Line::Kernels(header), _) => {
                records.push(Record { header: *header, results: Vec::new(), footer: None });
            }
            (Line::KernelResult(result), Some(record)) if record.footer.is_none() => {
                if !record.header.sets.contains(&result.set) {
                    return wrong(&format!("an answer of {:?}, a set that the header does not name", result.set));
                }
                if !VERDICTS.contains(&result.verdict.as_str()) {
                    return wrong(&format!("{:?} is no verdict; there are {}", result.verdict, VERDICTS.join(", ")));
                }
                record.results.push(*result);
            }
            (Line::KernelFooter(footer), Some(record)) if record.footer.is_none() => {
                let counted = Footer::new(&record.results, footer.seconds);
                if (&counted.tallies, counted.checked) != (&footer.tallies, footer.checked) {
                    return wrong("the footer counts other answers than the lines above it have: some are missing");
                }
                record.footer = Some(*footer);
            }
            _ => return wrong("a line that belongs to no header"),
        }
    }
    if records.is_empty() { Err(record::NO_RECORD.to_owned()) } else { Ok(records) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::write_line;

    fn written(lines: &[Line]) -> String {
        let mut text = Vec::new();
        for line in lines {
            write_line(line, &mut text).expect("memory takes it");
        }
        String::from_utf8(text).expect("UTF-8")
    }

    /// An answer of a set to a question that was put to it.
    fn answer(set: &str) -> Result {
        let question = "dot/Q4_0/exact/r1-k32-c1-scales.normal/1".parse().expect("a question");
        Result::new(set, &Answered { set: 0, question, outcome: None })
    }

    fn lines() -> [Line; 4] {
        let results = [answer("a"), answer("b")];
        let footer = Footer::new(&results, 1.5);
        let header = Header::new(1, 1, vec!["a".to_owned(), "b".to_owned()], Vec::new());
        let [a, b] = results.map(|result| Line::KernelResult(Box::new(result)));
        [Line::Kernels(Box::new(header)), a, b, Line::KernelFooter(Box::new(footer))]
    }

    #[test]
    fn what_is_written_is_read() {
        let text = written(&lines());
        assert!(is_of_kernels(&text) && !is_of_kernels("") && !is_of_kernels("{\"line\":\"header\"}\n"));
        let [record] = &read(&text).expect("a record")[..] else { panic!("one record") };
        let [Line::Kernels(header), .., Line::KernelFooter(footer)] = lines() else { panic!("a header, a footer") };
        assert_eq!(record.results, [answer("a"), answer("b")]);
        assert_eq!((&record.header, record.footer.as_ref()), (&*header, Some(&*footer)));
        // Cut inside the footer, and inside an answer, that line is none.
        let cut = |bytes: usize| read(&text[..text.len() - bytes]).map(|records| records[0].clone());
        assert_eq!(cut(5).map(|record| (record.results.len(), record.footer)), Ok((2, None)));
        let answers = written(&lines()[..3]).len();
        assert_eq!(cut(text.len() - answers + 5).map(|record| record.results.len()), Ok(1));
    }

    #[test]
    fn what_is_no_record_is_told() {
        let [header, a, b, footer] = lines();
        let says = |lines: &[&Line]| {
            let lines: Vec<Line> = lines.iter().map(|&line| line.clone()).collect();
            read(&written(&lines)).expect_err("no record")
        };
        assert!(says(&[]).starts_with("no record"));
        assert_eq!(says(&[&a]), "line 1: a line that belongs to no header");
        assert_eq!(says(&[&header, &a, &b, &footer, &footer]), "line 5: a line that belongs to no header");
        assert!(says(&[&header, &b, &footer]).starts_with("line 3: the footer counts other answers"));
        let stranger = Line::KernelResult(Box::new(answer("c")));
        assert_eq!(says(&[&header, &stranger]), "line 2: an answer of \"c\", a set that the header does not name");
        let other = written(&lines()).replace("not-run", "perhaps");
        assert!(read(&other).is_err_and(|why| why.starts_with("line 2: \"perhaps\" is no verdict; there are pass,")));
        let newer = written(&lines()).replace("\"format\":1", "\"format\":2,\"new\":3");
        assert_eq!(read(&newer).expect_err("newer"), "line 1: a record of format 2; this program reads 1");
        assert!(
            read(&written(&lines()).replace("\"set\":\"a\"", "\"set\":")).is_err_and(|w| w.starts_with("line 2: "))
        );
    }
}
