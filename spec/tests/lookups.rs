//! Two ways to look a key up: to a reader whose lookup ends at a NUL, `general.alignment\0x` is the
//! alignment, and one file is two.

use gguf_spec::binary::encode;
use gguf_spec::generate::{Builder, pair, scalar, string, tensor};
use gguf_spec::judge::{Class, judge};
use gguf_spec::profile::{KeyLookup, Outcome, Profile};
use gguf_spec::rules::{Checks, layout, metadata};
use gguf_spec::types::ValueType;

const HIDDEN: &str = "general.alignment\0x";

fn file(pairs: &[(&str, u64)]) -> Vec<u8> {
    let mut builder = Builder::new();
    for &(key, bits) in pairs {
        builder.metadata.push(pair(key, scalar(ValueType::U32, bits)));
    }
    builder.add(tensor("a", 0, &[1])).add(tensor("b", 0, &[1]));
    encode(&builder.finish())
}

#[test]
fn the_first_key_up_to_a_nul_is_found() {
    assert!(KeyLookup::CString.matches(b"general.alignment\0x", "general.alignment"));
    assert!(!KeyLookup::Exact.matches(b"general.alignment\0x", "general.alignment"));
    assert!(!KeyLookup::CString.matches(b"general.alignment.x", "general.alignment"));
    assert!(KeyLookup::CString.matches(b"general.alignment", "general.alignment"));
}

#[test]
fn a_hidden_alignment_moves_the_data_for_ggml_alone() {
    // Built with ggml's lookup: offsets and padding follow the hidden 64.
    let judgement = judge(&file(&[(HIDDEN, 64)]), &Checks::all());
    let alignment = |profile| judgement.document_for(profile).map(|document| document.alignment);
    assert_eq!(alignment(Profile::Document), Some(32));
    assert_eq!(alignment(Profile::GgmlHeader), Some(64));
    assert_eq!(judgement.verdict(Profile::GgmlData).outcome, Outcome::Accept);
    // The document takes the name for a key that is not in lower snake case.
    assert_eq!(judgement.verdict(Profile::Document).outcome, Outcome::Refuse);
    assert_eq!(judgement.class(), Class::Disputed);
    // Only the document's reading finds the tensors apart.
    let apart: Vec<_> = judgement.findings.iter().filter(|f| f.rule == &layout::OFFSET_CONTIGUOUS).collect();
    assert_eq!(apart.len(), 1);
}

#[test]
fn the_first_of_two_alignments_counts() {
    // ggml finds the hidden one first, the document the plain one.
    let judgement = judge(&file(&[(HIDDEN, 64), ("general.alignment", 32)]), &Checks::all());
    let alignment = |profile| judgement.document_for(profile).map(|document| document.alignment);
    assert_eq!((alignment(Profile::Document), alignment(Profile::GgmlData)), (Some(32), Some(64)));
    let judgement = judge(&file(&[("general.alignment", 32), (HIDDEN, 64)]), &Checks::all());
    assert_eq!(judgement.ggml_document, None);
}

#[test]
fn what_only_one_lookup_finds_is_told_at_the_end_and_judged_by_its_profiles() {
    let judgement = judge(&file(&[(HIDDEN, 3)]), &Checks::all());
    let Some(last) = judgement.findings.last() else { panic!("no findings") };
    assert_eq!(last.rule, &metadata::ALIGN_POWER);
    assert_eq!(judgement.verdict(Profile::GgmlHeader).outcome, Outcome::Refuse);
    let because = judgement.verdict(Profile::GgmlHeader).because.as_ref().map(|finding| finding.rule.id);
    assert_eq!(because, Some(metadata::ALIGN_POWER.id));
}

#[test]
fn a_hidden_alignment_of_another_type_is_no_alignment() {
    let mut builder = Builder::new();
    builder.metadata.push(pair(HIDDEN, string("64")));
    let judgement = judge(&encode(&builder.finish()), &Checks::all());
    assert_eq!(
        judgement.verdict(Profile::GgmlHeader).because.as_ref().map(|f| f.rule.id),
        Some(metadata::ALIGN_TYPE.id)
    );
    assert_eq!(judgement.document_for(Profile::GgmlHeader).map(|d| d.alignment), Some(32));
}
