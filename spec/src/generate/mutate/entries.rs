//! Edits of the lists of pairs and tensors, and of the entries of tensors.

use rand::{Rng, RngExt};
use rand_chacha::ChaCha8Rng;

use super::any;
use super::numbers::{factor, interesting, interesting_u32};
use super::text::new_key;
use super::values::new_value;
use crate::generate::build::tensor;
use crate::profile::KeyLookup;
use crate::syntax::{Pair, RawString, TensorInfo, Tree};
use crate::types::{TENSOR_TYPES, TensorType};
use crate::valid::layout::alignment;

/// Two pairs or two tensors change places.
pub(super) fn swap(tree: &mut Tree<'static>, rng: &mut ChaCha8Rng) {
    if rng.random() {
        let Some(i) = any(tree.metadata.len(), rng) else { return };
        let j = rng.random_range(0..tree.metadata.len());
        tree.metadata.swap(i, j);
    } else {
        let Some(i) = any(tree.tensors.len(), rng) else { return };
        let j = rng.random_range(0..tree.tensors.len());
        tree.tensors.swap(i, j);
    }
}

/// A pair or a tensor twice, one of them under another name in half of all cases.
pub(super) fn double(tree: &mut Tree<'static>, rng: &mut ChaCha8Rng) {
    let other_name = rng.random_bool(0.5);
    if rng.random() {
        let Some(i) = any(tree.metadata.len(), rng) else { return };
        let mut copy = tree.metadata[i].clone();
        if other_name {
            copy.key = new_key(rng);
        }
        let to = rng.random_range(0..=tree.metadata.len());
        tree.metadata.insert(to, copy);
    } else {
        let Some(i) = any(tree.tensors.len(), rng) else { return };
        let mut copy = tree.tensors[i].clone();
        if other_name {
            copy.name = RawString::new(format!("t{}", rng.random::<u8>()));
        }
        let to = rng.random_range(0..=tree.tensors.len());
        tree.tensors.insert(to, copy);
    }
}

/// One pair or one tensor less.
pub(super) fn remove(tree: &mut Tree<'static>, rng: &mut ChaCha8Rng) {
    if rng.random() {
        if let Some(i) = any(tree.metadata.len(), rng) {
            tree.metadata.remove(i);
        }
    } else if let Some(i) = any(tree.tensors.len(), rng) {
        tree.tensors.remove(i);
    }
}

/// One entry takes the name of another, or that name and a NUL.
pub(super) fn rename_alike(tree: &mut Tree<'static>, rng: &mut ChaCha8Rng) {
    let behind: &[u8] = if rng.random_bool(0.2) { b"\0x" } else { b"" };
    if rng.random() {
        let Some(i) = any(tree.metadata.len(), rng) else { return };
        let j = rng.random_range(0..tree.metadata.len());
        let name = [&tree.metadata[i].key.bytes, behind].concat();
        tree.metadata[j].key = RawString::new(name);
    } else {
        let Some(i) = any(tree.tensors.len(), rng) else { return };
        let j = rng.random_range(0..tree.tensors.len());
        let name = [&tree.tensors[i].name.bytes, behind].concat();
        tree.tensors[j].name = RawString::new(name);
    }
}

/// One pair more.
pub(super) fn insert_pair(tree: &mut Tree<'static>, rng: &mut ChaCha8Rng) {
    let (type_id, value) = new_value(tree.byte_order, rng);
    let to = rng.random_range(0..=tree.metadata.len());
    tree.metadata.insert(to, Pair { key: new_key(rng), type_id, value });
}

/// One tensor more, of any type that there is, with rows of whole blocks.
pub(super) fn insert_tensor(tree: &mut Tree<'static>, rng: &mut ChaCha8Rng) {
    let ty = any_type(rng);
    let mut dims = vec![ty.block.max(1) * rng.random_range(1..3)];
    for _ in 0..rng.random_range(0..4) {
        dims.push(rng.random_range(0..4));
    }
    dims.truncate(rng.random_range(0..=dims.len()));
    let to = rng.random_range(0..=tree.tensors.len());
    tree.tensors.insert(to, tensor(format!("t{}", rng.random::<u8>()), ty.id, &dims));
}

