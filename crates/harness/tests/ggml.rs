//! Verification against the real ggml library, and against planted faults.
//!
//! Runs where `ASSAY_GGML_DIR` names the directory of ggml's base library; elsewhere every test is
//! ignored, and a line says so. With `ASSAY_PYTHON`, a Python that has the package `gguf`, the second
//! witness is tested too. The program starts itself again as the child that loads the library.

mod files;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use assay_corpus::store::{Entry, sha256};
use assay_corpus::vector::{Evidence, Expectation, Origin, Rules, Vector};
use assay_harness::child::Probe;
use assay_harness::history::{self, Outcome as Fate};
use assay_harness::probe::{self, Question, Reply};
use assay_harness::verify::{self, Difference, Error, Options, Report, Sight};
use assay_providers::ggml::Mode;
use gguf_spec::judge::judge;
use gguf_spec::profile::{Outcome, Profile};
use gguf_spec::rules::Checks;
use libtest_mimic::{Arguments, Failed, Trial};

const CHILD: &str = "__probe";

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    if arguments.first().is_some_and(|first| first == CHILD) {
        return child(&arguments[1..]);
    }
    let ggml = std::env::var_os("ASSAY_GGML_DIR").map(PathBuf::from);
    let python = std::env::var_os("ASSAY_PYTHON").map(PathBuf::from);
    if ggml.is_none() {
        println!("not run: ASSAY_GGML_DIR does not name the directory of ggml's base library");
    } else if python.is_none() {
        println!("not run: tests of the second witness; ASSAY_PYTHON names no Python with gguf 0.19.0");
    }
    let mut trials = Vec::new();
    let mut with_ggml = |name: &str, test: fn(&Path) -> Result<(), Failed>| {
        let ggml = ggml.clone();
        let ignored = ggml.is_none();
        trials.push(
            Trial::test(name, move || test(&ggml.ok_or("not run: ASSAY_GGML_DIR is not set")?))
                .with_ignored_flag(ignored),
        );
    };
    with_ggml("the_library_agrees_on_every_file", every_file_agrees);
    with_ggml("messages_of_the_library_come_back", messages_come_back);
    with_ggml("a_wrong_outcome_is_found", wrong_outcome);
    with_ggml("a_wrong_value_is_found_and_named", wrong_value);
    with_ggml("a_wrong_tensor_is_found_and_named", wrong_tensor);
    with_ggml("a_library_that_is_not_there_is_an_error", no_library);
    with_ggml("nothing_to_verify_is_an_error", nothing);
    with_ggml("evidence_is_what_was_seen", evidence);
    with_ggml("a_history_reads_every_file_in_a_fork", forks);
    with_ggml("a_child_that_says_nothing_is_not_an_agreement", silent_child);
    let ignored = ggml.is_none() || python.is_none();
    let test = move || {
        let missing = "not run: ASSAY_GGML_DIR and ASSAY_PYTHON are not both set";
        second_witness(&ggml.ok_or(missing)?, &python.ok_or(missing)?)
    };
    trials.push(Trial::test("the_second_witness_shows_what_ggml_cannot", test).with_ignored_flag(ignored));
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

/// The child: `--ggml DIR --mode MODE [--outcome-only [--each]] FILE..`, as the command line gives it.
fn child(arguments: &[OsString]) -> ExitCode {
    let [_, directory, _, mode, file @ ..] = arguments else { return ExitCode::from(2) };
    let directory = Path::new(directory);
    if let [outcome, each, files @ ..] = file
        && (outcome.as_os_str(), each.as_os_str()) == ("--outcome-only".as_ref(), "--each".as_ref())
    {
        let files: Vec<&Path> = files.iter().map(Path::new).collect();
        let mode = Mode::from_name(&mode.to_string_lossy()).expect("a mode");
        history::serve(directory, mode, &files, &mut std::io::stdout()).expect("somebody who reads");
        return ExitCode::SUCCESS;
    }
    let line = match (Mode::from_name(&mode.to_string_lossy()), file) {
        (Some(mode), [.., file]) => {
            let question = if arguments.iter().all(|argument| argument != "--outcome-only") {
                Question::Document
            } else {
                Question::Outcome
            };
            let told = probe::ggml(directory, mode, question, Path::new(file), &mut std::io::stdout());
            return if told.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE };
        }
        _ => match probe::about_ggml(directory) {
            Ok(about) => about.to_json(),
            Err(error) => Reply::Error { message: error.to_string() }.to_json(),
        },
    };
    println!("{line}");
    ExitCode::SUCCESS
}

