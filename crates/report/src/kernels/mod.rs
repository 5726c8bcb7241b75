//! The record of kernels, and what became of the faults that are planted into them.
//!
//! - [`terminal`], [`markdown`]: the record of a run;
//! - [`sides`]: which sides sets take where authorities differ;
//! - [`planted`]: the planted faults.

mod failure;
pub mod markdown;
pub mod planted;
pub mod sides;
pub mod terminal;

use std::collections::{BTreeMap, BTreeSet};

use assay_harness::kernels::record::{Record, Result as ResultLine};
use gguf_spec::types::TensorType;

/// How many failures of each set are shown if nothing else is asked for.
pub const MOST_FAILURES: usize = 5;

/// What came of a type and an operation with a set.
#[derive(Clone, Debug, Default)]
pub struct Cell {
    /// Right answers.
    pub passed: usize,
    /// Wrong answers, and none.
    pub wrong: usize,
    /// Questions that the set has no kernel for.
    pub not_supported: usize,
    /// Questions without inputs that could be asked.
    pub no_room: usize,
    /// Questions that were not put, because the set had failed too often.
    pub not_run: usize,
    /// Whether there were questions with one right result.
    pub exact: bool,
    /// The largest share of a bound that was used on lossless activations.
    pub lossless: Option<f64>,
    /// The same on ordinary data.
    pub ordinary: Option<f64>,
    /// Under which contracts, in words.
    pub contracts: BTreeSet<String>,
}

/// The larger of two numbers, where there are any.
fn larger(a: Option<f64>, b: Option<f64>) -> Option<f64> {
    a.into_iter().chain(b).reduce(f64::max)
}

impl Cell {
    pub(super) fn asked(&self) -> usize {
        self.passed + self.wrong + self.not_run
    }

    fn add(&mut self, result: &ResultLine) {
        match result.verdict.as_str() {
            "pass" => self.passed += 1,
            "no-room" => self.no_room += 1,
            "not-run" => self.not_run += 1,
            _ if result.is_wrong() => self.wrong += 1,
            _ => {
                self.not_supported += 1;
                return;
            }
        }
        self.contracts.extend(result.contract.clone());
        if result.checked == 0 {
            return;
        }
        let share = Some(result.share.unwrap_or(f64::INFINITY).max(result.row_share));
        match result.tier.as_str() {
            "lossless" => self.lossless = larger(self.lossless, share),
            "ordinary" => self.ordinary = larger(self.ordinary, share),
            _ => self.exact = true,
        }
    }

    fn join(&mut self, other: &Self) {
        self.passed += other.passed;
        self.wrong += other.wrong;
        self.not_supported += other.not_supported;
        self.no_room += other.no_room;
        self.not_run += other.not_run;
        self.exact |= other.exact;
        self.lossless = larger(self.lossless, other.lossless);
        self.ordinary = larger(self.ordinary, other.ordinary);
    }

    /// `=` for what has to be exact; where bounds were used, that and the shares in percent, in three places.
    pub(super) fn text(&self) -> String {
        match (self.asked(), self.wrong) {
            (0, _) => "-".to_owned(),
            (asked, 1..) => format!("{} of {asked} wrong", self.wrong),
            _ if self.passed == 0 => "not run".to_owned(),
            _ => {
                let exact = if self.exact { "=" } else { "-" };
                if self.lossless.or(self.ordinary).is_none() {
                    return exact.to_owned();
                }
                let share = |share: Option<f64>| share.map_or_else(|| "-".to_owned(), percent);
                format!("{exact} / {} / {}", share(self.lossless), share(self.ordinary))
            }
        }
    }
}

/// A share in percent, rounded up.
pub(super) fn percent(share: f64) -> String {
    format!("{:.0}%", (100.0 * share).ceil())
}

/// All cells, by set, type and operation.
#[derive(Clone, Debug)]
pub struct Cells<'a>(BTreeMap<(&'a str, &'a str, &'a str), Cell>);

impl<'a> Cells<'a> {
    /// The cells of the answers of a run.
    #[must_use]
    pub fn of(results: &'a [ResultLine]) -> Self {
        let mut cells: BTreeMap<_, Cell> = BTreeMap::new();
        for result in results {
            cells.entry((result.set.as_str(), result.ty.as_str(), result.operation.as_str())).or_default().add(result);
        }
        Self(cells)
    }

