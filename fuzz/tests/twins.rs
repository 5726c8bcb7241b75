//! The fuzz targets as seeded tests, for every build: the seeds, what was found before, and many files
//! drawn from a number.
//!
//! `ASSAY_SEED` and `ASSAY_CASES` choose the files, and a failure says which to set.

#[path = "../../crates/oracles/tests/support/seed.rs"]
#[allow(dead_code, reason = "each test uses some of it")]
mod seed;

use std::path::{Path, PathBuf};

use assay_corpus::store::{Entry, load};
use assay_fuzz::mutation::{crossed, mutated};
use assay_fuzz::statistics::Statistics;
use assay_fuzz::{Kind, Target, dictionary, operands, seeds, targets};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn entries() -> Vec<Entry> {
    match load(&root().join("corpus")) {
        Ok(entries) => entries,
        Err(error) => panic!("{error}"),
    }
}

/// The files of a chain of mutations from the seeds: each number has a start and a length of its own.
fn drawn(target: &Target, start: &[seeds::Seed], number: u64) -> Vec<u8> {
    let mut rng = ChaCha8Rng::seed_from_u64(number);
    let mut pick = || start[rng.random_range(0..start.len())].1.clone();
    let (mut bytes, other) = (pick(), pick());
    for _ in 0..rng.random_range(1..6) {
        let step = rng.random();
        let next = match target.kind {
            Kind::Lines => None,
            kind if rng.random_bool(0.1) => crossed(kind, &bytes, &other, seeds::MOST_BYTES, step),
            kind => mutated(kind, &bytes, seeds::MOST_BYTES, step),
        };
        bytes = match next {
            Some(next) => next,
            None => damaged(bytes, &other, &mut rng),
        };
    }
    bytes
}

/// A byte, a cut, or a piece of another.
fn damaged(mut bytes: Vec<u8>, other: &[u8], rng: &mut ChaCha8Rng) -> Vec<u8> {
    if bytes.is_empty() {
        return other.to_vec();
    }
    let at = rng.random_range(0..bytes.len());
    match rng.random_range(0..4) {
        0 => bytes[at] = rng.random(),
        1 => bytes[at] = b"0123456789{}[]\",:-.eE\\\n"[rng.random_range(0..23)],
        2 => bytes.truncate(at),
        _ => {
            let from = rng.random_range(0..other.len());
            let to = rng.random_range(from..other.len());
            bytes.splice(at..at, other[from..to].iter().copied());
        }
    }
    bytes
}

fn twin(target: &Target, usual: u64) {
    let entries = entries();
    let start = seeds::of(target.kind, &entries, &[]);
    assert!(start.len() > 100, "{} seeds", start.len());
    for (id, bytes) in &start {
        if let Err(reason) = (target.run)(bytes) {
            panic!("{}: the seed {id}: {reason}", target.name);
        }
    }
    let all = seed::each(usual, |number| (target.run)(&drawn(target, &start, number)).map(drop));
    if let Err(reason) = all {
        panic!("{}: {reason}", target.name);
    }
}

#[test]
fn parse() {
    twin(&targets::parse::TARGET, 40_000);
}

#[test]
fn roundtrip() {
    twin(&targets::roundtrip::TARGET, 3_000);
}

#[test]
fn mutate() {
    twin(&targets::mutate::TARGET, 10_000);
}

#[test]
fn differential() {
    twin(&targets::differential::TARGET, 1_000);
}

/// The same with ggml, which is asked through the program of this target.
#[cfg(all(feature = "ggml", target_os = "linux"))]
#[test]
#[ignore = "needs ASSAY_GGML_DIR"]
fn differential_with_ggml() {
    let entries = entries();
    let start = seeds::of(Kind::File, &entries, &[]);
    assay_fuzz::ggml::use_program(env!("CARGO_BIN_EXE_differential").into());
    for number in seed::first()..seed::first() + seed::cases(2_000) {
        if let Err(reason) = (targets::differential::TARGET.run)(&drawn(&targets::differential::TARGET, &start, number))
        {
            panic!("differential: {reason}\n    again: ASSAY_SEED={number} ASSAY_CASES=1");
        }
    }
}

#[test]
fn inspect() {
    twin(&targets::inspect::TARGET, 600);
}

#[test]
fn adapter_protocol() {
    twin(&targets::adapter_protocol::TARGET, 10_000);
}

#[test]
fn dequantize() {
    twin(&targets::dequantize::TARGET, 3_000);
    is_judged(&targets::dequantize::TARGET, 300);
}

#[test]
fn matmul() {
    twin(&targets::matmul::TARGET, 300);
    is_judged(&targets::matmul::TARGET, 300);
}

/// At least a third of what is drawn says enough to be judged, of every type that has such a kernel.
fn is_judged(target: &Target, count: u64) {
    let start = seeds::of(target.kind, &[], &[]);
    let mut statistics = Statistics::new(target);
    for number in 0..count {
        let bytes = drawn(target, &start, number);
        statistics.note(bytes.len(), (target.run)(&bytes).unwrap_or_default());
    }
    assert!(statistics.accepted_percent() >= 34, "{statistics}");
    // Drawn from a number, so that this is no chance; Q8_1 and Q8_K have no products.
    assert!(statistics.types_reached() + 2 >= operands::types(), "{statistics}");
}

/// What fuzzing has found, and what was fixed since.
#[test]
fn regressions() {
    for target in targets::ALL {
        let folder = root().join("fuzz/regressions").join(target.name);
        let Ok(list) = std::fs::read_dir(&folder) else { continue };
        for file in list.filter_map(Result::ok).map(|file| file.path()) {
            let bytes = std::fs::read(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
            if let Err(reason) = (target.run)(&bytes) {
                panic!("{}: {reason}", file.display());
            }
        }
    }
}

#[test]
fn the_manifest_and_the_dictionary_are_those_of_the_corpus_and_the_tables() {
    let read = |name: &str| std::fs::read_to_string(root().join(name)).unwrap_or_default();
    let manifest: Option<seeds::Manifest> = serde_json::from_str(&read("fuzz/seeds.json")).ok();
    let again = "run `cargo run -p assay-fuzz --bin prepare -- --generated`";
    assert!(manifest == Some(seeds::manifest(&entries())), "fuzz/seeds.json is old: {again}");
    assert!(read("fuzz/gguf.dict") == dictionary::text(), "fuzz/gguf.dict is old: {again}");
}

/// The table of planted faults fits the source that it changes.
#[test]
fn planted_faults_can_be_planted() {
    match assay_fuzz::planted::Table::load(&root()) {
        Ok(table) => assert!(table.fault.len() >= 30, "{} faults", table.fault.len()),
        Err(wrong) => panic!("{wrong}"),
    }
}
