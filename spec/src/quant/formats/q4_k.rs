//! Q4_K: 256 weights of four bits, in eight groups of 32 with a scale and a minimum of six bits each.

use crate::quant::Weight;
use crate::quant::layout::{Field, Format, Part, Place, Role};
use crate::types::ScaleKind;

const D: Field = Field::first("d", 2, 16, "the scale of the sub-scales, a binary16");
const DMIN: Field = D.then("dmin", 2, 16, "the scale of the sub-minima, a binary16");
const SCALES: Field = DMIN.then("scales", 12, 8, SCALES_MEANING);
const QS: Field = SCALES.then("qs", 128, 4, "codes: nibble n of byte 32 h + j is weight 64 h + 32 n + j");

/// How eight pairs of six bits lie in twelve bytes.
pub(super) const SCALES_MEANING: &str = "of group g below 4: the sub-scale in the low six bits of byte g, the sub-minimum \
    in those of byte 4 + g; of group 4 + g: the low four bits of the sub-scale in the low nibble of byte 8 + g, of the \
    sub-minimum in the high one; the high two bits of the sub-scale in bits 6-7 of byte g, of the sub-minimum in those of byte 4 + g";

/// The format.
pub const FORMAT: Format = Format::new(
    "d sc[g] q - dmin m[g]",
    &[D, DMIN, SCALES, QS],
    &[
        Part::new(Role::Scale(ScaleKind::F16), 1, |_| D.unit(0)),
        Part::new(Role::Scale(ScaleKind::F16), 1, |_| DMIN.unit(0)),
        Part::new(Role::SubScale, 8, |group| scale(SCALES, group)),
        Part::new(Role::SubMin, 8, |group| min(SCALES, group)),
        Part::new(Role::Code, 256, code),
    ],
    weight,
);

/// The sub-scale of a group.
pub(super) fn scale(scales: Field, group: usize) -> Place {
    match group {
        0..4 => scales.at(8 * group, 6),
        _ => scales.at(8 * (group + 4), 4).and(scales.at(8 * (group - 4) + 6, 2)),
    }
}

/// The sub-minimum of a group.
pub(super) fn min(scales: Field, group: usize) -> Place {
    match group {
        0..4 => scales.at(8 * (group + 4), 6),
        _ => scales.at(8 * (group + 4) + 4, 4).and(scales.at(8 * group + 6, 2)),
    }
}

fn code(i: usize) -> Place {
    QS.strided(32, 4, i)
}

fn weight(b: &[u8], i: usize) -> Weight {
    let group = i / 32;
    Weight::product(D.unit(0).f16(b), scale(SCALES, group).int(b) * code(i).int(b))
        .plus(-DMIN.unit(0).f16(b) * f64::from(min(SCALES, group).int(b)))
}
