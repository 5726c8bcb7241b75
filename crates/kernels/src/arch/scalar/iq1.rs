//! IQ1_S (`d`, `qs`, `qh`) and IQ1_M (`qs`, `qh`, `scales`): eight weights at a time are a point of a ternary grid,
//! moved by an eighth. Counted in eighths, all of it is integers: `d / 8` times `2 sc + 1` times `8 GRID +- 1`.

use gguf_spec::quant::grids;

use super::numbers::{f16, float, half, signed, word};
use super::q8;
use super::{blocks, grid};

/// Eight weights in eighths, with an odd factor, by the index of the point and whether it is moved down.
fn eighths(index: u16, down: bool) -> [i32; 8] {
    grid::point(&grids::IQ1, index, 0).map(|level| 8 * level + if down { -1 } else { 1 })
}

/// The integers of eight weights of IQ1_S, with the scale of their group.
fn s(b: &[u8; 50], eight: usize) -> [i32; 8] {
    let qh = word(b, 34 + 2 * (eight / 4));
    let index = u16::from(b[2 + eight]) | (qh >> (3 * (eight % 4)) & 7) << 8;
    let scale = 2 * i32::from(qh >> 12 & 7) + 1;
    eighths(index, qh >> 15 == 1).map(|weight| scale * weight)
}

/// The integers of eight weights of IQ1_M, with the scale of their group.
fn m(b: &[u8; 56], eight: usize) -> [i32; 8] {
    let qh = u16::from(b[32 + eight / 2] >> (4 * (eight % 2)) & 15);
    let index = u16::from(b[eight]) | (qh & 7) << 8;
    let group = eight / 2;
    let scale = 2 * i32::from(word(b, 48 + 2 * (group / 4)) >> (3 * (group % 4)) & 7) + 1;
    eighths(index, qh >> 3 == 1).map(|weight| scale * weight)
}

/// The scale of a block of IQ1_M, spread over the tops of four words.
fn d_m(b: &[u8; 56]) -> f32 {
    f16((0..4).fold(0, |d, n| d | word(b, 48 + 2 * n) >> 12 << (4 * n)))
}

fn decode<const N: usize>(b: &[u8; N], d: f32, integers: fn(&[u8; N], usize) -> [i32; 8], out: &mut [f32; 256]) {
    for (eight, out) in out.chunks_exact_mut(8).enumerate() {
        for (out, integer) in out.iter_mut().zip(integers(b, eight)) {
            *out = d * 0.125 * float(integer);
        }
    }
}

fn dot<const N: usize>(b: &[u8; N], d: f32, integers: fn(&[u8; N], usize) -> [i32; 8], y: &[u8; q8::BYTES_K]) -> f32 {
    let mut sum = 0;
    for (eight, ys) in q8::codes_k(y).chunks_exact(8).enumerate() {
        sum += integers(b, eight).iter().zip(ys).map(|(weight, &y)| weight * signed(y)).sum::<i32>();
    }
    d * q8::d_k(y) * 0.125 * float(sum)
}

/// Rows of IQ1_S.
pub(super) fn decode_s(row: &[u8], out: &mut [f32]) {
    blocks::decode(row, out, |b, out| decode(b, half(b, 0), s, out));
}

/// IQ1_S with Q8_K.
pub(super) fn dot_s(row: &[u8], activations: &[u8]) -> f32 {
    blocks::dot(row, activations, |b, y| dot(b, half(b, 0), s, y))
}

/// Rows of IQ1_M.
pub(super) fn decode_m(row: &[u8], out: &mut [f32]) {
    blocks::decode(row, out, |b, out| decode(b, d_m(b), m, out));
}

/// IQ1_M with Q8_K.
pub(super) fn dot_m(row: &[u8], activations: &[u8]) -> f32 {
    blocks::dot(row, activations, |b, y| dot(b, d_m(b), m, y))
}
