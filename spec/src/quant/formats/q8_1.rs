//! Q8_1: 32 weights of eight bits and a sum. A form of activations, not of weights: a dot product with
//! blocks that have a minimum needs the sum of the other side. ggml has no decoder of it.

use crate::quant::Weight;
use crate::quant::layout::{Field, Format, Part, Place, Role};
use crate::types::ScaleKind;

use crate::quant::numbers::power_of_two;
use crate::quant::steps::{inverse, largest, rounded};

const D: Field = Field::first("d", 2, 16, "the scale, a binary16");
const S: Field = D.then("s", 2, 16, "d times the sum of the codes, a binary16; says nothing new, and is not decoded");
const QS: Field = S.then("qs", 32, 8, "codes, signed: byte j of weight j");

/// The format.
pub const FORMAT: Format = Format::new(
    "d q",
    &[D, S, QS],
    &[
        Part::new(Role::Scale(ScaleKind::F16), 1, |_| D.unit(0)),
        Part::new(Role::FloatSum(ScaleKind::F16), 1, |_| S.unit(0)),
        Part::new(Role::Code, 32, code),
    ],
    weight,
)
.encoded_by(encode)
.settled_by(settle);

fn code(i: usize) -> Place {
    QS.unit(i)
}

fn weight(b: &[u8], i: usize) -> Weight {
    Weight::product(D.unit(0).f16(b), code(i).signed(b))
}

fn sum(b: &[u8]) -> i16 {
    // 32 codes of at most 128.
    (0..32).map(|i| code(i).signed(b)).sum::<i32>().try_into().unwrap_or_default()
}

/// The sum is made with the scale as it was before it became a binary16.
fn encode(values: &[f32], b: &mut [u8]) {
    let d = largest(values).abs() / 127.0;
    D.unit(0).write(b, ScaleKind::F16.nearest(d));
    let inverse = inverse(d);
    for (i, value) in values.iter().enumerate() {
        code(i).put(b, rounded(value * inverse));
    }
    S.unit(0).write(b, ScaleKind::F16.nearest(f32::from(sum(b)) * d));
}

fn settle(b: &mut [u8]) {
    // 11 bits by 13: exact in f32.
    let d = Weight::product(D.unit(0).f16(b), 1).rounded();
    S.unit(0).write(b, ScaleKind::F16.nearest(f32::from(sum(b)) * d));
}

/// Whether the stored sum contradicts the codes: beyond what the two roundings to binary16, of the scale
/// and of the sum, can make of it.
pub(in crate::quant) fn contradicts(b: &[u8]) -> bool {
    let (d, sum) = (D.unit(0).f16(b), f64::from(sum(b)));
    let room = (d * sum).abs() * power_of_two(-9) + (sum.abs() + 1.0) * power_of_two(-24);
    let difference = (S.unit(0).f16(b) - d * sum).abs();
    difference.is_nan() || difference > room
}
