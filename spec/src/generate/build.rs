//! Building trees by hand: counts, offsets, padding and data follow from what was put in.

use std::borrow::Cow;

use crate::binary::Places;
use crate::limits::{MAGIC, VERSION};
use crate::profile::KeyLookup;
use crate::syntax::{Array, ByteOrder, Elements, Pair, RawString, TensorInfo, Tree, Value};
use crate::types::ValueType;
use crate::valid::layout::{DataLayout, alignment, pad};

/// A tree in the making. Numbers are given in little-endian bytes; [`Builder::finish`] swaps them
/// for a big-endian file.
#[derive(Clone, Debug)]
pub struct Builder {
    /// The version; 3 unless set.
    pub version: u32,
    /// The byte order; little unless set.
    pub byte_order: ByteOrder,
    /// The pairs.
    pub metadata: Vec<Pair>,
    /// The tensors; their offsets are set by [`Builder::finish`].
    pub tensors: Vec<TensorInfo>,
    /// The byte that fills tensor data, plus the position of each byte; padding is zero.
    pub fill: u8,
}

impl Default for Builder {
    fn default() -> Self {
        Self { version: VERSION, byte_order: ByteOrder::Little, metadata: Vec::new(), tensors: Vec::new(), fill: 1 }
    }
}

/// Tensor data up to this size is written out; larger declared sizes are left to be missing.
const MOST_DATA: u128 = 1 << 20;

impl Builder {
    /// A builder with `general.architecture`, the one key every file must have.
    #[must_use]
    pub fn new() -> Self {
        Self { metadata: vec![pair("general.architecture", string("llama"))], ..Self::default() }
    }

    /// Adds a pair, in the place of one with the same key if there is one.
    pub fn set(&mut self, new: Pair) -> &mut Self {
        match self.metadata.iter_mut().find(|pair| pair.key == new.key) {
            Some(old) => *old = new,
            None => self.metadata.push(new),
        }
        self
    }

    /// Adds a tensor.
    pub fn add(&mut self, tensor: TensorInfo) -> &mut Self {
        self.tensors.push(tensor);
        self
    }

    /// The finished tree: counts, offsets, padding and data are those of a right file as far as that
    /// is possible. Tensors without a size take no room.
    #[must_use]
    pub fn finish(&self) -> Tree<'static> {
        let mut tree = Tree {
            byte_order: ByteOrder::Little,
            magic: MAGIC,
            version: self.version,
            tensor_count: self.tensors.len() as u64,
            kv_count: self.metadata.len() as u64,
            metadata: self.metadata.clone(),
            tensors: self.tensors.clone(),
            padding: Vec::new(),
            rest: Cow::Borrowed(&[]),
        };
        lay_out(&mut tree, self.fill, MOST_DATA);
        if self.byte_order == ByteOrder::Big { swapped(tree) } else { tree }
    }
}

/// Sets offsets, padding and data to those of a right file, as far as the shapes allow it; data of over
/// `most` bytes is left as it is.
pub(super) fn lay_out(tree: &mut Tree<'_>, fill: u8, most: u128) {
    let alignment = alignment(tree, KeyLookup::CString);
    let places = Places::of(tree, 0);
    let layout = DataLayout::of(tree, &places, KeyLookup::CString);
    let mut at = 0u128;
    for (tensor, placed) in tree.tensors.iter_mut().zip(&layout.tensors) {
        tensor.offset = u64::try_from(at).unwrap_or(u64::MAX);
        let padded = pad(placed.size.unwrap_or(0), alignment);
        at = (at + if padded > u128::from(u64::MAX) { 0 } else { padded }).min(u128::from(u64::MAX));
    }
    if at <= most {
        let mut data = Vec::new();
        for placed in &layout.tensors {
            let size = placed.size.filter(|&size| size <= most).unwrap_or(0);
            for i in 0..size {
                data.push(fill.wrapping_add((i % 251) as u8));
            }
            let padded = usize::try_from(pad(data.len() as u128, alignment)).unwrap_or(data.len());
            data.resize(padded.min(1 << 22), 0);
        }
        tree.rest = Cow::Owned(data);
    }
    pad_to_data(tree);
}

