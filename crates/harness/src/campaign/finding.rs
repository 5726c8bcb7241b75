//! A reproducer: a directory that somebody who has never heard of the campaign can work with.
//!
//! `file.gguf` is the file, `finding.json` everything that is known of it, `annotated.hex` its bytes with the
//! fields they belong to, `README.md` what happens and how to see it again; `stderr.txt`, if there is something to
//! keep, is the end of what the reader wrote to its standard error, as it came.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::Path;

use assay_corpus::store::Entry;
use assay_corpus::vector::{Expectation, FindingRecord};
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::make::How;
use super::reader::{Asked, Reader};
use super::signature::Signature;
use crate::adapter::verdict::Verdict;
use crate::record::{AdapterLine, DifferenceLine};

/// The version of the form of `finding.json`.
pub const FORMAT: u32 = 1;

/// The name of the file in a reproducer.
pub const FILE: &str = "file.gguf";

/// The name of what is known of it.
pub const JSON: &str = "finding.json";

/// The name of the end of what the reader wrote to its standard error.
pub const COMPLAINT: &str = "stderr.txt";

/// What is known of a reproducer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Finding {
    /// The version of the form, [`FORMAT`].
    pub format: u32,
    /// The version of the program that wrote it.
    pub assay: String,
    /// What makes it this finding.
    pub signature: Signature,
    /// Who was asked, in the order of the command line.
    pub adapters: Vec<AdapterLine>,
    /// The seed of the campaign.
    pub seed: u64,
    /// The number of the file from which this one was made smaller.
    pub number: u64,
    /// How that was made.
    pub made: How,
    /// Its size in bytes.
    pub size_before: u64,
    /// The size of the file in bytes.
    pub size: u64,
    /// The SHA-256 of the file, in hexadecimal.
    pub sha256: String,
    /// Whether there was no time, or no question, left to make it smaller.
    #[serde(default, skip_serializing_if = "is_false")]
    pub unfinished: bool,
    /// What each profile does with it, by `name@version`.
    pub expect: BTreeMap<String, Expectation>,
    /// All findings of the specification, in order.
    pub findings: Vec<FindingRecord>,
    /// What each reader does with it.
    pub answers: Vec<AnswerLine>,
}

/// What a reader did.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AnswerLine {
    /// The adapter.
    pub adapter: String,
    /// What its answer is worth.
    pub verdict: String,
    /// The profiles whose side is taken.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub profiles: Vec<String>,
    /// What was expected.
    pub expected: String,
    /// What was answered.
    pub got: String,
    /// What the adapter said, or how it failed.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub message: String,
    /// The first place where the documents differ.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub difference: Option<DifferenceLine>,
}

impl AnswerLine {
    /// The line of an answer. The file is called by the name it has in the reproducer.
    pub(crate) fn new(adapter: &str, path: &Path, asked: &Asked) -> Self {
        let judged = &asked.judged;
        Self {
            adapter: adapter.to_owned(),
            verdict: judged.verdict.name().to_owned(),
            profiles: judged.profiles.iter().map(|profile| profile.name().to_owned()).collect(),
            expected: judged.expected.clone(),
            got: judged.got.to_owned(),
            message: judged.message.replace(&*path.to_string_lossy(), FILE),
            difference: judged.difference.as_ref().map(DifferenceLine::from),
        }
    }
}

/// What a reader said of a reproducer, or how it ended, on one line.
pub(crate) fn message(entry: &Entry, asked: &Asked) -> String {
    if asked.signature.as_ref().is_some_and(Signature::is_mixture) {
        return objections(&entry.vector.expect);
    }
    match &asked.judged.difference {
        Some(difference) => {
            let DifferenceLine { path, expected, found } = DifferenceLine::from(difference);
            one_line(&format!("{path} is {expected}, and it reads {found}"))
        }
        None => one_line(&asked.judged.message.replace(&*entry.path.to_string_lossy(), FILE)),
    }
}

/// More bytes than any reproducer has.
const LARGEST: u64 = 1 << 30;

/// The bytes of a reproducer, or of another file that somebody names.
///
/// # Errors
///
/// If it is not a file, or has over a gigabyte, or cannot be read.
pub fn read_file(path: &Path) -> Result<Vec<u8>, String> {
    let why = |what: String| format!("{}: cannot be read: {what}", path.display());
    let metadata = fs::metadata(path).map_err(|error| why(error.to_string()))?;
    // A pipe would be waited for, and a device read for ever.
    if !metadata.is_file() || metadata.len() > LARGEST {
        return Err(why("is no file, or one of over a gigabyte".to_owned()));
    }
    fs::read(path).map_err(|error| why(error.to_string()))
}

