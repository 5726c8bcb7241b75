//! Names by their bytes: which occur twice, and where one is.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;

/// The hashes of some names, sorted. The hash has a secret of its own for every index, so that no file
/// can be made whose names share hashes; names that do are compared all the same.
#[derive(Clone, Debug, Default)]
pub(crate) struct Index {
    state: RandomState,
    /// Hash and number of each name.
    sorted: Vec<(u64, usize)>,
}

impl Index {
    /// The index of the names that `name` gives for the numbers below `count`.
    pub(crate) fn new<'a>(count: usize, name: impl Fn(usize) -> &'a [u8]) -> Self {
        let state = RandomState::new();
        let mut sorted = Vec::with_capacity(count);
        sorted.extend((0..count).map(|i| (state.hash_one(name(i)), i)));
        sorted.sort_unstable();
        Self { state, sorted }
    }

    /// The least number whose name has occurred before.
    pub(crate) fn first_twice<'a>(&self, name: impl Fn(usize) -> &'a [u8]) -> Option<usize> {
        self.sorted.chunk_by(|a, b| a.0 == b.0).filter_map(|same_hash| first_twice_of(same_hash, &name)).min()
    }

    /// The least number whose name is this one.
    pub(crate) fn find<'a>(&self, wanted: &[u8], name: impl Fn(usize) -> &'a [u8]) -> Option<usize> {
        let hash = self.state.hash_one(wanted);
        let start = self.sorted.partition_point(|entry| entry.0 < hash);
        let same_hash = self.sorted[start..].iter().take_while(|entry| entry.0 == hash);
        same_hash.map(|entry| entry.1).find(|&i| name(i) == wanted)
    }
}

/// Of names that share a hash, in the order of their numbers. Where all are equal, as nearly always, the
/// second is found at once.
fn first_twice_of<'a>(same_hash: &[(u64, usize)], name: impl Fn(usize) -> &'a [u8]) -> Option<usize> {
    (1..same_hash.len())
        .find(|&j| same_hash[..j].iter().any(|earlier| name(earlier.1) == name(same_hash[j].1)))
        .map(|j| same_hash[j].1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_second_occurrence_is_found() {
        let names: [&[u8]; 7] = [b"a", b"b", b"c", b"b", b"a", b"a", b""];
        let name = |i: usize| names[i];
        let index = Index::new(names.len(), name);
        assert_eq!(index.first_twice(name), Some(3));
        assert_eq!(Index::new(3, name).first_twice(name), None);
        assert_eq!(index.find(b"a", name), Some(0));
        assert_eq!(index.find(b"", name), Some(6));
        assert_eq!(index.find(b"d", name), None);
    }

    #[test]
    fn names_that_share_a_hash_are_compared() {
        let names: [&[u8]; 4] = [b"a", b"b", b"c", b"b"];
        assert_eq!(first_twice_of(&[(7, 0), (7, 1), (7, 2)], |i| names[i]), None);
        assert_eq!(first_twice_of(&[(7, 0), (7, 1), (7, 2), (7, 3)], |i| names[i]), Some(3));
    }
}
