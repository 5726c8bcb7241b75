//! Where output goes, and how it looks.

use std::io::{self, BufWriter, IsTerminal, Write};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use anstream::{AutoStream, ColorChoice};
use anstyle::Style;
use gguf_spec::profile::Outcome;
use indicatif::{ProgressBar, ProgressStyle};

use crate::text::{grouped, safe, steers};

pub use assay_report::style::{BOLD, DIM, ERROR, GOOD, ID, WARNING};

/// The style of what an authority does.
#[must_use]
pub fn outcome_style(outcome: Outcome) -> Style {
    match outcome {
        Outcome::Accept => GOOD,
        Outcome::Refuse | Outcome::Abort => ERROR,
    }
}

/// When to use colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Color {
    /// On a terminal, unless `NO_COLOR` is set.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

impl Color {
    fn choice(self) -> ColorChoice {
        match self {
            Self::Auto => ColorChoice::Auto,
            Self::Always => ColorChoice::Always,
            Self::Never => ColorChoice::Never,
        }
    }
}

/// The output of a command.
///
/// Styles are always written; where colour is not wanted, the stream takes them out again.
pub struct Ui {
    out: Box<dyn Write>,
    errors: Box<dyn Write>,
    progress: bool,
}

impl Ui {
    /// Standard output and standard error.
    #[must_use]
    pub fn standard(color: Color) -> Self {
        Self {
            out: standard_output(color.choice()),
            errors: Box::new(AutoStream::new(io::stderr(), color.choice())),
            progress: io::stderr().is_terminal(),
        }
    }

    /// Output that goes somewhere else, with its styles, and without progress.
    #[must_use]
    pub fn writing(out: Box<dyn Write>, errors: Box<dyn Write>) -> Self {
        Self { out, errors, progress: false }
    }

    /// Where the answer goes.
    pub fn out(&mut self) -> &mut dyn Write {
        &mut self.out
    }

    /// Whether to show progress: somebody watches.
    #[must_use]
    pub fn progress(&self) -> bool {
        self.progress
    }

    /// Says on standard error what is wrong. The answer written so far comes first.
    pub fn complain(&mut self, message: &str) {
        // Nothing can be done about a standard error that does not take what is said.
        let _ = self.out.flush();
        // What it repeats of files and of other programs does not steer the terminal; lines stay lines.
        let lines: Vec<String> = message.lines().map(safe).collect();
        let _ = writeln!(self.errors, "{ERROR}assay:{ERROR:#} {}", lines.join("\n"));
    }

    /// Says on standard error, where nobody watches a line that changes, how far a long piece of work is.
    pub fn note(&mut self, text: &str) {
        // As with a complaint, there is nobody else to tell.
        let _ = writeln!(self.errors, "{DIM}assay: {}{DIM:#}", safe(text));
    }

