use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::*;
use assay_corpus::build::entry_of;
use assay_corpus::store::load;
use assay_corpus::vector::Expectation;
use assay_oracles::cases::Cases;
use gguf_spec::document::Document;
use gguf_spec::judge::{Judgement, outcome_until};
use gguf_spec::syntax::ByteOrder;
use serde_json::json;

use super::super::message::Capability;
use super::super::omit::Omits;

fn reader(last_stage: Stage) -> Started {
    Started {
        name: "x".to_owned(),
        version: "1".to_owned(),
        language: String::new(),
        homepage: String::new(),
        capabilities: vec![Capability::Parse],
        claims: Claims { last_stage, versions: None, byte_orders: None, tensor_types: None },
        omits: Omits::default(),
    }
}

/// A file with what the specification says of it.
fn entry(bytes: &[u8]) -> (Entry, Judgement) {
    (entry_of("drawn", bytes.to_vec(), PathBuf::new()), judge_file(bytes, &Checks::all()))
}

fn accepted_with(document: Option<Json>) -> Behaviour {
    let document = document.map(|document| document.to_string());
    Behaviour::Answered(Answer::Accepted { document, omits: Omits::default() })
}

fn rejected() -> Behaviour {
    Behaviour::Answered(Answer::Rejected { message: "no".to_owned(), incidental: false })
}

fn committed() -> Vec<Entry> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join("..").join("corpus");
    load(&root).expect("the committed corpus")
}

#[test]
fn the_two_profiles_of_ggml_say_the_same_of_what_both_judge() {
    // Else the choice between them would matter.
    for entry in committed() {
        for stage in Stage::ALL.into_iter().filter(|stage| *stage <= Stage::Layout) {
            let accepts = |profile| objection(&entry.vector, profile).is_none_or(|at| at > stage);
            let same = accepts(Profile::GgmlHeader) == accepts(Profile::GgmlData);
            assert!(same, "{} up to {stage}", entry.vector.id);
        }
    }
}

#[test]
fn what_is_expected_is_what_the_findings_say() {
    let cases = Cases::new();
    for seed in 0..1_000 {
        let (entry, judgement) = entry(&cases.draw(seed).bytes);
        if judgement.ggml_document.is_some() {
            continue; // the findings of both look-ups are in one list then
        }
        for stage in Stage::ALL {
            let expected = Expected::until(&entry.vector, stage);
            assert!(!expected.profiles.is_empty(), "seed {seed} up to {stage}");
            for (profile, accepts) in expected.profiles {
                let outcome = outcome_until(profile, &judgement.findings, stage);
                assert_eq!(accepts, outcome == Outcome::Accept, "seed {seed}: {profile} up to {stage}");
            }
        }
    }
}

/// For every drawn file and every last stage: each profile, taken as a reader, is right; the opposite of
/// what all say is wrong; and a changed document is a wrong value.
#[test]
fn a_reader_that_does_as_a_profile_does_is_right() {
    let cases = Cases::new();
    let mut seen: BTreeMap<Verdict, u32> = BTreeMap::new();
    for seed in 0..1_000 {
        let (entry, judgement) = entry(&cases.draw(seed).bytes);
        for stage in Stage::ALL {
            let started = reader(stage);
            let expected = Expected::until(&entry.vector, stage);
            for &(profile, accepts) in &expected.profiles {
                let document = judgement.document_for(profile).map(Document::to_json);
                let behaviour = if accepts { accepted_with(document.clone()) } else { rejected() };
                let judged = judge(&entry, &started, &behaviour);
                let agreed = expected.profiles.iter().all(|(_, other)| *other == accepts);
                let right = if agreed { Verdict::Agree } else { Verdict::SidesWith };
                assert_eq!(judged.verdict, right, "seed {seed}: {profile} up to {stage}: {judged:?}");
                assert_eq!(judged.profiles.contains(&profile), !agreed, "seed {seed}: {profile} up to {stage}");
                *seen.entry(judged.verdict).or_default() += 1;

                let opposite = if accepts { rejected() } else { accepted_with(document.clone()) };
                let judged = judge(&entry, &started, &opposite);
                let wrong = match (agreed, accepts) {
                    (true, true) if expected.refused_later => Verdict::OutOfScope,
                    (true, true) => Verdict::FalseReject,
                    (true, false) => Verdict::FalseAccept,
                    (false, true) => Verdict::SidesWith,
                    (false, false) => judged.verdict,
                };
                assert_eq!(judged.verdict, wrong, "seed {seed}: not {profile} up to {stage}");
                *seen.entry(judged.verdict).or_default() += 1;

                if let (true, Some(mut document)) = (accepts, document) {
                    document["version"] = json!(77);
                    let judged = judge(&entry, &started, &accepted_with(Some(document)));
                    assert_eq!(judged.verdict, Verdict::WrongValue, "seed {seed}: {profile} up to {stage}");
                    assert_eq!(judged.difference.map(|d| d.path).as_deref(), Some("version"));
                    *seen.entry(judged.verdict).or_default() += 1;
                }
            }
        }
    }
    for verdict in [
        Verdict::Agree,
        Verdict::SidesWith,
        Verdict::FalseAccept,
        Verdict::FalseReject,
        Verdict::WrongValue,
        Verdict::OutOfScope,
    ] {
        assert!(seen.get(&verdict).is_some_and(|&times| times > 20), "{verdict}: {seen:?}");
    }
}

