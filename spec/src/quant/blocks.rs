//! Blocks to test with: drawn ones under chosen scales, and the edges of every type.
//!
//! Blocks are written, not quantized, so that every code and every sub-scale occurs, also those that an
//! encoder never writes. Stored sums (Q8_1, Q8_K) agree with the codes.

use std::ops::RangeInclusive;

use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::types::{ScaleKind, TensorType};

use super::layout::{Format, Place, Role};
use super::numbers::{nearest_f32, power_of_two};
use super::{QuantError, format_of};

/// What the floating-point scales of a drawn block are. A plain float is drawn as a scale is; plain
/// integers are drawn uniformly.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scales {
    /// A value whose power of two is uniform in this range, with a uniform mantissa of eleven bits and, in
    /// kinds that have one, a uniform sign. What the kind cannot hold becomes the nearest it can, which for
    /// large ones may be infinity. The range lies between -149 and 127.
    Exponents(RangeInclusive<i32>),
    /// This value, or the nearest that the kind can hold; as bits, so that it can be compared.
    Exact(u32),
    /// Any bits: NaN and infinity too.
    Any,
}

impl Scales {
    /// Scales of exactly this value.
    #[must_use]
    pub fn exact(value: f32) -> Self {
        Self::Exact(value.to_bits())
    }

    fn draw(&self, rng: &mut impl Rng) -> Option<f32> {
        match self {
            Self::Exponents(range) => {
                let mantissa = f64::from(rng.random_range(1024..2048_u16));
                let sign = if rng.random() { 1.0 } else { -1.0 };
                Some(nearest_f32(sign * mantissa * power_of_two(rng.random_range(range.clone()) - 10)))
            }
            &Self::Exact(bits) => Some(f32::from_bits(bits)),
            Self::Any => None,
        }
    }
}

/// One block with scales as told, and all else drawn uniformly, bit by bit.
///
/// # Errors
///
/// If the type was removed.
///
/// # Panics
///
/// If a range of exponents is empty, or no double has such an exponent.
pub fn random(ty: &TensorType, rng: &mut impl Rng, scales: &Scales) -> Result<Vec<u8>, QuantError> {
    let (format, _, size) = format_of(ty)?;
    let mut block = vec![0; size];
    rng.fill(&mut block[..]);
    for (role, place) in format.places(|_| true) {
        match (role, scales.draw(rng)) {
            (Role::Scale(kind), Some(scale)) => place.write(&mut block, kind.nearest(scale)),
            (Role::Value, Some(value)) => {
                if let Some(encode) = format.encode {
                    encode(&[value], &mut block);
                }
            }
            _ => {}
        }
    }
    (format.settle)(&mut block);
    Ok(block)
}

/// A kind of edge. Those that a type does not have give no blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edge {
    /// Every scale in turn at each value of a list, the other scales 1: zero, the smallest and the largest
    /// subnormal, the smallest normal, one, the largest finite value, each of both signs, infinities and
    /// NaN. Of one-byte kinds all 256, in all scales at once. Of plain floats the same values, as far as
    /// they can be encoded.
    Scales,
    /// Every sub-scale, with every sub-minimum where the type has them: each value or pair in one group.
    SubScales,
    /// Every code (of TQ1_0 every byte) at every weight.
    Codes,
    /// Every grid index at every place.
    Grid,
    /// Every pattern of signs at every place, and every shift.
    Signs,
}

impl Edge {
    /// All kinds.
    pub const ALL: [Self; 5] = [Self::Scales, Self::SubScales, Self::Codes, Self::Grid, Self::Signs];
}

