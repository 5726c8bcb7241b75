//! `assay report`: the record of a run, of readers or of kernels, for people.

use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;

use assay_harness::{kernels, record};
use assay_report::{markdown, terminal};

use crate::exit::{Exit, Failure};
use crate::numbers::{most, whole};
use crate::run::adapter::MOST_FAILURES;
use crate::text::safe_path;
use crate::ui::Ui;

const EXAMPLES: &str = "\
Examples:
  assay report run.jsonl                      as `assay run --adapter` has shown it
  assay report run.jsonl --format markdown    for a pull request
  assay report kernels.jsonl --full           as `assay kernels --full` has shown it

`assay run --adapter COMMAND --record FILE` and `assay kernels --record FILE` write records. Exit codes: 0 shown, whatever the run came to;
2 usage; 3 the record could not be read.";

/// Show the record of a run.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The record.
    #[arg(value_name = "FILE")]
    pub file: PathBuf,

    /// How to show it.
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,

    /// Show at most this many failures of each verdict, or of each set of kernels; 0 for all [default:
    /// 10, of kernels 5].
    #[arg(long, value_name = "N", value_parser = whole)]
    pub max_failures: Option<u64>,

    /// Of kernels, a table of each set, also where there are many.
    #[arg(long)]
    pub full: bool,
}

/// A face of a record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// A table and text.
    #[default]
    Terminal,
    /// Markdown.
    Markdown,
}

/// Runs the command.
///
/// # Errors
///
/// If the record cannot be read, or the output cannot be written.
pub fn run(args: &Args, ui: &mut Ui) -> Result<Exit, Failure> {
    let path = safe_path(&args.file);
    let text = fs::read_to_string(&args.file)
        .map_err(|error| Failure::Unreadable(format!("{path}: cannot be read: {error}")))?;
    let refused = |why| Failure::Unreadable(format!("{path}: {why}"));
    if kernels::record::is_of_kernels(&text) {
        let records = kernels::record::read(&text).map_err(refused)?;
        let most = most(args.max_failures, assay_report::kernels::MOST_FAILURES);
        each(&records, ui, |record, out| match args.format {
            Format::Terminal => assay_report::kernels::terminal::write(record, most, args.full, None, out),
            Format::Markdown => assay_report::kernels::markdown::write(record, most, out),
        })
    } else if args.full {
        Err(Failure::Usage("--full is for records of `assay kernels`".to_owned()))
    } else {
        let records = record::read(&text).map_err(refused)?;
        let most = most(args.max_failures, MOST_FAILURES);
        each(&records, ui, |record, out| match args.format {
            Format::Terminal => terminal::write(record, most, out),
            Format::Markdown => markdown::write(record, most, out),
        })
    }
}

/// Shows records with an empty line between them.
fn each<R>(records: &[R], ui: &mut Ui, show: impl Fn(&R, &mut dyn Write) -> io::Result<()>) -> Result<Exit, Failure> {
    for (i, record) in records.iter().enumerate() {
        if i > 0 {
            writeln!(ui.out())?;
        }
        show(record, ui.out())?;
    }
    Ok(Exit::Fine)
}
