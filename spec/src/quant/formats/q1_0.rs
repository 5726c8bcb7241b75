//! Q1_0: 128 weights that are plus or minus the scale.

use crate::quant::Weight;
use crate::quant::layout::{Field, Format, Part, Place, Role};
use crate::types::ScaleKind;

const D: Field = Field::first("d", 2, 16, "the scale, a binary16");
const QS: Field = D.then("qs", 16, 1, "codes: bit j, counted through the bytes, of weight j; 1 is plus");

/// The format.
pub const FORMAT: Format = Format::new(
    "d (2 q - 1)",
    &[D, QS],
    &[Part::new(Role::Scale(ScaleKind::F16), 1, |_| D.unit(0)), Part::new(Role::Code, 128, code)],
    weight,
)
.encoded_by(encode);

fn code(i: usize) -> Place {
    QS.unit(i)
}

fn weight(b: &[u8], i: usize) -> Weight {
    Weight::product(D.unit(0).f16(b), 2 * code(i).int(b) - 1)
}

/// The scale is the mean magnitude.
fn encode(values: &[f32], b: &mut [u8]) {
    let sum = values.iter().fold(0.0, |sum: f32, value| sum + value.abs());
    D.unit(0).write(b, ScaleKind::F16.nearest(sum / 128.0));
    for (i, &value) in values.iter().enumerate() {
        code(i).put(b, i32::from(value >= 0.0));
    }
}
