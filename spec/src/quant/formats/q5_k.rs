//! Q5_K: 256 weights of five bits, in eight groups of 32 with a scale and a minimum of six bits each, which
//! lie as in [Q4_K](super::q4_k).

use crate::quant::Weight;
use crate::quant::layout::{Field, Format, Part, Place, Role};
use crate::types::ScaleKind;

use super::q4_k::{SCALES_MEANING, min, scale};

const D: Field = Field::first("d", 2, 16, "the scale of the sub-scales, a binary16");
const DMIN: Field = D.then("dmin", 2, 16, "the scale of the sub-minima, a binary16");
const SCALES: Field = DMIN.then("scales", 12, 8, SCALES_MEANING);
const QH: Field = SCALES.then("qh", 32, 1, "the fifth bits of the codes: bit n of byte j of weight 32 n + j");
const QS: Field = QH.then("qs", 128, 4, "the low four bits: nibble n of byte 32 h + j is weight 64 h + 32 n + j");

/// The format.
pub const FORMAT: Format = Format::new(
    "d sc[g] q - dmin m[g]",
    &[D, DMIN, SCALES, QH, QS],
    &[
        Part::new(Role::Scale(ScaleKind::F16), 1, |_| D.unit(0)),
        Part::new(Role::Scale(ScaleKind::F16), 1, |_| DMIN.unit(0)),
        Part::new(Role::SubScale, 8, |group| scale(SCALES, group)),
        Part::new(Role::SubMin, 8, |group| min(SCALES, group)),
        Part::new(Role::Code, 256, code),
    ],
    weight,
);

fn code(i: usize) -> Place {
    QS.strided(32, 4, i).and(QH.strided(32, 1, i))
}

fn weight(b: &[u8], i: usize) -> Weight {
    let group = i / 32;
    Weight::product(D.unit(0).f16(b), scale(SCALES, group).int(b) * code(i).int(b))
        .plus(-DMIN.unit(0).f16(b) * f64::from(min(SCALES, group).int(b)))
}
