//! The grids of the IQ types: of all points with eight (or four) coordinates from a few levels, the ones
//! that an index can name. And the signs that go with them.
//!
//! Source: `iq1s_grid`, `iq2xxs_grid`, `iq2xs_grid`, `iq2s_grid`, `iq3xxs_grid` and `iq3s_grid` of
//! `ggml-common.h`, where the coordinates themselves are listed.

mod iq1;
mod iq2;
mod iq3;
#[cfg(test)]
mod tests;

use super::numbers::low_u8;

/// A grid: points, each of which stands for several weights.
#[derive(Clone, Copy, Debug)]
pub struct Grid {
    /// The types that use it.
    pub name: &'static str,
    /// Coordinates of a point: the weights it stands for.
    pub coordinates: usize,
    /// What the digits of a point stand for.
    pub levels: &'static [i32],
    /// The points, by their index: digits of [`digit_bits`](Self::digit_bits) each, the first coordinate
    /// lowest. Every grid is in the order of these numbers.
    pub points: &'static [u16],
}

impl Grid {
    /// Bits of a digit: two for three levels, three for eight.
    #[must_use]
    pub fn digit_bits(&self) -> u32 {
        self.levels.len().next_power_of_two().trailing_zeros()
    }

    /// One coordinate of the point with this index.
    ///
    /// # Panics
    ///
    /// If there is no such point, or no such coordinate.
    #[must_use]
    pub fn value(&self, index: u64, coordinate: usize) -> i32 {
        assert!(coordinate < self.coordinates, "a point has {} coordinates", self.coordinates);
        let point = usize::try_from(index).ok().and_then(|index| self.points.get(index)).expect("an index of the grid");
        let bits = self.digit_bits() as usize;
        self.levels[usize::from(point >> (bits * coordinate)) & ((1 << bits) - 1)]
    }
}

/// The grid of IQ1_S and IQ1_M.
pub static IQ1: Grid = Grid { name: "IQ1_S, IQ1_M", coordinates: 8, levels: &[-1, 0, 1], points: &iq1::IQ1 };
/// The grid of IQ2_XXS.
pub static IQ2_XXS: Grid = Grid { name: "IQ2_XXS", coordinates: 8, levels: &[8, 25, 43], points: &iq2::IQ2_XXS };
/// The grid of IQ2_XS.
pub static IQ2_XS: Grid = Grid { name: "IQ2_XS", points: &iq2::IQ2_XS, ..IQ2_XXS };
/// The grid of IQ2_S.
pub static IQ2_S: Grid = Grid { name: "IQ2_S", points: &iq2::IQ2_S, ..IQ2_XXS };
/// The grid of IQ3_XXS.
pub static IQ3_XXS: Grid =
    Grid { name: "IQ3_XXS", coordinates: 4, levels: &[4, 12, 20, 28, 36, 44, 52, 62], points: &iq3::IQ3_XXS };
/// The grid of IQ3_S.
pub static IQ3_S: Grid =
    Grid { name: "IQ3_S", coordinates: 4, levels: &[1, 3, 5, 7, 9, 11, 13, 15], points: &iq3::IQ3_S };

/// All grids.
pub static GRIDS: [&Grid; 6] = [&IQ1, &IQ2_XXS, &IQ2_XS, &IQ2_S, &IQ3_XXS, &IQ3_S];

/// The signs of eight weights from the seven bits that are stored: the number of minus signs is even, so
/// the eighth bit is the parity of the others.
#[must_use]
pub fn even_signs(stored: u64) -> u64 {
    stored | u64::from(stored.count_ones() % 2) << 7
}

/// The sign of one of eight weights: a set bit is minus.
#[must_use]
pub fn sign(signs: u64, i: usize) -> i32 {
    1 - 2 * i32::from(low_u8(signs >> i & 1))
}
