//! `assay kernels --mutants`: what the judgements are worth.

use std::fs;

use assay_harness::kernels::{Planted, planted};
use assay_oracles::kernels::mutants::NMSE_LIMIT;
use assay_report::kernels::planted::{write_markdown, write_text};
use serde_json::{Value as Json, json};

use super::Args;
use crate::exit::{Exit, Failure};
use crate::text::safe_path;
use crate::ui::{Progress, Ui, write_json};

/// Plants every fault, and tells which are killed, and by what.
pub(super) fn run(args: &Args, ui: &mut Ui) -> Result<Exit, Failure> {
    let bar = Progress::things("mutants", "faults", 0, ui.progress()).noting("planted faults");
    let all = planted(args.seed(), args.jobs(), &|ended, of| bar.reached(ended, of));
    drop(bar);
    let exit = if all.iter().all(|planted| planted.killed.is_ok()) { Exit::Fine } else { Exit::Findings };
    if let Some(path) = &args.markdown {
        let refused = |error| Failure::Unreadable(format!("{}: cannot be written: {error}", safe_path(path)));
        let mut page = Vec::new();
        write_markdown(&all, &mut page).map_err(refused)?;
        fs::write(path, page).map_err(refused)?;
    }
    if args.json {
        write_json(ui.out(), &to_json(&all, args.seed(), exit))?;
    } else {
        write_text(&all, ui.out())?;
        if let Some(path) = &args.markdown {
            writeln!(ui.out(), "written: {}", safe_path(path))?;
        }
    }
    Ok(exit)
}

/// The faults for a script; docs/cli.md describes it.
fn to_json(all: &[Planted], seed: u64, exit: Exit) -> Json {
    let fault = |planted: &Planted| {
        let mutant = planted.mutant;
        json!({
            "type": mutant.ty, "kind": mutant.kind.name(), "fault": mutant.name, "set": mutant.family.name(),
            "operations": mutant.operations.iter().map(|operation| operation.name()).collect::<Vec<_>>(),
            "killer": mutant.killer.to_string(), "killed": planted.killed.is_ok(),
            "question": planted.killed.as_ref().ok().map(ToString::to_string),
            "why_alive": planted.killed.as_ref().err(), "after": mutant.after, "nmse": planted.nmse,
        })
    };
    json!({
        "assay": env!("CARGO_PKG_VERSION"), "exit": exit.code(), "seed": seed, "nmse_limit": NMSE_LIMIT,
        "faults": all.iter().map(fault).collect::<Vec<_>>(),
    })
}
