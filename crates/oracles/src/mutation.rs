//! Rule mutation: a reader that does not know a rule is caught by a vector.
//!
//! For every rule, the specification is run with that rule switched off. It is caught if it does
//! something else than a vector expects of a profile that objects to the rule, or reads another
//! document. That a finding is missing does not count: whoever tests a reader sees only what it does.

use std::fmt;

use assay_corpus::store::Entry;
use gguf_spec::document::Document;
use gguf_spec::judge::{Judgement, judge};
use gguf_spec::profile::{Outcome, Profile};
use gguf_spec::rules::{Checks, Rule, Says, catalogue, metadata};

/// A rule that another one always notices first in files of a size that can be committed.
#[derive(Clone, Copy, Debug)]
pub struct Shadow {
    /// The rule.
    pub rule: &'static Rule,
    /// The rules that notice first.
    pub behind: &'static [&'static Rule],
    /// Why they do.
    pub reason: &'static str,
}

/// The rules that no vector can catch, each with the rule in front of it. A large file separates each
/// of them: [`gguf_spec::generate::large`] makes it.
pub static SHADOWED: [Shadow; 3] = [
    Shadow {
        rule: &metadata::KEY_LIMIT,
        behind: &[&metadata::KEY_TRUNCATED],
        reason: "a key of over 2^30 bytes that is in the file makes a file of over a gigabyte; in a smaller one its \
                 bytes are missing",
    },
    Shadow {
        rule: &metadata::STRING_LIMIT,
        behind: &[&metadata::STRING_TRUNCATED],
        reason: "a string of over 2^30 bytes that is in the file makes a file of over a gigabyte; in a smaller one \
                 its bytes are missing",
    },
    Shadow {
        rule: &metadata::ARRAY_LIMIT,
        behind: &[&metadata::ELEMENTS_TRUNCATED],
        reason: "over 2^30 elements take at least a byte each, so a smaller file lacks some of them",
    },
];

/// The entry of a shadowed rule.
#[must_use]
pub fn shadow(rule: &Rule) -> Option<&'static Shadow> {
    SHADOWED.iter().find(|shadow| shadow.rule == rule)
}

/// A file and what is expected of it.
#[derive(Clone, Debug)]
pub struct Expected<'a> {
    /// Its id.
    pub id: String,
    /// The file.
    pub bytes: &'a [u8],
    /// What each profile does, in the order of [`Profile::ALL`].
    pub outcomes: [Outcome; 3],
    /// What each profile that accepts reads, in the same order.
    pub documents: [Option<Document>; 3],
}

impl<'a> Expected<'a> {
    /// What a vector expects.
    ///
    /// # Errors
    ///
    /// If its document is not of the canonical form.
    pub fn of_entry(entry: &'a Entry) -> Result<Self, String> {
        let [a, b, c] = Profile::ALL.map(|profile| entry.vector.document_for(profile));
        Ok(Self {
            id: entry.vector.id.clone(),
            bytes: &entry.bytes,
            outcomes: Profile::ALL.map(|profile| entry.vector.outcome(profile)),
            documents: [a?, b?, c?],
        })
    }

    /// What the specification itself says of a file.
    #[must_use]
    pub fn of_file(id: impl Into<String>, bytes: &'a [u8]) -> Self {
        let judgement = judge(bytes, &Checks::all());
        Self {
            id: id.into(),
            bytes,
            outcomes: Profile::ALL.map(|profile| judgement.verdict(profile).outcome),
            documents: Profile::ALL.map(|profile| read(&judgement, profile).cloned()),
        }
    }

    /// The first profile, of those that object to the rule, to which the judgement is not what is
    /// expected, and how it shows.
    fn caught(&self, judgement: &Judgement, rule: Option<&Rule>) -> Option<(Profile, Sign)> {
        Profile::ALL
            .into_iter()
            .filter(|&profile| rule.is_none_or(|rule| objects(rule, profile)))
            .find_map(|profile| Some((profile, self.sign(judgement, profile)?)))
    }

    fn sign(&self, judgement: &Judgement, profile: Profile) -> Option<Sign> {
        if judgement.verdict(profile).outcome != self.outcomes[profile as usize] {
            Some(Sign::Outcome)
        } else if read(judgement, profile) != self.documents[profile as usize].as_ref() {
            Some(Sign::Document)
        } else {
            None
        }
    }
}

/// What a profile reads, if it accepts.
fn read(judgement: &Judgement, profile: Profile) -> Option<&Document> {
    if judgement.accepts(profile) { judgement.document_for(profile) } else { None }
}

/// Whether a profile refuses, or ends, because of a rule.
#[must_use]
pub fn objects(rule: &Rule, profile: Profile) -> bool {
    matches!(rule.says(profile), Some(Says::Refuses | Says::Aborts))
}

/// How it shows that a reader does not know a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    /// It accepts what should be refused, or ends in another way.
    Outcome,
    /// It reads another document.
    Document,
}

/// A vector that catches a reader.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Catch {
    /// The vector.
    pub id: String,
    /// The first profile to which the reader does not do what is expected.
    pub profile: Profile,
    /// How it shows.
    pub sign: Sign,
}

