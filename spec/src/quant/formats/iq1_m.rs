//! IQ1_M: 256 weights in 16 groups of 16; eight at a time are a point of the grid of [IQ1_S](super::iq1_s),
//! moved by an eighth up or down. The scale is spread over the block.

use crate::quant::Weight;
use crate::quant::grids::IQ1;
use crate::quant::layout::{Field, Format, Part, Place, Role};
use crate::types::ScaleKind;

const QS: Field = Field::first("qs", 32, 8, "the low eight bits of 32 grid indices, one for eight weights each");
const QH: Field = QS.then(
    "qh",
    16,
    4,
    "a nibble for eight weights, the low one first: in its bits 0-2 the high three bits of the grid index, in bit 3 the \
     shift: where it is 0, 1/8 is added to GRID, where it is 1, taken off",
);
const SCALES: Field = QH.then(
    "scales",
    8,
    16,
    "four times two bytes: in bits 0-11 four sub-scales of three bits, in bits 12-15 four bits of the scale d, a binary16, \
     of which the first two bytes have the lowest",
);

/// The format.
pub const FORMAT: Format = Format::new(
    "d (2 sc[g] + 1) (GRID +- 1/8)",
    &[QS, QH, SCALES],
    &[
        Part::new(Role::Grid, 32, grid),
        Part::new(Role::Shift, 32, shift),
        Part::new(Role::Scale(ScaleKind::SplitF16), 1, |_| d()),
        Part::new(Role::SubScale, 16, scale),
    ],
    weight,
);

fn d() -> Place {
    let four_bits = |word: usize| SCALES.at(16 * word + 12, 4);
    four_bits(0).and(four_bits(1)).and(four_bits(2)).and(four_bits(3))
}

fn grid(eight: usize) -> Place {
    QS.unit(eight).and(QH.at(4 * eight, 3))
}

fn shift(eight: usize) -> Place {
    QH.at(4 * eight + 3, 1)
}

fn scale(group: usize) -> Place {
    SCALES.at(16 * (group / 4) + 3 * (group % 4), 3)
}

fn weight(b: &[u8], i: usize) -> Weight {
    let eighths = 8 * IQ1.value(grid(i / 8).read(b), i % 8) + 1 - 2 * shift(i / 8).int(b);
    Weight::product(d().f16(b) / 8.0, (2 * scale(i / 16).int(b) + 1) * eighths)
}
