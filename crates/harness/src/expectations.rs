//! The failures of an implementation that are known, each with its reason.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs;
use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::adapter::verdict::Verdict;
use crate::record::Result as Outcome;

/// The known failures of one version of an implementation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expectations {
    /// The name that its adapter gives.
    pub implementation: String,
    /// The version that its adapter gives.
    pub version: String,
    /// The failures, by reason.
    pub groups: Vec<Group>,
}

/// Failures that have one reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Group {
    /// The verdict.
    pub verdict: String,
    /// Why, in a sentence. Empty until somebody has looked.
    pub reason: String,
    /// Where it is spoken of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
    /// The flags of the results.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flags: Vec<String>,
    /// The vectors.
    pub vectors: Vec<String>,
}

/// Why expectations cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The file cannot be read.
    #[error("{path}: cannot be read: {source}")]
    Read {
        /// Which.
        path: String,
        /// Why.
        source: io::Error,
    },
    /// It is not of the documented form.
    #[error("{path}: {reason}")]
    Form {
        /// Which.
        path: String,
        /// Why.
        reason: String,
    },
}

/// What is wrong with expectations, after a run.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Problem {
    /// They are those of another implementation.
    Implementation {
        /// Whose they are.
        expected: String,
        /// Who ran.
        found: String,
    },
    /// They are those of another version.
    Version {
        /// Whose they are.
        expected: String,
        /// Which ran.
        found: String,
    },
    /// A failure has no reason.
    Unexplained {
        /// The vectors of the group.
        vectors: Vec<String>,
    },
    /// An entry is of no vector of the corpus.
    NoVector {
        /// What it names.
        vector: String,
    },
    /// A vector stands in two places.
    Twice {
        /// Which.
        vector: String,
    },
    /// What was expected to fail did not.
    Passes {
        /// Which.
        vector: String,
        /// The verdict that was expected.
        expected: String,
        /// The verdict.
        found: String,
    },
    /// It failed in another way.
    Differs {
        /// Which.
        vector: String,
        /// The verdict that was expected, with its flags.
        expected: String,
        /// The verdict, with its flags.
        found: String,
    },
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Implementation { expected, found } => {
                write!(f, "the expectations are those of {expected}; {found} was run: name another file")
            }
            Self::Version { expected, found } => write!(
                f,
                "the expectations are those of version {expected}; {found} was run: look at what changed, then --bless"
            ),
            Self::Unexplained { vectors } => {
                let named: Vec<_> = vectors.iter().take(3).map(String::as_str).collect();
                let more = if vectors.len() > 3 { format!(" and {} more", vectors.len() - 3) } else { String::new() };
                write!(f, "no reason is given for {}{more}: find out why, and write it down", named.join(", "))
            }
            Self::NoVector { vector } => write!(f, "{vector}: the corpus has no such vector: take it out"),
            Self::Twice { vector } => write!(f, "{vector}: stands in two places: take one out"),
            Self::Passes { vector, expected, found } => {
                write!(f, "{vector}: expected {expected}, got {found}: it passes; take it out, or --bless")
            }
            Self::Differs { vector, expected, found } => {
                write!(f, "{vector}: expected {expected}, got {found}: find out why, then --bless")
            }
        }
    }
}

impl Expectations {
    /// Reads the expectations of a file; `None` if there is no such file.
    ///
    /// # Errors
    ///
    /// [`LoadError`] if it cannot be read or is not of the documented form.
    pub fn load(path: &Path) -> Result<Option<Self>, LoadError> {
        let shown = path.display().to_string();
        let text = match fs::read(path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(LoadError::Read { path: shown, source }),
        };
        let form = |reason: String| LoadError::Form { path: shown.clone(), reason };
        let expectations: Self = serde_json::from_slice(&text).map_err(|error| form(error.to_string()))?;
        for group in &expectations.groups {
            if !Verdict::from_name(&group.verdict).is_some_and(Verdict::is_failure) {
                return Err(form(format!("`{}` is not the verdict of a failure", group.verdict)));
            }
            if group.vectors.is_empty() {
                return Err(form(format!("a group of `{}` without vectors", group.verdict)));
            }
        }
        Ok(Some(expectations))
    }

