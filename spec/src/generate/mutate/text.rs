//! Edits of keys, names and strings.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::any;
use super::numbers::{boundary, interesting};
use crate::rules::keys::KEYS;
use crate::syntax::{Array, Elements, RawString, Tree, Value};

/// A key: mostly one that the document describes.
pub(super) fn new_key(rng: &mut ChaCha8Rng) -> RawString {
    match rng.random_range(0..4) {
        0 => RawString::new(format!("k{}.x", rng.random::<u8>())),
        1 => "general.alignment".into(),
        _ => RawString::new(KEYS[rng.random_range(0..KEYS.len())].example()),
    }
}

/// Another key.
pub(super) fn key(tree: &mut Tree<'static>, rng: &mut ChaCha8Rng) {
    let Some(i) = any(tree.metadata.len(), rng) else { return };
    let key = &mut tree.metadata[i].key;
    if rng.random_bool(0.5) {
        *key = new_key(rng);
    } else {
        rewrite(key, rng);
    }
}

/// Other bytes in a name or a string.
pub(super) fn retext(tree: &mut Tree<'static>, rng: &mut ChaCha8Rng) {
    if let Some(string) = any_string(tree, rng) {
        rewrite(string, rng);
    }
}

/// A length of a string that is not true.
pub(super) fn miscount(tree: &mut Tree<'static>, rng: &mut ChaCha8Rng) {
    if let Some(string) = any_string(tree, rng) {
        string.len = interesting(rng, string.len);
    }
}

/// A key, a name, or a string of a value.
fn any_string<'t>(tree: &'t mut Tree<'static>, rng: &mut ChaCha8Rng) -> Option<&'t mut RawString> {
    if rng.random_bool(0.4) {
        let i = any(tree.tensors.len(), rng)?;
        return Some(&mut tree.tensors[i].name);
    }
    let i = any(tree.metadata.len(), rng)?;
    let pair = &mut tree.metadata[i];
    match &mut pair.value {
        Value::String(string) if rng.random_bool(0.7) => Some(string),
        Value::Array(array) if rng.random_bool(0.7) => string_of(array, rng),
        _ => Some(&mut pair.key),
    }
}

/// Some string inside an array.
fn string_of<'t>(mut array: &'t mut Array, rng: &mut ChaCha8Rng) -> Option<&'t mut RawString> {
    loop {
        match &mut array.elements {
            Elements::Fixed(_) => return None,
            Elements::Strings(strings) => {
                let i = any(strings.len(), rng)?;
                return Some(&mut strings[i]);
            }
            Elements::Arrays(arrays) => {
                let i = any(arrays.len(), rng)?;
                array = &mut arrays[i];
            }
        }
    }
}

/// Other bytes, or another length with as many bytes.
fn rewrite(string: &mut RawString, rng: &mut ChaCha8Rng) {
    const PIECES: [&[u8]; 12] = [
        b"\0",
        b".",
        b"_",
        b" ",
        b"A",
        b"-",
        b"\xFF",
        b"\xC3",
        b"\xC0\x80",
        b"\xED\xA0\x80",
        "▁".as_bytes(),
        "\u{10FFFF}".as_bytes(),
    ];
    let piece = PIECES[rng.random_range(0..PIECES.len())];
    let bytes = &mut string.bytes;
    let at = rng.random_range(0..=bytes.len());
    match rng.random_range(0..8) {
        0 => bytes.clear(),
        1 => bytes.truncate(at),
        2 => bytes.resize(boundary(rng, 70), b'x'),
        3 => bytes.resize(boundary(rng, 70_000), b'x'),
        4 if at < bytes.len() => bytes[at] = rng.random(),
        _ => drop(bytes.splice(at..at, piece.iter().copied())),
    }
    string.len = bytes.len() as u64;
}
