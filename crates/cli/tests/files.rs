//! Files that are read in parts: they are judged like files in memory, and what changes meanwhile is
//! noticed.

mod common;

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use gguf_assay::check::decide::{Decided, Table, decide, nothing_found};
use gguf_assay::check::{Args, check_input, choose};
use gguf_assay::dump::{Dump, all_spans, write_hex, write_tree};
use gguf_assay::facts::Facts;
use gguf_assay::input::{FileInput, Window, judge};
use gguf_assay::what::What;
use gguf_spec::binary::{Options, decode, encode};
use gguf_spec::field::Field;
use gguf_spec::generate::{Builder, pair, scalar, string, string_array, tensor};
use gguf_spec::input::Input;
use gguf_spec::judge::judge as judge_in_memory;
use gguf_spec::rules::{Checks, Stage};
use gguf_spec::types::ValueType;

/// A header of over two megabytes, so that it is read in several steps, and data behind it.
fn large() -> Vec<u8> {
    let tokens: Vec<String> = (0..120_000).map(|i| format!("token number {i}")).collect();
    let mut builder = Builder::new();
    builder.set(pair("tokenizer.ggml.tokens", string_array(&tokens)));
    builder.set(pair("x.Odd", string("a finding behind the first megabyte")));
    builder.add(tensor("weight", 0, &[1024]));
    encode(&builder.finish())
}

fn written(room: &Path, bytes: &[u8]) -> FileInput {
    let path = room.join("file.gguf");
    fs::write(&path, bytes).expect("a file");
    FileInput::open(&path).expect("the file again")
}

#[test]
fn a_large_header_is_judged_as_in_memory() {
    let room = tempfile::tempdir().expect("a directory");
    let bytes = large();
    let input = written(room.path(), &bytes);
    let judged = judge(&input, Window::default(), true).expect("a judgement");
    let expected = judge_in_memory(&bytes, &Checks::all());
    assert_eq!(judged.judgement.findings, expected.findings);
    assert_eq!(judged.judgement.verdicts, expected.verdicts);
    assert_eq!(judged.judgement.document, expected.document);
    assert!(!expected.findings.is_empty());
    assert!(judged.head.bytes.len() > 1 << 20);
}

#[test]
fn an_embedded_file_is_judged_where_it_starts() {
    let room = tempfile::tempdir().expect("a directory");
    let base = 3_000_000;
    let bytes = large();
    let input = written(room.path(), &[vec![0xAA; base], bytes.clone()].concat());
    let window = Window { base: base as u64, ..Window::default() };
    let judged = judge(&input, window, true).expect("a judgement");
    let alone = judge_in_memory(&bytes, &Checks::all());
    assert_eq!(judged.judgement.document, alone.document);
    let starts = |list: &[gguf_spec::field::Finding], base: u64| -> Vec<_> {
        list.iter().map(|finding| (finding.rule.id, finding.span.start + base)).collect()
    };
    assert_eq!(starts(&judged.judgement.findings, 0), starts(&alone.findings, base as u64));
    // What lies before is not read.
    assert!(judged.head.bytes[..base].iter().all(|&byte| byte == 0));
}

/// The padding reaches beyond what is read of the header.
#[test]
fn the_fields_tile_a_file_of_which_the_head_was_read() {
    let room = tempfile::tempdir().expect("a directory");
    let mut builder = Builder::new();
    builder.set(pair("general.alignment", scalar(ValueType::U32, 1 << 19)));
    builder.add(tensor("weight", 0, &[1024]));
    let bytes = encode(&builder.finish());
    let input = written(room.path(), &bytes);
    let window = Window { max_header: 4096, ..Window::default() };
    let judged = judge(&input, window, false).expect("a judgement");
    assert_eq!(judged.judgement.findings, []);
    assert_eq!(judged.head.bytes.len(), 4096);
    let spans = all_spans(&judged.head.decode(&Options::default()), input.len());
    assert!(spans.windows(2).all(|pair| pair[0].range.end == pair[1].range.start), "{spans:?}");
    assert_eq!(spans.iter().filter(|span| span.field == Field::Padding).count(), 1);
    assert_eq!(spans.last().map(|span| span.range.end), Some(input.len()));
}

#[test]
fn a_header_beyond_the_limit_is_refused() {
    let room = tempfile::tempdir().expect("a directory");
    let input = written(room.path(), &large());
    let window = Window { max_header: 1 << 20, ..Window::default() };
    let error = judge(&input, window, false).expect_err("a limit");
    assert!(error.contains("--max-header"), "{error}");
}

