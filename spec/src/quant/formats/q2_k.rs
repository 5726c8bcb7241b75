//! Q2_K: 256 weights of two bits, in 16 groups of 16 with a scale and a minimum of four bits each.

use crate::quant::Weight;
use crate::quant::layout::{Field, Format, Part, Place, Role};
use crate::types::ScaleKind;

const SCALES: Field = Field::first(
    "scales",
    16,
    4,
    "of group g in byte g: the sub-scale in the low nibble, the sub-minimum in the high one",
);
const QS: Field = SCALES.then("qs", 64, 2, "codes: bits 2 n of byte 32 h + j are weight 128 h + 32 n + j");
const D: Field = QS.then("d", 2, 16, "the scale of the sub-scales, a binary16");
const DMIN: Field = D.then("dmin", 2, 16, "the scale of the sub-minima, a binary16");

/// The format.
pub const FORMAT: Format = Format::new(
    "d sc[g] q - dmin m[g]",
    &[SCALES, QS, D, DMIN],
    &[
        Part::new(Role::SubScale, 16, scale),
        Part::new(Role::SubMin, 16, min),
        Part::new(Role::Code, 256, code),
        Part::new(Role::Scale(ScaleKind::F16), 1, |_| D.unit(0)),
        Part::new(Role::Scale(ScaleKind::F16), 1, |_| DMIN.unit(0)),
    ],
    weight,
);

fn scale(group: usize) -> Place {
    SCALES.unit(2 * group)
}

fn min(group: usize) -> Place {
    SCALES.unit(2 * group + 1)
}

fn code(i: usize) -> Place {
    QS.strided(32, 2, i)
}

fn weight(b: &[u8], i: usize) -> Weight {
    let group = i / 16;
    Weight::product(D.unit(0).f16(b), scale(group).int(b) * code(i).int(b))
        .plus(-DMIN.unit(0).f16(b) * f64::from(min(group).int(b)))
}
