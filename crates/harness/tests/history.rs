//! What a history makes of what its children say; the children are played by a shell.
#![cfg(unix)]

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use assay_corpus::store::{Entry, load};
use assay_harness::child::Probe;
use assay_harness::history::{Change, Error, History, Options, Outcome, RELEASE_FILE, history};

/// A child that shows files of the directory it is given: `about`, and `answers` in any mode. It has no
/// programs: the path of the children is empty.
const CHILD: &str = r#"case "$*" in *about*) file=about ;; *) file=answers ;; esac
while read -r line; do echo "$line"; done <"$2/$file""#;

/// A directory with releases, which lives as long as the value.
struct Releases {
    root: tempfile::TempDir,
    directories: Vec<PathBuf>,
}

impl Releases {
    fn new() -> Self {
        Self { root: tempfile::tempdir().expect("a directory"), directories: Vec::new() }
    }

    fn release(mut self, name: &str, version: &str, answers: &str) -> Self {
        let directory = self.root.path().join(name);
        fs::create_dir(&directory).expect("a directory");
        let write = |file: &str, text: &str| fs::write(directory.join(file), text).expect("a file");
        write("about", &format!("{{\"version\": \"{version}\", \"types\": []}}\n"));
        write("answers", answers);
        self.directories.push(directory);
        self
    }

    fn note(self, text: &str) -> Self {
        let newest = self.directories.last().expect("a release");
        fs::write(newest.join(RELEASE_FILE), text).expect("a file");
        self
    }

    fn history(&self, entries: &[Entry]) -> Result<History, Error> {
        let probe = Probe { program: "/bin/sh".into(), arguments: ["-c", CHILD, "child"].map(OsString::from).to_vec() };
        history(entries, &Options { releases: &self.directories, probe: &probe, jobs: 2, progress: &|_, _| {} })
    }
}

const ACCEPT: &str = "{\"outcome\": \"accept\"}\n";
const REFUSE: &str = "{\"outcome\": \"refuse\"}\n";
const CRASH: &str = "{\"outcome\": \"signal\", \"signal\": 11}\n";
const HANG: &str = "{\"outcome\": \"hang\"}\n";

/// Two vectors of the corpus: one that ggml accepts, one that it refuses.
fn two() -> Vec<Entry> {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus");
    let mut entries = load(&corpus).expect("the corpus");
    entries
        .retain(|entry| ["align-power-of-two-kept", "align-power-of-two-broken"].contains(&entry.vector.id.as_str()));
    entries.sort_by_key(|entry| std::cmp::Reverse(entry.vector.id.clone()));
    assert_eq!(entries.len(), 2);
    entries
}

#[test]
fn changes_are_told_by_release() {
    let releases = Releases::new()
        .release("one", "", &[ACCEPT, CRASH].concat())
        .note(r#"{"release": "b1", "package": "p@1"}"#)
        .release("two", "", &[ACCEPT, HANG].concat())
        .release("three", "0.9.9", &[ACCEPT, REFUSE].concat());
    let seen = releases.history(&two()).expect("a history");
    let names: Vec<_> = seen.releases.iter().map(|release| release.name.as_str()).collect();
    assert_eq!(names, ["b1", "two", "0.9.9"], "named by the note, the directory, the library");
    assert_eq!((seen.vectors, seen.runs), (2, 12));
    let told: Vec<_> = seen.rows.iter().map(|row| (row.mode, row.change(), row.story(&names))).collect();
    assert_eq!(
        told,
        [
            (None, Change::None, "accepted by all".to_owned()),
            (None, Change::Crashed, "segmentation fault up to b1, hang in two, refused since 0.9.9".to_owned()),
        ]
    );
    assert!(seen.unexpected.is_empty());
}

#[test]
fn the_release_that_the_corpus_speaks_of_is_held_to_it() {
    let right = Releases::new().release("now", "0.25.1", &[ACCEPT, REFUSE].concat());
    assert!(right.history(&two()).expect("a history").unexpected.is_empty());
    let wrong = Releases::new().release("now", "0.25.1", &[ACCEPT, ACCEPT].concat());
    let seen = wrong.history(&two()).expect("a history");
    assert_eq!(
        seen.unexpected,
        ["header", "data"].map(|mode| format!("align-power-of-two-broken, {mode}: refuse expected, accepted"))
    );
}

#[test]
fn a_child_that_says_too_little_has_not_run() {
    let releases = Releases::new().release("one", "0.25.1", ACCEPT);
    let seen = releases.history(&two()).expect("a history");
    assert!(matches!(seen.rows[1].outcomes[..], [Outcome::NotRun(_)]), "{:?}", seen.rows);
    assert_eq!(seen.unexpected.len(), 2, "what was not run is not as the corpus says");
}

#[test]
fn what_cannot_be_run_is_an_error() {
    assert!(matches!(Releases::new().history(&two()), Err(Error::Nothing("release"))));
    assert!(matches!(Releases::new().release("one", "1", ACCEPT).history(&[]), Err(Error::Nothing("vector"))));
    let twice = Releases::new().release("one", "1", ACCEPT).release("two", "1", ACCEPT);
    assert!(matches!(twice.history(&two()), Err(Error::Twice(name)) if name == "1"));
    let mute = Releases::new().release("one", "1", ACCEPT);
    fs::write(mute.directories[0].join("about"), "").expect("a file");
    assert!(matches!(mute.history(&two()), Err(Error::Library(message)) if message.contains("one")));
}
