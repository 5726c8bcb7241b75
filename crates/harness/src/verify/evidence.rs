//! What a run confirms about each vector, in the form in which the corpus keeps it.

use std::collections::BTreeMap;

use assay_corpus::store::Entry;
use gguf_spec::document::Document;
use gguf_spec::profile::{Outcome, Profile};
use serde::Serialize;
use serde_json::Value as Json;

use super::witness::{Sight, Testimony, WITNESS};
use super::{Difference, Expected, expected_ggml};

/// What nobody was seen to read: it follows from the rules alone.
const DERIVED: &str = "derived";

/// Who confirmed what of one vector.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Claim {
    /// The SHA-256 of the file it is about, in hexadecimal.
    pub sha256: String,
    /// Who was seen to do what the profiles of ggml are expected to do.
    pub outcome: String,
    /// Who was seen to read the document, or `derived`; absent if none is stated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub document: Option<String>,
}

impl Claim {
    /// The claim for a vector with which both profiles of ggml agreed.
    pub(crate) fn of(entry: &Entry, expected: &Expected, testimony: Option<&Testimony>) -> Self {
        let accepted = Profile::ALL.iter().any(|&profile| expected.outcome(profile) == Outcome::Accept);
        let document = (accepted && entry.vector.document.is_some()).then(|| {
            if shown_by_ggml(entry, expected) {
                format!("ggml {}", expected_ggml())
            } else if testimony.is_some_and(|testimony| testimony.sight == Sight::Agree) {
                WITNESS.to_owned()
            } else {
                DERIVED.to_owned()
            }
        });
        Self {
            sha256: entry.vector.sha256.clone(),
            outcome: format!("ggml {} (header, data)", expected_ggml()),
            document,
        }
    }
}

/// Whether ggml shows the whole document of a vector: it accepts the file, sees the same file as
/// everybody, and its C interface hides nothing of it but how many trailing dimensions of 1 are stated.
pub(crate) fn shown_by_ggml(entry: &Entry, expected: &Expected) -> bool {
    [Profile::GgmlHeader, Profile::GgmlData].iter().any(|&profile| {
        entry.vector.document_ggml.is_none()
            && expected.document(profile).is_some_and(|document| !hidden_by_c(document))
    })
}

/// Whether ggml's C interface hides something of a document.
fn hidden_by_c(document: &Document) -> bool {
    let seen = document.through_c();
    let names = document.tensors.iter().zip(&seen.tensors).any(|(a, b)| a.name != b.name);
    names || document.metadata != seen.metadata
}

/// The stated evidence that a run does not confirm.
///
/// What a vector says about its document is checked where the run could see it: a claim that a
/// program has read the document, by that program. `derived` claims nothing.
#[must_use]
pub fn claims(
    entries: &[Entry],
    confirmed: &BTreeMap<String, Claim>,
    with_witness: bool,
    testimonies: &[Testimony],
) -> Vec<Difference> {
    let mut unconfirmed = Vec::new();
    for entry in entries {
        let vector = &entry.vector;
        let Some(stated) = vector.evidence.document.as_deref().filter(|&stated| stated != DERIVED) else { continue };
        let Some(found) = confirmed.get(&vector.id) else { continue }; // a difference of its own
        let testimony = testimonies.iter().find(|testimony| testimony.id == vector.id);
        let holds = match stated {
            WITNESS => !with_witness || testimony.is_some_and(|testimony| testimony.sight == Sight::Agree),
            _ => found.document.as_deref() == Some(stated),
        };
        if !holds {
            let told = testimony.map(|testimony| testimony.sight.to_string());
            unconfirmed.push(Difference {
                id: vector.id.clone(),
                profile: "evidence.document".to_owned(),
                path: None,
                expected: stated.to_owned(),
                got: found.document.clone().unwrap_or_else(|| "no profile accepts the file".to_owned()),
                message: told.map(|told| format!("{WITNESS}: {told}")).unwrap_or_default(),
            });
        }
    }
    unconfirmed
}

/// The file `evidence.json`: the claims by the ids of the vectors, sorted.
#[must_use]
pub fn to_json(evidence: &BTreeMap<String, Claim>) -> Json {
    evidence
        .iter()
        .map(|(id, claim)| (id.clone(), serde_json::to_value(claim).unwrap_or(Json::Null)))
        .collect::<serde_json::Map<_, _>>()
        .into()
}
