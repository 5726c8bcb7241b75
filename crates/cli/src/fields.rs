//! The content of each field in words.

use gguf_spec::field::{Field, KvPart, TensorPart, ValuePart};
use gguf_spec::syntax::{Array, ByteOrder, Elements, Tree, Value};
use gguf_spec::types::ValueType;

use crate::facts::type_name;
use crate::text::{count, grouped, quoted};

/// How much of a value is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Characters of a string.
    pub characters: usize,
    /// Elements of an array.
    pub elements: usize,
}

impl Limits {
    /// What fits a line.
    pub const LINE: Self = Self { characters: 60, elements: 6 };
    /// Everything.
    pub const NONE: Self = Self { characters: usize::MAX, elements: usize::MAX };
}

/// The name of a value type, or its number if it has none.
#[must_use]
pub fn value_type_name(id: u32) -> String {
    ValueType::from_id(id).map_or_else(|| format!("type {id}"), |ty| ty.name().to_owned())
}

/// The number or bool that is stored in these bytes.
#[must_use]
pub fn fixed(ty: Option<ValueType>, bytes: &[u8], order: ByteOrder) -> String {
    let bits = order.number(&bytes[..bytes.len().min(8)]);
    let signed = |width: u32| ((bits << (64 - width)).cast_signed() >> (64 - width)).to_string();
    match ty {
        Some(ValueType::I8) => signed(8),
        Some(ValueType::I16) => signed(16),
        Some(ValueType::I32) => signed(32),
        Some(ValueType::I64) => signed(64),
        Some(ValueType::Bool) => match bits {
            0 => "false".to_owned(),
            1 => "true".to_owned(),
            other => format!("true (byte {other})"),
        },
        Some(ValueType::F32) => {
            u32::try_from(bits).map_or_else(|_| bits.to_string(), |b| format!("{:?}", f32::from_bits(b)))
        }
        Some(ValueType::F64) => format!("{:?}", f64::from_bits(bits)),
        _ => bits.to_string(),
    }
}

/// The type of a value: `u32`, `array of 3 string`.
#[must_use]
pub fn type_of(type_id: u32, value: &Value) -> String {
    match value {
        Value::Array(array) => format!("array of {} {}", grouped(array.len), value_type_name(array.type_id)),
        Value::Fixed(_) | Value::String(_) => value_type_name(type_id),
    }
}

/// A value in words.
#[must_use]
pub fn value(type_id: u32, value: &Value, order: ByteOrder, limits: Limits) -> String {
    match value {
        Value::Fixed(bytes) if bytes.is_empty() => "not read".to_owned(),
        Value::Fixed(bytes) => fixed(ValueType::from_id(type_id), bytes, order),
        Value::String(string) => quoted(&string.bytes, limits.characters),
        Value::Array(inner) => array(inner, order, limits),
    }
}

/// The elements of an array in words; of nested arrays too. Recursion is as deep as decoding allows.
fn array(array: &Array, order: ByteOrder, limits: Limits) -> String {
    let ty = ValueType::from_id(array.type_id);
    let (mut shown, all): (Vec<String>, usize) = match &array.elements {
        Elements::Fixed(bytes) => {
            let size = ty.and_then(ValueType::size).unwrap_or(1);
            let items = bytes.chunks(size).take(limits.elements).map(|chunk| fixed(ty, chunk, order));
            (items.collect(), bytes.len() / size)
        }
        Elements::Strings(strings) => {
            let characters = limits.characters.min(limits.characters.max(72) / 3);
            let items = strings.iter().take(limits.elements).map(|s| quoted(&s.bytes, characters));
            (items.collect(), strings.len())
        }
        Elements::Arrays(arrays) => {
            let items = arrays.iter().take(limits.elements).map(|inner| self::array(inner, order, limits));
            (items.collect(), arrays.len())
        }
    };
    if all > shown.len() {
        shown.push("…".to_owned());
    }
    format!("[{}]", shown.join(", "))
}

/// What a field belongs to: the key of its pair or the name of its tensor. `None` for other fields,
/// and for keys and names themselves, which say so.
#[must_use]
pub fn owner<'t>(tree: &'t Tree<'_>, field: &Field) -> Option<&'t [u8]> {
    match field {
        Field::Kv(_, KvPart::KeyLen | KvPart::Key) | Field::Tensor(_, TensorPart::NameLen | TensorPart::Name) => None,
        Field::Kv(i, _) => Some(&tree.metadata.get(*i)?.key.bytes),
        Field::Tensor(i, _) | Field::Data(i) | Field::DataPadding(i) => Some(&tree.tensors.get(*i)?.name.bytes),
        _ => None,
    }
}