    /// Writes out what is buffered.
    ///
    /// # Errors
    ///
    /// If the output does not take it.
    pub fn finish(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Shows how far a long piece of work is, if somebody watches. Gone when dropped.
#[derive(Debug)]
pub struct Progress {
    bar: ProgressBar,
    /// Lines in its place, if they are wanted.
    notes: Option<Notes>,
}

/// Lines about work that nobody watches: into a log, now and then.
#[derive(Debug)]
struct Notes {
    what: String,
    began: Instant,
    last: Mutex<Instant>,
}

/// How often a line is added where none can change: in a log.
const NOTE: Duration = Duration::from_secs(30);

impl Notes {
    /// Writes a line if it is time to.
    fn reached(&self, done: usize, of: usize) {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if last.elapsed() < NOTE {
            return;
        }
        *last = Instant::now();
        let (what, seconds) = (&self.what, self.began.elapsed().as_secs());
        // As with a complaint, there is nobody else to tell.
        let _ = writeln!(io::stderr(), "assay: {what}: {} of {}, {seconds} s", grouped(done), grouped(of));
    }
}

impl Progress {
    /// A bar over this many bytes; `doing` says what is done to them, in a word. Invisible unless `shown`.
    #[must_use]
    pub fn bytes(doing: &str, bytes: u64, shown: bool) -> Self {
        Self::new(&format!("  {doing} {{wide_bar}} {{bytes}}/{{total_bytes}} {{eta}}"), bytes, shown)
    }

    /// A bar over this many things of a kind, named in the plural; `who` does them. Invisible unless
    /// `shown`.
    #[must_use]
    pub fn things(who: &str, things: &str, length: usize, shown: bool) -> Self {
        let bar = Self::new(
            &format!("{{msg}} {{bar:40}} {{pos}}/{{len}} {things}, {{elapsed}} of about {{duration}}"),
            length as u64,
            shown,
        );
        bar.bar.set_message(who.to_owned());
        bar
    }

    /// A line about work whose end nobody knows. Invisible unless `shown`.
    #[must_use]
    pub fn open(doing: &str, shown: bool) -> Self {
        let bar = Self::new("{spinner} {wide_msg}", 0, shown);
        bar.tell(doing);
        bar
    }

    /// Replaces the text of an open line.
    pub fn tell(&self, text: &str) {
        self.bar.set_message(safe(text));
        self.bar.tick();
    }

    fn new(template: &str, length: u64, shown: bool) -> Self {
        if !shown {
            return Self { bar: ProgressBar::hidden(), notes: None };
        }
        let bar = ProgressBar::new(length);
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        Self { bar, notes: None }
    }

    /// Where nobody watches, lines are written to standard error, one every 30 seconds.
    #[must_use]
    pub fn noting(mut self, what: &str) -> Self {
        if self.bar.is_hidden() {
            let now = Instant::now();
            self.notes = Some(Notes { what: what.to_owned(), began: now, last: Mutex::new(now) });
        }
        self
    }

    /// That many more are done.
    pub fn add(&self, more: u64) {
        self.bar.inc(more);
    }

    /// That many are done, of how many.
    pub fn reached(&self, done: usize, of: usize) {
        self.bar.set_length(of as u64);
        self.bar.set_position(done as u64);
        if let Some(notes) = &self.notes {
            notes.reached(done, of);
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// Standard output, buffered. Styles are taken out before the buffer, so that what is left is written in
/// large pieces; a terminal gets its own kind of stream, which knows the terminals of Windows.
fn standard_output(choice: ColorChoice) -> Box<dyn Write> {
    let choice = if choice == ColorChoice::Auto { AutoStream::choice(&io::stdout()) } else { choice };
    if choice == ColorChoice::Never {
        let buffered: Box<dyn Write> = Box::new(BufWriter::with_capacity(1 << 16, io::stdout().lock()));
        Box::new(AutoStream::never(buffered))
    } else {
        Box::new(BufWriter::new(AutoStream::new(io::stdout(), choice)))
    }
}

/// What a script gets instead of an answer when there is none.
#[must_use]
pub fn error_json(sentence: &str) -> serde_json::Value {
    serde_json::json!({ "error": sentence })
}

/// JSON for a script: indented, with a newline at the end. Characters that could steer a terminal are
/// escaped, which JSON allows inside strings, and they are nowhere else.
///
/// # Errors
///
/// If the output does not take it.
pub fn write_json(out: &mut dyn Write, json: &serde_json::Value) -> io::Result<()> {
    let text = serde_json::to_string_pretty(json)?;
    let mut rest = text.as_str();
    while let Some((at, c)) = rest.char_indices().find(|&(_, c)| c != '\n' && steers(c)) {
        out.write_all(&rest.as_bytes()[..at])?;
        for unit in c.encode_utf16(&mut [0; 2]) {
            write!(out, "\\u{unit:04x}")?;
        }
        rest = &rest[at + c.len_utf8()..];
    }
    out.write_all(rest.as_bytes())?;
    out.write_all(b"\n")
}
