//! TQ1_0: 256 ternary weights, five to a byte, one scale.
//!
//! The digits of a byte are not those of the number it is. A byte b stands for the fraction b/256, and
//! digit n is the integer part of 3 times what 3^n leaves over: the top of `(b 3^n mod 256) 3 / 256`.

use crate::quant::Weight;
use crate::quant::layout::{Field, Format, Part, Place, Role};
use crate::types::ScaleKind;

use crate::quant::numbers::low_u8;
use crate::quant::steps::{inverse, largest, rounded};

const QS: Field = Field::first(
    "qs",
    48,
    8,
    "five ternary digits each: digit n of byte j of the first 32 is weight 32 n + j, of byte 32 + j \
     weight 160 + 16 n + j",
);
const QH: Field = QS.then("qh", 4, 8, "four ternary digits each: digit n of byte j is weight 240 + 4 n + j");
const D: Field = QH.then("d", 2, 16, "the scale, a binary16");

/// The format.
pub const FORMAT: Format = Format::new(
    "d (q - 1), where digit n of byte b is q = ((b 3^n) mod 256) 3 / 256, rounded down",
    &[QS, QH, D],
    &[
        Part::new(Role::Code, 48, |j| QS.unit(j)),
        Part::new(Role::Code, 4, |j| QH.unit(j)),
        Part::new(Role::Scale(ScaleKind::F16), 1, |_| D.unit(0)),
    ],
    weight,
)
.encoded_by(encode);

/// Which digit of which byte a weight is.
fn digit(i: usize) -> (Place, u32) {
    let (place, n) = match i {
        0..160 => (QS.unit(i % 32), i / 32),
        160..240 => (QS.unit(32 + (i - 160) % 16), (i - 160) / 16),
        _ => (QH.unit((i - 240) % 4), (i - 240) / 4),
    };
    (place, [1, 3, 9, 27, 81][n])
}

fn weight(b: &[u8], i: usize) -> Weight {
    let (place, power) = digit(i);
    let rest = low_u8(place.read(b) * u64::from(power));
    Weight::product(D.unit(0).f16(b), i32::from(rest) * 3 / 256 - 1)
}

/// The largest magnitude is the scale. The digits make a number below 243, which is scaled to 256 and
/// rounded up, so that the digits come out again.
fn encode(values: &[f32], b: &mut [u8]) {
    let d = largest(values).abs();
    D.unit(0).write(b, ScaleKind::F16.nearest(d));
    let inverse = inverse(d);
    for (i, value) in values.iter().enumerate() {
        let (place, power) = digit(i);
        let ternary = (rounded(value * inverse) + 1).unsigned_abs();
        place.write(b, place.read(b) + u64::from(ternary * (81 / power)));
    }
    for byte in &mut b[..D.offset] {
        *byte = low_u8((u64::from(*byte) * 256).div_ceil(243));
    }
}
