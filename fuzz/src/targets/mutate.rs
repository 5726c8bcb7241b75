//! The two readers, on files that are nearly right.

use assay_oracles::reader::as_judged;
use assay_reader::read;
use gguf_spec::judge::judge;
use gguf_spec::rules::Checks;

use crate::counting_allocator::measured;
use crate::{Found, Kind, Target, read_within};

/// The fast reader does what the specification says, within its memory.
pub const TARGET: Target = Target {
    name: "mutate",
    says: "The fast reader and the specification agree on verdict, first finding and document.",
    kind: Kind::File,
    run,
};

fn run(bytes: &[u8]) -> Result<Found, String> {
    let judgement = judge(bytes, &Checks::all());
    let mut dear = Ok(());
    as_judged(&judgement, |policy| {
        let (result, taken) = measured(|| read(bytes, policy));
        if let Err(reason) = read_within(taken, bytes.len()) {
            dear = Err(format!("{policy:?}: {reason}"));
        }
        result
    })?;
    dear?;
    Ok(Found::of(&judgement))
}
