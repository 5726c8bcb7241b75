//! What people see, held still: the message of every rule, dumps, and the table of a run.

mod common;

use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use assay_corpus::store::load;
use gguf_assay::check::{Report, Times, choose, write_text};
use gguf_assay::dump::{Dump, write_hex, write_tree};
use gguf_assay::facts::Facts;
use gguf_assay::run::judge_all;
use gguf_assay::what::What;
use gguf_spec::binary::decode;
use gguf_spec::judge::judge;
use gguf_spec::rules::{Checks, Stage};

/// Writes with styles, and takes them out again.
fn plain(write: impl FnOnce(&mut dyn std::io::Write) -> std::io::Result<()>) -> String {
    let mut bytes = Vec::new();
    write(&mut bytes).expect("writing to memory");
    anstream::adapter::strip_bytes(&bytes).into_vec().try_into().expect("UTF-8")
}

/// One line for each finding of each vector that breaks a rule on purpose.
#[test]
fn messages_of_the_rules() {
    let mut text = String::new();
    for entry in common::committed_corpus().iter().filter(|entry| entry.group == "rules") {
        for finding in judge(&entry.bytes, &Checks::all()).findings {
            let _ = writeln!(text, "{}: {} {finding}", entry.vector.id, finding.severity().name());
        }
    }
    insta::assert_snapshot!(text);
}

fn dumped(fixture: &str, write: fn(&mut dyn std::io::Write, &Dump<'_>) -> std::io::Result<()>) -> String {
    let bytes = common::fixture(fixture);
    let (decoded, judgement) = (decode(&bytes), judge(&bytes, &Checks::all()));
    let input = bytes.as_slice();
    plain(|out| write(out, &Dump { decoded: &decoded, input: &input, findings: &judgement.findings, full: false }))
}

#[test]
fn hex_of_every_type() {
    insta::assert_snapshot!(dumped("types", write_hex));
}

#[test]
fn hex_of_a_file_without_its_data() {
    insta::assert_snapshot!(dumped("no-data", write_hex));
}

#[test]
fn hex_of_a_big_endian_file() {
    insta::assert_snapshot!(dumped("big-endian", write_hex));
}

#[test]
fn tree_of_a_file_without_its_data() {
    insta::assert_snapshot!(dumped("no-data", write_tree));
}

#[test]
fn report_of_a_file() {
    let bytes = common::fixture("types");
    let facts = Facts::of(&decode(&bytes)).expect("a header");
    let judgement = judge(&bytes, &Checks::all());
    let report = Report {
        size: bytes.len() as u64,
        base: 0,
        what: What::Gguf(facts),
        shown: choose(&judgement.findings, 20).into_iter().map(|i| (i, None)).collect(),
        judgement,
        until: Stage::Semantics,
        sha256: None,
        tensors: None,
        scanned: None,
        times: Times { read: Duration::from_micros(12), judge: Duration::from_millis(3), hash: None },
    };
    insta::assert_snapshot!(plain(|out| write_text(out, Path::new("types.gguf"), &report)));
}

#[test]
fn table_of_a_run() {
    let room = tempfile::tempdir().expect("a directory");
    // Paths are part of the table, so the corpus must be at the same place wherever this runs.
    common::write_wrong_corpus(room.path());
    let mut entries = load(room.path()).expect("the corpus");
    for entry in &mut entries {
        entry.path = Path::new("corpus").join(entry.path.file_name().unwrap_or_default());
    }
    let mut outcome = judge_all(&entries);
    outcome.time = Duration::from_millis(42);
    insta::assert_snapshot!(plain(|out| outcome.write(out)).replace('\\', "/"));
}
