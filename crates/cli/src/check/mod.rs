//! `assay check`: is this file well formed and complete, and who will refuse it?

pub mod decide;
mod json;
pub mod scan;
mod text;

use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::builder::{PossibleValuesParser, TypedValueParser};
use gguf_spec::binary::Options;
use gguf_spec::field::{Field, Finding};
use gguf_spec::input::Input;
use gguf_spec::judge::Judgement;
use gguf_spec::rules::{Severity, Stage};

use self::decide::{Decided, Failed, Table, decide, nothing_found};
use self::scan::{Scanned, scan_file};
use crate::exit::{Exit, Failure};
use crate::fields::owner;
use crate::hash::{sha256, tensor_ranges, work};
use crate::input::{FileInput, Window};
use crate::numbers;
use crate::text::safe_path;
use crate::ui::{Progress, Ui, write_json};
use crate::walk;
use crate::what::What;

const EXAMPLES: &str = "\
Examples:
  assay check model.gguf                       who accepts it, and every finding
  assay check --strict --quiet models/         every *.gguf below a directory; warnings fail too
  assay check --header-only part.gguf          a file of which only the start was downloaded
  assay check --no-scan model.gguf             whether all is there, without reading the weights
  assay check --at 33554432 model.llamafile    a model that starts inside another file
  assay check --json --tensor-sha256 m.gguf    for a script

An error is what ggml refuses, or what makes the data unusable. A warning is a deviation from the
format document that ggml reads, or bytes in the data that belong to nothing. Exit codes:
0 no errors, 1 errors (with --strict also warnings), 2 usage, 3 something could not be read, or
there was nothing to check.";

/// Check files: what is wrong with them, and who accepts them.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Files, or directories: those are searched for *.gguf files.
    #[arg(required = true, value_name = "FILE|DIR")]
    pub paths: Vec<PathBuf>,

    /// Warnings fail too.
    #[arg(long)]
    pub strict: bool,

    /// Judge up to this stage, inclusive.
    #[arg(long, value_name = "STAGE", default_value = "semantics", value_parser = stages())]
    pub until: Stage,

    /// Judge the header alone, and do not read the tensor data: the same as `--until layout`.
    #[arg(long, conflicts_with = "until")]
    pub header_only: bool,

    /// Do not scan the tensor data for numbers that are not finite: of it, padding alone is read.
    #[arg(long)]
    pub no_scan: bool,

    /// Show files with findings alone, and a line about all.
    #[arg(short, long, conflicts_with = "json")]
    pub quiet: bool,

    /// Threads that scan the tensor data; by default as many as the machine runs at once.
    #[arg(long, value_name = "N", value_parser = threads, allow_hyphen_values = true)]
    pub threads: Option<NonZeroUsize>,

    /// Where in the file the GGUF file starts, in bytes; 0x1000 is hexadecimal.
    #[arg(long, value_name = "OFFSET", default_value = "0", value_parser = numbers::bytes, allow_hyphen_values = true)]
    pub at: u64,

    /// The SHA-256 of each file.
    #[arg(long)]
    pub sha256: bool,

    /// The SHA-256 of the data of each tensor.
    #[arg(long)]
    pub tensor_sha256: bool,

    /// Show at most this many findings of a file, errors first, and without --json at most three of one
    /// rule; 0 for all.
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = numbers::whole, allow_hyphen_values = true)]
    pub max_findings: u64,

    /// The largest header that is read, in bytes; telling what is wrong with it can take some twelve
    /// times as much memory.
    #[arg(long, value_name = "BYTES", default_value_t = crate::input::DEFAULT_MAX_HEADER)]
    #[arg(value_parser = numbers::bytes, allow_hyphen_values = true)]
    pub max_header: u64,

    /// One JSON object about all files; docs/cli.md describes it.
    #[arg(long)]
    pub json: bool,
}

/// Parses a number of threads.
fn threads(text: &str) -> Result<NonZeroUsize, String> {
    /// More than any machine has; each takes a buffer and a stack.
    const MOST: u64 = 1024;
    let number = numbers::whole(text).ok().filter(|&number| number <= MOST);
    let number = number.and_then(|number| NonZeroUsize::new(usize::try_from(number).ok()?));
    number.ok_or_else(|| format!("give a number of threads from 1 to {MOST}"))
}

