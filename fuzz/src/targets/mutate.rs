//! The two readers, on files that are nearly right.

use assay_oracles::reader::{allocated, as_judged, heap};
use assay_reader::read;
use gguf_spec::judge::judge;
use gguf_spec::rules::Checks;

use crate::counting_allocator::measured;
use crate::{Found, Kind, Target};

/// The fast reader does what the specification says, within its memory.
pub const TARGET: Target = Target {
    name: "mutate",
    says: "The fast reader and the specification agree on verdict, first finding and document.",
    kind: Kind::File,
    run,
};

fn run(bytes: &[u8]) -> Result<Found, String> {
    let judgement = judge(bytes, &Checks::all());
    let mut dear = None;
    as_judged(&judgement, |policy| {
        let (result, taken) = measured(|| read(bytes, policy));
        if taken.peak > heap(bytes.len()) || taken.total > allocated(bytes.len()) {
            dear = Some((policy, taken));
        }
        result
    })?;
    if let Some((policy, taken)) = dear {
        return Err(format!("{policy:?}: {taken:?} for {} bytes", bytes.len()));
    }
    Ok(Found::of(&judgement))
}
