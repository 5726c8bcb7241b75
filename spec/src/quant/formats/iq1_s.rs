//! IQ1_S: 256 weights in eight groups of 32; eight at a time are a point of a ternary grid of 2048, moved by
//! an eighth up or down.

use crate::quant::Weight;
use crate::quant::grids::IQ1;
use crate::quant::layout::{Field, Format, Part, Place, Role};
use crate::types::ScaleKind;

const D: Field = Field::first("d", 2, 16, "the scale, a binary16");
const QS: Field = D.then("qs", 32, 8, "the low eight bits of 32 grid indices, one for eight weights each");
const QH: Field = QS.then(
    "qh",
    16,
    16,
    "two bytes a group: in bits 0-11 the high three bits of its four grid indices, in bits 12-14 the sub-scale, in bit 15 \
     the shift: where it is 0, 1/8 is added to GRID, where it is 1, taken off",
);

/// The format.
pub const FORMAT: Format = Format::new(
    "d (2 sc[g] + 1) (GRID +- 1/8)",
    &[D, QS, QH],
    &[
        Part::new(Role::Scale(ScaleKind::F16), 1, |_| D.unit(0)),
        Part::new(Role::Grid, 32, grid),
        Part::new(Role::SubScale, 8, scale),
        Part::new(Role::Shift, 8, shift),
    ],
    weight,
);

fn grid(eight: usize) -> Place {
    QS.unit(eight).and(QH.at(16 * (eight / 4) + 3 * (eight % 4), 3))
}

fn scale(group: usize) -> Place {
    QH.at(16 * group + 12, 3)
}

fn shift(group: usize) -> Place {
    QH.at(16 * group + 15, 1)
}

fn weight(b: &[u8], i: usize) -> Weight {
    let eighths = 8 * IQ1.value(grid(i / 8).read(b), i % 8) + 1 - 2 * shift(i / 32).int(b);
    Weight::product(D.unit(0).f16(b) / 8.0, (2 * scale(i / 32).int(b) + 1) * eighths)
}
