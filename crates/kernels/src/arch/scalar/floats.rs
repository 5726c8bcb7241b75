//! The two 16-bit floats, with activations of the same kind.

use super::blocks;
use super::numbers::{bf16, f16, word};

/// Rows of binary16.
pub(super) fn decode_f16(row: &[u8], out: &mut [f32]) {
    blocks::decode::<2, 1>(row, out, |b, out| out[0] = f16(word(b, 0)));
}

/// Products of binary16, each exact.
pub(super) fn dot_f16(row: &[u8], activations: &[u8]) -> f32 {
    blocks::dot::<2, 2>(row, activations, |w, x| f16(word(w, 0)) * f16(word(x, 0)))
}

/// Rows of bfloat16.
pub(super) fn decode_bf16(row: &[u8], out: &mut [f32]) {
    blocks::decode::<2, 1>(row, out, |b, out| out[0] = bf16(word(b, 0)));
}

/// Products of bfloat16, each exact but for underflow.
pub(super) fn dot_bf16(row: &[u8], activations: &[u8]) -> f32 {
    blocks::dot::<2, 2>(row, activations, |w, x| bf16(word(w, 0)) * bf16(word(x, 0)))
}
