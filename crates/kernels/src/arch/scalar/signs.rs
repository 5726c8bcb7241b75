//! The signs of eight weights of the grid types.

/// All eight from the seven that are stored: the number of minus signs is even.
pub(super) fn even(stored: u8) -> u8 {
    let stored = stored & 127;
    if stored.count_ones() % 2 == 1 { stored | 128 } else { stored }
}

/// Makes the weights negative whose bit is set, from this bit on.
pub(super) fn apply<const N: usize>(weights: [i32; N], signs: u8, from: usize) -> [i32; N] {
    std::array::from_fn(|i| if signs >> (from + i) & 1 == 1 { -weights[i] } else { weights[i] })
}