    /// Each with its set, type and operation.
    pub fn all(&self) -> impl Iterator<Item = (&(&'a str, &'a str, &'a str), &Cell)> {
        self.0.iter()
    }

    /// The one of a set, a type and an operation.
    fn one<'b>(&'b self, set: &'b str, ty: &'b str, operation: &'b str) -> Option<&'b Cell> {
        self.0.get(&(set, ty, operation))
    }

    /// One cell for a set and a type: all operations together.
    fn together(&self, set: &str, ty: &str) -> Cell {
        let mut all = Cell::default();
        self.0.iter().filter(|((s, t, _), _)| *s == set && *t == ty).for_each(|(_, cell)| all.join(cell));
        all
    }
}

/// A set as a whole.
struct Whole<'a> {
    name: &'a str,
    /// How many types it was asked about.
    types: usize,
    /// All types together.
    all: Cell,
    /// The type that used the most of its bound on ordinary data.
    most: &'static str,
}

/// Each set as a whole, in the order of the header.
fn wholes<'a>(record: &'a Record, cells: &Cells<'_>) -> Vec<Whole<'a>> {
    let whole = |name: &'a String| {
        let of_types: Vec<_> = types(record).map(|ty| (ty.name, cells.together(name, ty.name))).collect();
        let mut all = Cell::default();
        of_types.iter().for_each(|(_, cell)| all.join(cell));
        let share = |cell: &Cell| cell.ordinary.unwrap_or(-1.0);
        let most = of_types.iter().max_by(|a, b| share(&a.1).total_cmp(&share(&b.1)));
        Whole {
            name,
            types: of_types.iter().filter(|(_, cell)| cell.asked() > 0).count(),
            all,
            most: most.filter(|(_, cell)| cell.ordinary.is_some()).map_or("", |(name, _)| name),
        }
    };
    record.header.sets.iter().map(whole).collect()
}

/// The types that were asked about, in the order of the table of types.
fn types(record: &Record) -> impl Iterator<Item = &'static TensorType> {
    TensorType::live().filter(|ty| record.results.iter().any(|result| result.ty == ty.name))
}

/// Questions that were not asked, because there are no inputs for them.
#[derive(Clone, Debug, Default)]
pub struct NotAsked<'a> {
    /// How often a set was not asked.
    pub times: usize,
    /// Their names, each once.
    pub questions: Vec<&'a str>,
}

/// So many names of questions are told.
const NAMES: usize = 3;

impl NotAsked<'_> {
    /// The first names.
    fn names(&self) -> String {
        let more = if self.questions.len() > NAMES { ", ..." } else { "" };
        format!("{}{more}", self.questions[..self.questions.len().min(NAMES)].join(", "))
    }
}

/// The questions that were not asked, by the reason.
#[must_use]
pub fn not_asked(results: &[ResultLine]) -> BTreeMap<&str, NotAsked<'_>> {
    let mut reasons: BTreeMap<&str, NotAsked<'_>> = BTreeMap::new();
    for result in results.iter().filter(|result| result.verdict == "no-room") {
        let reason = reasons.entry(result.reason.as_deref().unwrap_or_default()).or_default();
        reason.times += 1;
        // Answers are in the order of the questions.
        if reason.questions.last() != Some(&result.question.as_str()) {
            reason.questions.push(&result.question);
        }
    }
    reasons
}

/// What was left out, by the reason: the names in a list.
fn left_out(record: &Record) -> Vec<(String, &str)> {
    let mut reasons: Vec<(String, &str)> = Vec::new();
    for left in &record.header.not_run {
        match reasons.iter_mut().find(|(_, why)| *why == left.why) {
            Some((what, _)) => what.extend([", ", &left.what]),
            None => reasons.push((left.what.clone(), &left.why)),
        }
    }
    reasons
}

/// How many answers have a verdict.
fn verdicts(record: &Record, verdict: &str) -> usize {
    record.results.iter().filter(|result| result.verdict == verdict).count()
}
