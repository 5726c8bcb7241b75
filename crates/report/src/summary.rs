//! What every face of a record says, before it is set: tallies by group, and what belongs together.

use std::collections::BTreeMap;

use assay_harness::adapter::verdict::{VERDICTS, Verdict};
use assay_harness::record::{Record, Result};

/// Verdicts by group, for those verdicts that occur.
pub(crate) struct Tallies<'a> {
    /// The verdicts of the columns.
    pub(crate) verdicts: Vec<Verdict>,
    /// Group, vectors, and how many have each verdict; the last row is of all.
    pub(crate) rows: Vec<(&'a str, usize, Vec<usize>)>,
}

impl<'a> Tallies<'a> {
    pub(crate) fn of(record: &'a Record) -> Self {
        let with = |verdict: Verdict, results: &mut dyn Iterator<Item = &'a Result>| {
            results.filter(|result| result.verdict == verdict.name()).count()
        };
        let verdicts: Vec<_> = VERDICTS
            .iter()
            .map(|row| row.verdict)
            .filter(|&verdict| with(verdict, &mut record.results.iter()) > 0)
            .collect();
        let mut groups: BTreeMap<&str, Vec<&Result>> = BTreeMap::new();
        for result in &record.results {
            groups.entry(&result.group).or_default().push(result);
        }
        let row = |name: &'a str, results: &[&'a Result]| {
            let counts = verdicts.iter().map(|&verdict| with(verdict, &mut results.iter().copied())).collect();
            (name, results.len(), counts)
        };
        let mut rows: Vec<_> = groups.iter().map(|(name, results)| row(name, results)).collect();
        rows.push(row("all", &record.results.iter().collect::<Vec<_>>()));
        Self { verdicts, rows }
    }
}

/// What is behind a record, in the order in which it is told.
pub(crate) struct Summary<'a> {
    /// Failures that are not expected, by verdict.
    pub(crate) unexpected: Vec<&'a Result>,
    /// Reasons of those that are, with the verdict and how many have it.
    pub(crate) known: Vec<(&'a str, &'a str, usize)>,
    /// Whose side is taken, and how often.
    pub(crate) sides: Vec<(String, usize)>,
}

impl<'a> Summary<'a> {
    pub(crate) fn of(record: &'a Record) -> Self {
        let order = |result: &Result| Verdict::from_name(&result.verdict);
        let mut unexpected: Vec<_> =
            record.results.iter().filter(|result| result.is_failure() && result.known.is_none()).collect();
        unexpected.sort_by_key(|result| (order(result), &result.vector));
        let mut known: BTreeMap<(Option<Verdict>, &str), (&str, usize)> = BTreeMap::new();
        let mut sides: BTreeMap<String, usize> = BTreeMap::new();
        for result in &record.results {
            if let Some(reason) = &result.known {
                known.entry((order(result), reason)).or_insert((&result.verdict, 0)).1 += 1;
            }
            if !result.profiles.is_empty() {
                *sides.entry(result.profiles.join(" and ")).or_default() += 1;
            }
        }
        Self {
            unexpected,
            known: known.into_iter().map(|((_, reason), (verdict, count))| (verdict, reason, count)).collect(),
            sides: sides.into_iter().collect(),
        }
    }
}

/// Whether a run was as expected: no failure that is not, nothing wrong with adapter and expectations,
/// nothing left out.
pub(crate) fn as_expected(record: &Record) -> bool {
    record.footer.as_ref().is_some_and(|footer| {
        footer.complete
            && footer.failures == footer.known
            && footer.problems.is_empty()
            && footer.expectations.is_empty()
    })
}
