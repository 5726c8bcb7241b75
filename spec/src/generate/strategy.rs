//! Strategies for property tests.

use arbitrary::{Arbitrary, Unstructured};
use proptest::prelude::*;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::{Broken, Config, breaking, valid_with};
use crate::binary::encode;
use crate::rules::catalogue;
use crate::syntax::Tree;

/// Valid trees. They shrink towards fewer pairs, tensors and elements.
pub fn valid() -> impl Strategy<Value = Tree<'static>> {
    (any::<u64>(), 0..12usize, 0..6usize, 0..20usize).prop_map(|(seed, pairs, tensors, elements)| {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let config =
            Config { most_pairs: pairs, most_tensors: tensors, most_elements: elements, ..Config::draw(&mut rng) };
        valid_with(&config, &mut rng)
    })
}

/// Files that break exactly one rule, with the rule.
pub fn broken() -> impl Strategy<Value = (&'static crate::rules::Rule, Broken)> {
    let rules: Vec<_> = catalogue().into_iter().filter(|rule| breaking(rule, 0).is_some()).collect();
    (proptest::sample::select(rules), any::<u64>())
        .prop_filter_map("some seeds give no file", |(rule, seed)| Some((rule, breaking(rule, seed)?)))
}

/// Any tree at all, nearly always broken.
pub fn any_tree() -> impl Strategy<Value = Tree<'static>> {
    proptest::collection::vec(any::<u8>(), 0..2048).prop_map(|bytes| {
        let mut unstructured = Unstructured::new(&bytes);
        Tree::arbitrary(&mut unstructured).unwrap_or_default().into_owned()
    })
}

/// Bytes near those of a valid file: some replaced, some cut off.
pub fn damaged_bytes() -> impl Strategy<Value = Vec<u8>> {
    (
        valid(),
        proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6),
        any::<prop::sample::Index>(),
        any::<bool>(),
    )
        .prop_map(|(tree, edits, end, cut)| {
            let mut bytes = encode(&tree);
            for (at, byte) in edits {
                let at = at.index(bytes.len());
                bytes[at] = byte;
            }
            if cut {
                bytes.truncate(end.index(bytes.len()));
            }
            bytes
        })
}