/// The line about a reader.
pub(crate) fn adapter_line(reader: &Reader) -> AdapterLine {
    AdapterLine { command: reader.program().words().to_vec(), started: reader.answer().clone() }
}

impl Finding {
    /// Reads what is known of a reproducer.
    ///
    /// # Errors
    ///
    /// A sentence that names the file.
    pub fn load(directory: &Path) -> Result<Self, String> {
        let path = directory.join(JSON);
        let bytes = read_file(&path)?;
        serde_json::from_slice(&bytes).map_err(|error| format!("{}: not a finding: {error}", path.display()))
    }

    /// Holds a file to the one that was found.
    ///
    /// # Errors
    ///
    /// The SHA-256 that it should have, in the rest of a sentence about the file.
    pub fn is_of(&self, entry: &Entry) -> Result<(), String> {
        if self.sha256 == entry.vector.sha256 {
            return Ok(());
        }
        Err(format!("is not the file of the finding, whose SHA-256 is {}", self.sha256))
    }

    /// The adapter's answer to `start`, for the reader of the signature.
    fn said(&self, adapter: &str, member: &str) -> Option<&str> {
        let of = |line: &&AdapterLine| said(&line.started, "name") == adapter;
        self.adapters.iter().find(of).and_then(|line| line.started[member].as_str())
    }

    /// What happens, in a sentence.
    #[must_use]
    pub fn sentence(&self) -> String {
        let Signature { adapter, verdict, detail, .. } = &self.signature;
        let version = self.said(adapter, "version").map_or_else(String::new, |version| format!(" {version}"));
        let answer = self.answers.iter().find(|answer| answer.adapter == *adapter);
        let how = match answer {
            Some(_) if self.signature.is_mixture() => objections(&self.expect),
            Some(AnswerLine { difference: Some(DifferenceLine { path, expected, found }), .. }) => {
                format!("`{path}` is {expected}, and it reads {found}")
            }
            Some(answer) if !answer.message.is_empty() => quoted(&answer.message),
            Some(answer) => format!("expected {}, got {}", answer.expected, answer.got),
            None => detail.clone(),
        };
        format!("{adapter}{version}: {verdict}: {how}")
    }

    /// The page of a reproducer.
    fn page(&self, directory: &Path, complained: bool) -> String {
        let name = directory.file_name().unwrap_or_default().to_string_lossy();
        let mut page = format!("# {name}\n\n{}\n\n", self.sentence());
        let _ = writeln!(page, "A file of {} bytes, made from one of {} bytes.", self.size, self.size_before);
        if self.unfinished {
            page.push_str(
                "It is not made small yet: there was no time, or no question, left for it; --resume goes on.\n",
            );
        }
        if self.findings.is_empty() {
            page.push_str("Nothing is wrong with it.\n");
        } else {
            page.push_str("What the specification finds:\n\n");
            for finding in self.findings.iter().take(MOST_FINDINGS) {
                let FindingRecord { rule, path, start, end } = finding;
                let _ = writeln!(page, "- `{rule}` at `{path}`, bytes {start} to {end}");
            }
            if let Some(left @ 1..) = self.findings.len().checked_sub(MOST_FINDINGS) {
                let _ = writeln!(page, "- and {left} more");
            }
        }
        page.push_str("\n| who | does | says |\n| --- | --- | --- |\n");
        for (profile, Expectation { outcome, rule, .. }) in &self.expect {
            let _ = writeln!(page, "| {profile} | {outcome} | {} |", rule.as_deref().unwrap_or_default());
        }
        for AnswerLine { adapter, verdict, got, message, profiles, .. } in &self.answers {
            let sides = if profiles.is_empty() { String::new() } else { format!(" {}", profiles.join(", ")) };
            let says = quoted(message);
            let _ = writeln!(page, "| {adapter} | {got}: {verdict}{sides} | {says} |");
        }
        page.push_str("\n`annotated.hex` has every byte with its field, `finding.json` all that is known.");
        if complained {
            let _ = write!(page, " `{COMPLAINT}` is the end of what the reader wrote to its standard error.");
        }
        page.push_str(" See it again:\n\n```sh\n");
        let path = directory.to_string_lossy();
        let path = shlex::try_quote(&path).unwrap_or_else(|_| name.clone());
        let mut line = format!("assay fuzz --replay {path}");
        for AdapterLine { command, .. } in &self.adapters {
            let words = shlex::try_join(command.iter().map(String::as_str)).unwrap_or_else(|_| command.join(" "));
            let _ = write!(line, " --adapter {}", shlex::try_quote(&words).unwrap_or_else(|_| words.as_str().into()));
        }
        let _ = writeln!(page, "{line}\n```");
        let ends = self.signature.verdict().is_some_and(Verdict::ends_the_reader);
        let _ = writeln!(page, "\nMake it a vector of the corpus, in a checkout:\n\n```sh");
        let _ = writeln!(page, "assay corpus promote {path} --id ID{}\n```", if ends { " --ours" } else { "" });
        if ends {
            page.push_str("\n`--ours` is for this project's own programs. Of others, say `--fixed --reference ADVISORY` when a fixed\nversion is out: a file that shows an unfixed fault is not shipped.\n");
        }
        let made = if self.made.depth == 0 {
            self.made.root.clone()
        } else {
            let changes = if self.made.depth == 1 { "change" } else { "changes" };
            format!("{} after {} {changes} of `{}`", self.made.step, self.made.depth, self.made.root)
        };
        let _ = writeln!(page, "\nFile {} of the campaign with the seed {}: {made}.", self.number, self.seed);
        page
    }

