//! `assay report`: the record of a run, for people.

use std::fs;
use std::path::PathBuf;

use assay_harness::record;
use assay_report::{markdown, terminal};

use crate::exit::{Exit, Failure};
use crate::numbers::whole;
use crate::run::adapter::most_failures;
use crate::text::safe_path;
use crate::ui::Ui;

const EXAMPLES: &str = "\
Examples:
  assay report run.jsonl                      as `assay run --adapter` has shown it
  assay report run.jsonl --format markdown    for a pull request

`assay run --adapter COMMAND --record FILE` writes records. Exit codes: 0 shown, whatever the run came to;
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

    /// Show at most this many failures of each verdict; 0 for all [default: 10].
    #[arg(long, value_name = "N", value_parser = whole)]
    pub max_failures: Option<u64>,
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
    let records = record::read(&text).map_err(|why| Failure::Unreadable(format!("{path}: {why}")))?;
    let most = most_failures(args.max_failures);
    for (i, record) in records.iter().enumerate() {
        if i > 0 {
            writeln!(ui.out())?;
        }
        match args.format {
            Format::Terminal => terminal::write(record, most, ui.out())?,
            Format::Markdown => markdown::write(record, most, ui.out())?,
        }
    }
    Ok(Exit::Fine)
}
