//! The record of a run: JSON lines that are only ever added to. First a header, then one line for each
//! vector in the order in which they were settled, then a footer. A record without a footer is one of a run
//! that did not come to its end. Everything that is shown of a run is a face of its record.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use assay_corpus::store::{Entry, sha256};
use assay_oracles::difference::Difference;
use gguf_spec::document::json::text;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::adapter::message::Started;
use crate::adapter::program::Program;
use crate::adapter::run::{Outcome, Run};
use crate::adapter::session::Limits;
use crate::adapter::verdict::Verdict;
use crate::expectations::Problem;
use crate::sandbox::limits_enforced;

/// The version of the form of a record.
pub const FORMAT: u32 = 1;

/// A line of a record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "line", rename_all = "lowercase")]
pub enum Line {
    /// The first.
    Header(Box<Header>),
    /// One for each vector.
    Result(Box<Result>),
    /// The last.
    Footer(Box<Footer>),
}

/// What was run, on what, and under what.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Header {
    /// The version of the form, [`FORMAT`].
    pub format: u32,
    /// The version of the program that wrote it.
    pub assay: String,
    /// When the run began, in seconds since 1970.
    pub unix_time: u64,
    /// What was asked about.
    pub corpus: Corpus,
    /// Who was asked.
    pub adapter: AdapterLine,
    /// Where.
    pub machine: Machine,
    /// Under which limits.
    pub limits: LimitsLine,
    /// How many processes ran side by side.
    pub jobs: usize,
    /// What was left out.
    pub not_run: Vec<NotRun>,
}

/// The corpus of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Corpus {
    /// Where it is: text, or base64 where it is not UTF-8.
    pub path: Json,
    /// How many vectors it has.
    pub vectors: usize,
    /// How many of them were chosen.
    pub chosen: usize,
    /// The SHA-256 of the lines `ID SHA256` of all its vectors, in the order of their ids.
    pub sha256: String,
}

/// The adapter of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AdapterLine {
    /// The words of its command line.
    pub command: Vec<String>,
    /// What it answered to `start`.
    pub started: Json,
}

/// The machine of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Machine {
    /// The operating system.
    pub system: String,
    /// The architecture of its processor.
    pub architecture: String,
    /// The processor, if the system names it.
    pub processor: Option<String>,
    /// How many threads it runs at once.
    pub threads: usize,
    /// The version of the kernel, if the system names it.
    pub kernel: Option<String>,
}

/// The limits of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LimitsLine {
    /// Seconds of processor time for one request.
    pub cpu_seconds: f64,
    /// Seconds of processor time to start.
    pub start_cpu_seconds: f64,
    /// Seconds on the clock for one request.
    pub wall_seconds: f64,
    /// Bytes of address space, and of memory in use.
    pub memory_bytes: u64,
    /// Bytes of the longest answer.
    pub answer_bytes: usize,
    /// Whether this system enforces all of them.
    pub enforced: bool,
}

/// Something that was not run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NotRun {
    /// What.
    pub what: String,
    /// Why.
    pub why: String,
}

/// What came of one vector.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Result {
    /// Its id.
    pub vector: String,
    /// Its group.
    pub group: String,
    /// Its file: text, or base64 where it is not UTF-8.
    pub file: Json,
    /// The verdict.
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
    /// What else there is to say: `incidental`, for a rejection by an exception that is not meant as one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flags: Vec<String>,
    /// The verdict in a fresh process, if that was another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unstable: Option<String>,
    /// Whether a document was compared.
    pub compared: bool,
    /// Milliseconds of processor time, if the system tells.
    pub cpu_ms: Option<f64>,
    /// The most bytes of memory in use, if the system tells.
    pub peak_bytes: Option<u64>,
    /// Why this failure is expected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub known: Option<String>,
}

/// Where two documents differ.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DifferenceLine {
    /// The place.
    pub path: String,
    /// What should be there, as JSON, cut where it is long; `nothing` if nothing should be.
    pub expected: String,
    /// What is there.
    pub found: String,
}

