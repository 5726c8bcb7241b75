//! The steps of ggml's encoders that several types share. They are what `quantize_row_*_ref` of ggml
//! 0.25.1 does in f32, in the same order, because a block is compared with ggml's bit for bit.
//!
//! A value that is not finite makes no panic, but a poor block: a NaN is never the largest value, and
//! a code whose quotient is not finite is that of quotient 0, but for Q2_0. The same holds for finite values so small
//! that the inverse of the scale overflows.

/// The value of the largest magnitude, with its sign; the first of equals, 0 if there is none.
pub(super) fn largest(values: &[f32]) -> f32 {
    values.iter().fold(0.0, |largest: f32, &value| if largest.abs() < value.abs() { value } else { largest })
}

/// The least and the greatest value.
pub(super) fn range(values: &[f32]) -> (f32, f32) {
    values.iter().fold((f32::MAX, f32::MIN), |(min, max), &value| {
        (if value < min { value } else { min }, if value > max { value } else { max })
    })
}

/// One by the scale, or 0 for a scale of 0.
pub(super) fn inverse(scale: f32) -> f32 {
    if scale == 0.0 { 0.0 } else { 1.0 / scale }
}

/// Towards zero; 0 if not finite.
#[expect(clippy::cast_possible_truncation, reason = "it saturates, far outside of every code")]
pub(super) fn truncated(value: f32) -> i32 {
    if value.is_finite() { value as i32 } else { 0 }
}

/// To the nearest, halves away from zero; 0 if not finite.
pub(super) fn rounded(value: f32) -> i32 {
    truncated(value.round())
}

/// To the nearest, halves to even; 0 if not finite.
pub(super) fn rounded_to_even(value: f32) -> i32 {
    truncated(value.round_ties_even())
}
