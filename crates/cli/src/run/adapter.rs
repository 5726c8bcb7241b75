//! Readers behind adapters, against the corpus.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use assay_corpus::store::Entry;
use assay_harness::adapter::program::Program;
use assay_harness::adapter::run::Adapter;
use assay_harness::adapter::session::Limits;
use assay_harness::adapter::verdict::Verdict;
use assay_harness::expectations::Expectations;
use assay_harness::record::{
    Footer, Header, Line, NotRun, Record, Result as ResultLine, START, never_asked, write_line,
};
use assay_report::terminal;
use serde_json::{Value as Json, json};

use super::Args;
use crate::exit::{Exit, Failure};
use crate::numbers::most;
use crate::text::{count, safe, safe_path};
use crate::ui::{Progress, Ui, write_json};

/// Most processes side by side unless more are asked for: each may use up to the limit of memory.
const MOST_JOBS: usize = 8;

/// How many failures of each verdict are shown unless more are asked for.
pub const MOST_FAILURES: usize = 10;

/// Asks every adapter about the chosen vectors, and shows what came of it.
///
/// # Errors
///
/// If an adapter cannot be started, expectations cannot be read, or something cannot be written.
pub fn run(args: &Args, all: &[Entry], chosen: &[Entry], ui: &mut Ui) -> Result<Exit, Failure> {
    if args.adapter.len() > 1 && args.expectations.is_some() {
        let why = "--expectations names the file of one adapter, and several are given: leave it out";
        return Err(Failure::Usage(why.to_owned()));
    }
    let programs = args.adapter.iter().map(|text| Program::parse(text)).collect::<Result<Vec<_>, _>>();
    let programs = programs.map_err(Failure::Usage)?;
    let unwritable = |path: &Path, error: std::io::Error| {
        Failure::Unreadable(format!("{}: cannot be written: {error}", safe_path(path)))
    };
    let file = match &args.record {
        Some(path) => {
            if !may_be_replaced(path) {
                let why = format!("{}: is there, and is no record: name another file", safe_path(path));
                return Err(Failure::Unreadable(why));
            }
            Some((path, Mutex::new(File::create(path).map_err(|error| unwritable(path, error))?)))
        }
        None => None,
    };
    let mut exit = Exit::Fine;
    let mut runs = Vec::new();
    for (i, program) in programs.into_iter().enumerate() {
        let trouble = Mutex::new(None);
        let keep = |line: &Line| {
            if let Some((path, file)) = &file {
                let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
                if let Err(error) = write_line(line, &mut *file) {
                    *trouble.lock().unwrap_or_else(PoisonError::into_inner) = Some(unwritable(path, error));
                }
            }
        };
        let ran = one(args, program, all, chosen, &keep, ui)?;
        if let Some(failure) = trouble.into_inner().unwrap_or_else(PoisonError::into_inner) {
            return Err(failure);
        }
        exit = exit.max(ran.exit);
        if args.json {
            runs.push(ran.to_json());
        } else {
            if i > 0 {
                writeln!(ui.out())?;
            }
            terminal::write(&ran.record, most(args.max_failures, MOST_FAILURES), ui.out())?;
            if let Some(path) = &ran.blessed {
                let unexplained = ran.unexplained;
                let rest = match unexplained {
                    0 => String::new(),
                    n => format!("; {} to be filled in", count(n, "reason")),
                };
                writeln!(ui.out(), "wrote {}{rest}", safe_path(path))?;
            }
        }
    }
    if args.json {
        let object = json!({"assay": env!("CARGO_PKG_VERSION"), "exit": exit.code(), "runs": runs});
        write_json(ui.out(), &object)?;
    }
    Ok(exit)
}

/// One adapter's run.
struct Ran {
    record: Record,
    exit: Exit,
    /// Where expectations were written.
    blessed: Option<PathBuf>,
    /// How many of their groups have no reason.
    unexplained: usize,
}

