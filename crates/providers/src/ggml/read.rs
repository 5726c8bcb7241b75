//! What the interface shows of a file, as a document.

use std::ffi::c_int;

use gguf_spec::document::{Array, Document, Items, Tensor, Value};
use gguf_spec::syntax::ByteOrder;
use gguf_spec::types::ValueType;

use super::Error;
use super::abi::Context;

/// The byte order of this machine, which is the only one ggml reads.
const HOST_ORDER: ByteOrder = if cfg!(target_endian = "big") { ByteOrder::Big } else { ByteOrder::Little };

pub(super) fn document(context: &Context<'_>) -> Result<Document, Error> {
    let tensors = context.tensors();
    Ok(Document {
        version: context.version(),
        byte_order: HOST_ORDER,
        alignment: context.alignment() as u64,
        data_offset: (tensors > 0).then(|| context.data_offset() as u64),
        metadata: (0..context.pairs())
            .map(|id| Ok((context.key(id), value(context, id)?)))
            .collect::<Result<_, Error>>()?,
        tensors: (0..tensors).map(|id| tensor(context, id)).collect::<Result<_, Error>>()?,
    })
}

fn value(context: &Context<'_>, id: i64) -> Result<Value, Error> {
    let refused = |what: &str| Error::Answer { what: format!("{what} for pair {id}") };
    let ty = value_type(context.value_type(id)).ok_or_else(|| refused("an unassigned value type"))?;
    match ty {
        ValueType::String => context.string(id).map(Value::String).ok_or_else(|| refused("no string")),
        ValueType::Array => {
            let items = context.element_type(id).and_then(value_type);
            let items = items.ok_or_else(|| refused("an unassigned element type"))?;
            let items = match items {
                ValueType::String => (items, context.strings(id).map(Items::Strings)),
                _ => {
                    (items, items.size().and_then(|size| Some(Items::Fixed(words(&context.numbers(id, size)?, size)))))
                }
            };
            match items {
                (ty, Some(items)) => Ok(Value::Array(Array { ty, items })),
                (_, None) => Err(refused("an array of arrays")),
            }
        }
        _ => ty
            .size()
            .and_then(|size| context.number(id, size))
            .map(|bytes| Value::Fixed(ty, HOST_ORDER.number(&bytes)))
            .ok_or_else(|| refused("no number")),
    }
}

/// The numbers of `size` bytes, as unsigned numbers of the same bits.
fn words(bytes: &[u8], size: usize) -> Vec<u64> {
    bytes.chunks_exact(size).map(|chunk| HOST_ORDER.number(chunk)).collect()
}

fn value_type(id: c_int) -> Option<ValueType> {
    ValueType::from_id(u32::try_from(id).ok()?)
}

fn tensor(context: &Context<'_>, id: i64) -> Result<Tensor, Error> {
    let negative = |what: &str| Error::Answer { what: format!("a negative {what} for tensor {id}") };
    Ok(Tensor {
        name: context.tensor_name(id),
        type_id: u32::try_from(context.tensor_type(id)).map_err(|_| negative("type"))?,
        ne: context
            .tensor_ne(id)
            .into_iter()
            .map(|dim| u64::try_from(dim).map_err(|_| negative("dimension")))
            .collect::<Result<_, Error>>()?,
        offset: context.tensor_offset(id) as u64,
    })
}
