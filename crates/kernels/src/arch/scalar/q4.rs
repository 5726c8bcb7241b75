//! Q4_0 (`d`, `qs`) and Q4_1 (`d`, `m`, `qs`): 32 codes of four bits, the first half in the low nibbles.

use super::blocks::{self, nibbles};
use super::numbers::{float, half, signed};
use super::q8;

fn codes(qs: &[u8]) -> [i32; 32] {
    std::array::from_fn(|i| i32::from(nibbles(qs[i % 16])[i / 16]))
}

/// Rows of Q4_0.
pub(super) fn decode_0(row: &[u8], out: &mut [f32]) {
    blocks::decode::<18, 32>(row, out, |b, out| {
        let d = half(b, 0);
        for (out, q) in out.iter_mut().zip(codes(&b[2..])) {
            *out = d * float(q - 8);
        }
    });
}

/// Q4_0 with Q8_0.
pub(super) fn dot_0(row: &[u8], activations: &[u8]) -> f32 {
    blocks::dot::<18, { q8::BYTES_0 }>(row, activations, |b, y| {
        let sum: i32 = codes(&b[2..]).iter().zip(q8::codes_0(y)).map(|(q, &y)| (q - 8) * signed(y)).sum();
        half(b, 0) * q8::d_0(y) * float(sum)
    })
}

/// Rows of Q4_1.
pub(super) fn decode_1(row: &[u8], out: &mut [f32]) {
    blocks::decode::<20, 32>(row, out, |b, out| {
        let (d, m) = (half(b, 0), half(b, 2));
        for (out, q) in out.iter_mut().zip(codes(&b[4..])) {
            *out = d * float(q) + m;
        }
    });
}

/// Q4_1 with Q8_1.
pub(super) fn dot_1(row: &[u8], activations: &[u8]) -> f32 {
    blocks::dot::<20, { q8::BYTES_1 }>(row, activations, |b, y| {
        let sum: i32 = codes(&b[4..]).iter().zip(q8::codes_1(y)).map(|(q, &y)| q * signed(y)).sum();
        half(b, 0) * q8::d_1(y) * float(sum) + half(b, 2) * q8::s_1(y)
    })
}
