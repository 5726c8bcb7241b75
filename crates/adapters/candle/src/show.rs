//! What candle has read, as a document.

use assay_adapter::Answer;
use candle_core::quantized::GgmlDType;
use candle_core::quantized::gguf_file::{Content, TensorInfo, Value, VersionedMagic};
use gguf_spec::document::{self, Array, Document, Items};
use gguf_spec::syntax::ByteOrder;
use gguf_spec::types::{TensorType, ValueType};
use serde_json::Value as Json;

/// The tensor types that candle knows, by the names of the format.
pub(crate) const TYPES: [(GgmlDType, &str); 15] = [
    (GgmlDType::F32, "F32"),
    (GgmlDType::F16, "F16"),
    (GgmlDType::Q4_0, "Q4_0"),
    (GgmlDType::Q4_1, "Q4_1"),
    (GgmlDType::Q5_0, "Q5_0"),
    (GgmlDType::Q5_1, "Q5_1"),
    (GgmlDType::Q8_0, "Q8_0"),
    (GgmlDType::Q8_1, "Q8_1"),
    (GgmlDType::Q2K, "Q2_K"),
    (GgmlDType::Q3K, "Q3_K"),
    (GgmlDType::Q4K, "Q4_K"),
    (GgmlDType::Q5K, "Q5_K"),
    (GgmlDType::Q6K, "Q6_K"),
    (GgmlDType::Q8K, "Q8_K"),
    (GgmlDType::BF16, "BF16"),
];

/// The answer for a file that was read. The maps are shown sorted, so that two runs say the same.
pub(crate) fn answer(content: &Content) -> Answer {
    let mut pairs: Vec<_> = content.metadata.iter().collect();
    pairs.sort_by_key(|(key, _)| *key);
    let mut tensors: Vec<_> = content.tensor_infos.iter().collect();
    tensors.sort_by_key(|(name, _)| *name);

    let document = Document {
        version: match content.magic {
            VersionedMagic::GgufV1 => 1,
            VersionedMagic::GgufV2 => 2,
            VersionedMagic::GgufV3 => 3,
        },
        byte_order: ByteOrder::Little,
        alignment: 0,
        data_offset: (!tensors.is_empty()).then_some(content.tensor_data_offset),
        metadata: pairs.iter().map(|(key, value)| (key.as_bytes().to_vec(), shown(value))).collect(),
        tensors: tensors.iter().map(|(name, info)| tensor(name, info)).collect(),
    };
    let mut json = document.to_json();
    if let Some(members) = json.as_object_mut() {
        // Stood in for above, because candle does not keep them.
        members.remove("byte_order");
        members.remove("alignment");
    }
    let mut omits = Vec::new();
    for (i, (_, value)) in pairs.iter().enumerate() {
        if hide_lost_types(value, &mut json["metadata"][i]) {
            omits.push(format!("metadata[{i}].type"));
        }
    }
    Answer::Accepted { document: json, omits }
}

fn shown(value: &Value) -> document::Value {
    match value {
        Value::String(text) => document::Value::String(text.as_bytes().to_vec()),
        Value::Array(items) => document::Value::Array(array(items)),
        _ => {
            let (ty, bits) = fixed(value).expect("neither a string nor an array");
            document::Value::Fixed(ty, bits)
        }
    }
}

/// A number or bool: its type and, as an unsigned number, its bits.
fn fixed(value: &Value) -> Option<(ValueType, u64)> {
    Some(match *value {
        Value::U8(v) => (ValueType::U8, u64::from(v)),
        Value::I8(v) => (ValueType::I8, u64::from(v.cast_unsigned())),
        Value::U16(v) => (ValueType::U16, u64::from(v)),
        Value::I16(v) => (ValueType::I16, u64::from(v.cast_unsigned())),
        Value::U32(v) => (ValueType::U32, u64::from(v)),
        Value::I32(v) => (ValueType::I32, u64::from(v.cast_unsigned())),
        Value::U64(v) => (ValueType::U64, v),
        Value::I64(v) => (ValueType::I64, v.cast_unsigned()),
        Value::F32(v) => (ValueType::F32, u64::from(v.to_bits())),
        Value::F64(v) => (ValueType::F64, v.to_bits()),
        Value::Bool(v) => (ValueType::Bool, u64::from(v)),
        Value::String(_) | Value::Array(_) => return None,
    })
}

/// The depth of nesting is bounded by the reader, which stops at 64.
fn array(items: &[Value]) -> Array {
    match items.first() {
        // Of an array of none the type is lost; `hide_lost_types` takes this one out again.
        None => Array { ty: ValueType::U8, items: Items::Fixed(Vec::new()) },
        Some(Value::String(_)) => {
            let texts = items.iter().map(|item| match item {
                Value::String(text) => text.as_bytes().to_vec(),
                other => panic!("an array of strings holds {other:?}"),
            });
            Array { ty: ValueType::String, items: Items::Strings(texts.collect()) }
        }
        Some(Value::Array(_)) => {
            let arrays = items.iter().map(|item| match item {
                Value::Array(inner) => array(inner),
                other => panic!("an array of arrays holds {other:?}"),
            });
            Array { ty: ValueType::Array, items: Items::Arrays(arrays.collect()) }
        }
        Some(first) => {
            let (ty, _) = fixed(first).expect("neither a string nor an array");
            let numbers = items.iter().map(|item| match fixed(item) {
                Some((same, bits)) if same == ty => bits,
                _ => panic!("an array of {ty} holds {item:?}"),
            });
            Array { ty, items: Items::Fixed(numbers.collect()) }
        }
    }
}

/// Takes the element types of empty arrays out of the JSON of a value; whether there were any.
fn hide_lost_types(value: &Value, json: &mut Json) -> bool {
    let Value::Array(items) = value else { return false };
    if items.is_empty() {
        if let Some(members) = json.as_object_mut() {
            members.remove("items");
        }
        return true;
    }
    let mut hidden = false;
    for (i, item) in items.iter().enumerate() {
        hidden |= hide_lost_types(item, &mut json["value"][i]);
    }
    hidden
}

fn tensor(name: &str, info: &TensorInfo) -> document::Tensor {
    let (_, known) = TYPES.iter().find(|(ty, _)| *ty == info.ggml_dtype).expect("a type of the table");
    document::Tensor {
        name: name.as_bytes().to_vec(),
        type_id: TensorType::from_name(known).expect("a name of the format").id,
        // candle has the longest stride first, files the length of a row.
        ne: info.shape.dims().iter().rev().map(|&dim| dim as u64).collect(),
        offset: info.offset,
    }
}
