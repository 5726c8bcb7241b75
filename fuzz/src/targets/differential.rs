//! Readers against each other, and each against itself.

use assay_oracles::{heads, reader};
use gguf_spec::judge::judge;
use gguf_spec::rules::Checks;

use crate::{Found, Kind, Target};

/// Files read whole, and piece by piece, by both readers, and by ggml's where it is there.
pub const TARGET: Target = Target {
    name: "differential",
    says: "Whole and piecewise reads of both readers agree, values are found by name; with `ggml`, ggml does as its \
           profiles say.",
    kind: Kind::File,
    run,
};

fn run(bytes: &[u8]) -> Result<Found, String> {
    let judgement = judge(bytes, &Checks::all());
    reader::as_judged(&judgement, |policy| assay_reader::read(bytes, policy))?;
    reader::head_or_whole(bytes)?;
    reader::is_found_by_name(bytes)?;
    heads::head_or_whole(bytes)?;
    #[cfg(all(feature = "ggml", target_os = "linux"))]
    crate::ggml::as_its_profiles(bytes, &judgement)?;
    Ok(Found::of(&judgement))
}
