//! The specification says of every vector what the vector says.

use assay_corpus::store::Entry;
use assay_corpus::vector::{Expectation, FindingRecord};
use gguf_spec::document::Document;
use gguf_spec::judge::{Judgement, judge};
use gguf_spec::profile::{Outcome, Profile};
use gguf_spec::rules::Checks;
use serde_json::{Value as Json, json};

use crate::difference::{Difference, first};

/// Judges the file of a vector and compares the judgement with the expectations: class, what each
/// profile does and why, all findings, and the document of each profile that accepts.
///
/// Of findings and of each document the first difference is told.
#[must_use]
pub fn judge_entry(entry: &Entry) -> Vec<Difference> {
    compare(entry, &judge(&entry.bytes, &Checks::all()))
}

/// Compares a judgement with the expectations of a vector.
#[must_use]
pub fn compare(entry: &Entry, judgement: &Judgement) -> Vec<Difference> {
    let vector = &entry.vector;
    let mut list = Vec::new();
    list.extend(first("class", &json!(vector.class), &json!(judgement.class().name())));
    for verdict in &judgement.verdicts {
        let id = verdict.profile.id();
        let because = verdict.because.as_ref();
        let actual = Expectation {
            outcome: verdict.outcome.name().to_owned(),
            stage: because.map(|finding| finding.rule.stage.name().to_owned()),
            rule: because.map(|finding| finding.rule.id.to_owned()),
        };
        list.extend(first(&format!("expect.{id}"), &as_json(vector.expect.get(&id)), &as_json(Some(&actual))));
    }
    let findings: Vec<_> = judgement
        .findings
        .iter()
        .map(|finding| FindingRecord {
            rule: finding.rule.id.to_owned(),
            start: finding.span.start,
            end: finding.span.end,
            path: finding.field.to_string(),
        })
        .collect();
    list.extend(first("findings", &as_json(Some(&vector.findings)), &as_json(Some(&findings))));
    for profile in Profile::ALL {
        list.extend(compare_documents(entry, judgement, profile));
    }
    let accepted = Profile::ALL.into_iter().any(|profile| judgement.accepts(profile));
    if !accepted {
        for (name, stored) in [("document", &vector.document), ("document_ggml", &vector.document_ggml)] {
            list.extend(stored.as_ref().map(|stored| Difference {
                path: name.to_owned(),
                expected: Some(stored.clone()),
                actual: None,
            }));
        }
    }
    list
}

fn compare_documents(entry: &Entry, judgement: &Judgement, profile: Profile) -> Option<Difference> {
    let path = format!("document({})", profile.id());
    if entry.vector.outcome(profile) != Outcome::Accept || !judgement.accepts(profile) {
        // That one of them accepts alone is told with the outcomes.
        return None;
    }
    let actual = judgement.document_for(profile);
    match (entry.vector.document_for(profile), actual) {
        (Ok(Some(expected)), Some(actual)) if expected == *actual => None,
        (Ok(Some(expected)), Some(actual)) => first(&path, &expected.to_json(), &actual.to_json()),
        (Ok(None), None) => None,
        (Ok(expected), actual) => {
            Some(Difference { path, expected: expected.map(|d| d.to_json()), actual: actual.map(Document::to_json) })
        }
        (Err(reason), _) => {
            Some(Difference { path, expected: Some(json!(format!("not a document: {reason}"))), actual: None })
        }
    }
}

fn as_json<T: serde::Serialize>(value: Option<&T>) -> Json {
    value.map_or(Json::Null, |value| json!(value))
}
