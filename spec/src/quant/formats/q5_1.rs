//! Q5_1: 32 weights of five bits above a minimum.

use crate::quant::Weight;
use crate::quant::layout::{Field, Format, Part, Place, Role};
use crate::types::ScaleKind;

use crate::quant::steps::{inverse, range, truncated};

const D: Field = Field::first("d", 2, 16, "the scale, a binary16");
const M: Field = D.then("m", 2, 16, "the minimum, a binary16");
const QH: Field = M.then("qh", 4, 1, "the fifth bits of the codes: bit j, counted through the bytes, of weight j");
const QS: Field =
    QH.then("qs", 16, 4, "the low four bits: weight j in the low nibble of byte j, weight 16 + j in the high one");

/// The format.
pub const FORMAT: Format = Format::new(
    "d q + m",
    &[D, M, QH, QS],
    &[
        Part::new(Role::Scale(ScaleKind::F16), 1, |_| D.unit(0)),
        Part::new(Role::Scale(ScaleKind::F16), 1, |_| M.unit(0)),
        Part::new(Role::Code, 32, code),
    ],
    weight,
)
.encoded_by(encode);

fn code(i: usize) -> Place {
    QS.strided(16, 4, i).and(QH.unit(i))
}

fn weight(b: &[u8], i: usize) -> Weight {
    Weight::product(D.unit(0).f16(b), code(i).int(b)).plus(M.unit(0).f16(b))
}

fn encode(values: &[f32], b: &mut [u8]) {
    let (min, max) = range(values);
    let d = (max - min) / 31.0;
    D.unit(0).write(b, ScaleKind::F16.nearest(d));
    M.unit(0).write(b, ScaleKind::F16.nearest(min));
    let inverse = inverse(d);
    for (i, value) in values.iter().enumerate() {
        code(i).put(b, truncated((value - min) * inverse + 0.5));
    }
}
