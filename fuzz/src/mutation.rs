//! How an input becomes the next one, from a number.

use gguf_spec::generate;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

/// A file near this one, of at most `most` bytes.
#[must_use]
pub fn mutated(bytes: &[u8], most: usize, seed: u64) -> Vec<u8> {
    generate::mutated(bytes, most, &mut ChaCha8Rng::seed_from_u64(seed))
}

/// A file of the entries of two, of at most `most` bytes.
#[must_use]
pub fn crossed(a: &[u8], b: &[u8], most: usize, seed: u64) -> Vec<u8> {
    generate::crossed(a, b, most, &mut ChaCha8Rng::seed_from_u64(seed))
}