/// Vectors made of files, whose expectations are what the specification says, in a directory that
/// lives as long as the value.
struct Corpus {
    entries: Vec<Entry>,
    _directory: tempfile::TempDir,
}

impl Corpus {
    fn new(files: impl IntoIterator<Item = (String, Vec<u8>)>) -> Self {
        let directory = tempfile::tempdir().expect("a directory for the files");
        let entries = files.into_iter().map(|(id, bytes)| {
            let path = directory.path().join(format!("{id}.gguf"));
            std::fs::write(&path, &bytes).expect("a place for the file");
            Entry { vector: vector(&id, &bytes), group: "test".to_owned(), path, bytes }
        });
        Self { entries: entries.collect(), _directory: directory }
    }

    /// Those of the files that have these ids.
    fn of(ids: &[&str]) -> Self {
        let all = files::all();
        for id in ids {
            assert!(all.iter().any(|(known, _)| known == id), "no file {id}");
        }
        Self::new(all.into_iter().filter(|(id, _)| ids.contains(&id.as_str())))
    }

    fn vector(&mut self, id: &str) -> &mut Vector {
        &mut self.entries.iter_mut().find(|entry| entry.vector.id == id).expect("a vector of this id").vector
    }

    fn verify(&self, ggml: &Path, python: Option<&Path>) -> Result<Report, Error> {
        let probe = Probe {
            program: std::env::current_exe().expect("the path of this program"),
            arguments: vec![OsString::from(CHILD)],
        };
        self.verify_with(ggml, python, &probe)
    }

    fn verify_with(&self, ggml: &Path, python: Option<&Path>, probe: &Probe) -> Result<Report, Error> {
        verify::verify(&self.entries, &Options { ggml, probe, python, jobs: 2, progress: &|_, _| {} })
    }
}

fn vector(id: &str, bytes: &[u8]) -> Vector {
    let judgement = judge(bytes, &Checks::all());
    let expect: BTreeMap<String, Expectation> = Profile::ALL
        .into_iter()
        .map(|profile| {
            let outcome = judgement.verdict(profile).outcome.name().to_owned();
            (profile.id(), Expectation { outcome, stage: None, rule: None })
        })
        .collect();
    Vector {
        id: id.to_owned(),
        purpose: "a test".to_owned(),
        class: judgement.class().name().to_owned(),
        rules: Rules::default(),
        flags: Vec::new(),
        expect,
        findings: Vec::new(),
        origin: Origin { kind: "rule".to_owned(), reference: None },
        evidence: Evidence::default(),
        size: bytes.len() as u64,
        sha256: sha256(bytes),
        document: judgement.document.map(|document| document.to_json()),
        document_ggml: judgement.ggml_document.map(|document| document.to_json()),
    }
}

fn shown(differences: &[Difference]) -> String {
    differences.iter().map(|difference| format!("\n{difference:?}")).collect()
}

fn every_file_agrees(ggml: &Path) -> Result<(), Failed> {
    let corpus = Corpus::new(files::all());
    let report = corpus.verify(ggml, None)?;
    if !report.agrees() {
        let faults = format!("{:?} {:?}{}", report.problems(), report.type_differences, shown(&report.differences));
        return Err(faults.into());
    }
    for tally in &report.profiles {
        assert_eq!(tally.runs, corpus.entries.len());
        assert!(tally.accept >= 20 && tally.refuse >= 20, "{tally:?}: the files do not tell the outcomes apart");
        assert_eq!(tally.accept + tally.refuse + tally.abort, tally.runs);
    }
    assert!(report.profiles[1].abort >= 3, "{:?}: the files do not tell the outcomes apart", report.profiles[1]);
    assert_eq!(report.evidence.len(), corpus.entries.len());
    Ok(())
}

/// One release alone: every outcome is the one that was seen in a process of its own, aborts too.
fn forks(ggml: &Path) -> Result<(), Failed> {
    let corpus = Corpus::new(files::all());
    let probe = Probe {
        program: std::env::current_exe().expect("the path of this program"),
        arguments: vec![OsString::from(CHILD)],
    };
    let releases = [ggml.to_owned()];
    let options = history::Options { releases: &releases, probe: &probe, jobs: 2, progress: &|_, _| {} };
    let seen = history::history(&corpus.entries, &options)?;
    assert_eq!(seen.unexpected, [""; 0]);
    assert_eq!(seen.runs, 2 * corpus.entries.len());
    let aborts = seen.rows.iter().filter(|row| row.outcomes == [Fate::Crash(6)]).count();
    assert!(aborts >= 3, "{aborts}: the files do not tell the outcomes apart");
    Ok(())
}

