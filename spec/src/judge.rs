//! What each profile does with a file, and why.

use crate::binary::{NeedMore, Options, Source, decode_with};
use crate::document::Document;
use crate::field::Finding;
use crate::input::Input;
use crate::profile::{KeyLookup, Outcome, Profile};
use crate::rules::{Checks, Says, Stage};
use crate::syntax::Tree;
use crate::valid::findings;
use crate::valid::layout::alignment;

/// What one profile does with a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// The profile.
    pub profile: Profile,
    /// What it does.
    pub outcome: Outcome,
    /// The first finding that makes it do so; `None` if it accepts.
    pub because: Option<Finding>,
}

/// Everything the specification says of a file.
#[derive(Clone, Debug)]
pub struct Judgement {
    /// All findings, in order. Where the profiles look up the alignment differently and so see two
    /// files in one, those that only ggml's lookup brings are at the end.
    pub findings: Vec<Finding>,
    /// How many of the findings are not at the end for that reason.
    pub own: usize,
    /// One verdict per profile, in the order of [`Profile::ALL`].
    pub verdicts: Vec<Verdict>,
    /// What the file says, as the document reads it; `None` if it could not be decoded to the end.
    pub document: Option<Document>,
    /// What the file says as ggml reads it, where that differs.
    pub ggml_document: Option<Document>,
}

impl Judgement {
    /// The first finding of the file as the document reads it, whoever objects.
    #[must_use]
    pub fn first(&self) -> Option<&Finding> {
        self.findings[..self.own].first()
    }

    /// What a profile does with the file.
    #[must_use]
    pub fn verdict(&self, profile: Profile) -> &Verdict {
        &self.verdicts[profile as usize]
    }

    /// Whether a profile accepts the file.
    #[must_use]
    pub fn accepts(&self, profile: Profile) -> bool {
        self.verdict(profile).outcome == Outcome::Accept
    }

    /// What the file says to this profile.
    #[must_use]
    pub fn document_for(&self, profile: Profile) -> Option<&Document> {
        match profile.lookup() {
            KeyLookup::Exact => self.document.as_ref(),
            KeyLookup::CString => self.ggml_document.as_ref().or(self.document.as_ref()),
        }
    }

    /// Whether the profiles that judge the stage of the first finding agree, and on what.
    #[must_use]
    pub fn class(&self) -> Class {
        let Some(stage) = self.findings.iter().map(|finding| finding.rule.stage).min() else { return Class::Valid };
        Class::of(self.verdicts.iter().map(|v| (v.profile, v.outcome)), stage)
    }
}

/// Whether a file is right.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// Every profile that judges its stage accepts it.
    Valid,
    /// Every profile that judges its stage refuses it or aborts.
    Invalid,
    /// They differ.
    Disputed,
}

impl Class {
    /// `valid`, `invalid` or `disputed`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Valid => "valid",
            Self::Invalid => "invalid",
            Self::Disputed => "disputed",
        }
    }

    /// The class of a file from its outcomes and the stage of its first finding.
    #[must_use]
    pub fn of(outcomes: impl Iterator<Item = (Profile, Outcome)>, stage: Stage) -> Self {
        let accepts: Vec<bool> = outcomes
            .filter(|(profile, _)| profile.last_stage() >= stage)
            .map(|(_, outcome)| outcome == Outcome::Accept)
            .collect();
        if accepts.iter().all(|&a| a) {
            Self::Valid
        } else if accepts.iter().any(|&a| a) {
            Self::Disputed
        } else {
            Self::Invalid
        }
    }
}

/// Judges a whole file in memory.
#[must_use]
pub fn judge(bytes: &[u8], checks: &Checks) -> Judgement {
    match judge_source(Source::whole(bytes), &bytes, checks) {
        Ok(judgement) => judgement,
        Err(NeedMore { .. }) => unreachable!("the head is the whole input"),
    }
}

/// Judges an input of which the head is in memory and the rest can be read.
///
/// # Errors
///
/// [`NeedMore`] if the header goes on behind the head.
pub fn judge_source(source: Source<'_>, input: &dyn Input, checks: &Checks) -> Result<Judgement, NeedMore> {
    judge_with(source, input, checks, true)
}

/// Like [`judge_source`], but leaves the documents out: for large files of which only the findings
/// and verdicts are wanted.
///
/// # Errors
///
/// [`NeedMore`] if the header goes on behind the head.
pub fn judge_findings(source: Source<'_>, input: &dyn Input, checks: &Checks) -> Result<Judgement, NeedMore> {
    judge_with(source, input, checks, false)
}

fn judge_with(source: Source<'_>, input: &dyn Input, checks: &Checks, documents: bool) -> Result<Judgement, NeedMore> {
    let read = |lookup: KeyLookup| {
        let options = Options { checks: checks.clone(), lookup };
        let decoded = decode_with(source, &options)?;
        let list = findings(&decoded, input, &options);
        let document = if documents { Document::of(&decoded, lookup) } else { None };
        let differs = decoded.tree.as_ref().is_some_and(lookups_differ);
        Ok((list, document, differs))
    };
    let (mut list, document, differs) = read(KeyLookup::Exact)?;
    // Only a key such as `general.alignment\0x` makes the two lookups differ.
    let (ggml_list, ggml_document) = match differs.then(|| read(KeyLookup::CString)).transpose()? {
        Some((list, document, _)) => (Some(list), document),
        None => (None, None),
    };

    let verdicts = Profile::ALL
        .into_iter()
        .map(|profile| {
            let seen = match profile.lookup() {
                KeyLookup::Exact => &list,
                KeyLookup::CString => ggml_list.as_ref().unwrap_or(&list),
            };
            verdict(profile, seen)
        })
        .collect();
    let sorted = list.len();
    for finding in ggml_list.into_iter().flatten() {
        if list[..sorted].binary_search_by(|seen| seen.order(&finding)).is_err() {
            list.push(finding);
        }
    }
    Ok(Judgement { findings: list, own: sorted, verdicts, document, ggml_document })
}

fn lookups_differ(tree: &Tree<'_>) -> bool {
    let pair = |lookup| crate::valid::layout::alignment_pair(tree, lookup).map(|(i, _)| i);
    pair(KeyLookup::Exact) != pair(KeyLookup::CString)
        || alignment(tree, KeyLookup::Exact) != alignment(tree, KeyLookup::CString)
}

/// What a profile does with a file that has these findings.
#[must_use]
pub fn verdict(profile: Profile, findings: &[Finding]) -> Verdict {
    let objection = findings.iter().find_map(|finding| match finding.rule.says(profile) {
        Some(Says::Refuses) => Some((Outcome::Refuse, finding)),
        Some(Says::Aborts) => Some((Outcome::Abort, finding)),
        Some(Says::Accepts | Says::Silent) | None => None,
    });
    match objection {
        Some((outcome, finding)) => Verdict { profile, outcome, because: Some(finding.clone()) },
        None => Verdict { profile, outcome: Outcome::Accept, because: None },
    }
}

/// What a decoded input says of itself to a reader that stops after `stage`.
#[must_use]
pub fn outcome_until(profile: Profile, findings: &[Finding], stage: Stage) -> Outcome {
    let seen: Vec<Finding> = findings.iter().filter(|finding| finding.rule.stage <= stage).cloned().collect();
    verdict(profile, &seen).outcome
}
