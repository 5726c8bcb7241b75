//! NVFP4: 64 weights of the four-bit float E2M1, in four groups of 16 with a scale each.
//!
//! As in [MXFP4](super::mxfp4), the values of E2M1 are doubled to be integers, and the scale is halved. A
//! scale for the whole tensor, which other users of NVFP4 know, is not in the block.

use crate::quant::Weight;
use crate::quant::layout::{Field, Format, Part, Place, Role};
use crate::quant::numbers::low_u8;
use crate::quant::steps::largest;
use crate::types::ScaleKind;

use super::mxfp4::{e2m1, nearest_e2m1};

const D: Field = Field::first(
    "d",
    4,
    8,
    "the scales, UE4M3 (seven bits: four of exponent with bias 7, three of mantissa, subnormals as usual): of group g in byte g",
);
const QS: Field = D.then(
    "qs",
    32,
    4,
    "codes, E2M1: eight bytes a group; weight j of it in the low nibble of byte j, weight 8 + j in the high one",
);

/// The format.
pub const FORMAT: Format = Format::new(
    "d[g] E2M1[q]",
    &[D, QS],
    &[Part::new(Role::Scale(ScaleKind::Ue4M3), 4, |g| D.unit(g)), Part::new(Role::Code, 64, code)],
    weight,
)
.encoded_by(encode);

fn code(i: usize) -> Place {
    QS.strided(8, 4, i)
}

fn weight(b: &[u8], i: usize) -> Weight {
    Weight::product(half_scale(b, i / 16), e2m1(code(i), b))
}

/// The byte that is the scale of a weight, and twice the value of its code.
pub(in crate::quant) fn parts(b: &[u8], i: usize) -> (u8, i32) {
    (low_u8(D.unit(i / 16).read(b)), e2m1(code(i), b))
}

fn half_scale(b: &[u8], group: usize) -> f64 {
    D.unit(group).float(ScaleKind::Ue4M3, b) / 2.0
}

/// The scale brings the largest magnitude of a group to 6, the highest code, as far as there is such a
/// scale.
fn encode(values: &[f32], b: &mut [u8]) {
    for (group, values) in values.chunks_exact(16).enumerate() {
        D.unit(group).write(b, ScaleKind::Ue4M3.nearest(largest(values) / 6.0));
        let d = Weight::product(half_scale(b, group), 1).rounded();
        for (i, &value) in values.iter().enumerate() {
            code(16 * group + i).write(b, nearest_e2m1(value, d));
        }
    }
}
