//! `assay corpus verify`: our expectations against the programs they speak of.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use assay_corpus::store::load;
use assay_harness::verify::{self, Difference, Options, Report, Sight, Testimony};
use serde_json::{Value as Json, json};

use crate::exit::{Exit, Failure};
use crate::table::{Align, Table};
use crate::text::{count, duration, safe, safe_path};
use crate::ui::{BOLD, DIM, ERROR, GOOD, ID, Progress, Ui, WARNING, write_json};

const EXAMPLES: &str = "\
Examples:
  assay corpus verify --ggml DIR                     DIR holds ggml's base library, version 0.25.1
  assay corpus verify --ggml DIR --python python3    what ggml cannot show is shown to the package gguf
  assay corpus verify --ggml DIR --python python3 --bless

Every vector is read by the real ggml library, header only and with its data, each time in a child
process under 4 GiB of address space; outcome (accept, refuse, abort) and document are compared with
what the vector expects of ggml's profiles. The library runs with your rights: name one you trust.
With --python, what ggml refuses or its C interface hides is compared with what gguf 0.19.0 reads;
that witness is told, and fails the run only where a vector names it as its evidence.

Exit codes: 0 no difference, 1 differences, 2 usage, 3 the corpus, the library or the package could
not be read, or there was nothing to verify.";

/// Compare the corpus with the real ggml library.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The directory of ggml's base library (libggml-base.so, libggml-base.dylib, ggml-base.dll).
    #[arg(long, value_name = "DIR")]
    pub ggml: PathBuf,

    /// A Python with the package gguf 0.19.0, as the second witness.
    #[arg(long, value_name = "PYTHON")]
    pub python: Option<PathBuf>,

    /// Where the corpus is.
    #[arg(long, value_name = "DIR", default_value = "corpus")]
    pub corpus: PathBuf,

    /// One JSON object.
    #[arg(long)]
    pub json: bool,

    /// Write what was confirmed to evidence.json in the corpus.
    #[arg(long, requires = "python")]
    pub bless: bool,
}

/// Most children side by side: more gain little, and each may use up to the limit of address space.
const MOST_CHILDREN: usize = 2;

/// Runs the command.
///
/// # Errors
///
/// [`Failure::Unreadable`] if the corpus, the library or the package cannot be used, or the evidence
/// cannot be written.
pub fn run(args: &Args, ui: &mut Ui) -> Result<Exit, Failure> {
    let entries = load(&args.corpus)?;
    let probe = crate::probe::child()?;
    let bar = Progress::things("ggml", "children", 0, ui.progress());
    let progress = |ended, of| bar.reached(ended, of);
    let options = Options {
        ggml: &args.ggml,
        probe: &probe,
        python: args.python.as_deref(),
        jobs: thread::available_parallelism().map_or(1, |n| n.get().min(MOST_CHILDREN)),
        progress: &progress,
    };
    let start = Instant::now();
    let report = verify::verify(&entries, &options);
    let time = start.elapsed();
    drop(bar);
    let report = report.map_err(|error| Failure::Unreadable(error.to_string()))?;

    let blessed = if args.bless { Some(bless(&report, &args.corpus)?) } else { None };
    let exit =
        if report.agrees() && (args.bless || report.unconfirmed.is_empty()) { Exit::Fine } else { Exit::Findings };
    if args.json {
        write_json(ui.out(), &to_json(&report, exit, time))?;
    } else {
        write(&report, blessed.as_deref(), time, ui.out())?;
    }
    Ok(exit)
}

/// Writes the evidence, and returns where.
fn bless(report: &Report, corpus: &Path) -> Result<PathBuf, Failure> {
    let path = corpus.join("evidence.json");
    let refused = |error: io::Error| Failure::Unreadable(format!("{}: cannot be written: {error}", safe_path(&path)));
    let mut text = Vec::new();
    write_json(&mut text, &verify::evidence_to_json(&report.evidence)).map_err(refused)?;
    fs::write(&path, text).map_err(refused)?;
    Ok(path)
}

/// The run for a script.
fn to_json(report: &Report, exit: Exit, time: Duration) -> Json {
    let mut object = json!(report);
    object["assay"] = json!(env!("CARGO_PKG_VERSION"));
    object["exit"] = json!(exit.code());
    object["problems"] = json!(report.problems());
    object["seconds"] = json!(time.as_secs_f64());
    object
}