fn any_type(rng: &mut ChaCha8Rng) -> &'static TensorType {
    &TENSOR_TYPES[rng.random_range(0..TENSOR_TYPES.len())]
}

/// Another type of a tensor, known or not; its rows are made whole blocks in half of all cases.
pub(super) fn retype_tensor(tree: &mut Tree<'static>, rng: &mut ChaCha8Rng) {
    let Some(i) = any(tree.tensors.len(), rng) else { return };
    let tensor = &mut tree.tensors[i];
    if rng.random_bool(0.2) {
        tensor.type_id = interesting_u32(rng, tensor.type_id);
        return;
    }
    let ty = any_type(rng);
    tensor.type_id = ty.id;
    if let Some(row) = tensor.dims.first_mut().filter(|_| rng.random_bool(0.5)) {
        *row = ty.block.max(1) * rng.random_range(1..3);
    }
}

/// Another dimension of a tensor.
pub(super) fn reshape(tree: &mut Tree<'static>, rng: &mut ChaCha8Rng) {
    let Some(i) = any(tree.tensors.len(), rng) else { return };
    let tensor = &mut tree.tensors[i];
    let Some(j) = any(tensor.dims.len(), rng) else { return };
    let block = TensorType::from_id(tensor.type_id).map_or(1, |ty| ty.block.max(1));
    let rest = tensor.dims.iter().enumerate().filter(|(k, _)| *k != j).fold(1u64, |n, (_, d)| n.saturating_mul(*d));
    let dim = &mut tensor.dims[j];
    *dim = match rng.random_range(0..6) {
        0 => 0,
        1 => rng.random_range(1..5),
        // Where the product stops to fit, in elements or in bytes.
        2 | 3 => factor(rng, rest),
        _ => interesting(rng, *dim),
    };
    if j == 0 && rng.random_bool(0.7) {
        *dim = dim.checked_next_multiple_of(block).unwrap_or(*dim);
    }
}

/// One dimension more or less, or another number of them than there are.
pub(super) fn redimension(tree: &mut Tree<'static>, rng: &mut ChaCha8Rng) {
    let Some(i) = any(tree.tensors.len(), rng) else { return };
    let TensorInfo { n_dims, dims, .. } = &mut tree.tensors[i];
    match rng.random_range(0..4) {
        0 => drop(dims.pop()),
        1 => *n_dims = interesting_u32(rng, *n_dims),
        2 => {
            dims.resize(rng.random_range(0..7), 1);
            *n_dims = u32::try_from(dims.len()).unwrap_or(u32::MAX);
        }
        _ => {
            dims.push(interesting(rng, 1));
            *n_dims = u32::try_from(dims.len()).unwrap_or(u32::MAX);
        }
    }
}

/// Another offset of a tensor: near the right one, that of another tensor, or one that wraps.
pub(super) fn move_offset(tree: &mut Tree<'static>, rng: &mut ChaCha8Rng) {
    let alignment = alignment(tree, KeyLookup::CString);
    let Some(i) = any(tree.tensors.len(), rng) else { return };
    let other = tree.tensors[rng.random_range(0..tree.tensors.len())].offset;
    let offset = &mut tree.tensors[i].offset;
    *offset = match rng.random_range(0..8) {
        0 => offset.wrapping_add(alignment),
        1 => offset.wrapping_sub(alignment),
        2 => offset.wrapping_add(1),
        3 => other,
        4 => rng.next_u64() / alignment.max(1) * alignment,
        // Ends at or behind 2^64, aligned.
        5 => (u64::MAX - rng.random_range(0..256u64)) / alignment.max(1) * alignment,
        _ => interesting(rng, *offset),
    };
}
