//! `assay run`: a reader against the whole corpus, the specification's own or one behind an adapter.

pub mod adapter;
pub mod own;

use std::path::PathBuf;

use assay_corpus::store::load;

use crate::exit::{Exit, Failure};
use crate::numbers::{bytes, seconds, whole};
use crate::ui::Ui;

pub use own::{Outcome, judge_all};

const EXAMPLES: &str = "\
Examples:
  assay run                                       the specification's own reader on every vector
  assay run --filter truncated                    on those whose id has this in it
  assay run --corpus other --json                 on another corpus, for a script
  assay run --adapter ./mine                      your reader; docs/adapter-protocol.md says what it is asked
  assay run --adapter \"python3 mine.py --fast\"   a command line, divided as a shell would
  assay run --adapter ./mine --bless              write down what fails, each with a reason to be filled in

Without --adapter, the class of each vector, what every profile does and why, all findings with their
bytes, and the document are compared with what the corpus says. With it, a reader in any language is
asked about every vector and judged; failures that reports/expectations/NAME.json explains are expected.
Adapters run with your rights: name those you trust.

Exit codes: 0 all agree, or fail as expected; 1 some do not; 2 usage; 3 the corpus could not be read,
the adapter could not be run to the end, or nothing was compared.";

/// Judge a reader by the whole corpus: the specification's own, or yours.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Ask the reader behind this adapter; can be given more than once.
    #[arg(long, value_name = "COMMAND")]
    pub adapter: Vec<String>,

    /// Where the corpus is.
    #[arg(long, value_name = "DIR", default_value = "corpus")]
    pub corpus: PathBuf,

    /// Only the vectors whose id contains this.
    #[arg(long, value_name = "TEXT")]
    pub filter: Option<String>,

    /// Processes side by side [default: one for each processor, at most 8].
    #[arg(long, value_name = "N", value_parser = whole, requires = "adapter")]
    pub jobs: Option<u64>,

    /// Processor time for one file; what takes more hangs [default: 2].
    #[arg(long, value_name = "SECONDS", value_parser = seconds, requires = "adapter")]
    pub cpu_seconds: Option<f64>,

    /// Memory of one process, in bytes [default: 4294967296].
    #[arg(long, value_name = "BYTES", value_parser = bytes, requires = "adapter")]
    pub memory: Option<u64>,

    /// Write the record of the run to this file: JSON lines, which `assay report` shows.
    #[arg(long, value_name = "FILE", requires = "adapter")]
    pub record: Option<PathBuf>,

    /// The failures that are expected [default: reports/expectations/NAME.json].
    #[arg(long, value_name = "FILE", requires = "adapter")]
    pub expectations: Option<PathBuf>,

    /// Write the failures that were seen to the file of expectations; reasons of those that stay are kept.
    #[arg(long, requires = "adapter")]
    pub bless: bool,

    /// Show at most this many failures of each verdict; 0 for all [default: 10].
    #[arg(long, value_name = "N", value_parser = whole, requires = "adapter")]
    pub max_failures: Option<u64>,

    /// One JSON object.
    #[arg(long)]
    pub json: bool,
}

/// Runs the command.
///
/// # Errors
///
/// If the corpus cannot be read, no vector is chosen, an adapter cannot be run, or the output cannot be
/// written.
pub fn run(args: &Args, ui: &mut Ui) -> Result<Exit, Failure> {
    let all = load(&args.corpus)?;
    let chosen: Vec<_> = match &args.filter {
        None => all.clone(),
        Some(filter) => all.iter().filter(|entry| entry.vector.id.contains(filter.as_str())).cloned().collect(),
    };
    if chosen.is_empty() {
        let filter = args.filter.as_deref().unwrap_or_default();
        return Err(Failure::Unreadable(format!(
            "no id of the {} vectors contains {filter:?}: nothing was compared",
            all.len()
        )));
    }
    if args.adapter.is_empty() { own::run(&chosen, args.json, ui) } else { adapter::run(args, &all, &chosen, ui) }
}