fn vector(id: &str) -> Entry {
    committed().into_iter().find(|entry| entry.vector.id == id).expect("a vector of this id")
}

#[test]
fn what_is_not_claimed_is_unsupported_where_it_is_rejected() {
    let mut started = reader(Stage::Data);
    let big = vector("value-u8-big");
    assert_eq!(judge(&big, &started, &rejected()).verdict, Verdict::SidesWith);
    started.claims.byte_orders = Some(vec![ByteOrder::Little]);
    let judged = judge(&big, &started, &rejected());
    assert_eq!((judged.verdict, judged.message.as_str()), (Verdict::Unsupported, "byte order big is not claimed: no"));
    // It accepts: then it is judged as any other.
    let judged = judge(&big, &started, &accepted_with(big.vector.document.clone()));
    assert_eq!(judged.verdict, Verdict::SidesWith);

    let quantized = vector("type-02-q4-0");
    assert_eq!(judge(&quantized, &started, &rejected()).verdict, Verdict::FalseReject);
    started.claims.tensor_types = Some(vec![0]);
    assert_eq!(judge(&quantized, &started, &rejected()).verdict, Verdict::Unsupported);

    started.claims.versions = Some(vec![2]);
    assert_eq!(judge(&vector("type-00-f32"), &started, &rejected()).verdict, Verdict::Unsupported);
    // A rejection that is expected anyway is right, whatever is claimed.
    assert_eq!(judge(&vector("align-zero-broken"), &started, &rejected()).verdict, Verdict::Agree);
}

#[test]
fn either_reading_of_a_file_is_right_where_the_authorities_read_it_differently() {
    let mut entry = vector("alignment-nul-key");
    let [document, ggml] = [entry.vector.document.clone(), entry.vector.document_ggml.clone()];
    assert_ne!(document, ggml);
    let verdict = |entry: &Entry, document: &Option<Json>| {
        let judged = judge(entry, &reader(Stage::Data), &accepted_with(document.clone()));
        assert!(judged.compared);
        judged.verdict
    };
    // The document refuses such a key: who reads the file has to read it like ggml.
    assert_eq!(verdict(&entry, &ggml), Verdict::SidesWith);
    assert_eq!(verdict(&entry, &document), Verdict::WrongValue);
    let accept = Expectation { outcome: "accept".to_owned(), stage: None, rule: None };
    entry.vector.expect.insert(Profile::Document.id(), accept);
    assert_eq!(verdict(&entry, &ggml), Verdict::Agree);
    assert_eq!(verdict(&entry, &document), Verdict::Agree);
}

#[test]
fn an_accepted_file_without_a_document_was_not_read() {
    let entry = vector("type-00-f32");
    let judged = judge(&entry, &reader(Stage::Data), &accepted_with(None));
    assert_eq!(judged.verdict, Verdict::WrongValue);
    assert_eq!(judged.difference.map(|difference| difference.path).as_deref(), Some("version"));
    // Unless the library shows nothing.
    let words = ["version", "byte_order", "alignment", "data_offset", "metadata", "tensors"];
    let mut silent = reader(Stage::Data);
    silent.omits = Omits::read(&words.map(ToOwned::to_owned)).expect("words");
    assert_eq!(judge(&entry, &silent, &accepted_with(None)).verdict, Verdict::Agree);
}

#[test]
fn a_document_that_nobody_states_is_not_compared() {
    let entry = vector("nested-deep");
    let judged = judge(&entry, &reader(Stage::Semantics), &accepted_with(Some(json!({"version": 9}))));
    assert_eq!((judged.verdict, judged.compared), (Verdict::SidesWith, false));
}

#[test]
fn failures_of_processes_are_what_they_are() {
    let entry = vector("type-00-f32");
    for verdict in [Verdict::Crash, Verdict::Hang, Verdict::OutOfMemory, Verdict::ProtocolError, Verdict::NotRun] {
        let behaviour = Behaviour::Failed { verdict, how: "so".to_owned() };
        let judged = judge(&entry, &reader(Stage::Data), &behaviour);
        assert_eq!((judged.verdict, judged.message.as_str(), judged.got), (verdict, "so", "nothing"));
    }
    let skipped = Behaviour::Answered(Answer::Skipped { reason: "later".to_owned() });
    assert_eq!(judge(&entry, &reader(Stage::Data), &skipped).verdict, Verdict::Unsupported);
}

#[test]
fn a_message_is_kept_as_far_as_it_is_of_use() {
    let long = "é".repeat(1 << 20);
    assert_eq!(kept(&long).len(), LONGEST_MESSAGE);
    assert_eq!(kept("short"), "short");
}
