//! IQ3_S: 256 weights in eight groups of 32; four at a time are a point of a grid of 512, with signs.

use crate::quant::Weight;
use crate::quant::grids::{IQ3_S, sign};
use crate::quant::layout::{Field, Format, Part, Place, Role};
use crate::types::ScaleKind;

const D: Field = Field::first("d", 2, 16, "the scale, a binary16");
const QS: Field = D.then("qs", 64, 8, "the low eight bits of 64 grid indices, one for four weights each");
const QH: Field =
    QS.then("qh", 8, 1, "the ninth bits of the grid indices: bit j, counted through the bytes, of index j");
const SIGNS: Field = QH.then("signs", 32, 8, "the signs of eight weights each: bit j of weight j");
const SCALES: Field = SIGNS.then("scales", 4, 4, "sub-scales: of group 2 h + n in nibble n of byte h");

/// The format.
pub const FORMAT: Format = Format::new(
    "d (2 sc[g] + 1) GRID, with signs",
    &[D, QS, QH, SIGNS, SCALES],
    &[
        Part::new(Role::Scale(ScaleKind::F16), 1, |_| D.unit(0)),
        Part::new(Role::Grid, 64, grid),
        Part::new(Role::Signs, 32, signs),
        Part::new(Role::SubScale, 8, scale),
    ],
    weight,
);

fn grid(four: usize) -> Place {
    QS.unit(four).and(QH.unit(four))
}

fn signs(eight: usize) -> Place {
    SIGNS.unit(eight)
}

fn scale(group: usize) -> Place {
    SCALES.unit(group)
}

fn weight(b: &[u8], i: usize) -> Weight {
    let value = IQ3_S.value(grid(i / 4).read(b), i % 4);
    let sign = sign(signs(i / 8).read(b), i % 8);
    Weight::product(D.unit(0).f16(b), (2 * scale(i / 32).int(b) + 1) * value * sign)
}
