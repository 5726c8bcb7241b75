//! The generators keep their promises.

use std::collections::BTreeSet;

use super::{breaking, large, valid};
use crate::binary::{decode, encode};
use crate::judge::judge;
use crate::profile::Profile;
use crate::rules::{Checks, catalogue};

#[test]
fn valid_trees_have_no_findings_and_survive_the_round_trip() {
    for seed in 0..2_000 {
        let tree = valid(seed);
        let bytes = encode(&tree);
        let decoded = decode(&bytes);
        assert_eq!(decoded.tree.as_ref(), Some(&tree), "seed {seed}: another tree came back");
        let judgement = judge(&bytes, &Checks::all());
        assert!(judgement.findings.is_empty(), "seed {seed}: {}", judgement.findings[0]);
        assert!(Profile::ALL.iter().all(|&p| judgement.accepts(p)), "seed {seed}");
    }
}

#[test]
fn broken_trees_break_exactly_their_rule() {
    for rule in catalogue() {
        for seed in 0..50 {
            let Some(broken) = breaking(rule, seed) else {
                assert!(large(rule).is_some(), "{}: neither a small nor a large file breaks it", rule.id);
                continue;
            };
            let bytes = broken.bytes();
            let judgement = judge(&bytes, &Checks::all());
            let broken: BTreeSet<_> = judgement.findings.iter().map(|finding| finding.rule.id).collect();
            assert_eq!(broken, BTreeSet::from([rule.id]), "seed {seed}: {:#?}", judgement.findings);
        }
    }
}

#[test]
fn every_feature_occurs() {
    let mut keys = BTreeSet::new();
    let mut types = BTreeSet::new();
    for seed in 0..2_000 {
        let tree = valid(seed);
        keys.extend(tree.metadata.iter().map(|pair| pair.type_id));
        types.extend(tree.tensors.iter().map(|tensor| tensor.type_id));
    }
    assert_eq!(keys.len(), 13, "value types drawn: {keys:?}");
    assert!(types.len() >= 30, "tensor types drawn: {types:?}");
}
