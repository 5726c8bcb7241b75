//! `assay __probe`: the child process that loads ggml. Hidden: `assay corpus verify` starts it.

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use assay_harness::child::Probe;
use assay_harness::history;
use assay_harness::probe::{self, Question, Reply};
use assay_providers::ggml::Mode;

use crate::exit::{Exit, Failure};

/// The word that makes a child of a process.
pub const NAME: &str = "__probe";

/// The command line of the child.
#[derive(Clone, Debug, clap::Parser)]
#[command(name = NAME)]
pub struct Args {
    /// The directory of the ggml library
    #[arg(long, value_name = "DIR")]
    ggml: PathBuf,

    /// What to do: read the header of FILE, read it with its data, or show what the library is
    #[arg(long, value_name = "MODE")]
    mode: Wanted,

    /// Say only whether the library reads the file, not what it reads: any release can be asked
    #[arg(long)]
    outcome_only: bool,

    /// Read each file in a fork of this process, and write a line for each
    #[arg(long, requires = "outcome_only")]
    each: bool,

    /// The file to read, or several with --each
    #[arg(required_if_eq_any([("mode", "header"), ("mode", "data")]))]
    files: Vec<PathBuf>,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Wanted {
    Header,
    Data,
    About,
}

/// How this program starts itself as the child.
///
/// # Errors
///
/// [`Failure::Unreadable`] if the system does not say where this program is.
pub fn child() -> Result<Probe, Failure> {
    let program = std::env::current_exe()
        .map_err(|error| Failure::Unreadable(format!("the path of this program is unknown: {error}")))?;
    Ok(Probe { program, arguments: vec![NAME.into()] })
}

/// Answers in a line of JSON on standard output. An abort of the library ends the process before.
#[must_use]
pub fn run(args: &Args) -> ExitCode {
    let mut out = io::stdout().lock();
    let question = if args.outcome_only { Question::Outcome } else { Question::Document };
    let read = |mode, out: &mut dyn Write| match args.files.as_slice() {
        files if args.each => history::serve(&args.ggml, mode, files, out).map(|()| Reply::Opened),
        [file] => probe::ggml(&args.ggml, mode, question, file, out),
        files => Ok(Reply::Error { message: format!("one file is read, not {}", files.len()) }),
    };
    let reply = match args.mode {
        Wanted::Header => read(Mode::Header, &mut out),
        Wanted::Data => read(Mode::Data, &mut out),
        Wanted::About => return about(args, &mut out),
    };
    match reply {
        Ok(Reply::Error { .. }) => Exit::Unreadable.into(),
        Ok(Reply::Accept { .. } | Reply::Opened | Reply::Refuse { .. }) => Exit::Fine.into(),
        Err(_) => Exit::Pipe.into(),
    }
}

fn about(args: &Args, out: &mut dyn Write) -> ExitCode {
    let seen = if args.outcome_only { probe::about_release(&args.ggml) } else { probe::about_ggml(&args.ggml) };
    let (line, exit) = match seen {
        Ok(about) => (about.to_json(), Exit::Fine),
        Err(error) => (Reply::Error { message: error.to_string() }.to_json(), Exit::Unreadable),
    };
    match writeln!(out, "{line}").and_then(|()| out.flush()) {
        Ok(()) => exit.into(),
        Err(_) => Exit::Pipe.into(),
    }
}
