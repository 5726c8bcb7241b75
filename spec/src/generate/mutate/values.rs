//! Edits of values.

use rand::{Rng, RngExt};
use rand_chacha::ChaCha8Rng;

use super::any;
use super::numbers::{boundary, interesting, interesting_u32};
use crate::binary::array_size;
use crate::syntax::{Array, ByteOrder, Elements, Pair, RawString, Tree, Value};
use crate::types::{VALUE_TYPES, ValueType};

/// Some type of which values are stored in a fixed number of bytes, and that number.
fn fixed_type(rng: &mut ChaCha8Rng) -> (ValueType, usize) {
    loop {
        let row = &VALUE_TYPES[rng.random_range(0..VALUE_TYPES.len())];
        if let Some(size) = row.size {
            return (row.ty, size);
        }
    }
}

/// A right value of some type: a number mostly, else a string or an array.
pub(super) fn new_value(order: ByteOrder, rng: &mut ChaCha8Rng) -> (u32, Value) {
    match rng.random_range(0..8) {
        0 => (ValueType::String.id(), Value::String(RawString::new("text"))),
        1 | 2 => (ValueType::Array.id(), Value::Array(new_array(order, rng))),
        3 => {
            let inner: Vec<_> = (0..rng.random_range(0..3)).map(|_| new_array(order, rng)).collect();
            let len = inner.len() as u64;
            let outer = Array { type_id: ValueType::Array.id(), len, elements: Elements::Arrays(inner) };
            (ValueType::Array.id(), Value::Array(outer))
        }
        _ => {
            let (ty, size) = fixed_type(rng);
            (ty.id(), Value::Fixed(order.bytes(bits(ty, rng), size)))
        }
    }
}

/// The bits of a number: a bool is 0 or 1.
fn bits(ty: ValueType, rng: &mut ChaCha8Rng) -> u64 {
    if ty == ValueType::Bool { u64::from(rng.random::<bool>()) } else { interesting(rng, 1) }
}

fn new_array(order: ByteOrder, rng: &mut ChaCha8Rng) -> Array {
    let n = rng.random_range(0..4);
    if rng.random_bool(0.4) {
        let strings = (0..n).map(|i| RawString::new(format!("s{i}"))).collect();
        return Array { type_id: ValueType::String.id(), len: n, elements: Elements::Strings(strings) };
    }
    let (ty, size) = fixed_type(rng);
    let bytes = (0..n).flat_map(|_| order.bytes(bits(ty, rng), size)).collect();
    Array { type_id: ty.id(), len: n, elements: Elements::Fixed(bytes) }
}

/// Some pair.
fn any_pair<'t>(tree: &'t mut Tree<'static>, rng: &mut ChaCha8Rng) -> Option<&'t mut Pair> {
    let i = any(tree.metadata.len(), rng)?;
    Some(&mut tree.metadata[i])
}

/// Some array, at any depth.
fn any_array<'t>(tree: &'t mut Tree<'static>, rng: &mut ChaCha8Rng) -> Option<&'t mut Array> {
    let arrays = tree.metadata.iter_mut().filter_map(|pair| match &mut pair.value {
        Value::Array(array) => Some(array),
        Value::Fixed(_) | Value::String(_) => None,
    });
    let mut arrays: Vec<&mut Array> = arrays.collect();
    let i = any(arrays.len(), rng)?;
    let mut array = arrays.swap_remove(i);
    while rng.random_bool(0.6) && matches!(&array.elements, Elements::Arrays(inner) if !inner.is_empty()) {
        let Elements::Arrays(inner) = &mut array.elements else { return None };
        let i = any(inner.len(), rng)?;
        array = &mut inner[i];
    }
    Some(array)
}

/// Another type over the same bytes.
pub(super) fn retag(tree: &mut Tree<'static>, rng: &mut ChaCha8Rng) {
    let type_id = if rng.random_bool(0.4) {
        match any_array(tree, rng) {
            Some(array) => &mut array.type_id,
            None => return,
        }
    } else {
        match any_pair(tree, rng) {
            Some(pair) => &mut pair.type_id,
            None => return,
        }
    };
    *type_id = if rng.random_bool(0.7) { rng.random_range(0..14) } else { interesting_u32(rng, *type_id) };
}

/// Another value, whatever there was.
pub(super) fn revalue(tree: &mut Tree<'static>, rng: &mut ChaCha8Rng) {
    let order = tree.byte_order;
    let Some(pair) = any_pair(tree, rng) else { return };
    (pair.type_id, pair.value) = new_value(order, rng);
}

