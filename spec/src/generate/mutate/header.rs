//! Edits of the header, of padding and of data.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::any;
use super::numbers::{interesting, interesting_u32};
use crate::generate::build::swapped;
use crate::syntax::Tree;

/// Another version, or another magic.
pub(super) fn versions(tree: &mut Tree<'static>, rng: &mut ChaCha8Rng) {
    match rng.random_range(0..8) {
        0 => {
            let i = rng.random_range(0..4);
            tree.magic[i] = rng.random();
        }
        1 => tree.magic.reverse(),
        2 => tree.version = interesting_u32(rng, tree.version),
        _ => tree.version = rng.random_range(0..5),
    }
}

/// The same file in the other byte order, or only its header.
pub(super) fn other_byte_order(tree: &mut Tree<'static>, rng: &mut ChaCha8Rng) {
    let mut other = swapped(std::mem::take(tree));
    if rng.random_bool(0.1) {
        other.version = other.version.swap_bytes();
    }
    *tree = other;
}

/// A count that is not true.
pub(super) fn miscount(tree: &mut Tree<'static>, rng: &mut ChaCha8Rng) {
    let count = if rng.random() { &mut tree.kv_count } else { &mut tree.tensor_count };
    *count = interesting(rng, *count);
}

/// Padding before the data: longer, shorter, not zero.
pub(super) fn padding(tree: &mut Tree<'static>, rng: &mut ChaCha8Rng) {
    match rng.random_range(0..4) {
        0 => tree.padding.push(0),
        1 => drop(tree.padding.pop()),
        2 => tree.padding.clear(),
        _ => {
            if let Some(i) = any(tree.padding.len(), rng) {
                tree.padding[i] = rng.random();
            }
        }
    }
}

/// Tensor data and what lies around it: longer, shorter, other bytes.
pub(super) fn data(tree: &mut Tree<'static>, rng: &mut ChaCha8Rng) {
    let rest = tree.rest.to_mut();
    match rng.random_range(0..8) {
        0 => rest.push(rng.random()),
        1 => rest.extend([0; 32]),
        2 => drop(rest.pop()),
        3 => rest.truncate(rest.len().saturating_sub(32)),
        4 => rest.clear(),
        // Padding lies at the ends of tensors, the last of them at the end of the file.
        5 => {
            if let Some(last) = rest.last_mut() {
                *last = rng.random();
            }
        }
        _ => {
            if let Some(i) = any(rest.len(), rng) {
                rest[i] = rng.random();
            }
        }
    }
}