/// Sets the padding before the data to what the alignment wants.
pub(super) fn pad_to_data(tree: &mut Tree<'_>) {
    let places = Places::of(tree, 0);
    let layout = DataLayout::of(tree, &places, KeyLookup::CString);
    let padding = layout.start.saturating_sub(places.table_end);
    if !tree.tensors.is_empty() || padding < 4096 {
        tree.padding = vec![0; usize::try_from(padding).unwrap_or(0).min(1 << 20)];
    }
}

/// The same file in the other byte order; tensor data is left as it is.
#[must_use]
pub(super) fn swapped(mut tree: Tree<'static>) -> Tree<'static> {
    tree.byte_order = match tree.byte_order {
        ByteOrder::Little => ByteOrder::Big,
        ByteOrder::Big => ByteOrder::Little,
    };
    for pair in &mut tree.metadata {
        match &mut pair.value {
            Value::Fixed(bytes) => swap(bytes, pair.type_id),
            Value::String(_) => {}
            Value::Array(array) => swap_array(array),
        }
    }
    tree
}

fn swap_array(array: &mut Array) {
    match &mut array.elements {
        Elements::Fixed(bytes) => swap(bytes, array.type_id),
        Elements::Strings(_) => {}
        // Recursion is as deep as the tree, which was decoded within the limit or built.
        Elements::Arrays(arrays) => arrays.iter_mut().for_each(swap_array),
    }
}

fn swap(bytes: &mut [u8], type_id: u32) {
    let size = ValueType::from_id(type_id).and_then(ValueType::size).unwrap_or(1);
    for chunk in bytes.chunks_mut(size) {
        chunk.reverse();
    }
}

/// A pair whose type follows from its value: `(type, value)` as made by [`scalar`], [`string`] or
/// [`string_array`].
#[must_use]
pub fn pair(key: impl AsRef<[u8]>, (type_id, value): (u32, Value)) -> Pair {
    Pair { key: RawString::new(key.as_ref()), type_id, value }
}

/// A number or bool from its bits.
#[must_use]
pub fn scalar(ty: ValueType, bits: u64) -> (u32, Value) {
    (ty.id(), Value::Fixed(ByteOrder::Little.bytes(bits, ty.size().unwrap_or(8))))
}

/// A string.
#[must_use]
pub fn string(bytes: impl AsRef<[u8]>) -> (u32, Value) {
    (ValueType::String.id(), Value::String(RawString::new(bytes.as_ref())))
}

/// An array of strings.
#[must_use]
pub fn string_array<S: AsRef<[u8]>>(strings: &[S]) -> (u32, Value) {
    let elements = strings.iter().map(|s| RawString::new(s.as_ref())).collect();
    array(Array { type_id: ValueType::String.id(), len: strings.len() as u64, elements: Elements::Strings(elements) })
}

/// An array as a value.
#[must_use]
pub fn array(array: Array) -> (u32, Value) {
    (ValueType::Array.id(), Value::Array(array))
}

/// An array of numbers or bools from their bits.
#[must_use]
pub fn fixed_array(ty: ValueType, bits: &[u64]) -> Array {
    let size = ty.size().unwrap_or(8);
    let bytes = bits.iter().flat_map(|&b| ByteOrder::Little.bytes(b, size)).collect();
    Array { type_id: ty.id(), len: bits.len() as u64, elements: Elements::Fixed(bytes) }
}

/// A tensor info with a true number of dimensions; its offset is set later.
#[must_use]
pub fn tensor(name: impl AsRef<[u8]>, type_id: u32, dims: &[u64]) -> TensorInfo {
    TensorInfo {
        name: RawString::new(name.as_ref()),
        n_dims: u32::try_from(dims.len()).unwrap_or(u32::MAX),
        dims: dims.to_vec(),
        type_id,
        offset: 0,
    }
}
