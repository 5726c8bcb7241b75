//! How the tensors lie in the file: in which order, which bytes two of them share, and which bytes
//! between them belong to none.

use std::ops::Range;

/// The data of a tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tensor {
    /// The number of its type.
    pub type_id: u32,
    /// Where it starts, in bytes from the start of the file.
    pub start: u64,
    /// Its size in bytes, without padding.
    pub size: u64,
}

impl Tensor {
    fn end(&self) -> u64 {
        self.start.saturating_add(self.size)
    }
}

/// Bytes that two tensors share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Overlap {
    /// The index of the tensor that starts behind the start of the other.
    pub tensor: usize,
    /// The index of the other.
    pub other: usize,
    /// The bytes.
    pub range: Range<u64>,
}

/// How the tensors of a file lie.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Arrangement {
    /// The tensors that have bytes of their own, in the order in which they lie in the file.
    pub order: Vec<usize>,
    /// Tensors that start inside another one, each with the one that reaches furthest.
    pub overlaps: Vec<Overlap>,
    /// Bytes before a tensor that are neither data nor padding.
    pub gaps: Vec<Range<u64>>,
}

impl Arrangement {
    /// Arranges tensors; `None` stands for one whose place or size is not known. The data starts at
    /// `data_start`, and each tensor is padded to `alignment` from there.
    #[must_use]
    pub fn of(tensors: &[Option<Tensor>], data_start: u64, alignment: u64) -> Self {
        let mut all: Vec<(Tensor, usize)> = tensors
            .iter()
            .enumerate()
            .filter_map(|(i, tensor)| Some(((*tensor)?, i)))
            .filter(|(tensor, _)| tensor.size > 0)
            .collect();
        all.sort_unstable_by_key(|(tensor, i)| (tensor.start, tensor.size, *i));

        let padded = |end: u64| {
            let alignment = alignment.max(1);
            let size = end.saturating_sub(data_start);
            size.checked_next_multiple_of(alignment).and_then(|size| size.checked_add(data_start)).unwrap_or(u64::MAX)
        };
        let mut arrangement = Self::default();
        // How far the tensors so far reach, and which one reaches there.
        let mut reach = data_start;
        let mut owner = None;
        for (tensor, i) in all {
            match owner {
                Some(other) if tensor.start < reach => {
                    let range = tensor.start..reach.min(tensor.end());
                    arrangement.overlaps.push(Overlap { tensor: i, other, range });
                }
                _ => {
                    let behind = padded(reach);
                    if tensor.start > behind {
                        arrangement.gaps.push(behind..tensor.start);
                    }
                    arrangement.order.push(i);
                }
            }
            if owner.is_none() || tensor.end() > reach {
                reach = tensor.end();
                owner = Some(i);
            }
        }
        arrangement
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arranged(tensors: &[(u64, u64)]) -> Arrangement {
        let tensors: Vec<_> = tensors.iter().map(|&(start, size)| Some(Tensor { type_id: 0, start, size })).collect();
        Arrangement::of(&tensors, 64, 32)
    }

    fn gaps(tensors: &[(u64, u64)]) -> Vec<(u64, u64)> {
        arranged(tensors).gaps.into_iter().map(|gap| (gap.start, gap.end)).collect()
    }

    #[test]
    fn tensors_one_after_another_share_nothing_and_leave_no_gap() {
        let found = arranged(&[(64, 32), (96, 4), (128, 0), (128, 100)]);
        assert_eq!(found, Arrangement { order: vec![0, 1, 3], overlaps: vec![], gaps: vec![] });
    }

    #[test]
    fn any_order_is_an_order() {
        let found = arranged(&[(128, 100), (64, 32), (96, 4)]);
        assert_eq!(found, Arrangement { order: vec![1, 2, 0], overlaps: vec![], gaps: vec![] });
    }

    #[test]
    fn padding_is_no_gap_and_what_follows_it_is() {
        assert_eq!(gaps(&[(64, 1), (96, 1)]), []);
        assert_eq!(gaps(&[(64, 1), (128, 1)]), [(96, 128)]);
        assert_eq!(gaps(&[(96, 1)]), [(64, 96)]);
        // Padding is counted from the start of the data, wherever the tensor starts.
        assert_eq!(gaps(&[(65, 31), (96, 1)]), [(64, 65)]);
    }

    #[test]
    fn shared_bytes_are_found_whoever_shares_them() {
        let found = arranged(&[(64, 64), (64, 64), (96, 64)]);
        assert_eq!(found.order, [0]);
        assert_eq!(
            found.overlaps,
            [Overlap { tensor: 1, other: 0, range: 64..128 }, Overlap { tensor: 2, other: 0, range: 96..128 }]
        );
        // Inside one that reaches further than what lies between.
        let tensors = [(64, 1000), (96, 32), (160, 32), (2048, 1)];
        let found = arranged(&tensors);
        assert_eq!(found.overlaps.iter().map(|o| (o.tensor, o.other)).collect::<Vec<_>>(), [(1, 0), (2, 0)]);
        assert_eq!((found.order, gaps(&tensors)), (vec![0, 3], vec![(1088, 2048)]));
    }

    #[test]
    fn places_near_the_end_of_all_numbers_are_no_trouble() {
        let found = arranged(&[(u64::MAX - 8, 8), (u64::MAX - 40, 100)]);
        assert_eq!(found.order, [1]);
        assert_eq!(found.overlaps.len(), 1);
        assert_eq!(Arrangement::of(&[None], u64::MAX, 0), Arrangement::default());
    }
}
