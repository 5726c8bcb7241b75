//! Where each field of a tree lies. Encoding and placing are one walk, so they cannot disagree.

use std::ops::Range;

use crate::field::{Field, KvPart, TensorPart, ValuePart};
use crate::syntax::{Array, Elements, RawString, Tree, Value, length_width};
use crate::valid::layout::DataLayout;

/// A field and its bytes, counted from the start of the input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    /// The field.
    pub field: Field,
    /// Its bytes.
    pub range: Range<u64>,
}

/// Takes the fields of a tree one after another.
pub(super) trait Sink {
    /// The next field and its bytes. The name is a closure: most sinks do not want it.
    fn put(&mut self, field: impl FnOnce() -> Field, bytes: &[u8]);
}

/// Walks all fields up to and including the padding, in file order.
pub(super) fn walk(tree: &Tree<'_>, sink: &mut impl Sink) {
    let order = tree.byte_order;
    let wide = tree.length_width();
    sink.put(|| Field::Magic, &tree.magic);
    sink.put(|| Field::Version, &order.bytes(u64::from(tree.version), 4));
    sink.put(|| Field::TensorCount, &order.bytes(tree.tensor_count, wide));
    sink.put(|| Field::KvCount, &order.bytes(tree.kv_count, wide));

    for (i, pair) in tree.metadata.iter().enumerate() {
        sink.put(|| Field::Kv(i, KvPart::KeyLen), &order.bytes(pair.key.len, wide));
        sink.put(|| Field::Kv(i, KvPart::Key), &pair.key.bytes);
        sink.put(|| Field::Kv(i, KvPart::Type), &order.bytes(u64::from(pair.type_id), 4));
        let mut path = Vec::new();
        match &pair.value {
            Value::Fixed(bytes) => sink.put(|| at(i, &path, ValuePart::Whole), bytes),
            Value::String(string) => walk_string(tree, i, &path, string, sink),
            Value::Array(array) => walk_array(tree, i, &mut path, array, sink),
        }
    }

    for (i, tensor) in tree.tensors.iter().enumerate() {
        let part = |part| move || Field::Tensor(i, part);
        sink.put(part(TensorPart::NameLen), &order.bytes(tensor.name.len, wide));
        sink.put(part(TensorPart::Name), &tensor.name.bytes);
        sink.put(part(TensorPart::NDims), &order.bytes(u64::from(tensor.n_dims), 4));
        for (j, dim) in tensor.dims.iter().enumerate() {
            sink.put(part(TensorPart::Dim(j)), &order.bytes(*dim, wide));
        }
        sink.put(part(TensorPart::Type), &order.bytes(u64::from(tensor.type_id), 4));
        sink.put(part(TensorPart::Offset), &order.bytes(tensor.offset, 8));
    }
    sink.put(|| Field::Padding, &tree.padding);
}

fn at(pair: usize, path: &[usize], part: ValuePart) -> Field {
    Field::Kv(pair, KvPart::Value(path.to_vec(), part))
}

fn walk_string(tree: &Tree<'_>, pair: usize, path: &[usize], string: &RawString, sink: &mut impl Sink) {
    sink.put(|| at(pair, path, ValuePart::Len), &tree.byte_order.bytes(string.len, tree.length_width()));
    sink.put(|| at(pair, path, ValuePart::Whole), &string.bytes);
}

/// Recursion is bounded: decoded arrays nest at most [`crate::limits::MAX_NESTING`] deep, and trees
/// made in memory are as deep as their maker could build them.
fn walk_array(tree: &Tree<'_>, pair: usize, path: &mut Vec<usize>, array: &Array, sink: &mut impl Sink) {
    sink.put(|| at(pair, path, ValuePart::ElementType), &tree.byte_order.bytes(u64::from(array.type_id), 4));
    sink.put(|| at(pair, path, ValuePart::Len), &tree.byte_order.bytes(array.len, tree.length_width()));
    match &array.elements {
        Elements::Fixed(bytes) => sink.put(|| at(pair, path, ValuePart::Elements), bytes),
        Elements::Strings(strings) => {
            for (j, string) in strings.iter().enumerate() {
                path.push(j);
                walk_string(tree, pair, path, string, sink);
                path.pop();
            }
        }
        Elements::Arrays(arrays) => {
            for (j, inner) in arrays.iter().enumerate() {
                path.push(j);
                walk_array(tree, pair, path, inner, sink);
                path.pop();
            }
        }
    }
}

/// The span of every field up to the padding, in file order, end to end; empty fields are left out.
/// `base` is where the file starts in the input.
#[must_use]
pub fn spans(tree: &Tree<'_>, base: u64) -> Vec<Span> {
    struct Spans {
        at: u64,
        list: Vec<Span>,
    }
    impl Sink for Spans {
        fn put(&mut self, field: impl FnOnce() -> Field, bytes: &[u8]) {
            if !bytes.is_empty() {
                let end = self.at + bytes.len() as u64;
                self.list.push(Span { field: field(), range: self.at..end });
                self.at = end;
            }
        }
    }
    let mut sink = Spans { at: base, list: Vec::new() };
    walk(tree, &mut sink);
    sink.list
}

