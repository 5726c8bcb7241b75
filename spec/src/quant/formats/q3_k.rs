//! Q3_K: 256 weights of three bits around 4, in 16 groups of 16 with a scale of six bits around 32 each.

use crate::quant::Weight;
use crate::quant::layout::{Field, Format, Part, Place, Role};
use crate::types::ScaleKind;

const HMASK: Field = Field::first("hmask", 32, 1, "the third bits of the codes: bit n of byte j of weight 32 n + j");
const QS: Field = HMASK.then("qs", 64, 2, "the low two bits: bits 2 n of byte 32 h + j are weight 128 h + 32 n + j");
const SCALES: Field = QS.then(
    "scales",
    12,
    4,
    "sub-scales: the low four bits of group 8 n + j in nibble n of byte j, for j below 8; the high two of group 4 n + j \
     in bits 2 n of byte 8 + j, for j below 4",
);
const D: Field = SCALES.then("d", 2, 16, "the scale, a binary16");

/// The format.
pub const FORMAT: Format = Format::new(
    "d (sc[g] - 32) (q - 4)",
    &[HMASK, QS, SCALES, D],
    &[
        Part::new(Role::Code, 256, code),
        Part::new(Role::SubScale, 16, scale),
        Part::new(Role::Scale(ScaleKind::F16), 1, |_| D.unit(0)),
    ],
    weight,
);

fn scale(group: usize) -> Place {
    SCALES.strided(8, 4, group).and(SCALES.at(8 * (8 + group % 4) + 2 * (group / 4), 2))
}

fn code(i: usize) -> Place {
    QS.strided(32, 2, i).and(HMASK.strided(32, 1, i))
}

fn weight(b: &[u8], i: usize) -> Weight {
    Weight::product(D.unit(0).f16(b), (scale(i / 16).int(b) - 32) * (code(i).int(b) - 4))
}
