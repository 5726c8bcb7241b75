//! Golden decodes: blocks of every tensor type, and the weights that programs of others make of them.
//!
//! `corpus/golden/decode/TYPE.json` describes two files beside it: `TYPE.blocks.gz`, the blocks one after the
//! other, and `TYPE.f32.gz`, their weights as little-endian `f32`. All are written by
//! `corpus/golden/decode.py`; nothing of this project computes a weight in them.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::ops::Range;
use std::path::{Path, PathBuf};

use gguf_spec::types::TensorType;
use serde::Deserialize;
use sha2::{Digest, Sha256};

use crate::store::LoadError;

/// What decoded the blocks.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Producer {
    /// `ggml`, `gguf` (the package for Python), or `derived` where neither decodes the type.
    pub name: String,
    /// Its version; of numpy, where it is derived.
    pub version: String,
    /// The shared library, where it is one.
    pub library: Option<String>,
    /// The SHA-256 of the library in hexadecimal.
    pub sha256: Option<String>,
    /// The function that was called, or what the derivation is.
    pub function: String,
}

/// Blocks that follow one another and are there for one purpose.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Group {
    /// A short name.
    pub name: String,
    /// What they are there for, as a phrase.
    pub purpose: String,
    /// The index of the first block.
    pub first: usize,
    /// How many.
    pub count: usize,
}

impl Group {
    /// The indices of the blocks.
    #[must_use]
    pub fn blocks(&self) -> Range<usize> {
        self.first..self.first + self.count
    }
}

/// A block of which two producers make different weights.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Dispute {
    /// The index of the block.
    pub block: usize,
    /// The weights in question, by their index in the block.
    pub weights: Vec<usize>,
    /// For each producer (name and version) the bits of these weights, as hexadecimal numbers.
    pub values: BTreeMap<String, Vec<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Content {
    bytes: usize,
    sha256: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct About {
    #[serde(rename = "type")]
    ty: String,
    type_id: u32,
    weights_per_block: u64,
    bytes_per_block: u64,
    blocks: usize,
    producers: Vec<Producer>,
    machine: String,
    #[expect(dead_code, reason = "for whoever reads the file")]
    command: String,
    #[expect(dead_code, reason = "for whoever reads the file")]
    seed: u64,
    files: BTreeMap<String, Content>,
    groups: Vec<Group>,
    disputes: Vec<Dispute>,
}

/// The golden decodes of one type.
#[derive(Clone, Debug)]
pub struct Golden {
    /// The type.
    pub ty: &'static TensorType,
    /// The blocks, one after the other.
    pub blocks: Vec<u8>,
    /// The weights as bits: those of the first producer, one NaN for all.
    pub values: Vec<u32>,
    /// What the blocks are there for, in their order; together they are all blocks.
    pub groups: Vec<Group>,
    /// Who decoded them; where there are two, they agree outside of the disputes.
    pub producers: Vec<Producer>,
    /// The system and the architecture on which that was.
    pub machine: String,
    /// Where they do not agree.
    pub disputes: Vec<Dispute>,
}

impl Golden {
    /// The path of the description of a type.
    #[must_use]
    pub fn path(corpus: &Path, ty: &TensorType) -> PathBuf {
        corpus.join("golden/decode").join(format!("{}.json", ty.name))
    }

    /// Loads the golden decodes of a type.
    ///
    /// # Errors
    ///
    /// If a file cannot be read, is not of the documented form, or does not have the stated size and hash.
    pub fn load(corpus: &Path, ty: &'static TensorType) -> Result<Self, LoadError> {
        let path = Self::path(corpus, ty);
        let text = fs::read(&path).map_err(|source| LoadError::Read { path: path.clone(), source })?;
        let form = |reason: String| LoadError::Form { path: path.clone(), reason };
        let about: About = serde_json::from_slice(&text).map_err(|error| form(error.to_string()))?;
        let stated = (about.ty.as_str(), about.type_id, about.weights_per_block, about.bytes_per_block);
        if stated != (ty.name, ty.id, ty.block, ty.bytes) {
            let expected = (ty.name, ty.id, ty.block, ty.bytes);
            return Err(form(format!("expected (type, id, weights, bytes) {expected:?}, found {stated:?}")));
        }
        let mut next = 0;
        for group in &about.groups {
            if group.first != next {
                return Err(form(format!(
                    "group {}: expected to start at block {next}, found {}",
                    group.name, group.first
                )));
            }
            next = next.saturating_add(group.count);
        }
        if next != about.blocks {
            return Err(form(format!("expected groups of {} blocks together, found {next}", about.blocks)));
        }
        let content = |suffix: &str, size: u64| {
            let name = format!("{}.{suffix}.gz", ty.name);
            let content = about.files.get(&name).ok_or_else(|| form(format!("files: expected {name}, found none")))?;
            let bytes = unpack(&path.with_file_name(name), content)?;
            let expected = usize::try_from(size).ok().and_then(|size| size.checked_mul(about.blocks));
            if expected == Some(bytes.len()) {
                Ok(bytes)
            } else {
                Err(form(format!(
                    "{suffix}: expected {size} bytes for each of {} blocks, found {}",
                    about.blocks,
                    bytes.len()
                )))
            }
        };
        let blocks = content("blocks", ty.bytes)?;
        let values = content("f32", 4 * ty.block)?;
        let values = values.as_chunks().0.iter().map(|&word| u32::from_le_bytes(word)).collect();
        let About { producers, machine, groups, disputes, .. } = about;
        Ok(Self { ty, blocks, values, groups, producers, machine, disputes })
    }

    /// Loads the golden decodes of every type that has a layout, in the order of their ids.
    ///
    /// # Errors
    ///
    /// Those of [`Golden::load`], for the first type that has any.
    pub fn load_all(corpus: &Path) -> Result<Vec<Self>, LoadError> {
        TensorType::live().map(|ty| Self::load(corpus, ty)).collect()
    }
}

/// The content of a compressed file, no longer than is stated.
fn unpack(path: &Path, stated: &Content) -> Result<Vec<u8>, LoadError> {
    let read = |source| LoadError::Read { path: path.to_owned(), source };
    let packed = fs::File::open(path).map_err(read)?;
    let mut bytes = Vec::new();
    let limit = u64::try_from(stated.bytes).unwrap_or(u64::MAX).saturating_add(1);
    flate2::read::GzDecoder::new(packed).take(limit).read_to_end(&mut bytes).map_err(read)?;
    let hash: String = Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    if (bytes.len(), &hash) == (stated.bytes, &stated.sha256) {
        Ok(bytes)
    } else {
        let reason = format!(
            "expected {} bytes with SHA-256 {}, found {} or more with {hash}: take the file from the repository again",
            stated.bytes,
            stated.sha256,
            bytes.len()
        );
        Err(LoadError::Form { path: path.to_owned(), reason })
    }
}