/// How the reader without one rule fares.
#[derive(Clone, Debug)]
pub struct Score {
    /// The rule.
    pub rule: &'static Rule,
    /// The vectors that catch it.
    pub caught_by: Vec<Catch>,
    /// The entry of the rule in the table of shadows.
    pub shadow: Option<&'static Shadow>,
}

impl Score {
    /// Whether a vector catches the reader.
    #[must_use]
    pub fn caught(&self) -> bool {
        !self.caught_by.is_empty()
    }
}

/// How the readers without each one rule fare.
#[derive(Clone, Debug)]
pub struct Report {
    /// One score for each rule of the catalogue.
    pub scores: Vec<Score>,
    /// The files of which the reader that knows every rule says something else than is expected. They
    /// catch nobody.
    pub wrong: Vec<String>,
}

impl Report {
    /// The score of a rule of the catalogue.
    #[must_use]
    pub fn of(&self, rule: &Rule) -> Option<&Score> {
        self.scores.iter().find(|score| score.rule == rule)
    }

    /// The rules that no vector catches and no shadow excuses.
    pub fn survivors(&self) -> impl Iterator<Item = &'static Rule> {
        self.scores.iter().filter(|score| !score.caught() && score.shadow.is_none()).map(|score| score.rule)
    }

    /// The shadows that excuse nothing, because a vector catches their rule.
    pub fn idle_shadows(&self) -> impl Iterator<Item = &'static Rule> {
        self.scores.iter().filter(|score| score.caught() && score.shadow.is_some()).map(|score| score.rule)
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let caught = self.scores.iter().filter(|score| score.caught()).count();
        let shadowed = self.scores.iter().filter(|score| !score.caught() && score.shadow.is_some()).count();
        let once = self.scores.iter().filter(|score| score.caught_by.len() == 1).count();
        let by_document = self
            .scores
            .iter()
            .filter(|score| score.caught() && score.caught_by.iter().all(|c| c.sign == Sign::Document))
            .count();
        write!(
            f,
            "{caught} of {} rules caught ({once} by one file only, {by_document} by a document only), {shadowed} shadowed",
            self.scores.len()
        )?;
        for rule in self.survivors() {
            write!(f, "\nnot caught: {}", rule.id)?;
        }
        for id in &self.wrong {
            write!(f, "\nnot as expected even with every rule: {id}")?;
        }
        Ok(())
    }
}

/// Runs the reader without each rule on every vector.
///
/// # Errors
///
/// If a vector's document is not of the canonical form.
pub fn score(entries: &[Entry]) -> Result<Report, String> {
    let expected = entries.iter().map(Expected::of_entry).collect::<Result<Vec<_>, _>>()?;
    Ok(score_files(&expected))
}

/// Runs the reader without each rule on every file.
#[must_use]
pub fn score_files(files: &[Expected<'_>]) -> Report {
    let mut wrong = Vec::new();
    let mut scores: Vec<_> =
        catalogue().into_iter().map(|rule| Score { rule, caught_by: Vec::new(), shadow: shadow(rule) }).collect();
    for file in files {
        let whole = judge(file.bytes, &Checks::all());
        if file.caught(&whole, None).is_some() {
            wrong.push(file.id.clone());
            continue;
        }
        // A rule that is not broken is not missed. Were this ever false, a rule would count as not
        // caught although it is: the safe side.
        for score in scores.iter_mut().filter(|score| whole.findings.iter().any(|f| f.rule == score.rule)) {
            let mutant = judge(file.bytes, &Checks::all().without(score.rule));
            if let Some((profile, sign)) = file.caught(&mutant, Some(score.rule)) {
                score.caught_by.push(Catch { id: file.id.clone(), profile, sign });
            }
        }
    }
    Report { scores, wrong }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gguf_spec::generate::breaking;
    use gguf_spec::rules::header;

    #[test]
    fn a_reader_without_a_rule_is_caught_only_by_what_it_does() {
        let Some(broken) = breaking(&header::VERSION_ZERO, 1).map(|broken| broken.bytes()) else {
            panic!("a small file breaks the rule");
        };
        let report = score_files(&[Expected::of_file("zero", &broken)]);
        let score = report.of(&header::VERSION_ZERO).map(|score| score.caught_by.clone());
        let caught = Catch { id: "zero".to_owned(), profile: Profile::Document, sign: Sign::Outcome };
        assert_eq!(score, Some(vec![caught]));
        assert_eq!(report.survivors().count(), catalogue().len() - 1 - SHADOWED.len());

        // A file with a second fault that every profile objects to hides the first.
        let mut twice = broken;
        twice.truncate(20);
        let report = score_files(&[Expected::of_file("zero, cut", &twice)]);
        assert!(report.of(&header::VERSION_ZERO).is_some_and(|score| !score.caught()));
    }

    #[test]
    fn a_wrong_expectation_catches_nobody() {
        let Some(broken) = breaking(&header::VERSION_ZERO, 1).map(|broken| broken.bytes()) else {
            panic!("a small file breaks the rule");
        };
        let mut expected = Expected::of_file("zero", &broken);
        expected.outcomes = [Outcome::Accept; 3];
        let report = score_files(&[expected]);
        assert_eq!(report.wrong, ["zero"]);
        assert!(report.scores.iter().all(|score| !score.caught()));
        assert!(report.to_string().contains("not as expected even with every rule: zero"));
    }
}
