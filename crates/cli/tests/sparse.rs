//! A file far larger than the memory: its header is judged by reading and holding little more than the
//! header. A program of its own, because it measures what its process does.
#![cfg(target_os = "linux")]

use std::fs;
use std::time::Instant;

use clap::Parser as _;
use gguf_assay::check::{Args, check_file};
use gguf_spec::binary::encode;
use gguf_spec::generate::{Builder, pair, string_array, tensor};
use gguf_spec::rules::Stage;

#[derive(clap::Parser)]
struct Line {
    #[command(flatten)]
    check: Args,
}

/// A number of a file below `/proc/self`, in its unit.
fn of_process(file: &str, key: &str) -> u64 {
    let text = fs::read_to_string(format!("/proc/self/{file}")).expect("a file about this process");
    let line = text.lines().find_map(|line| line.strip_prefix(key)).expect("the line");
    line.split_whitespace().next().and_then(|number| number.parse().ok()).expect("a number")
}

#[test]
fn the_header_of_a_hundred_gigabytes_costs_what_the_header_costs() {
    const SIZE: u64 = 100 << 30;
    let room = tempfile::tempdir().expect("a directory");
    let path = room.path().join("sparse.gguf");
    let mut builder = Builder::new();
    let tokens: Vec<String> = (0..1000).map(|i| format!("token {i}")).collect();
    builder.set(pair("tokenizer.ggml.tokens", string_array(&tokens)));
    for i in 0..100 {
        builder.add(tensor(format!("blk.{i}.weight"), 0, &[1 << 14, 1 << 14]));
    }
    fs::write(&path, encode(&builder.finish())).expect("a file");
    let file = fs::OpenOptions::new().write(true).open(&path).expect("the file again");
    if file.set_len(SIZE).is_err() {
        return; // A file system that knows no sparse files.
    }
    let line = ["check", "--header-only", path.to_str().expect("UTF-8")];
    let args = Line::try_parse_from(line).unwrap_or_else(|error| panic!("{error}")).check;

    let (before, start) = (of_process("io", "rchar:"), Instant::now());
    let report = check_file(&path, &args, false).expect("a report");
    let (read, time) = (of_process("io", "rchar:") - before, start.elapsed());
    let peak = of_process("status", "VmHWM:") << 10;

    assert_eq!((report.counts(), report.until, report.size), ((0, 0), Stage::Layout, SIZE));
    assert_eq!(report.what.facts().map(|facts| facts.tensors), Some(100));
    assert!(read < 1_000_000, "{read} bytes were read");
    assert!(peak < 32 << 20, "{peak} bytes were resident");
    // Twenty milliseconds is what is wanted; a busy machine that does not optimise gets more.
    assert!(time.as_millis() < 500, "{time:?}");
}