/// Parses the name of a stage.
fn stages() -> impl TypedValueParser<Value = Stage> {
    PossibleValuesParser::new(Stage::ALL.map(Stage::name))
        .map(|name| Stage::ALL.into_iter().find(|stage| stage.name() == name).unwrap_or(Stage::Semantics))
}

/// What was found out about a file.
#[derive(Debug)]
pub struct Report {
    /// Its size in bytes.
    pub size: u64,
    /// Where in it the GGUF file starts.
    pub base: u64,
    /// What it is.
    pub what: What,
    /// What the specification says, findings and verdicts of later stages left out, with the findings of
    /// the scan.
    pub judgement: Judgement,
    /// The findings to show, by their index, each with the key or the tensor name it belongs to.
    pub shown: Vec<(usize, Option<Vec<u8>>)>,
    /// Up to which stage it was judged.
    pub until: Stage,
    /// The SHA-256 of the file, if asked for.
    pub sha256: Option<String>,
    /// The SHA-256 of each tensor, if asked for, or why there is none.
    pub tensors: Option<Result<Vec<TensorHash>, String>>,
    /// What the scan of the data saw; `None` if the data was not to be looked at, or the tensor table
    /// could not be read.
    pub scanned: Option<Scanned>,
    /// How long each stage took.
    pub times: Times,
}

/// The data of a tensor, and its hash.
#[derive(Debug)]
pub struct TensorHash {
    /// The name.
    pub name: Vec<u8>,
    /// Where the data starts in the file.
    pub start: u64,
    /// Its size in bytes.
    pub size: u64,
    /// The SHA-256, in hexadecimal.
    pub sha256: String,
}

/// How long each stage took.
#[derive(Clone, Copy, Debug, Default)]
pub struct Times {
    /// Reading the header.
    pub read: Duration,
    /// Judging.
    pub judge: Duration,
    /// Hashing, if asked for.
    pub hash: Option<Duration>,
}

impl Report {
    /// How many findings are errors, and how many are warnings.
    #[must_use]
    pub fn counts(&self) -> (usize, usize) {
        let errors = self.judgement.findings.iter().filter(|finding| finding.severity() == Severity::Error).count();
        (errors, self.judgement.findings.len() - errors)
    }

    /// The findings to show, with what they belong to.
    pub fn findings(&self) -> impl Iterator<Item = (&Finding, Option<&[u8]>)> {
        self.shown.iter().map(|(i, owner)| (&self.judgement.findings[*i], owner.as_deref()))
    }

    /// How many findings are not shown.
    #[must_use]
    pub fn left_out(&self) -> usize {
        self.judgement.findings.len() - self.shown.len()
    }

    /// The exit code for this file alone.
    #[must_use]
    pub fn exit(&self, strict: bool) -> Exit {
        match self.counts() {
            (0, 0) => Exit::Fine,
            (0, _) if !strict => Exit::Fine,
            _ => Exit::Findings,
        }
    }
}

/// The findings to show when at most `most` (0: all) are wanted: in order, but where some are left out,
/// warnings are first.
#[must_use]
pub fn choose(findings: &[Finding], most: usize) -> Vec<usize> {
    let mut chosen: Vec<usize> = (0..findings.len()).collect();
    if most > 0 {
        chosen.sort_by_key(|&i| findings[i].severity());
        chosen.truncate(most);
        chosen.sort_unstable();
    }
    chosen
}

/// Like [`choose`], but of one rule at most three are wanted, unless all are.
#[must_use]
pub fn choose_few(findings: &[Finding], most: usize) -> Vec<usize> {
    const OF_A_RULE: usize = 3;
    if most == 0 {
        return choose(findings, most);
    }
    let mut counts: HashMap<&str, usize> = HashMap::new();
    let mut chosen: Vec<usize> = (0..findings.len())
        .filter(|&i| {
            let count = counts.entry(findings[i].rule.id).or_default();
            *count += 1;
            *count <= OF_A_RULE
        })
        .collect();
    chosen.sort_by_key(|&i| findings[i].severity());
    chosen.truncate(most);
    chosen.sort_unstable();
    chosen
}

