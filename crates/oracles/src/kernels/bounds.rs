//! How far from the exact result a right kernel can be, derived from its contract.
//!
//! The exact result is `y* = sum w x`. A kernel holds weights as `w'` and activations as `x'`, multiplies and
//! adds. With `W` the magnitude of a weight's parts ([`Component::magnitude`]), `e` how far the form moves an
//! activation (`Held`), and `X = |x| + e`, three things come between:
//!
//! - *Activations are moved*: by at most `sum V e`. All parts of a weight meet the same `x'`, so `V = |w|`, not
//!   `W`; but Q8_1 stores the sum of activations apart, which may be the sum of what was before: there
//!   `V` is what meets the codes alone ([`Component::apart`]). The stored sum has a rounding of its own, which
//!   is multiplied with the minimum or with what the codes are counted from: `sum over blocks max (|m| + |implied|) *
//!   sum_error`.
//! - *Weights are moved*: by at most `rw W`, or by half of the smallest number of the form: `sum (rw W + least) X`.
//! - *Sums are rounded*: `n` roundings in a row change a term by a factor between `(1 - u)^n` and `(1 + u)^n`,
//!   so a sum of terms of magnitudes `W X (1 + rw)` by at most `g(n) = n u / (1 - n u)` of it (Higham, "Accuracy and
//!   Stability of Numerical Algorithms", lemma 3.1). `n` is counted in [`roundings`].
//!
//! And `A`, for what is too small for a relative error: products that underflow.
//!
//! That is the *worst case*. It is the bound of the tier *lossless*, where `e` is 0. For ordinary activations it
//! is far too wide: roundings do not conspire. So there the bound is *likely*: as roundings are independent and
//! uniform, the sum of `w e` is strictly sub-Gaussian with variance `s^2 = sum V^2 variance`, and beyond six
//! deviations with a probability of less than 2 e^-18 = 3e-8. What is not random is added: rounding of sums, and a
//! block's scale that is off as a whole, by `drift |sum over block w x|`.
//!
//! A row is judged as a whole too ([`row_limit`]): the sum over columns of `(error / s)^2`, which is its NMSE in
//! units of what the form explains.

use gguf_spec::kernel::contract::{Accumulator, Contract, Form};

use super::components::Component;
use super::held::Held;
use super::numbers::{power, real};
use super::reference::Sum;

/// How many deviations a result may be off.
const DEVIATIONS: f64 = 6.0;

/// What is said about one element of the result.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limit {
    /// The exact result.
    pub expected: f64,
    /// How far a right kernel can be from it.
    pub worst: f64,
    /// The part of that which is not random, or is added up in an order that nobody knows.
    pub fixed: f64,
    /// The deviation of the part that is random.
    pub deviation: f64,
    /// Whether the forms can hold the operands. If not, a result that is not finite is right too, and a finite
    /// one has to be within the bound all the same.
    pub holds: bool,
}

impl Limit {
    /// How far a right kernel is likely to be from the exact result: what ordinary data is held to.
    #[must_use]
    pub fn likely(&self) -> f64 {
        self.worst.min(self.fixed + DEVIATIONS * self.deviation)
    }
}

/// A row of weights, prepared.
#[derive(Clone, Debug)]
pub(super) struct Row {
    /// The weights.
    w: Vec<f64>,
    /// The magnitudes of their parts.
    magnitude: Vec<f64>,
    /// What errors of activations are multiplied with.
    moved: Vec<f64>,
    /// What errors of sums of activations are multiplied with.
    summed: Vec<f64>,
    /// How far a weight may be off for being small: subnormal in its form, or lost with its scale.
    least: Vec<f64>,
    /// Whether the form holds all of them.
    holds: bool,
}

impl Row {
    /// `lost` says of each weight whether it may become zero because its scale is subnormal.
    pub(super) fn new(parts: &[Component], lost: &[bool], contract: &Contract) -> Self {
        let apart = contract.activations == Form::Q8_1;
        let collect = |f: &dyn Fn(&Component) -> f64| parts.iter().map(f).collect::<Vec<_>>();
        // Half of the smallest number of the form; all of a subnormal one, if those are flushed.
        let least = match (contract.weights, contract.flushes_subnormals) {
            (Form::F16, false) => power(-25),
            (Form::F16, true) => power(-14),
            (_, false) => 0.0,
            (_, true) => power(-126),
        };
        let f16 = contract.weights == Form::F16;
        let most = |c: &Component| c.raw().abs().max(c.implied.abs()).max(c.offset.abs()).max(c.value().abs());
        Self {
            w: collect(&Component::value),
            magnitude: collect(&Component::magnitude),
            moved: collect(&|c| if apart { c.apart() } else { c.value().abs() }),
            summed: collect(&|c| if apart { c.summed() } else { 0.0 }),
            least: parts
                .iter()
                .zip(lost)
                .map(|(c, &lost)| if lost { c.magnitude() } else { least.min(c.magnitude()) })
                .collect(),
            holds: !f16 || parts.iter().all(|c| most(c) < 65_504.0),
        }
    }

