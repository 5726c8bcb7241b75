//! TQ2_0: 256 weights of two bits: minus one, zero, one or two times the scale.

use crate::quant::Weight;
use crate::quant::layout::{Field, Format, Part, Place, Role};
use crate::types::ScaleKind;

use crate::quant::steps::{inverse, largest, rounded};

const QS: Field =
    Field::first("qs", 64, 2, "codes: bits 2 n of byte 32 g + j are weight 128 g + 32 n + j; 3 is never written");
const D: Field = QS.then("d", 2, 16, "the scale, a binary16");

/// The format.
pub const FORMAT: Format = Format::new(
    "d (q - 1)",
    &[QS, D],
    &[Part::new(Role::Code, 256, code), Part::new(Role::Scale(ScaleKind::F16), 1, |_| D.unit(0))],
    weight,
)
.encoded_by(encode);

fn code(i: usize) -> Place {
    QS.strided(32, 2, i)
}

fn weight(b: &[u8], i: usize) -> Weight {
    Weight::product(D.unit(0).f16(b), code(i).int(b) - 1)
}

/// The largest magnitude is the scale.
fn encode(values: &[f32], b: &mut [u8]) {
    let d = largest(values).abs();
    D.unit(0).write(b, ScaleKind::F16.nearest(d));
    let inverse = inverse(d);
    for (i, value) in values.iter().enumerate() {
        code(i).put(b, rounded(value * inverse) + 1);
    }
}
