//! The JSON form of a document says each number in one way only, and in the range of its type.

use gguf_spec::document::{Document, Value};
use gguf_spec::syntax::ByteOrder;
use gguf_spec::types::{VALUE_TYPES, ValueType};
use serde_json::{Value as Json, json};

fn document(value: &Value) -> Document {
    Document {
        version: 3,
        byte_order: ByteOrder::Little,
        alignment: 32,
        data_offset: None,
        metadata: vec![(b"k".to_vec(), value.clone())],
        tensors: Vec::new(),
    }
}

/// The text of a number in the JSON form, and what it reads back as.
fn through_json(ty: ValueType, bits: u64) -> (Json, Result<Document, String>) {
    let json = document(&Value::Fixed(ty, bits)).to_json();
    (json["metadata"][0]["value"].clone(), Document::from_json(&json))
}

/// Reads a document whose one number is written like this.
fn read(ty: ValueType, text: &str) -> Result<Document, String> {
    let mut json = document(&Value::Fixed(ty, 0)).to_json();
    json["metadata"][0]["value"] = json!(text);
    Document::from_json(&json)
}

#[test]
fn the_ends_of_every_range_come_back() {
    let cases = [
        (ValueType::U8, 0xFF, "255"),
        (ValueType::I8, 0x80, "-128"),
        (ValueType::I8, 0x7F, "127"),
        (ValueType::U16, 0xFFFF, "65535"),
        (ValueType::I16, 0xFFFF, "-1"),
        (ValueType::I16, 0x8000, "-32768"),
        (ValueType::U32, 0xFFFF_FFFF, "4294967295"),
        (ValueType::I32, 0x8000_0000, "-2147483648"),
        (ValueType::U64, u64::MAX, "18446744073709551615"),
        (ValueType::I64, 1 << 63, "-9223372036854775808"),
        (ValueType::I64, u64::MAX, "-1"),
    ];
    for (ty, bits, text) in cases {
        let (written, back) = through_json(ty, bits);
        assert_eq!(written, json!(text), "{ty} 0x{bits:X}");
        assert_eq!(back, Ok(document(&Value::Fixed(ty, bits))), "{ty} {text}");
    }
}

#[test]
fn a_number_outside_the_range_of_its_type_is_no_number() {
    let integers = VALUE_TYPES
        .iter()
        .filter(|row| row.size.is_some() && !matches!(row.ty, ValueType::Bool | ValueType::F32 | ValueType::F64));
    for row in integers {
        let signed = row.name.starts_with('i');
        let width = 8 * u32::try_from(row.size.unwrap_or(0)).unwrap_or(0) - u32::from(signed);
        let (least, most) = if signed { (-(1i128 << width), (1i128 << width) - 1) } else { (0, (1i128 << width) - 1) };
        assert!(read(row.ty, &least.to_string()).is_ok(), "{} {least}", row.name);
        assert!(read(row.ty, &most.to_string()).is_ok(), "{} {most}", row.name);
        assert!(read(row.ty, &(least - 1).to_string()).is_err(), "{} {}", row.name, least - 1);
        assert!(read(row.ty, &(most + 1).to_string()).is_err(), "{} {}", row.name, most + 1);
        for text in ["", "x", "1.5", "0x10", "1e3"] {
            assert!(read(row.ty, text).is_err(), "{} {text:?}", row.name);
        }
    }
}

#[test]
fn floats_are_read_by_their_bits() {
    for bits in [0, 0x8000_0000, 0x7F80_0001, 0xFFC0_1234, 1, 0x3F80_0000] {
        let (_, back) = through_json(ValueType::F32, bits);
        assert_eq!(back, Ok(document(&Value::Fixed(ValueType::F32, bits))), "0x{bits:08X}");
    }
    assert_eq!(through_json(ValueType::F32, 0x3DCC_CCCD).0, json!("0.1"));
    assert_eq!(through_json(ValueType::F64, 0x7FF0_0000_0000_0000).0, json!("inf"));
}

#[test]
fn a_bool_keeps_its_byte() {
    for bits in [0, 1, 2, 255] {
        let (written, back) = through_json(ValueType::Bool, bits);
        assert_eq!(written, json!(bits != 0));
        assert_eq!(back, Ok(document(&Value::Fixed(ValueType::Bool, bits))));
    }
}

#[test]
fn bits_and_bytes_that_the_type_does_not_have_are_refused() {
    let with = |ty: ValueType, name: &str, beside: Json| {
        let mut json = document(&Value::Fixed(ty, 1)).to_json();
        json["metadata"][0][name] = beside;
        Document::from_json(&json)
    };
    assert!(with(ValueType::F32, "bits", json!("0x3f800000")).is_ok());
    assert!(with(ValueType::Bool, "byte", json!(2)).is_ok());
    for bits in ["0x2c0000000", "0x+3f80000", "0x3f8000", "3f800000", ""] {
        assert!(with(ValueType::F32, "bits", json!(bits)).is_err(), "{bits:?}");
    }
    assert!(with(ValueType::Bool, "byte", json!(256)).is_err());
}
