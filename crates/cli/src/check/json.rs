//! The report about all files, for scripts. `docs/cli.md` describes the form.

use std::time::Duration;

use gguf_spec::document::json::text;
use serde_json::{Map, Value as Json, json};

use super::decide::Failed;
use super::scan::Scanned;
use super::{Args, Checked, Report};
use crate::exit::Exit;
use crate::facts::Facts;
use crate::text::path_json;

/// The object about all files.
#[must_use]
pub(super) fn document(all: &[Checked], args: &Args, exit: Exit) -> Json {
    json!({
        "assay": env!("CARGO_PKG_VERSION"),
        "strict": args.strict,
        "exit": exit.code(),
        "files": all.iter().map(|(path, checked)| {
            let mut object = match checked {
                Ok(report) => file(report, args),
                Err(failed) => {
                    let status = match failed {
                        Failed::Unreadable(_) => "unreadable",
                        Failed::Fault(_) => "fault",
                    };
                    Map::from_iter([
                        ("status".to_owned(), json!(status)),
                        ("reason".to_owned(), json!(failed.to_string())),
                    ])
                }
            };
            object.insert("path".to_owned(), path_json(path));
            Json::Object(object)
        }).collect::<Vec<_>>(),
    })
}

fn file(report: &Report, args: &Args) -> Map<String, Json> {
    let (errors, warnings) = report.counts();
    let mut object = Map::new();
    let mut put = |name: &str, value: Json| object.insert(name.to_owned(), value);
    let status = match (errors, warnings) {
        (0, 0) => "fine",
        (0, _) => "warnings",
        _ => "errors",
    };
    put("status", json!(status));
    put("size", json!(report.size));
    put("offset", json!(args.at));
    put("until", json!(report.until.name()));
    put("facts", report.what.facts().map_or(Json::Null, Facts::to_json));
    put("foreign", report.what.foreign().map_or(Json::Null, |f| json!({"kind": f.kind, "sentence": f.sentence})));
    put("errors", json!(errors));
    put("warnings", json!(warnings));
    put("findings_left_out", json!(report.left_out()));
    put(
        "findings",
        report
            .findings()
            .map(|(finding, owner)| {
                json!({
                    "severity": finding.severity().name(),
                    "rule": finding.rule.id,
                    "stage": finding.rule.stage.name(),
                    "start": finding.span.start,
                    "end": finding.span.end,
                    "path": finding.field.to_string(),
                    "owner": owner.map(text),
                    "expected": finding.expected,
                    "actual": finding.actual,
                    "fix": finding.rule.fix,
                })
            })
            .collect(),
    );
    put(
        "profiles",
        report
            .judgement
            .verdicts
            .iter()
            .map(|verdict| {
                json!({
                    "profile": verdict.profile.id(),
                    "outcome": verdict.outcome.name(),
                    "rule": verdict.because.as_ref().map(|finding| finding.rule.id),
                    "start": verdict.because.as_ref().map(|finding| finding.span.start),
                })
            })
            .collect(),
    );
    put(
        "seconds",
        json!({
            "read": seconds(report.times.read),
            "judge": seconds(report.times.judge),
            "scan": report.scanned.as_ref().map(|scanned| seconds(scanned.time)),
            "hash": report.times.hash.map(seconds),
        }),
    );
    put("scan", report.scanned.as_ref().map_or(Json::Null, scan));
    if let Some(hash) = &report.sha256 {
        put("sha256", json!(hash));
    }
    match &report.tensors {
        None => {}
        Some(Err(reason)) => {
            put("tensors", Json::Null);
            put("no_tensors_because", json!(reason));
        }
        Some(Ok(tensors)) => {
            let list = tensors.iter().map(|tensor| {
                json!({"name": text(&tensor.name), "start": tensor.start, "size": tensor.size, "sha256": tensor.sha256})
            });
            put("tensors", list.collect());
        }
    }
    object
}

fn scan(scanned: &Scanned) -> Json {
    json!({
        "bytes": scanned.bytes,
        "tensors": scanned.tensors,
        "threads": scanned.threads,
        "noticed": scanned.noticed.iter().map(|noticed| json!({
            "name": text(&noticed.name),
            "type": noticed.ty,
            "nan": noticed.nan,
            "infinite": noticed.infinite,
            "looked_at": noticed.looked_at,
            "start": noticed.start,
            "block": noticed.block,
        })).collect::<Vec<_>>(),
        "noticed_left_out": scanned.left_out,
    })
}

fn seconds(time: Duration) -> f64 {
    time.as_secs_f64()
}
