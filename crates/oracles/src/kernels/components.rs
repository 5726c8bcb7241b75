//! What a kernel may hold a weight as.
//!
//! A weight is `product + offset`. Many kernels take codes as they are stored and subtract their middle (the 8
//! of Q4_0, the 32 of Q6_K) for a whole group at a time: then the product has two parts more, which are larger
//! than their sum. Whatever is said about sums of weights times activations has to hold for these parts too.

use gguf_spec::quant::{self, Role, Weight};
use gguf_spec::types::TensorType;

use super::cases::{block, block_bytes};

/// The parts of one weight, exactly.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Component {
    /// The scale times what the code stands for.
    pub product: f64,
    /// The minimum; 0 in types that have none.
    pub offset: f64,
    /// The product if the code were stored as zero: what codes are counted from, times the scale. 0 in types
    /// whose codes have a sign.
    pub implied: f64,
}

impl Component {
    /// The weight.
    #[must_use]
    pub fn value(&self) -> f64 {
        self.product + self.offset
    }

    /// The code as it is stored, times the scale.
    #[must_use]
    pub fn raw(&self) -> f64 {
        self.product - self.implied
    }

    /// The magnitudes of all parts, added: W. No way of taking the weight apart has more.
    #[must_use]
    pub fn magnitude(&self) -> f64 {
        self.raw().abs() + self.implied.abs() + self.offset.abs()
    }

    /// How much of the weight can be in a sum of any of its parts, in any order: what is counted from zero up
    /// and what is taken off again have opposite signs.
    #[must_use]
    pub fn partial(&self) -> f64 {
        self.raw().abs().max(self.implied.abs()) + self.offset.abs()
    }

    /// What is multiplied with the sum of activations instead of with each of them, if a kernel does that.
    #[must_use]
    pub fn summed(&self) -> f64 {
        self.implied.abs() + self.offset.abs()
    }

    /// The largest magnitude that an activation's error may be multiplied with, where the sum of activations
    /// has an error of its own.
    #[must_use]
    pub fn apart(&self) -> f64 {
        self.raw().abs().max(self.product.abs()).max(self.value().abs())
    }
}

/// The components of whole blocks.
///
/// # Panics
///
/// If the bytes are not whole blocks of a type with a layout: callers pass rows of a matrix.
#[must_use]
pub fn components(ty: &TensorType, bytes: &[u8]) -> Vec<Component> {
    let count = bytes.len() / block_bytes(ty) * block(ty);
    let decode = |bytes: &[u8]| {
        let mut weights = vec![Weight::default(); count];
        if let Err(e) = quant::weights(ty, bytes, &mut weights) {
            panic!("components: {e}");
        }
        weights
    };
    let stored = decode(bytes);
    match without_codes(ty, bytes) {
        None => stored.iter().map(|w| Component { product: w.product, offset: w.offset, implied: 0.0 }).collect(),
        Some(bare) => stored
            .iter()
            .zip(decode(&bare))
            .map(|(w, bare)| Component { product: w.product, offset: w.offset, implied: bare.product })
            .collect(),
    }
}

/// The blocks with all codes zero; `None` for types whose codes are counted from zero anyway.
///
/// Points of a grid are no codes: their signs are apart. The ternary grid of IQ1_S and IQ1_M is counted from
/// -1, at index 0; those are the types that have shifts.
fn without_codes(ty: &TensorType, bytes: &[u8]) -> Option<Vec<u8>> {
    let format = ty.format?;
    let shifted = format.parts.iter().any(|part| part.role == Role::Shift);
    let counted = |role| role == Role::Code || (shifted && role == Role::Grid);
    let mut kept = vec![0xFF_u8; block_bytes(ty)];
    format.places(counted).for_each(|(_, place)| place.write(&mut kept, 0));
    if kept.iter().all(|&mask| mask == 0xFF) {
        return None;
    }
    let masks = kept.iter().cycle();
    Some(bytes.iter().zip(masks).map(|(byte, mask)| byte & mask).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use gguf_spec::quant::blocks::{Scales, random};
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    /// The middles that kernels subtract, as the formulas of the formats have them.
    #[test]
    fn codes_are_counted_from_the_middle_that_the_formula_has() {
        for (name, middle) in [
            ("Q4_0", 8.0),
            ("Q5_0", 16.0),
            ("Q1_0", 1.0),
            ("Q2_0", 1.0),
            ("TQ2_0", 1.0),
            ("TQ1_0", 1.0),
            ("Q4_1", 0.0),
            ("Q8_0", 0.0),
            ("IQ4_NL", 127.0),
            ("MXFP4", 0.0),
        ] {
            let ty = TensorType::from_name(name).unwrap();
            let block = random(ty, &mut ChaCha8Rng::seed_from_u64(1), &Scales::exact(1.0)).unwrap();
            for component in components(ty, &block) {
                assert_eq!(component.implied.abs().to_bits(), f64::to_bits(middle), "{name}");
            }
        }
    }

    #[test]
    fn parts_are_never_less_than_the_whole() {
        for ty in TensorType::live() {
            let block = random(ty, &mut ChaCha8Rng::seed_from_u64(2), &Scales::Exponents(-4..=4)).unwrap();
            for c in components(ty, &block) {
                assert!(c.value().abs() <= c.partial() && c.partial() <= c.magnitude(), "{} {c:?}", ty.name);
            }
        }
    }
}
