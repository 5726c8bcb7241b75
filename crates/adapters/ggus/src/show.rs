//! What ggus has read, as a document.

use assay_adapter::Answer;
use gguf_spec::document::{self, Array, Document, Items};
use gguf_spec::syntax::ByteOrder;
use gguf_spec::types::{TensorType, TypeStatus, ValueType};
use ggus::{GGuf, GGufMetaDataValueType as Type, GGufMetaKV, GGufReadError, GGufReader};

/// The last tensor type that ggus knows, BF16. Those behind it in its list have no size.
const LAST_TYPE: u32 = 30;

/// The names of the tensor types that ggus has sizes of.
pub(crate) fn types() -> Vec<&'static str> {
    let known = (0..=LAST_TYPE).filter_map(TensorType::from_id);
    known.filter(|row| row.status != TypeStatus::Removed).map(|row| row.name).collect()
}

/// The answer for a file that was read out of these bytes.
pub(crate) fn answer(file: &GGuf<'_>, bytes: &[u8]) -> Answer {
    match document(file, bytes) {
        Ok(document) => {
            let mut json = document.to_json();
            if let Some(members) = json.as_object_mut() {
                // Stood in for below, because ggus does not tell it.
                members.remove("byte_order");
            }
            Answer::Accepted { document: json, omits: Vec::new() }
        }
        Err(error) => Answer::Rejected { message: format!("reading a value: {error:?}") },
    }
}

fn document(file: &GGuf<'_>, bytes: &[u8]) -> Result<Document, GGufReadError> {
    // The data is a part of the bytes of the file.
    let offset = file.data.as_ptr().addr() - bytes.as_ptr().addr();
    let pairs = file.meta_kvs.iter().map(|(key, pair)| Ok((key.as_bytes().to_vec(), value(pair)?)));
    let tensors = file.tensors.iter().map(|(name, meta)| {
        let info = meta.to_info();
        document::Tensor {
            name: name.as_bytes().to_vec(),
            type_id: info.ty() as u32,
            ne: info.shape().to_vec(),
            offset: info.offset() as u64,
        }
    });
    Ok(Document {
        version: file.header.version,
        byte_order: ByteOrder::Little,
        alignment: file.alignment as u64,
        data_offset: (!file.tensors.is_empty()).then_some(offset as u64),
        metadata: pairs.collect::<Result<_, _>>()?,
        tensors: tensors.collect(),
    })
}

fn value(pair: &GGufMetaKV<'_>) -> Result<document::Value, GGufReadError> {
    let mut reader = pair.value_reader();
    Ok(match pair.ty() {
        Type::String => document::Value::String(reader.read_str()?.as_bytes().to_vec()),
        Type::Array => document::Value::Array(array(&mut reader)?),
        ty => document::Value::Fixed(name(ty), number(&mut reader, ty)?),
    })
}

/// An array, and those in it. Nesting is bounded by the bytes that ggus takes for the value: it follows
/// arrays in arrays by recursion of its own, and has come back from that.
fn array(reader: &mut GGufReader<'_>) -> Result<Array, GGufReadError> {
    let (ty, len) = reader.read_arr_header()?;
    let items = match ty {
        Type::String => {
            Items::Strings((0..len).map(|_| Ok(reader.read_str()?.as_bytes().to_vec())).collect::<Result<_, _>>()?)
        }
        Type::Array => Items::Arrays((0..len).map(|_| array(reader)).collect::<Result<_, _>>()?),
        _ => Items::Fixed((0..len).map(|_| number(reader, ty)).collect::<Result<_, _>>()?),
    };
    Ok(Array { ty: name(ty), items })
}

/// A number or bool as its bits, as an unsigned number.
fn number(reader: &mut GGufReader<'_>, ty: Type) -> Result<u64, GGufReadError> {
    Ok(match ty {
        Type::U8 => reader.read::<u8>()?.into(),
        Type::I8 => reader.read::<i8>()?.cast_unsigned().into(),
        Type::U16 => reader.read::<u16>()?.into(),
        Type::I16 => reader.read::<i16>()?.cast_unsigned().into(),
        Type::U32 => reader.read::<u32>()?.into(),
        Type::I32 => reader.read::<i32>()?.cast_unsigned().into(),
        Type::F32 => reader.read::<f32>()?.to_bits().into(),
        Type::Bool => reader.read_bool()?.into(),
        Type::U64 => reader.read::<u64>()?,
        Type::I64 => reader.read::<i64>()?.cast_unsigned(),
        Type::F64 => reader.read::<f64>()?.to_bits(),
        Type::String | Type::Array => panic!("a {} is no number", ty.name()),
    })
}

fn name(ty: Type) -> ValueType {
    match ty {
        Type::U8 => ValueType::U8,
        Type::I8 => ValueType::I8,
        Type::U16 => ValueType::U16,
        Type::I16 => ValueType::I16,
        Type::U32 => ValueType::U32,
        Type::I32 => ValueType::I32,
        Type::F32 => ValueType::F32,
        Type::Bool => ValueType::Bool,
        Type::String => ValueType::String,
        Type::Array => ValueType::Array,
        Type::U64 => ValueType::U64,
        Type::I64 => ValueType::I64,
        Type::F64 => ValueType::F64,
    }
}
