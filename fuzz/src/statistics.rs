//! What a fuzzer makes, told while it runs: one that makes only garbage shows.

use std::collections::BTreeSet;
use std::fmt;
use std::time::{Duration, Instant};

use gguf_spec::rules::catalogue;

use crate::{Found, Kind, Target, operands};

/// Between two lines, at least.
const EVERY: Duration = Duration::from_secs(5);

/// The clock is looked at every so many inputs.
const GLANCE: u64 = 1024;

/// What came of the inputs of a target so far.
#[derive(Clone, Debug)]
pub struct Statistics {
    target: &'static str,
    kind: Kind,
    inputs: u64,
    bytes: u64,
    accepted: u64,
    /// How often each rule was the first one broken, in the order of the catalogue.
    rules: Vec<(&'static str, u64)>,
    /// The tensor types of accepted inputs.
    types: BTreeSet<&'static str>,
    started: Instant,
    told: Instant,
}

impl Statistics {
    /// Nothing yet.
    #[must_use]
    pub fn new(target: &Target) -> Self {
        let now = Instant::now();
        let rules = catalogue().into_iter().map(|rule| (rule.id, 0)).collect();
        let Target { name, kind, .. } = *target;
        let types = BTreeSet::new();
        Self { target: name, kind, inputs: 0, bytes: 0, accepted: 0, rules, types, started: now, told: now }
    }

    /// One input more.
    pub fn note(&mut self, len: usize, found: Found) {
        self.inputs += 1;
        self.bytes += len as u64;
        self.accepted += u64::from(found.accepted);
        self.types.extend(found.ty);
        if let Some(rule) = found.rule
            && let Some((_, count)) = self.rules.iter_mut().find(|(id, _)| *id == rule.id)
        {
            *count += 1;
        }
    }

    /// Whether it is time to say something.
    #[must_use]
    pub fn is_due(&mut self) -> bool {
        let due = self.inputs.is_multiple_of(GLANCE) && self.told.elapsed() >= EVERY;
        if due {
            self.told = Instant::now();
        }
        due
    }

    /// How many rules were the first one broken, by some input.
    #[must_use]
    pub fn rules_reached(&self) -> usize {
        self.rules.iter().filter(|(_, count)| *count > 0).count()
    }

    /// How many tensor types some accepted input was of.
    #[must_use]
    pub fn types_reached(&self) -> usize {
        self.types.len()
    }

    /// The share of accepted inputs, in percent.
    #[must_use]
    pub fn accepted_percent(&self) -> u64 {
        self.accepted * 100 / self.inputs.max(1)
    }
}

impl fmt::Display for Statistics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let inputs = self.inputs.max(1);
        let seconds = self.started.elapsed().as_millis().max(1);
        let rate = u128::from(self.inputs) * 1000 / seconds;
        let what = match self.kind {
            Kind::File => "files",
            Kind::Lines => "outputs",
            Kind::Blocks | Kind::Products => "inputs",
        };
        write!(
            f,
            "{}: {} {what}, {rate}/s, mean size {} bytes, {} % accepted",
            self.target,
            self.inputs,
            self.bytes / inputs,
            self.accepted_percent(),
        )?;
        match self.kind {
            Kind::File => write!(f, ", first finding of {} of {} rules", self.rules_reached(), self.rules.len()),
            Kind::Lines => Ok(()),
            Kind::Blocks | Kind::Products => {
                write!(f, ", blocks of {} of {} types", self.types_reached(), operands::types())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gguf_spec::rules::header;

    #[test]
    fn a_line_tells_what_was_made() {
        let mut statistics = Statistics::new(&crate::targets::ALL[0]);
        statistics.note(100, Found { accepted: true, ..Found::default() });
        statistics.note(50, Found { rule: Some(&header::MAGIC), ..Found::default() });
        statistics.note(30, Found { rule: Some(&header::MAGIC), ..Found::default() });
        let line = statistics.to_string();
        assert!(line.starts_with("parse: 3 files, "), "{line}");
        assert!(line.contains("mean size 60 bytes, 33 % accepted, first finding of 1 of "), "{line}");
        assert!(!statistics.is_due());
    }
    #[test]
    fn a_line_tells_the_types_of_what_was_judged() {
        let target = Target { name: "matmul", kind: Kind::Products, ..crate::targets::ALL[0] };
        let mut statistics = Statistics::new(&target);
        for ty in [Some("F32"), None, Some("Q4_0"), Some("F32")] {
            statistics.note(80, Found { accepted: ty.is_some(), ty, ..Found::default() });
        }
        let line = statistics.to_string();
        assert!(line.starts_with("matmul: 4 inputs, "), "{line}");
        assert!(line.contains("mean size 80 bytes, 75 % accepted, blocks of 2 of "), "{line}");
    }
}