/// Whether the file ends behind the first bytes or goes on: the magic and header stages cannot tell.
#[test]
fn the_start_alone_is_judged_like_the_whole() {
    let room = tempfile::tempdir().expect("a directory");
    let of_start = |list: &[gguf_spec::field::Finding]| -> Vec<_> {
        list.iter().filter(|finding| finding.rule.stage <= Stage::Header).cloned().collect()
    };
    let mut wrong = 0;
    for entry in common::committed_corpus() {
        // Every file, also behind other bytes, and those that end inside the start or just behind it.
        for (len, base) in [(usize::MAX, 0), (usize::MAX, 7), (5, 0), (23, 7), (25, 0)] {
            let bytes = &entry.bytes[..len.min(entry.bytes.len())];
            if base > 0 && bytes.is_empty() {
                continue;
            }
            let input = written(room.path(), &[&[0xEE; 7][..base], bytes].concat());
            let whole = Window { base: base as u64, ..Window::default() };
            let start = judge(&input, Window { start_only: true, ..whole }, false).expect("a judgement");
            let whole = judge(&input, whole, false).expect("a judgement");
            let expected = of_start(&whole.judgement.findings);
            assert_eq!(of_start(&start.judgement.findings), expected, "{}", entry.vector.id);
            wrong += usize::from(!expected.is_empty());
        }
    }
    assert!(wrong > 100, "{wrong}");
}

/// A header of any size and any number of pairs costs nothing if it is not asked for.
#[test]
fn of_a_sparse_file_the_start_is_judged_at_once() {
    let room = tempfile::tempdir().expect("a directory");
    let mut bytes = b"GGUF\x03\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x01\0\0\0\0".to_vec();
    bytes.extend_from_slice(&(1u64 << 36).to_le_bytes());
    let path = room.path().join("file.gguf");
    fs::write(&path, &bytes).expect("a file");
    let file = fs::OpenOptions::new().write(true).open(&path).expect("the file again");
    if file.set_len(100 << 30).is_err() {
        return; // A file system that knows no sparse files.
    }
    let input = FileInput::open(&path).expect("the file again");
    let judged = judge(&input, Window { start_only: true, ..Window::default() }, false).expect("a judgement");
    assert_eq!(judged.head.bytes.len(), 24);
    let line = What::of(&judged.head, &judged.head.decode(&Options::default())).line(0, input.len());
    assert!(line.contains("16,777,216 pairs declared, 0 tensors declared, 107,374,182,400 bytes"), "{line}");
}

/// What a system makes up when it is read has no size.
#[cfg(target_os = "linux")]
#[test]
fn a_file_that_hides_its_size_is_not_taken_for_empty() {
    let error = FileInput::open(Path::new("/proc/version")).expect_err("no size");
    assert!(error.contains("its size is not known"), "{error}");
}

#[test]
fn there_is_no_byte_at_the_end() {
    let room = tempfile::tempdir().expect("a directory");
    let input = written(room.path(), b"G");
    let at = |base| judge(&input, Window { base, ..Window::default() }, false);
    assert_eq!(at(1).expect_err("no byte"), "there is no byte 1 in it: it has 1 byte");
    at(0).expect("a judgement");
    let empty = written(room.path(), b"");
    judge(&empty, Window::default(), false).expect("a judgement of an empty file");
}

/// A length that the size of a sparse file seems to allow costs no memory.
#[test]
fn a_sparse_file_does_not_fill_the_memory() {
    let room = tempfile::tempdir().expect("a directory");
    let mut bytes = b"GGUF\x03\0\0\0\0\0\0\0\0\0\0\0\x01\0\0\0\0\0\0\0".to_vec();
    bytes.extend_from_slice(&(1u64 << 39).to_le_bytes());
    let path = room.path().join("file.gguf");
    fs::write(&path, &bytes).expect("a file");
    let file = fs::OpenOptions::new().write(true).open(&path).expect("the file again");
    if file.set_len(1 << 40).is_err() {
        return; // A file system that knows no sparse files.
    }
    let input = FileInput::open(&path).expect("the file again");
    let error = judge(&input, Window::default(), false).expect_err("a limit");
    assert!(error.contains("at least 549755813920"), "{error}");
}

#[test]
fn a_file_that_shrinks_is_noticed() {
    let room = tempfile::tempdir().expect("a directory");
    let bytes = large();
    let input = written(room.path(), &bytes);
    let file = fs::OpenOptions::new().write(true).open(room.path().join("file.gguf")).expect("the file again");

    file.set_len(1000).expect("a shorter file");
    let error = judge(&input, Window::default(), false).expect_err("the header is gone");
    assert!(error.contains("it ends at byte 1000 now"), "{error}");

    // The header is there, and of the data the part where padding is looked at is not.
    fs::write(room.path().join("file.gguf"), &bytes).expect("the file as it was");
    assert_eq!(input.bytes(0..4).as_deref(), Some(&b"GGUF"[..]));
    file.set_len(bytes.len() as u64 - 5000).expect("a shorter file");
    assert_eq!(input.bytes(input.len() - 8..input.len()), None);
    let fault = input.fault().expect("a fault");
    assert!(fault.contains(&format!("reading at byte {} failed", input.len() - 8)), "{fault}");
}

