//! A reader that does not know a rule is caught by a committed vector, for every rule but those that
//! are listed with what shadows them.

#[path = "support/corpus.rs"]
mod corpus;

use std::collections::BTreeSet;

use assay_oracles::mutation::{SHADOWED, objects, score};
use gguf_spec::profile::Profile;
use gguf_spec::rules::{catalogue, find};

#[test]
fn every_reader_without_a_rule_is_caught() {
    let entries = corpus::entries().unwrap_or_else(|e| panic!("{e}"));
    let report = score(&entries).unwrap_or_else(|e| panic!("{e}"));
    println!("{report}");
    assert_eq!(report.scores.len(), catalogue().len());
    assert_eq!(report.survivors().map(|rule| rule.id).collect::<Vec<_>>(), [""; 0], "not caught");
    assert_eq!(report.idle_shadows().map(|rule| rule.id).collect::<Vec<_>>(), [""; 0], "caught, though in a shadow");
    assert_eq!(report.wrong, [""; 0], "not as expected even with every rule");
}

#[test]
fn a_shadow_is_cast_by_a_rule_that_as_many_profiles_know() {
    let mut seen = BTreeSet::new();
    for shadow in &SHADOWED {
        assert!(seen.insert(shadow.rule.id), "{} is listed twice", shadow.rule.id);
        assert_eq!(find(shadow.rule.id), Some(shadow.rule));
        for profile in Profile::ALL.into_iter().filter(|&profile| objects(shadow.rule, profile)) {
            assert!(
                shadow.behind.iter().any(|rule| objects(rule, profile)),
                "{}: nothing shadows it for {profile}",
                shadow.rule.id
            );
        }
    }
}
