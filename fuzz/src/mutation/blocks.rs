//! Changes of blocks: a type for another, blocks that change places, numbers in them at their edges.

use gguf_spec::quant::Role;
use gguf_spec::quant::blocks::{Scales, random};
use gguf_spec::types::{ScaleKind, TensorType};
use rand::{Rng, RngExt};

use crate::Kind;
use crate::operands::{ACTIVATION, SHAPE, block_bytes, chosen, head, types};

/// An input near this one, of at most `most` bytes.
pub(super) fn mutated(kind: Kind, bytes: &[u8], most: usize, rng: &mut impl Rng) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for _ in 0..rng.random_range(1..=3) {
        change(kind, &mut bytes, rng);
    }
    bytes.truncate(most);
    bytes
}

/// The head and some first blocks of one input, and some last ones of another.
pub(super) fn crossed(kind: Kind, a: &[u8], b: &[u8], most: usize, rng: &mut impl Rng) -> Vec<u8> {
    let size = a.first().map_or(1, |&first| block_bytes(chosen(first)));
    let mut cut = |bytes: &[u8]| {
        let head = head(kind, bytes);
        head + rng.random_range(0..=(bytes.len() - head) / size) * size
    };
    let mut bytes = [&a[..cut(a)], &b[cut(b)..]].concat();
    bytes.truncate(most);
    bytes
}

fn change(kind: Kind, bytes: &mut Vec<u8>, rng: &mut impl Rng) {
    let Some(&first) = bytes.first() else {
        bytes.push(rng.random());
        return;
    };
    let ty = chosen(first);
    let (head, size) = (head(kind, bytes), block_bytes(ty));
    let count = (bytes.len() - head) / size;
    if count == 0 {
        bytes.truncate(head);
        match bytes.get_mut(SHAPE - 1) {
            // Activations that leave no room for blocks become few.
            Some(activations) if kind == Kind::Products && rng.random() => *activations = rng.random_range(0..16),
            _ => insert(ty, bytes, head, rng),
        }
        return;
    }
    let mut pick = || head + rng.random_range(0..count) * size;
    let (a, b) = (pick(), pick());
    match rng.random_range(0..12) {
        // The same bytes are blocks of another type.
        0 => bytes[0] = u8::try_from(rng.random_range(0..types())).unwrap_or(0),
        1 => (0..size).for_each(|i| bytes.swap(a + i, b + i)),
        2 => bytes.copy_within(a..a + size, b),
        3 => drop(bytes.drain(a..a + size)),
        4 => insert(ty, bytes, a, rng),
        5 | 6 => number(ty, &mut bytes[a..a + size], |role| matches!(role, Role::Scale(_) | Role::Value), rng),
        7 | 8 => number(ty, &mut bytes[a..a + size], |_| true, rng),
        // No whole blocks any more.
        9 => bytes.truncate(bytes.len() - rng.random_range(0..size)),
        10 => {
            let at = rng.random_range(0..bytes.len());
            bytes[at] = rng.random();
        }
        _ if kind == Kind::Products => operands(&mut bytes[..head], rng),
        _ => bytes[a + rng.random_range(0..size)] ^= 1 << rng.random_range(0..8),
    }
}

/// A new block.
fn insert(ty: &TensorType, bytes: &mut Vec<u8>, at: usize, rng: &mut impl Rng) {
    let scales = match rng.random_range(0..4) {
        0 => Scales::Any,
        1 => Scales::exact(1.0),
        _ => Scales::Exponents(-20..=4),
    };
    if let Ok(block) = random(ty, rng, &scales) {
        bytes.splice(at..at, block);
    }
}

/// One number of a block at an edge of its range, or near where it was.
fn number(ty: &TensorType, block: &mut [u8], is: impl Fn(Role) -> bool, rng: &mut impl Rng) {
    let Some(format) = ty.format else { return };
    let places: Vec<_> = format.places(is).collect();
    if places.is_empty() {
        return;
    }
    let (role, place) = places[rng.random_range(0..places.len())];
    let all = u64::MAX >> (64 - place.bits());
    let number = match (role, rng.random_range(0..6)) {
        (Role::Scale(kind), 0..=3) => kind.nearest(edge(rng)),
        // Of 32 bits; of narrower ones, the upper half is as good.
        (Role::Value, 0..=3) if place.bits() == 32 => u64::from(edge(rng).to_bits()),
        (Role::Value, 0) if place.bits() == 16 => ScaleKind::F16.nearest(edge(rng)),
        (Role::Value, 1) if place.bits() == 16 => u64::from(edge(rng).to_bits() >> 16),
        (_, 0) => 0,
        (_, 1) => all,
        (_, 2) => all / 2 + 1,
        (_, 3) => place.read(block).wrapping_add(1) & all,
        (_, 4) => place.read(block).wrapping_sub(1) & all,
        _ => rng.random::<u64>() & all,
    };
    place.write(block, number);
}

/// A number at an edge of some format of floats: not always a finite one.
fn edge(rng: &mut impl Rng) -> f32 {
    const EXPONENTS: [i32; 13] = [-149, -127, -126, -25, -24, -15, -14, -9, -6, 0, 8, 15, 127];
    let exponent = EXPONENTS[rng.random_range(0..EXPONENTS.len())];
    let value = match rng.random_range(0..16) {
        0 => 0.0,
        1 => f32::INFINITY,
        2 => f32::NAN,
        3 => f32::MAX,
        4 => 65504.0,
        5 => 65520.0,
        // Two steps, since the power itself may be subnormal.
        _ => 2_f32.powi(exponent / 2) * 2_f32.powi(exponent - exponent / 2),
    };
    if rng.random() { value } else { -value }
}

/// A number of the shape, or an activation.
fn operands(head: &mut [u8], rng: &mut impl Rng) {
    let (shape, activations) = head.split_at_mut(SHAPE.min(head.len()));
    let values = activations.len() / ACTIVATION;
    if values == 0 || rng.random_bool(0.4) {
        let at = rng.random_range(0..shape.len().min(SHAPE - 1));
        shape[at] = rng.random();
        return;
    }
    let (at, other) = (rng.random_range(0..values), rng.random_range(0..values));
    let value = match rng.random_range(0..6) {
        0 => edge(rng),
        1 => f32::from(rng.random::<i8>()),
        // Where codes are rounded: halves, under a scale that another activation makes.
        2 => f32::from(rng.random::<i8>()) + 0.5,
        3 => 127.0,
        _ => {
            activations.copy_within(other * ACTIVATION..(other + 1) * ACTIVATION, at * ACTIVATION);
            return;
        }
    };
    activations[at * ACTIVATION..][..ACTIVATION].copy_from_slice(&value.to_le_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    /// From nothing, every type is reached, and no length is exceeded.
    #[test]
    fn changes_reach_every_type() {
        for kind in [Kind::Blocks, Kind::Products] {
            let (mut bytes, mut reached) = (Vec::new(), std::collections::BTreeSet::new());
            for seed in 0..3000 {
                let mut rng = ChaCha8Rng::seed_from_u64(seed);
                bytes = mutated(kind, &bytes, 400, &mut rng);
                let crossed = crossed(kind, &bytes, &[7; 90], 300, &mut rng);
                assert!(bytes.len() <= 400 && crossed.len() <= 300);
                reached.extend(bytes.first().map(|&first| chosen(first).id));
            }
            assert_eq!(reached.len(), types(), "{kind:?}");
        }
    }
}
