//! IQ2_XS: 256 weights in 16 groups of 16; eight at a time are a point of a grid of 512, with signs.

use crate::quant::Weight;
use crate::quant::grids::{IQ2_XS, even_signs, sign};
use crate::quant::layout::{Field, Format, Part, Place, Role};
use crate::types::ScaleKind;

const D: Field = Field::first("d", 2, 16, "the scale, a binary16");
const QS: Field = D.then(
    "qs",
    64,
    16,
    "two bytes for eight weights: a grid index in bits 0-8, and in bits 9-15 seven that tell the signs",
);
const SCALES: Field = QS.then("scales", 8, 4, "sub-scales: of group 2 h + n in nibble n of byte h");

/// The format.
pub const FORMAT: Format = Format::new(
    "d (2 sc[g] + 1) / 8 * GRID, with signs",
    &[D, QS, SCALES],
    &[
        Part::new(Role::Scale(ScaleKind::F16), 1, |_| D.unit(0)),
        Part::new(Role::Grid, 32, grid),
        Part::new(Role::Signs, 32, signs),
        Part::new(Role::SubScale, 16, scale),
    ],
    weight,
);

fn grid(eight: usize) -> Place {
    QS.at(16 * eight, 9)
}

fn signs(eight: usize) -> Place {
    QS.at(16 * eight + 9, 7)
}

fn scale(group: usize) -> Place {
    SCALES.unit(group)
}

fn weight(b: &[u8], i: usize) -> Weight {
    let value = IQ2_XS.value(grid(i / 8).read(b), i % 8);
    let sign = sign(even_signs(signs(i / 8).read(b)), i % 8);
    Weight::product(D.unit(0).f16(b) / 8.0, (2 * scale(i / 16).int(b) + 1) * value * sign)
}
