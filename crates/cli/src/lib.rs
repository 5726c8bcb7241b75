//! The `assay` command, one file per subcommand.
//!
//! The library is here for the tests of the command; its interface is not for others and changes
//! without notice.
#![forbid(unsafe_code)]

pub mod check;
pub mod corpus;
pub mod dump;
pub mod exit;
pub mod explain;
pub mod facts;
pub mod fields;
pub mod foreign;
pub mod fuzz;
pub mod generate;
pub mod hash;
pub mod history;
pub mod input;
pub mod kernels;
pub mod numbers;
pub mod probe;
pub mod report;
pub mod run;
pub mod ui;
pub mod vector;
pub mod walk;
pub mod what;

pub use assay_report::{table, text};

use std::io::{self, Write as _};
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{Parser, Subcommand};

use exit::{Exit, Failure};
use ui::{Color, Ui, error_json, write_json};

const AFTER: &str = "\
Examples:
  assay run                              the specification's own reader against the corpus
  assay run --adapter ./mine             your reader against the corpus
  assay check model.gguf                 is this file well formed, and who accepts it?
  assay dump --hex small.gguf            every byte with the field it belongs to
  assay fuzz --adapter ./mine            does anything crash it? generated files, and what they show
  assay kernels --provider ./libmine.so  are these kernels right, for every type and shape?
  assay explain align.power-of-two       what a rule says, and who insists on it

Each command has examples of its own: assay help COMMAND.
";

/// The command line.
#[derive(Debug, Parser)]
#[command(name = "assay", version, about = "Judges GGUF files, and everything that reads them.")]
#[command(after_help = format!("{AFTER}\n{}", exit::HELP), max_term_width = 100, subcommand_required = true)]
struct Cli {
    /// When to use colour: by default on a terminal, unless `NO_COLOR` is set.
    #[arg(long, global = true, value_enum, default_value_t, value_name = "auto|always|never")]
    #[arg(hide_possible_values = true, hide_default_value = true, display_order = 100)]
    color: Color,

    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Run(run::Args),
    Check(check::Args),
    Dump(dump::Args),
    Explain(explain::Args),
    #[command(name = "gen")]
    Generate(generate::Args),
    Corpus(corpus::Args),
    Fuzz(fuzz::Args),
    History(history::Args),
    Kernels(kernels::Args),
    Report(report::Args),
}

impl Command {
    /// Whether the answer is for a script.
    fn json(&self) -> bool {
        match self {
            Self::Run(args) => args.json,
            Self::Check(args) => args.json,
            Self::Dump(args) => args.json,
            Self::Explain(args) => args.json,
            Self::Generate(args) => args.json,
            Self::Corpus(args) => args.json(),
            Self::Fuzz(args) => args.json,
            Self::History(args) => args.json,
            Self::Kernels(args) => args.json,
            Self::Report(_) => false,
        }
    }
}

/// Runs the command line of this process.
#[must_use]
pub fn main() -> ExitCode {
    // No command for people: what is listed, completed or suggested does not know of it.
    let mut words = std::env::args_os().skip(1);
    let word = words.next();
    if word.as_ref().is_some_and(|word| word == kernels::NAME) {
        return kernels::serve(&words.collect::<Vec<_>>());
    }
    if word.is_some_and(|word| word == probe::NAME) {
        return match probe::Args::try_parse_from([probe::NAME.into()].into_iter().chain(words)) {
            Ok(args) => probe::run(&args),
            Err(error) => told_by_clap(&error).into(),
        };
    }
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return told_by_clap(&error).into(),
    };
    let mut ui = Ui::standard(cli.color);
    let ended = match &cli.command {
        Command::Run(args) => run::run(args, &mut ui),
        Command::Check(args) => check::run(args, &mut ui),
        Command::Dump(args) => dump::run(args, &mut ui),
        Command::Explain(args) => explain::run(args, &mut ui),
        Command::Generate(args) => generate::run(args, &mut ui),
        Command::Corpus(args) => corpus::run(args, &mut ui),
        Command::Fuzz(args) => fuzz::run(args, &mut ui),
        Command::History(args) => history::run(args, &mut ui),
        Command::Kernels(args) => kernels::run(args, &mut ui),
        Command::Report(args) => report::run(args, &mut ui),
    };
    let ended = match ended {
        Err(failure @ (Failure::Usage(_) | Failure::Unreadable(_))) if cli.command.json() => {
            match write_json(ui.out(), &error_json(&failure.to_string())) {
                Ok(()) => Err(failure),
                Err(error) => Err(error.into()),
            }
        }
        ended => ended,
    };
    let ended = ended.and_then(|exit| Ok(ui.finish().map(|()| exit)?));
    match ended {
        Ok(exit) => exit,
        Err(failure) => {
            let exit = failure.exit();
            if exit != Exit::Pipe {
                ui.complain(&failure.to_string());
            }
            exit
        }
    }
    .into()
}

/// Shows the help that was asked for, or what is wrong with the command line.
fn told_by_clap(error: &clap::Error) -> Exit {
    if !error.use_stderr() {
        return match error.print() {
            Ok(()) => Exit::Fine,
            Err(error) => Failure::from(error).exit(),
        };
    }
    let text = error.render().to_string();
    if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        // Help that nobody asked for: there is no mistake to name.
        return match io::stderr().write_all(text.as_bytes()) {
            Ok(()) => Exit::Usage,
            Err(error) => Failure::from(error).exit(),
        };
    }
    Ui::standard(Color::Auto).complain(text.strip_prefix("error: ").unwrap_or(&text).trim_end());
    Exit::Usage
}
