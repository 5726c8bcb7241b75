//! Runs the files in `tests/cases`: each holds its own command lines and what is expected of them.
//!
//! ```text
//! # What this shows.
//! file old.bin tjgg\x03\x00\x00\x00       a file with these bytes, escaped as in Rust
//! gguf small.gguf small                   a file of tests/common
//! corpus corpus                           a corpus of tests/common; `wrong-corpus` has mistakes
//! script reader #!/bin/sh\n..             the same, to be executed (Unix)
//! dir empty                               a directory
//! link other.gguf small.gguf              a symbolic link (Unix)
//! fifo pipe                               a named pipe (Unix)
//! unix                                    what is expected names paths or errors of Unix
//!
//! $ NAME=value assay check old.bin        a command line, with variables before it
//! > a line of standard output
//! ! a line of standard error
//! = 1                                     the exit code
//! ```
//!
//! Each file runs in a directory of its own. Times are written as `TIME`. `ASSAY_BLESS=1` writes what
//! was seen into the files.

mod common;

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use libtest_mimic::{Arguments, Failed, Trial};

fn main() -> ExitCode {
    let mut arguments = Arguments::from_args();
    // Cases are short, and the machine is shared.
    arguments.test_threads.get_or_insert(2);
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join("cases");
    let mut paths: Vec<PathBuf> = fs::read_dir(&directory)
        .expect("the directory of cases")
        .map(|entry| entry.expect("an entry of the directory of cases").path())
        .filter(|path| path.extension().is_some_and(|ext| ext == "case"))
        .collect();
    paths.sort();
    assert!(!paths.is_empty(), "{}: no cases", directory.display());
    let trials = paths
        .into_iter()
        .map(|path| {
            let text = fs::read_to_string(&path).expect("a case is text");
            let needs_unix = text
                .lines()
                .any(|line| line == "unix" || ["fifo ", "link ", "script "].iter().any(|word| line.starts_with(word)));
            let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            Trial::test(name, move || run_case(&path, &text)).with_ignored_flag(needs_unix && !cfg!(unix))
        })
        .collect();
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// Runs the commands of a case one after another, and compares or blesses.
fn run_case(path: &Path, text: &str) -> Result<(), Failed> {
    let room = tempfile::tempdir()?;
    let mut seen = String::new();
    let mut commands = 0;
    for line in text.lines() {
        if let Some(command) = line.strip_prefix("$ ") {
            commands += 1;
            let _ = writeln!(seen, "{line}");
            seen.push_str(&run_command(command, room.path())?);
        } else if !["> ", "! ", "= "].iter().any(|start| line.starts_with(start)) && line != ">" && line != "!" {
            let _ = writeln!(seen, "{line}");
            prepare(line, room.path())?;
        }
    }
    if commands == 0 {
        return Err("the case has no command line".into());
    }
    if text.lines().eq(seen.lines()) {
        return Ok(());
    }
    if std::env::var_os("ASSAY_BLESS").is_some_and(|value| value == "1") {
        fs::write(path, seen)?;
        return Ok(());
    }
    Err(format!("{}: not as expected (bless with ASSAY_BLESS=1)\n{}", path.display(), changes(text, &seen)).into())
}

/// Makes what a line of a case asks for.
fn prepare(line: &str, room: &Path) -> Result<(), Failed> {
    let mut words = line.splitn(3, ' ');
    let (word, name, rest) = (words.next().unwrap_or_default(), words.next().unwrap_or_default(), words.next());
    let path = room.join(name);
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent)?;
    }
    match (word, rest) {
        ("" | "#" | "unix", _) => Ok(()),
        ("file", rest) => Ok(fs::write(path, unescaped(rest.unwrap_or_default())?)?),
        #[cfg(unix)]
        ("script", Some(text)) => {
            use std::os::unix::fs::PermissionsExt;
            fs::write(&path, unescaped(text)?)?;
            Ok(fs::set_permissions(path, fs::Permissions::from_mode(0o755))?)
        }
        ("gguf", Some(fixture)) => Ok(fs::write(path, common::fixture(fixture))?),
        ("corpus", None) => {
            common::write_corpus(&path);
            Ok(())
        }
        ("wrong-corpus", None) => {
            common::write_wrong_corpus(&path);
            Ok(())
        }
        ("dir", None) => Ok(fs::create_dir_all(path)?),
        ("fifo", None) => {
            let made = Command::new("mkfifo").arg(&path).status()?;
            if made.success() { Ok(()) } else { Err("mkfifo failed".into()) }
        }
        #[cfg(unix)]
        ("link", Some(target)) => Ok(std::os::unix::fs::symlink(target, path)?),
        _ => Err(format!("not a line of a case: {line:?}").into()),
    }
}