    /// The JSON of the file, with a newline at its end.
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).unwrap_or_default();
        text.push('\n');
        text
    }

    /// Why this result is expected, if it is: by its verdict and flags, with a reason.
    #[must_use]
    pub fn reason(&self, outcome: &Outcome) -> Option<&str> {
        let group = self.group_of(&outcome.vector)?;
        let same = group.verdict == outcome.verdict && group.flags == outcome.flags && outcome.unstable.is_none();
        (same && !group.reason.is_empty()).then_some(group.reason.as_str())
    }

    fn group_of(&self, vector: &str) -> Option<&Group> {
        self.groups.iter().find(|group| group.vectors.iter().any(|listed| listed == vector))
    }

    /// What is wrong, after these results of a run; vectors of the corpus that were not run are left alone.
    #[must_use]
    pub fn problems(
        &self,
        implementation: &str,
        version: &str,
        corpus: &BTreeSet<&str>,
        results: &[Outcome],
    ) -> Vec<Problem> {
        let mut problems = Vec::new();
        if self.implementation != implementation {
            // Nothing in the file speaks of who was run.
            let (expected, found) = (self.implementation.clone(), implementation.to_owned());
            return vec![Problem::Implementation { expected, found }];
        }
        if self.version != version {
            problems.push(Problem::Version { expected: self.version.clone(), found: version.to_owned() });
        }
        let results: BTreeMap<&str, &Outcome> =
            results.iter().map(|outcome| (outcome.vector.as_str(), outcome)).collect();
        let mut seen = BTreeSet::new();
        for group in &self.groups {
            if group.reason.is_empty() {
                problems.push(Problem::Unexplained { vectors: group.vectors.clone() });
            }
            for vector in &group.vectors {
                if !seen.insert(vector) {
                    problems.push(Problem::Twice { vector: vector.clone() });
                } else if !corpus.contains(vector.as_str()) {
                    problems.push(Problem::NoVector { vector: vector.clone() });
                } else if let Some(outcome) = results.get(vector.as_str()) {
                    problems.extend(group.compare(outcome));
                }
            }
        }
        problems.sort();
        problems
    }

    /// The expectations that say what these results say. Reasons stay where the verdict and the flags have;
    /// so do the entries of vectors that were not run. New failures have no reason yet.
    #[must_use]
    pub fn blessed(old: Option<&Self>, implementation: &str, version: &str, results: &[Outcome]) -> Self {
        type Head = (Verdict, String, Option<String>, Vec<String>);
        let mut groups: BTreeMap<Head, BTreeSet<String>> = BTreeMap::new();
        let run: BTreeSet<&str> = results
            .iter()
            .filter(|outcome| outcome.verdict != Verdict::NotRun.name())
            .map(|outcome| outcome.vector.as_str())
            .collect();
        for group in old.into_iter().flat_map(|old| &old.groups) {
            let Some(verdict) = Verdict::from_name(&group.verdict) else { continue };
            let head = (verdict, group.reason.clone(), group.link.clone(), group.flags.clone());
            let kept: Vec<_> = group.vectors.iter().filter(|vector| !run.contains(vector.as_str())).collect();
            if !kept.is_empty() {
                groups.entry(head).or_default().extend(kept.into_iter().cloned());
            }
        }
        for outcome in results.iter().filter(|outcome| outcome.is_failure() && outcome.unstable.is_none()) {
            let Some(verdict) = Verdict::from_name(&outcome.verdict) else { continue };
            let group = old
                .and_then(|old| old.group_of(&outcome.vector))
                .filter(|group| group.verdict == outcome.verdict && group.flags == outcome.flags);
            let (reason, link) = group.map(|group| (group.reason.clone(), group.link.clone())).unwrap_or_default();
            let head = (verdict, reason, link, outcome.flags.clone());
            groups.entry(head).or_default().insert(outcome.vector.clone());
        }
        let groups = groups.into_iter().map(|((verdict, reason, link, flags), vectors)| Group {
            verdict: verdict.name().to_owned(),
            reason,
            link,
            flags,
            vectors: vectors.into_iter().collect(),
        });
        Self { implementation: implementation.to_owned(), version: version.to_owned(), groups: groups.collect() }
    }
}

