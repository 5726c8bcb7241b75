//! A finding again: whether it still holds.

use std::path::{Path, PathBuf};

use assay_corpus::build::entry_of;
use assay_corpus::store::Entry;

use super::finding::{AnswerLine, FILE, Finding, read_file};
use super::reader::Reader;
use super::signature::Signature;
use crate::adapter::verdict::Verdict;

/// What came of asking about the file of a finding again.
#[derive(Clone, Debug, PartialEq)]
pub struct Replayed {
    /// The file.
    pub file: PathBuf,
    /// What was found then; nothing for a bare file.
    pub finding: Option<Finding>,
    /// What each reader did, in a fresh process, and whether the finding holds for it. It holds for a reader
    /// that does what the signature says; of a bare file, for each that fails.
    pub answers: Vec<(AnswerLine, bool)>,
}

impl Replayed {
    /// Whether it holds for some reader.
    #[must_use]
    pub fn holds(&self) -> bool {
        self.answers.iter().any(|(_, holds)| *holds)
    }
}

/// Asks readers about a reproducer, or about a bare file.
///
/// # Errors
///
/// If it cannot be read, or a reader does not start again: a sentence.
pub fn replay(path: &Path, readers: &[Reader]) -> Result<Replayed, String> {
    let finding = if path.is_dir() { Some(Finding::load(path)?) } else { None };
    let file = if path.is_dir() { path.join(FILE) } else { path.to_owned() };
    let bytes = read_file(&file)?;
    let entry = entry_of("replayed", bytes, file.clone());
    if let Some(finding) = &finding {
        finding.is_of(&entry).map_err(|why| format!("{}: {why}", file.display()))?;
    }
    let answers = readers.iter().map(|reader| one(reader, &entry, finding.as_ref())).collect::<Result<_, _>>()?;
    Ok(Replayed { file, finding, answers })
}

fn one(reader: &Reader, entry: &Entry, finding: Option<&Finding>) -> Result<(AnswerLine, bool), String> {
    let asked = reader.ask_afresh(entry).map_err(|error| error.to_string())?;
    let holds = match (&asked.signature, finding) {
        (None, _) => false,
        (Some(_), None) => true,
        // The same of another reader, or of another version under another name, is the same.
        (Some(seen), Some(finding)) => {
            let mut wanted = Signature { adapter: seen.adapter.clone(), ..finding.signature.clone() };
            if wanted.is_of_a_process() && without_lines(&wanted.detail) == without_lines(&seen.detail) {
                // Another version has the same code in another line.
                wanted.detail.clone_from(&seen.detail);
            }
            if wanted.verdict() == Some(Verdict::ProtocolError) {
                // What is told of too many lines depends on which of them had come.
                wanted.detail.clone_from(&seen.detail);
            }
            wanted.is_shown_by(seen)
        }
    };
    Ok((AnswerLine::new(reader.name(), &entry.path, &asked), holds))
}

/// A detail without its digits, which are those of lines of a reader's source.
fn without_lines(detail: &str) -> String {
    detail.chars().filter(|c| !c.is_ascii_digit()).collect()
}
