//! `assay corpus`: build, check, and look at the corpus.

mod diff;
mod list;
mod show;

use crate::exit::{Exit, Failure};
use crate::ui::Ui;

const EXAMPLES: &str = "\
Examples:
  assay corpus list --class disputed      the vectors on which the authorities disagree
  assay corpus show version-future        a vector: what it is for, what is expected, its bytes
  assay corpus diff old/corpus corpus     what changed, field by field";

/// Look at the corpus.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    List(list::Args),
    Show(show::Args),
    Diff(diff::Args),
}

/// Runs the command.
///
/// # Errors
///
/// As its part says.
pub fn run(args: &Args, ui: &mut Ui) -> Result<Exit, Failure> {
    match &args.command {
        Command::List(args) => list::run(args, ui),
        Command::Show(args) => show::run(args, ui),
        Command::Diff(args) => diff::run(args, ui),
    }
}
