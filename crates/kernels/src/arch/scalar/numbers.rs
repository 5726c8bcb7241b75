//! Number formats of scales and activations.

/// The value of a binary16, which every binary32 holds.
pub(super) fn f16(bits: u16) -> f32 {
    let (sign, exponent, mantissa) = (u32::from(bits >> 15) << 31, u32::from(bits >> 10) & 31, u32::from(bits) & 1023);
    let magnitude = match exponent {
        // Subnormal: so many times 2^-24.
        0 => float(mantissa.cast_signed()) * (1.0 / 16_777_216.0),
        31 => f32::from_bits(0x7F80_0000 | mantissa << 13),
        _ => f32::from_bits((exponent + 112) << 23 | mantissa << 13),
    };
    f32::from_bits(magnitude.to_bits() | sign)
}

/// The value of a bfloat16.
pub(super) fn bf16(bits: u16) -> f32 {
    f32::from_bits(u32::from(bits) << 16)
}

/// The nearest binary16, ties to even; infinity from 65,520 on, a quiet NaN for NaN.
pub(super) fn to_f16(value: f32) -> u16 {
    // The value is added to a power of two whose last place is that of the result, which rounds it there, and what
    // the sum has beyond that power is the mantissa with the carry, if there is one.
    let magnitude = value.abs();
    let sign = low(value.to_bits() >> 16) & 0x8000;
    if magnitude.is_nan() {
        return sign | 0x7E00;
    }
    let exponent = (magnitude.to_bits() >> 23).clamp(113, 142);
    let unit = f32::from_bits((exponent + 13) << 23);
    let places = (magnitude + unit).to_bits() - unit.to_bits();
    // In the range of normal numbers the places hold the leading bit too, which counts one exponent.
    let half = ((exponent - 113) << 10) + places;
    sign | if magnitude >= 65_520.0 { 0x7C00 } else { low(half) }
}

/// The nearest bfloat16, ties to even; a NaN stays one.
pub(super) fn to_bf16(value: f32) -> u16 {
    let bits = value.to_bits();
    if value.is_nan() {
        return low(bits >> 16) | 0x40;
    }
    low((bits + 0x7FFF + (bits >> 16 & 1)) >> 16)
}

/// The lower half.
fn low(bits: u32) -> u16 {
    let [a, b, ..] = bits.to_le_bytes();
    u16::from_le_bytes([a, b])
}

/// Half of an E8M0 scale: 2^(e - 128), for codes that are doubled.
pub(super) fn e8m0_half(e: u8) -> f32 {
    // The two smallest are subnormal.
    f32::from_bits(if e < 2 { 0x0020_0000 << e } else { (u32::from(e) - 1) << 23 })
}

/// Half of a UE4M3 scale, for codes that are doubled. As in ggml, 0x7F is zero, and the top bit means nothing.
pub(super) fn ue4m3_half(x: u8) -> f32 {
    let (exponent, mantissa) = (u32::from(x >> 3 & 15), f32::from(x & 7));
    match exponent {
        _ if x == 0x7F => 0.0,
        // 2^-10 for the eighths of 2^-6, halved.
        0 => mantissa * (1.0 / 1024.0),
        _ => (8.0 + mantissa) * f32::from_bits((exponent + 127 - 11) << 23),
    }
}

/// A sum of integers as a float: the one rounding of it, above 2^24.
#[expect(clippy::cast_precision_loss, reason = "the rounding is meant")]
pub(super) fn float(sum: i32) -> f32 {
    sum as f32
}

/// The two's complement of a byte.
pub(super) fn signed(byte: u8) -> i32 {
    i32::from(byte.cast_signed())
}

/// Two bytes from here on.
pub(super) fn word(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([bytes[at], bytes[at + 1]])
}

/// The binary16 from here on.
pub(super) fn half(bytes: &[u8], at: usize) -> f32 {
    f16(word(bytes, at))
}

#[cfg(test)]
mod tests {
    use super::*;
    use gguf_spec::types::ScaleKind;

    #[expect(clippy::cast_possible_truncation, reason = "every scale fits an f32")]
    fn specified(kind: ScaleKind, code: u16) -> f32 {
        kind.value(u64::from(code)) as f32
    }

    #[test]
    fn scales_are_what_the_specification_says() {
        for bits in 0..=u16::MAX {
            let expected = specified(ScaleKind::F16, bits);
            assert!(f16(bits).to_bits() == expected.to_bits() || (f16(bits).is_nan() && expected.is_nan()), "{bits:x}");
        }
        for byte in 0..=u8::MAX {
            let twice = |half: f32| f64::from(half) * 2.0;
            let [e8m0, ue4m3] = [ScaleKind::E8M0, ScaleKind::Ue4M3].map(|kind| kind.value(u64::from(byte)));
            assert_eq!(twice(e8m0_half(byte)).to_bits(), e8m0.to_bits(), "{byte:x}");
            assert_eq!(twice(ue4m3_half(byte)).to_bits(), ue4m3.to_bits(), "{byte:x}");
        }
    }

    #[test]
    fn halves_are_nearest() {
        // Around every binary16: itself, its neighbours in binary32, and the middle to the next.
        for bits in 0..0x7C00 {
            let (this, next) = (f16(bits), if bits == 0x7BFF { 65_536.0 } else { f16(bits + 1) });
            let middle = f32::midpoint(this, next);
            let even = if bits % 2 == 0 { bits } else { bits + 1 };
            for (value, expected) in [
                (this, bits),
                (this.next_up(), bits),
                (middle.next_down(), bits),
                (middle, even),
                (middle.next_up(), bits + 1),
                (next.next_down(), bits + 1),
            ] {
                assert_eq!(to_f16(value), expected, "{value:e}");
                assert_eq!(to_f16(-value), expected | 0x8000, "{value:e}");
            }
        }
        assert_eq!([f32::INFINITY, f32::MAX, f32::NAN, f32::MIN_POSITIVE].map(to_f16), [0x7C00, 0x7C00, 0x7E00, 0]);
        for bits in 0..=u16::MAX {
            let value = bf16(bits);
            assert!(to_bf16(value) == bits || value.is_nan() && bf16(to_bf16(value)).is_nan());
        }
        let around = |bits: u32| to_bf16(f32::from_bits(bits));
        assert_eq!([0x3F80_7FFF, 0x3F80_8000, 0x3F80_8001, 0x3F81_8000].map(around), [0x3F80, 0x3F80, 0x3F81, 0x3F82]);
        assert_eq!(around(0x7F7F_FFFF), 0x7F80);
    }
}
