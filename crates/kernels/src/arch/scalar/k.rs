//! Q4_K (`d`, `dmin`, `scales`, `qs`), Q5_K (the same with `qh`) and Q6_K (`ql`, `qh`, `scales`, `d`).

use super::blocks::{self, bits, nibbles};
use super::numbers::{float, half, signed};
use super::q8;

/// The eight scales and the eight minima of six bits in twelve bytes, of Q4_K and Q5_K.
fn scales_and_mins(s: &[u8]) -> ([i32; 8], [i32; 8]) {
    let scale = |g: usize| if g < 4 { s[g] & 63 } else { s[g + 4] & 15 | s[g - 4] >> 6 << 4 };
    let min = |g: usize| if g < 4 { s[g + 4] & 63 } else { s[g + 4] >> 4 | s[g] >> 6 << 4 };
    (std::array::from_fn(|g| i32::from(scale(g))), std::array::from_fn(|g| i32::from(min(g))))
}

/// The nibble of a weight in 128 bytes: pairs of 32 share 32 bytes.
fn nibble(qs: &[u8], i: usize) -> u8 {
    nibbles(qs[i / 64 * 32 + i % 32])[i / 32 % 2]
}

fn q4(b: &[u8; 144]) -> [i32; 256] {
    std::array::from_fn(|i| i32::from(nibble(&b[16..], i)))
}

fn q5(b: &[u8; 176]) -> [i32; 256] {
    let (qh, qs) = b[16..].split_at(32);
    std::array::from_fn(|i| i32::from(nibble(qs, i) | bits(qh[i % 32], i / 32, 1) << 4))
}

/// What Q4_K and Q5_K share: a block starts with `d`, `dmin` and `scales`.
fn decode(head: &[u8], codes: &[i32; 256], out: &mut [f32; 256]) {
    let (d, dmin) = (half(head, 0), half(head, 2));
    let (scales, mins) = scales_and_mins(&head[4..16]);
    for (i, (out, &q)) in out.iter_mut().zip(codes).enumerate() {
        *out = d * float(scales[i / 32]) * float(q) - dmin * float(mins[i / 32]);
    }
}

fn dot(head: &[u8], codes: &[i32; 256], y: &[u8; q8::BYTES_K]) -> f32 {
    let (scales, mins) = scales_and_mins(&head[4..16]);
    let (mut sum, mut minima) = (0, 0);
    for (group, (codes, ys)) in codes.chunks_exact(32).zip(q8::codes_k(y).chunks_exact(32)).enumerate() {
        sum += scales[group] * codes.iter().zip(ys).map(|(q, &y)| q * signed(y)).sum::<i32>();
        minima += mins[group] * (q8::bsum_k(y, 2 * group) + q8::bsum_k(y, 2 * group + 1));
    }
    q8::d_k(y) * half(head, 0) * float(sum) - q8::d_k(y) * half(head, 2) * float(minima)
}

/// Rows of Q4_K.
pub(super) fn decode_q4(row: &[u8], out: &mut [f32]) {
    blocks::decode(row, out, |b, out| decode(b, &q4(b), out));
}

/// Q4_K with Q8_K.
pub(super) fn dot_q4(row: &[u8], activations: &[u8]) -> f32 {
    blocks::dot(row, activations, |b, y| dot(b, &q4(b), y))
}

/// Rows of Q5_K.
pub(super) fn decode_q5(row: &[u8], out: &mut [f32]) {
    blocks::decode(row, out, |b, out| decode(b, &q5(b), out));
}

/// Q5_K with Q8_K.
pub(super) fn dot_q5(row: &[u8], activations: &[u8]) -> f32 {
    blocks::dot(row, activations, |b, y| dot(b, &q5(b), y))
}

/// The codes of Q6_K, less 32: four bits in `ql`, where the halves of 128 share 64 bytes, and two in `qh`.
fn q6(b: &[u8; 210]) -> [i32; 256] {
    let (ql, qh) = b.split_at(128);
    std::array::from_fn(|i| {
        let low = nibbles(ql[i / 128 * 64 + i % 64])[i / 64 % 2];
        let high = bits(qh[i / 128 * 32 + i % 32], 2 * (i % 128 / 32), 2);
        i32::from(low | high << 4) - 32
    })
}

fn scale_q6(b: &[u8; 210], group: usize) -> i32 {
    signed(b[192 + group])
}

/// Rows of Q6_K.
pub(super) fn decode_q6(row: &[u8], out: &mut [f32]) {
    blocks::decode(row, out, |b, out: &mut [f32; 256]| {
        let d = half(b, 208);
        for (i, (out, q)) in out.iter_mut().zip(q6(b)).enumerate() {
            *out = d * float(scale_q6(b, i / 16)) * float(q);
        }
    });
}

/// Q6_K with Q8_K.
pub(super) fn dot_q6(row: &[u8], activations: &[u8]) -> f32 {
    blocks::dot(row, activations, |b, y| {
        let mut sum = 0;
        for (group, (codes, ys)) in q6(b).chunks_exact(16).zip(q8::codes_k(y).chunks_exact(16)).enumerate() {
            sum += scale_q6(b, group) * codes.iter().zip(ys).map(|(q, &y)| q * signed(y)).sum::<i32>();
        }
        half(b, 208) * q8::d_k(y) * float(sum)
    })
}
