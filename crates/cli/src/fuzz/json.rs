//! A campaign, for a script.

use std::path::Path;

use assay_harness::campaign::{Campaign, Replayed};
use serde_json::{Value as Json, json};

use crate::exit::{Exit, Failure};
use crate::text::path_json;

/// The summary, and why the campaign ended early, if it did; docs/cli.md describes it.
pub(super) fn summary(campaign: &Campaign, directory: &Path, exit: Exit, failed: Option<&Failure>) -> Json {
    let adapters = campaign.readers().iter().zip(campaign.tallies()).map(|(reader, tally)| {
        json!({
            "name": reader.name(), "version": reader.started().version, "command": reader.program().words(),
            "files": tally.files, "accepted": tally.accepted, "verdicts": tally.verdicts,
            "unstable": campaign.unstable_of(reader.name()), "left_out": campaign.left_out_of(reader.name()),
            "aside": reader.aside(), "problems": reader.problems(),
        })
    });
    let groups = campaign.groups();
    let groups = groups.iter().map(|(group, files)| {
        let place = group.directory.as_ref().map(|name| path_json(&directory.join(name)));
        json!({
            "signature": group.signature, "message": group.message, "files": files, "first": group.first, "directory": place,
            "size": group.size, "size_before": group.size_before, "unfinished": group.unfinished,
        })
    });
    let pairs = campaign.pairs();
    let pairs = pairs.iter().map(|(pair, files)| {
        let mut line = json!(pair);
        line["files"] = json!(files);
        line
    });
    let mut summary = json!({
        "assay": env!("CARGO_PKG_VERSION"), "exit": exit.code(), "seed": campaign.seed(), "files": campaign.made(),
        "seconds": campaign.seconds(), "out": path_json(directory),
        "adapters": adapters.collect::<Vec<_>>(), "groups": groups.collect::<Vec<_>>(),
        "waiting": campaign.progress().waiting, "differ": pairs.collect::<Vec<_>>(),
        "rules": campaign.coverage().rules, "combinations": campaign.coverage().len(), "pool": campaign.pool(),
        "remarks": campaign.remarks(),
    });
    if let Some(failure) = failed {
        summary["error"] = failure.to_string().into();
    }
    summary
}

/// What came of a finding when it was replayed.
pub(super) fn replayed(replayed: &Replayed, exit: Exit) -> Json {
    let answers = replayed.answers.iter().map(|(answer, holds)| {
        let mut line = json!(answer);
        line["holds"] = json!(holds);
        line
    });
    json!({
        "assay": env!("CARGO_PKG_VERSION"), "exit": exit.code(), "file": path_json(&replayed.file),
        "holds": replayed.holds(), "signature": replayed.finding.as_ref().map(|finding| &finding.signature),
        "answers": answers.collect::<Vec<_>>(),
    })
}
