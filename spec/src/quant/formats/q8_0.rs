//! Q8_0: 32 weights of eight bits, one scale. ggml's CPU kernels turn activations into it.

use crate::quant::Weight;
use crate::quant::layout::{Field, Format, Part, Place, Role};
use crate::types::ScaleKind;

use crate::quant::steps::{inverse, largest, rounded};

const D: Field = Field::first("d", 2, 16, "the scale, a binary16");
const QS: Field = D.then("qs", 32, 8, "codes, signed: byte j of weight j");

/// The format.
pub const FORMAT: Format = Format::new(
    "d q",
    &[D, QS],
    &[Part::new(Role::Scale(ScaleKind::F16), 1, |_| D.unit(0)), Part::new(Role::Code, 32, code)],
    weight,
)
.encoded_by(encode);

fn code(i: usize) -> Place {
    QS.unit(i)
}

fn weight(b: &[u8], i: usize) -> Weight {
    Weight::product(D.unit(0).f16(b), code(i).signed(b))
}

fn encode(values: &[f32], b: &mut [u8]) {
    let d = largest(values).abs() / 127.0;
    D.unit(0).write(b, ScaleKind::F16.nearest(d));
    let inverse = inverse(d);
    for (i, value) in values.iter().enumerate() {
        code(i).put(b, rounded(value * inverse));
    }
}
