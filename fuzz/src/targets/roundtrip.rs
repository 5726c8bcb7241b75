//! The specification alone: what is read can be written again.

use assay_oracles::{budget, documents, findings, places, profiles, round_trip};
use gguf_spec::generate::valid;
use gguf_spec::judge::judge;
use gguf_spec::rules::Checks;

use crate::counting_allocator::measured;
use crate::{Found, Kind, Target, within};

/// What is decoded encodes to the same bytes, a tree whose counts are true decodes to itself, spans tile
/// the file, findings are sound, profiles differ only by rules, documents survive their JSON form.
pub const TARGET: Target = Target {
    name: "roundtrip",
    says: "Decoding and encoding undo each other, spans tile the file, findings are sound, documents survive JSON.",
    kind: Kind::File,
    run,
};

fn run(bytes: &[u8]) -> Result<Found, String> {
    let (judgement, taken) = measured(|| judge(bytes, &Checks::all()));
    let len = bytes.len();
    within(taken, budget::heap(len), budget::allocated(len), len)
        .map_err(|reason| format!("the specification takes {reason}"))?;
    round_trip::decode_encode(bytes, 0, &Checks::all())?;
    // A right tree of the input's own, drawn from its bytes.
    let seed = bytes.iter().fold(0u64, |seed, byte| seed.rotate_left(5) ^ u64::from(*byte));
    round_trip::encode_decode(&valid(seed))?;
    places::tile(bytes, 0)?;
    findings::sound(bytes)?;
    profiles::differ_only_by_rules(bytes)?;
    documents::survive_json(bytes)?;
    Ok(Found::of(&judgement))
}
