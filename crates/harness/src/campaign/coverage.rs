//! What has been seen: combinations of what the specification and the readers say of a file.
//!
//! A combination that is new makes a file worth keeping; one that is rare makes it worth mutating.

use std::collections::BTreeMap;

use assay_corpus::store::{Entry, sha256};
use gguf_spec::profile::Profile;
use serde::{Deserialize, Serialize};

/// What a reader did with a file, as far as it counts for coverage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Said {
    /// The verdict, and whose side is taken.
    pub(crate) verdict: String,
    /// The shape of its message.
    pub(crate) shape: String,
}

/// How often each combination was seen.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Coverage {
    /// By the start of the hash of a combination.
    combinations: BTreeMap<String, u64>,
    /// How many files broke each rule.
    pub rules: BTreeMap<String, u64>,
}

/// More combinations than this are not told apart: a reader that says something new every time must not
/// fill the memory.
const MOST: usize = 1 << 15;

/// Sets of more rules than this are not told apart: there are too many, and each says little.
const MOST_RULES: usize = 3;

/// The combinations that a file shows.
pub(crate) fn combinations(entry: &Entry, said: &[Option<Said>]) -> Vec<String> {
    let mut list = Vec::new();
    let mut rules: Vec<&str> = entry.vector.rules.breaks.iter().map(String::as_str).collect();
    rules.sort_unstable();
    if rules.len() <= MOST_RULES {
        list.push(key("rules", &rules));
    }
    let first = |profile: Profile| entry.vector.expect.get(&profile.id()).and_then(|e| e.rule.as_deref()).unwrap_or("");
    let mut parts: Vec<&str> = Profile::ALL.into_iter().map(first).collect();
    for said in said {
        parts.extend(said.as_ref().map_or(["", ""], |said| [said.verdict.as_str(), said.shape.as_str()]));
    }
    list.push(key("said", &parts));
    list
}

fn key(kind: &str, parts: &[&str]) -> String {
    sha256([&[kind], parts].concat().join("\n").as_bytes())[..16].to_owned()
}

impl Coverage {
    /// Counts the combinations of a file, and says whether one of them is new.
    pub(crate) fn see(&mut self, entry: &Entry, combinations: &[String]) -> bool {
        for rule in &entry.vector.rules.breaks {
            *self.rules.entry(rule.clone()).or_default() += 1;
        }
        let mut new = false;
        for combination in combinations {
            if let Some(seen) = self.combinations.get_mut(combination) {
                *seen += 1;
            } else if self.combinations.len() < MOST {
                self.combinations.insert(combination.clone(), 1);
                new = true;
            }
        }
        new
    }

    /// How often the rarest of some combinations was seen.
    pub(crate) fn rarest(&self, combinations: &[String]) -> u64 {
        combinations.iter().filter_map(|c| self.combinations.get(c)).min().copied().unwrap_or(u64::MAX)
    }

    /// How many combinations there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.combinations.len()
    }

    /// Whether nothing has been seen.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.combinations.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gguf_spec::binary::encode;
    use gguf_spec::generate::{breaking, valid};
    use gguf_spec::rules::layout;

    fn entry(bytes: Vec<u8>) -> Entry {
        assay_corpus::build::entry_of("x", bytes, std::path::PathBuf::new())
    }

    fn said(verdict: &str, shape: &str) -> Option<Said> {
        Some(Said { verdict: verdict.to_owned(), shape: shape.to_owned() })
    }

    #[test]
    fn another_rule_verdict_or_message_is_new_and_the_same_again_is_not() {
        let right = entry(encode(&valid(0)));
        let broken = entry(breaking(layout::RULES[0], 0).expect("a generator").bytes());
        let mut coverage = Coverage::default();
        let mut see = |entry: &Entry, said: &[Option<Said>]| coverage.see(entry, &combinations(entry, said));
        assert!(see(&right, &[said("agree", "")]));
        assert!(!see(&right, &[said("agree", "")]));
        assert!(see(&right, &[said("false-reject", "no")]));
        assert!(see(&right, &[said("false-reject", "never")]));
        assert!(see(&right, &[said("agree", ""), said("agree", "")]));
        assert!(see(&broken, &[said("agree", "")]));
        assert!(!see(&broken, &[said("agree", "")]));
        assert_eq!(coverage.rules.get(layout::RULES[0].id), Some(&2));
    }

    #[test]
    fn what_is_told_apart_is_bounded() {
        let right = entry(encode(&valid(0)));
        let mut coverage = Coverage::default();
        for i in 0..MOST + 10 {
            coverage.see(&right, &[format!("{i}")]);
        }
        assert_eq!(coverage.len(), MOST);
        assert!(!coverage.see(&right, &["another".to_owned()]));
    }
}
