//! Keys and values as they lie in the file.

use gguf_spec::types::ValueType;

use crate::array::{Array, Strings};
use crate::cursor::ByteOrder;

/// A key and its value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pair<'a> {
    key: &'a [u8],
    value: Value<'a>,
}

impl<'a> Pair<'a> {
    pub(crate) fn new(key: &'a [u8], value: Value<'a>) -> Self {
        Self { key, value }
    }

    /// The bytes of the key.
    #[must_use]
    pub fn key(&self) -> &'a [u8] {
        self.key
    }

    /// The key, if it is UTF-8. Under [`Policy::strict`](crate::Policy::strict) every key is ASCII.
    #[must_use]
    pub fn key_str(&self) -> Option<&'a str> {
        text(self.key)
    }

    /// The value.
    #[must_use]
    pub fn value(&self) -> Value<'a> {
        self.value
    }
}

/// A value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value<'a> {
    /// A number or bool.
    Number(Number),
    /// The bytes of a string. If the policy wants UTF-8, they are.
    String(&'a [u8]),
    /// An array.
    Array(Array<'a>),
}

impl<'a> Value<'a> {
    /// The value of this type in these bytes, which were read before.
    pub(crate) fn new(ty: ValueType, bytes: &'a [u8], order: ByteOrder) -> Self {
        match ty {
            ValueType::String => Self::String(&bytes[8..]),
            ValueType::Array => Self::Array(Array::new(bytes, order)),
            fixed => Self::Number(Number { ty: fixed, bits: order.bits(bytes) }),
        }
    }

    /// The type of the value.
    #[must_use]
    pub fn ty(&self) -> ValueType {
        match self {
            Self::Number(number) => number.ty,
            Self::String(_) => ValueType::String,
            Self::Array(_) => ValueType::Array,
        }
    }

    /// The number or bool.
    #[must_use]
    pub fn as_number(&self) -> Option<Number> {
        if let Self::Number(number) = self { Some(*number) } else { None }
    }

    /// The value as an unsigned number, if it is an integer that is not negative.
    #[must_use]
    pub fn as_u64(&self) -> Option<u64> {
        self.as_number()?.as_u64()
    }

    /// The value as a signed number, if it is an integer in range.
    #[must_use]
    pub fn as_i64(&self) -> Option<i64> {
        self.as_number()?.as_i64()
    }

    /// The value, if it is a floating-point number.
    #[must_use]
    pub fn as_f64(&self) -> Option<f64> {
        self.as_number()?.as_f64()
    }

    /// The value, if it is a bool. Bytes other than 0 and 1 are true.
    #[must_use]
    pub fn as_bool(&self) -> Option<bool> {
        self.as_number()?.as_bool()
    }

    /// The bytes of the string.
    #[must_use]
    pub fn as_bytes(&self) -> Option<&'a [u8]> {
        if let Self::String(bytes) = self { Some(bytes) } else { None }
    }

    /// The string, if it is UTF-8.
    #[must_use]
    pub fn as_str(&self) -> Option<&'a str> {
        text(self.as_bytes()?)
    }

    /// The array.
    #[must_use]
    pub fn as_array(&self) -> Option<Array<'a>> {
        if let Self::Array(array) = self { Some(*array) } else { None }
    }

    /// The array, if its elements are of this type.
    #[must_use]
    pub fn array_of(&self, ty: ValueType) -> Option<Array<'a>> {
        self.as_array().filter(|array| array.ty() == ty)
    }

    /// The strings of an array of strings, one after another.
    #[must_use]
    pub fn strings(&self) -> Option<Strings<'a>> {
        self.as_array()?.strings()
    }

    /// `u32`, `array of string`.
    #[must_use]
    pub fn describe(&self) -> String {
        match self {
            Self::Array(array) => format!("array of {}", array.ty()),
            other => other.ty().name().to_owned(),
        }
    }
}

/// A number or bool, as its bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Number {
    pub(crate) ty: ValueType,
    pub(crate) bits: u64,
}

impl Number {
    /// Its type: neither string nor array.
    #[must_use]
    pub fn ty(self) -> ValueType {
        self.ty
    }

    /// Its bits, as an unsigned number of the width of the type; a bool is its byte.
    #[must_use]
    pub fn bits(self) -> u64 {
        self.bits
    }

    /// An integer that is not negative.
    #[must_use]
    pub fn as_u64(self) -> Option<u64> {
        match self.ty {
            ValueType::U8 | ValueType::U16 | ValueType::U32 | ValueType::U64 => Some(self.bits),
            _ => u64::try_from(self.as_i64()?).ok(),
        }
    }

    /// An integer in the range of signed 64-bit numbers.
    #[must_use]
    pub fn as_i64(self) -> Option<i64> {
        // The sign is that of the stored width.
        let signed = |width: u32| (self.bits << (64 - width)).cast_signed() >> (64 - width);
        match self.ty {
            ValueType::I8 => Some(signed(8)),
            ValueType::I16 => Some(signed(16)),
            ValueType::I32 => Some(signed(32)),
            ValueType::I64 => Some(signed(64)),
            ValueType::U8 | ValueType::U16 | ValueType::U32 | ValueType::U64 => i64::try_from(self.bits).ok(),
            ValueType::F32 | ValueType::F64 | ValueType::Bool | ValueType::String | ValueType::Array => None,
        }
    }

    /// A floating-point number.
    #[must_use]
    pub fn as_f64(self) -> Option<f64> {
        match self.ty {
            ValueType::F32 => u32::try_from(self.bits).ok().map(|bits| f64::from(f32::from_bits(bits))),
            ValueType::F64 => Some(f64::from_bits(self.bits)),
            _ => None,
        }
    }

    /// A bool. Bytes other than 0 and 1 are true.
    #[must_use]
    pub fn as_bool(self) -> Option<bool> {
        (self.ty == ValueType::Bool).then_some(self.bits != 0)
    }
}

pub(crate) fn text(bytes: &[u8]) -> Option<&str> {
    simdutf8::basic::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(ty: ValueType, bits: u64) -> Number {
        Number { ty, bits }
    }

    #[test]
    fn numbers_are_what_their_type_makes_of_the_bits() {
        assert_eq!(number(ValueType::I8, 0xFF).as_i64(), Some(-1));
        assert_eq!(number(ValueType::I8, 0xFF).as_u64(), None);
        assert_eq!(number(ValueType::I16, 0x7FFF).as_u64(), Some(0x7FFF));
        assert_eq!(number(ValueType::I32, 0x8000_0000).as_i64(), Some(-0x8000_0000));
        assert_eq!(number(ValueType::U8, 0xFF).as_i64(), Some(255));
        assert_eq!(number(ValueType::U64, u64::MAX).as_i64(), None);
        assert_eq!(number(ValueType::U64, u64::MAX).as_u64(), Some(u64::MAX));
        assert_eq!(number(ValueType::I64, u64::MAX).as_i64(), Some(-1));
        assert_eq!(number(ValueType::Bool, 2).as_bool(), Some(true));
        assert_eq!(number(ValueType::Bool, 1).as_u64(), None);
        assert_eq!(number(ValueType::F32, 0x3FC0_0000).as_f64(), Some(1.5));
        assert_eq!(number(ValueType::F64, 0x3FF8_0000_0000_0000).as_f64(), Some(1.5));
        assert_eq!(number(ValueType::U32, 1).as_f64(), None);
    }
}