impl Group {
    fn compare(&self, outcome: &Outcome) -> Option<Problem> {
        let with_flags = |verdict: &str, flags: &[String]| match flags {
            [] => verdict.to_owned(),
            flags => format!("{verdict} ({})", flags.join(", ")),
        };
        let vector = outcome.vector.clone();
        // An unstable result is a failure of its own, and one that was not run says nothing.
        if outcome.unstable.is_some() || outcome.verdict == Verdict::NotRun.name() {
            return None;
        }
        if !outcome.is_failure() {
            return Some(Problem::Passes { vector, expected: self.verdict.clone(), found: outcome.verdict.clone() });
        }
        if outcome.verdict == self.verdict && outcome.flags == self.flags {
            return None;
        }
        Some(Problem::Differs {
            vector,
            expected: with_flags(&self.verdict, &self.flags),
            found: with_flags(&outcome.verdict, &outcome.flags),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn outcome(vector: &str, verdict: &str, flags: &[&str], unstable: Option<&str>) -> Outcome {
        serde_json::from_value(json!({
            "vector": vector, "group": "g", "file": "f", "verdict": verdict, "expected": "accept", "got": "accepted",
            "flags": flags, "unstable": unstable, "compared": true, "cpu_ms": null, "peak_bytes": null,
        }))
        .expect("a result")
    }

    fn group(verdict: &str, reason: &str, flags: &[&str], vectors: &[&str]) -> Group {
        let owned = |list: &[&str]| list.iter().map(|&text| text.to_owned()).collect();
        Group {
            verdict: verdict.to_owned(),
            reason: reason.to_owned(),
            link: None,
            flags: owned(flags),
            vectors: owned(vectors),
        }
    }

    fn known(groups: Vec<Group>) -> Expectations {
        Expectations { implementation: "x".to_owned(), version: "1".to_owned(), groups }
    }

    const CORPUS: [&str; 6] = ["a", "b", "c", "d", "e", "f"];

    fn problems(known: &Expectations, results: &[Outcome]) -> Vec<String> {
        let corpus = CORPUS.into_iter().collect();
        known.problems("x", "1", &corpus, results).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn what_fails_as_expected_is_expected() {
        let known =
            known(vec![group("crash", "Old.", &[], &["a"]), group("false-reject", "So.", &["incidental"], &["b"])]);
        let results = [
            outcome("a", "crash", &[], None),
            outcome("b", "false-reject", &["incidental"], None),
            outcome("c", "hang", &[], None),
        ];
        assert_eq!(problems(&known, &results), Vec::<String>::new());
        let reasons: Vec<_> = results.iter().map(|result| known.reason(result)).collect();
        assert_eq!(reasons, [Some("Old."), Some("So."), None]);
    }

    #[test]
    fn everything_else_is_told() {
        let known = known(vec![
            group("crash", "Old.", &[], &["a", "b", "a", "z", "c", "f"]),
            group("hang", "", &[], &["d"]),
            group("false-reject", "So.", &["incidental"], &["e"]),
        ]);
        let results = [
            outcome("a", "agree", &[], None),
            outcome("b", "hang", &[], None),
            outcome("c", "crash", &[], Some("agree")),
            outcome("d", "hang", &[], None),
            outcome("e", "false-reject", &[], None),
            outcome("f", "not-run", &[], None),
        ];
        assert_eq!(
            problems(&known, &results),
            [
                "no reason is given for d: find out why, and write it down",
                "z: the corpus has no such vector: take it out",
                "a: stands in two places: take one out",
                "a: expected crash, got agree: it passes; take it out, or --bless",
                "b: expected crash, got hang: find out why, then --bless",
                "e: expected false-reject (incidental), got false-reject: find out why, then --bless",
            ]
        );
        // Neither what is unstable nor what has no reason is excused.
        assert!(results.iter().all(|result| known.reason(result).is_none()));
        let corpus = CORPUS.into_iter().collect();
        // Those of another version are looked at all the same, those of another implementation are not.
        let others = known.problems("x", "2", &corpus, &[]);
        assert!(matches!(others[..2], [Problem::Version { .. }, Problem::Unexplained { .. }]), "{others:?}");
        let others = known.problems("y", "2", &corpus, &results);
        assert!(matches!(others[..], [Problem::Implementation { .. }]), "{others:?}");
    }

    #[test]
    fn blessing_keeps_reasons_where_nothing_has_changed() {
        let old = known(vec![group("hang", "Long.", &[], &["c", "b"]), group("crash", "Old.", &[], &["a", "e", "z"])]);
        let results = [
            outcome("a", "crash", &[], None),
            outcome("b", "crash", &[], None),
            outcome("c", "agree", &[], None),
            outcome("d", "false-reject", &["incidental"], None),
            outcome("e", "not-run", &[], None),
            outcome("f", "crash", &[], Some("agree")),
        ];
        let new = Expectations::blessed(Some(&old), "x", "2", &results);
        let expected = [
            group("false-reject", "", &["incidental"], &["d"]),
            group("crash", "", &[], &["b"]),
            group("crash", "Old.", &[], &["a", "e", "z"]),
        ];
        assert_eq!((new.version.as_str(), new.groups.as_slice()), ("2", &expected[..]));
        assert_eq!(Expectations::blessed(Some(&new), "x", "2", &results), new);
        let read: Expectations = serde_json::from_str(&new.to_text()).expect("what was written");
        assert_eq!(read, new);
    }

    #[test]
    fn files_that_are_not_expectations_are_told() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("x.json");
        assert!(Expectations::load(&path).is_ok_and(|none| none.is_none()));
        for (text, words) in [
            ("{", "EOF"),
            (r#"{"implementation":"x","version":"1","groups":[],"more":1}"#, "unknown field `more`"),
            (
                r#"{"implementation":"x","version":"1","groups":[{"verdict":"agree","reason":"","vectors":["a"]}]}"#,
                "`agree`",
            ),
            (
                r#"{"implementation":"x","version":"1","groups":[{"verdict":"hang","reason":"","vectors":[]}]}"#,
                "without vectors",
            ),
        ] {
            fs::write(&path, text).expect("written");
            let error = Expectations::load(&path).expect_err(text).to_string();
            assert!(error.contains(words), "{error}");
        }
    }
}