/// The spans of what follows the padding, up to `end` of the input: tensor data, padding, gaps,
/// trailing bytes, end to end. Where tensors overlap, bytes are given to the first in the file.
#[must_use]
pub fn spans_of_data(layout: &DataLayout, end: u64) -> Vec<Span> {
    let sized: Vec<_> = layout.tensors.iter().filter_map(|t| Some((t, t.size?))).collect();
    // A tensor of unknown size hides what lies behind it.
    let tail = if sized.len() == layout.tensors.len() { Field::Trailing } else { Field::Unread };
    let mut order: Vec<_> = sized.into_iter().filter(|&(_, size)| size > 0).collect();
    order.sort_by_key(|(t, _)| (t.start, t.index));

    let mut at = layout.start.min(end);
    let mut list = Vec::new();
    let mut put = |to: u128, field: Field| {
        let to = u64::try_from(to).unwrap_or(u64::MAX).min(end);
        if to > at {
            list.push(Span { field, range: at..to });
            at = to;
        }
    };
    for (position, &(tensor, size)) in order.iter().enumerate() {
        put(tensor.start, Field::Gap);
        let data_end = tensor.start.saturating_add(size);
        put(data_end, Field::Data(tensor.index));
        // To where an aligned tensor could follow, wherever this one starts.
        let first = u128::from(layout.start);
        let padded = first.saturating_add(layout.pad(data_end.saturating_sub(first)));
        let next = order.get(position + 1).map_or(padded, |(t, _)| t.start.min(padded));
        put(next, Field::DataPadding(tensor.index));
    }
    put(u128::from(end), tail);
    list
}

/// Where the parts of a tree start, by arithmetic on its sizes; all counted from the start of the input.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Places {
    /// Where the file starts in the input.
    pub base: u64,
    /// Where the version starts.
    pub version: u64,
    /// Where the tensor count starts.
    pub tensor_count: u64,
    /// Where the pair count starts.
    pub kv_count: u64,
    /// Where each pair starts.
    pub pairs: Vec<u64>,
    /// Where the metadata ends.
    pub metadata_end: u64,
    /// Where each tensor info starts.
    pub tensors: Vec<u64>,
    /// Where the tensor table ends.
    pub table_end: u64,
    /// Where the padding after the table ends.
    pub padding_end: u64,
}

impl Places {
    /// The places of a tree that starts `base` bytes into the input.
    #[must_use]
    pub fn of(tree: &Tree<'_>, base: u64) -> Self {
        let wide = tree.length_width() as u64;
        let mut at = base + 8 + 2 * wide;
        let mut next = |size: u64| {
            let start = at;
            at += size;
            start
        };
        let pairs: Vec<u64> = tree
            .metadata
            .iter()
            .map(|pair| next(string_size(&pair.key, wide) + 4 + value_size(&pair.value, wide)))
            .collect();
        let metadata_end = next(0);
        let tensors: Vec<u64> = tree
            .tensors
            .iter()
            .map(|t| next(string_size(&t.name, wide) + 4 + wide * t.dims.len() as u64 + 4 + 8))
            .collect();
        let table_end = next(0);
        Self {
            base,
            version: base + 4,
            tensor_count: base + 8,
            kv_count: base + 8 + wide,
            pairs,
            metadata_end,
            tensors,
            table_end,
            padding_end: table_end + tree.padding.len() as u64,
        }
    }

    /// The bytes of a part of a tensor info.
    #[must_use]
    pub fn tensor_part(&self, tree: &Tree<'_>, index: usize, part: TensorPart) -> Range<u64> {
        let wide = length_width(tree.version) as u64;
        let tensor = &tree.tensors[index];
        let start = self.tensors[index];
        let name = start + wide;
        let n_dims = name + tensor.name.bytes.len() as u64;
        let dims = n_dims + 4;
        let ty = dims + wide * tensor.dims.len() as u64;
        match part {
            TensorPart::NameLen => start..name,
            TensorPart::Name => name..n_dims,
            TensorPart::NDims => n_dims..dims,
            TensorPart::Dim(i) => dims + wide * i as u64..dims + wide * (i as u64 + 1),
            TensorPart::Type => ty..ty + 4,
            TensorPart::Offset => ty + 4..ty + 12,
        }
    }
}

pub(crate) fn string_size(string: &RawString, wide: u64) -> u64 {
    wide + string.bytes.len() as u64
}

fn value_size(value: &Value, wide: u64) -> u64 {
    match value {
        Value::Fixed(bytes) => bytes.len() as u64,
        Value::String(string) => string_size(string, wide),
        Value::Array(array) => array_size(array, wide),
    }
}

pub(crate) fn array_size(array: &Array, wide: u64) -> u64 {
    4 + wide
        + match &array.elements {
            Elements::Fixed(bytes) => bytes.len() as u64,
            Elements::Strings(strings) => strings.iter().map(|s| string_size(s, wide)).sum(),
            Elements::Arrays(arrays) => arrays.iter().map(|a| array_size(a, wide)).sum(),
        }
}
