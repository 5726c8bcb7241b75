//! `assay fuzz --replay`: a finding again.

use std::path::Path;

use assay_harness::campaign::replay;

use super::{Args, json, readers};
use crate::exit::{Exit, Failure};
use crate::text::{safe, safe_path};
use crate::ui::{BOLD, DIM, ERROR, GOOD, ID, Ui, write_json};

pub(super) fn run(args: &Args, path: &Path, ui: &mut Ui) -> Result<Exit, Failure> {
    let readers = readers(args)?;
    let replayed = replay(path, &readers).map_err(Failure::Unreadable)?;
    let exit = if replayed.holds() { Exit::Findings } else { Exit::Fine };
    if args.json {
        write_json(ui.out(), &json::replayed(&replayed, exit))?;
        return Ok(exit);
    }
    let out = ui.out();
    writeln!(out, "{BOLD}{}{BOLD:#}", safe_path(&replayed.file))?;
    if let Some(finding) = &replayed.finding {
        writeln!(out, "  {DIM}then{DIM:#} {}", safe(&finding.sentence()))?;
    }
    for (answer, holds) in &replayed.answers {
        let style = if *holds { ERROR } else { GOOD };
        let sides = if answer.profiles.is_empty() { String::new() } else { format!(" {}", answer.profiles.join(", ")) };
        writeln!(
            out,
            "  {DIM}now{DIM:#}  {ID}{}{ID:#}: {style}{}{sides}{style:#}: expected {}, got {}",
            safe(&answer.adapter),
            answer.verdict,
            safe(&answer.expected),
            answer.got
        )?;
        if let Some(difference) = &answer.difference {
            let [path, expected, found] = [&difference.path, &difference.expected, &difference.found].map(|t| safe(t));
            writeln!(out, "       {path}: expected {expected}, found {found}")?;
        }
        if !answer.message.is_empty() {
            writeln!(out, "       {DIM}{}{DIM:#}", safe(answer.message.trim()))?;
        }
    }
    let what = match (replayed.finding.is_some(), replayed.holds()) {
        (true, true) => "the finding holds",
        (true, false) => "the finding does not hold",
        (false, true) => "a reader fails on it",
        (false, false) => "no reader fails on it",
    };
    writeln!(out, "{BOLD}{what}{BOLD:#}")?;
    Ok(exit)
}