/// A file, and what was found out about it or why there is nothing.
pub type Checked = (PathBuf, Result<Report, Failed>);

/// Checks one file.
///
/// # Errors
///
/// Why there is no report: the file could not be read, or this program is wrong.
pub fn check_file(path: &Path, args: &Args, progress: bool) -> Result<Report, Failed> {
    check_input(&FileInput::open(path)?, path, args, progress)
}

/// Checks a file that was opened. If it gets shorter while its header is read, that is a finding, and
/// what is left of it is looked at once more.
///
/// # Errors
///
/// As [`check_file`].
pub fn check_input(input: &FileInput, path: &Path, args: &Args, progress: bool) -> Result<Report, Failed> {
    let until = if args.header_only { Stage::Layout } else { args.until };
    let window = Window { base: args.at, max_header: args.max_header, start_only: until <= Stage::Header };
    let decided = match decide(input, window, until) {
        Err(Failed::Unreadable(sentence)) => match input.ended() {
            Some(_) => {
                let again = FileInput::open(path)?;
                if again.len() >= input.len() {
                    return Err(Failed::Unreadable(sentence));
                }
                let decided = decide(&again, window, until)?;
                let shrunk = assay_scan::shrunk(input.len(), again.len(), Field::Unread);
                return report(&again, args, (until, window), decided, Some(shrunk), progress);
            }
            None => return Err(Failed::Unreadable(sentence)),
        },
        decided => decided?,
    };
    report(input, args, (until, window), decided, None, progress)
}

/// Looks at the data, and puts everything together.
fn report(
    input: &FileInput,
    args: &Args,
    (until, window): (Stage, Window),
    decided: Decided,
    shrunk: Option<Finding>,
    progress: bool,
) -> Result<Report, Failed> {
    let mut times = Times::default();
    let (mut judgement, head, fine) = match decided {
        Decided::Fine(fine) => {
            (times.read, times.judge) = (fine.read, fine.judge);
            (nothing_found(), None, Some((What::Gguf(fine.facts), fine.table)))
        }
        Decided::Wrong(judged) => {
            (times.read, times.judge) = (judged.head.read, judged.time);
            (judged.judgement, Some(judged.head), None)
        }
    };
    let decoded = head.as_ref().map(|head| (head, head.decode(&Options::default())));
    let (what, table) = match (fine, &decoded) {
        (Some(fine), _) => fine,
        (None, Some((head, decoded))) if head.start_only() => (What::of(head, decoded), None),
        (None, Some((head, decoded))) => (What::of(head, decoded), Table::of_decoded(decoded)),
        (None, None) => unreachable!("a file is fine, or it was decoded"),
    };

    let mut noticed = Vec::from_iter(shrunk);
    let mut scanned = None;
    if let Some(table) = &table {
        if until >= Stage::Layout {
            noticed.extend(table.arrangement.findings(input.len()));
        }
        if until >= Stage::Data && !args.no_scan {
            let threads = args.threads.unwrap_or_else(scan::default_threads);
            let (scan, findings) = scan_file(input, table, threads, progress)?;
            scanned = Some(scan);
            noticed.extend(findings);
        }
    }
    if !noticed.is_empty() {
        judgement.findings.extend(noticed);
        judgement.findings.sort_by(Finding::order);
    }

    let owner_of = |field: &Field| match (&decoded, field, &table) {
        (Some((_, decoded)), ..) => owner(decoded.tree.as_ref()?, field).map(<[u8]>::to_vec),
        (None, Field::Data(i), Some(table)) => table.names.get(*i).cloned(),
        _ => None,
    };
    let choose = if args.json { choose } else { choose_few };
    let shown = choose(&judgement.findings, usize::try_from(args.max_findings).unwrap_or(usize::MAX))
        .into_iter()
        .map(|i| (i, owner_of(&judgement.findings[i].field)))
        .collect();
    let hashes = hashes(input, args, (until, window), table.as_ref(), progress)?;
    times.hash = hashes.time;
    Ok(Report {
        size: input.len(),
        base: args.at,
        what,
        judgement,
        shown,
        until,
        sha256: hashes.file,
        tensors: hashes.tensors,
        scanned,
        times,
    })
}

