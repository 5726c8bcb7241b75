//! The two readers, on files that are nearly right.

use assay_oracles::reader::{allocated, as_specified, heap, policies};
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
    for (name, policy) in policies() {
        let (_, taken) = measured(|| read(bytes, policy).is_ok());
        if taken.peak > heap(bytes.len()) || taken.total > allocated(bytes.len()) {
            return Err(format!("{name}: {taken:?} for {} bytes", bytes.len()));
        }
    }
    let judgement = judge(bytes, &Checks::all());
    as_specified(bytes)?;
    let first = judgement.findings.first();
    Ok(Found { accepted: first.is_none(), rule: first.map(|finding| finding.rule) })
}
