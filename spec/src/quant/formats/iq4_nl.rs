//! IQ4_NL: 32 weights of four bits that stand for 16 uneven levels, one scale.

use crate::quant::Weight;
use crate::quant::layout::{Field, Format, Part, Place, Role};
use crate::quant::numbers::low_u8;
use crate::types::ScaleKind;

/// The levels; source: `kvalues_iq4nl` of `ggml-common.h`.
pub const LEVELS: [i8; 16] = [-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113];

const D: Field = Field::first("d", 2, 16, "the scale, a binary16");
const QS: Field = D.then("qs", 16, 4, "codes: weight j in the low nibble of byte j, weight 16 + j in the high one");

/// The format.
pub const FORMAT: Format = Format::new(
    "d LEVEL[q]",
    &[D, QS],
    &[Part::new(Role::Scale(ScaleKind::F16), 1, |_| D.unit(0)), Part::new(Role::Code, 32, code)],
    weight,
);

fn code(i: usize) -> Place {
    QS.strided(16, 4, i)
}

/// The level of the code at a place.
pub(super) fn level(code: Place, b: &[u8]) -> i32 {
    i32::from(LEVELS[usize::from(low_u8(code.read(b)))])
}

fn weight(b: &[u8], i: usize) -> Weight {
    Weight::product(D.unit(0).f16(b), level(code(i), b))
}
