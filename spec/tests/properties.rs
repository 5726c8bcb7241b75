//! What holds of every file, held against files drawn at random.
//!
//! The same files are drawn every day; `ASSAY_SEED` draws others. What fails is shrunk and printed.

use gguf_spec::binary::{decode, encode, spans, spans_of_data};
use gguf_spec::document::Document;
use gguf_spec::generate::strategy::{any_tree, broken, damaged_bytes, valid};
use gguf_spec::judge::{judge, outcome_until, verdict};
use gguf_spec::profile::{KeyLookup, Outcome, Profile};
use gguf_spec::rules::{Checks, Says, Stage};
use gguf_spec::valid::layout::DataLayout;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed};

fn config() -> Config {
    let seed = std::env::var("ASSAY_SEED").ok().map_or(1, |text| match text.parse() {
        Ok(seed) => seed,
        Err(e) => panic!("ASSAY_SEED={text:?} is not a number: {e}"),
    });
    Config { cases: 500, failure_persistence: None, rng_seed: RngSeed::Fixed(seed), ..Config::default() }
}

/// Fails unless decoding keeps every byte, and the spans name every byte once.
fn keeps_every_byte(bytes: &[u8]) -> Result<(), TestCaseError> {
    let decoded = decode(bytes);
    let Some(tree) = &decoded.tree else {
        prop_assert!(!decoded.findings.is_empty(), "neither a tree nor a finding");
        return Ok(());
    };
    prop_assert_eq!(encode(tree), bytes);
    let mut list = spans(tree, 0);
    let mut end = bytes.len() - tree.rest.len();
    if decoded.complete {
        let layout = DataLayout::of(tree, &decoded.places, KeyLookup::Exact);
        list.extend(spans_of_data(&layout, bytes.len() as u64));
        end = bytes.len();
    }
    let mut at = 0;
    for span in list {
        prop_assert_eq!(span.range.start, at, "{}", span.field);
        prop_assert!(span.range.end > at, "{} is empty", span.field);
        at = span.range.end;
    }
    prop_assert_eq!(at, end as u64);
    Ok(())
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn right_files_come_back_and_nobody_objects(tree in valid()) {
        let bytes = encode(&tree);
        prop_assert_eq!(decode(&bytes).tree, Some(tree));
        let judgement = judge(&bytes, &Checks::all());
        prop_assert_eq!(&judgement.findings, &[]);
        prop_assert!(Profile::ALL.into_iter().all(|profile| judgement.accepts(profile)));
        keeps_every_byte(&bytes)?;
    }

    #[test]
    fn broken_files_break_their_rule_and_profiles_do_what_it_says((rule, file) in broken()) {
        let bytes = file.bytes();
        let judgement = judge(&bytes, &Checks::all());
        prop_assert!(!judgement.findings.is_empty());
        for finding in &judgement.findings {
            prop_assert_eq!(finding.rule, rule, "{}", finding);
        }
        for profile in Profile::ALL {
            let wanted = match rule.says(profile) {
                Some(Says::Refuses) => Outcome::Refuse,
                Some(Says::Aborts) => Outcome::Abort,
                Some(Says::Accepts | Says::Silent) | None => Outcome::Accept,
            };
            prop_assert_eq!(judgement.verdict(profile).outcome, wanted, "{}", profile);
        }
        // A reader that stops before the stage of the rule sees nothing.
        for stage in Stage::ALL.into_iter().filter(|&stage| stage < rule.stage) {
            prop_assert_eq!(outcome_until(Profile::Document, &judgement.findings, stage), Outcome::Accept);
        }
        keeps_every_byte(&bytes)?;
    }

    #[test]
    fn a_rule_that_is_off_is_not_told((rule, file) in broken()) {
        let bytes = file.bytes();
        let judgement = judge(&bytes, &Checks::all().without(rule));
        prop_assert!(judgement.findings.iter().all(|finding| finding.rule != rule));
    }

    #[test]
    fn trees_drawn_without_care_come_back(tree in any_tree()) {
        keeps_every_byte(&encode(&tree))?;
    }

    #[test]
    fn damaged_files_come_back_and_are_judged(bytes in damaged_bytes()) {
        keeps_every_byte(&bytes)?;
        let judgement = judge(&bytes, &Checks::all());
        for finding in &judgement.findings {
            prop_assert!(finding.span.start <= finding.span.end, "{}", finding);
            prop_assert!(finding.span.end <= bytes.len() as u64, "{}", finding);
        }
        for profile in Profile::ALL {
            if judgement.accepts(profile) {
                // To accept is to have read to the end of the table.
                prop_assert!(judgement.document_for(profile).is_some(), "{} accepts without a document", profile);
            }
            if judgement.ggml_document.is_none() {
                prop_assert_eq!(&verdict(profile, &judgement.findings), judgement.verdict(profile));
            }
        }
        if let Some(document) = &judgement.document {
            let back = Document::from_json(&document.to_json());
            prop_assert_eq!(back.as_ref(), Ok(document));
            let seen = document.through_c();
            prop_assert_eq!(&seen.through_c(), &seen);
        }
    }

    #[test]
    fn bytes_of_any_kind_are_judged(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        let mut file = b"GGUF\x03\0\0\0".to_vec();
        file.extend(&bytes);
        keeps_every_byte(&bytes)?;
        keeps_every_byte(&file)?;
        prop_assert_eq!(judge(&file, &Checks::all()).verdicts.len(), Profile::ALL.len());
    }
}
