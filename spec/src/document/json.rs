//! The JSON form of a document.
//!
//! ```json
//! {"version": 3, "byte_order": "little", "alignment": "32", "data_offset": "96",
//!  "metadata": [{"key": "general.name", "type": "string", "value": "x"}],
//!  "tensors": [{"name": "t", "type": "F32", "type_id": 0, "ne": ["8"], "offset": "0"}]}
//! ```
//!
//! Integers are decimal strings; floats are the shortest decimal that reads back to the same number,
//! with their bits beside them in hexadecimal; text that is not UTF-8 is `{"base64": ".."}`; a bool
//! whose byte is neither 0 nor 1 has that byte beside it. Arrays name the type of their `items`.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value as Json, json};

use super::{Array, Document, Items, Tensor, Value};
use crate::syntax::ByteOrder;
use crate::types::{TensorType, ValueType};

impl Document {
    /// The JSON form.
    #[must_use]
    pub fn to_json(&self) -> Json {
        let metadata = self.metadata.iter().map(|(key, value)| {
            let mut object = Map::new();
            object.insert("key".to_owned(), text(key));
            match value {
                Value::Fixed(ty, bits) => {
                    object.insert("type".to_owned(), json!(ty.name()));
                    put_fixed(&mut object, *ty, std::slice::from_ref(bits), false);
                }
                Value::String(bytes) => {
                    object.insert("type".to_owned(), json!("string"));
                    object.insert("value".to_owned(), text(bytes));
                }
                Value::Array(array) => {
                    object.insert("type".to_owned(), json!("array"));
                    put_array(&mut object, array);
                }
            }
            Json::Object(object)
        });
        let tensors = self.tensors.iter().map(|tensor| {
            json!({
                "name": text(&tensor.name),
                "type": TensorType::from_id(tensor.type_id).map(|ty| ty.name),
                "type_id": tensor.type_id,
                "ne": tensor.ne.iter().map(u64::to_string).collect::<Vec<_>>(),
                "offset": tensor.offset.to_string(),
            })
        });
        json!({
            "version": self.version,
            "byte_order": self.byte_order.name(),
            "alignment": self.alignment.to_string(),
            "data_offset": self.data_offset.map(|offset| offset.to_string()),
            "metadata": metadata.collect::<Vec<_>>(),
            "tensors": tensors.collect::<Vec<_>>(),
        })
    }

    /// Reads the JSON form back.
    ///
    /// # Errors
    ///
    /// The place and kind of the first thing that is not as it should be.
    pub fn from_json(json: &Json) -> Result<Self, String> {
        let metadata = list(json, "metadata")?
            .iter()
            .map(|pair| {
                let key = from_text(field(pair, "key")?)?;
                let value = match string(pair, "type")? {
                    "string" => Value::String(from_text(field(pair, "value")?)?),
                    "array" => Value::Array(from_array(pair)?),
                    name => {
                        let ty = value_type(name)?;
                        Value::Fixed(ty, from_fixed(ty, field(pair, "value")?, pair.get("bits"), pair.get("byte"))?)
                    }
                };
                Ok((key, value))
            })
            .collect::<Result<_, String>>()?;
        let tensors = list(json, "tensors")?
            .iter()
            .map(|tensor| {
                Ok(Tensor {
                    name: from_text(field(tensor, "name")?)?,
                    type_id: number(field(tensor, "type_id")?)?,
                    ne: list(tensor, "ne")?.iter().map(decimal).collect::<Result<_, String>>()?,
                    offset: decimal(field(tensor, "offset")?)?,
                })
            })
            .collect::<Result<_, String>>()?;
        Ok(Self {
            version: number(field(json, "version")?)?,
            byte_order: match string(json, "byte_order")? {
                "little" => ByteOrder::Little,
                "big" => ByteOrder::Big,
                other => return Err(format!("byte_order: {other:?}")),
            },
            alignment: decimal(field(json, "alignment")?)?,
            data_offset: match field(json, "data_offset")? {
                Json::Null => None,
                offset => Some(decimal(offset)?),
            },
            metadata,
            tensors,
        })
    }
}

/// Text as JSON: a string, or base64 where it is not UTF-8.
#[must_use]
pub fn text(bytes: &[u8]) -> Json {
    match std::str::from_utf8(bytes) {
        Ok(text) => json!(text),
        Err(_) => json!({ "base64": STANDARD.encode(bytes) }),
    }
}

/// A float, the shortest decimal that reads back.
fn float_text(ty: ValueType, bits: u64) -> String {
    match ty {
        ValueType::F32 => f32::from_bits(low32(bits)).to_string(),
        _ => f64::from_bits(bits).to_string(),
    }
}

fn low32(bits: u64) -> u32 {
    u32::try_from(bits & 0xFFFF_FFFF).unwrap_or(0)
}

fn put_array(object: &mut Map<String, Json>, array: &Array) {
    object.insert("items".to_owned(), json!(array.ty.name()));
    match &array.items {
        Items::Fixed(bits) => put_fixed(object, array.ty, bits, true),
        Items::Strings(strings) => {
            object.insert("value".to_owned(), strings.iter().map(|s| text(s)).collect());
        }
        Items::Arrays(arrays) => {
            let inner = arrays.iter().map(|array| {
                let mut object = Map::new();
                put_array(&mut object, array);
                Json::Object(object)
            });
            object.insert("value".to_owned(), inner.collect());
        }
    }
}