/// The hashes that were asked for.
#[derive(Default)]
struct Hashes {
    file: Option<String>,
    tensors: Option<Result<Vec<TensorHash>, String>>,
    time: Option<Duration>,
}

fn hashes(
    input: &FileInput,
    args: &Args,
    (until, window): (Stage, Window),
    table: Option<&Table>,
    progress: bool,
) -> Result<Hashes, Failed> {
    let mut hashes = Hashes::default();
    if !args.sha256 && !args.tensor_sha256 {
        return Ok(hashes);
    }
    let start = Instant::now();
    let read_error = |error: std::io::Error| format!("hashing it failed: {error}");
    let ranges = args.tensor_sha256.then(|| match table {
        Some(table) => tensor_ranges(&table.tensors, input.len()).map(|ranges| (table, ranges)),
        None if window.start_only => Err(format!("judged up to the {until} stage, the tensor table was not read")),
        None => Err("the tensor table could not be read".to_owned()),
    });
    let known = ranges.as_ref().and_then(|ranges| ranges.as_ref().ok());
    let bar = Progress::bytes("hashing", work(input, args.sha256, known.map(|(_, ranges)| &ranges[..])), progress);
    if args.sha256 {
        hashes.file = Some(sha256(input, 0..input.len(), &bar).map_err(read_error)?);
    }
    hashes.tensors = match ranges {
        None => None,
        Some(Err(reason)) => Some(Err(reason)),
        Some(Ok((table, ranges))) => {
            let each = table.names.iter().zip(ranges).map(|(name, range)| {
                let (start, size) = (range.start, range.end - range.start);
                let sha256 = sha256(input, range, &bar).map_err(read_error)?;
                Ok(TensorHash { name: name.clone(), start, size, sha256 })
            });
            Some(Ok(each.collect::<Result<_, String>>()?))
        }
    };
    hashes.time = Some(start.elapsed());
    Ok(hashes)
}

/// What is said of several files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Totals {
    files: usize,
    fine: usize,
    failed: usize,
    unreadable: usize,
    errors: usize,
    warnings: usize,
}

impl Totals {
    fn add(&mut self, checked: &Result<Report, Failed>, strict: bool) {
        self.files += 1;
        let Ok(report) = checked else {
            self.unreadable += 1;
            return;
        };
        let (errors, warnings) = report.counts();
        self.errors += errors;
        self.warnings += warnings;
        match report.exit(strict) {
            Exit::Fine => self.fine += 1,
            _ => self.failed += 1,
        }
    }
}

/// Runs the command.
///
/// # Errors
///
/// If the output cannot be written; what is wrong with files is part of the answer.
pub fn run(args: &Args, ui: &mut Ui) -> Result<Exit, Failure> {
    let found = walk::files(&args.paths);
    let mut exit = Exit::Fine;
    // Kept for JSON alone: of many files the reports are large.
    let mut all: Vec<Checked> = Vec::new();
    let mut totals = Totals::default();
    let several = found.len() > 1;
    for (path, reachable) in found {
        let checked = reachable.map_err(Failed::Unreadable).and_then(|()| check_file(&path, args, ui.progress()));
        exit = exit.max(checked.as_ref().map_or(Exit::Unreadable, |report| report.exit(args.strict)));
        totals.add(&checked, args.strict);
        if args.json {
            all.push((path, checked));
            continue;
        }
        match &checked {
            Ok(report) if args.quiet && report.judgement.findings.is_empty() => {}
            Ok(report) => {
                text::write(ui.out(), &path, report)?;
                if several || args.quiet {
                    writeln!(ui.out())?;
                }
            }
            Err(sentence) => ui.complain(&format!("{}: {sentence}", safe_path(&path))),
        }
    }
    if args.json {
        write_json(ui.out(), &json::document(&all, args, exit))?;
    } else if several || args.quiet {
        text::write_summary(ui.out(), &totals)?;
    }
    Ok(exit)
}

#[doc(hidden)]
pub use text::write as write_text;
