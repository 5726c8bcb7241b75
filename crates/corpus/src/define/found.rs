//! Files that generated input brought up, each in a file of its own below `corpus/found`: what its definition
//! says of it, and its bytes.
//!
//! `assay corpus promote` writes such a file from a finding. It is read when the corpus is built and held to
//! the specification like any other definition.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use gguf_spec::rules::{Rule, find};
use serde::{Deserialize, Serialize};

use super::Definition;
use crate::build::BuildError;
use crate::flags::FLAGS;
use crate::vector::Origin;

/// The group of these vectors, and the folder of their definitions.
pub const GROUP: &str = "found";

/// Bytes on a line of a definition.
const LINE: usize = 32;

/// The definition of a vector as it is stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Found {
    /// The permanent id, also the name of the file without its extension.
    pub id: String,
    /// The one thing it is for, as a sentence.
    pub purpose: String,
    /// The rules that it breaks, all of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub breaks: Vec<String>,
    /// Flags of the closed list in [`crate::flags`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flags: Vec<String>,
    /// The issue or advisory, or how it was found.
    pub reference: String,
    /// The bytes of the file in hexadecimal, 32 on a line.
    pub bytes: Vec<String>,
}

impl Found {
    /// Writes bytes in hexadecimal.
    #[must_use]
    pub fn lines(bytes: &[u8]) -> Vec<String> {
        let line = |line: &[u8]| line.iter().map(|byte| format!("{byte:02x}")).collect();
        bytes.chunks(LINE).map(line).collect()
    }

    /// The bytes of the file.
    ///
    /// # Errors
    ///
    /// Which line is not hexadecimal.
    pub fn file(&self) -> Result<Vec<u8>, String> {
        let mut bytes = Vec::new();
        for (i, line) in self.bytes.iter().enumerate() {
            let digits = line.as_bytes();
            let wrong = || format!("bytes[{i}]: expected pairs of hexadecimal digits, found {line:?}");
            if digits.len() % 2 != 0 || !digits.iter().all(u8::is_ascii_hexdigit) {
                return Err(wrong());
            }
            for pair in line.as_bytes().chunks(2) {
                let text = std::str::from_utf8(pair).map_err(|_| wrong())?;
                bytes.push(u8::from_str_radix(text, 16).map_err(|_| wrong())?);
            }
        }
        Ok(bytes)
    }

    fn definition(self) -> Result<Definition, String> {
        let bytes = self.file()?;
        let rule = |id: &String| find(id).ok_or_else(|| format!("breaks: no rule is called {id}"));
        let flag = |name: &String| {
            let known = FLAGS.iter().find(|flag| flag.name == name);
            known.map(|flag| flag.name).ok_or_else(|| format!("flags: {name} is not on the list of flags"))
        };
        Ok(Definition {
            group: GROUP,
            breaks: Some(self.breaks.iter().map(rule).collect::<Result<Vec<&'static Rule>, _>>()?),
            flags: self.flags.iter().map(flag).collect::<Result<_, _>>()?,
            keeps: Vec::new(),
            origin: Origin { kind: "fuzz".to_owned(), reference: Some(self.reference) },
            id: self.id,
            purpose: self.purpose,
            bytes,
        })
    }
}

/// Where the definition of a vector is.
#[must_use]
pub fn path(corpus: &Path, id: &str) -> PathBuf {
    corpus.join(GROUP).join(format!("{id}.json"))
}

/// A definition as it is stored: indented, with a newline at the end.
#[must_use]
pub fn text(found: &Found) -> Vec<u8> {
    crate::build::json(found)
}

/// Every definition below `corpus/found`, in the order of ids; none if the folder is not there.
pub(crate) fn define(corpus: &Path) -> Result<Vec<Definition>, BuildError> {
    let folder = corpus.join(GROUP);
    let error = |path: &Path, source| BuildError::File { path: path.to_owned(), source };
    let entries = match fs::read_dir(&folder) {
        Ok(entries) => entries,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(source) => return Err(error(&folder, source)),
    };
    let mut paths = entries
        .map(|entry| entry.map(|entry| entry.path()).map_err(|source| error(&folder, source)))
        .collect::<Result<Vec<_>, _>>()?;
    paths.sort();
    paths.iter().filter(|path| path.extension().is_some_and(|ext| ext == "json")).map(|path| one(path)).collect()
}

fn one(path: &Path) -> Result<Definition, BuildError> {
    let form = |reason: String| BuildError::Form { path: path.to_owned(), reason };
    let text = fs::read(path).map_err(|source| BuildError::File { path: path.to_owned(), source })?;
    let found: Found = serde_json::from_slice(&text).map_err(|e| form(e.to_string()))?;
    if path.file_stem().is_none_or(|stem| stem != found.id.as_str()) {
        return Err(form(format!("the id {} is not the name of the file", found.id)));
    }
    found.definition().map_err(form)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found() -> Found {
        Found {
            id: "x".to_owned(),
            purpose: "A file.".to_owned(),
            breaks: vec!["magic.bytes".to_owned()],
            flags: vec!["truncated".to_owned()],
            reference: "generated input".to_owned(),
            bytes: Found::lines(&[0xAB; 70]),
        }
    }

    #[test]
    fn bytes_are_written_and_read_back() {
        assert_eq!(found().bytes.iter().map(String::len).collect::<Vec<_>>(), [64, 64, 12]);
        assert_eq!(found().file(), Ok(vec![0xAB; 70]));
        assert_eq!(found().definition().map(|definition| definition.bytes.len()), Ok(70));
    }

    #[test]
    fn what_is_wrong_with_a_definition_is_told() {
        for (edit, words) in [
            ((|f| f.bytes[1] = "abc".to_owned()) as fn(&mut Found), "bytes[1]: expected pairs of hexadecimal digits"),
            (|f| f.bytes[0] = "+a".to_owned(), "bytes[0]: expected"),
            (|f| f.breaks[0] = "no.such".to_owned(), "breaks: no rule is called no.such"),
            (|f| f.flags[0] = "odd".to_owned(), "flags: odd is not on the list"),
        ] {
            let mut found = found();
            edit(&mut found);
            let error = found.definition().expect_err(words);
            assert!(error.starts_with(words), "{error}");
        }
    }
}