    /// What is said about this row and a column.
    pub(super) fn limit(&self, column: &Held, contract: &Contract) -> Limit {
        let mut exact = Sum::default();
        let (mut terms, mut moved, mut small, mut variance) = (0.0, 0.0, 0.0, 0.0);
        let (mut drift, mut sums, mut sums_variance) = (0.0, 0.0, 0.0);
        let rw = contract.weights.relative_error();
        for (index, block) in column.blocks.iter().enumerate() {
            let start = index * column.block;
            let end = (start + column.block).min(self.w.len());
            let (mut whole, mut plain, mut summed) = (0.0, 0.0, 0.0_f64);
            for i in start..end {
                let (w, x, e) = (self.w[i], column.x[i], column.error[i]);
                exact.add(w, x);
                whole += w * x;
                plain += x;
                summed = summed.max(self.summed[i]);
                let reach = x.abs() + e;
                terms += self.magnitude[i] * reach;
                small += self.least[i] * reach;
                moved += self.moved[i] * e;
                variance += self.moved[i] * self.moved[i] * column.variance[i];
                // The same code is rounded the same way wherever it stands, so no third is taken off.
                variance += (rw * self.magnitude[i] * x) * (rw * self.magnitude[i] * x);
            }
            drift += block.drift * (whole.abs() + summed * plain.abs());
            sums += summed * block.sum_error;
            sums_variance += (summed * block.sum_error) * (summed * block.sum_error);
        }
        let terms = terms * (1.0 + rw);
        let rounding = rounding(contract, self.w.len(), terms, exact.value());
        let tiny = small + underflow(contract, self.w.len(), column.largest);
        Limit {
            expected: exact.value(),
            worst: rw * terms + moved + sums + rounding + tiny,
            fixed: drift + rounding + tiny,
            deviation: (variance + sums_variance).sqrt(),
            holds: self.holds && column.holds && finite(contract, terms),
        }
    }
}

/// Whether no sum of so much can leave the range of what it is added up in.
fn finite(contract: &Contract, terms: f64) -> bool {
    match contract.accumulator {
        Accumulator::F16 { .. } => terms < 65_504.0,
        Accumulator::F32 | Accumulator::F64 => terms < f64::from(f32::MAX) / 2.0,
    }
}

/// How many roundings a product goes through on its way into a sum of `k`, with activations in a form.
///
/// One for each addition: of numbers held one by one, `k` at most; of codes in blocks, the products of a group are
/// added as integers, which is exact, so it is one a group. One more for each group that has a minimum or a middle
/// to take off. No group, of any type, has fewer than 16 weights. And eight: products of scales, of a scale with a
/// code and with an activation, the product itself, and the result.
#[must_use]
pub fn roundings(k: usize, activations: Form) -> usize {
    let groups = k.div_ceil(16);
    let additions = if activations.blocks().is_some() { groups } else { k };
    additions + groups + 8
}

/// `n u / (1 - n u)`; infinite where that says nothing.
#[must_use]
pub fn gamma(n: usize, unit: f64) -> f64 {
    let nu = real(n) * unit;
    // Beyond a quarter, a bound of this kind is of no use.
    if nu < 0.25 { nu / (1.0 - nu) } else { f64::INFINITY }
}

/// What rounding sums of `k` products, of magnitudes that add up to `terms`, can come to.
fn rounding(contract: &Contract, k: usize, terms: f64, expected: f64) -> f64 {
    // Nothing is lost of nothing, even where nothing else can be said.
    if terms == 0.0 {
        return 0.0;
    }
    let n = roundings(k, contract.activations);
    let single = gamma(n, Accumulator::F32.unit());
    match contract.accumulator {
        Accumulator::F32 => single * terms,
        // A chunk, of which every product and sum may be below the normal numbers too; and binary32 beyond.
        Accumulator::F16 { chunk } => {
            let chunk = usize::try_from(chunk).unwrap_or(usize::MAX).min(k);
            let half = gamma(roundings(chunk, contract.activations), contract.accumulator.unit());
            half * terms + single * terms * (1.0 + half) + real(2 * k) * power(-25)
        }
        // And once at the end, to binary32.
        Accumulator::F64 => {
            let double = gamma(n, contract.accumulator.unit());
            double * terms + power(-24) * (expected.abs() + double * terms)
        }
    }
}

