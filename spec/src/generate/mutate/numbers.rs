//! Numbers that readers have failed on.

use rand::{Rng, RngExt};
use rand_chacha::ChaCha8Rng;

use crate::limits::{
    GGML_ADDRESS_SPACE, GGML_MAX_ARRAY_LENGTH, GGML_MAX_PAIRS, GGML_MAX_STRING_LENGTH, GGML_MAX_TENSORS,
    MAX_KEY_LENGTH, MAX_TENSOR_NAME_LENGTH,
};

/// Where a rule changes its mind.
const LIMITS: [u64; 7] = [
    GGML_MAX_TENSORS,
    GGML_MAX_PAIRS,
    GGML_MAX_STRING_LENGTH,
    GGML_MAX_ARRAY_LENGTH,
    GGML_ADDRESS_SPACE,
    MAX_KEY_LENGTH,
    MAX_TENSOR_NAME_LENGTH,
];

/// A number that readers have failed on, or one near the right one or near a limit.
pub fn interesting(rng: &mut ChaCha8Rng, right: u64) -> u64 {
    match rng.random_range(0..9) {
        8 => LIMITS[rng.random_range(0..LIMITS.len())] + rng.random_range(0..3) - 1,
        0 => right.wrapping_add(1),
        1 => right.wrapping_sub(1),
        2 => rng.random_range(0..16),
        3 => (1 << rng.random_range(0..64u32)) - u64::from(rng.random::<bool>()),
        4 => u64::MAX - rng.random_range(0..2u64),
        5 => right.rotate_left(32),
        6 => right.swap_bytes(),
        _ => rng.next_u64(),
    }
}

/// A 32-bit number of the same kind.
pub(super) fn interesting_u32(rng: &mut ChaCha8Rng, right: u32) -> u32 {
    let bytes = interesting(rng, u64::from(right)).to_le_bytes();
    u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
}

/// A size that lies where something that counts sizes changes its mind: the limits of names, keys and
/// nesting, and the widths of numbers; never more than `most`.
pub(super) fn boundary(rng: &mut ChaCha8Rng, most: usize) -> usize {
    const SIZES: [usize; 16] = [0, 1, 2, 7, 8, 31, 32, 33, 63, 64, 65, 127, 255, 256, 65_535, 65_536];
    let fits = SIZES.partition_point(|&size| size <= most);
    SIZES[rng.random_range(0..fits)]
}

/// One of two numbers whose product, times something small, is near a power of two of 63 or 64 bits.
pub(super) fn factor(rng: &mut ChaCha8Rng, rest: u64) -> u64 {
    let power = 1u128 << rng.random_range(60..66u32);
    let factor = power / u128::from(rest.max(1));
    let near = factor.wrapping_add(u128::from(rng.random_range(0..3u64))).wrapping_sub(1);
    u64::try_from(near).unwrap_or(u64::MAX)
}
