//! Inputs whose products are exact in every form: scales of one, and activations that are small integers, with
//! one of 127 in every 32, times a power of two.

use gguf_spec::quant::blocks::{Scales, random};
use gguf_spec::quant::{self, Weight};
use gguf_spec::types::TensorType;
use rand::{Rng, RngExt as _};

/// All activations are integers times this.
const STEP: f32 = 0.125;

/// So many rows of `k` weights.
pub(crate) fn weights(ty: &'static TensorType, rows: usize, k: usize, rng: &mut impl Rng) -> Vec<u8> {
    if ty.quantized {
        let blocks = rows * k / usize::try_from(ty.block).unwrap();
        return (0..blocks).flat_map(|_| random(ty, rng, &Scales::exact(1.0)).unwrap()).collect();
    }
    let values: Vec<f32> = (0..rows * k).map(|_| f32::from(rng.random_range(-64_i8..=64)) * 0.125).collect();
    let mut bytes = vec![0; rows * k * usize::try_from(ty.bytes).unwrap()];
    quant::encode(ty, &values, &mut bytes).unwrap();
    bytes
}

/// So many columns of `k` activations, none of them zero.
pub(crate) fn activations(columns: usize, k: usize, rng: &mut impl Rng) -> Vec<f32> {
    let mut values = Vec::with_capacity(columns * k);
    for _ in 0..columns {
        let mut column: Vec<i8> = (0..k).map(|_| rng.random_range(1..=3)).collect();
        for block in column.chunks_mut(32) {
            let at = rng.random_range(0..block.len());
            block[at] = 127;
        }
        values.extend(column.into_iter().map(|code| if rng.random() { STEP } else { -STEP } * f32::from(code)));
    }
    values
}

/// The product of a row with a column, exactly; the weights are multiples of `unit`.
///
/// # Panics
///
/// If it would not be exact in f32 in any order.
#[expect(clippy::cast_possible_truncation, reason = "exact, as is asserted")]
pub(crate) fn product(row: &[Weight], unit: f64, column: &[f32]) -> f32 {
    let (mut sum, mut magnitude) = (0.0, 0.0);
    for (weight, &x) in row.iter().zip(column) {
        let x = f64::from(x);
        sum += weight.value() * x;
        magnitude += (weight.product.abs() + weight.offset.abs()) * x.abs();
    }
    let steps = magnitude / (unit * f64::from(STEP));
    assert!(steps < 2_f64.powi(24), "{steps} steps");
    sum as f32
}

/// The largest power of two up to 1 that all weights are multiples of; in grids with a shift eighths occur.
///
/// # Panics
///
/// If there is none above a thousandth.
pub(crate) fn unit(weights: &[Weight]) -> f64 {
    let divides = |unit: f64, x: f64| (x / unit).fract() == 0.0;
    let all = |&unit: &f64| weights.iter().all(|weight| divides(unit, weight.product) && divides(unit, weight.offset));
    (0..10).map(|halvings| 0.5_f64.powi(halvings)).find(all).expect("weights of a scale of one")
}

/// The exact weights of some blocks.
pub(crate) fn exactly(ty: &TensorType, blocks: &[u8]) -> Vec<Weight> {
    let size = usize::try_from(ty.bytes).unwrap();
    let mut weights = vec![Weight::default(); blocks.len() / size * usize::try_from(ty.block).unwrap()];
    quant::weights(ty, blocks, &mut weights).unwrap();
    weights
}
