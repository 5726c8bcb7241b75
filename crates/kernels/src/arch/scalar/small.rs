//! Q1_0 (128 codes of one bit) and Q2_0 (64 of two): `d`, `qs`, the codes one after the other. A block meets
//! several blocks of Q8_0.

use super::blocks::{self, bits};
use super::numbers::{float, half, signed};
use super::q8;

/// The integer of a weight of Q1_0: 1 or -1.
fn q1(qs: &[u8], i: usize) -> i32 {
    2 * i32::from(bits(qs[i / 8], i % 8, 1)) - 1
}

/// The integer of a weight of Q2_0: -1 to 2.
fn q2(qs: &[u8], i: usize) -> i32 {
    i32::from(bits(qs[i / 4], 2 * (i % 4), 2)) - 1
}

fn decode<const W: usize>(row: &[u8], out: &mut [f32], integer: fn(&[u8], usize) -> i32) {
    blocks::decode::<18, W>(row, out, |b, out| {
        let d = half(b, 0);
        for (i, out) in out.iter_mut().enumerate() {
            *out = d * float(integer(&b[2..], i));
        }
    });
}

fn dot<const M: usize>(row: &[u8], activations: &[u8], integer: fn(&[u8], usize) -> i32) -> f32 {
    blocks::dot::<18, M>(row, activations, |b, ys| {
        let mut total = 0.0;
        for (part, y) in ys.chunks_exact(q8::BYTES_0).enumerate() {
            let codes = q8::codes_0(y).iter().enumerate();
            let sum: i32 = codes.map(|(i, &y)| integer(&b[2..], 32 * part + i) * signed(y)).sum();
            total += q8::d_0(y) * float(sum);
        }
        half(b, 0) * total
    })
}

/// Rows of Q1_0.
pub(super) fn decode_q1(row: &[u8], out: &mut [f32]) {
    decode::<128>(row, out, q1);
}

/// Q1_0 with Q8_0.
pub(super) fn dot_q1(row: &[u8], activations: &[u8]) -> f32 {
    dot::<{ 4 * q8::BYTES_0 }>(row, activations, q1)
}

/// Rows of Q2_0.
pub(super) fn decode_q2(row: &[u8], out: &mut [f32]) {
    decode::<64>(row, out, q2);
}

/// Q2_0 with Q8_0.
pub(super) fn dot_q2(row: &[u8], activations: &[u8]) -> f32 {
    dot::<{ 2 * q8::BYTES_0 }>(row, activations, q2)
}
