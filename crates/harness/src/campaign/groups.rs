//! Failures, grouped by their signatures: those that wait to be confirmed, and those that were.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::make::How;
use super::signature::Signature;
use crate::adapter::verdict::Verdict;

/// Failures that are one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Group {
    /// What makes them one; that of the reproducer.
    pub signature: Signature,
    /// What the reader said of the reproducer, or how it ended; nothing if it said nothing.
    #[serde(default)]
    pub message: String,
    /// The directory of the reproducer; `None` if there was no room for it.
    pub directory: Option<String>,
    /// The number of the first file that showed it.
    pub first: u64,
    /// How large that was, in bytes.
    pub size_before: u64,
    /// How large the reproducer is, in bytes.
    pub size: u64,
    /// Whether there was no time, or no question, left to make it smaller.
    #[serde(default)]
    pub unfinished: bool,
}

/// A signature that was seen, and what became of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Seen {
    signature: Signature,
    /// How many files had it.
    files: u64,
    fate: Fate,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Fate {
    /// Nobody has asked a fresh process yet.
    Waits(Waiting),
    /// It is this group.
    Group(usize),
    /// In a fresh process there was something else.
    Unstable,
    /// There are too many of its kind.
    LeftOut,
}

/// A file whose failure has to be confirmed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Waiting {
    /// The SHA-256 of the file.
    pub(crate) sha256: String,
    /// The size of the file in bytes.
    pub(crate) size: u64,
    /// Its number.
    pub(crate) number: u64,
    /// How it was made.
    pub(crate) made: How,
}

/// All of them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Groups {
    groups: Vec<Group>,
    seen: Vec<Seen>,
    /// How often a failure of each reader was settled.
    #[serde(default)]
    turns: BTreeMap<String, u64>,
}

/// More signatures of one reader with one verdict are not told apart.
const MOST: usize = 100;

/// Of failures that did not come again, no later file than this one is tried.
const LAST_TRIED: u64 = 1024;

impl Groups {
    /// Counts a failure. The result is true if it is to be confirmed: then the file has to be kept.
    pub(crate) fn count(&mut self, signature: &Signature, waiting: impl FnOnce() -> Waiting) -> bool {
        if let Some(seen) = self.seen.iter_mut().find(|seen| seen.signature == *signature) {
            seen.files += 1;
            // A file that did not fail again may hide others that would: the fourth is tried, the sixteenth.
            let again = seen.fate == Fate::Unstable && seen.files.is_power_of_two() && seen.files.ilog2() % 2 == 0;
            if again && seen.files <= LAST_TRIED {
                seen.fate = Fate::Waits(waiting());
                return true;
            }
            return false;
        }
        let alike = |other: &Signature| other.adapter == signature.adapter && other.verdict == signature.verdict;
        let fate = if let Some(i) = self.groups.iter().position(|group| signature.is_shown_by(&group.signature)) {
            Fate::Group(i)
        } else if self.seen.iter().filter(|seen| alike(&seen.signature)).count() >= MOST {
            Fate::LeftOut
        } else {
            Fate::Waits(waiting())
        };
        let new = matches!(fate, Fate::Waits(_));
        if fate == Fate::LeftOut {
            // All of them in one line: their number is not bounded.
            let rest = Signature { rules: Vec::new(), detail: "and others".to_owned(), ..signature.clone() };
            if let Some(seen) = self.seen.iter_mut().find(|seen| seen.signature == rest) {
                seen.files += 1;
            } else {
                self.seen.push(Seen { signature: rest, files: 1, fate });
            }
            return false;
        }
        self.seen.push(Seen { signature: signature.clone(), files: 1, fate });
        new
    }

    /// The next that is to be confirmed, by its place: one of the reader that had the fewest turns; of those,
    /// crashes first, and last what takes all the time or memory that there is.
    pub(crate) fn next(&self, asked: impl Fn(&str) -> bool) -> Option<(usize, Signature, Waiting)> {
        let waiting = self.seen.iter().enumerate().filter_map(|(i, seen)| match &seen.fate {
            Fate::Waits(waiting) if asked(&seen.signature.adapter) => {
                Some((i, seen.signature.clone(), waiting.clone()))
            }
            _ => None,
        });
        waiting.min_by_key(|(i, signature, _)| {
            let slow = signature.verdict().is_some_and(Verdict::takes_all);
            (self.turns.get(&signature.adapter).copied().unwrap_or_default(), slow, rank(signature), *i)
        })
    }

    /// Counts a turn of a reader.
    pub(crate) fn turn(&mut self, adapter: &str) {
        let turns = self.turns.entry(adapter.to_owned()).or_default();
        *turns = turns.saturating_add(1);
    }

    /// A group that shows what this signature stands for, found since it began to wait.
    pub(crate) fn shows(&self, signature: &Signature) -> Option<usize> {
        self.groups.iter().position(|group| signature.is_shown_by(&group.signature))
    }

    /// What waited is this group.
    pub(crate) fn belongs(&mut self, seen: usize, group: usize) {
        self.seen[seen].fate = Fate::Group(group);
    }

    /// What waited is a group of its own.
    pub(crate) fn found(&mut self, seen: usize, group: Group) {
        self.groups.push(group);
        self.seen[seen].fate = Fate::Group(self.groups.len() - 1);
    }