impl From<&Difference> for DifferenceLine {
    fn from(difference: &Difference) -> Self {
        Self { path: difference.path.clone(), expected: difference.expected_text(), found: difference.actual_text() }
    }
}

/// What came of all.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Footer {
    /// How many results have each verdict; those that none has are left out.
    pub tallies: BTreeMap<String, usize>,
    /// How many failures there are.
    pub failures: usize,
    /// How many of them are expected.
    pub known: usize,
    /// How many documents were compared.
    pub compared: usize,
    /// How many processes were started.
    pub processes: usize,
    /// Faults of the adapter that belong to no vector.
    pub problems: Vec<String>,
    /// What is wrong with the expectations.
    pub expectations: Vec<String>,
    /// How long it took.
    pub seconds: f64,
    /// Whether every vector that was chosen was run.
    pub complete: bool,
}

impl Header {
    /// The header of a run that begins now. `all` are the vectors of the corpus, of which some are chosen.
    #[must_use]
    pub fn new(
        corpus: &Path,
        all: &[Entry],
        chosen: usize,
        program: &Program,
        answer: &Json,
        limits: &Limits,
        jobs: usize,
    ) -> Self {
        let lines: String = all.iter().map(|entry| format!("{} {}\n", entry.vector.id, entry.vector.sha256)).collect();
        Self {
            format: FORMAT,
            assay: env!("CARGO_PKG_VERSION").to_owned(),
            unix_time: now(),
            corpus: Corpus {
                path: text(corpus.as_os_str().as_encoded_bytes()),
                vectors: all.len(),
                chosen,
                sha256: sha256(lines.as_bytes()),
            },
            adapter: AdapterLine { command: program.words().to_vec(), started: answer.clone() },
            machine: Machine::this(),
            limits: LimitsLine {
                cpu_seconds: limits.cpu.as_secs_f64(),
                start_cpu_seconds: limits.start_cpu.as_secs_f64(),
                wall_seconds: limits.wall.as_secs_f64(),
                memory_bytes: limits.memory,
                answer_bytes: limits.answer,
                enforced: limits_enforced(),
            },
            jobs,
            not_run: Vec::new(),
        }
    }

    /// A member of the answer to `start`; empty if it was not said.
    #[must_use]
    pub fn said(&self, member: &str) -> &str {
        self.adapter.started[member].as_str().unwrap_or_default()
    }
}

/// Seconds since 1970.
pub(crate) fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs())
}

/// What the system says of the first processor under one of these names, if it does.
pub(crate) fn processor_line(names: &[&str]) -> Option<String> {
    let text = fs::read_to_string("/proc/cpuinfo").ok()?;
    let mut lines = text.lines().filter_map(|line| line.split_once(':'));
    lines.find(|(name, _)| names.contains(&name.trim())).map(|(_, said)| said.trim().to_owned())
}

impl Machine {
    /// The one that this program runs on.
    #[must_use]
    pub fn this() -> Self {
        let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").ok();
        Self {
            system: std::env::consts::OS.to_owned(),
            architecture: std::env::consts::ARCH.to_owned(),
            processor: processor_line(&["model name"]),
            threads: std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
            kernel: kernel.map(|text| text.trim().to_owned()),
        }
    }
}

impl Result {
    /// The line of an outcome.
    #[must_use]
    pub fn new(entry: &Entry, outcome: &Outcome) -> Self {
        let judged = &outcome.judged;
        Self {
            vector: entry.vector.id.clone(),
            group: entry.group.clone(),
            file: text(entry.path.as_os_str().as_encoded_bytes()),
            verdict: judged.verdict.name().to_owned(),
            profiles: judged.profiles.iter().map(|profile| profile.name().to_owned()).collect(),
            expected: judged.expected.clone(),
            got: judged.got.to_owned(),
            message: judged.message.clone(),
            difference: judged.difference.as_ref().map(DifferenceLine::from),
            flags: judged.incidental.then(|| "incidental".to_owned()).into_iter().collect(),
            unstable: outcome.unstable.as_ref().map(|judged| judged.verdict.name().to_owned()),
            compared: judged.compared,
            cpu_ms: outcome.used.cpu.map(|cpu| (cpu.as_secs_f64() * 1e6).round() / 1e3),
            peak_bytes: outcome.used.peak,
            known: None,
        }
    }

