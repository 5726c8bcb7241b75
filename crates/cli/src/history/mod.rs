//! `assay history`: the corpus through many releases of ggml.

mod markdown;
mod text;

use std::fs;
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use assay_corpus::store::load;
use assay_harness::history::{self, Change, History, Options, Row, modes};
use serde_json::{Value as Json, json};

use crate::exit::{Exit, Failure};
use crate::text::safe_path;
use crate::ui::{Progress, Ui, write_json};

const EXAMPLES: &str = "\
Examples:
  assay history --ggml old/bins --ggml new/bins          two releases, oldest first
  assay history --ggml releases/*                        as many as you have, in the order named
  assay history --ggml releases/* --markdown report.md   the same as a page
  assay history --ggml releases/* --filter nesting --all every vector, not only those that change

Each directory holds ggml's base library of one release since late 2024; a file release.json beside
it, {\"release\": \"b4234\"}, gives it a name. `reports/fetch-ggml-releases.sh` fetches some thirty.
Each vector is read by each release header only and with its data, each time in a process of its own
under 4 GiB of address space and 10 seconds of processor time; only the outcome is looked at. The libraries
run with your rights: name those you trust.

Exit codes: 0 done, 1 the release that the corpus speaks of does something else than the corpus says,
2 usage, 3 the corpus or a library could not be read, or there was nothing to run.";

/// See what became of each vector from one release of ggml to the next.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The directories of the releases' base libraries, oldest first.
    #[arg(long, value_name = "DIR", required = true, num_args = 1..)]
    pub ggml: Vec<PathBuf>,

    /// Where the corpus is.
    #[arg(long, value_name = "DIR", default_value = "corpus")]
    pub corpus: PathBuf,

    /// Only the vectors whose id contains this.
    #[arg(long, value_name = "TEXT")]
    pub filter: Option<String>,

    /// Vectors that never change, too.
    #[arg(long)]
    pub all: bool,

    /// Write a page of Markdown here.
    #[arg(long, value_name = "FILE")]
    pub markdown: Option<PathBuf>,

    /// One JSON object.
    #[arg(long)]
    pub json: bool,
}

/// Runs the command.
///
/// # Errors
///
/// [`Failure::Unreadable`] if the corpus or a library cannot be used, or the page cannot be written.
pub fn run(args: &Args, ui: &mut Ui) -> Result<Exit, Failure> {
    let mut entries = load(&args.corpus)?;
    if let Some(filter) = &args.filter {
        entries.retain(|entry| entry.vector.id.contains(filter.as_str()));
        if entries.is_empty() {
            return Err(Failure::Unreadable(format!("no id of a vector contains {filter:?}: nothing was run")));
        }
    }
    let probe = crate::probe::child()?;
    let bar = Progress::things("ggml", "runs", 0, ui.progress());
    let progress = |ended, of| bar.reached(ended, of);
    let options = Options {
        releases: &args.ggml,
        probe: &probe,
        jobs: thread::available_parallelism().map_or(1, std::num::NonZero::get),
        progress: &progress,
    };
    let start = Instant::now();
    let history = history::history(&entries, &options);
    let time = start.elapsed();
    drop(bar);
    let history = history.map_err(|error| Failure::Unreadable(error.to_string()))?;

    let exit = if history.unexpected.is_empty() { Exit::Fine } else { Exit::Findings };
    let shown = Shown::of(&history, args.all);
    if let Some(path) = &args.markdown {
        let refused = |error| Failure::Unreadable(format!("{}: cannot be written: {error}", safe_path(path)));
        let mut page = Vec::new();
        markdown::write(&shown, &mut page).map_err(refused)?;
        fs::write(path, page).map_err(refused)?;
    }
    if args.json {
        write_json(ui.out(), &to_json(&shown, exit, time))?;
    } else {
        text::write(&shown, time, ui.out())?;
        if let Some(path) = &args.markdown {
            writeln!(ui.out(), "written: {}", safe_path(path))?;
        }
    }
    Ok(exit)
}

/// A history as it is shown: rows in order, by kind of change.
struct Shown<'a> {
    history: &'a History,
    /// The names of the releases, oldest first.
    names: Vec<&'a str>,
    /// The kinds of change that are shown and have rows.
    groups: Vec<(Change, Vec<&'a Row>)>,
}

impl<'a> Shown<'a> {
    fn of(history: &'a History, all: bool) -> Self {
        let mut rows: Vec<&Row> = history.rows.iter().collect();
        rows.sort_by(|a, b| a.order(b));
        let kinds = Change::ALL.into_iter().filter(|&change| all || change != Change::None);
        let groups = kinds
            .map(|change| (change, rows.iter().copied().filter(|row| row.change() == change).collect::<Vec<_>>()))
            .filter(|(_, rows)| !rows.is_empty())
            .collect();
        Self { history, names: history.releases.iter().map(|release| release.name.as_str()).collect(), groups }
    }

    /// How many vectors have a row that changes or fails.
    fn changing(&self) -> usize {
        let ids: std::collections::BTreeSet<_> =
            self.history.rows.iter().filter(|row| row.change() != Change::None).map(|row| &row.id).collect();
        ids.len()
    }
}

/// The history for a script.
fn to_json(shown: &Shown<'_>, exit: Exit, time: Duration) -> Json {
    let history = shown.history;
    let releases = history
        .releases
        .iter()
        .map(|release| json!({"name": release.name, "ggml": release.version, "package": release.package}));
    let rows = shown.groups.iter().flat_map(|(change, rows)| rows.iter().map(move |row| (change, row)));
    json!({
        "assay": env!("CARGO_PKG_VERSION"),
        "exit": exit.code(),
        "limits_enforced": history.limits_enforced,
        "vectors": history.vectors,
        "runs": history.runs,
        "changing": shown.changing(),
        "seconds": time.as_secs_f64(),
        "releases": releases.collect::<Vec<_>>(),
        "unexpected": history.unexpected,
        "rows": rows.map(|(change, row)| json!({
            "id": row.id,
            "mode": modes(row.mode),
            "change": change.title(),
            "outcomes": row.outcomes.iter().map(history::Outcome::describe).collect::<Vec<_>>(),
            "story": row.story(&shown.names),
        })).collect::<Vec<_>>(),
    })
}
