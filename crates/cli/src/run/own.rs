//! The specification's own reader against the corpus.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::time::{Duration, Instant};

use assay_corpus::store::Entry;
use assay_oracles::corpus::judge_entry;
use assay_oracles::difference::Difference;
use gguf_spec::judge::Class;
use serde_json::{Value as Json, json};

use crate::exit::{Exit, Failure};
use crate::table::{Align, Table};
use crate::text::{count, duration, safe, safe_path};
use crate::ui::{BOLD, DIM, ERROR, GOOD, ID, Ui, write_json};

/// What came of a run.
#[derive(Debug)]
pub struct Outcome<'a> {
    /// Every vector, with its differences.
    pub judged: Vec<(&'a Entry, Vec<Difference>)>,
    /// How long it took.
    pub time: Duration,
}

/// Judges these vectors.
#[must_use]
pub fn judge_all(entries: &[Entry]) -> Outcome<'_> {
    let start = Instant::now();
    let judged = entries.iter().map(|entry| (entry, judge_entry(entry))).collect();
    Outcome { judged, time: start.elapsed() }
}

impl Outcome<'_> {
    /// How many vectors differ.
    #[must_use]
    pub fn differ(&self) -> usize {
        self.judged.iter().filter(|(_, differences)| !differences.is_empty()).count()
    }

    fn groups(&self) -> BTreeMap<&str, Counts> {
        let mut groups: BTreeMap<&str, Counts> = BTreeMap::new();
        for (entry, differences) in &self.judged {
            groups.entry(&entry.group).or_default().add(entry, differences);
        }
        groups
    }

    /// Writes the table, the disagreements in full, and the summary.
    ///
    /// # Errors
    ///
    /// If the output does not take it.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let groups = self.groups();
        let mut table = Table::new(&[
            ("group", Align::Left),
            ("vectors", Align::Right),
            ("valid", Align::Right),
            ("invalid", Align::Right),
            ("disputed", Align::Right),
            ("agree", Align::Right),
            ("differ", Align::Right),
        ]);
        let mut total = Counts::default();
        for (group, counts) in &groups {
            table.row(counts.cells(group));
            total.merge(counts);
        }
        table.row(total.cells("all"));
        table.write(out, true)?;

        for (entry, differences) in self.judged.iter().filter(|(_, differences)| !differences.is_empty()) {
            writeln!(out, "\n{ERROR}differs{ERROR:#} {ID}{}{ID:#} ({})", entry.vector.id, entry.group)?;
            writeln!(out, "  {}", safe(&entry.vector.purpose))?;
            for difference in differences {
                writeln!(out, "  {difference}")?;
            }
            writeln!(
                out,
                "  {DIM}assay explain {}; assay dump --hex {}{DIM:#}",
                entry.vector.id,
                safe_path(&entry.path)
            )?;
        }

        let differ = self.differ();
        let style = if differ == 0 { GOOD } else { ERROR };
        writeln!(
            out,
            "\n{BOLD}{}{BOLD:#} in {}: {style}{} agree, {differ} differ{style:#}; judged in {}",
            count(self.judged.len(), "vector"),
            count(groups.len(), "group"),
            self.judged.len() - differ,
            duration(self.time),
        )
    }

    /// The run for a script.
    #[must_use]
    pub fn to_json(&self, exit: Exit) -> Json {
        let groups = self.groups();
        json!({
            "assay": env!("CARGO_PKG_VERSION"),
            "exit": exit.code(),
            "vectors": self.judged.len(),
            "agree": self.judged.len() - self.differ(),
            "differ": self.differ(),
            "seconds": self.time.as_secs_f64(),
            "groups": groups.iter().map(|(group, counts)| counts.to_json(group)).collect::<Vec<_>>(),
            "differences": self.judged.iter().filter(|(_, differences)| !differences.is_empty()).map(|(entry, differences)| {
                json!({
                    "id": entry.vector.id,
                    "group": entry.group,
                    "differences": differences.iter().map(|difference| json!({
                        "path": difference.path,
                        "expected": difference.expected,
                        "actual": difference.actual,
                    })).collect::<Vec<_>>(),
                })
            }).collect::<Vec<_>>(),
        })
    }
}

#[derive(Debug, Default)]
struct Counts {
    vectors: usize,
    valid: usize,
    invalid: usize,
    disputed: usize,
    differ: usize,
}

impl Counts {
    fn add(&mut self, entry: &Entry, differences: &[Difference]) {
        self.vectors += 1;
        match entry.vector.class() {
            Some(Class::Valid) => self.valid += 1,
            Some(Class::Invalid) => self.invalid += 1,
            Some(Class::Disputed) => self.disputed += 1,
            None => {}
        }
        self.differ += usize::from(!differences.is_empty());
    }

    fn merge(&mut self, other: &Self) {
        self.vectors += other.vectors;
        self.valid += other.valid;
        self.invalid += other.invalid;
        self.disputed += other.disputed;
        self.differ += other.differ;
    }

    fn numbers(&self) -> [usize; 6] {
        [self.vectors, self.valid, self.invalid, self.disputed, self.vectors - self.differ, self.differ]
    }

    fn cells(&self, group: &str) -> impl Iterator<Item = String> {
        [group.to_owned()].into_iter().chain(self.numbers().map(|n| n.to_string()))
    }

    fn to_json(&self, group: &str) -> Json {
        let [vectors, valid, invalid, disputed, agree, differ] = self.numbers();
        json!({
            "group": group, "vectors": vectors, "valid": valid, "invalid": invalid, "disputed": disputed,
            "agree": agree, "differ": differ,
        })
    }
}

/// Judges the chosen vectors, and shows what came of it.
///
/// # Errors
///
/// If the output cannot be written.
pub fn run(entries: &[Entry], json: bool, ui: &mut Ui) -> Result<Exit, Failure> {
    let outcome = judge_all(entries);
    let exit = if outcome.differ() == 0 { Exit::Fine } else { Exit::Findings };
    if json {
        write_json(ui.out(), &outcome.to_json(exit))?;
    } else {
        outcome.write(ui.out())?;
    }
    Ok(exit)
}
