//! Single values of two documents, in the forms that readers of different languages have for them.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use gguf_spec::profile::c_string;
use gguf_spec::types::ValueType;
use serde_json::Value as Json;

/// A value with what stands beside it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Parts<'a> {
    pub(super) value: Option<&'a Json>,
    pub(super) bits: Option<&'a Json>,
    pub(super) byte: Option<&'a Json>,
}

impl<'a> Parts<'a> {
    /// Those of a pair.
    pub(super) fn of(pair: &'a Json) -> Self {
        Self { value: pair.get("value"), bits: pair.get("bits"), byte: pair.get("byte") }
    }

    /// Those of an element of an array.
    pub(super) fn element(array: &'a Json, index: usize) -> Self {
        let list = |name: &str| array.get(name).and_then(|list| list.get(index));
        Self { value: list("value"), bits: list("bits"), byte: list("byte") }
    }
}

/// The bytes of a text; `None` if it is none. With `cut`, up to the first NUL.
pub(super) fn text(json: &Json, cut: bool) -> Option<Vec<u8>> {
    let bytes = match json {
        Json::String(text) => text.as_bytes().to_vec(),
        Json::Object(object) if object.len() == 1 => STANDARD.decode(object.get("base64")?.as_str()?).ok()?,
        _ => return None,
    };
    Some(if cut { c_string(&bytes).to_vec() } else { bytes })
}

pub(super) fn same_text(expected: &Parts<'_>, actual: &Parts<'_>, cut: bool) -> bool {
    let bytes = |parts: &Parts<'_>| parts.value.and_then(|value| text(value, cut));
    bytes(expected).is_some_and(|text| bytes(actual) == Some(text))
}

/// Whether two bools are the same byte. One that is not shown is 0 or 1.
pub(super) fn same_byte(expected: &Parts<'_>, actual: &Parts<'_>) -> bool {
    let byte = |parts: &Parts<'_>| match parts.byte {
        Some(byte) => byte.as_u64(),
        None => parts.value.and_then(Json::as_bool).map(u64::from),
    };
    byte(expected) == byte(actual)
}

/// Whether the bits of two floats are the same number.
pub(super) fn same_bits(expected: &Parts<'_>, actual: &Parts<'_>) -> bool {
    let bits = |parts: &Parts<'_>| hexadecimal(parts.bits?);
    bits(expected).is_some_and(|number| bits(actual) == Some(number))
}

fn hexadecimal(json: &Json) -> Option<u64> {
    u64::from_str_radix(json.as_str()?.strip_prefix("0x")?, 16).ok()
}

/// Whether a float, however it is written, is the expected one after rounding to its type.
pub(super) fn same_float(ty: ValueType, expected: &Parts<'_>, actual: &Parts<'_>) -> bool {
    let (Some(bits), Some(value)) = (expected.bits.and_then(hexadecimal), actual.value) else { return false };
    if ty == ValueType::F32 {
        let number = match value {
            Json::String(text) => text.parse().ok(),
            value => value.as_f64().map(narrowed),
        };
        let expected = f32::from_bits(u32::try_from(bits).unwrap_or(0));
        number.is_some_and(|n: f32| n.to_bits() == expected.to_bits() || (n.is_nan() && expected.is_nan()))
    } else {
        let number = match value {
            Json::String(text) => text.parse().ok(),
            value => value.as_f64(),
        };
        let expected = f64::from_bits(bits);
        number.is_some_and(|n: f64| n.to_bits() == expected.to_bits() || (n.is_nan() && expected.is_nan()))
    }
}

#[allow(clippy::cast_possible_truncation, reason = "rounds to the nearest, which is what is wanted")]
fn narrowed(number: f64) -> f32 {
    number as f32
}

/// Whether an integer, as text or as a number of JSON, is the expected one.
pub(super) fn same_integer(expected: &Parts<'_>, actual: &Parts<'_>) -> bool {
    let integer = |json: &Json| match json {
        Json::String(text) => text.parse::<i128>().ok(),
        Json::Number(number) => number
            .as_i64()
            .map(i128::from)
            .or_else(|| number.as_u64().map(i128::from))
            .or_else(|| number.to_string().strip_suffix(".0").and_then(|whole| whole.parse().ok())),
        _ => None,
    };
    let number = expected.value.and_then(integer);
    number.is_some() && actual.value.and_then(integer) == number
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn parts(value: &Json) -> Parts<'_> {
        Parts { value: Some(value), bits: None, byte: None }
    }

    #[test]
    fn floats_are_compared_after_rounding() {
        let (value, bits) = (json!("0.1"), json!("0x3dcccccd"));
        let expected = Parts { bits: Some(&bits), ..parts(&value) };
        for right in [json!("0.1"), json!("0.10000000149011612"), json!(0.1), json!(0.10000000149011612), json!("1e-1")]
        {
            assert!(same_float(ValueType::F32, &expected, &parts(&right)), "{right}");
        }
        for wrong in [json!("0.10000001"), json!(0.2), json!(null), json!("x"), json!(true)] {
            assert!(!same_float(ValueType::F32, &expected, &parts(&wrong)), "{wrong}");
        }
        let (nan, nan_bits) = (json!("NaN"), json!("0x7ff8000000000001"));
        let expected = Parts { bits: Some(&nan_bits), ..parts(&nan) };
        assert!(same_float(ValueType::F64, &expected, &parts(&json!("nan"))));
        assert!(!same_float(ValueType::F64, &expected, &parts(&json!("inf"))));
        let (zero, zero_bits) = (json!("-0"), json!("0x80000000"));
        let expected = Parts { bits: Some(&zero_bits), ..parts(&zero) };
        assert!(same_float(ValueType::F32, &expected, &parts(&json!(-0.0))));
        assert!(!same_float(ValueType::F32, &expected, &parts(&json!("0"))));
    }

    #[test]
    fn integers_are_compared_whatever_their_form() {
        let expected = json!("18446744073709551615");
        assert!(same_integer(&parts(&expected), &parts(&json!(u64::MAX))));
        assert!(!same_integer(&parts(&expected), &parts(&json!(18446744073709551615.0))));
        assert!(same_integer(&parts(&json!("-5")), &parts(&json!(-5.0))));
        assert!(!same_integer(&parts(&json!("-5")), &parts(&json!("five"))));
    }

    #[test]
    fn text_is_bytes() {
        assert_eq!(text(&json!("a\0b"), true), Some(b"a".to_vec()));
        assert_eq!(text(&json!({"base64": "/wA="}), false), Some(b"\xff\0".to_vec()));
        assert_eq!(text(&json!({"base64": "YQ=="}), false), text(&json!("a"), false));
        for wrong in [json!({"base64": "!"}), json!({"base64": "", "x": 0}), json!(1), json!(null)] {
            assert_eq!(text(&wrong, false), None, "{wrong}");
        }
    }
}
