//! Whether anything is wrong with a file: the fast reader decides, and where it finds something, the
//! specification says what.

use std::fmt;
use std::time::Duration;

use assay_scan::{Arrangement, Subject, Tensor};
use gguf_spec::binary::Decoded;
use gguf_spec::field::Finding;
use gguf_spec::judge::{Judgement, verdict};
use gguf_spec::profile::{KeyLookup, Outcome, Profile};
use gguf_spec::rules::Stage;
use gguf_spec::syntax::ByteOrder;
use gguf_spec::valid::layout::DataLayout;

use crate::facts::Facts;
use crate::input::{FileInput, Head, Judged, Strict, Window, judge_from, read_strictly};

/// Why there is no report about a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failed {
    /// It could not be read; the sentence tells why.
    Unreadable(String),
    /// The fast reader and the specification differ: one of them is wrong.
    Fault(String),
}

impl From<String> for Failed {
    fn from(sentence: String) -> Self {
        Self::Unreadable(sentence)
    }
}

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable(sentence) | Self::Fault(sentence) => f.write_str(sentence),
        }
    }
}

/// Where the tensors of a file lie, and what they are called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    /// The names, in table order.
    pub names: Vec<Vec<u8>>,
    /// The places; `None` where there is none.
    pub tensors: Vec<Option<Tensor>>,
    /// How they lie.
    pub arrangement: Arrangement,
    /// The byte order of the file.
    pub byte_order: ByteOrder,
}

impl Table {
    /// The table of a file that the fast reader has read, and that starts at `base`.
    fn of_file(file: &assay_reader::File<'_>, base: u64) -> Self {
        let tensors: Vec<_> = file
            .tensors()
            .map(|tensor| {
                let range = tensor.range()?;
                let start = range.start.checked_add(base)?;
                Some(Tensor { type_id: tensor.type_id(), start, size: range.end - range.start })
            })
            .collect();
        let data_start = file.data_offset().unwrap_or(0).saturating_add(base);
        Self {
            names: file.tensors().map(|tensor| tensor.name().to_vec()).collect(),
            arrangement: Arrangement::of(&tensors, data_start, file.alignment()),
            tensors,
            byte_order: match file.byte_order() {
                assay_reader::ByteOrder::Little => ByteOrder::Little,
                assay_reader::ByteOrder::Big => ByteOrder::Big,
            },
        }
    }

    /// The table of a file that the specification has decoded; `None` if it could not read all of it.
    #[must_use]
    pub fn of_decoded(decoded: &Decoded<'_>) -> Option<Self> {
        let tree = decoded.tree.as_ref().filter(|_| decoded.complete)?;
        let layout = DataLayout::of(tree, &decoded.places, KeyLookup::Exact);
        let tensors: Vec<_> = layout
            .tensors
            .iter()
            .zip(&tree.tensors)
            .map(|(placed, tensor)| {
                let (start, size) = (u64::try_from(placed.start).ok()?, u64::try_from(placed.size?).ok()?);
                Some(Tensor { type_id: tensor.type_id, start, size })
            })
            .collect();
        Some(Self {
            names: tree.tensors.iter().map(|tensor| tensor.name.bytes.clone()).collect(),
            arrangement: Arrangement::of(&tensors, layout.start, layout.alignment),
            tensors,
            byte_order: tree.byte_order,
        })
    }

    /// What a scan of a file of `len` bytes needs.
    #[must_use]
    pub fn subject(&self, len: u64) -> Subject<'_> {
        Subject { tensors: &self.tensors, arrangement: &self.arrangement, byte_order: self.byte_order, len }
    }
}

/// What is known of a file after its header was read.
#[derive(Debug)]
pub enum Decided {
    /// It keeps every rule as far as it was judged.
    Fine(Fine),
    /// It does not; the specification says how.
    Wrong(Judged),
}

/// A file that keeps every rule.
#[derive(Debug)]
pub struct Fine {
    /// Its facts.
    pub facts: Facts,
    /// Its tensors; `None` if its start alone was read.
    pub table: Option<Table>,
    /// How long the bytes of the header took to read.
    pub read: Duration,
    /// How long the fast reader took.
    pub judge: Duration,
}

