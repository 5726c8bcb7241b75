//! `assay corpus`: build, check, and look at the corpus.

mod build;
mod diff;
mod list;
mod promote;
mod show;
pub mod verify;

use crate::exit::{Exit, Failure};
use crate::ui::Ui;

const EXAMPLES: &str = "\
Examples:
  assay corpus build                      write it anew from its definitions
  assay corpus promote NAME --id ID       a finding of assay fuzz becomes a vector
  assay corpus verify --ggml DIR          our expectations against the real ggml library
  assay corpus list --class disputed      the vectors on which the authorities disagree
  assay corpus show key-upper             a vector: what it is for, what is expected, its bytes
  assay corpus diff old/corpus corpus     what changed, field by field";

/// Build, verify and look at the corpus.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    Build(build::Args),
    Promote(promote::Args),
    Verify(verify::Args),
    List(list::Args),
    Show(show::Args),
    Diff(diff::Args),
}

impl Args {
    /// Whether the answer is for a script.
    #[must_use]
    pub fn json(&self) -> bool {
        match &self.command {
            Command::Build(args) => args.json,
            Command::Promote(args) => args.json,
            Command::Verify(args) => args.json,
            Command::List(args) => args.json,
            Command::Show(args) => args.json,
            Command::Diff(args) => args.json,
        }
    }
}

/// Runs the command.
///
/// # Errors
///
/// As its part says.
pub fn run(args: &Args, ui: &mut Ui) -> Result<Exit, Failure> {
    match &args.command {
        Command::Build(args) => build::run(args, ui),
        Command::Promote(args) => promote::run(args, ui),
        Command::Verify(args) => verify::run(args, ui),
        Command::List(args) => list::run(args, ui),
        Command::Show(args) => show::run(args, ui),
        Command::Diff(args) => diff::run(args, ui),
    }
}
