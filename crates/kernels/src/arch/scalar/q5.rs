//! Q5_0 (`d`, `qh`, `qs`) and Q5_1 (`d`, `m`, `qh`, `qs`): 32 codes of five bits; four as in Q4_0, the fifth in
//! `qh`.

use super::blocks::{self, nibbles};
use super::numbers::{float, half, signed};
use super::q8;

/// Codes from the four bytes of `qh` and the sixteen of `qs` behind them.
fn codes(b: &[u8]) -> [i32; 32] {
    let qh = u32::from_le_bytes([b[0], b[1], b[2], b[3]]);
    let qs = &b[4..];
    std::array::from_fn(|i| i32::from(nibbles(qs[i % 16])[i / 16]) | (qh >> i & 1).cast_signed() << 4)
}

/// Rows of Q5_0.
pub(super) fn decode_0(row: &[u8], out: &mut [f32]) {
    blocks::decode::<22, 32>(row, out, |b, out| {
        let d = half(b, 0);
        for (out, q) in out.iter_mut().zip(codes(&b[2..])) {
            *out = d * float(q - 16);
        }
    });
}

/// Q5_0 with Q8_0.
pub(super) fn dot_0(row: &[u8], activations: &[u8]) -> f32 {
    blocks::dot::<22, { q8::BYTES_0 }>(row, activations, |b, y| {
        let sum: i32 = codes(&b[2..]).iter().zip(q8::codes_0(y)).map(|(q, &y)| (q - 16) * signed(y)).sum();
        half(b, 0) * q8::d_0(y) * float(sum)
    })
}

/// Rows of Q5_1.
pub(super) fn decode_1(row: &[u8], out: &mut [f32]) {
    blocks::decode::<24, 32>(row, out, |b, out| {
        let (d, m) = (half(b, 0), half(b, 2));
        for (out, q) in out.iter_mut().zip(codes(&b[4..])) {
            *out = d * float(q) + m;
        }
    });
}

/// Q5_1 with Q8_1.
pub(super) fn dot_1(row: &[u8], activations: &[u8]) -> f32 {
    blocks::dot::<24, { q8::BYTES_1 }>(row, activations, |b, y| {
        let sum: i32 = codes(&b[4..]).iter().zip(q8::codes_1(y)).map(|(q, &y)| q * signed(y)).sum();
        half(b, 0) * q8::d_1(y) * float(sum) + half(b, 2) * q8::s_1(y)
    })
}
