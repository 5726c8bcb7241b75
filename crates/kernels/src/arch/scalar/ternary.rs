//! TQ1_0 (`qs`, `qh`, `d`) and TQ2_0 (`qs`, `d`): 256 weights of -1, 0 or 1 times the scale.

use super::blocks::{self, bits};
use super::numbers::{float, half, signed};
use super::q8;

/// The digits of TQ1_0. A byte is a fraction of 256; three times what is left of it after each digit shows the next.
fn digits(b: &[u8; 54]) -> [i32; 256] {
    const POWERS: [u8; 5] = [1, 3, 9, 27, 81];
    let digit = |byte: u8, n: usize| i32::from(byte.wrapping_mul(POWERS[n])) * 3 / 256 - 1;
    std::array::from_fn(|i| match i {
        0..160 => digit(b[i % 32], i / 32),
        160..240 => digit(b[32 + i % 16], (i - 160) / 16),
        _ => digit(b[48 + i % 4], (i - 240) / 4),
    })
}

/// The codes of TQ2_0, -1 to 2.
fn pairs(b: &[u8; 66]) -> [i32; 256] {
    std::array::from_fn(|i| i32::from(bits(b[i / 128 * 32 + i % 32], 2 * (i % 128 / 32), 2)) - 1)
}

fn scale(d: f32, integers: &[i32; 256], out: &mut [f32; 256]) {
    for (out, &q) in out.iter_mut().zip(integers) {
        *out = d * float(q);
    }
}

fn product(d: f32, integers: &[i32; 256], y: &[u8; q8::BYTES_K]) -> f32 {
    let sum: i32 = integers.iter().zip(q8::codes_k(y)).map(|(q, &y)| q * signed(y)).sum();
    d * q8::d_k(y) * float(sum)
}

/// Rows of TQ1_0.
pub(super) fn decode_1(row: &[u8], out: &mut [f32]) {
    blocks::decode(row, out, |b, out| scale(half(b, 52), &digits(b), out));
}

/// TQ1_0 with Q8_K.
pub(super) fn dot_1(row: &[u8], activations: &[u8]) -> f32 {
    blocks::dot(row, activations, |b, y| product(half(b, 52), &digits(b), y))
}

/// Rows of TQ2_0.
pub(super) fn decode_2(row: &[u8], out: &mut [f32]) {
    blocks::decode(row, out, |b, out| scale(half(b, 64), &pairs(b), out));
}

/// TQ2_0 with Q8_K.
pub(super) fn dot_2(row: &[u8], activations: &[u8]) -> f32 {
    blocks::dot(row, activations, |b, y| product(half(b, 64), &pairs(b), y))
}
