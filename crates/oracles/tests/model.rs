//! A real model, if `ASSAY_MODEL` names one: decoding and encoding give it back, the spans of its fields
//! tile it, and the fast reader reads it as specified. Nothing is downloaded; without the variable the
//! tests are ignored.

use std::fs;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use assay_oracles::{Holds, documents, findings, heads, places, profiles, reader, round_trip};
use gguf_spec::judge::judge;
use gguf_spec::rules::Checks;
use libtest_mimic::{Arguments, Trial};

type Oracle = fn(&[u8]) -> Holds;

const TESTS: [(&str, Oracle); 8] = [
    ("comes_back", |bytes| round_trip::decode_encode(bytes, 0, &Checks::all())),
    ("spans_tile", |bytes| places::tile(bytes, 0)),
    ("findings_are_sound", findings::sound),
    ("profiles_differ_only_by_rules", profiles::differ_only_by_rules),
    ("head_or_whole", heads::head_or_whole),
    ("document_survives_json", documents::survive_json),
    ("reader_does_as_specified", reader::as_specified),
    ("reader_of_head_or_whole", reader::head_or_whole),
];

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let model = std::env::var_os("ASSAY_MODEL");
    let mut bytes = Vec::new();
    if let Some(path) = &model
        && !arguments.list
    {
        bytes = match fs::read(path) {
            Ok(bytes) => bytes,
            Err(e) => {
                eprintln!("ASSAY_MODEL={}: cannot be read: {e}", path.display());
                return ExitCode::FAILURE;
            }
        };
        let started = Instant::now();
        let judgement = judge(&bytes, &Checks::all());
        let (pairs, tensors) = judgement.document.as_ref().map_or((0, 0), |d| (d.metadata.len(), d.tensors.len()));
        eprintln!(
            "{}: {} bytes, {pairs} pairs, {tensors} tensors, {} findings, judged in {:.0?}",
            path.display(),
            bytes.len(),
            judgement.findings.len(),
            started.elapsed()
        );
    }
    let bytes = Arc::new(bytes);
    let trials = TESTS
        .into_iter()
        .map(|(name, holds)| {
            let bytes = Arc::clone(&bytes);
            let run = move || {
                let started = Instant::now();
                holds(&bytes)?;
                eprintln!("model::{name}: {} bytes in {:.0?}", bytes.len(), started.elapsed());
                Ok(())
            };
            Trial::test(format!("model::{name}"), run).with_ignored_flag(model.is_none())
        })
        .collect();
    libtest_mimic::run(&arguments, trials).exit_code()
}
