//! What a child process says about one file, in one line of JSON on its standard output.
//!
//! ```json
//! {"outcome": "accept", "document": {..}}
//! {"outcome": "refuse", "message": ".."}
//! {"outcome": "error", "message": ".."}
//! ```
//!
//! The document has the canonical form. `unseen` may list what of it the program cannot show.
//! A program that ends without a line has crashed. Before it looks at what the library has read, a
//! child writes a line `{"outcome": "opened"}`: if it ends after that, it was not the reading. Where
//! only the outcome is asked for, that line is the answer.

use std::io::{self, Write};
use std::path::Path;

use assay_providers::ggml::{self, Answer, Library, Mode, Reads, Release, TypeRow};
use gguf_spec::document::Document;
use serde_json::{Value as Json, json};

/// What a child says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// It reads the file.
    Accept {
        /// What it reads.
        document: Document,
        /// What of the document it cannot show.
        unseen: Vec<String>,
    },
    /// It reads the file, and was not asked what it reads, or did not come to say it.
    Opened,
    /// It refuses the file.
    Refuse {
        /// Why, in its own words.
        message: String,
    },
    /// It could not try.
    Error {
        /// Why.
        message: String,
    },
}

/// What a child says of the library it loads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct About {
    /// The version.
    pub version: String,
    /// Its table of tensor types; empty for a program that has none to show.
    pub types: Vec<TypeRow>,
}

impl Reply {
    /// The line.
    #[must_use]
    pub fn to_json(&self) -> Json {
        match self {
            Self::Accept { document, unseen } if unseen.is_empty() => {
                json!({"outcome": "accept", "document": document.to_json()})
            }
            Self::Accept { document, unseen } => {
                json!({"outcome": "accept", "document": document.to_json(), "unseen": unseen})
            }
            Self::Opened => json!({"outcome": "opened"}),
            Self::Refuse { message } => json!({"outcome": "refuse", "message": message}),
            Self::Error { message } => json!({"outcome": "error", "message": message}),
        }
    }

    /// Reads the last line of what a child wrote; `None` if there is no line.
    ///
    /// # Errors
    ///
    /// What is wrong with the line.
    pub fn parse(output: &str) -> Result<Option<Self>, String> {
        let Some(json) = last_line(output)? else { return Ok(None) };
        let message = || json["message"].as_str().unwrap_or_default().to_owned();
        match json["outcome"].as_str() {
            Some("accept") => {
                let unseen = json["unseen"].as_array().into_iter().flatten();
                Ok(Some(Self::Accept {
                    document: Document::from_json(&json["document"]).map_err(|e| format!("document: {e}"))?,
                    unseen: unseen.filter_map(Json::as_str).map(ToOwned::to_owned).collect(),
                }))
            }
            Some("opened") => Ok(Some(Self::Opened)),
            Some("refuse") => Ok(Some(Self::Refuse { message: message() })),
            Some("error") => Ok(Some(Self::Error { message: message() })),
            _ => Err(format!("no outcome: {json}")),
        }
    }
}

impl About {
    /// The line.
    #[must_use]
    pub fn to_json(&self) -> Json {
        let types = self
            .types
            .iter()
            .map(|row| json!({"id": row.id, "name": row.name, "block": row.block, "bytes": row.bytes}));
        json!({"version": self.version, "types": types.collect::<Vec<_>>()})
    }

    /// Reads the last line of what a child wrote.
    ///
    /// # Errors
    ///
    /// What is wrong with the line, or what the child says went wrong.
    pub fn parse(output: &str) -> Result<Self, String> {
        let json = last_line(output)?.ok_or("it wrote nothing")?;
        if let Some(message) = json["message"].as_str() {
            return Err(message.to_owned());
        }
        let row = |row: &Json| {
            Some(TypeRow {
                id: u32::try_from(row["id"].as_u64()?).ok()?,
                name: row["name"].as_str()?.to_owned(),
                block: row["block"].as_i64()?,
                bytes: row["bytes"].as_u64()?,
            })
        };
        let types = json["types"].as_array().into_iter().flatten().map(row).collect::<Option<_>>();
        Ok(Self {
            version: json["version"].as_str().ok_or_else(|| format!("no version: {json}"))?.to_owned(),
            types: types.ok_or_else(|| format!("not a table of types: {json}"))?,
        })
    }
}

fn last_line(output: &str) -> Result<Option<Json>, String> {
    let Some(line) = output.lines().rev().find(|line| !line.trim().is_empty()) else { return Ok(None) };
    serde_json::from_str(line).map(Some).map_err(|error| {
        let start: String = line.chars().take(200).collect();
        format!("not a line of JSON: {error}: {start}")
    })
}

