//! Tree to bytes.

use super::places::{Sink, walk};
use crate::field::Field;
use crate::syntax::Tree;

/// The bytes of a tree, declared counts and lengths as declared.
///
/// Counts and lengths of version 1 are 32 bits wide: of larger ones the low 32 bits are written.
#[must_use]
pub fn encode(tree: &Tree<'_>) -> Vec<u8> {
    struct Bytes(Vec<u8>);
    impl Sink for Bytes {
        fn put(&mut self, _: impl FnOnce() -> Field, bytes: &[u8]) {
            self.0.extend_from_slice(bytes);
        }
    }
    let mut sink = Bytes(Vec::new());
    walk(tree, &mut sink);
    sink.0.extend_from_slice(&tree.rest);
    sink.0
}
