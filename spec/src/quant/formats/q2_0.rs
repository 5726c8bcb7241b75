//! Q2_0: 64 weights of two bits: minus one, zero, one or two times the scale.

use crate::quant::Weight;
use crate::quant::layout::{Field, Format, Part, Place, Role};
use crate::types::ScaleKind;

use crate::quant::steps::{inverse, largest, rounded};

const D: Field = Field::first("d", 2, 16, "the scale, a binary16");
const QS: Field = D.then("qs", 16, 2, "codes: two bits each, four to a byte, the first in the lowest bits");

/// The format.
pub const FORMAT: Format = Format::new(
    "d (q - 1)",
    &[D, QS],
    &[Part::new(Role::Scale(ScaleKind::F16), 1, |_| D.unit(0)), Part::new(Role::Code, 64, code)],
    weight,
)
.encoded_by(encode);

fn code(i: usize) -> Place {
    QS.unit(i)
}

fn weight(b: &[u8], i: usize) -> Weight {
    Weight::product(D.unit(0).f16(b), code(i).int(b) - 1)
}

/// The largest magnitude is the scale, so that code 3 does not occur. Where a quotient is not finite, ggml
/// gets the lowest integer there is, and so code 0, unlike in other types.
fn encode(values: &[f32], b: &mut [u8]) {
    let d = largest(values).abs();
    D.unit(0).write(b, ScaleKind::F16.nearest(d));
    let inverse = inverse(d);
    for (i, value) in values.iter().enumerate() {
        let quotient = value * inverse;
        let integer = if quotient.is_finite() { rounded(quotient) } else { -1 };
        code(i).put(b, (integer + 1).clamp(0, 3));
    }
}
