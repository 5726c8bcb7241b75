//! The committed corpus on disk: `vectors/GROUP/ID.gguf` and `ID.json`, and `index.json`.

use std::fs;
use std::path::{Path, PathBuf};

use gguf_spec::profile::{Outcome, Profile};
use sha2::{Digest, Sha256};

use crate::build::Index;
use crate::vector::Vector;

/// A vector that was loaded, with its file.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The vector.
    pub vector: Vector,
    /// The group it is filed under: the name of its directory.
    pub group: String,
    /// The path of the `.gguf` file.
    pub path: PathBuf,
    /// The bytes of the file.
    pub bytes: Vec<u8>,
}

/// Why a corpus cannot be loaded.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// A file or directory cannot be read.
    #[error("{path}: cannot be read: {source}")]
    Read {
        /// Which.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A vector is not of the documented form.
    #[error("{path}: {reason}")]
    Form {
        /// Which.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// There are no vectors.
    #[error("{path}: no vectors here; run from the root of the repository or name the corpus with --corpus DIR")]
    Empty {
        /// Where they were looked for.
        path: PathBuf,
    },
}

/// Loads every vector below `corpus/vectors`, in the order of their ids.
///
/// # Errors
///
/// The first file that cannot be read, is not of the documented form, or does not have the stated
/// size and hash; or that there are none.
pub fn load(corpus: &Path) -> Result<Vec<Entry>, LoadError> {
    let vectors = corpus.join("vectors");
    let mut entries = Vec::new();
    for group in list(&vectors)? {
        if !group.is_dir() {
            continue;
        }
        let name = group.file_name().unwrap_or_default().to_string_lossy().into_owned();
        for path in list(&group)? {
            if path.extension().is_some_and(|ext| ext == "json") {
                entries.push(load_one(&path, &name)?);
            } else if path.extension().is_some_and(|ext| ext == "gguf") && !path.with_extension("json").exists() {
                let reason = "there is no .json beside it".to_owned();
                return Err(LoadError::Form { path, reason });
            }
        }
    }
    if entries.is_empty() {
        return Err(LoadError::Empty { path: vectors });
    }
    entries.sort_by(|a, b| a.vector.id.cmp(&b.vector.id));
    check_whole(corpus, &entries)?;
    Ok(entries)
}

/// Holds the vectors to the index, where there is one: a corpus that has lost a vector, has one twice
/// or in another group must not pass for the whole.
fn check_whole(corpus: &Path, entries: &[Entry]) -> Result<(), LoadError> {
    let path = corpus.join("index.json");
    let form = |reason: String| Err(LoadError::Form { path: path.clone(), reason });
    for pair in entries.windows(2) {
        if pair[0].vector.id == pair[1].vector.id {
            return form(format!("the vector {} is in {} and in {}", pair[0].vector.id, pair[0].group, pair[1].group));
        }
    }
    if !path.exists() {
        return Ok(());
    }
    let index: Index = match serde_json::from_slice(&read(&path)?) {
        Ok(index) => index,
        Err(e) => return form(format!("not an index: {e}")),
    };
    let mut listed: Vec<_> = index.vectors.iter().map(|line| (line.id.as_str(), line.group.as_str())).collect();
    listed.sort_unstable();
    let found: Vec<_> = entries.iter().map(|entry| (entry.vector.id.as_str(), entry.group.as_str())).collect();
    let differs = listed.iter().find(|line| found.binary_search(line).is_err());
    if let Some((id, group)) = differs {
        return form(format!("the vector {id} is listed in {group} and is not there; get the corpus again"));
    }
    if let Some((id, group)) = found.iter().find(|line| listed.binary_search(line).is_err()) {
        return form(format!("the vector {id} is in {group} and not in the index; `assay corpus build` writes both"));
    }
    Ok(())
}

fn load_one(json: &Path, group: &str) -> Result<Entry, LoadError> {
    let form = |reason: String| LoadError::Form { path: json.to_owned(), reason };
    let vector: Vector = serde_json::from_slice(&read(json)?).map_err(|e| form(e.to_string()))?;
    let path = json.with_extension("gguf");
    let bytes = read(&path)?;
    if json.file_stem().is_none_or(|stem| stem != vector.id.as_str()) {
        return Err(form(format!("the id {} is not the name of the file", vector.id)));
    }
    for profile in Profile::ALL {
        let known = vector.expect.get(&profile.id()).and_then(|e| Outcome::from_name(&e.outcome));
        if known.is_none() {
            return Err(form(format!("no outcome for {}", profile.id())));
        }
    }
    if bytes.len() as u64 != vector.size || sha256(&bytes) != vector.sha256 {
        return Err(form(format!("{} does not have the stated size and hash", path.display())));
    }
    Ok(Entry { vector, group: group.to_owned(), path, bytes })
}

/// The SHA-256 of some bytes, in hexadecimal.
#[must_use]
pub fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|b| format!("{b:02x}")).collect()
}

fn list(directory: &Path) -> Result<Vec<PathBuf>, LoadError> {
    let error = |source| LoadError::Read { path: directory.to_owned(), source };
    let mut paths = fs::read_dir(directory)
        .map_err(error)?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<Vec<_>, _>>()
        .map_err(error)?;
    paths.sort();
    Ok(paths)
}

fn read(path: &Path) -> Result<Vec<u8>, LoadError> {
    fs::read(path).map_err(|source| LoadError::Read { path: path.to_owned(), source })
}