/// Decides about a file, as far as `until`. Findings and verdicts of later stages are left out.
///
/// # Errors
///
/// If the file cannot be read, or the fast reader and the specification do not agree about it.
pub fn decide(input: &FileInput, window: Window, until: Stage) -> Result<Decided, Failed> {
    // The header is read for the facts in any case, and if more than the start is, the tensor table.
    let reach = until.max(if window.start_only { Stage::Header } else { Stage::Layout });
    let base = window.base;
    let (said, head, time) = read_strictly(input, window, reach, |file| {
        (Facts::of_file(file, window.start_only), (!window.start_only).then(|| Table::of_file(file, base)))
    })?;
    match said {
        Strict::Fine((facts, table)) => Ok(Decided::Fine(Fine { facts, table, read: head.read, judge: time })),
        Strict::Refused(finding) => by_specification(input, window, until, reach, head, &finding, time),
    }
}

fn by_specification(
    input: &FileInput,
    window: Window,
    until: Stage,
    reach: Stage,
    head: Head,
    first: &Finding,
    time: Duration,
) -> Result<Decided, Failed> {
    let mut judged = judge_from(input, window, false, Some(head))?;
    judged.time += time;
    if let Some(sentence) = disagreement(first, &judged.judgement, reach) {
        return Err(Failed::Fault(sentence));
    }
    let judgement = &mut judged.judgement;
    judgement.findings.retain(|finding| finding.rule.stage <= until);
    for verdict in &mut judgement.verdicts {
        // Findings come in the order of their stages, so what is left out cannot hide an earlier one.
        if verdict.because.as_ref().is_some_and(|finding| finding.rule.stage > until) {
            verdict.because = None;
            verdict.outcome = Outcome::Accept;
        }
    }
    Ok(Decided::Wrong(judged))
}

/// The sentence about a first finding that is not the specification's, if that is so.
fn disagreement(reader: &Finding, judgement: &Judgement, reach: Stage) -> Option<String> {
    let specification = judgement.findings.first().filter(|finding| finding.rule.stage <= reach);
    let same = specification.is_some_and(|finding| {
        finding.rule == reader.rule && finding.span == reader.span && finding.field == reader.field
    });
    (!same).then(|| {
        let says = specification.map_or_else(|| "finds nothing".to_owned(), |finding| format!("finds {finding}"));
        format!(
            "a fault of this program, please report it with the header of the file: \
             its reader finds {reader}, its specification {says}"
        )
    })
}

/// What the specification says of a file in which there is nothing to find.
#[must_use]
pub fn nothing_found() -> Judgement {
    let verdicts = Profile::ALL.into_iter().map(|profile| verdict(profile, &[])).collect();
    Judgement { findings: Vec::new(), own: 0, verdicts, document: None, ggml_document: None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gguf_spec::field::Field;
    use gguf_spec::rules::{Rule, header, metadata};

    fn finding(rule: &'static Rule, start: u64, field: Field) -> Finding {
        Finding { rule, span: start..start + 4, field, expected: "a".to_owned(), actual: "b".to_owned() }
    }

    #[test]
    fn a_difference_in_rule_place_or_field_is_a_fault() {
        let reader = finding(&header::VERSION_ZERO, 4, Field::Version);
        let says = |findings: Vec<Finding>, reach| {
            disagreement(&reader, &Judgement { own: findings.len(), findings, ..nothing_found() }, reach)
        };
        let mut reworded = reader.clone();
        reworded.actual = "another wording".to_owned();
        assert_eq!(says(vec![reworded], Stage::Layout), None);
        for other in [
            finding(&metadata::KEY_EMPTY, 4, Field::Version),
            finding(&header::VERSION_ZERO, 5, Field::Version),
            finding(&header::VERSION_ZERO, 4, Field::Magic),
        ] {
            let sentence = says(vec![other.clone(), reader.clone()], Stage::Layout).expect("a difference");
            assert!(sentence.contains(&other.to_string()) && sentence.contains(&reader.to_string()), "{sentence}");
        }
        let sentence = says(Vec::new(), Stage::Layout).expect("a difference");
        assert!(sentence.ends_with("its specification finds nothing"), "{sentence}");
        // What lies behind the stages that the reader was asked for is not compared.
        let later = finding(&metadata::KEY_EMPTY, 30, Field::Kv(0, gguf_spec::field::KvPart::KeyLen));
        assert!(says(vec![later], Stage::Header).is_some_and(|sentence| sentence.ends_with("finds nothing")));
    }
}
