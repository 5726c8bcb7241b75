//! Names by their bytes: which occur twice, and where one is.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;

/// So few names are compared with each other, which takes less than hashing them.
const FEW: usize = 16;

/// The hashes of some names, sorted, unless they are few. The hash has a secret of its own for every index,
/// so that no file can be made whose names share hashes; names that do are compared all the same.
#[derive(Clone, Debug, Default)]
pub(crate) struct Index {
    /// How many names there are.
    count: usize,
    /// Hash and number of each name, if they are not few.
    hashed: Option<(RandomState, Vec<(u64, usize)>)>,
}

impl Index {
    /// The index of the names that `name` gives for the numbers below `count`.
    pub(crate) fn new<'a>(count: usize, name: impl Fn(usize) -> &'a [u8]) -> Self {
        let hashed = (count > FEW).then(|| {
            let state = RandomState::new();
            let mut sorted = Vec::with_capacity(count);
            sorted.extend((0..count).map(|i| (state.hash_one(name(i)), i)));
            sorted.sort_unstable();
            (state, sorted)
        });
        Self { count, hashed }
    }

    /// The least number whose name has occurred before.
    pub(crate) fn first_twice<'a>(&self, name: impl Fn(usize) -> &'a [u8]) -> Option<usize> {
        match &self.hashed {
            None => (1..self.count).find(|&j| (0..j).any(|i| name(i) == name(j))),
            Some((_, sorted)) => {
                sorted.chunk_by(|a, b| a.0 == b.0).filter_map(|same_hash| first_twice_of(same_hash, &name)).min()
            }
        }
    }

    /// The least number whose name is this one.
    pub(crate) fn find<'a>(&self, wanted: &[u8], name: impl Fn(usize) -> &'a [u8]) -> Option<usize> {
        let Some((state, sorted)) = &self.hashed else { return (0..self.count).find(|&i| name(i) == wanted) };
        let hash = state.hash_one(wanted);
        let start = sorted.partition_point(|entry| entry.0 < hash);
        let same_hash = sorted[start..].iter().take_while(|entry| entry.0 == hash);
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
        // Few names, and many: others before them.
        for before in [0, FEW] {
            let mut names: Vec<String> = (0..before).map(|i| i.to_string()).collect();
            names.extend(["a", "b", "c", "b", "a", "a", ""].map(ToOwned::to_owned));
            let name = |i: usize| names[i].as_bytes();
            let index = Index::new(names.len(), name);
            assert_eq!(index.first_twice(name), Some(before + 3));
            assert_eq!(Index::new(before + 3, name).first_twice(name), None);
            assert_eq!(index.find(b"a", name), Some(before));
            assert_eq!(index.find(b"", name), Some(before + 6));
            assert_eq!(index.find(b"d", name), None);
        }
    }

    #[test]
    fn names_that_share_a_hash_are_compared() {
        let names: [&[u8]; 4] = [b"a", b"b", b"c", b"b"];
        assert_eq!(first_twice_of(&[(7, 0), (7, 1), (7, 2)], |i| names[i]), None);
        assert_eq!(first_twice_of(&[(7, 0), (7, 1), (7, 2), (7, 3)], |i| names[i]), Some(3));
    }
}
