//! MXFP4: 32 weights of the four-bit float E2M1, one scale that is a power of two.
//!
//! The values of E2M1 are 0, 0.5, 1, 1.5, 2, 3, 4 and 6 and their negatives. They are doubled here, to be
//! integers, and the scale is halved.

use crate::quant::Weight;
use crate::quant::layout::{Field, Format, Part, Place, Role};
use crate::types::ScaleKind;

use crate::quant::numbers::{low_u8, nearest_f32};
use crate::quant::steps::{largest, truncated};

/// Twice the values of E2M1; source: `kvalues_mxfp4` of `ggml-common.h`.
pub const E2M1: [i8; 16] = [0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12];

const E: Field = Field::first("e", 1, 8, "the scale, E8M0: 2^(e - 127)");
const QS: Field =
    E.then("qs", 16, 4, "codes, E2M1: weight j in the low nibble of byte j, weight 16 + j in the high one");

/// The format.
pub const FORMAT: Format = Format::new(
    "2^(e - 127) E2M1[q]",
    &[E, QS],
    &[Part::new(Role::Scale(ScaleKind::E8M0), 1, |_| E.unit(0)), Part::new(Role::Code, 32, code)],
    weight,
)
.encoded_by(encode);

fn code(i: usize) -> Place {
    QS.strided(16, 4, i)
}

fn weight(b: &[u8], i: usize) -> Weight {
    Weight::product(half_scale(b), e2m1(code(i), b))
}

/// Twice the value of the code at a place.
pub(in crate::quant) fn e2m1(code: Place, b: &[u8]) -> i32 {
    i32::from(E2M1[usize::from(low_u8(code.read(b)))])
}

/// The byte that is the scale of a weight, and twice the value of its code.
pub(in crate::quant) fn parts(b: &[u8], i: usize) -> (u8, i32) {
    (low_u8(E.unit(0).read(b)), e2m1(code(i), b))
}

fn half_scale(b: &[u8]) -> f64 {
    E.unit(0).float(ScaleKind::E8M0, b) / 2.0
}

/// The scale brings the largest magnitude into 4 to 8, the range of the highest codes. Below 2^-125 the
/// exponent wraps around, as in ggml, and the block comes out as zeros under an enormous scale.
fn encode(values: &[f32], b: &mut [u8]) {
    let largest = largest(values).abs();
    if largest > 0.0 {
        E.unit(0).put(b, log2_floor(largest) - 2 + 127);
    }
    let d = Weight::product(half_scale(b), 1).rounded();
    for (i, &value) in values.iter().enumerate() {
        code(i).write(b, nearest_e2m1(value, d));
    }
}

/// The code nearest to a value under half a scale; the lowest of equals.
pub(in crate::quant) fn nearest_e2m1(value: f32, half_scale: f32) -> u64 {
    let error = |code: usize| (f32::from(E2M1[code]) * half_scale - value).abs();
    let nearest = (1..16).fold(0, |best, code| if error(code) < error(best) { code } else { best });
    nearest as u64
}

/// The integer below a logarithm that was rounded to f32 first, as `log2f` does: just below a high power
/// of two, that makes it the logarithm of the power.
fn log2_floor(value: f32) -> i32 {
    truncated(nearest_f32(f64::from(value).log2()).floor())
}
