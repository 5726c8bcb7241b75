//! Files near other files: edits of decoded trees.
//!
//! A file is decoded, some fields of the tree are changed, and it is encoded again, so that a change to
//! a length moves what follows instead of tearing it. What cannot be decoded is edited as bytes. Each
//! call first draws which edits may occur (swarm), then a few of them; in some calls counts, offsets
//! and padding are made true again afterwards, so that deep rules are reached behind shallow ones.
//! Nothing here knows how to break a rule on purpose: see [`breaking`](super::breaking) for that.

mod entries;
mod header;
mod numbers;
mod text;
mod values;

use arbitrary::{Arbitrary, Unstructured};
use rand::{Rng, RngExt};
use rand_chacha::ChaCha8Rng;

use super::build::lay_out;
use crate::binary::{decode, encode, spans};
use crate::limits::{MAGIC, VERSION};
use crate::syntax::{Array, Elements, RawString, Tree, Value};

pub use numbers::interesting;

/// One way to change a tree. It does nothing to a tree that has nothing of its kind.
type Edit = fn(&mut Tree<'static>, &mut ChaCha8Rng);

/// Every edit. Those named twice or more are drawn the more often.
const EDITS: &[Edit] = &[
    entries::swap,
    entries::double,
    entries::remove,
    entries::rename_alike,
    entries::insert_pair,
    entries::insert_tensor,
    entries::retype_tensor,
    entries::retype_tensor,
    entries::reshape,
    entries::reshape,
    entries::redimension,
    entries::move_offset,
    entries::move_offset,
    header::versions,
    header::other_byte_order,
    header::miscount,
    header::padding,
    header::data,
    header::data,
    values::retag,
    values::retag,
    values::revalue,
    values::revalue,
    values::renumber,
    values::renumber,
    values::miscount,
    values::resize,
    values::resize,
    values::nest,
    values::alignment,
    values::alignment,
    text::key,
    text::key,
    text::retext,
    text::retext,
    text::miscount,
];

/// A file near this one, of at most `most` bytes, drawn from `rng` and nothing else.
#[must_use]
pub fn mutated(bytes: &[u8], most: usize, rng: &mut ChaCha8Rng) -> Vec<u8> {
    // An edit that does nothing, or too much, is drawn again a few times.
    for _ in 0..4 {
        let new = match rng.random_range(0..128) {
            0 => fresh(rng),
            1..=10 => disturbed(bytes, rng),
            _ => edited(bytes, most, rng),
        };
        if new.len() <= most && new != bytes {
            return new;
        }
    }
    let mut new = disturbed(bytes, rng);
    new.truncate(most);
    new
}

/// A file that has the entries of two, of at most `most` bytes.
#[must_use]
pub fn crossed(a: &[u8], b: &[u8], most: usize, rng: &mut ChaCha8Rng) -> Vec<u8> {
    let (Some(a), Some(b)) = (decode(a).tree, decode(b).tree) else { return mutated(a, most, rng) };
    let (mut tree, mut other) = (a.into_owned(), b.into_owned());
    if tree.byte_order != other.byte_order {
        other = super::build::swapped(other);
    }
    let at = rng.random_range(0..=tree.metadata.len());
    let from = rng.random_range(0..=other.metadata.len());
    tree.metadata.truncate(at);
    tree.metadata.extend(other.metadata.drain(from..));
    let at = rng.random_range(0..=tree.tensors.len());
    let from = rng.random_range(0..=other.tensors.len());
    tree.tensors.truncate(at);
    tree.tensors.extend(other.tensors.drain(from..));
    recount(&mut tree);
    if rng.random_bool(0.8) {
        lay_out(&mut tree, rng.random(), most as u128);
    }
    let bytes = encode(&tree);
    if bytes.len() <= most { bytes } else { mutated(&bytes[..most], most, rng) }
}

fn edited(bytes: &[u8], most: usize, rng: &mut ChaCha8Rng) -> Vec<u8> {
    let Some(tree) = decode(bytes).tree else { return disturbed(bytes, rng) };
    let mut tree = tree.into_owned();
    // Half of all edits may occur, others in every call.
    let swarm = rng.next_u64();
    let mut edits = 1 + rng.next_u32().trailing_zeros().min(6);
    let mut tries = 64;
    while edits > 0 && tries > 0 {
        tries -= 1;
        let i = rng.random_range(0..EDITS.len());
        if swarm >> (i % 64) & 1 == 1 {
            EDITS[i](&mut tree, rng);
            edits -= 1;
        }
    }
    if rng.random_bool(0.6) {
        recount(&mut tree);
    }
    if rng.random_bool(0.4) {
        lay_out(&mut tree, rng.random(), most as u128);
    }
    let mut bytes = encode(&tree);
    if rng.random_bool(0.03) {
        cut(&tree, &mut bytes, rng);
    }
    bytes
}

/// A right file, or a tree drawn without any care.
fn fresh(rng: &mut ChaCha8Rng) -> Vec<u8> {
    if rng.random_bool(0.8) {
        return encode(&super::valid(rng.next_u64()));
    }
    let mut bytes = vec![0; rng.random_range(0..1024)];
    rng.fill_bytes(&mut bytes);
    let mut tree = Tree::arbitrary(&mut Unstructured::new(&bytes)).unwrap_or_default().into_owned();
    tree.magic = MAGIC;
    tree.version = VERSION;
    for pair in &mut tree.metadata {
        pair.type_id %= 14;
    }
    recount(&mut tree);
    encode(&tree)
}

/// Makes every count and every length true.
pub(super) fn recount(tree: &mut Tree<'_>) {
    tree.kv_count = tree.metadata.len() as u64;
    tree.tensor_count = tree.tensors.len() as u64;
    for pair in &mut tree.metadata {
        measure(&mut pair.key);
        match &mut pair.value {
            Value::Fixed(_) => {}
            Value::String(string) => measure(string),
            Value::Array(array) => recount_array(array),
        }
    }
    for tensor in &mut tree.tensors {
        measure(&mut tensor.name);
        tensor.n_dims = u32::try_from(tensor.dims.len()).unwrap_or(u32::MAX);
    }
}

fn measure(string: &mut RawString) {
    string.len = string.bytes.len() as u64;
}

/// Recursion is as deep as the tree, which was decoded within the limit of nesting, and some levels more.
fn recount_array(array: &mut Array) {
    match &mut array.elements {
        Elements::Fixed(bytes) => {
            let size = crate::types::ValueType::from_id(array.type_id).and_then(crate::types::ValueType::size);
            if let Some(size) = size {
                array.len = (bytes.len() / size) as u64;
                bytes.truncate(bytes.len() / size * size);
            }
        }
        Elements::Strings(strings) => {
            strings.iter_mut().for_each(measure);
            array.len = strings.len() as u64;
        }
        Elements::Arrays(arrays) => {
            arrays.iter_mut().for_each(recount_array);
            array.len = arrays.len() as u64;
        }
    }
}

/// Ends the file at the edge of a field, or a byte beside it.
fn cut(tree: &Tree<'_>, bytes: &mut Vec<u8>, rng: &mut ChaCha8Rng) {
    let spans = spans(tree, 0);
    let end = spans[rng.random_range(0..spans.len())].range.end;
    let end = (end + rng.random_range(0..3u64)).saturating_sub(1);
    bytes.truncate(usize::try_from(end).unwrap_or(usize::MAX));
}

/// These bytes with one change that knows nothing of trees: a byte, a bit, an end, a piece less or twice.
/// Of nothing, another file is made.
#[must_use]
pub fn disturbed(bytes: &[u8], rng: &mut ChaCha8Rng) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    if bytes.is_empty() {
        return fresh(rng);
    }
    let at = rng.random_range(0..bytes.len());
    let end = rng.random_range(at..=bytes.len().min(at + 40));
    match rng.random_range(0..6) {
        0 => bytes[at] = rng.random(),
        1 => bytes[at] ^= 1 << rng.random_range(0..8u32),
        2 => bytes[at] = bytes[at].wrapping_add(if rng.random() { 1 } else { u8::MAX }),
        3 => bytes.truncate(at),
        4 => drop(bytes.drain(at..end)),
        _ => {
            let piece = bytes[at..end].to_vec();
            let to = rng.random_range(0..=bytes.len());
            bytes.splice(to..to, piece);
        }
    }
    bytes
}

/// An index into a list, unless it is empty.
fn any(len: usize, rng: &mut ChaCha8Rng) -> Option<usize> {
    (len > 0).then(|| rng.random_range(0..len))
}

#[cfg(test)]
mod tests;
