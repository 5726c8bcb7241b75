//! Q2_K (`scales`, `qs`, `d`, `dmin`) and Q3_K (`hmask`, `qs`, `scales`, `d`): 16 groups of 16.

use super::blocks::{self, bits, nibbles};
use super::numbers::{float, half, signed};
use super::q8;

/// The two bits of a weight in 64 bytes: four runs of 32 share 32 bytes.
fn pair(qs: &[u8], i: usize) -> i32 {
    i32::from(bits(qs[i / 128 * 32 + i % 32], 2 * (i % 128 / 32), 2))
}

/// Rows of Q2_K.
pub(super) fn decode_q2(row: &[u8], out: &mut [f32]) {
    blocks::decode::<84, 256>(row, out, |b, out| {
        let (d, dmin) = (half(b, 80), half(b, 82));
        for (i, out) in out.iter_mut().enumerate() {
            let [scale, min] = nibbles(b[i / 16]);
            *out = d * f32::from(scale) * float(pair(&b[16..], i)) - dmin * f32::from(min);
        }
    });
}

/// Q2_K with Q8_K.
pub(super) fn dot_q2(row: &[u8], activations: &[u8]) -> f32 {
    blocks::dot::<84, { q8::BYTES_K }>(row, activations, |b, y| {
        let (mut sum, mut minima) = (0, 0);
        for (group, ys) in q8::codes_k(y).chunks_exact(16).enumerate() {
            let [scale, min] = nibbles(b[group]);
            let codes = ys.iter().enumerate().map(|(i, &y)| pair(&b[16..], 16 * group + i) * signed(y));
            sum += i32::from(scale) * codes.sum::<i32>();
            minima += i32::from(min) * q8::bsum_k(y, group);
        }
        q8::d_k(y) * half(b, 80) * float(sum) - q8::d_k(y) * half(b, 82) * float(minima)
    })
}

/// The scale of a group of Q3_K, less 32: four bits in a nibble of the first eight bytes, two in the last four.
fn scale_q3(scales: &[u8], group: usize) -> i32 {
    let low = nibbles(scales[group % 8])[group / 8];
    let high = bits(scales[8 + group % 4], 2 * (group / 4), 2);
    i32::from(low | high << 4) - 32
}

/// The code of a weight of Q3_K, less 4.
fn q3(b: &[u8; 110], i: usize) -> i32 {
    pair(&b[32..96], i) + 4 * i32::from(bits(b[i % 32], i / 32, 1)) - 4
}

/// Rows of Q3_K.
pub(super) fn decode_q3(row: &[u8], out: &mut [f32]) {
    blocks::decode::<110, 256>(row, out, |b, out| {
        let d = half(b, 108);
        for (i, out) in out.iter_mut().enumerate() {
            *out = d * float(scale_q3(&b[96..108], i / 16)) * float(q3(b, i));
        }
    });
}

/// Q3_K with Q8_K.
pub(super) fn dot_q3(row: &[u8], activations: &[u8]) -> f32 {
    blocks::dot::<110, { q8::BYTES_K }>(row, activations, |b, y| {
        let mut sum = 0;
        for (group, ys) in q8::codes_k(y).chunks_exact(16).enumerate() {
            let codes = ys.iter().enumerate().map(|(i, &y)| q3(b, 16 * group + i) * signed(y));
            sum += scale_q3(&b[96..108], group) * codes.sum::<i32>();
        }
        half(b, 108) * q8::d_k(y) * float(sum)
    })
}
