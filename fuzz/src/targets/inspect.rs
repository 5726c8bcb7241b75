//! What people are shown of a file: `assay check` and `assay dump`.

use std::cell::RefCell;
use std::io::Write;
use std::path::PathBuf;
use std::rc::Rc;

use clap::Parser;
use gguf_assay::exit::Exit;
use gguf_assay::ui::Ui;
use gguf_assay::{check, dump};
use gguf_spec::judge::judge;
use gguf_spec::rules::{Checks, Severity};
use tempfile::TempDir;

use crate::{Found, Kind, Target};

/// What is shown of a file has a bound, steers no terminal, and its exit code is that of its findings.
pub const TARGET: Target = Target {
    name: "inspect",
    says: "What `check` and `dump` show has a bound and steers no terminal; their exit codes are those of the findings.",
    kind: Kind::File,
    run,
};

/// The most that is shown: each byte makes a line of the annotated bytes at most, and a finding some
/// lines with texts that are cut.
fn most_shown(len: usize) -> usize {
    (64 << 10) + 4096 * len
}

/// The commands that read a file, as their command lines say it.
#[derive(Debug, Parser)]
enum Command {
    Check(check::Args),
    Dump(dump::Args),
}

struct Desk {
    /// Kept: the folder goes with it.
    _folder: TempDir,
    file: PathBuf,
    commands: Vec<(&'static [&'static str], Command)>,
}

impl Desk {
    fn new() -> Result<Self, String> {
        const LINES: [&[&str]; 6] = [
            &["check"],
            &["check", "--json", "--no-scan"],
            &["check", "--header-only", "--strict"],
            &["dump"],
            &["dump", "--hex"],
            &["dump", "--json"],
        ];
        let folder = crate::folder()?;
        let file = folder.path().join("file.gguf");
        let parse = |line: &'static [&'static str]| {
            let words = ["assay"].iter().chain(line).map(PathBuf::from).chain([file.clone()]);
            Command::try_parse_from(words).map(|command| (line, command)).map_err(|e| e.to_string())
        };
        let commands = LINES.into_iter().map(parse).collect::<Result<_, _>>()?;
        Ok(Self { _folder: folder, file, commands })
    }
}

/// What a command writes.
#[derive(Clone, Default)]
struct Page(Rc<RefCell<Vec<u8>>>);

impl Write for Page {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.borrow_mut().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

thread_local! {
    static DESK: Result<Desk, String> = Desk::new();
}

fn run(bytes: &[u8]) -> Result<Found, String> {
    DESK.with(|desk| inspect(desk.as_ref().map_err(Clone::clone)?, bytes))
}

fn inspect(desk: &Desk, bytes: &[u8]) -> Result<Found, String> {
    std::fs::write(&desk.file, bytes).map_err(|e| format!("{}: {e}", desk.file.display()))?;
    let judgement = judge(bytes, &Checks::all());
    let errors = judgement.findings.iter().any(|finding| finding.severity() == Severity::Error);
    for (line, command) in &desk.commands {
        let named = |what: String| format!("assay {}: {what}", line.join(" "));
        let page = Page::default();
        let mut ui = Ui::writing(Box::new(page.clone()), Box::new(page.clone()));
        let exit = match command {
            Command::Check(args) => check::run(args, &mut ui),
            Command::Dump(args) => dump::run(args, &mut ui),
        };
        ui.finish().map_err(|e| named(e.to_string()))?;
        let exit = exit.map_err(|failure| named(failure.to_string()))?;
        let shown = page.0.borrow();
        if shown.len() > most_shown(bytes.len()) {
            return Err(named(format!("{} bytes shown of a file of {}", shown.len(), bytes.len())));
        }
        steers_nothing(&shown).map_err(named)?;
        // The scan of data and `--strict` may find what the rules do not.
        let more = matches!(command, Command::Check(_));
        let right = if errors { exit == Exit::Findings } else { exit == Exit::Fine || more };
        // A header alone has no missing data.
        if !right && !line.contains(&"--header-only") {
            return Err(named(format!(
                "the exit is {exit:?}, and there are {}errors",
                if errors { "" } else { "no " }
            )));
        }
    }
    Ok(Found::of(&judgement))
}

/// Nothing but text, ends of lines, and the styles of this program.
fn steers_nothing(shown: &[u8]) -> Result<(), String> {
    let text = std::str::from_utf8(shown).map_err(|e| format!("what is shown is not UTF-8: {e}"))?;
    let mut rest = text;
    while let Some(at) = rest.find(|c: char| c.is_control() && c != '\n') {
        rest = &rest[at..];
        let Some(end) = rest.strip_prefix("\x1b[").and_then(|style| style.find('m')) else {
            return Err(format!("{:?} is shown", rest.chars().take(8).collect::<String>()));
        };
        if !rest[2..2 + end].bytes().all(|b| b.is_ascii_digit() || b == b';') {
            return Err(format!("{:?} is shown", rest.chars().take(8).collect::<String>()));
        }
        rest = &rest[2 + end..];
    }
    Ok(())
}
