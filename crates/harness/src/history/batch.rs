//! Many files read by one release, each in a fork of the process that has loaded it.
//!
//! That process writes one line of JSON a file: `{"outcome": "accept"}`, `refuse`, `hang`, `signal`
//! with its number as `signal`, or `error` with a `message`.

use std::io::{self, Write};
use std::path::Path;
use std::time::Duration;

use assay_providers::complaint::last_lines;
use assay_providers::ggml::Mode;
use serde_json::{Value as Json, json};

use super::Outcome;
use crate::child::{Probe, describe, limits};
use crate::sandbox::Limits;

/// Most files in one batch: few enough that their paths fit a command line.
pub(super) const LONGEST: usize = 256;

/// Seconds of processor time for one file. Most take milliseconds; a release that fills 2 GiB before it
/// sees that the file is shorter takes a second or two, which is no hang.
const CPU_SECONDS: u32 = 10;

/// Seconds on the clock for one file.
const WALL_SECONDS: u32 = 60;

/// Starts a child that loads the library of a directory and reads the files.
pub(super) fn ask(probe: &Probe, directory: &Path, mode: Mode, files: &[&Path]) -> Vec<Outcome> {
    // The processor time of the forks is their own; the child itself only waits.
    let wall =
        Duration::from_secs(60) + Duration::from_secs(WALL_SECONDS.into()) * u32::try_from(files.len()).unwrap_or(1);
    let arguments = ["--mode", mode.name(), "--outcome-only", "--each"];
    let ended = match probe.start(directory, &arguments, files, &Limits { wall, ..limits(0) }) {
        Ok(ended) => ended,
        Err(error) => return vec![Outcome::NotRun(error.to_string()); files.len()],
    };
    let output = ended.stdout.text();
    let mut outcomes: Vec<Outcome> = output.lines().take(files.len()).map(read).collect();
    outcomes.resize_with(files.len(), || {
        Outcome::NotRun(format!("{}: {}", describe(ended.ending), last_lines(&ended.stderr.text())))
    });
    outcomes
}

fn read(line: &str) -> Outcome {
    let json: Json = serde_json::from_str(line).unwrap_or_default();
    let signal = json["signal"].as_i64().and_then(|signal| i32::try_from(signal).ok());
    match (json["outcome"].as_str(), signal) {
        (Some("accept"), _) => Outcome::Accept,
        (Some("refuse"), _) => Outcome::Refuse,
        (Some("hang"), _) => Outcome::Hang,
        (Some("signal"), Some(signal)) => Outcome::Crash(signal),
        _ => Outcome::NotRun(json["message"].as_str().unwrap_or(line).to_owned()),
    }
}

/// Reads each file with the library of a directory, in a fork, and writes a line for each. Runs in the
/// child.
///
/// # Errors
///
/// If the output does not take it.
#[cfg(target_os = "linux")]
pub fn serve(directory: &Path, mode: Mode, files: &[impl AsRef<Path>], out: &mut dyn Write) -> io::Result<()> {
    use crate::sandbox::Ending;
    use crate::sandbox::fork::{Times, forked};
    use assay_providers::ggml::{Reads, Release};

    const ACCEPT: i32 = 0;
    const REFUSE: i32 = 1;
    const ERROR: i32 = 2;
    let times = Times { cpu_seconds: CPU_SECONDS, wall_seconds: WALL_SECONDS };
    let release = Release::load(directory);
    for file in files {
        let file = file.as_ref();
        // The library says "failed to open" and "refused" in the same way.
        let ending = release.as_ref().map_err(ToString::to_string).and_then(|release| {
            let work = || match release.reads(file, mode) {
                Ok(Reads::Yes) => ACCEPT,
                Ok(Reads::No(_)) => REFUSE,
                Err(_) => ERROR,
            };
            std::fs::File::open(file)
                .and_then(|_| forked(times, work))
                .map_err(|error| format!("{}: {error}", file.display()))
        });
        let line = match ending {
            Ok(Ending::Exited(code)) if code == ACCEPT => json!({"outcome": "accept"}),
            Ok(Ending::Exited(code)) if code == REFUSE => json!({"outcome": "refuse"}),
            Ok(Ending::Exited(code)) => json!({"outcome": "error", "message": format!("exit code {code}")}),
            Ok(Ending::Signalled(signal)) => json!({"outcome": "signal", "signal": signal}),
            Ok(Ending::TimedOut(_)) => json!({"outcome": "hang"}),
            Err(message) => json!({"outcome": "error", "message": message}),
        };
        writeln!(out, "{line}")?;
    }
    out.flush()
}

/// Elsewhere nothing is forked.
///
/// # Errors
///
/// If the output does not take it.
#[cfg(not(target_os = "linux"))]
pub fn serve(_directory: &Path, _mode: Mode, files: &[impl AsRef<Path>], out: &mut dyn Write) -> io::Result<()> {
    for _ in files {
        writeln!(out, "{}", json!({"outcome": "error", "message": "needs Linux"}))?;
    }
    out.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_back() {
        assert_eq!(read(r#"{"outcome":"accept"}"#), Outcome::Accept);
        assert_eq!(read(r#"{"outcome":"signal","signal":11}"#), Outcome::Crash(11));
        assert_eq!(read(r#"{"outcome":"error","message":"no"}"#), Outcome::NotRun("no".to_owned()));
        assert_eq!(read("noise"), Outcome::NotRun("noise".to_owned()));
    }
}