/// The blocks of one kind of edge. All else in them is drawn from a seed that is the number of the type.
///
/// # Errors
///
/// If the type was removed.
pub fn edges(ty: &TensorType, edge: Edge) -> Result<Vec<Vec<u8>>, QuantError> {
    let (format, ..) = format_of(ty)?;
    let mut rng = ChaCha8Rng::seed_from_u64(u64::from(ty.id));
    let mut base = || random(ty, &mut rng, &Scales::exact(1.0));
    let mut blocks = Vec::new();
    match edge {
        Edge::Scales => {
            for (place, code) in scale_codes(format) {
                let mut block = base()?;
                place.write(&mut block, code);
                blocks.push(block);
            }
            let bytes = places(format, |role| matches!(role, Role::Scale(ScaleKind::E8M0 | ScaleKind::Ue4M3)));
            sweep(&bytes, &mut base, &mut blocks)?;
        }
        Edge::SubScales => {
            let scales = places(format, |role| role == Role::SubScale);
            let mins = places(format, |role| role == Role::SubMin);
            let pairs: Vec<_> =
                if mins.is_empty() { scales } else { scales.into_iter().zip(mins).map(|(s, m)| s.and(m)).collect() };
            let mut next = 0..pairs.first().map_or(0, |place| 1_u64 << place.bits());
            while !next.is_empty() {
                let mut block = base()?;
                for (place, value) in pairs.iter().zip(&mut next) {
                    place.write(&mut block, value);
                }
                blocks.push(block);
            }
        }
        Edge::Codes => sweep(&places(format, |role| role == Role::Code), &mut base, &mut blocks)?,
        Edge::Grid => sweep(&places(format, |role| role == Role::Grid), &mut base, &mut blocks)?,
        Edge::Signs => {
            sweep(&places(format, |role| role == Role::Signs), &mut base, &mut blocks)?;
            sweep(&places(format, |role| role == Role::Shift), &mut base, &mut blocks)?;
        }
    }
    blocks.iter_mut().for_each(|block| (format.settle)(block));
    Ok(blocks)
}

fn places(format: &Format, is: impl Fn(Role) -> bool) -> Vec<Place> {
    format.places(is).map(|(_, place)| place).collect()
}

/// As many blocks as a place has values; in each, the places hold values that follow one another.
fn sweep(
    places: &[Place],
    base: &mut impl FnMut() -> Result<Vec<u8>, QuantError>,
    blocks: &mut Vec<Vec<u8>>,
) -> Result<(), QuantError> {
    for first in 0..places.first().map_or(0, |place| 1_u64 << place.bits()) {
        let mut block = base()?;
        for (value, place) in (first..).zip(places) {
            place.write(&mut block, value);
        }
        blocks.push(block);
    }
    Ok(())
}

/// Every scale of more than a byte with every remarkable value, and every plain float.
fn scale_codes(format: &Format) -> Vec<(Place, u64)> {
    // By magnitude: zero, the subnormals, the normals, infinity, and two NaNs.
    const HALF: [u64; 9] = [0, 1, 0x3FF, 0x400, 0x3C00, 0x7BFF, 0x7C00, 0x7C01, 0x7E00];
    const SINGLE: [u64; 9] =
        [0, 1, 0x7F_FFFF, 0x80_0000, 0x3F80_0000, 0x7F7F_FFFF, 0x7F80_0000, 0x7F80_0001, 0x7FC0_0000];
    const DOUBLE: [u64; 9] = [
        0,
        1,
        0xF_FFFF_FFFF_FFFF,
        1 << 52,
        0x3FF << 52,
        0x7FEF_FFFF_FFFF_FFFF,
        0x7FF << 52,
        (0x7FF << 52) + 1,
        0x7FF8 << 48,
    ];
    let list = |role, bits| match (role, bits) {
        (Role::Scale(ScaleKind::F16 | ScaleKind::SplitF16), _) => HALF.to_vec(),
        (Role::Scale(ScaleKind::F32), _) => SINGLE.to_vec(),
        (Role::Value, 16) => SINGLE.iter().map(|code| code >> 16).chain(HALF).collect(),
        (Role::Value, 32) => SINGLE.to_vec(),
        (Role::Value, 64) => DOUBLE.to_vec(),
        _ => Vec::new(),
    };
    format
        .places(|_| true)
        .flat_map(|(role, place)| {
            let sign = 1 << (place.bits() - 1);
            list(role, place.bits()).into_iter().flat_map(move |code| [(place, code), (place, code | sign)])
        })
        .collect()
}