fn args(line: &[&str]) -> Args {
    #[derive(clap::Parser)]
    struct Line {
        #[command(flatten)]
        check: Args,
    }
    let line = ["check"].iter().chain(line).chain(&["file.gguf"]);
    <Line as clap::Parser>::try_parse_from(line).unwrap_or_else(|error| panic!("{error}")).check
}

/// Wherever the file is cut after it was opened, in its header, in its data or in both at once.
#[test]
fn a_file_that_shrinks_while_it_is_checked_is_a_finding() {
    let room = tempfile::tempdir().expect("a directory");
    let path = room.path().join("file.gguf");
    let bytes = common::fixture("quantized");
    for len in [0, 3, 24, 100, bytes.len() - 200, bytes.len() - 1] {
        let input = written(room.path(), &bytes);
        fs::OpenOptions::new().write(true).open(&path).expect("the file again").set_len(len as u64).expect("a cut");
        let report = check_input(&input, &path, &args(&[]), false).expect("a report");
        let ids: Vec<_> = report.judgement.findings.iter().map(|finding| finding.rule.id).collect();
        let shrunk = report.judgement.findings.iter().find(|finding| finding.rule.id == "scan.shrunk");
        let shrunk = shrunk.unwrap_or_else(|| panic!("cut to {len}: {ids:?}"));
        assert_eq!(shrunk.span, len as u64..bytes.len() as u64);
        assert_eq!(report.exit(false).code(), 1);
    }
    // The header alone is there, and nobody looks at the rest.
    let input = written(room.path(), &bytes);
    fs::OpenOptions::new().write(true).open(&path).expect("the file again").set_len(600).expect("a cut");
    let report = check_input(&input, &path, &args(&["--header-only"]), false);
    assert!(report.is_ok() || bytes.len() < 600, "{report:?}");
}

/// The fast reader and the specification tell the same of a file in which nothing is wrong.
#[test]
fn facts_and_places_do_not_depend_on_who_read_the_file() {
    let room = tempfile::tempdir().expect("a directory");
    let mut fine = 0;
    for entry in common::committed_corpus() {
        for base in [0, 40] {
            let input = written(room.path(), &[&[0xEE; 40][..base], &entry.bytes].concat());
            let window = Window { base: base as u64, ..Window::default() };
            let Ok(Decided::Fine(decided)) = decide(&input, window, Stage::Semantics) else { continue };
            fine += 1;
            let judged = judge(&input, window, false).expect("a judgement");
            assert_eq!(judged.judgement.findings, [], "{}", entry.vector.id);
            assert_eq!(judged.judgement.verdicts, nothing_found().verdicts);
            let decoded = judged.head.decode(&Options::default());
            assert_eq!(Facts::of(&decoded), Some(decided.facts), "{}", entry.vector.id);
            if decoded.tree.as_ref().is_some_and(|tree| !tree.tensors.is_empty()) {
                assert_eq!(Table::of_decoded(&decoded), decided.table, "{}", entry.vector.id);
            }
        }
    }
    assert!(fine > 200, "{fine}");
}

/// A file of which every field is wrong takes time in proportion to its size: seconds. Looking through
/// all findings for every pair would be 2 * 10^10 steps.
#[test]
fn many_findings_take_linear_time() {
    let mut builder = Builder::new();
    builder.metadata.extend((0..100_000).map(|i| pair(format!("Key {i}"), scalar(ValueType::Bool, 2))));
    let bytes = encode(&builder.finish());
    let start = Instant::now();
    let judgement = judge_in_memory(&bytes, &Checks::all());
    let pairs = judgement.findings.iter().filter(|finding| matches!(finding.field, Field::Kv(..))).count();
    assert!(pairs >= 2_000, "{pairs}");
    let decoded = decode(&bytes);
    let input = bytes.as_slice();
    let dump = Dump { decoded: &decoded, input: &input, findings: &judgement.findings, full: true };
    write_tree(&mut std::io::sink(), &dump).expect("a tree");
    write_hex(&mut std::io::sink(), &dump).expect("a dump");
    assert_eq!(choose(&judgement.findings, 20).len(), 20);
    assert!(start.elapsed() < Duration::from_secs(60), "{:?}", start.elapsed());
}