fn write(report: &Report, blessed: Option<&Path>, time: Duration, out: &mut dyn Write) -> io::Result<()> {
    let mut table = Table::new(&[
        ("profile", Align::Left),
        ("runs", Align::Right),
        ("accept", Align::Right),
        ("refuse", Align::Right),
        ("abort", Align::Right),
        ("other", Align::Right),
        ("differ", Align::Right),
    ]);
    for tally in &report.profiles {
        let numbers = [tally.runs, tally.accept, tally.refuse, tally.abort, tally.other, tally.differences];
        table.row([tally.profile.clone()].into_iter().chain(numbers.map(|n| n.to_string())));
    }
    table.write(out, false)?;
    if !report.limits_enforced {
        writeln!(out, "{WARNING}limits: not enforced on this system; the outcomes are stated under them{WARNING:#}")?;
    }
    if report.undocumented > 0 {
        let n = count(report.undocumented, "vector");
        writeln!(out, "{WARNING}{n} too large to state a document: only the outcome was compared{WARNING:#}")?;
    }
    if let Some(testimonies) = &report.witness {
        write_witness(testimonies, out)?;
    }

    for difference in &report.type_differences {
        writeln!(out, "\n{ERROR}differs{ERROR:#} {difference}")?;
    }
    for difference in &report.differences {
        write_difference("differs", "ggml says", difference, out)?;
    }
    for difference in &report.unconfirmed {
        write_difference("unconfirmed", "this run saw", difference, out)?;
    }
    for problem in report.problems() {
        writeln!(out, "\n{ERROR}{problem}{ERROR:#}")?;
    }

    if let Some(path) = blessed {
        writeln!(out, "\nwrote {}: {}", safe_path(path), count(report.evidence.len(), "confirmed vector"))?;
    }
    let differ = report.differences.len() + report.type_differences.len();
    let style = if report.agrees() { GOOD } else { ERROR };
    let runs: usize = report.profiles.iter().map(|tally| tally.runs).sum();
    writeln!(
        out,
        "\n{BOLD}{}{BOLD:#} read by ggml {} in {}: {style}{}{style:#}{}; {}",
        count(report.vectors, "vector"),
        report.ggml,
        count(runs, "run"),
        count(differ, "difference"),
        if report.unconfirmed.is_empty() {
            String::new()
        } else {
            format!(", {ERROR}{} not confirmed{ERROR:#}", count(report.unconfirmed.len(), "claim"))
        },
        duration(time),
    )
}

fn write_difference(what: &str, who: &str, difference: &Difference, out: &mut dyn Write) -> io::Result<()> {
    let Difference { id, profile, path, expected, got, message } = difference;
    writeln!(out, "\n{ERROR}{what}{ERROR:#} {ID}{id}{ID:#} ({profile})")?;
    let place = path.as_ref().map(|path| format!("{path}: ")).unwrap_or_default();
    writeln!(out, "  {}expected {}, {who} {}", safe(&place), safe(expected), safe(got))?;
    if !message.is_empty() {
        writeln!(out, "  {DIM}{}{DIM:#}", safe(&message.replace('\n', " / ")))?;
    }
    Ok(())
}

/// What the second witness said; agreement is counted, everything else is told.
fn write_witness(testimonies: &[Testimony], out: &mut dyn Write) -> io::Result<()> {
    let mut counts: Vec<(&str, usize)> = Vec::new();
    for testimony in testimonies {
        let name = testimony.sight.name();
        match counts.iter_mut().find(|(known, _)| *known == name) {
            Some((_, n)) => *n += 1,
            None => counts.push((name, 1)),
        }
    }
    counts.sort_unstable();
    let counts: Vec<_> = counts.iter().map(|(name, n)| format!("{n} {name}")).collect();
    writeln!(
        out,
        "\n{BOLD}gguf {}{BOLD:#} on {} that ggml does not read or cannot show: {}",
        verify::GGUF_VERSION,
        count(testimonies.len(), "vector"),
        if counts.is_empty() { "nothing to show".to_owned() } else { counts.join(", ") },
    )?;
    for testimony in testimonies.iter().filter(|testimony| testimony.sight != Sight::Agree) {
        writeln!(out, "  {ID}{}{ID:#} {}", testimony.id, safe(&testimony.sight.to_string()))?;
    }
    Ok(())
}