/// `A`: what products that are too small lose.
///
/// Each of `k` products is a scale or two times a code or two, in an order that nobody knows. One that is below
/// the normal numbers of binary32 is off by half of 2^-149, or by 2^-126 if it is flushed; what comes after
/// multiplies that with a code of at most 2^12, with an activation, and with a code of an activation.
fn underflow(contract: &Contract, k: usize, largest: f64) -> f64 {
    let lost = if contract.flushes_subnormals { power(-126) } else { power(-150) };
    let codes = if contract.activations.blocks().is_some() { power(12) * power(7) } else { power(12) };
    real(roundings(k, Form::Exact)) * lost * codes * (1.0 + largest)
}

/// How much the squares of `columns` errors may come to, each in units of its deviation.
///
/// Under the model the errors of a row are independent from column to column and strictly sub-Gaussian, so the
/// sum of their squares exceeds `n + 2 sqrt(n t) + 2 t` with a probability below e^-t (Hsu, Kakade and Zhang, "A tail
/// inequality for quadratic forms of subgaussian random vectors", 2012, theorem 2.1); t = 21 makes that 1e-9.
#[must_use]
pub fn row_limit(columns: usize) -> f64 {
    let (n, t) = (real(columns), 21.0_f64);
    n + 2.0 * (n * t).sqrt() + 2.0 * t
}

#[cfg(test)]
mod tests {
    use super::*;
    use gguf_spec::kernel::contract::FORMS;

    fn limits(contract: &Contract, x: &[f32]) -> Limit {
        let parts: Vec<_> =
            (0..x.len()).map(|i| Component { product: real(i % 7) - 3.0, offset: -0.5, implied: -3.0 }).collect();
        Row::new(&parts, &vec![false; x.len()], contract)
            .limit(&Held::new(x, contract.activations, contract.flushes_subnormals), contract)
    }

    /// A contract that allows more has bounds that are not smaller.
    #[test]
    fn bounds_grow_with_what_is_allowed() {
        let x: Vec<f32> = (0_u8..96).map(|i| (f32::from(i) - 40.3) / 8.1).collect();
        let base = limits(&Contract::F32, &x);
        assert!(base.worst > 0.0);
        for row in FORMS {
            for wider in [
                Contract::F32.with_activations(row.form),
                Contract { weights: Form::F16, ..Contract::F32.with_activations(row.form) },
                Contract { accumulator: Accumulator::F16 { chunk: 32 }, ..Contract::F32.with_activations(row.form) },
                Contract { flushes_subnormals: true, ..Contract::F32.with_activations(row.form) },
            ] {
                let limit = limits(&wider, &x);
                assert!(limit.worst >= base.worst, "{wider:?}");
                assert!(limit.likely() >= base.likely(), "{wider:?}");
                let narrower = Contract {
                    weights: Form::Exact,
                    accumulator: Accumulator::F32,
                    flushes_subnormals: false,
                    ..wider
                };
                assert!(limit.worst >= limits(&narrower, &x).worst, "{wider:?}");
            }
        }
    }

    /// No bound is a NaN: nothing, under a contract that says nothing of long sums.
    #[test]
    fn nothing_is_nothing_under_every_contract() {
        let contract = Contract { accumulator: Accumulator::F16 { chunk: u32::MAX }, ..Contract::F32 };
        for x in [0.0, 1.0] {
            for parts in [
                Component { product: 0.0, offset: 0.0, implied: 0.0 },
                Component { product: 1.0, offset: 0.0, implied: 0.0 },
            ] {
                let row = Row::new(&vec![parts; 4096], &vec![false; 4096], &contract);
                let limit = row.limit(&Held::new(&vec![x; 4096], Form::Exact, false), &contract);
                let nothing = parts.product * f64::from(x) == 0.0;
                assert_eq!(limit.worst.is_finite(), nothing, "{limit:?}");
                assert!(!limit.worst.is_nan() && !limit.fixed.is_nan() && !limit.likely().is_nan(), "{limit:?}");
            }
        }
    }

    /// Longer sums and larger activations are allowed more.
    #[test]
    fn bounds_grow_with_length_and_size() {
        for row in FORMS {
            let contract = Contract::F32.with_activations(row.form);
            let x: Vec<f32> = (0_u16..512).map(|i| f32::from(i % 31) - 15.25).collect();
            let limits = |x: &[f32]| limits(&contract, x);
            for k in [32, 64, 256] {
                assert!(limits(&x[..k]).worst < limits(&x[..2 * k]).worst, "{} {k}", row.name);
                let larger: Vec<f32> = x[..k].iter().map(|x| x * 4.0).collect();
                assert!(limits(&x[..k]).worst < limits(&larger).worst, "{} {k}", row.name);
            }
        }
        assert!((1..4000).all(|n| gamma(n, power(-24)) < gamma(n + 1, power(-24))));
        assert!((1..600).all(|n| row_limit(n) / real(n) > row_limit(n + 1) / real(n + 1)));
    }
}
