//! A reader of the output that goes away is no reason to panic.
#![cfg(unix)]

mod common;

use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Stdio};

#[test]
fn a_closed_pipe_ends_the_command_quietly() {
    let room = tempfile::tempdir().expect("a directory");
    let path = room.path().join("many.gguf");
    std::fs::write(&path, common::fixture("many-warnings")).expect("a file");
    // Enough files to fill any pipe.
    let mut child = Command::new(env!("CARGO_BIN_EXE_assay"))
        .arg("check")
        .args(std::iter::repeat_n(&path, 1000))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command");
    let mut line = String::new();
    {
        let mut reader = BufReader::new(child.stdout.take().expect("a pipe"));
        reader.read_line(&mut line).expect("a line");
    }
    let mut errors = String::new();
    child.stderr.take().expect("a pipe").read_to_string(&mut errors).expect("text");
    let status = child.wait().expect("an end");
    assert!(line.contains("many.gguf"), "{line}");
    assert_eq!(errors, "");
    assert_eq!(status.code(), Some(141));
}