/// Puts `value` and, where they say more, `bits` or `byte`: lists for an array, else single.
fn put_fixed(object: &mut Map<String, Json>, ty: ValueType, numbers: &[u64], array: bool) {
    let mut put = |name: &str, values: Vec<Json>| {
        let value = if array { Json::Array(values) } else { values.into_iter().next().unwrap_or(Json::Null) };
        object.insert(name.to_owned(), value);
    };
    match ty {
        ValueType::Bool => {
            put("value", numbers.iter().map(|&b| json!(b != 0)).collect());
            if numbers.iter().any(|&b| b > 1) {
                put("byte", numbers.iter().map(|&b| json!(b)).collect());
            }
        }
        ValueType::F32 | ValueType::F64 => {
            let digits = if ty == ValueType::F32 { 8 } else { 16 };
            put("value", numbers.iter().map(|&b| json!(float_text(ty, b))).collect());
            put("bits", numbers.iter().map(|&b| json!(format!("0x{b:0digits$x}"))).collect());
        }
        _ => put("value", numbers.iter().map(|&b| json!(integer_text(ty, b))).collect()),
    }
}

fn integer_text(ty: ValueType, bits: u64) -> String {
    let signed = |width: u32| {
        let shift = 64 - width;
        ((bits << shift).cast_signed() >> shift).to_string()
    };
    match ty {
        ValueType::I8 => signed(8),
        ValueType::I16 => signed(16),
        ValueType::I32 => signed(32),
        ValueType::I64 => signed(64),
        _ => bits.to_string(),
    }
}

fn from_array(json: &Json) -> Result<Array, String> {
    let ty = value_type(string(json, "items")?)?;
    let values = list(json, "value")?;
    let items = match ty {
        ValueType::String => Items::Strings(values.iter().map(from_text).collect::<Result<_, _>>()?),
        ValueType::Array => Items::Arrays(values.iter().map(from_array).collect::<Result<_, _>>()?),
        _ => Items::Fixed(
            values
                .iter()
                .enumerate()
                .map(|(i, value)| {
                    let beside = |name: &str| json.get(name).and_then(|list| list.get(i));
                    from_fixed(ty, value, beside("bits"), beside("byte"))
                })
                .collect::<Result<_, _>>()?,
        ),
    };
    Ok(Array { ty, items })
}

fn from_fixed(ty: ValueType, value: &Json, bits: Option<&Json>, byte: Option<&Json>) -> Result<u64, String> {
    match ty {
        ValueType::Bool => match byte {
            Some(byte) => byte.as_u64().filter(|&byte| byte < 256).ok_or_else(|| format!("byte: {byte}")),
            None => value.as_bool().map(u64::from).ok_or_else(|| format!("bool: {value}")),
        },
        ValueType::F32 | ValueType::F64 => {
            let bits = bits.and_then(Json::as_str).ok_or("a float without bits")?;
            let digits = bits.strip_prefix("0x").ok_or_else(|| format!("bits: {bits:?}"))?;
            // As many digits as the type has; a sign, which parsing a number would take, is none.
            let width = 2 * ty.size().unwrap_or(8);
            if digits.len() != width || !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
                return Err(format!("bits {bits:?}: not {width} hexadecimal digits"));
            }
            u64::from_str_radix(digits, 16).map_err(|e| format!("bits {bits:?}: {e}"))
        }
        _ => {
            let text = value.as_str().ok_or_else(|| format!("{ty}: {value}"))?;
            let number: i128 = text.parse().map_err(|e| format!("{ty} {text:?}: {e}"))?;
            let width = 8 * ty.size().unwrap_or(8);
            let signed = matches!(ty, ValueType::I8 | ValueType::I16 | ValueType::I32 | ValueType::I64);
            let range = if signed { -(1 << (width - 1))..1 << (width - 1) } else { 0..1i128 << width };
            if !range.contains(&number) {
                return Err(format!("{ty} {text:?}: out of range"));
            }
            // The low bits of a negative number are those that are stored.
            u64::try_from(number & ((1 << width) - 1)).map_err(|e| format!("{ty} {text:?}: {e}"))
        }
    }
}

fn from_text(json: &Json) -> Result<Vec<u8>, String> {
    if let Some(text) = json.as_str() {
        return Ok(text.as_bytes().to_vec());
    }
    let encoded = json.get("base64").and_then(Json::as_str).ok_or_else(|| format!("text: {json}"))?;
    STANDARD.decode(encoded).map_err(|e| format!("base64: {e}"))
}

fn value_type(name: &str) -> Result<ValueType, String> {
    ValueType::from_name(name).ok_or_else(|| format!("no value type {name:?}"))
}

fn field<'a>(json: &'a Json, name: &str) -> Result<&'a Json, String> {
    json.get(name).ok_or_else(|| format!("no {name}"))
}

fn string<'a>(json: &'a Json, name: &str) -> Result<&'a str, String> {
    field(json, name)?.as_str().ok_or_else(|| format!("{name} is not a string"))
}

fn list<'a>(json: &'a Json, name: &str) -> Result<&'a Vec<Json>, String> {
    field(json, name)?.as_array().ok_or_else(|| format!("{name} is not a list"))
}

fn decimal(json: &Json) -> Result<u64, String> {
    json.as_str().and_then(|text| text.parse().ok()).ok_or_else(|| format!("not a decimal string: {json}"))
}

fn number(json: &Json) -> Result<u32, String> {
    json.as_u64().and_then(|n| u32::try_from(n).ok()).ok_or_else(|| format!("not a 32-bit number: {json}"))
}
