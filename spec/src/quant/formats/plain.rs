//! Plain numbers: one value, no block. All of them are little-endian.

use crate::quant::Weight;
use crate::quant::layout::{Field, Format, Part, Place, Role};
use crate::quant::numbers::{f16, low_u16, low_u32, nearest_bf16, nearest_f16};

const BYTE: Field = Field::first("value", 1, 8, "an integer in two's complement");
const WORD: Field = Field::first("value", 2, 16, "an integer in two's complement");
const INT: Field = Field::first("value", 4, 32, "an integer in two's complement");
const LONG: Field = Field::first("value", 8, 64, "an integer in two's complement");
const HALF: Field = Field::first("value", 2, 16, "IEEE 754 binary16");
const BRAIN: Field = Field::first("value", 2, 16, "the upper half of an IEEE 754 binary32");
const SINGLE: Field = Field::first("value", 4, 32, "IEEE 754 binary32");
const DOUBLE: Field = Field::first("value", 8, 64, "IEEE 754 binary64");

const FORMULA: &str = "value";

/// Eight bits, signed.
pub const I8: Format = Format::new(FORMULA, &[BYTE], &[part(|_| BYTE.unit(0))], |b, _| exact(BYTE.unit(0).signed(b)));
/// Sixteen bits, signed.
pub const I16: Format = Format::new(FORMULA, &[WORD], &[part(|_| WORD.unit(0))], |b, _| exact(WORD.unit(0).signed(b)));
/// Thirty-two bits, signed.
pub const I32: Format =
    Format::new(FORMULA, &[INT], &[part(|_| INT.unit(0))], |b, _| exact(low_u32(INT.unit(0).read(b)).cast_signed()));
/// Sixty-four bits, signed. From 2^53 on, the one component that is not exact.
pub const I64: Format = Format::new(FORMULA, &[LONG], &[part(|_| LONG.unit(0))], |b, _| Weight {
    product: long(LONG.unit(0).read(b).cast_signed()),
    offset: 0.0,
});
/// IEEE 754 binary16.
pub const F16: Format = Format::new(FORMULA, &[HALF], &[part(|_| HALF.unit(0))], |b, _| Weight {
    product: f16(low_u16(HALF.unit(0).read(b))),
    offset: 0.0,
})
.encoded_by(|values, b| HALF.unit(0).write(b, u64::from(nearest_f16(values[0]))));
/// The upper half of an IEEE 754 binary32.
pub const BF16: Format = Format::new(FORMULA, &[BRAIN], &[part(|_| BRAIN.unit(0))], |b, _| Weight {
    product: f64::from(f32::from_bits(low_u32(BRAIN.unit(0).read(b) << 16))),
    offset: 0.0,
})
.encoded_by(|values, b| BRAIN.unit(0).write(b, u64::from(nearest_bf16(values[0]))));
/// IEEE 754 binary32.
pub const F32: Format = Format::new(FORMULA, &[SINGLE], &[part(|_| SINGLE.unit(0))], |b, _| Weight {
    product: f64::from(f32::from_bits(low_u32(SINGLE.unit(0).read(b)))),
    offset: 0.0,
})
.encoded_by(|values, b| SINGLE.unit(0).write(b, u64::from(values[0].to_bits())));
/// IEEE 754 binary64.
pub const F64: Format = Format::new(FORMULA, &[DOUBLE], &[part(|_| DOUBLE.unit(0))], |b, _| Weight {
    product: f64::from_bits(DOUBLE.unit(0).read(b)),
    offset: 0.0,
})
.encoded_by(|values, b| DOUBLE.unit(0).write(b, f64::from(values[0]).to_bits()));

const fn part(place: fn(usize) -> Place) -> Part {
    Part::new(Role::Value, 1, place)
}

fn exact(number: i32) -> Weight {
    Weight::product(1.0, number)
}

/// An integer as f64. Where the last ten bits do not fit, they become one bit that says whether any was
/// set: so the f32 nearest to the result is the f32 nearest to the integer, where rounding to f64 first
/// could make a tie of what is none.
#[expect(clippy::cast_precision_loss, reason = "integers of 53 bits fit")]
fn long(number: i64) -> f64 {
    if number.unsigned_abs() < 1 << 53 {
        number as f64
    } else {
        ((number >> 10) | i64::from(number & 0x3FF != 0)) as f64 * 1024.0
    }
}
