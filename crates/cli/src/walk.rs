//! From the arguments of a command to the files they name.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

/// What the arguments lead to, in order: files to read, and sentences about those that lead nowhere.
pub type Found = Vec<(PathBuf, Result<(), String>)>;

/// The files to look at: each argument itself, or if it is a directory, every `*.gguf` below it, in
/// the order of their names. Links are followed, each directory is entered once.
#[must_use]
pub fn files(arguments: &[PathBuf]) -> Found {
    let mut found = Found::new();
    for argument in arguments {
        if argument.is_dir() {
            found.extend(below(argument));
        } else {
            found.push((argument.clone(), Ok(())));
        }
    }
    found
}

fn below(directory: &Path) -> Found {
    let mut files = Vec::new();
    let mut faults = Found::new();
    let mut entered = HashSet::new();
    let mut waiting = vec![directory.to_owned()];
    while let Some(directory) = waiting.pop() {
        let listed = directory.canonicalize().and_then(|real| {
            if !entered.insert(real) {
                return Ok(Vec::new());
            }
            fs::read_dir(&directory)?.map(|entry| entry.map(|entry| entry.path())).collect()
        });
        match listed {
            Ok(paths) => {
                for path in paths {
                    if path.is_dir() {
                        waiting.push(path);
                    } else if path.extension().is_some_and(|ext| ext.eq_ignore_ascii_case("gguf")) {
                        files.push(path);
                    }
                }
            }
            Err(error) => faults.push((directory, Err(format!("the directory cannot be listed: {error}")))),
        }
    }
    if files.is_empty() && faults.is_empty() {
        return vec![(
            directory.to_owned(),
            Err("a directory without models: there is no *.gguf file in or below it".to_owned()),
        )];
    }
    files.sort();
    files.into_iter().map(|path| (path, Ok(()))).chain(faults).collect()
}