/// Text with `\n`, `\r`, `\t`, `\\` and `\xNN`.
fn unescaped(text: &str) -> Result<Vec<u8>, Failed> {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        let (&escape, after) = rest.split_first().ok_or("a backslash at the end")?;
        rest = after;
        bytes.push(match escape {
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'\\' => b'\\',
            b'x' => {
                let digits = rest.get(..2).ok_or("\\x wants two digits")?;
                rest = &rest[2..];
                u8::from_str_radix(std::str::from_utf8(digits)?, 16)?
            }
            other => return Err(format!("no escape \\{}", char::from(other)).into()),
        });
    }
    Ok(bytes)
}

/// Runs one command line and writes down what it did.
fn run_command(line: &str, room: &Path) -> Result<String, Failed> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_assay"));
    for variable in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "COLUMNS", "TERM"] {
        command.env_remove(variable);
    }
    let mut words = line.split_whitespace();
    loop {
        match words.next() {
            Some("assay") => break,
            Some(word) => {
                let (name, value) = word.split_once('=').ok_or("a command line starts with assay")?;
                command.env(name, value);
            }
            None => return Err("a command line starts with assay".into()),
        }
    }
    let output = command.args(words).current_dir(room).output()?;
    let mut seen = String::new();
    for (mark, bytes) in [('>', &output.stdout), ('!', &output.stderr)] {
        for line in normalised(&String::from_utf8_lossy(bytes)).lines() {
            let _ = writeln!(seen, "{}", format!("{mark} {line}").trim_end());
        }
    }
    let code = output.status.code().map_or_else(|| "killed by a signal".to_owned(), |code| code.to_string());
    let _ = writeln!(seen, "= {code}");
    Ok(seen)
}

/// Takes out what differs from run to run, from machine to machine and from version to version.
fn normalised(text: &str) -> String {
    let text = text
        .replace('\x1b', "\\e")
        .replace(&format!("\"assay\": \"{}\"", env!("CARGO_PKG_VERSION")), "\"assay\": \"VERSION\"");
    let text = if cfg!(windows) { text.replace("assay.exe", "assay") } else { text };
    let mut lines = String::new();
    for line in text.lines() {
        let seconds = ["\"read\": ", "\"judge\": ", "\"scan\": ", "\"hash\": ", "\"seconds\": "]
            .iter()
            .find(|key| line.trim_start().starts_with(**key) && line.bytes().any(|b| b.is_ascii_digit()));
        match seconds {
            Some(key) => {
                let comma = if line.ends_with(',') { "," } else { "" };
                let indent = line.len() - line.trim_start().len();
                let _ = writeln!(lines, "{:indent$}{key}TIME{comma}", "");
            }
            // As many as the machine has.
            None if line.trim_start().starts_with("\"threads\": ") => {
                let indent = line.len() - line.trim_start().len();
                let _ = writeln!(lines, "{:indent$}\"threads\": NUMBER,", "");
            }
            None => {
                let _ = writeln!(lines, "{}", without_times(line));
            }
        }
    }
    lines
}

/// `12 ms`, `1.25 s` and the like become `TIME`.
fn without_times(line: &str) -> String {
    let words: Vec<&str> = line.split(' ').collect();
    let mut kept: Vec<String> = Vec::new();
    for word in words {
        let unit = word.trim_end_matches([',', ')']);
        let number = kept.last().filter(|last| {
            last.starts_with(|c: char| c.is_ascii_digit()) && last.bytes().all(|b| b.is_ascii_digit() || b == b'.')
        });
        match number {
            Some(_) if ["µs", "ms", "s"].contains(&unit.trim_end_matches("\\e[0m")) => {
                kept.pop();
                kept.push(format!(
                    "TIME{}",
                    word.strip_prefix(
                        ["µs", "ms", "s"].iter().find(|u| word.starts_with(**u)).copied().unwrap_or_default()
                    )
                    .unwrap_or_default()
                ));
            }
            _ => kept.push(word.to_owned()),
        }
    }
    kept.join(" ")
}

/// The lines that differ: a stretch of what was expected, then what was seen.
fn changes(expected: &str, seen: &str) -> String {
    let (expected, seen): (Vec<_>, Vec<_>) = (expected.lines().collect(), seen.lines().collect());
    let start = expected.iter().zip(&seen).take_while(|(a, b)| a == b).count();
    let most = expected.len().min(seen.len()) - start;
    let end = expected.iter().rev().zip(seen.iter().rev()).take(most).take_while(|(a, b)| a == b).count();
    let mut text = String::new();
    for line in expected[..start].iter().rev().take(3).rev() {
        let _ = writeln!(text, "    {line}");
    }
    for line in &expected[start..expected.len() - end] {
        let _ = writeln!(text, "  - {line}");
    }
    for line in &seen[start..seen.len() - end] {
        let _ = writeln!(text, "  + {line}");
    }
    text
}
