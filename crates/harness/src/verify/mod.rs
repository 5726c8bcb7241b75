//! The expectations of the corpus against the programs they speak of.
//!
//! Every vector is read by the real ggml library, header only and with data, in a process of its
//! own, and has to end as its profile says, with the document that the vector states as far as
//! ggml's C interface shows it. What that interface hides is shown to a second witness.

mod children;
mod evidence;
mod witness;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use assay_corpus::store::Entry;
use assay_oracles::difference;
use assay_providers::ggml::{Mode, type_differences};
use gguf_spec::document::Document;
use gguf_spec::profile::{Outcome, PROFILES, Profile};
use serde::Serialize;

use crate::child::Probe;
use crate::parallel::side_by_side;
use crate::probe::Question;
use crate::sandbox::limits_enforced;

pub use evidence::{Claim, claims, to_json as evidence_to_json};
pub use witness::{GGUF_VERSION, Sight, Testimony};

/// What to verify with.
pub struct Options<'a> {
    /// The directory of the ggml library.
    pub ggml: &'a Path,
    /// The child that loads it.
    pub probe: &'a Probe,
    /// A Python that has the `gguf` package, for the second witness.
    pub python: Option<&'a Path>,
    /// How many children run side by side.
    pub jobs: usize,
    /// Told after each child how many have ended, of how many.
    pub progress: &'a (dyn Fn(usize, usize) + Sync),
}

/// What a run found.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// The version of the ggml library that was run.
    pub ggml: String,
    /// The version the expectations speak of.
    pub expected_ggml: &'static str,
    /// Whether the system enforces the limits the outcomes are stated under.
    pub limits_enforced: bool,
    /// How many vectors there were.
    pub vectors: usize,
    /// How many of them are too large to state a document: only their outcome was compared.
    pub undocumented: usize,
    /// What happened, per profile.
    pub profiles: Vec<Tally>,
    /// Where ggml's table of tensor types differs from the specification's.
    pub type_differences: Vec<String>,
    /// Where ggml differs from what a vector expects.
    pub differences: Vec<Difference>,
    /// What the second witness said; absent if it was not asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub witness: Option<Vec<Testimony>>,
    /// Claims of evidence that this run did not confirm.
    pub unconfirmed: Vec<Difference>,
    /// What this run confirmed, by vector; those that differ are left out.
    #[serde(skip)]
    pub evidence: BTreeMap<String, Claim>,
}

/// What one profile did with the vectors.
#[derive(Clone, Debug, Serialize)]
pub struct Tally {
    /// The profile, `name@version`.
    pub profile: String,
    /// How many children were run.
    pub runs: usize,
    /// How many accepted.
    pub accept: usize,
    /// How many refused.
    pub refuse: usize,
    /// How many aborted.
    pub abort: usize,
    /// How many ended in another way: another signal, a time-out, an error.
    pub other: usize,
    /// How many differed from what was expected.
    pub differences: usize,
}

/// A program did not do what a vector expects.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// The vector.
    pub id: String,
    /// The profile, `name@version`, or the claim.
    pub profile: String,
    /// The first place where the documents differ; absent if the outcomes do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// What was expected.
    pub expected: String,
    /// What the program did or said.
    pub got: String,
    /// What the program had to say about it, which may be nothing.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub message: String,
}

/// Why nothing could be verified.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The ggml library cannot be used.
    #[error("the ggml library cannot be used: {0}")]
    Library(String),
    /// The second witness cannot be asked.
    #[error(
        "{python}: the gguf package cannot be used: {reason}; install it with `{python} -m pip install gguf=={GGUF_VERSION}`"
    )]
    Python {
        /// The interpreter.
        python: String,
        /// Why.
        reason: String,
    },
    /// There are no vectors.
    #[error("there are no vectors, so nothing was verified")]
    Nothing,
    /// A vector is not of the documented form.
    #[error("{id}: {reason}")]
    Vector {
        /// Its id.
        id: String,
        /// Why.
        reason: String,
    },
}

/// The version of ggml that the profiles speak of.
#[must_use]
pub fn expected_ggml() -> &'static str {
    PROFILES[Profile::GgmlHeader as usize].version
}

/// The profile that speaks of a mode.
#[must_use]
pub fn profile_of(mode: Mode) -> Profile {
    match mode {
        Mode::Header => Profile::GgmlHeader,
        Mode::Data => Profile::GgmlData,
    }
}

/// What a child did with a vector.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Observed {
    /// It reads the file, and this is what it shows of it, if that was asked.
    Accept(Option<Document>),
    /// It refuses the file, for this reason.
    Refuse(String),
    /// It aborted, and wrote this.
    Abort(String),
    /// It ended in another way.
    Other(String),
}