/// What is asked about a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Question {
    /// The outcome alone: for files whose document would not fit the limits of the child.
    Outcome,
    /// The outcome and the document.
    Document,
}

/// Reads a file with the ggml library of a directory, and writes what is to be said about it, which
/// is returned too. Runs in the child: the process ends if the library aborts.
///
/// # Errors
///
/// If the output does not take it.
pub fn ggml(directory: &Path, mode: Mode, question: Question, file: &Path, out: &mut dyn Write) -> io::Result<Reply> {
    // The library says "failed to open" and "refused" in the same way.
    let reply = match std::fs::File::open(file) {
        Err(error) => Reply::Error { message: format!("{}: cannot be read: {error}", file.display()) },
        Ok(_) => match question {
            Question::Outcome => reads(directory, mode, file),
            Question::Document => read(directory, mode, file, out)?,
        }
        .unwrap_or_else(|error| Reply::Error { message: error.to_string() }),
    };
    say(&reply, out)?;
    Ok(reply)
}

/// Whether any release of the library reads a file.
fn reads(directory: &Path, mode: Mode, file: &Path) -> Result<Reply, ggml::Error> {
    Ok(match Release::load(directory)?.reads(file, mode)? {
        Reads::Yes => Reply::Opened,
        Reads::No(message) => Reply::Refuse { message },
    })
}

/// Whether the library reads a file, and what it reads.
fn read(directory: &Path, mode: Mode, file: &Path, out: &mut dyn Write) -> io::Result<Result<Reply, ggml::Error>> {
    let library = match Library::load(directory) {
        Ok(library) => library,
        Err(error) => return Ok(Err(error)),
    };
    let file = match library.read(file, mode) {
        Ok(Answer::Accept(file)) => file,
        Ok(Answer::Refuse(message)) => return Ok(Ok(Reply::Refuse { message })),
        Err(error) => return Ok(Err(error)),
    };
    say(&Reply::Opened, out)?;
    Ok(file.document().map(|document| Reply::Accept { document, unseen: Vec::new() }))
}

fn say(reply: &Reply, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{}", reply.to_json())?;
    out.flush()
}

/// The version of any release of ggml, without a table of types; empty where the release has no
/// function that says it. Runs in the child.
///
/// # Errors
///
/// [`ggml::Error`] if the library cannot be loaded.
pub fn about_release(directory: &Path) -> Result<About, ggml::Error> {
    let version = Release::load(directory)?.version().unwrap_or_default();
    Ok(About { version, types: Vec::new() })
}

/// The version and the type table of the ggml library of a directory. Runs in the child.
///
/// # Errors
///
/// [`ggml::Error`] if the library cannot be loaded.
pub fn about_ggml(directory: &Path) -> Result<About, ggml::Error> {
    let library = Library::load(directory)?;
    let version = library.version();
    // The interface does not bound the ids it takes: only this table is known to be long enough.
    let types = if version == super::verify::expected_ggml() { library.tensor_types() } else { Vec::new() };
    Ok(About { version, types })
}

#[cfg(test)]
mod tests {
    use super::*;
    use gguf_spec::judge::judge;
    use gguf_spec::rules::Checks;

    #[test]
    fn replies_survive_the_pipe() {
        let file = b"GGUF\x03\0\0\0\0\0\0\0\0\0\0\0\x01\0\0\0\0\0\0\0\x01\0\0\0\0\0\0\0k\x05\0\0\0\xFF\xFF\xFF\xFF";
        let document = judge(file, &Checks::all()).document.expect("decoded");
        for reply in [
            Reply::Accept { document: document.clone(), unseen: Vec::new() },
            Reply::Accept { document, unseen: vec!["metadata[0].value".to_owned()] },
            Reply::Opened,
            Reply::Refuse { message: "no\nway".to_owned() },
            Reply::Error { message: "no file".to_owned() },
        ] {
            let line = format!("noise of a library\n{}\n", reply.to_json());
            assert_eq!(Reply::parse(&line), Ok(Some(reply)));
        }
        let about = About {
            version: "0.25.1".to_owned(),
            types: vec![TypeRow { id: 2, name: "q4_0".to_owned(), block: 32, bytes: 18 }],
        };
        assert_eq!(About::parse(&about.to_json().to_string()), Ok(about));
    }

    #[test]
    fn what_is_no_reply_is_told_apart_from_none() {
        assert_eq!(Reply::parse("\n"), Ok(None));
        assert!(Reply::parse("hello").is_err());
        assert!(Reply::parse("{}").is_err());
        assert!(Reply::parse(r#"{"outcome":"accept"}"#).is_err());
        assert!(About::parse("").is_err());
        assert_eq!(About::parse(r#"{"message":"no library"}"#), Err("no library".to_owned()));
    }
}
