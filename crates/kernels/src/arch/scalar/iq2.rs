//! IQ2_XXS (`d`, `qs`), IQ2_XS (`d`, `qs`, `scales`) and IQ2_S (`d`, `qs`, `qh`, `scales`): eight weights at a time
//! are a point of a grid, with signs.

use gguf_spec::quant::grids::{Grid, IQ2_S, IQ2_XS, IQ2_XXS};

use super::blocks::{self, bits, nibbles};
use super::numbers::word;
use super::{grid, signs};

/// Half of eight weights, the first or the second, with signs and an odd factor.
fn half_of(grid: &Grid, index: u16, signs: u8, second: usize, scale: u8) -> [i32; 4] {
    let four = grid::point(grid, index, 4 * second);
    signs::apply(four.map(|weight| (2 * i32::from(scale) + 1) * weight), signs, 4 * second)
}

fn low_byte(word: u32) -> u8 {
    word.to_le_bytes()[0]
}

/// A group of 32 has four bytes of indices, then a word of four times seven bits of signs and a scale on top.
fn xxs(b: &[u8; 66], four: usize) -> [i32; 4] {
    let (group, eight) = (four / 8, four / 2 % 4);
    let at = 2 + 8 * group;
    let tail = u32::from_le_bytes([b[at + 4], b[at + 5], b[at + 6], b[at + 7]]);
    let signs = signs::even(low_byte(tail >> (7 * eight)));
    half_of(&IQ2_XXS, u16::from(b[at + eight]), signs, four % 2, low_byte(tail >> 28))
}

/// A word for eight weights: nine bits of index, seven of signs.
fn xs(b: &[u8; 74], four: usize) -> [i32; 4] {
    let eight = four / 2;
    let word = word(b, 2 + 2 * eight);
    let scale = nibbles(b[66 + eight / 4])[eight / 2 % 2];
    half_of(&IQ2_XS, word & 511, signs::even(low_byte(u32::from(word >> 9))), four % 2, scale)
}

/// Eight bits of index and a byte of signs for eight weights, two more bits of index in `qh`.
fn s(b: &[u8; 82], four: usize) -> [i32; 4] {
    let eight = four / 2;
    let index = u16::from(b[2 + eight]) | u16::from(bits(b[66 + eight / 4], 2 * (eight % 4), 2)) << 8;
    let scale = nibbles(b[74 + eight / 4])[eight / 2 % 2];
    half_of(&IQ2_S, index, b[34 + eight], four % 2, scale)
}

/// Rows of IQ2_XXS.
pub(super) fn decode_xxs(row: &[u8], out: &mut [f32]) {
    blocks::decode(row, out, |b, out| grid::decode(b, 0.125, xxs, out));
}

/// IQ2_XXS with Q8_K.
pub(super) fn dot_xxs(row: &[u8], activations: &[u8]) -> f32 {
    blocks::dot(row, activations, |b, y| grid::dot(b, 0.125, xxs, y))
}

/// Rows of IQ2_XS.
pub(super) fn decode_xs(row: &[u8], out: &mut [f32]) {
    blocks::decode(row, out, |b, out| grid::decode(b, 0.125, xs, out));
}

/// IQ2_XS with Q8_K.
pub(super) fn dot_xs(row: &[u8], activations: &[u8]) -> f32 {
    blocks::dot(row, activations, |b, y| grid::dot(b, 0.125, xs, y))
}

/// Rows of IQ2_S.
pub(super) fn decode_s(row: &[u8], out: &mut [f32]) {
    blocks::decode(row, out, |b, out| grid::decode(b, 0.125, s, out));
}

/// IQ2_S with Q8_K.
pub(super) fn dot_s(row: &[u8], activations: &[u8]) -> f32 {
    blocks::dot(row, activations, |b, y| grid::dot(b, 0.125, s, y))
}