impl Observed {
    /// The outcome; `None` if it is none that a profile can have.
    #[must_use]
    pub fn outcome(&self) -> Option<Outcome> {
        match self {
            Self::Accept(_) => Some(Outcome::Accept),
            Self::Refuse(_) => Some(Outcome::Refuse),
            Self::Abort(_) => Some(Outcome::Abort),
            Self::Other(_) => None,
        }
    }
}

impl Report {
    /// Why the run as a whole proves nothing, whatever the vectors did; empty if it does.
    #[must_use]
    pub fn problems(&self) -> Vec<String> {
        let mut problems = Vec::new();
        if self.ggml != self.expected_ggml {
            problems.push(format!(
                "the library is ggml {}, the expectations are those of {}",
                self.ggml, self.expected_ggml
            ));
        }
        if self.profiles.iter().any(|tally| tally.runs == 0) {
            problems.push("nothing was run".to_owned());
        }
        problems
    }

    /// Whether every expectation was confirmed. Claims of evidence that were not are told apart:
    /// they concern what is written about a vector, not the vector.
    #[must_use]
    pub fn agrees(&self) -> bool {
        self.problems().is_empty() && self.type_differences.is_empty() && self.differences.is_empty()
    }
}

/// Verifies the vectors.
///
/// # Errors
///
/// [`Error`] if there is nothing to verify or to verify with; differences are not errors.
pub fn verify(entries: &[Entry], options: &Options<'_>) -> Result<Report, Error> {
    if entries.is_empty() {
        return Err(Error::Nothing);
    }
    let about = options.probe.about(options.ggml, &[]).map_err(Error::Library)?;
    if let Some(python) = options.python {
        witness::check_version(python)
            .map_err(|reason| Error::Python { python: python.display().to_string(), reason })?;
    }
    let expected = entries.iter().map(Expected::of).collect::<Result<Vec<_>, _>>()?;
    let candidates: Vec<usize> = match options.python {
        Some(_) => (0..entries.len()).filter(|&i| witness::wanted(&entries[i], &expected[i])).collect(),
        None => Vec::new(),
    };

    let jobs: Vec<Job> = (0..entries.len())
        .flat_map(|i| Mode::ALL.map(|mode| Job::Ggml(i, mode)))
        .chain(candidates.into_iter().map(Job::Witness))
        .collect();
    let ended = AtomicUsize::new(0);
    let done = side_by_side(options.jobs, &jobs, |job| {
        let done = match *job {
            Job::Ggml(i, mode) => {
                Done::Ggml(i, mode, children::read(options, mode, expected[i].question(mode), &entries[i].path))
            }
            Job::Witness(i) => {
                let python = options.python.unwrap_or(Path::new("python3"));
                Done::Witness(witness::ask(python, &entries[i], &expected[i]))
            }
        };
        (options.progress)(ended.fetch_add(1, Ordering::Relaxed) + 1, jobs.len());
        done
    });
    Ok(judge(entries, &expected, &about, done, options.python.is_some()))
}

/// What a vector states, read once.
pub(crate) struct Expected {
    /// The document to each profile that accepts, in the order of [`Profile::ALL`].
    documents: [Option<Document>; 3],
    outcomes: [Outcome; 3],
    /// The document to whoever looks keys up as the format document says.
    stated: Option<Document>,
}

impl Expected {
    fn of(entry: &Entry) -> Result<Self, Error> {
        let vector = &entry.vector;
        let mut documents = [None, None, None];
        for profile in Profile::ALL {
            let refused = |reason: String| Error::Vector { id: vector.id.clone(), reason };
            let document = vector.document_for(profile).map_err(refused)?;
            if vector.outcome(profile) == Outcome::Accept && document.is_none() && !vector.may_lack_document() {
                return Err(refused(format!("{} accepts it, but no document is stated", profile.id())));
            }
            documents[profile as usize] = document;
        }
        let refused = |reason: String| Error::Vector { id: vector.id.clone(), reason };
        let stated = vector.document.as_ref().map(Document::from_json).transpose().map_err(refused)?;
        Ok(Self { documents, outcomes: Profile::ALL.map(|profile| vector.outcome(profile)), stated })
    }

    pub(crate) fn document(&self, profile: Profile) -> Option<&Document> {
        self.documents[profile as usize].as_ref()
    }

    /// What is to be asked: the document, unless the file is accepted and too large to have one.
    fn question(&self, mode: Mode) -> Question {
        let profile = profile_of(mode);
        let unstated = self.outcome(profile) == Outcome::Accept && self.document(profile).is_none();
        if unstated { Question::Outcome } else { Question::Document }
    }

