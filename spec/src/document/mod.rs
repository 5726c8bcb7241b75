//! What a file says: the canonical form in which readers are compared.
//!
//! A document holds meaning, not layout: keys and values in file order, tensor names, shapes, types
//! and offsets. Numbers are kept as bits, so that every NaN is itself. The JSON form ([`json`]) tags
//! every value with its type and writes 64-bit numbers as strings.

pub mod json;

use crate::binary::Decoded;
use crate::profile::{KeyLookup, c_string};
use crate::syntax::{self, ByteOrder, Elements, Tree};
use crate::types::ValueType;
use crate::valid::layout::alignment;

/// What a file says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    /// The version of the format.
    pub version: u32,
    /// The byte order of the file.
    pub byte_order: ByteOrder,
    /// The alignment in force, in bytes.
    pub alignment: u64,
    /// Where the tensor data starts, in bytes from the start of the file; `None` without tensors.
    pub data_offset: Option<u64>,
    /// The pairs, in file order.
    pub metadata: Vec<(Vec<u8>, Value)>,
    /// The tensors, in table order.
    pub tensors: Vec<Tensor>,
}

/// A value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// A number or bool, as an unsigned number of the same bits; a bool is its byte.
    Fixed(ValueType, u64),
    /// A string.
    String(Vec<u8>),
    /// An array.
    Array(Array),
}

/// An array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Array {
    /// The type of the elements.
    pub ty: ValueType,
    /// The elements.
    pub items: Items,
}

/// The elements of an array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Items {
    /// Numbers or bools, as unsigned numbers of the same bits.
    Fixed(Vec<u64>),
    /// Strings.
    Strings(Vec<Vec<u8>>),
    /// Arrays.
    Arrays(Vec<Array>),
}

/// A tensor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tensor {
    /// The name.
    pub name: Vec<u8>,
    /// The number of the type.
    pub type_id: u32,
    /// The dimensions, the length of a row first.
    pub ne: Vec<u64>,
    /// Where the data starts, in bytes from the start of the tensor data.
    pub offset: u64,
}

impl Document {
    /// The document of a decoded input; `None` if it was not decoded to the end of the tensor table,
    /// or has a value of no known type.
    #[must_use]
    pub fn of(decoded: &Decoded<'_>, lookup: KeyLookup) -> Option<Self> {
        let tree = decoded.tree.as_ref().filter(|_| decoded.complete)?;
        let base = decoded.places.base;
        let alignment = alignment(tree, lookup);
        let header = u128::from(decoded.places.table_end - base);
        let start = u64::try_from(crate::valid::layout::pad(header, alignment)).ok()?;
        Some(Self {
            version: tree.version,
            byte_order: tree.byte_order,
            alignment,
            data_offset: (!tree.tensors.is_empty()).then_some(start),
            metadata: tree
                .metadata
                .iter()
                .map(|pair| Some((pair.key.bytes.clone(), value(tree, pair)?)))
                .collect::<Option<_>>()?,
            tensors: tree
                .tensors
                .iter()
                .map(|tensor| Tensor {
                    name: tensor.name.bytes.clone(),
                    type_id: tensor.type_id,
                    ne: tensor.dims.clone(),
                    offset: tensor.offset,
                })
                .collect(),
        })
    }

    /// This document as it looks through ggml's C interface: strings end at their first NUL, bools
    /// are 0 or 1, and shapes have four dimensions.
    #[must_use]
    pub fn through_c(&self) -> Self {
        let cut = |bytes: &[u8]| c_string(bytes).to_vec();
        Self {
            metadata: self.metadata.iter().map(|(key, value)| (cut(key), value.through_c())).collect(),
            tensors: self
                .tensors
                .iter()
                .map(|tensor| Tensor {
                    name: cut(&tensor.name),
                    ne: tensor.ne.iter().copied().chain(std::iter::repeat(1)).take(4.max(tensor.ne.len())).collect(),
                    ..tensor.clone()
                })
                .collect(),
            ..self.clone()
        }
    }
}

impl Value {
    fn through_c(&self) -> Self {
        match self {
            Self::Fixed(ty, bits) => Self::Fixed(*ty, normalised(*ty, *bits)),
            Self::String(bytes) => Self::String(c_string(bytes).to_vec()),
            Self::Array(array) => Self::Array(Array {
                ty: array.ty,
                items: match &array.items {
                    Items::Fixed(bits) => Items::Fixed(bits.iter().map(|&b| normalised(array.ty, b)).collect()),
                    Items::Strings(strings) => Items::Strings(strings.iter().map(|s| c_string(s).to_vec()).collect()),
                    Items::Arrays(arrays) => Items::Arrays(arrays.clone()),
                },
            }),
        }
    }
}

fn normalised(ty: ValueType, bits: u64) -> u64 {
    if ty == ValueType::Bool { u64::from(bits != 0) } else { bits }
}

fn value(tree: &Tree<'_>, pair: &syntax::Pair) -> Option<Value> {
    let ty = ValueType::from_id(pair.type_id)?;
    Some(match &pair.value {
        syntax::Value::Fixed(bytes) => Value::Fixed(ty, tree.byte_order.number(bytes)),
        syntax::Value::String(string) => Value::String(string.bytes.clone()),
        syntax::Value::Array(inner) => Value::Array(array_of(tree, inner)?),
    })
}

fn array_of(tree: &Tree<'_>, array: &syntax::Array) -> Option<Array> {
    let ty = ValueType::from_id(array.type_id)?;
    let items = match &array.elements {
        Elements::Fixed(bytes) => {
            let size = ty.size().unwrap_or(1);
            Items::Fixed(bytes.chunks(size).map(|chunk| tree.byte_order.number(chunk)).collect())
        }
        Elements::Strings(strings) => Items::Strings(strings.iter().map(|s| s.bytes.clone()).collect()),
        Elements::Arrays(arrays) => {
            Items::Arrays(arrays.iter().map(|inner| array_of(tree, inner)).collect::<Option<_>>()?)
        }
    };
    Some(Array { ty, items })
}
