//! What one release did with one file.

use assay_providers::ggml::Mode;
use gguf_spec::profile;

/// What one release did with one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It read the file.
    Accept,
    /// It returned no context.
    Refuse,
    /// The process did not survive: the signal that ended it.
    Crash(i32),
    /// It was ended because it did not end by itself.
    Hang,
    /// It could not be run, or ended the process with this code.
    NotRun(String),
}

impl Outcome {
    /// Whether it counts as the same: for what was not run, whatever the reason.
    #[must_use]
    pub fn same(&self, other: &Self) -> bool {
        self == other || matches!((self, other), (Self::NotRun(_), Self::NotRun(_)))
    }

    /// Whether the process did not survive.
    #[must_use]
    pub fn is_crash(&self) -> bool {
        matches!(self, Self::Crash(_))
    }

    /// Whether it is what a profile expects; a crash is an abort only if the process ended itself.
    #[must_use]
    pub fn is(&self, expected: profile::Outcome) -> bool {
        match expected {
            profile::Outcome::Accept => *self == Self::Accept,
            profile::Outcome::Refuse => *self == Self::Refuse,
            profile::Outcome::Abort => matches!(self, Self::Crash(ABORT)),
        }
    }

    /// One character, for a column.
    #[must_use]
    pub fn symbol(&self) -> char {
        match self {
            Self::Accept => '+',
            Self::Refuse => '-',
            Self::Crash(ABORT) => 'A',
            Self::Crash(ARITHMETIC) => 'D',
            Self::Crash(_) => 'S',
            Self::Hang => 'H',
            Self::NotRun(_) => '?',
        }
    }

    /// In a word or two, for a sentence about the file.
    #[must_use]
    pub fn describe(&self) -> String {
        match self {
            Self::Accept => "accepted".to_owned(),
            Self::Refuse => "refused".to_owned(),
            Self::Crash(ABORT) => "abort".to_owned(),
            Self::Crash(ARITHMETIC) => "division by zero".to_owned(),
            Self::Crash(SEGMENTATION_FAULT) => "segmentation fault".to_owned(),
            Self::Crash(signal) => format!("signal {signal}"),
            Self::Hang => "hang".to_owned(),
            Self::NotRun(_) => "not run".to_owned(),
        }
    }
}

/// The signal of `abort`: an assertion of the library, or an exception that nothing catches.
const ABORT: i32 = 6;

/// The signal of an integer division by zero or one that overflows, on Linux and macOS.
const ARITHMETIC: i32 = 8;

/// The signal of an access outside the memory of the process, on Linux and macOS.
const SEGMENTATION_FAULT: i32 = 11;

/// What the symbols mean, for a legend.
pub const LEGEND: &[(char, &str)] = &[
    ('+', "accepted"),
    ('-', "refused"),
    ('A', "abort (signal 6: an assertion, or an exception nobody caught)"),
    ('D', "division by zero (signal 8)"),
    ('S', "segmentation fault (signal 11), or another signal"),
    ('H', "hang"),
    ('?', "not run"),
];

/// The name of the modes a row speaks of.
#[must_use]
pub fn modes(mode: Option<Mode>) -> &'static str {
    mode.map_or("both", Mode::name)
}
