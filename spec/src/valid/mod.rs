//! The rules applied to a tree.
//!
//! One file per stage, like the catalogue. Decoding has already reported what stops it; here are the
//! rules that need a tree. Within one pair, one tensor or one array a rule is reported once, at its
//! first violation; of one rule at most [`MAX_FINDINGS_PER_RULE`] findings are listed, the first ones.

pub mod data;
pub mod layout;
mod metadata;
mod semantics;
mod tensors;

use std::collections::HashMap;
use std::ops::Range;

use crate::binary::{Decoded, Options, Places, string_size};
use crate::field::{Field, Finding};
use crate::limits::MAX_FINDINGS_PER_RULE;
use crate::rules::{Checks, Rule};
use crate::syntax::Tree;

use crate::input::Input;

/// All findings of a decoded input, those of decoding included, in order.
#[must_use]
pub fn findings(decoded: &Decoded<'_>, input: &dyn Input, options: &Options) -> Vec<Finding> {
    let mut report = Report { checks: &options.checks, list: decoded.findings.clone(), counts: HashMap::new() };
    if let Some(tree) = &decoded.tree {
        let context = Context { tree, places: &decoded.places, input, options };
        metadata::check(&context, &mut report);
        tensors::check(&context, &mut report);
        if decoded.complete {
            let layout = layout::DataLayout::of(tree, &decoded.places, options.lookup);
            let sound = layout::check(&context, &layout, &mut report);
            data::check(&context, &layout, sound, &mut report);
            semantics::check(&context, &mut report);
        }
    }
    let mut list = report.list;
    list.sort_by(Finding::order);
    list
}

/// What the checks look at.
struct Context<'c, 'a> {
    tree: &'c Tree<'a>,
    places: &'c Places,
    input: &'c dyn Input,
    options: &'c Options,
}

impl Context<'_, '_> {
    /// Where the value of a pair starts.
    fn value_start(&self, i: usize) -> u64 {
        let key = &self.tree.metadata[i].key;
        self.places.pairs[i] + string_size(key, self.tree.length_width() as u64) + 4
    }
}

/// Collects findings of the rules that are looked at.
struct Report<'c> {
    checks: &'c Checks,
    list: Vec<Finding>,
    /// How many there are of each rule, by id.
    counts: HashMap<&'static str, usize>,
}

impl Report<'_> {
    /// A finding, if the rule is looked at and has not been broken too often to go on listing it.
    fn add(
        &mut self,
        rule: &'static Rule,
        span: Range<u64>,
        field: Field,
        expected: impl Into<String>,
        actual: impl Into<String>,
    ) {
        let count = self.counts.entry(rule.id).or_default();
        if self.checks.has(rule) && *count < MAX_FINDINGS_PER_RULE {
            *count += 1;
            self.list.push(Finding { rule, span, field, expected: expected.into(), actual: actual.into() });
        }
    }
}
