//! Q6_K: 256 weights of six bits around 32, in 16 groups of 16 with a signed scale of eight bits each.

use crate::quant::Weight;
use crate::quant::layout::{Field, Format, Part, Place, Role};
use crate::types::ScaleKind;

const QL: Field = Field::first("ql", 128, 4, "the low four bits: nibble n of byte 64 h + j is weight 128 h + 64 n + j");
const QH: Field = QL.then("qh", 64, 2, "the high two bits: bits 2 n of byte 32 h + j are weight 128 h + 32 n + j");
const SCALES: Field = QH.then("scales", 16, 8, "sub-scales, signed: of group g in byte g");
const D: Field = SCALES.then("d", 2, 16, "the scale, a binary16");

/// The format.
pub const FORMAT: Format = Format::new(
    "d sc[g] (q - 32)",
    &[QL, QH, SCALES, D],
    &[
        Part::new(Role::Code, 256, code),
        Part::new(Role::SubScale, 16, scale),
        Part::new(Role::Scale(ScaleKind::F16), 1, |_| D.unit(0)),
    ],
    weight,
);

fn scale(group: usize) -> Place {
    SCALES.unit(group)
}

fn code(i: usize) -> Place {
    QL.strided(64, 4, i).and(QH.strided(32, 2, i))
}

fn weight(b: &[u8], i: usize) -> Weight {
    Weight::product(D.unit(0).f16(b), scale(i / 16).signed(b) * (code(i).int(b) - 32))
}