/// What a whole field says of a pair or tensor info that is not: no tree has it. `bytes` are its first ones, 256 at
/// the most, of `len`.
#[must_use]
pub fn content_of_unfinished(field: &Field, bytes: &[u8], len: u64, order: ByteOrder) -> String {
    let number = || order.number(&bytes[..bytes.len().min(8)]);
    let id = || u32::try_from(number()).unwrap_or(u32::MAX);
    match field {
        Field::Kv(_, KvPart::Key | KvPart::Value(_, ValuePart::Whole)) => quoted(bytes, 60),
        Field::Tensor(_, TensorPart::Name) => quoted(bytes, 64),
        Field::Kv(_, KvPart::Type | KvPart::Value(_, ValuePart::ElementType)) => {
            format!("{} ({})", id(), value_type_name(id()))
        }
        Field::Tensor(_, TensorPart::Type) => format!("{} ({})", id(), type_name(id())),
        Field::Kv(_, KvPart::KeyLen | KvPart::Value(_, ValuePart::Len)) | Field::Tensor(..) => grouped(number()),
        _ => count(len, "byte"),
    }
}

/// What a field says. `bytes` is how many bytes it has.
#[must_use]
pub fn content(tree: &Tree<'_>, field: &Field, bytes: u64) -> String {
    match field {
        Field::Magic => quoted(&tree.magic, 16),
        Field::Version => format!("{} ({}-endian)", tree.version, tree.byte_order.name()),
        Field::TensorCount => grouped(tree.tensor_count),
        Field::KvCount => grouped(tree.kv_count),
        Field::Kv(i, part) => tree.metadata.get(*i).map_or_else(String::new, |pair| match part {
            KvPart::KeyLen => grouped(pair.key.len),
            KvPart::Key => quoted(&pair.key.bytes, 60),
            KvPart::Type => format!("{} ({})", pair.type_id, value_type_name(pair.type_id)),
            KvPart::Value(path, part) => value_part(tree.byte_order, pair.type_id, &pair.value, path, *part),
        }),
        Field::Tensor(i, part) => tree.tensors.get(*i).map_or_else(String::new, |tensor| match part {
            TensorPart::NameLen => grouped(tensor.name.len),
            TensorPart::Name => quoted(&tensor.name.bytes, 64),
            TensorPart::NDims => tensor.n_dims.to_string(),
            TensorPart::Dim(j) => tensor.dims.get(*j).map_or_else(String::new, grouped),
            TensorPart::Type => format!("{} ({})", tensor.type_id, type_name(tensor.type_id)),
            TensorPart::Offset => grouped(tensor.offset),
        }),
        Field::Data(i) => tree.tensors.get(*i).map_or_else(String::new, |tensor| {
            format!("{} {} {}", quoted(&tensor.name.bytes, 64), type_name(tensor.type_id), shape(&tensor.dims))
        }),
        Field::Padding | Field::DataPadding(_) | Field::Gap | Field::Trailing | Field::Unread => count(bytes, "byte"),
        Field::MetadataEnd => String::new(),
    }
}

fn value_part(order: ByteOrder, type_id: u32, value: &Value, path: &[usize], part: ValuePart) -> String {
    if let (Value::Array(outer), true) = (value, !path.is_empty() || part != ValuePart::Whole) {
        return element_part(order, outer, path, part);
    }
    match (value, part) {
        (Value::String(string), ValuePart::Len) => grouped(string.len),
        _ => self::value(type_id, value, order, Limits::LINE),
    }
}

fn element_part(order: ByteOrder, outer: &Array, path: &[usize], part: ValuePart) -> String {
    let mut array = outer;
    for (depth, &j) in path.iter().enumerate() {
        match &array.elements {
            Elements::Arrays(arrays) => match arrays.get(j) {
                Some(inner) => array = inner,
                None => return String::new(),
            },
            Elements::Strings(strings) if depth + 1 == path.len() => {
                return strings.get(j).map_or_else(String::new, |string| match part {
                    ValuePart::Len => grouped(string.len),
                    _ => quoted(&string.bytes, Limits::LINE.characters),
                });
            }
            Elements::Strings(_) | Elements::Fixed(_) => return String::new(),
        }
    }
    match part {
        ValuePart::Len => grouped(array.len),
        ValuePart::ElementType => format!("{} ({})", array.type_id, value_type_name(array.type_id)),
        ValuePart::Whole | ValuePart::Elements => self::array(array, order, Limits::LINE),
    }
}

/// The shape of a tensor, the length of a row first: `[576, 49152]`.
#[must_use]
pub fn shape(dims: &[u64]) -> String {
    let dims: Vec<_> = dims.iter().map(u64::to_string).collect();
    format!("[{}]", dims.join(", "))
}