    pub(crate) fn stated(&self) -> Option<&Document> {
        self.stated.as_ref()
    }

    pub(crate) fn outcome(&self, profile: Profile) -> Outcome {
        self.outcomes[profile as usize]
    }
}

enum Job {
    Ggml(usize, Mode),
    Witness(usize),
}

enum Done {
    Ggml(usize, Mode, Observed),
    Witness(Testimony),
}

fn judge(
    entries: &[Entry],
    expected: &[Expected],
    about: &crate::probe::About,
    done: Vec<Done>,
    with_witness: bool,
) -> Report {
    let mut profiles: Vec<Tally> = Mode::ALL
        .iter()
        .map(|&mode| Tally {
            profile: profile_of(mode).id(),
            runs: 0,
            accept: 0,
            refuse: 0,
            abort: 0,
            other: 0,
            differences: 0,
        })
        .collect();
    let mut differences = Vec::new();
    let mut testimonies = Vec::new();
    for done in done {
        match done {
            Done::Ggml(i, mode, observed) => {
                let tally = &mut profiles[mode as usize];
                tally.runs += 1;
                *match observed.outcome() {
                    Some(Outcome::Accept) => &mut tally.accept,
                    Some(Outcome::Refuse) => &mut tally.refuse,
                    Some(Outcome::Abort) => &mut tally.abort,
                    None => &mut tally.other,
                } += 1;
                if let Some(difference) = compare(&entries[i].vector.id, &expected[i], profile_of(mode), &observed) {
                    tally.differences += 1;
                    differences.push(difference);
                }
            }
            Done::Witness(testimony) => testimonies.push(testimony),
        }
    }
    let witness = with_witness.then_some(testimonies);
    let agreeing = |id: &str| !differences.iter().any(|difference| difference.id == id);
    let evidence: BTreeMap<String, Claim> = entries
        .iter()
        .zip(expected)
        .filter(|(entry, _)| agreeing(&entry.vector.id))
        .map(|(entry, expected)| {
            let testimony = witness.iter().flatten().find(|testimony| testimony.id == entry.vector.id);
            (entry.vector.id.clone(), Claim::of(entry, expected, testimony))
        })
        .collect();
    Report {
        ggml: about.version.clone(),
        expected_ggml: expected_ggml(),
        limits_enforced: limits_enforced(),
        vectors: entries.len(),
        undocumented: expected
            .iter()
            .filter(|expected| Mode::ALL.iter().any(|&mode| expected.question(mode) == Question::Outcome))
            .count(),
        profiles,
        type_differences: if about.version == expected_ggml() {
            type_differences(&about.types).iter().map(ToString::to_string).collect()
        } else {
            Vec::new()
        },
        differences,
        unconfirmed: claims(entries, &evidence, with_witness, witness.as_deref().unwrap_or_default()),
        witness,
        evidence,
    }
}

/// Whether ggml did what a vector expects of a profile; `None` if it did.
#[must_use]
fn compare(id: &str, expected: &Expected, profile: Profile, observed: &Observed) -> Option<Difference> {
    let outcome = expected.outcome(profile);
    let (got, message) = match observed {
        Observed::Accept(_) => ("accept".to_owned(), String::new()),
        Observed::Refuse(message) => ("refuse".to_owned(), message.clone()),
        Observed::Abort(message) => ("abort".to_owned(), message.clone()),
        Observed::Other(how) => (how.clone(), String::new()),
    };
    let difference = |path, expected, got, message| {
        Some(Difference { id: id.to_owned(), profile: profile.id(), path, expected, got, message })
    };
    if observed.outcome() != Some(outcome) {
        return difference(None, outcome.name().to_owned(), got, message);
    }
    let Observed::Accept(Some(document)) = observed else { return None };
    let stated = expected.document(profile)?.through_c();
    let found = first_difference(&stated, document)?;
    difference(Some(found.path), found.expected, found.got, String::new())
}

/// Where two documents differ first.
pub(crate) struct Place {
    path: String,
    expected: String,
    got: String,
}

/// The first place where two documents differ; `None` if they are equal.
pub(crate) fn first_difference(stated: &Document, read: &Document) -> Option<Place> {
    if stated == read {
        return None;
    }
    let shown = |value: Option<serde_json::Value>| value.map_or_else(|| "nothing".to_owned(), |v| v.to_string());
    Some(match difference::first("", &stated.to_json(), &read.to_json()) {
        Some(found) => Place { path: found.path, expected: shown(found.expected), got: shown(found.actual) },
        // Documents whose JSON is the same are the same; this keeps the promise if ever they are not.
        None => Place { path: String::new(), expected: format!("{stated:?}"), got: format!("{read:?}") },
    })
}
