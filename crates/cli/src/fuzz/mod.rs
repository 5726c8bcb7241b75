//! `assay fuzz`: generated and mutated files against readers behind adapters.

mod json;
mod replay;
mod run;
mod text;

use std::path::PathBuf;
use std::time::Duration;

use assay_harness::adapter::program::Program;
use assay_harness::adapter::session::Limits;
use assay_harness::campaign::Reader;

use crate::exit::{Exit, Failure};
use crate::numbers::{bytes, seconds, whole};
use crate::ui::Ui;

const EXAMPLES: &str = "\
Examples:
  assay fuzz --adapter ./mine                         for a minute; findings/ has what is found
  assay fuzz --adapter ./mine --adapter ./other       two readers, also against each other
  assay fuzz --adapter ./mine --resume --seconds 600  go on where it ended
  assay fuzz --adapter ./mine --seed 7 --count 10000  the same files in the same order
  assay fuzz --adapter ./mine --replay findings/crash-0123abcd
                                                      does it still happen?

Files are generated, taken from the corpus, mutated and crossed. One that shows something new, by the
rules it breaks, by verdicts or by messages, is mutated further. Answers are judged as `assay run`
judges them. A failure is confirmed in a fresh process, made small while no profile changes what it does
with the file, and written to a directory of its own: the file, its annotated bytes, what everybody says
of it, and a command that shows it again. What readers do where the profiles disagree is no failure; it
is counted. Interrupted once, it ends in order. Adapters run with your rights: name those you trust.

Exit codes: 0 no failure was found, or the one that is replayed is gone; 1 failures; 2 usage; 3 an
adapter could not be started, none was left to be asked, nothing was asked, or something could not be
written.";

/// Find files that readers fail on, or disagree about.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Ask the reader behind this adapter; can be given more than once.
    #[arg(long, value_name = "COMMAND", required = true)]
    pub adapter: Vec<String>,

    /// Make files for so long; to make findings small may take up to a quarter more, and 5 seconds at the
    /// least [default: 60, unless --count is given].
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub seconds: Option<f64>,

    /// Make so many files.
    #[arg(long, value_name = "N", value_parser = whole)]
    pub count: Option<u64>,

    /// What all files follow from, together with the answers of the readers [default: drawn, and told].
    #[arg(long, value_name = "N", value_parser = whole)]
    pub seed: Option<u64>,

    /// Where findings go, and what is needed to go on.
    #[arg(long, value_name = "DIR", default_value = "findings")]
    pub out: PathBuf,

    /// Go on with the campaign in --out.
    #[arg(long, conflicts_with = "seed")]
    pub resume: bool,

    /// Ask about this finding, or this file, again, and do nothing else.
    #[arg(long, value_name = "DIR|FILE", conflicts_with_all = ["seconds", "count", "seed", "resume"])]
    pub replay: Option<PathBuf>,

    /// Where the corpus is, whose files are seeds [default: corpus, if it is there].
    #[arg(long, value_name = "DIR")]
    pub corpus: Option<PathBuf>,

    /// The largest file that is made, in bytes.
    #[arg(long, value_name = "BYTES", default_value_t = 64 << 10, value_parser = bytes)]
    pub max_size: u64,

    /// The most that files and findings take on disk, in bytes.
    #[arg(long, value_name = "BYTES", default_value_t = 256 << 20, value_parser = bytes)]
    pub max_disk: u64,

    /// Questions to a reader while one finding is made small; 0 leaves findings as they are.
    #[arg(long, value_name = "N", default_value_t = 400, value_parser = whole)]
    pub tries: u64,

    /// Processes of each adapter side by side [default: the processors divided by the adapters].
    #[arg(long, value_name = "N", value_parser = whole)]
    pub jobs: Option<u64>,

    /// Processor time for one file; what takes more hangs. A quarter of it is enough to have a file looked at
    /// more closely [default: 2].
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub cpu_seconds: Option<f64>,

    /// Memory of one process, in bytes [default: 4294967296].
    #[arg(long, value_name = "BYTES", value_parser = bytes)]
    pub memory: Option<u64>,

    /// One JSON object about the campaign; docs/cli.md describes it.
    #[arg(long)]
    pub json: bool,
}

/// The longest that a file may take on the clock: files are small, and a campaign asks about many.
const WALL: Duration = Duration::from_secs(10);

/// Runs the command.
///
/// # Errors
///
/// If the command line makes no sense, no adapter can be started, or something cannot be read or written.
pub fn run(args: &Args, ui: &mut Ui) -> Result<Exit, Failure> {
    match &args.replay {
        Some(path) => replay::run(args, path, ui),
        None => run::run(args, ui),
    }
}

/// Starts every adapter.
fn readers(args: &Args) -> Result<Vec<Reader>, Failure> {
    if args.jobs == Some(0) {
        return Err(Failure::Usage("--jobs 0 starts no process to ask: give 1 or more".to_owned()));
    }
    let programs = args.adapter.iter().map(|text| Program::parse(text)).collect::<Result<Vec<_>, _>>();
    let programs = programs.map_err(Failure::Usage)?;
    let limits = limits(args);
    let jobs = args.jobs.map_or_else(
        || std::thread::available_parallelism().map_or(1, |n| n.get() / programs.len()),
        |jobs| usize::try_from(jobs).unwrap_or(usize::MAX),
    );
    let jobs = jobs.clamp(1, MOST_JOBS);
    let start = |program| Reader::start(program, limits, jobs).map_err(|e| Failure::Unreadable(e.to_string()));
    programs.into_iter().map(start).collect()
}

/// Most processes of one adapter side by side.
const MOST_JOBS: usize = 64;

fn limits(args: &Args) -> Limits {
    let mut limits = Limits { wall: WALL, ..Limits::default() };
    if let Some(seconds) = args.cpu_seconds {
        limits.cpu = Duration::try_from_secs_f64(seconds).unwrap_or(limits.cpu);
        // The clock is a backstop: it must not decide before the processor time does.
        limits.wall = limits.wall.max(limits.cpu.saturating_mul(4));
    }
    limits.memory = args.memory.unwrap_or(limits.memory);
    limits
}
