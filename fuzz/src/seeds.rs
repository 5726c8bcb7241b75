//! What targets start from: the vectors of the corpus that are small, answers made of their documents, and blocks
//! of every tensor type.
//!
//! `fuzz/seeds.json` lists them with their hashes, so that a change of the corpus that changes what fuzzing
//! starts from is seen. The files themselves are not stored twice: `prepare` writes them.

mod blocks;

use std::io;
use std::path::Path;

use assay_corpus::store::{Entry, sha256};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::{Kind, Target, targets};

/// Larger vectors are no seeds: libFuzzer is the faster the smaller its files are.
pub const MOST_BYTES: usize = 4096;

/// Documents whose text is longer are not made answers of.
const MOST_ANSWER: usize = 1024;

/// One seed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Line {
    /// The id of the vector it is, or is made of; of blocks, their type and what they are.
    pub id: String,
    /// Its size in bytes.
    pub size: usize,
    /// Its SHA-256.
    pub sha256: String,
}

/// `fuzz/seeds.json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// Where the bytes come from.
    pub source: String,
    /// The targets that start from files.
    pub file_targets: Vec<String>,
    /// Those that start from answers.
    pub answer_targets: Vec<String>,
    /// Those that start from blocks.
    pub block_targets: Vec<String>,
    /// Those that start from operands of products.
    pub product_targets: Vec<String>,
    /// The median size of the files, in bytes.
    pub median: usize,
    /// The vectors.
    pub files: Vec<Line>,
    /// The answers, by the vector whose document they hold.
    pub answers: Vec<Line>,
    /// The blocks.
    pub blocks: Vec<Line>,
    /// The operands of products.
    pub products: Vec<Line>,
}

/// A seed with its bytes.
pub type Seed = (String, Vec<u8>);

/// The files that targets start from, but for vectors that exercise one of these rules.
#[must_use]
fn files(entries: &[Entry], without: &[String]) -> Vec<Seed> {
    let exercises = |entry: &Entry| {
        let rules = &entry.vector.rules;
        rules.breaks.iter().chain(&rules.keeps).any(|rule| without.contains(rule))
    };
    let small = entries.iter().filter(|entry| entry.bytes.len() <= MOST_BYTES && !exercises(entry));
    small.map(|entry| (entry.vector.id.clone(), entry.bytes.clone())).collect()
}

/// What an adapter writes about the vectors: that it has started, and what it reads.
#[must_use]
fn answers(entries: &[Entry]) -> Vec<Seed> {
    let started = json!({
        "seq": 0, "result": "started", "protocol": 1, "name": "seed", "version": "1", "language": "Rust",
        "capabilities": ["parse", "roundtrip"], "last_stage": "data", "versions": [2, 3],
        "byte_orders": ["little"], "tensor_types": ["F32", "Q4_0"], "omits": ["offset"],
    });
    let others = [
        json!({"seq": 2, "result": "rejected", "message": "no", "incidental": true}),
        json!({"seq": 3, "result": "skipped", "reason": "too large"}),
        json!({"seq": 4, "result": "written"}),
        json!({"seq": 5, "result": "stopped"}),
    ];
    let others: Vec<String> = others.iter().map(ToString::to_string).collect();
    let documents = entries.iter().filter_map(|entry| Some((entry, entry.vector.document.as_ref()?)));
    let answer = documents.filter_map(|(entry, document)| {
        let answer = json!({"seq": 1, "result": "accepted", "document": document, "omits": ["metadata[0].value"]});
        let text = answer.to_string();
        let lines = [&[started.to_string(), text][..], &others].concat();
        (lines[1].len() <= MOST_ANSWER).then(|| (entry.vector.id.clone(), lines.join("\n").into_bytes()))
    });
    answer.collect()
}

/// What targets of a kind start from, but for vectors that exercise one of these rules.
#[must_use]
pub fn of(kind: Kind, entries: &[Entry], without: &[String]) -> Vec<Seed> {
    match kind {
        Kind::File => files(entries, without),
        Kind::Lines => answers(entries),
        Kind::Blocks | Kind::Products => blocks::all(kind),
    }
}

/// What is listed of the seeds.
#[must_use]
pub fn manifest(entries: &[Entry]) -> Manifest {
    let line = |(id, bytes): &Seed| Line { id: id.clone(), size: bytes.len(), sha256: sha256(bytes) };
    let names = |kind| targets::ALL.iter().filter(|target| target.kind == kind).map(|t| t.name.to_owned()).collect();
    let lines = |kind| -> Vec<Line> { of(kind, entries, &[]).iter().map(line).collect() };
    let files = lines(Kind::File);
    let mut sizes: Vec<usize> = files.iter().map(|line| line.size).collect();
    sizes.sort_unstable();
    Manifest {
        source: format!(
            "the vectors of `corpus` of at most {MOST_BYTES} bytes; answers hold their documents; the tables of tensor types"
        ),
        file_targets: names(Kind::File),
        answer_targets: names(Kind::Lines),
        block_targets: names(Kind::Blocks),
        product_targets: names(Kind::Products),
        median: sizes.get(sizes.len() / 2).copied().unwrap_or(0),
        files,
        answers: lines(Kind::Lines),
        blocks: lines(Kind::Blocks),
        products: lines(Kind::Products),
    }
}

/// Writes the seeds of a target into a folder, which is made.
///
/// # Errors
///
/// If a file cannot be written.
pub fn write(target: &Target, entries: &[Entry], without: &[String], folder: &Path) -> io::Result<usize> {
    std::fs::create_dir_all(folder)?;
    let seeds = of(target.kind, entries, without);
    let extension = match target.kind {
        Kind::File => "gguf",
        Kind::Lines => "jsonl",
        Kind::Blocks | Kind::Products => "bin",
    };
    for (id, bytes) in &seeds {
        std::fs::write(folder.join(format!("{id}.{extension}")), bytes)?;
    }
    Ok(seeds.len())
}