fn one(
    args: &Args,
    program: Program,
    all: &[Entry],
    chosen: &[Entry],
    keep: &(dyn Fn(&Line) + Sync),
    ui: &Ui,
) -> Result<Ran, Failure> {
    let mut limits = Limits::default();
    if let Some(seconds) = args.cpu_seconds {
        limits.cpu = Duration::try_from_secs_f64(seconds).unwrap_or(limits.cpu);
        // The clock is a backstop: it must not decide before the processor time does.
        limits.wall = limits.wall.max(limits.cpu.saturating_mul(4));
    }
    limits.memory = args.memory.unwrap_or(limits.memory);
    let jobs = args.jobs.map_or_else(
        || std::thread::available_parallelism().map_or(1, |n| n.get().min(MOST_JOBS)),
        |jobs| usize::try_from(jobs).unwrap_or(usize::MAX).max(1),
    );
    let cannot_run = |why: String| Failure::Unreadable(why);
    let adapter = Adapter::start(program, limits).map_err(|error| cannot_run(error.to_string()))?;
    let started = adapter.started().clone();
    let (name, version) = (started.name.as_str(), started.version.as_str());
    let path =
        args.expectations.clone().unwrap_or_else(|| Path::new("reports/expectations").join(format!("{name}.json")));
    let expectations = Expectations::load(&path).map_err(|error| cannot_run(error.to_string()))?;
    if let Some(known) = expectations.as_ref().filter(|_| args.bless) {
        let refused = |why: String| Err(cannot_run(format!("{}: {why}", safe_path(&path))));
        if known.implementation != name {
            let whose = safe(&known.implementation);
            return refused(format!("holds the expectations of {whose}, not of {name}: nothing is blessed"));
        }
        if known.version != version && args.filter.is_some() {
            let old = safe(&known.version);
            return refused(format!("is of version {old}; bless {} by a run without --filter", safe(version)));
        }
    }
    if expectations.is_none() && args.expectations.is_some() && !args.bless {
        return Err(cannot_run(format!("{}: is not there; --bless writes it", safe_path(&path))));
    }

    let mut header = Header::new(&args.corpus, all, chosen.len(), adapter.program(), adapter.answer(), &limits, jobs);
    if let Some(filter) = &args.filter {
        let what = count(all.len() - chosen.len(), "vector");
        header.not_run.push(NotRun { what, why: format!("--filter {filter}") });
    }
    header.not_run.extend(never_asked(&started));
    keep(&Line::Header(Box::new(header.clone())));

    let bar = Progress::things(&safe(&format!("{name} {version}")), "vectors", chosen.len(), ui.progress());
    let results = Mutex::new(Vec::new());
    let run = adapter.run(chosen, jobs, &|outcome| {
        let mut result = ResultLine::new(&chosen[outcome.index], outcome);
        result.known = expectations.as_ref().and_then(|known| known.reason(&result)).map(ToOwned::to_owned);
        keep(&Line::Result(Box::new(result.clone())));
        results.lock().unwrap_or_else(PoisonError::into_inner).push(result);
        bar.add(1);
    });
    drop(bar);
    let run = run.map_err(cannot_run)?;
    let mut results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    results.sort_by(|a, b| a.vector.cmp(&b.vector));

    let ids: BTreeSet<&str> = all.iter().map(|entry| entry.vector.id.as_str()).collect();
    let mut blessed = None;
    let mut unexplained = 0;
    let mut problems = Vec::new();
    if args.bless {
        if let Some(why) = &run.gave_up {
            return Err(cannot_run(format!("nothing is blessed, for not every vector was run: {why}")));
        }
        let new = Expectations::blessed(expectations.as_ref(), name, version, &results);
        unexplained = new.groups.iter().filter(|group| group.reason.is_empty()).count();
        write_expectations(&path, &new)?;
        for result in &mut results {
            result.known = new.reason(result).map(ToOwned::to_owned);
        }
        blessed = Some(path);
    } else if let Some(expectations) = &expectations {
        problems = expectations.problems(name, version, &ids, &results);
    }
    let mut footer = Footer::new(&run, &results, &problems);
    let checked = results.iter().any(|result| Verdict::from_name(&result.verdict).is_some_and(Verdict::is_checked));
    let unexpected = results.iter().any(|result| result.is_failure() && result.known.is_none());
    if !checked && footer.complete {
        footer.problems.push("judged no vector: nothing was checked".to_owned());
    }
    keep(&Line::Footer(Box::new(footer.clone())));

    let exit = if !footer.complete || !checked {
        Exit::Unreadable
    } else if footer.expectations.is_empty()
        && footer.problems.is_empty()
        && (!unexpected || (blessed.is_some() && results.iter().all(|result| result.unstable.is_none())))
    {
        Exit::Fine
    } else {
        Exit::Findings
    };
    let record = Record { header, results, footer: Some(footer) };
    Ok(Ran { record, exit, blessed, unexplained })
}

/// Whether a record may be written over what is at this place: nothing, nothing in it, or a record.
fn may_be_replaced(path: &Path) -> bool {
    let mut start = Vec::new();
    match File::open(path) {
        // What is not there can be made, and what cannot be read is told when it is written.
        Err(_) => true,
        Ok(file) if file.metadata().is_ok_and(|metadata| !metadata.is_file()) => true,
        Ok(file) => {
            let read = file.take(START.len() as u64).read_to_end(&mut start);
            read.is_ok() && (start.is_empty() || start == START)
        }
    }
}

fn write_expectations(path: &Path, expectations: &Expectations) -> Result<(), Failure> {
    let refused = |error| Failure::Unreadable(format!("{}: cannot be written: {error}", safe_path(path)));
    if let Some(parent) = path.parent() {
        std::fs::create_dir_all(parent).map_err(refused)?;
    }
    std::fs::write(path, expectations.to_text()).map_err(refused)
}

impl Ran {
    /// The run for a script: what the record holds.
    fn to_json(&self) -> Json {
        let mut object = json!(self.record);
        object["exit"] = json!(self.exit.code());
        object["blessed"] = json!(self.blessed.as_deref().map(crate::text::path_json));
        object
    }
}