    /// Whether it is a failure: by its verdict, or because that was another one the second time.
    #[must_use]
    pub fn is_failure(&self) -> bool {
        self.unstable.is_some() || Verdict::from_name(&self.verdict).is_none_or(Verdict::is_failure)
    }
}

impl Footer {
    /// The footer of a run that has ended.
    #[must_use]
    pub fn new(run: &Run, results: &[Result], expectations: &[Problem]) -> Self {
        let mut tallies = BTreeMap::new();
        for result in results {
            *tallies.entry(result.verdict.clone()).or_default() += 1;
        }
        Self {
            tallies,
            failures: results.iter().filter(|result| result.is_failure()).count(),
            known: results.iter().filter(|result| result.known.is_some()).count(),
            compared: results.iter().filter(|result| result.compared).count(),
            processes: run.processes,
            problems: run.problems.iter().chain(&run.gave_up).cloned().collect(),
            expectations: expectations.iter().map(ToString::to_string).collect(),
            seconds: run.time.as_secs_f64(),
            complete: run.gave_up.is_none(),
        }
    }
}

/// A record as it was read.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Record {
    /// The header.
    pub header: Header,
    /// The results, by the ids of their vectors.
    pub results: Vec<Result>,
    /// The footer; `None` if the run did not come to its end.
    pub footer: Option<Footer>,
}

/// How the bytes of every record start.
pub const START: &[u8] = br#"{"line":"header""#;

/// Writes one line of a record, of readers or of kernels, whole, and lets it go at once.
///
/// # Errors
///
/// If the output does not take it.
pub fn write_line(line: &impl Serialize, out: &mut dyn Write) -> io::Result<()> {
    let mut text = serde_json::to_vec(line)?;
    text.push(b'\n');
    out.write_all(&text)?;
    out.flush()
}

/// The lines of a record, of readers or of kernels, each with its number. A last line that was not written to its end
/// is none.
///
/// # Errors
///
/// The line that is not as it should be, and why; a header of another format than `format`, whatever else is new in it.
pub(crate) fn lines<L: DeserializeOwned>(text: &str, format: u32) -> std::result::Result<Vec<(usize, L)>, String> {
    #[derive(Deserialize)]
    struct Start {
        format: u32,
    }
    let mut lines = Vec::new();
    for (number, line) in (1..).zip(text.split_inclusive('\n')) {
        match serde_json::from_str(line) {
            Ok(parsed) => lines.push((number, parsed)),
            Err(_) if !line.ends_with('\n') => break,
            Err(error) => match serde_json::from_str(line).ok().filter(|start: &Start| start.format != format) {
                Some(start) => return Err(other_format(number, start.format, format)),
                None => return Err(format!("line {number}: not a line of a record: {error}")),
            },
        }
    }
    Ok(lines)
}

/// That a header has a format that is not read.
pub(crate) fn other_format(line: usize, found: u32, read: u32) -> String {
    format!("line {line}: a record of format {found}; this program reads {read}")
}

/// Why a file without a header is no record.
pub(crate) const NO_RECORD: &str =
    "no record: `assay run --adapter COMMAND --record FILE` and `assay kernels --record FILE` write one";

/// Reads the records of a file: one for each header, in their order.
///
/// # Errors
///
/// The line that is not as it should be, and why. A last line that was not written to its end is none.
pub fn read(text: &str) -> std::result::Result<Vec<Record>, String> {
    let mut records: Vec<Record> = Vec::new();
    for (number, line) in lines(text, FORMAT)? {
        match (line, records.last_mut()) {
            (Line::Header(header), _) if header.format != FORMAT => {
                return Err(other_format(number, header.format, FORMAT));
            }
            (Line::Header(header), _) => {
                records.push(Record { header: *header, results: Vec::new(), footer: None });
            }
            (Line::Result(result), Some(record)) if record.footer.is_none() => record.results.push(*result),
            (Line::Footer(footer), Some(record)) if record.footer.is_none() => record.footer = Some(*footer),
            _ => return Err(format!("line {number}: a line that belongs to no header")),
        }
    }
    for record in &mut records {
        record.results.sort_by(|a, b| a.vector.cmp(&b.vector));
    }
    if records.is_empty() { Err(NO_RECORD.to_owned()) } else { Ok(records) }
}