    /// One of the groups, by its place.
    pub(crate) fn group(&self, at: usize) -> Option<&Group> {
        self.groups.get(at)
    }

    /// The places of those that were not made small yet, the last one first.
    pub(crate) fn unfinished(&self) -> Vec<usize> {
        (0..self.groups.len()).rev().filter(|at| self.groups[*at].unfinished).collect()
    }

    /// A group has another reproducer.
    pub(crate) fn replace(&mut self, at: usize, group: Group) {
        if let Some(old) = self.groups.get_mut(at) {
            *old = group;
        }
    }

    /// What waited was something else in a fresh process.
    pub(crate) fn unstable(&mut self, seen: usize) {
        self.seen[seen].fate = Fate::Unstable;
    }

    /// The groups with the number of files that had them, what ends processes first, then the most frequent.
    pub(crate) fn all(&self) -> Vec<(&Group, u64)> {
        let files = |i: usize| self.seen.iter().filter(|seen| seen.fate == Fate::Group(i)).map(|seen| seen.files).sum();
        let mut list: Vec<(&Group, u64)> = self.groups.iter().enumerate().map(|(i, group)| (group, files(i))).collect();
        list.sort_by_key(|(group, files)| (rank(&group.signature), u64::MAX - files, group.first));
        list
    }

    /// How many groups there are.
    pub(crate) fn len(&self) -> usize {
        self.groups.len()
    }

    /// Those that wait.
    pub(crate) fn waiting(&self) -> impl Iterator<Item = &Waiting> {
        self.seen.iter().filter_map(|seen| match &seen.fate {
            Fate::Waits(waiting) => Some(waiting),
            _ => None,
        })
    }

    fn of(&self, adapter: &str, fate: &Fate) -> u64 {
        let theirs = self.seen.iter().filter(|seen| seen.signature.adapter == adapter && seen.fate == *fate);
        theirs.map(|seen| seen.files).sum()
    }

    /// How many files of a reader had another verdict in a fresh process.
    pub(crate) fn unstable_of(&self, adapter: &str) -> u64 {
        self.of(adapter, &Fate::Unstable)
    }

    /// How many files of a reader had signatures that were not looked at: there are too many of them.
    pub(crate) fn left_out_of(&self, adapter: &str) -> u64 {
        self.of(adapter, &Fate::LeftOut)
    }
}

/// What ends processes first.
fn rank(signature: &Signature) -> usize {
    const ORDER: [Verdict; 7] = [
        Verdict::Crash,
        Verdict::OutOfMemory,
        Verdict::Hang,
        Verdict::WrongValue,
        Verdict::FalseAccept,
        Verdict::FalseReject,
        Verdict::ProtocolError,
    ];
    // That may be no fault at all.
    if signature.is_mixture() {
        return ORDER.len() + 1;
    }
    ORDER.iter().position(|verdict| Some(*verdict) == signature.verdict()).unwrap_or(ORDER.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::campaign::signature::tests::signature;

    fn waiting(number: u64) -> Waiting {
        Waiting { sha256: String::new(), size: 1, number, made: How::default() }
    }

    fn group(signature: Signature) -> Group {
        Group {
            signature,
            message: String::new(),
            directory: None,
            first: 0,
            size_before: 2,
            size: 1,
            unfinished: false,
        }
    }

    #[test]
    fn a_failure_waits_once_and_is_counted_often() {
        let mut groups = Groups::default();
        let (reject, crash) = (signature(Verdict::FalseReject, &[], "no"), signature(Verdict::Crash, &["a"], ""));
        assert!(groups.count(&reject, || waiting(1)));
        assert!(!groups.count(&reject, || waiting(2)));
        assert!(groups.count(&crash, || waiting(3)));
        // The crash first, though it came later.
        let (at, what, which) = groups.next(|_| true).expect("one waits");
        assert_eq!((&what, which.number), (&crash, 3));
        groups.found(at, group(crash.clone()));
        let (at, what, _) = groups.next(|_| true).expect("one waits");
        assert_eq!(what, reject);
        groups.unstable(at);
        assert!(groups.next(|_| true).is_none());
        assert_eq!(groups.unstable_of("x"), 2);
        assert!(!groups.count(&crash, || waiting(4)));
        assert_eq!(groups.all(), [(&group(crash), 2)]);
    }

    #[test]
    fn what_a_known_group_shows_does_not_wait() {
        let mut groups = Groups::default();
        let one = signature(Verdict::FalseAccept, &["a"], "");
        assert!(groups.count(&one, || waiting(0)));
        let (at, ..) = groups.next(|_| true).expect("one waits");
        groups.found(at, group(one));
        assert!(!groups.count(&signature(Verdict::FalseAccept, &["a", "b"], ""), || waiting(1)));
        assert!(groups.count(&signature(Verdict::FalseAccept, &["b"], ""), || waiting(2)));
        assert_eq!(groups.all()[0].1, 2);
    }

    #[test]
    fn there_are_not_more_than_so_many() {
        let mut groups = Groups::default();
        let new = (0..3 * MOST)
            .filter(|i| groups.count(&signature(Verdict::FalseReject, &[], &format!("{i}")), || waiting(0)));
        assert_eq!(new.count(), MOST);
        assert_eq!(groups.left_out_of("x"), 2 * MOST as u64);
        assert!(groups.count(&signature(Verdict::Crash, &[], ""), || waiting(0)));
    }
}
