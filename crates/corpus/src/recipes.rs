//! Vectors too large to commit, made when needed: `assay corpus build --large DIR`.
//!
//! They are written in the form of the corpus, so that everything that reads the corpus reads them,
//! with one exception: a file of over 64 MiB has no document beside it.

use std::path::Path;

use gguf_spec::binary::encode;
use gguf_spec::generate::{Builder, array, fixed_array, keeping_large, large, pair, string, string_array};
use gguf_spec::rules::{Rule, metadata};
use gguf_spec::types::ValueType;

use crate::build::{BuildError, Report, put};
use crate::define::Definition;
use crate::vector::Origin;

/// The recipe of one large vector.
pub struct Recipe {
    /// The permanent id.
    pub id: &'static str,
    /// The one thing it is for.
    pub purpose: &'static str,
    /// The rules the file breaks.
    pub breaks: &'static [&'static Rule],
    /// The rules it just keeps.
    pub keeps: &'static [&'static Rule],
    /// Its flags.
    pub flags: &'static [&'static str],
    /// Where it comes from.
    reference: Option<&'static str>,
    /// Makes the bytes.
    make: fn() -> Vec<u8>,
}

/// Every recipe.
pub static RECIPES: &[Recipe] = &[
    Recipe {
        id: "kv-key-limit-broken",
        purpose: "A key of 2^30 + 1 bytes.",
        breaks: &[&metadata::KEY_LIMIT],
        keeps: &[],
        flags: &["huge-count"],
        reference: None,
        make: || beyond(&metadata::KEY_LIMIT),
    },
    Recipe {
        id: "kv-key-limit-kept",
        purpose: "A key of 2^30 bytes, the longest that ggml reads.",
        breaks: &[&metadata::KEY_LENGTH],
        keeps: &[&metadata::KEY_LIMIT],
        flags: &["huge-count"],
        reference: None,
        make: || within(&metadata::KEY_LIMIT),
    },
    Recipe {
        id: "kv-string-limit-broken",
        purpose: "A string of 2^30 + 1 bytes.",
        breaks: &[&metadata::STRING_LIMIT],
        keeps: &[],
        flags: &["huge-count"],
        reference: None,
        make: || beyond(&metadata::STRING_LIMIT),
    },
    Recipe {
        id: "kv-string-limit-kept",
        purpose: "A string of 2^30 bytes, the longest that ggml reads.",
        breaks: &[],
        keeps: &[&metadata::STRING_LIMIT],
        flags: &["huge-count"],
        reference: None,
        make: || within(&metadata::STRING_LIMIT),
    },
    Recipe {
        id: "kv-array-limit-broken",
        purpose: "An array of 2^30 + 1 bytes.",
        breaks: &[&metadata::ARRAY_LIMIT],
        keeps: &[],
        flags: &["huge-count"],
        reference: None,
        make: || beyond(&metadata::ARRAY_LIMIT),
    },
    Recipe {
        id: "kv-array-limit-kept",
        purpose: "An array of 2^30 bytes, the longest that ggml reads.",
        breaks: &[],
        keeps: &[&metadata::ARRAY_LIMIT],
        flags: &["huge-count"],
        reference: None,
        make: || within(&metadata::ARRAY_LIMIT),
    },
    Recipe {
        id: "large-vocabulary",
        purpose: "A header of over 8 MiB: 262,144 tokens with scores and types, and half a million merges.",
        breaks: &[],
        keeps: &[],
        flags: &["no-tensors", "well-formed"],
        reference: Some("Osmantic/ODS#5511, ollama/ollama#16175"),
        make: vocabulary,
    },
];

/// A file that breaks a limit.
fn beyond(rule: &Rule) -> Vec<u8> {
    large(rule).map(bytes_of).unwrap_or_default()
}

/// Its near miss.
fn within(rule: &Rule) -> Vec<u8> {
    keeping_large(rule).map(bytes_of).unwrap_or_default()
}

fn bytes_of(large: gguf_spec::generate::Large) -> Vec<u8> {
    let mut bytes = large.head;
    let count = usize::try_from(large.count).unwrap_or(usize::MAX);
    bytes.resize(bytes.len() + count, large.fill);
    bytes.extend(large.tail);
    bytes
}

fn vocabulary() -> Vec<u8> {
    const TOKENS: usize = 262_144;
    let tokens: Vec<String> = (0..TOKENS).map(|i| format!("▁t{i}")).collect();
    let merges: Vec<String> = (0..500_000).map(|i| format!("a{i} b{}", i % 977)).collect();
    let mut builder = Builder::new();
    builder
        .set(pair("tokenizer.ggml.model", string("llama")))
        .set(pair("tokenizer.ggml.tokens", string_array(&tokens)))
        .set(pair("tokenizer.ggml.scores", array(fixed_array(ValueType::F32, &vec![0xC000_0000; TOKENS]))))
        .set(pair("tokenizer.ggml.token_type", array(fixed_array(ValueType::I32, &vec![1; TOKENS]))))
        .set(pair("tokenizer.ggml.merges", string_array(&merges)));
    encode(&builder.finish())
}

impl Recipe {
    /// The definition, with its bytes: up to a gigabyte.
    #[must_use]
    pub fn definition(&self) -> Definition {
        let kind = if self.reference.is_some() { "bug" } else { "rule" };
        Definition {
            group: "large",
            id: self.id.to_owned(),
            purpose: self.purpose.to_owned(),
            bytes: (self.make)(),
            breaks: Some(self.breaks.to_vec()),
            keeps: self.keeps.to_vec(),
            flags: self.flags.to_vec(),
            origin: Origin { kind: kind.to_owned(), reference: self.reference.map(str::to_owned) },
        }
    }
}

/// Writes every large vector below `corpus/vectors/large`, one after another.
///
/// # Errors
///
/// A recipe that the specification contradicts, or a file that cannot be written.
pub fn write(corpus: &Path) -> Result<Report, BuildError> {
    let mut report = Report::default();
    for recipe in RECIPES {
        put(corpus, &recipe.definition(), &mut report)?;
    }
    Ok(report)
}
