//! What an answer to a vector is worth: judgement without any process.

use std::borrow::Cow;

use assay_corpus::store::Entry;
use assay_corpus::vector::Vector;
use assay_oracles::difference::Difference;
use gguf_spec::binary::decode;
use gguf_spec::judge::judge as judge_file;
use gguf_spec::profile::{Outcome, Profile};
use gguf_spec::rules::{Checks, Stage};
use gguf_spec::types::TensorType;
use serde_json::Value as Json;

use super::compare::first_difference;
use super::message::{Answer, Claims, Started};
use super::verdict::Verdict;

/// What came of asking an adapter about a file.
#[derive(Clone, Debug)]
pub enum Behaviour {
    /// It answered.
    Answered(Answer),
    /// It failed to: the verdict is one of those of processes.
    Failed {
        /// Which.
        verdict: Verdict,
        /// How, in words.
        how: String,
    },
}

/// What an answer is worth, and why.
#[derive(Clone, Debug, PartialEq)]
pub struct Judged {
    /// The verdict.
    pub verdict: Verdict,
    /// Those whose side is taken, for [`Verdict::SidesWith`].
    pub profiles: Vec<Profile>,
    /// What was expected: `accept`, `refuse`, or what each profile does where they differ; and the rules
    /// for which the file is to be refused.
    pub expected: String,
    /// What was answered: `accepted`, `rejected`, `skipped`, or nothing.
    pub got: &'static str,
    /// What the adapter said, or how it failed.
    pub message: String,
    /// The first place where the documents differ.
    pub difference: Option<Difference>,
    /// Whether the rejection was an exception that is not meant as one.
    pub incidental: bool,
    /// Whether a document was compared.
    pub compared: bool,
}

/// What the profiles do with a vector, as far as a reader is concerned that stops after some stage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expected {
    /// The profiles that the reader is compared with, and whether each accepts.
    pub profiles: Vec<(Profile, bool)>,
    /// The rules for which they refuse, each once, in the order of the profiles.
    pub rules: Vec<String>,
    /// Whether some profile refuses the file for what comes after that stage.
    pub refused_later: bool,
}

impl Expected {
    /// What the profiles do with a vector up to a stage.
    ///
    /// The profiles are compared whose own last stage is not before the earliest objection. The two of
    /// ggml say the same of what both judge, so that only one of them is named: the one whose reading is
    /// more like the reader's.
    #[must_use]
    pub fn until(vector: &Vector, last: Stage) -> Self {
        let objections: Vec<(Profile, Option<Stage>)> =
            Profile::ALL.into_iter().map(|profile| (profile, objection(vector, profile))).collect();
        let cut = |stage: Option<Stage>| stage.filter(|stage| *stage <= last);
        let first = objections.iter().filter_map(|(_, stage)| cut(*stage)).min();
        let mut rules: Vec<String> = Vec::new();
        let twin = if last >= Stage::Data { Profile::GgmlHeader } else { Profile::GgmlData };
        let compared = objections
            .iter()
            .filter(|(profile, _)| *profile != twin && first.is_none_or(|first| profile.last_stage() >= first));
        let profiles: Vec<(Profile, bool)> =
            compared.map(|(profile, stage)| (*profile, cut(*stage).is_none())).collect();
        for (profile, _) in profiles.iter().filter(|(_, accepts)| !accepts) {
            let rule = vector.expect.get(&profile.id()).and_then(|expectation| expectation.rule.clone());
            rules.extend(rule.filter(|rule| !rules.contains(rule)));
        }
        Self {
            profiles,
            rules,
            refused_later: objections.iter().any(|(_, stage)| stage.is_some_and(|stage| stage > last)),
        }
    }

    fn who(&self, accepts: bool) -> Vec<Profile> {
        self.profiles.iter().filter(|(_, accept)| *accept == accepts).map(|(profile, _)| *profile).collect()
    }

    /// In words, with the rules for which the file is to be refused.
    fn words(&self) -> String {
        let word = |accepts: bool| if accepts { "accept" } else { "refuse" };
        let what = match self.profiles.as_slice() {
            [(_, first), rest @ ..] if rest.iter().all(|(_, accepts)| accepts == first) => word(*first).to_owned(),
            list => {
                let each = list.iter().map(|(profile, accepts)| format!("{profile} {}", word(*accepts)));
                each.collect::<Vec<_>>().join(", ")
            }
        };
        if self.rules.is_empty() { what } else { format!("{what} ({})", self.rules.join(", ")) }
    }
}

/// The stage at which a profile does not accept a vector.
fn objection(vector: &Vector, profile: Profile) -> Option<Stage> {
    if vector.outcome(profile) == Outcome::Accept {
        return None;
    }
    let stage = vector.expect.get(&profile.id()).and_then(|expectation| expectation.stage.as_deref());
    // One that does not say at which stage objects at once.
    Some(stage.and_then(Stage::from_name).unwrap_or(Stage::Magic))
}

