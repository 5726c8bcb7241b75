//! The number formats of scales, to and from.

use crate::types::ScaleKind;

use super::steps::truncated;

impl ScaleKind {
    /// The value of a stored scale, exactly. Bits of `code` beyond the width of the kind mean nothing.
    ///
    /// E8M0 `0xFF` and UE4M3 `0x7F`, `0x80..=0xFF` are disputed; here they are what ggml's CPU code
    /// takes them for. See [`DISPUTES`](super::DISPUTES).
    #[must_use]
    pub fn value(self, code: u64) -> f64 {
        match self {
            Self::F16 | Self::SplitF16 => f16(low_u16(code)),
            Self::F32 => f64::from(f32::from_bits(low_u32(code))),
            Self::E8M0 => power_of_two(i32::from(low_u8(code)) - 127),
            Self::Ue4M3 => ue4m3(low_u8(code)),
        }
    }

    /// The stored scale nearest to a value. Kinds without a sign take the magnitude; E8M0 takes the power of
    /// two at or below it, at most 2^127; UE4M3 takes what ggml's encoder does, which has gaps.
    #[must_use]
    pub fn nearest(self, value: f32) -> u64 {
        match self {
            Self::F16 | Self::SplitF16 => u64::from(nearest_f16(value)),
            Self::F32 => u64::from(value.to_bits()),
            Self::E8M0 => u64::from(value.abs().to_bits() >> 23).min(0xFE),
            Self::Ue4M3 => u64::from(nearest_ue4m3(value.abs())),
        }
    }

    /// The width of a stored scale in bits.
    #[must_use]
    pub fn bits(self) -> u32 {
        match self {
            Self::E8M0 | Self::Ue4M3 => 8,
            Self::F16 | Self::SplitF16 => 16,
            Self::F32 => 32,
        }
    }
}

/// The lowest eight bits.
pub(super) fn low_u8(bits: u64) -> u8 {
    bits.to_le_bytes()[0]
}

/// The lowest sixteen bits.
pub(super) fn low_u16(bits: u64) -> u16 {
    let [a, b, ..] = bits.to_le_bytes();
    u16::from_le_bytes([a, b])
}

/// The lowest thirty-two bits.
pub(super) fn low_u32(bits: u64) -> u32 {
    let [a, b, c, d, ..] = bits.to_le_bytes();
    u32::from_le_bytes([a, b, c, d])
}

/// Two to this power; from -1022 to 1023.
pub(super) fn power_of_two(exponent: i32) -> f64 {
    f64::from_bits(u64::from((exponent + 1023).unsigned_abs()) << 52)
}

/// The f32 nearest to a value, of two as near the even one; infinite beyond the range.
#[expect(clippy::cast_possible_truncation, reason = "the language rounds to the nearest")]
pub(super) fn nearest_f32(value: f64) -> f32 {
    value as f32
}

/// The value of a binary16: sign, five bits of exponent, ten of mantissa. It is a multiple of 2^-24.
pub(super) fn f16(bits: u16) -> f64 {
    let (exponent, mantissa) = (i32::from(bits >> 10 & 0x1F), f64::from(bits & 0x3FF));
    let magnitude = match exponent {
        0 => mantissa * power_of_two(-24),
        31 if bits & 0x3FF == 0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (1024.0 + mantissa) * power_of_two(exponent - 25),
    };
    if bits >> 15 == 1 { -magnitude } else { magnitude }
}

/// The binary16 nearest to a value, of two as near the even one. From 65,520 on it is infinity; NaN is
/// the quiet one.
pub(super) fn nearest_f16(value: f32) -> u16 {
    let bits = value.abs().to_bits();
    let half = if value.is_nan() {
        0x7E00
    } else if bits >= 65_520_f32.to_bits() {
        0x7C00
    } else if bits < 0x3880_0000 {
        // Below 2^-14. Added to 2^-1, whose last place is 2^-24, the value is rounded to a count of 2^-24,
        // which is what the mantissa of a subnormal is; 1024 of them are the smallest normal, in bits too.
        (value.abs() + 0.5).to_bits() - 0.5_f32.to_bits()
    } else {
        // 13 bits of mantissa go; a carry moves on into the exponent, whose bias is 112 less.
        ((bits + 0xFFF + (bits >> 13 & 1)) >> 13) - (112 << 10)
    };
    low_u16(u64::from(half | value.to_bits() >> 16 & 0x8000))
}

/// The bfloat16 nearest to a value, of two as near the even one: the upper half of a binary32.
pub(super) fn nearest_bf16(value: f32) -> u16 {
    let bits = value.to_bits();
    // A NaN keeps its upper bits and is made quiet: rounding could carry it into infinity.
    let rounded = if value.is_nan() { bits | 0x40_0000 } else { bits + 0x7FFF + (bits >> 16 & 1) };
    low_u16(u64::from(rounded >> 16))
}

/// The value of a UE4M3: four bits of exponent, three of mantissa. The top bit means nothing here, and
/// `0x7F`, the NaN of the format, is zero.
fn ue4m3(code: u8) -> f64 {
    let (exponent, mantissa) = (i32::from(code >> 3 & 0xF), f64::from(code & 7));
    match (code, exponent) {
        (0x7F, _) => 0.0,
        (_, 0) => mantissa * power_of_two(-9),
        _ => (8.0 + mantissa) * power_of_two(exponent - 10),
    }
}

/// The UE4M3 that ggml stores for a value: nearest, ties up, with three gaps. What lies between the largest
/// subnormal and the smallest normal is the former; from 248 on, where the largest exponent begins after
/// rounding, all is 448; negative values and NaN are 0.
pub(super) fn nearest_ue4m3(value: f32) -> u8 {
    if value.is_nan() || value <= 0.0 {
        return 0;
    }
    let bits = value.min(448.0).to_bits();
    let code = if bits < 0x3C80_0000 {
        // Below 2^-6: a count of 2^-9.
        truncated(value * 512.0 + 0.5).min(7).unsigned_abs()
    } else {
        // 20 bits of mantissa go; a carry moves on into the exponent, whose bias is 120 less.
        ((bits + (1 << 19)) >> 20) - (120 << 3)
    };
    if code < 0x78 { low_u8(u64::from(code)) } else { 0x7E }
}
