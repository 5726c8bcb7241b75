//! Points of grids; and what the types with a grid of magnitudes share: a block is a scale, and 64 times four weights that are integers
//! under a fixed fraction of it.

use gguf_spec::quant::grids::Grid;

use super::numbers::{float, half, signed};
use super::q8;

/// `N` coordinates of a point, from this one on: digits of two bits, or of three where there are eight levels.
///
/// The index has as many bits as the grid needs for its points.
pub(super) fn point<const N: usize>(grid: &Grid, index: u16, from: usize) -> [i32; N] {
    let bits = if grid.levels.len() > 4 { 3 } else { 2 };
    let digits = grid.points[usize::from(index)];
    std::array::from_fn(|i| grid.levels[usize::from(digits >> (bits * (from + i))) % (1 << bits)])
}

/// The integers of four weights of a block of `N` bytes: the point of the grid, with signs and sub-scale.
pub(super) type Four<const N: usize> = fn(&[u8; N], usize) -> [i32; 4];

/// Decodes a block, whose scale comes first.
pub(super) fn decode<const N: usize>(b: &[u8; N], fraction: f32, four: Four<N>, out: &mut [f32; 256]) {
    let d = half(b, 0) * fraction;
    for (at, out) in out.chunks_exact_mut(4).enumerate() {
        for (out, integer) in out.iter_mut().zip(four(b, at)) {
            *out = d * float(integer);
        }
    }
}

/// A block with a block of Q8_K.
pub(super) fn dot<const N: usize>(b: &[u8; N], fraction: f32, four: Four<N>, y: &[u8; q8::BYTES_K]) -> f32 {
    let mut sum = 0;
    for (at, ys) in q8::codes_k(y).chunks_exact(4).enumerate() {
        sum += four(b, at).iter().zip(ys).map(|(weight, &y)| weight * signed(y)).sum::<i32>();
    }
    half(b, 0) * q8::d_k(y) * fraction * float(sum)
}