fn messages_come_back(ggml: &Path) -> Result<(), Failed> {
    let mut corpus = Corpus::of(&["version-4", "bytes-2-61"]);
    for id in ["version-4", "bytes-2-61"] {
        for profile in [Profile::GgmlHeader, Profile::GgmlData] {
            expect(corpus.vector(id), profile, Outcome::Accept);
        }
        let document = judge(&files::all()[0].1, &Checks::all()).document.expect("a document");
        corpus.vector(id).document = Some(document.to_json());
    }
    let report = corpus.verify(ggml, None)?;
    let message = |id: &str, profile: Profile| {
        let found = report.differences.iter().find(|d| d.id == id && d.profile == profile.id());
        found.map(|difference| (difference.got.clone(), difference.message.clone())).unwrap_or_default()
    };
    let (got, text) = message("version-4", Profile::GgmlHeader);
    assert!(got == "refuse" && text.contains("version 4"), "{got}: {text}");
    let (got, text) = message("bytes-2-61", Profile::GgmlData);
    assert!(got == "abort" && text.contains("GGML_ASSERT"), "{got}: {text}");
    Ok(())
}

fn expect(vector: &mut Vector, profile: Profile, outcome: Outcome) {
    let expectation = vector.expect.get_mut(&profile.id()).expect("an expectation");
    outcome.name().clone_into(&mut expectation.outcome);
}

fn wrong_outcome(ggml: &Path) -> Result<(), Failed> {
    let mut corpus = Corpus::of(&["one-tensor", "bool-2"]);
    expect(corpus.vector("bool-2"), Profile::GgmlData, Outcome::Refuse);
    let report = corpus.verify(ggml, None)?;
    let [difference] = &report.differences[..] else { return Err(shown(&report.differences).into()) };
    assert_eq!(
        (difference.id.as_str(), difference.profile.as_str(), &difference.path),
        ("bool-2", "ggml-data@0.25.1", &None)
    );
    assert_eq!((difference.expected.as_str(), difference.got.as_str()), ("refuse", "accept"));
    assert!(!report.agrees());
    assert!(report.evidence.contains_key("one-tensor") && !report.evidence.contains_key("bool-2"));
    Ok(())
}

fn wrong_value(ggml: &Path) -> Result<(), Failed> {
    let mut corpus = Corpus::of(&["every-array"]);
    let document = corpus.vector("every-array").document.as_mut().expect("a document");
    let pairs = document["metadata"].as_array().expect("pairs").iter();
    let i = pairs.clone().position(|pair| pair["items"] == "f64").expect("an array of f64");
    document["metadata"][i]["bits"][1] = "0x0000000000000001".into();
    let report = corpus.verify(ggml, None)?;
    let [header, data] = &report.differences[..] else { return Err(shown(&report.differences).into()) };
    for difference in [header, data] {
        let path = difference.path.as_deref().unwrap_or_default();
        assert!(path.starts_with(&format!("metadata[{i}].")) && path.ends_with("[1]"), "{path}");
    }
    Ok(())
}

fn wrong_tensor(ggml: &Path) -> Result<(), Failed> {
    for (member, value) in [("name", "u"), ("offset", "64"), ("ne", "9")] {
        let mut corpus = Corpus::of(&["one-tensor"]);
        let document = corpus.vector("one-tensor").document.as_mut().expect("a document");
        let tensor = &mut document["tensors"][0];
        if member == "ne" {
            tensor[member][0] = value.into();
        } else {
            tensor[member] = value.into();
        }
        let report = corpus.verify(ggml, None)?;
        let path = report.differences.first().and_then(|difference| difference.path.clone()).unwrap_or_default();
        assert!(path.starts_with(&format!("tensors[0].{member}")), "{member}: {path}");
        assert_eq!(report.differences.len(), 2, "{member}");
    }
    Ok(())
}

fn no_library(_: &Path) -> Result<(), Failed> {
    let directory = tempfile::tempdir()?;
    match Corpus::of(&["one-tensor"]).verify(directory.path(), None) {
        Err(Error::Library(message)) => {
            assert!(message.contains("cannot be loaded"), "{message}");
            Ok(())
        }
        other => Err(format!("{other:?}").into()),
    }
}

