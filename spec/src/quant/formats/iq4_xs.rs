//! IQ4_XS: 256 weights of four bits that stand for the levels of [IQ4_NL](super::iq4_nl), in eight groups of
//! 32 with a scale of six bits around 32 each.

use crate::quant::Weight;
use crate::quant::layout::{Field, Format, Part, Place, Role};
use crate::types::ScaleKind;

use super::iq4_nl::level;

const D: Field = Field::first("d", 2, 16, "the scale, a binary16");
const SCALES_H: Field = D.then("scales_h", 2, 2, "the high two bits of the sub-scales: of group g in bits 2 g");
const SCALES_L: Field = SCALES_H.then("scales_l", 4, 4, "their low four bits: of group 2 h + n in nibble n of byte h");
const QS: Field = SCALES_L.then(
    "qs",
    128,
    4,
    "codes: 16 bytes a group; weight j of it in the low nibble of byte j, weight 16 + j in the high one",
);

/// The format.
pub const FORMAT: Format = Format::new(
    "d (sc[g] - 32) LEVEL[q]",
    &[D, SCALES_H, SCALES_L, QS],
    &[
        Part::new(Role::Scale(ScaleKind::F16), 1, |_| D.unit(0)),
        Part::new(Role::SubScale, 8, scale),
        Part::new(Role::Code, 256, code),
    ],
    weight,
);

fn scale(group: usize) -> Place {
    SCALES_L.unit(group).and(SCALES_H.unit(group))
}

fn code(i: usize) -> Place {
    QS.strided(16, 4, i)
}

fn weight(b: &[u8], i: usize) -> Weight {
    Weight::product(D.unit(0).f16(b), (scale(i / 32).int(b) - 32) * level(code(i), b))
}
