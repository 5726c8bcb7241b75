//! The specification says of every vector what the vector says.

use assay_corpus::build::MOST_DOCUMENTED;
use assay_corpus::store::Entry;
use assay_corpus::vector::{Expectation, FindingRecord};
use gguf_spec::binary::{NeedMore, Source};
use gguf_spec::document::Document;
use gguf_spec::judge::{Judgement, judge, judge_findings};
use gguf_spec::profile::Profile;
use gguf_spec::rules::Checks;
use serde_json::{Value as Json, json};

use crate::difference::{Difference, first};

/// Judges the file of a vector and compares the judgement with the expectations: class, what each
/// profile does and why, all findings, and the documents if any profile accepts. A file too large to
/// have a document beside it is judged without.
///
/// Of findings and of each document the first difference is told.
#[must_use]
pub fn judge_entry(entry: &Entry) -> Vec<Difference> {
    let bytes = entry.bytes.as_slice();
    if bytes.len() <= MOST_DOCUMENTED {
        return compare(entry, &judge(bytes, &Checks::all()));
    }
    match judge_findings(Source::whole(bytes), &bytes, &Checks::all()) {
        Ok(judgement) => compare(entry, &judgement),
        Err(NeedMore { .. }) => unreachable!("the head is the whole input"),
    }
}

/// Compares a judgement with the expectations of a vector.
#[must_use]
pub fn compare(entry: &Entry, judgement: &Judgement) -> Vec<Difference> {
    let vector = &entry.vector;
    let mut list = Vec::new();
    list.extend(first("class", &json!(vector.class), &json!(judgement.class().name())));
    for verdict in &judgement.verdicts {
        let id = verdict.profile.id();
        let actual = Expectation::from(verdict);
        list.extend(first(&format!("expect.{id}"), &as_json(vector.expect.get(&id)), &as_json(Some(&actual))));
    }
    let findings: Vec<_> = judgement.findings.iter().map(FindingRecord::from).collect();
    list.extend(first("findings", &as_json(Some(&vector.findings)), &as_json(Some(&findings))));
    let accepted = Profile::ALL.into_iter().any(|profile| judgement.accepts(profile));
    let document = judgement.document.as_ref().filter(|_| accepted);
    let as_ggml = judgement.ggml_document.as_ref().filter(|ggml| accepted && document != Some(ggml));
    list.extend(compare_documents("document", vector.document.as_ref(), document));
    list.extend(compare_documents("document_ggml", vector.document_ggml.as_ref(), as_ggml));
    list
}

/// Every character counts, not only what reading it back gives: others read the stored form.
fn compare_documents(path: &str, stored: Option<&Json>, actual: Option<&Document>) -> Option<Difference> {
    let actual = actual.map(Document::to_json);
    match (stored, &actual) {
        (Some(stored), Some(actual)) => first(path, stored, actual),
        (None, None) => None,
        _ => Some(Difference { path: path.to_owned(), expected: stored.cloned(), actual }),
    }
}

fn as_json<T: serde::Serialize>(value: Option<&T>) -> Json {
    value.map_or(Json::Null, |value| json!(value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_corpus::vector::{Evidence, Origin, Rules, Vector};
    use gguf_spec::binary::encode;
    use gguf_spec::generate::{Builder, pair, scalar};
    use gguf_spec::types::ValueType;

    /// An entry that expects what the specification says of a file with a key that not everybody takes.
    fn entry() -> Entry {
        let bytes = encode(&Builder::new().set(pair("Upper", scalar(ValueType::U8, 7))).finish());
        let judgement = judge(&bytes, &Checks::all());
        let expect = judgement.verdicts.iter().map(|verdict| {
            let rule = verdict.because.as_ref().map(|finding| finding.rule);
            let expectation = Expectation {
                outcome: verdict.outcome.name().to_owned(),
                stage: rule.map(|rule| rule.stage.name().to_owned()),
                rule: rule.map(|rule| rule.id.to_owned()),
            };
            (verdict.profile.id(), expectation)
        });
        let vector = Vector {
            id: "upper".to_owned(),
            purpose: "A key with an upper-case letter.".to_owned(),
            class: "disputed".to_owned(),
            rules: Rules::default(),
            flags: Vec::new(),
            expect: expect.collect(),
            findings: vec![FindingRecord {
                rule: "kv.key.snake-case".to_owned(),
                start: 77,
                end: 82,
                path: "metadata[1].key".to_owned(),
            }],
            origin: Origin { kind: "rule".to_owned(), reference: None },
            evidence: Evidence::default(),
            size: bytes.len() as u64,
            sha256: String::new(),
            document: judgement.document.as_ref().map(Document::to_json),
            document_ggml: None,
        };
        Entry { vector, group: "test".to_owned(), path: "upper.gguf".into(), bytes }
    }

    /// The places of the differences after a change to the entry.
    fn after(change: impl FnOnce(&mut Entry)) -> Vec<String> {
        let mut entry = entry();
        change(&mut entry);
        judge_entry(&entry).into_iter().map(|difference| difference.path).collect()
    }

    #[test]
    fn what_is_expected_is_found() {
        assert_eq!(judge_entry(&entry()), []);
    }

    #[test]
    fn every_expectation_that_is_not_met_is_told() {
        let expect = |entry: &mut Entry, change: fn(&mut Expectation)| {
            entry.vector.expect.values_mut().for_each(change);
        };
        assert_eq!(after(|e| e.vector.class = "valid".to_owned()), ["class"]);
        assert_eq!(
            after(|e| expect(e, |expectation| expectation.outcome = "abort".to_owned())),
            Profile::ALL.map(|profile| format!("expect.{}.outcome", profile.id()))
        );
        assert_eq!(after(|e| expect(e, |x| x.stage = x.stage.as_ref().map(|_| "data".to_owned()))).len(), 1);
        assert_eq!(after(|e| expect(e, |x| x.rule = x.rule.as_ref().map(|_| "other.rule".to_owned()))).len(), 1);
        assert_eq!(after(|e| e.vector.findings[0].rule = "kv.key.ascii".to_owned()), ["findings[0].rule"]);
        assert_eq!(after(|e| e.vector.findings[0].start += 1), ["findings[0].start"]);
        assert_eq!(after(|e| e.vector.findings[0].end += 1), ["findings[0].end"]);
        assert_eq!(after(|e| e.vector.findings[0].path.push('x')), ["findings[0].path"]);
        assert_eq!(after(|e| e.vector.findings.clear()), ["findings[0]"]);
    }

    #[test]
    fn documents_are_compared_as_they_are_stored() {
        let change = |change: fn(&mut Json)| after(|e| e.vector.document.iter_mut().for_each(change));
        assert_eq!(change(|d| d["metadata"][1]["value"] = json!("8")), ["document.metadata[1].value"]);
        assert_eq!(change(|d| d["more"] = json!(1)), ["document.more"]);
        assert_eq!(after(|e| e.vector.document = None), ["document"]);
        assert_eq!(after(|e| e.vector.document_ggml = e.vector.document.clone()), ["document_ggml"]);
        // A file that nobody accepts has none.
        assert!(after(|e| e.bytes.truncate(20)).contains(&"document".to_owned()));
    }
}
