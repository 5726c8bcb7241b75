//! IQ2_S: 256 weights in 16 groups of 16; eight at a time are a point of a grid of 1024, with signs.

use crate::quant::Weight;
use crate::quant::grids::{IQ2_S, sign};
use crate::quant::layout::{Field, Format, Part, Place, Role};
use crate::types::ScaleKind;

const D: Field = Field::first("d", 2, 16, "the scale, a binary16");
const QS: Field = D.then(
    "qs",
    64,
    8,
    "the low eight bits of 32 grid indices, one for eight weights each; then 32 bytes with the signs of the same",
);
const QH: Field = QS.then("qh", 8, 2, "the high two bits of the grid indices: of index 4 h + n in bits 2 n of byte h");
const SCALES: Field = QH.then("scales", 8, 4, "sub-scales: of group 2 h + n in nibble n of byte h");

/// The format.
pub const FORMAT: Format = Format::new(
    "d (2 sc[g] + 1) / 8 * GRID, with signs",
    &[D, QS, QH, SCALES],
    &[
        Part::new(Role::Scale(ScaleKind::F16), 1, |_| D.unit(0)),
        Part::new(Role::Grid, 32, grid),
        Part::new(Role::Signs, 32, signs),
        Part::new(Role::SubScale, 16, scale),
    ],
    weight,
);

fn grid(eight: usize) -> Place {
    QS.unit(eight).and(QH.unit(eight))
}

fn signs(eight: usize) -> Place {
    QS.unit(32 + eight)
}

fn scale(group: usize) -> Place {
    SCALES.unit(group)
}

fn weight(b: &[u8], i: usize) -> Weight {
    let value = IQ2_S.value(grid(i / 8).read(b), i % 8);
    let sign = sign(signs(i / 8).read(b), i % 8);
    Weight::product(D.unit(0).f16(b) / 8.0, (2 * scale(i / 16).int(b) + 1) * value * sign)
}