/// Another number, of the same type.
pub(super) fn renumber(tree: &mut Tree<'static>, rng: &mut ChaCha8Rng) {
    let order = tree.byte_order;
    let (type_id, bytes) = if rng.random_bool(0.3) {
        let Some(Array { type_id, elements: Elements::Fixed(bytes), .. }) = any_array(tree, rng) else { return };
        (*type_id, bytes)
    } else {
        let Some(Pair { type_id, value: Value::Fixed(bytes), .. }) = any_pair(tree, rng) else { return };
        (*type_id, bytes)
    };
    let Some(size) = ValueType::from_id(type_id).and_then(ValueType::size) else { return };
    let Some(i) = any(bytes.len() / size, rng) else { return };
    let place = &mut bytes[i * size..(i + 1) * size];
    let new = order.bytes(interesting(rng, order.number(place)), size);
    place.copy_from_slice(&new);
}

/// A length of an array that is not true.
pub(super) fn miscount(tree: &mut Tree<'static>, rng: &mut ChaCha8Rng) {
    if let Some(array) = any_array(tree, rng) {
        array.len = interesting(rng, array.len);
    }
}

/// Larger arrays are not made larger, in bytes.
const MOST_COPIED: u64 = 4096;

/// More elements or fewer, mostly with a true length.
pub(super) fn resize(tree: &mut Tree<'static>, rng: &mut ChaCha8Rng) {
    let Some(array) = any_array(tree, rng) else { return };
    let len = boundary(rng, 300);
    let size = ValueType::from_id(array.type_id).and_then(ValueType::size).unwrap_or(1);
    // Copies of copies would soon fill the memory.
    if array_size(array, 8) > MOST_COPIED {
        return;
    }
    match &mut array.elements {
        Elements::Fixed(bytes) => bytes.resize(len * size, 1),
        Elements::Strings(strings) => {
            let last = strings.last().cloned().unwrap_or_default();
            strings.resize(len.min(70), last);
        }
        Elements::Arrays(arrays) => {
            let last = arrays.last().cloned().unwrap_or_default();
            arrays.resize(len.min(8), last);
        }
    }
    if rng.random_bool(0.8) {
        array.len = array.elements.len(size) as u64;
    }
}

impl Elements {
    /// How many there are, if those of a fixed size take `size` bytes.
    pub(in crate::generate) fn len(&self, size: usize) -> usize {
        match self {
            Self::Fixed(bytes) => bytes.len() / size,
            Self::Strings(strings) => strings.len(),
            Self::Arrays(arrays) => arrays.len(),
        }
    }
}

/// An array inside more arrays, to where nesting is limited, or one level less.
pub(super) fn nest(tree: &mut Tree<'static>, rng: &mut ChaCha8Rng) {
    let Some(array) = any_array(tree, rng) else { return };
    if let Elements::Arrays(inner) = &mut array.elements
        && rng.random_bool(0.3)
    {
        if let Some(first) = inner.pop() {
            *array = first;
        }
        return;
    }
    for _ in 0..[1, 1, 2, 15, 30, 31, 32][rng.random_range(0..7)] {
        let inner = std::mem::take(array);
        *array = Array { type_id: ValueType::Array.id(), len: 1, elements: Elements::Arrays(vec![inner]) };
    }
}

/// A stated alignment: right, wrong, of another type, or under a key that only some take for it.
pub(super) fn alignment(tree: &mut Tree<'static>, rng: &mut ChaCha8Rng) {
    let order = tree.byte_order;
    let ty = if rng.random_bool(0.8) { ValueType::U32 } else { fixed_type(rng).0 };
    let stated = match rng.random_range(0..4) {
        0 => rng.random_range(0..70),
        1 => interesting(rng, 32),
        _ => 1 << rng.random_range(0..12u32),
    };
    let size = ty.size().unwrap_or(4);
    let key = if rng.random_bool(0.05) { "general.alignment\0" } else { "general.alignment" };
    let pair = Pair { key: key.into(), type_id: ty.id(), value: Value::Fixed(order.bytes(stated, size)) };
    match tree.metadata.iter_mut().find(|pair| pair.key.bytes == b"general.alignment") {
        Some(old) => *old = pair,
        None => {
            let to = usize::try_from(rng.next_u64() % (tree.metadata.len() as u64 + 1)).unwrap_or(0);
            tree.metadata.insert(to, pair);
        }
    }
}