    /// Writes the directory of a reproducer, all of it or nothing, and says how many bytes it has.
    ///
    /// # Errors
    ///
    /// If something cannot be written.
    pub(crate) fn write(&self, directory: &Path, bytes: &[u8], hex: &str, complaint: &[u8]) -> io::Result<u64> {
        let name = directory.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let part = directory.with_file_name(format!(".{name}.part"));
        let mut json = serde_json::to_vec_pretty(self)?;
        json.push(b'\n');
        if part.exists() {
            fs::remove_dir_all(&part)?;
        }
        fs::create_dir_all(&part)?;
        let page = self.page(directory, !complaint.is_empty());
        let mut files =
            vec![(FILE, bytes), (JSON, &json), ("annotated.hex", hex.as_bytes()), ("README.md", page.as_bytes())];
        if !complaint.is_empty() {
            files.push((COMPLAINT, complaint));
        }
        for (name, content) in &files {
            fs::write(part.join(name), content)?;
        }
        if directory.exists() {
            fs::remove_dir_all(directory)?;
        }
        fs::rename(&part, directory)?;
        Ok(files.iter().map(|(_, content)| content.len() as u64).sum())
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks with a reference")]
fn is_false(flag: &bool) -> bool {
    !*flag
}

/// Who refuses a file for what, where no reason is one of all.
fn objections(expect: &BTreeMap<String, Expectation>) -> String {
    let refuse = expect.iter().filter_map(|(profile, e)| Some(format!("{profile} for {}", e.rule.as_ref()?)));
    let refuse = refuse.collect::<Vec<_>>().join(", ");
    format!(
        "the profiles object to different things ({refuse}): whoever follows one here and another there accepts it, which may be no bug"
    )
}

/// Findings that the page of a reproducer lists.
const MOST_FINDINGS: usize = 20;

/// What a program said, in a cell of a table: what it repeats of a file is no markup.
fn quoted(message: &str) -> String {
    match one_line(message) {
        line if line.is_empty() => line,
        line => format!("`{}`", line.replace('`', "'").replace('|', "\\|")),
    }
}

/// A message on one line, not too long.
fn one_line(message: &str) -> String {
    const LONGEST: usize = 300;
    let line = message.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" / ");
    let line: String = line.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect();
    match line.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

/// What the specification and the readers say of a file, as `finding.json` has it.
pub(crate) fn described(
    signature: Signature,
    readers: &[Reader],
    entry: &Entry,
    answers: Vec<AnswerLine>,
    origin: (u64, u64, How, u64),
    unfinished: bool,
) -> Finding {
    let (seed, number, made, size_before) = origin;
    Finding {
        format: FORMAT,
        assay: env!("CARGO_PKG_VERSION").to_owned(),
        signature,
        adapters: readers.iter().map(adapter_line).collect(),
        seed,
        number,
        made,
        size_before,
        size: entry.vector.size,
        sha256: entry.vector.sha256.clone(),
        unfinished,
        expect: entry.vector.expect.clone(),
        findings: entry.vector.findings.clone(),
        answers,
    }
}

/// A member of an answer to `start`.
pub(crate) fn said<'a>(started: &'a Json, member: &str) -> &'a str {
    started[member].as_str().unwrap_or_default()
}
