//! How an input becomes the next one, from a number.

mod blocks;

use gguf_spec::generate;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use crate::Kind;

/// An input near this one, of at most `most` bytes; `None` for kinds that have no structure to change.
#[must_use]
pub fn mutated(kind: Kind, bytes: &[u8], most: usize, seed: u64) -> Option<Vec<u8>> {
    let rng = &mut ChaCha8Rng::seed_from_u64(seed);
    match kind {
        Kind::File => Some(generate::mutated(bytes, most, rng)),
        Kind::Blocks | Kind::Products => Some(blocks::mutated(kind, bytes, most, rng)),
        Kind::Lines => None,
    }
}

/// An input of the parts of two, of at most `most` bytes; `None` as for [`mutated`].
#[must_use]
pub fn crossed(kind: Kind, a: &[u8], b: &[u8], most: usize, seed: u64) -> Option<Vec<u8>> {
    let rng = &mut ChaCha8Rng::seed_from_u64(seed);
    match kind {
        Kind::File => Some(generate::crossed(a, b, most, rng)),
        Kind::Blocks | Kind::Products => Some(blocks::crossed(kind, a, b, most, rng)),
        Kind::Lines => None,
    }
}
