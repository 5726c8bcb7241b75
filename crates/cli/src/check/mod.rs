//! `assay check`: is this file well formed and complete, and who will refuse it?

mod json;
mod text;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::builder::{PossibleValuesParser, TypedValueParser};
use gguf_spec::binary::Options;
use gguf_spec::field::Finding;
use gguf_spec::judge::Judgement;
use gguf_spec::profile::{KeyLookup, Outcome};
use gguf_spec::rules::{Severity, Stage};
use gguf_spec::valid::Input;
use gguf_spec::valid::layout::DataLayout;

use crate::exit::{Exit, Failure};
use crate::fields::owner;
use crate::hash::{Progress, sha256, tensor_ranges, work};
use crate::input::{FileInput, Judged, Window, judge};
use crate::numbers;
use crate::text::safe_path;
use crate::ui::{Ui, write_json};
use crate::walk;
use crate::what::What;

const EXAMPLES: &str = "\
Examples:
  assay check model.gguf                       who accepts it, and every finding
  assay check --strict models/                 every *.gguf below a directory; warnings fail too
  assay check --header-only part.gguf          a file of which only the start was downloaded
  assay check --at 33554432 model.llamafile    a model that starts inside another file
  assay check --json --tensor-sha256 m.gguf    for a script

An error is what ggml refuses, or what makes the data unusable. A warning is a deviation from the
format document that ggml reads. Exit codes: 0 no errors, 1 errors (with --strict also warnings),
2 usage, 3 something could not be read, or there was nothing to check.";

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

    /// Judge the header alone: the same as `--until layout`.
    #[arg(long, conflicts_with = "until")]
    pub header_only: bool,

    /// Where in the file the GGUF file starts, in bytes; 0x1000 is hexadecimal.
    #[arg(long, value_name = "OFFSET", default_value = "0", value_parser = numbers::bytes, allow_hyphen_values = true)]
    pub at: u64,

    /// The SHA-256 of each file.
    #[arg(long)]
    pub sha256: bool,

    /// The SHA-256 of the data of each tensor.
    #[arg(long)]
    pub tensor_sha256: bool,

    /// Show at most this many findings of a file, errors first; 0 for all.
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = numbers::whole, allow_hyphen_values = true)]
    pub max_findings: u64,

    /// The largest header that is read, in bytes; judging it can take some twelve times as much memory.
    #[arg(long, value_name = "BYTES", default_value_t = crate::input::DEFAULT_MAX_HEADER)]
    #[arg(value_parser = numbers::bytes, allow_hyphen_values = true)]
    pub max_header: u64,

    /// One JSON object about all files; docs/cli.md describes it.
    #[arg(long)]
    pub json: bool,
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
    /// What the specification says, findings and verdicts of later stages left out.
    pub judgement: Judgement,
    /// The findings to show, by their index, each with the key or the tensor name it belongs to.
    pub shown: Vec<(usize, Option<Vec<u8>>)>,
    /// Up to which stage it was judged.
    pub until: Stage,
    /// The SHA-256 of the file, if asked for.
    pub sha256: Option<String>,
    /// The SHA-256 of each tensor, if asked for, or why there is none.
    pub tensors: Option<Result<Vec<TensorHash>, String>>,
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

/// A file, and what was found out about it or why it could not be read.
pub type Checked = (PathBuf, Result<Report, String>);

/// Checks one file.
///
/// # Errors
///
/// The sentence that tells why it could not be read.
pub fn check_file(path: &Path, args: &Args, progress: bool) -> Result<Report, String> {
    let input = FileInput::open(path)?;
    let until = if args.header_only { Stage::Layout } else { args.until };
    let window = Window { base: args.at, max_header: args.max_header, start_only: until <= Stage::Header };
    let Judged { mut judgement, head, time } = judge(&input, window, false)?;

    judgement.findings.retain(|finding| finding.rule.stage <= until);
    for verdict in &mut judgement.verdicts {
        // Findings come in the order of their stages, so what is left out cannot hide an earlier one.
        if verdict.because.as_ref().is_some_and(|finding| finding.rule.stage > until) {
            verdict.because = None;
            verdict.outcome = Outcome::Accept;
        }
    }

    let decoded = head.decode(&Options::default());
    let what = What::of(&head, &decoded);
    let owner = |i: usize| owner(decoded.tree.as_ref()?, &judgement.findings[i].field).map(<[u8]>::to_vec);
    let shown = choose(&judgement.findings, usize::try_from(args.max_findings).unwrap_or(usize::MAX))
        .into_iter()
        .map(|i| (i, owner(i)))
        .collect();
    let mut report = Report {
        size: input.len(),
        base: args.at,
        what,
        shown,
        judgement,
        until,
        sha256: None,
        tensors: None,
        times: Times { read: head.read, judge: time, hash: None },
    };

    if args.sha256 || args.tensor_sha256 {
        let start = Instant::now();
        let read_error = |error: std::io::Error| format!("hashing it failed: {error}");
        let ranges = args.tensor_sha256.then(|| match &decoded.tree {
            Some(tree) if decoded.complete && !head.start_only() => {
                tensor_ranges(&DataLayout::of(tree, &decoded.places, KeyLookup::Exact), input.len())
            }
            _ if head.start_only() => Err(format!("judged up to the {until} stage, the tensor table was not read")),
            _ => Err("the tensor table could not be read".to_owned()),
        });
        let known = ranges.as_ref().and_then(|ranges| ranges.as_deref().ok());
        let bar = Progress::new(work(&input, args.sha256, known), progress);
        if args.sha256 {
            report.sha256 = Some(sha256(&input, 0..input.len(), &bar).map_err(read_error)?);
        }
        report.tensors = match ranges {
            None => None,
            Some(Err(reason)) => Some(Err(reason)),
            Some(Ok(ranges)) => {
                let names = decoded.tree.iter().flat_map(|tree| &tree.tensors).map(|tensor| &tensor.name.bytes);
                let hashes = names.zip(ranges).map(|(name, range)| {
                    let (start, size) = (range.start, range.end - range.start);
                    Ok(TensorHash {
                        name: name.clone(),
                        start,
                        size,
                        sha256: sha256(&input, range, &bar).map_err(read_error)?,
                    })
                });
                Some(Ok(hashes.collect::<Result<_, String>>()?))
            }
        };
        report.times.hash = Some(start.elapsed());
    }
    Ok(report)
}

/// Runs the command.
///
/// # Errors
///
/// If the output cannot be written; what is wrong with files is part of the answer.
pub fn run(args: &Args, ui: &mut Ui) -> Result<Exit, Failure> {
    let found = walk::files(&args.paths);
    let mut exit = Exit::Fine;
    let mut all: Vec<Checked> = Vec::new();
    let several = found.len() > 1;
    for (path, reachable) in found {
        let checked = reachable.and_then(|()| check_file(&path, args, ui.progress()));
        exit = exit.max(checked.as_ref().map_or(Exit::Unreadable, |report| report.exit(args.strict)));
        if !args.json {
            match &checked {
                Ok(report) => {
                    text::write(ui.out(), &path, report)?;
                    if several {
                        writeln!(ui.out())?;
                    }
                }
                Err(sentence) => ui.complain(&format!("{}: {sentence}", safe_path(&path))),
            }
        }
        all.push((path, checked));
    }
    if args.json {
        write_json(ui.out(), &json::document(&all, args, exit))?;
    } else if several {
        text::write_summary(ui.out(), &all, args.strict)?;
    }
    Ok(exit)
}

#[doc(hidden)]
pub use text::write as write_text;
