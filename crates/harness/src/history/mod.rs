//! The corpus through many releases of ggml: what became of each file, and since when.
//!
//! Each file is read by each release twice, header only and with its data, each time in a process of
//! its own under the limits of the profiles: a fork of one that has loaded the library. Only the outcome is looked at: the functions that show a
//! document have changed from release to release, those that open a file have not.

mod batch;
mod outcome;
mod row;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use assay_corpus::store::Entry;
use assay_providers::ggml::Mode;
use serde_json::Value as Json;

use crate::child::Probe;
use crate::parallel::side_by_side;
use crate::sandbox::limits_enforced;
use crate::verify::{expected_ggml, profile_of};

pub use batch::serve;
pub use outcome::{LEGEND, Outcome, modes};
pub use row::{Change, Row, Window};

/// One release of ggml.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Release {
    /// What it is called: the build of llama.cpp it came with, or its version, or its directory.
    pub name: String,
    /// The version of ggml, where the library says it.
    pub version: Option<String>,
    /// The package it came in, where that is known.
    pub package: Option<String>,
    /// Where its base library is.
    pub directory: PathBuf,
}

/// What to run.
pub struct Options<'a> {
    /// The directories of the releases, oldest first.
    pub releases: &'a [PathBuf],
    /// The child that loads them.
    pub probe: &'a Probe,
    /// How many children run side by side.
    pub jobs: usize,
    /// Told now and then how many runs have ended, of how many.
    pub progress: &'a (dyn Fn(usize, usize) + Sync),
}

/// What became of the corpus.
#[derive(Clone, Debug)]
pub struct History {
    /// The releases, oldest first.
    pub releases: Vec<Release>,
    /// Whether the system enforces the limits the outcomes are stated under.
    pub limits_enforced: bool,
    /// How many vectors were read.
    pub vectors: usize,
    /// How often a file was read by a release in a mode.
    pub runs: usize,
    /// One row a vector, or two if the modes differ.
    pub rows: Vec<Row>,
    /// Where the release that the profiles speak of does something else than they say.
    pub unexpected: Vec<String>,
}

/// Why a history could not be made.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A library cannot be used.
    #[error("{0}")]
    Library(String),
    /// There was nothing to run.
    #[error("no {0}: nothing was run")]
    Nothing(&'static str),
    /// Two releases have one name.
    #[error("two of the directories hold the release {0}: name each release once, oldest first")]
    Twice(String),
}

/// Runs the corpus through the releases.
///
/// # Errors
///
/// [`Error`] if a library cannot be loaded, or there is nothing to run.
pub fn history(entries: &[Entry], options: &Options<'_>) -> Result<History, Error> {
    if entries.is_empty() {
        return Err(Error::Nothing("vector"));
    }
    if options.releases.is_empty() {
        return Err(Error::Nothing("release"));
    }
    let releases =
        options.releases.iter().map(|directory| about(directory, options.probe)).collect::<Result<Vec<_>, _>>()?;
    for (i, release) in releases.iter().enumerate() {
        if releases[..i].iter().any(|other| other.name == release.name) {
            return Err(Error::Twice(release.name.clone()));
        }
    }
    let files: Vec<&Path> = entries.iter().map(|entry| entry.path.as_path()).collect();
    let jobs: Vec<(&Release, Mode, &[&Path])> = releases
        .iter()
        .flat_map(|release| Mode::ALL.into_iter().map(move |mode| (release, mode)))
        .flat_map(|(release, mode)| files.chunks(batch::LONGEST).map(move |files| (release, mode, files)))
        .collect();
    let runs = releases.len() * entries.len() * Mode::ALL.len();
    let ended = AtomicUsize::new(0);
    let outcomes = side_by_side(options.jobs, &jobs, |&(release, mode, files)| {
        let outcomes = batch::ask(options.probe, &release.directory, mode, files);
        (options.progress)(ended.fetch_add(files.len(), Ordering::Relaxed) + files.len(), runs);
        outcomes
    });
    let outcomes: Vec<Outcome> = outcomes.into_iter().flatten().collect();
    // In the order of the jobs.
    let outcome = |release: usize, mode: Mode, entry: usize| {
        &outcomes[(release * Mode::ALL.len() + mode as usize) * entries.len() + entry]
    };
    let series = |mode, entry| (0..releases.len()).map(|release| outcome(release, mode, entry).clone()).collect();
    let rows = entries
        .iter()
        .enumerate()
        .flat_map(|(i, entry)| Row::of(&entry.vector.id, Mode::ALL.map(|mode| series(mode, i))));
    let rows: Vec<Row> = rows.collect();
    Ok(History {
        limits_enforced: limits_enforced(),
        vectors: entries.len(),
        runs,
        unexpected: unexpected(entries, &releases, outcome),
        releases,
        rows,
    })
}

/// Where the release of the profiles does not do what the corpus says.
fn unexpected<'o>(
    entries: &[Entry],
    releases: &[Release],
    outcome: impl Fn(usize, Mode, usize) -> &'o Outcome,
) -> Vec<String> {
    let Some(judged) = releases.iter().position(|release| release.version.as_deref() == Some(expected_ggml())) else {
        return Vec::new();
    };
    let mut list = Vec::new();
    for (i, entry) in entries.iter().enumerate() {
        for mode in Mode::ALL {
            let expected = entry.vector.outcome(profile_of(mode));
            let outcome = outcome(judged, mode, i);
            if !outcome.is(expected) {
                list.push(format!("{}, {}: {expected} expected, {}", entry.vector.id, mode.name(), outcome.describe()));
            }
        }
    }
    list
}

/// What a directory holds: the library says its version, and a `release.json` beside it may name it.
fn about(directory: &Path, probe: &Probe) -> Result<Release, Error> {
    let about = probe
        .about(directory, &["--outcome-only"])
        .map_err(|reason| Error::Library(format!("{}: {reason}", directory.display())))?;
    let version = Some(about.version).filter(|version| !version.is_empty());
    let note = std::fs::read(directory.join(RELEASE_FILE)).ok();
    let note: Json = note.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default();
    let noted = |name: &str| note[name].as_str().map(ToOwned::to_owned);
    let named = || directory.file_name().map(|name| name.to_string_lossy().into_owned());
    Ok(Release {
        name: noted("release").or_else(|| version.clone()).or_else(named).unwrap_or_else(|| "?".to_owned()),
        package: noted("package"),
        version,
        directory: directory.to_owned(),
    })
}

/// The file in a directory that names the release: `{"release": "b4234", "package": ".."}`.
pub const RELEASE_FILE: &str = "release.json";
