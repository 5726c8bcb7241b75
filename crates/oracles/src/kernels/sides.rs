//! Which side a decoder takes where authorities differ about a scale: told, and never held against it.

use gguf_spec::quant::{self, Dispute, Side, same};
use gguf_spec::types::TensorType;

use super::cases::{block, block_bytes};

/// A weight whose scale is disputed, and what each side of the dispute makes of it.
#[derive(Clone, Debug)]
pub(super) struct Disputed {
    /// Its place among the weights that are decoded.
    pub(super) at: usize,
    dispute: &'static Dispute,
    readings: Vec<f32>,
}

/// What a decoder made of all weights that fall under one dispute.
#[derive(Clone, Debug)]
pub struct Taken {
    /// The dispute.
    pub dispute: &'static Dispute,
    /// Of each side, whether it makes the same of all these weights.
    agrees: Vec<bool>,
}

impl Taken {
    /// The sides that make the same of these weights, in the order of the dispute; none if nobody known does.
    pub fn sides(&self) -> impl Iterator<Item = &'static Side> {
        self.dispute.sides.iter().zip(&self.agrees).filter(|(_, agrees)| **agrees).map(|(side, _)| side)
    }
}

/// The disputed weights of some blocks, the first of which decode to the weight at `first`.
pub(super) fn of_blocks(ty: &'static TensorType, bytes: &[u8], first: usize) -> Vec<Disputed> {
    let mut found = Vec::new();
    for (index, bytes) in bytes.chunks_exact(block_bytes(ty)).enumerate() {
        if quant::disputed(ty, bytes).is_none() {
            continue;
        }
        found.extend((0..block(ty)).filter_map(|weight| {
            let (dispute, readings) = quant::readings(ty, bytes, weight)?;
            Some(Disputed { at: first + index * block(ty) + weight, dispute, readings })
        }));
    }
    found
}

/// Adds what a decoder made of disputed weights to what it made of others.
pub(super) fn take(y: &[f32], disputed: &[Disputed], taken: &mut Vec<Taken>) {
    for one in disputed {
        let same = one.readings.iter().map(|&reading| same(reading, y[one.at]));
        match taken.iter_mut().find(|taken| std::ptr::eq(taken.dispute, one.dispute)) {
            Some(known) => known.agrees.iter_mut().zip(same).for_each(|(agrees, same)| *agrees &= same),
            None => taken.push(Taken { dispute: one.dispute, agrees: same.collect() }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::draw::all_edges;

    /// Whoever decodes like a side is told to be on it, and on those sides alone that say the same.
    #[test]
    fn every_side_is_told() {
        let mut told = 0;
        for ty in TensorType::live() {
            let blocks = all_edges(ty).map(|edges| edges.concat()).unwrap_or_default();
            let disputed = of_blocks(ty, &blocks, 0);
            let count = disputed.iter().map(|one| one.readings.len()).max().unwrap_or(0);
            for side in 0..count {
                let mut y = vec![f32::from_bits(0xFFFF_FFFF); blocks.len() / block_bytes(ty) * block(ty)];
                for one in &disputed {
                    y[one.at] = one.readings.get(side).copied().unwrap_or(1.5);
                }
                let mut taken = Vec::new();
                take(&y, &disputed, &mut taken);
                for taken in taken {
                    let here = taken.dispute.sides.get(side);
                    let says = here.map(|side| side.says);
                    let found: Vec<_> = taken.sides().map(|side| side.who).collect();
                    assert_eq!(found.is_empty(), here.is_none(), "{}: {found:?}", ty.name);
                    assert!(here.is_none_or(|side| found.contains(&side.who)), "{}: {says:?}: {found:?}", ty.name);
                    assert!(found.len() <= 2, "{}: {says:?}: {found:?}", ty.name);
                    told += 1;
                }
            }
        }
        assert_eq!(told, 4 + 4 + 4);
    }
}
