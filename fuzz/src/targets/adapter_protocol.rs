//! What the runner of adapters reads from programs of others.

use assay_harness::adapter::compare::first_difference;
use assay_harness::adapter::message::{Answer, Request, read_answer, read_started, read_stopped};
use assay_oracles::documents;
use gguf_spec::document::Document;

use crate::{Found, Kind, Target};

/// Any lines at all are an answer or a protocol error; a document that is taken survives its JSON form
/// and does not differ from itself.
pub const TARGET: Target = Target {
    name: "adapter_protocol",
    says: "Any line of an adapter is an answer or a protocol error, and a document that is taken survives its JSON form.",
    kind: Kind::Lines,
    run,
};

fn run(bytes: &[u8]) -> Result<Found, String> {
    let mut found = Found::default();
    let mut lines = bytes.split(|byte| *byte == b'\n');
    let started = read_started(lines.next().unwrap_or_default(), 0).ok();
    let parse = Request::Parse("/file.gguf");
    let roundtrip = Request::Roundtrip { input: "/file.gguf", output: "/copy.gguf" };
    for (i, line) in lines.enumerate() {
        let seq = i as u64 + 1;
        let stopped = read_stopped(line, seq).is_ok();
        let wrote = read_answer(line, seq, &roundtrip);
        let answer = read_answer(line, seq, &parse);
        if stopped && (answer.is_ok() || wrote.is_ok()) {
            return Err(format!("line {seq} is an answer to a file and to the end"));
        }
        let Ok(answer) = answer else { continue };
        found.accepted = true;
        if let Answer::Accepted { document: Some(text), omits } = answer {
            let Ok(json) = serde_json::from_str(&text) else { continue };
            let never_shown = started.iter().map(|(started, _)| &started.omits);
            let read = Document::from_json(&json);
            let canonical = read.as_ref().is_ok_and(|document| document.to_json() == json);
            // Whatever it is, it is compared; nothing of a document in its one form differs from itself.
            for omits in never_shown.chain([&omits]) {
                if let Some(difference) = first_difference(&json, &json, omits).filter(|_| canonical) {
                    return Err(format!("line {seq}: a document differs from itself: {difference}"));
                }
            }
            if let Ok(document) = read {
                documents::survives_json(&document).map_err(|reason| format!("line {seq}: {reason}"))?;
            }
        }
    }
    Ok(found)
}
