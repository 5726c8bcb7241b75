//! `assay __probe`: the child process that loads ggml. Hidden: `assay corpus verify` starts it.

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use assay_harness::probe::{self, Reply};
use assay_providers::ggml::Mode;

use crate::exit::Exit;

/// The command line of the child.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// The directory of the ggml library
    #[arg(long, value_name = "DIR")]
    ggml: PathBuf,

    /// What to do: read the header of FILE, read it with its data, or show what the library is
    #[arg(long, value_name = "MODE")]
    mode: Wanted,

    /// The file to read
    #[arg(required_if_eq_any([("mode", "header"), ("mode", "data")]))]
    file: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Wanted {
    Header,
    Data,
    About,
}

/// Answers in one line of JSON on standard output. An abort of the library ends the process before.
#[must_use]
pub fn run(args: &Args) -> ExitCode {
    let (line, exit) = match (args.mode, &args.file) {
        (Wanted::Header, Some(file)) => replied(&probe::ggml(&args.ggml, Mode::Header, file)),
        (Wanted::Data, Some(file)) => replied(&probe::ggml(&args.ggml, Mode::Data, file)),
        (Wanted::About, _) => match probe::about_ggml(&args.ggml) {
            Ok(about) => (about.to_json(), Exit::Fine),
            Err(error) => replied(&Reply::Error { message: error.to_string() }),
        },
        (Wanted::Header | Wanted::Data, None) => replied(&Reply::Error { message: "no file".to_owned() }),
    };
    let mut out = io::stdout().lock();
    match writeln!(out, "{line}").and_then(|()| out.flush()) {
        Ok(()) => exit.into(),
        Err(_) => Exit::Pipe.into(),
    }
}

fn replied(reply: &Reply) -> (serde_json::Value, Exit) {
    let exit = if matches!(reply, Reply::Error { .. }) { Exit::Unreadable } else { Exit::Fine };
    (reply.to_json(), exit)
}
