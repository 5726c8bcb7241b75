//! IQ3_XXS: 256 weights in eight groups of 32; four at a time are a point of a grid of 256, with signs.

use crate::quant::Weight;
use crate::quant::grids::{IQ3_XXS, even_signs, sign};
use crate::quant::layout::{Field, Format, Part, Place, Role};
use crate::types::ScaleKind;

const D: Field = Field::first("d", 2, 16, "the scale, a binary16");
const QS: Field = D.then(
    "qs",
    96,
    8,
    "64 grid indices, one for four weights each; then four bytes a group, a number of 32 bits: four times seven \
     bits from the lowest on, which tell the signs of eight weights each, and the sub-scale in bits 28-31",
);

/// The format.
pub const FORMAT: Format = Format::new(
    "d (2 sc[g] + 1) / 4 * GRID, with signs",
    &[D, QS],
    &[
        Part::new(Role::Scale(ScaleKind::F16), 1, |_| D.unit(0)),
        Part::new(Role::Grid, 64, grid),
        Part::new(Role::Signs, 32, signs),
        Part::new(Role::SubScale, 8, scale),
    ],
    weight,
);

fn grid(four: usize) -> Place {
    QS.unit(four)
}

fn signs(eight: usize) -> Place {
    QS.at(8 * 64 + 32 * (eight / 4) + 7 * (eight % 4), 7)
}

fn scale(group: usize) -> Place {
    QS.at(8 * 64 + 32 * group + 28, 4)
}

fn weight(b: &[u8], i: usize) -> Weight {
    let value = IQ3_XXS.value(grid(i / 4).read(b), i % 4);
    let sign = sign(even_signs(signs(i / 8).read(b)), i % 8);
    Weight::product(D.unit(0).f16(b) / 4.0, (2 * scale(i / 32).int(b) + 1) * value * sign)
}
