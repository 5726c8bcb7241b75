//! IQ3_XXS (`d`, `qs`) and IQ3_S (`d`, `qs`, `qh`, `signs`, `scales`): four weights at a time are a point of a
//! grid, with signs.

use gguf_spec::quant::grids::{IQ3_S, IQ3_XXS};

use super::blocks::{self, bits, nibbles};
use super::{grid, signs};

/// Four weights with their half of eight signs and an odd factor.
fn with(four: [i32; 4], signs: u8, second: usize, scale: u8) -> [i32; 4] {
    signs::apply(four.map(|weight| (2 * i32::from(scale) + 1) * weight), signs, 4 * second)
}

/// 64 indices, then a word for each group of 32: four times seven bits of signs, and a scale on top.
fn xxs(b: &[u8; 98], four: usize) -> [i32; 4] {
    let at = 66 + 4 * (four / 8);
    let tail = u32::from_le_bytes([b[at], b[at + 1], b[at + 2], b[at + 3]]);
    let [signs, ..] = (tail >> (7 * (four / 2 % 4))).to_le_bytes();
    let [scale, ..] = (tail >> 28).to_le_bytes();
    with(grid::point(&IQ3_XXS, u16::from(b[2 + four]), 0), signs::even(signs), four % 2, scale)
}

/// Eight bits of index, the ninth in `qh`; a byte of signs for eight weights, a scale for 32.
fn s(b: &[u8; 110], four: usize) -> [i32; 4] {
    let index = u16::from(b[2 + four]) | u16::from(bits(b[66 + four / 8], four % 8, 1)) << 8;
    let group = four / 8;
    with(grid::point(&IQ3_S, index, 0), b[74 + four / 2], four % 2, nibbles(b[106 + group / 2])[group % 2])
}

/// Rows of IQ3_XXS.
pub(super) fn decode_xxs(row: &[u8], out: &mut [f32]) {
    blocks::decode(row, out, |b, out| grid::decode(b, 0.25, xxs, out));
}

/// IQ3_XXS with Q8_K.
pub(super) fn dot_xxs(row: &[u8], activations: &[u8]) -> f32 {
    blocks::dot(row, activations, |b, y| grid::dot(b, 0.25, xxs, y))
}

/// Rows of IQ3_S.
pub(super) fn decode_s(row: &[u8], out: &mut [f32]) {
    blocks::decode(row, out, |b, out| grid::decode(b, 1.0, s, out));
}

/// IQ3_S with Q8_K.
pub(super) fn dot_s(row: &[u8], activations: &[u8]) -> f32 {
    blocks::dot(row, activations, |b, y| grid::dot(b, 1.0, s, y))
}
