//! One target on files that are named, without any engine: for a finding, a debugger, a stable compiler.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::Target;

/// Looks at every file that the command line names, and at those directly inside folders.
pub fn main(target: &Target) -> ExitCode {
    crate::first();
    let paths: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    if paths.is_empty() {
        eprintln!("{}: {}", target.name, target.says);
        eprintln!("usage: {} FILE|FOLDER..", target.name);
        return ExitCode::from(2);
    }
    let mut statistics = crate::statistics::Statistics::new(target);
    let mut failed = 0;
    for path in paths {
        let files = match files(&path) {
            Ok(files) => files,
            Err(error) => {
                eprintln!("{}: {error}", path.display());
                return ExitCode::from(3);
            }
        };
        for file in files {
            let bytes = match std::fs::read(&file) {
                Ok(bytes) => bytes,
                Err(error) => {
                    eprintln!("{}: {error}", file.display());
                    return ExitCode::from(3);
                }
            };
            match (target.run)(&bytes) {
                Ok(found) => statistics.note(bytes.len(), found),
                Err(reason) => {
                    println!("{}: {reason}", file.display());
                    failed += 1;
                }
            }
        }
    }
    println!("{statistics}");
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn files(path: &Path) -> std::io::Result<Vec<PathBuf>> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let entries = std::fs::read_dir(path)?.collect::<Result<Vec<_>, _>>()?;
    let mut files: Vec<_> = entries.into_iter().map(|entry| entry.path()).filter(|path| path.is_file()).collect();
    files.sort();
    Ok(files)
}