/// Judges what came of asking an adapter about a vector.
#[must_use]
pub fn judge(entry: &Entry, started: &Started, behaviour: &Behaviour) -> Judged {
    let expected = Expected::until(&entry.vector, started.claims.last_stage);
    let mut judged = Judged {
        verdict: Verdict::Agree,
        profiles: Vec::new(),
        expected: expected.words(),
        got: "nothing",
        message: String::new(),
        difference: None,
        incidental: false,
        compared: false,
    };
    match behaviour {
        Behaviour::Failed { verdict, how } => {
            judged.verdict = *verdict;
            judged.message = kept(how);
        }
        Behaviour::Answered(Answer::Skipped { reason }) => {
            judged.verdict = Verdict::Unsupported;
            judged.got = "skipped";
            judged.message = kept(reason);
        }
        Behaviour::Answered(Answer::Rejected { message, incidental }) => {
            judged.got = "rejected";
            judged.message = kept(message);
            judged.incidental = *incidental;
            rejected(&mut judged, entry, &started.claims, &expected);
        }
        Behaviour::Answered(Answer::Accepted { document, omits }) => {
            judged.got = "accepted";
            let omits = started.omits.and(omits);
            accepted(&mut judged, entry, &expected, document.as_deref(), |expected, actual| {
                first_difference(expected, actual, &omits)
            });
        }
        Behaviour::Answered(Answer::Written) => {
            judged.verdict = Verdict::ProtocolError;
            judged.message = "`written` in the answer to `parse`".to_owned();
        }
    }
    judged
}

/// Most bytes kept of what an adapter says about one file: a run keeps it for every file.
const LONGEST_MESSAGE: usize = 64 << 10;

/// The start of a message.
fn kept(message: &str) -> String {
    message[..message.floor_char_boundary(LONGEST_MESSAGE)].to_owned()
}

fn rejected(judged: &mut Judged, entry: &Entry, claims: &Claims, expected: &Expected) {
    let refusing = expected.who(false);
    if refusing.len() == expected.profiles.len() {
        return;
    }
    if let Some(what) = unclaimed(entry, claims) {
        judged.verdict = Verdict::Unsupported;
        judged.message = if judged.message.is_empty() { what } else { format!("{what}: {}", judged.message) };
    } else if !refusing.is_empty() {
        judged.verdict = Verdict::SidesWith;
        judged.profiles = refusing;
    } else if expected.refused_later {
        judged.verdict = Verdict::OutOfScope;
    } else {
        judged.verdict = Verdict::FalseReject;
    }
}

fn accepted(
    judged: &mut Judged,
    entry: &Entry,
    expected: &Expected,
    document: Option<&str>,
    differ: impl Fn(&Json, &Json) -> Option<Difference>,
) {
    let accepting = expected.who(true);
    if accepting.is_empty() {
        judged.verdict = Verdict::FalseAccept;
        return;
    }
    if accepting.len() < expected.profiles.len() {
        judged.verdict = Verdict::SidesWith;
        judged.profiles.clone_from(&accepting);
    }
    let documents = documents(entry, &accepting);
    if documents.is_empty() {
        return;
    }
    judged.compared = true;
    let actual: Json = match serde_json::from_str(document.unwrap_or("{}")) {
        Ok(actual) => actual,
        Err(error) => {
            judged.verdict = Verdict::ProtocolError;
            judged.profiles.clear();
            judged.message = format!("`document`: {error}");
            return;
        }
    };
    // Where authorities read a file differently, to read it like one of them is right.
    let mut differences = documents.iter().map(|expected| differ(expected, &actual));
    if let Some(Some(first)) = differences.next()
        && differences.all(|difference| difference.is_some())
    {
        judged.verdict = Verdict::WrongValue;
        judged.profiles.clear();
        judged.difference = Some(first);
    }
}

/// What the file says to each of these profiles; nothing where that is not known.
fn documents<'a>(entry: &'a Entry, profiles: &[Profile]) -> Vec<Cow<'a, Json>> {
    let vector = &entry.vector;
    let mut list: Vec<Cow<'a, Json>> = Vec::new();
    for &profile in profiles {
        let stored = match profile {
            Profile::Document => vector.document.as_ref(),
            Profile::GgmlHeader | Profile::GgmlData => vector.document_ggml.as_ref().or(vector.document.as_ref()),
        };
        let document = match stored {
            Some(stored) => Cow::Borrowed(stored),
            None if vector.may_lack_document() => continue,
            // A file that every profile refuses in the end, which a reader of the first stages accepts.
            None => match judge_file(&entry.bytes, &Checks::all()).document_for(profile) {
                Some(document) => Cow::Owned(document.to_json()),
                None => continue,
            },
        };
        if !list.contains(&document) {
            list.push(document);
        }
    }
    list
}

/// What is in the file that a reader does not claim to read, in words.
fn unclaimed(entry: &Entry, claims: &Claims) -> Option<String> {
    let tree = decode(&entry.bytes).tree?;
    if claims.versions.as_ref().is_some_and(|versions| !versions.contains(&tree.version)) {
        return Some(format!("version {} is not claimed", tree.version));
    }
    if claims.byte_orders.as_ref().is_some_and(|orders| !orders.contains(&tree.byte_order)) {
        return Some(format!("byte order {} is not claimed", tree.byte_order.name()));
    }
    let claimed = claims.tensor_types.as_ref()?;
    let id = tree.tensors.iter().map(|tensor| tensor.type_id).find(|id| !claimed.contains(id))?;
    let name = TensorType::from_id(id).map_or_else(|| id.to_string(), |ty| ty.name.to_owned());
    Some(format!("tensor type {name} is not claimed"))
}

#[cfg(test)]
mod tests;
