//! Q4_0: 32 weights of four bits around 8, one scale.

use crate::quant::Weight;
use crate::quant::layout::{Field, Format, Part, Place, Role};
use crate::types::ScaleKind;

use crate::quant::steps::{inverse, largest, truncated};

const D: Field = Field::first("d", 2, 16, "the scale, a binary16");
const QS: Field = D.then("qs", 16, 4, "codes: weight j in the low nibble of byte j, weight 16 + j in the high one");

/// The format.
pub const FORMAT: Format = Format::new(
    "d (q - 8)",
    &[D, QS],
    &[Part::new(Role::Scale(ScaleKind::F16), 1, |_| D.unit(0)), Part::new(Role::Code, 32, code)],
    weight,
)
.encoded_by(encode);

fn code(i: usize) -> Place {
    QS.strided(16, 4, i)
}

fn weight(b: &[u8], i: usize) -> Weight {
    Weight::product(D.unit(0).f16(b), code(i).int(b) - 8)
}

/// The value of the largest magnitude becomes code 0, exactly -8.
fn encode(values: &[f32], b: &mut [u8]) {
    let d = largest(values) / -8.0;
    D.unit(0).write(b, ScaleKind::F16.nearest(d));
    let inverse = inverse(d);
    for (i, value) in values.iter().enumerate() {
        code(i).put(b, truncated(value * inverse + 8.5).min(15));
    }
}
