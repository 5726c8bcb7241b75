//! Q8_K: 256 weights of eight bits, an f32 scale and sums. A form of activations, for the K and IQ types.

use crate::quant::Weight;
use crate::quant::layout::{Field, Format, Part, Place, Role};
use crate::types::ScaleKind;

use crate::quant::steps::{largest, rounded_to_even};

const D: Field = Field::first("d", 4, 32, "the scale, a binary32");
const QS: Field = D.then("qs", 256, 8, "codes, signed: byte j of weight j");
const BSUMS: Field =
    QS.then("bsums", 32, 16, "sums of 16 codes each, signed; they say nothing new, and are not decoded");

/// The format.
pub const FORMAT: Format = Format::new(
    "d q, rounded: the scale has 24 bits",
    &[D, QS, BSUMS],
    &[
        Part::new(Role::Scale(ScaleKind::F32), 1, |_| D.unit(0)),
        Part::new(Role::Code, 256, code),
        Part::new(Role::IntSum, 16, |j| BSUMS.unit(j)),
    ],
    weight,
)
.encoded_by(encode)
.settled_by(settle);

fn code(i: usize) -> Place {
    QS.unit(i)
}

fn weight(b: &[u8], i: usize) -> Weight {
    Weight::product(D.unit(0).float(ScaleKind::F32, b), code(i).signed(b))
}

fn sum(b: &[u8], j: usize) -> i32 {
    (16 * j..16 * (j + 1)).map(|i| code(i).signed(b)).sum()
}

/// The value of the largest magnitude becomes -127.
fn encode(values: &[f32], b: &mut [u8]) {
    let largest = largest(values);
    if largest == 0.0 {
        return;
    }
    let inverse = -127.0 / largest;
    for (i, value) in values.iter().enumerate() {
        code(i).put(b, rounded_to_even(inverse * value).min(127));
    }
    D.unit(0).write(b, u64::from((1.0 / inverse).to_bits()));
    settle(b);
}

fn settle(b: &mut [u8]) {
    for j in 0..16 {
        BSUMS.unit(j).put(b, sum(b, j));
    }
}

/// Whether a stored sum contradicts the codes.
pub(in crate::quant) fn contradicts(b: &[u8]) -> bool {
    (0..16).any(|j| BSUMS.unit(j).signed(b) != sum(b, j))
}
