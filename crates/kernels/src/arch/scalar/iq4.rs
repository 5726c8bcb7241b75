//! IQ4_NL (`d`, `qs`) and IQ4_XS (`d`, `scales_h`, `scales_l`, `qs`): codes of four bits that stand for uneven
//! levels.

use gguf_spec::quant::formats::iq4_nl::LEVELS;

use super::blocks::{self, bits, nibbles};
use super::numbers::{float, half, signed};
use super::q8;

/// The levels of 32 weights in 16 bytes: the first half in the low nibbles.
fn levels(qs: &[u8]) -> [i32; 32] {
    std::array::from_fn(|i| i32::from(LEVELS[usize::from(nibbles(qs[i % 16])[i / 16])]))
}

/// Rows of IQ4_NL.
pub(super) fn decode_nl(row: &[u8], out: &mut [f32]) {
    blocks::decode::<18, 32>(row, out, |b, out| {
        let d = half(b, 0);
        for (out, level) in out.iter_mut().zip(levels(&b[2..])) {
            *out = d * float(level);
        }
    });
}

/// IQ4_NL with Q8_0.
pub(super) fn dot_nl(row: &[u8], activations: &[u8]) -> f32 {
    blocks::dot::<18, { q8::BYTES_0 }>(row, activations, |b, y| {
        let sum: i32 = levels(&b[2..]).iter().zip(q8::codes_0(y)).map(|(level, &y)| level * signed(y)).sum();
        half(b, 0) * q8::d_0(y) * float(sum)
    })
}

/// The scale of a group of 32 of IQ4_XS, less 32.
fn scale(b: &[u8; 136], group: usize) -> i32 {
    let low = nibbles(b[4 + group / 2])[group % 2];
    let high = bits(b[2 + group / 4], 2 * (group % 4), 2);
    i32::from(low | high << 4) - 32
}

/// Rows of IQ4_XS.
pub(super) fn decode_xs(row: &[u8], out: &mut [f32]) {
    blocks::decode::<136, 256>(row, out, |b, out| {
        for (group, out) in out.chunks_exact_mut(32).enumerate() {
            let d = half(b, 0) * float(scale(b, group));
            for (out, level) in out.iter_mut().zip(levels(&b[8 + 16 * group..])) {
                *out = d * float(level);
            }
        }
    });
}

/// IQ4_XS with Q8_K.
pub(super) fn dot_xs(row: &[u8], activations: &[u8]) -> f32 {
    blocks::dot::<136, { q8::BYTES_K }>(row, activations, |b, y| {
        let mut sum = 0;
        for (group, ys) in q8::codes_k(y).chunks_exact(32).enumerate() {
            let products = levels(&b[8 + 16 * group..]).into_iter().zip(ys).map(|(level, &y)| level * signed(y));
            sum += scale(b, group) * products.sum::<i32>();
        }
        half(b, 0) * q8::d_k(y) * float(sum)
    })
}
