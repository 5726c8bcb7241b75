//! The second witness: the Python package `gguf`, for what ggml does not accept or cannot show.

use std::fmt;
use std::path::Path;
use std::process::Command;

use assay_corpus::store::Entry;
use assay_providers::complaint::last_lines;
use gguf_spec::profile::{Outcome, Profile};
use serde::Serialize;

use super::evidence::shown_by_ggml;
use super::{Expected, first_difference};
use crate::child::{describe, limits};
use crate::probe::{About, Reply};
use crate::sandbox::{self, Ended, Ending};

/// The version of the package.
pub const GGUF_VERSION: &str = "0.19.0";

/// The name under which it is evidence.
pub(super) const WITNESS: &str = "gguf 0.19.0";

/// The program that shows what the package reads.
const PROGRAM: &str = include_str!("witness.py");

/// What the witness said of one vector.
#[derive(Clone, Debug, Serialize)]
pub struct Testimony {
    /// The vector.
    pub id: String,
    /// What it saw.
    #[serde(flatten)]
    pub sight: Sight,
}

/// What the witness saw.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "sight", rename_all = "lowercase")]
pub enum Sight {
    /// The whole document, as stated.
    Agree,
    /// As far as it can show the document it is as stated; these parts it cannot show.
    Unseen {
        /// Their paths.
        paths: Vec<String>,
    },
    /// Another document.
    Differs {
        /// The first place.
        path: String,
        /// What is stated.
        expected: String,
        /// What it read.
        got: String,
    },
    /// It does not read the file.
    Refused {
        /// Why.
        message: String,
    },
    /// It did not survive the file.
    Crashed {
        /// How it ended.
        how: String,
    },
}

impl Sight {
    /// One word, for a table.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Agree => "agree",
            Self::Unseen { .. } => "unseen",
            Self::Differs { .. } => "differs",
            Self::Refused { .. } => "refused",
            Self::Crashed { .. } => "crashed",
        }
    }
}

impl fmt::Display for Sight {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())?;
        match self {
            Self::Agree => Ok(()),
            Self::Unseen { paths } => write!(f, ": {}", paths.join(", ")),
            Self::Differs { path, expected, got } => write!(f, ": {path}: expected {expected}, gguf says {got}"),
            Self::Refused { message } => write!(f, ": {message}"),
            Self::Crashed { how } => write!(f, ": {how}"),
        }
    }
}

/// Whether the witness is asked about a vector: some profile accepts it and ggml cannot show the
/// whole of its document, or the witness is named as its evidence.
pub(super) fn wanted(entry: &Entry, expected: &Expected) -> bool {
    expected.stated().is_some()
        && Profile::ALL.iter().any(|&profile| expected.outcome(profile) == Outcome::Accept)
        && (!shown_by_ggml(entry, expected) || entry.vector.evidence.document.as_deref() == Some(WITNESS))
}

/// Whether the interpreter has the package in the right version.
pub(super) fn check_version(python: &Path) -> Result<(), String> {
    let ended = start(python, None).map_err(|error| error.to_string())?;
    // The last line of a traceback is the reason.
    let about = About::parse(&ended.stdout.text())
        .map_err(|reason| ended.stderr.text().trim().lines().last().map_or(reason, ToOwned::to_owned))?;
    if about.version == GGUF_VERSION { Ok(()) } else { Err(format!("it is version {}", about.version)) }
}

/// Asks the witness.
pub(super) fn ask(python: &Path, entry: &Entry, expected: &Expected) -> Testimony {
    let sight = match start(python, Some(&entry.path)) {
        Ok(ended) => sight(&ended, expected),
        Err(error) => Sight::Crashed { how: format!("{}: cannot be started: {error}", python.display()) },
    };
    Testimony { id: entry.vector.id.clone(), sight }
}

fn start(python: &Path, file: Option<&Path>) -> std::io::Result<Ended> {
    let mut command = Command::new(python);
    // Isolated: neither the directory nor the environment says which package is loaded.
    command.args(["-I", "-c", PROGRAM]).args(file);
    // The pools of threads of its linear algebra would count as address space.
    command.env("OPENBLAS_NUM_THREADS", "1");
    let size = file.and_then(|file| file.metadata().ok()).map_or(0, |metadata| metadata.len());
    sandbox::run(command, &limits(size))
}

fn sight(ended: &Ended, expected: &Expected) -> Sight {
    let crashed = |how: String| match last_lines(&ended.stderr.text()) {
        complaint if complaint.is_empty() => Sight::Crashed { how },
        complaint => Sight::Crashed { how: format!("{how}: {complaint}") },
    };
    match (ended.ending, Reply::parse(&ended.stdout.text())) {
        (Ending::Exited(0), Ok(Some(Reply::Accept { document, unseen }))) => {
            // The package looks keys up as the format document says, so it is held to that document.
            let Some(stated) = expected.stated() else { return crashed("nothing to compare with".to_owned()) };
            match first_difference(stated, &document) {
                Some(place) => Sight::Differs { path: place.path, expected: place.expected, got: place.got },
                None if unseen.is_empty() => Sight::Agree,
                None => Sight::Unseen { paths: unseen },
            }
        }
        (Ending::Exited(0), Ok(Some(Reply::Refuse { message }))) => Sight::Refused { message },
        (Ending::Exited(0), Ok(Some(Reply::Opened))) => crashed("it did not show the document".to_owned()),
        (Ending::Exited(_), Ok(Some(Reply::Error { message }))) => crashed(message),
        (Ending::Exited(0), Err(reason)) => crashed(format!("unreadable reply: {reason}")),
        (ending, _) => crashed(describe(ending)),
    }
}
