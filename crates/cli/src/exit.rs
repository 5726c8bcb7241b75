//! How the command ends: the exit codes, and the errors that end it early.

use std::io;
use std::process::ExitCode;

use assay_corpus::store::LoadError;

/// The text about exit codes in `assay --help`.
pub const HELP: &str = "\
Exit codes:
  0    fine: everything was looked at and nothing is wrong
  1    findings or disagreement: a file has errors, vectors differ, a rule is broken
  2    usage: the command line is wrong
  3    could not read: a file, a directory or the corpus; also when there was nothing to look at
  141  whoever read the output went away before the end (as a shell reports SIGPIPE)";

/// How the command ends, from best to worst: of several files, the worst decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Exit {
    /// Everything was looked at and nothing is wrong.
    Fine = 0,
    /// Errors in a file, vectors that differ.
    Findings = 1,
    /// The command line is wrong.
    Usage = 2,
    /// Something could not be read, or there was nothing to look at.
    Unreadable = 3,
    /// Whoever read the output went away.
    Pipe = 141,
}

impl Exit {
    /// The number the process ends with.
    #[must_use]
    pub fn code(self) -> u8 {
        self as u8
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

/// Why a command could not do its work.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The command line asks for something that does not exist or makes no sense.
    #[error("{0}")]
    Usage(String),
    /// Something could not be read, or there was nothing to look at.
    #[error("{0}")]
    Unreadable(String),
    /// The output could not be written. `?` on a write makes this one, so errors of reading are
    /// turned into [`Failure::Unreadable`] by hand, where the name of the file is known.
    #[error("the output cannot be written: {0}")]
    Output(#[from] io::Error),
}

impl Failure {
    /// The exit code that tells it.
    #[must_use]
    pub fn exit(&self) -> Exit {
        match self {
            Self::Usage(_) => Exit::Usage,
            Self::Output(error) if error.kind() == io::ErrorKind::BrokenPipe => Exit::Pipe,
            Self::Unreadable(_) | Self::Output(_) => Exit::Unreadable,
        }
    }
}

impl From<LoadError> for Failure {
    fn from(error: LoadError) -> Self {
        let hint = match error {
            LoadError::Read { .. } => "; a corpus is the folder `corpus` at the top of a checkout",
            LoadError::Form { .. } | LoadError::Empty { .. } => "",
        };
        Self::Unreadable(format!("{error}{hint}"))
    }
}
