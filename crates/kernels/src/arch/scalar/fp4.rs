//! MXFP4 (`e`, `qs`) and NVFP4 (four `d`, `qs`): codes of E2M1, doubled to be integers under half of the scale.

use gguf_spec::quant::formats::mxfp4::E2M1;

use super::blocks::{self, nibbles};
use super::numbers::{e8m0_half, float, signed, ue4m3_half};
use super::q8;

fn e2m1(nibble: u8) -> i32 {
    i32::from(E2M1[usize::from(nibble)])
}

/// The codes of a group: the first half in the low nibbles.
fn codes<const N: usize>(qs: &[u8]) -> [i32; N] {
    std::array::from_fn(|i| e2m1(nibbles(qs[i % (N / 2)])[i / (N / 2)]))
}

/// Rows of MXFP4.
pub(super) fn decode_mx(row: &[u8], out: &mut [f32]) {
    blocks::decode::<17, 32>(row, out, |b, out| {
        let d = e8m0_half(b[0]);
        for (out, q) in out.iter_mut().zip(codes::<32>(&b[1..])) {
            *out = d * float(q);
        }
    });
}

/// MXFP4 with Q8_0.
pub(super) fn dot_mx(row: &[u8], activations: &[u8]) -> f32 {
    blocks::dot::<17, { q8::BYTES_0 }>(row, activations, |b, y| {
        let sum: i32 = codes::<32>(&b[1..]).iter().zip(q8::codes_0(y)).map(|(q, &y)| q * signed(y)).sum();
        // The largest scale times an integer may be too large, the smallest times the other scale too small:
        // the integer goes to the scale of the activations.
        e8m0_half(b[0]) * (q8::d_0(y) * float(sum))
    })
}

/// Rows of NVFP4.
pub(super) fn decode_nv(row: &[u8], out: &mut [f32]) {
    blocks::decode::<36, 64>(row, out, |b, out| {
        for (group, out) in out.chunks_exact_mut(16).enumerate() {
            let d = ue4m3_half(b[group]);
            for (out, q) in out.iter_mut().zip(codes::<16>(&b[4 + 8 * group..])) {
                *out = d * float(q);
            }
        }
    });
}

/// NVFP4 with Q8_0: two groups meet one block.
pub(super) fn dot_nv(row: &[u8], activations: &[u8]) -> f32 {
    blocks::dot::<36, { 2 * q8::BYTES_0 }>(row, activations, |b, ys| {
        let mut total = 0.0;
        for group in 0..4 {
            let y = &ys[group / 2 * q8::BYTES_0..][..q8::BYTES_0];
            let part = &q8::codes_0(y)[16 * (group % 2)..];
            let sum: i32 = codes::<16>(&b[4 + 8 * group..]).iter().zip(part).map(|(q, &y)| q * signed(y)).sum();
            total += q8::d_0(y) * ue4m3_half(b[group]) * float(sum);
        }
        total
    })
}
