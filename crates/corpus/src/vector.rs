//! A vector: a file with a permanent id, one purpose, and what every profile does with it.

use std::collections::BTreeMap;

use gguf_spec::document::Document;
use gguf_spec::field::Finding;
use gguf_spec::judge::{Class, Verdict};
use gguf_spec::profile::{Outcome, Profile};
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::build::MOST_DOCUMENTED;

/// The JSON file beside each `.gguf` file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Vector {
    /// The permanent id, also the name of the file without its extension.
    pub id: String,
    /// The one thing it is for.
    pub purpose: String,
    /// `valid`, `invalid` or `disputed`; derived from the outcomes.
    pub class: String,
    /// The rules it exercises.
    pub rules: Rules,
    /// Flags of the closed list in [`crate::flags`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flags: Vec<String>,
    /// What each profile does, by `name@version`.
    pub expect: BTreeMap<String, Expectation>,
    /// All findings, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<FindingRecord>,
    /// Where it comes from.
    pub origin: Origin,
    /// Who has confirmed what; see `corpus/README.md`.
    pub evidence: Evidence,
    /// The size of the file in bytes.
    pub size: u64,
    /// The SHA-256 of the file, in hexadecimal.
    pub sha256: String,
    /// What the file says, if any profile accepts it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub document: Option<Json>,
    /// What it says to ggml, where ggml's reading differs by more than its C interface hides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub document_ggml: Option<Json>,
}

/// The rules a vector exercises.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rules {
    /// Those it breaks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub breaks: Vec<String>,
    /// Those it just keeps: it is one field away from a vector that breaks them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub keeps: Vec<String>,
}

/// What a profile does with a vector.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expectation {
    /// `accept`, `refuse` or `abort`.
    pub outcome: String,
    /// The stage at which it does so, if it does not accept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stage: Option<String>,
    /// The rule that makes it do so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
}

/// A finding, as stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FindingRecord {
    /// The rule.
    pub rule: String,
    /// The first byte concerned.
    pub start: u64,
    /// The byte after the last one concerned.
    pub end: u64,
    /// The path of the field.
    pub path: String,
}

/// Where a vector comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Origin {
    /// `rule`, `sweep`, `type`, `layout`, `bug`, `cve`, `tutorial` or `fuzz`.
    pub kind: String,
    /// The issue, advisory or document, for the last four.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
}

/// Who has confirmed a vector.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Evidence {
    /// The programs that were seen to do what the profiles of ggml are expected to do.
    pub outcome: String,
    /// The program that was seen to read the document, or `derived`; absent if no profile accepts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub document: Option<String>,
}

impl From<&Finding> for FindingRecord {
    fn from(finding: &Finding) -> Self {
        Self {
            rule: finding.rule.id.to_owned(),
            start: finding.span.start,
            end: finding.span.end,
            path: finding.field.to_string(),
        }
    }
}

impl From<&Verdict> for Expectation {
    fn from(verdict: &Verdict) -> Self {
        let because = verdict.because.as_ref();
        Self {
            outcome: verdict.outcome.name().to_owned(),
            stage: because.map(|finding| finding.rule.stage.name().to_owned()),
            rule: because.map(|finding| finding.rule.id.to_owned()),
        }
    }
}

impl Vector {
    /// Whether the vector may be accepted and state no document all the same: a file of over 64 MiB,
    /// or one behind a limit of this specification, which then has not read it to its end.
    #[must_use]
    pub fn may_lack_document(&self) -> bool {
        self.size > MOST_DOCUMENTED as u64 || self.flags.iter().any(|flag| flag == "limit")
    }

    /// What a profile is expected to do.
    ///
    /// # Panics
    ///
    /// If the vector does not name the profile; loading refuses such vectors.
    #[must_use]
    pub fn outcome(&self, profile: Profile) -> Outcome {
        self.expect
            .get(&profile.id())
            .and_then(|expectation| Outcome::from_name(&expectation.outcome))
            .unwrap_or_else(|| panic!("{}: no outcome for {}", self.id, profile.id()))
    }

    /// The class.
    #[must_use]
    pub fn class(&self) -> Option<Class> {
        [Class::Valid, Class::Invalid, Class::Disputed].into_iter().find(|class| class.name() == self.class)
    }

    /// What a profile is expected to read, if it accepts the file.
    ///
    /// # Errors
    ///
    /// If the stored document is not of the canonical form.
    pub fn document_for(&self, profile: Profile) -> Result<Option<Document>, String> {
        if self.outcome(profile) != Outcome::Accept {
            return Ok(None);
        }
        let stored = match profile {
            Profile::Document => self.document.as_ref(),
            Profile::GgmlHeader | Profile::GgmlData => self.document_ggml.as_ref().or(self.document.as_ref()),
        };
        stored.map(Document::from_json).transpose()
    }
}