fn nothing(ggml: &Path) -> Result<(), Failed> {
    match Corpus::new([]).verify(ggml, None) {
        Err(Error::Nothing) => Ok(()),
        other => Err(format!("{other:?}").into()),
    }
}

fn evidence(ggml: &Path) -> Result<(), Failed> {
    let mut corpus = Corpus::of(&["one-tensor", "value-nul", "version-4", "bool-2", "alignment-nul"]);
    // A claim that ggml has read what its interface hides is not confirmed.
    corpus.vector("value-nul").evidence.document = Some("ggml 0.25.1".to_owned());
    let report = corpus.verify(ggml, None)?;
    let document = |id: &str| report.evidence.get(id).map(|claim| claim.document.clone());
    assert_eq!(document("one-tensor"), Some(Some("ggml 0.25.1".to_owned())));
    assert_eq!(document("value-nul"), Some(Some("derived".to_owned())));
    assert_eq!(document("bool-2"), Some(Some("derived".to_owned())));
    assert_eq!(document("alignment-nul"), Some(Some("derived".to_owned())));
    assert_eq!(document("version-4"), Some(None));
    assert_eq!(report.evidence["version-4"].outcome, "ggml 0.25.1 (header, data)");
    let unconfirmed: Vec<_> = report.unconfirmed.iter().map(|claim| claim.id.as_str()).collect();
    assert_eq!(unconfirmed, ["value-nul"]);
    assert!(report.agrees(), "claims are told apart from differences");
    Ok(())
}

fn silent_child(ggml: &Path) -> Result<(), Failed> {
    // Says what it is, and then nothing about any file.
    let script = format!(
        "case \"$*\" in *about*) exec '{}' {CHILD} \"$@\";; *) exit 0;; esac",
        std::env::current_exe()?.display()
    );
    if !cfg!(unix) {
        return Ok(());
    }
    let probe =
        Probe { program: PathBuf::from("/bin/sh"), arguments: ["-c", &script, "child"].map(OsString::from).to_vec() };
    let report = Corpus::of(&["one-tensor", "version-4"]).verify_with(ggml, None, &probe)?;
    assert_eq!(report.differences.len(), 4, "{}", shown(&report.differences));
    assert!(report.profiles.iter().all(|tally| tally.other == 2 && tally.accept == 0));
    Ok(())
}

fn second_witness(ggml: &Path, python: &Path) -> Result<(), Failed> {
    let seen = ["big-endian", "nested", "value-nul", "bool-2", "key-nul", "alignment-nul"];
    let refused = ["version-1", "alignment-24"];
    let ids: Vec<&str> = seen.iter().chain(&refused).copied().chain(["one-tensor", "version-4"]).collect();
    let mut corpus = Corpus::of(&ids);
    // Two false claims: of a vector that the package refuses, and of one whose document is changed.
    corpus.vector("alignment-24").evidence.document = Some("gguf 0.19.0".to_owned());
    let changed = corpus.vector("nested");
    changed.evidence.document = Some("gguf 0.19.0".to_owned());
    let document = changed.document.as_mut().expect("a document");
    document["metadata"][1]["value"][1]["value"][0] = "77".into();

    let report = corpus.verify(ggml, Some(python))?;
    let testimonies = report.witness.as_deref().unwrap_or_default();
    let mut asked: Vec<_> = testimonies.iter().map(|testimony| testimony.id.as_str()).collect();
    asked.sort_unstable();
    let mut expected: Vec<_> = seen.iter().chain(&["alignment-24"]).copied().collect();
    expected.sort_unstable();
    assert_eq!(asked, expected, "version 1 is accepted by no profile; the rest is shown by ggml");
    for testimony in testimonies {
        let right = match testimony.id.as_str() {
            "alignment-24" => matches!(testimony.sight, Sight::Refused { .. }),
            "nested" => {
                matches!(&testimony.sight, Sight::Differs { path, .. } if path == "metadata[1].value[1].value[0]")
            }
            _ => testimony.sight == Sight::Agree,
        };
        assert!(right, "{}: {}", testimony.id, testimony.sight);
    }
    let mut unconfirmed: Vec<_> = report.unconfirmed.iter().map(|claim| claim.id.as_str()).collect();
    unconfirmed.sort_unstable();
    assert_eq!(unconfirmed, ["alignment-24", "nested"]);
    assert_eq!(report.evidence["big-endian"].document.as_deref(), Some("gguf 0.19.0"));
    assert_eq!(report.evidence["alignment-24"].document.as_deref(), Some("derived"));
    Ok(())
}
