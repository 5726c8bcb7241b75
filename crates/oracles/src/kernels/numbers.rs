//! Random numbers that a name determines, and the forms in which a kernel holds single numbers.

use gguf_spec::kernel::contract::Form;
use gguf_spec::types::ScaleKind;
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// A generator for one purpose of a case: names and purposes that differ have nothing in common.
pub(super) fn rng(name: &str, purpose: &str) -> ChaCha8Rng {
    // FNV-1a: stable, and good enough to tell names apart.
    let hash = name
        .bytes()
        .chain([0])
        .chain(purpose.bytes())
        .fold(0xCBF2_9CE4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3));
    ChaCha8Rng::seed_from_u64(hash)
}

/// A number around zero with variance one, nearly normal: the sum of twelve uniform ones.
///
/// No logarithm and no cosine, whose last bits depend on the machine: a case is the same everywhere.
pub(super) fn normal(rng: &mut impl Rng) -> f32 {
    let mut sum = 0_u32;
    for _ in 0..3 {
        let bits: u64 = rng.random();
        sum += (0..4).map(|i| u32::from(low_u16(bits >> (16 * i)))).sum::<u32>();
    }
    // Twelve numbers below 2^16 fit 20 bits; the mean of the sum is 6 * 65535.
    let centred = f64::from(sum) - 6.0 * 65535.0;
    round_f32(centred / 65536.0)
}

fn low_u16(bits: u64) -> u16 {
    let [a, b, ..] = bits.to_le_bytes();
    u16::from_le_bytes([a, b])
}

/// An integer in `1..=amplitude` with a random sign.
pub(super) fn nonzero(rng: &mut impl Rng, amplitude: i32) -> i32 {
    let magnitude = rng.random_range(1..=amplitude);
    if rng.random() { magnitude } else { -magnitude }
}

/// The nearest binary32.
#[expect(clippy::cast_possible_truncation, reason = "rounding is what this is for")]
pub(super) fn round_f32(value: f64) -> f32 {
    value as f32
}

/// The nearest binary16, as a binary32.
pub(super) fn round_f16(value: f32) -> f32 {
    round_f32(ScaleKind::F16.value(ScaleKind::F16.nearest(value)))
}

/// The nearest bfloat16, as a binary32; of two as near, the even one.
pub(super) fn round_bf16(value: f32) -> f32 {
    let bits = value.to_bits();
    if value.is_finite() { f32::from_bits(bits.wrapping_add(0x7FFF + (bits >> 16 & 1)) & 0xFFFF_0000) } else { value }
}

/// A number in a form that holds numbers one by one; those that scale by blocks leave it as it is.
pub(super) fn round_to(form: Form, value: f32) -> f32 {
    match form {
        Form::F16 => round_f16(value),
        Form::Bf16 => round_bf16(value),
        Form::Exact | Form::Q8_0 | Form::Q8_1 | Form::Q8K => value,
    }
}

/// Elements of a block of a form; `None` for forms that hold numbers one by one.
pub(super) fn form_block(form: Form) -> Option<usize> {
    form.blocks().map(super::cases::block)
}

/// Two to this power.
pub(super) fn power(exponent: i32) -> f64 {
    2_f64.powi(exponent)
}

/// A count as a number; counts here are far below 2^53.
#[expect(clippy::cast_precision_loss, reason = "counts of elements are far below 2^53")]
pub(super) fn real(count: usize) -> f64 {
    count as f64
}

/// The largest power of two that divides a finite number other than zero.
pub(super) fn lowest_bit(value: f64) -> f64 {
    let bits = value.abs().to_bits();
    let (exponent, mantissa) = (bits >> 52, bits & ((1 << 52) - 1));
    let (exponent, mantissa) = if exponent == 0 { (1, mantissa) } else { (exponent, mantissa | 1 << 52) };
    let place = i32::try_from(exponent).unwrap_or(0) - 1075 + mantissa.trailing_zeros().cast_signed();
    power(place)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lowest_bit_divides() {
        for (value, lowest) in [(1.0, 1.0), (-12.0, 4.0), (0.75, 0.25), (power(-149) * 6.0, power(-148))] {
            assert_eq!(lowest_bit(value).to_bits(), f64::to_bits(lowest), "{value}");
        }
    }

    #[test]
    fn normal_numbers_have_mean_zero_and_variance_one() {
        let mut rng = rng("a name", "a purpose");
        let numbers: Vec<f64> = (0..40_000).map(|_| f64::from(normal(&mut rng))).collect();
        let mean = numbers.iter().sum::<f64>() / 40_000.0;
        let variance = numbers.iter().map(|x| x * x).sum::<f64>() / 40_000.0;
        // Four deviations of the mean of so many, and of the mean of their squares.
        assert!(mean.abs() < 0.02, "{mean}");
        assert!((variance - 1.0).abs() < 0.03, "{variance}");
    }
}