/// What of a run this version never asks.
#[must_use]
pub fn never_asked(started: &Started) -> Vec<NotRun> {
    use crate::adapter::message::Capability;
    let asked = |capability: &&Capability| **capability != Capability::Parse;
    let names: Vec<_> = started.capabilities.iter().filter(asked).map(|capability| capability.name()).collect();
    let why = || "this version of the program does not send it".to_owned();
    names.into_iter().map(|name| NotRun { what: name.to_owned(), why: why() }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn header() -> Line {
        let started = json!({"seq": 0, "result": "started", "name": "x"});
        let program = Program::new(vec!["./x".to_owned()]);
        Line::Header(Box::new(Header::new(Path::new("corpus"), &[], 0, &program, &started, &Limits::default(), 2)))
    }

    #[test]
    fn a_record_starts_as_is_said() {
        let mut text = Vec::new();
        write_line(&header(), &mut text).expect("written");
        assert!(text.starts_with(START));
    }

    fn result(vector: &str) -> Line {
        let json = json!({
            "line": "result", "vector": vector, "group": "g", "file": "f", "verdict": "agree", "expected": "accept",
            "got": "accepted", "compared": true, "cpu_ms": 1.5, "peak_bytes": null,
        });
        serde_json::from_value(json).expect("a line")
    }

    fn footer() -> Line {
        let run = Run {
            outcomes: Vec::new(),
            problems: Vec::new(),
            gave_up: None,
            processes: 1,
            time: std::time::Duration::ZERO,
        };
        Line::Footer(Box::new(Footer::new(&run, &[], &[])))
    }

    fn written(lines: &[Line]) -> String {
        let mut text = Vec::new();
        for line in lines {
            write_line(line, &mut text).expect("memory takes it");
        }
        String::from_utf8(text).expect("UTF-8")
    }

    #[test]
    fn what_is_written_is_read() {
        let text = written(&[header(), result("b"), result("a"), footer(), header(), result("c")]);
        let records = read(&text).expect("records");
        let vectors = |record: &Record| record.results.iter().map(|r| r.vector.clone()).collect::<Vec<_>>().join(" ");
        assert_eq!(records.iter().map(vectors).collect::<Vec<_>>(), ["a b", "c"]);
        assert_eq!(records.iter().map(|record| record.footer.is_some()).collect::<Vec<_>>(), [true, false]);
        assert_eq!(records[0].header.said("name"), "x");
        // A line that was not written to its end is none; in the middle it is a fault.
        let cut = &text[..text.len() - 5];
        assert_eq!(read(cut).map(|records| records[1].results.len()), Ok(0));
        assert!(read(&text.replace("\"vector\":\"b\"", "\"vector\":")).is_err_and(|why| why.starts_with("line 2: ")));
    }

    #[test]
    fn what_is_no_record_is_told() {
        assert!(read("").is_err_and(|why| why.starts_with("no record")));
        assert!(read(&written(&[result("a")])).is_err_and(|why| why == "line 1: a line that belongs to no header"));
        let twice = written(&[header(), footer(), footer()]);
        assert!(read(&twice).is_err_and(|why| why == "line 3: a line that belongs to no header"));
        let newer = written(&[header()]).replace("\"format\":1", "\"format\":2");
        assert!(read(&newer).is_err_and(|why| why == "line 1: a record of format 2; this program reads 1"));
        // What is new in it is not looked at.
        let newer = newer.replace("\"format\":2", "\"format\":2,\"new\":1");
        assert!(read(&newer).is_err_and(|why| why == "line 1: a record of format 2; this program reads 1"));
    }
}
