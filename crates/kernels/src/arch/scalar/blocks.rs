//! Rows taken apart into blocks.

/// Decodes block after block of `N` bytes and `W` weights.
pub(super) fn decode<const N: usize, const W: usize>(
    bytes: &[u8],
    out: &mut [f32],
    block: impl Fn(&[u8; N], &mut [f32; W]),
) {
    let ((blocks, rest), (weights, more)) = (bytes.as_chunks::<N>(), out.as_chunks_mut::<W>());
    debug_assert!(rest.is_empty() && more.is_empty() && blocks.len() == weights.len());
    for (bytes, weights) in blocks.iter().zip(weights) {
        block(bytes, weights);
    }
}

/// Adds up the products of blocks of `N` bytes with the `M` bytes of activations that belong to each.
pub(super) fn dot<const N: usize, const M: usize>(
    weights: &[u8],
    activations: &[u8],
    block: impl Fn(&[u8; N], &[u8; M]) -> f32,
) -> f32 {
    let ((weights, rest), (activations, more)) = (weights.as_chunks::<N>(), activations.as_chunks::<M>());
    debug_assert!(rest.is_empty() && more.is_empty() && weights.len() == activations.len());
    weights.iter().zip(activations).fold(0.0, |sum, (weights, activations)| sum + block(weights, activations))
}

/// The low and the high nibble of a byte.
pub(super) fn nibbles(byte: u8) -> [u8; 2] {
    [byte & 15, byte >> 4]
}

/// So many bits of a byte, from this one on.
pub(super) fn bits(byte: u8, from: usize, width: u32) -> u8 {
    byte >> from & ((1 << width) - 1)
}
