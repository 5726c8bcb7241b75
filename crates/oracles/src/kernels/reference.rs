//! What the result is: exactly decoded weights times activations, in binary64 with compensation.

/// A sum that carries what its roundings lost. Of `n` terms it is wrong by about `n^2` units of 2^-106, relative
/// to the sum of magnitudes: nothing, next to what is judged.
///
/// Source: Ogita, Rump and Oishi, "Accurate Sum and Dot Product" (2005), algorithm `Dot2`.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sum {
    high: f64,
    low: f64,
}

impl Sum {
    /// Adds a product.
    pub(super) fn add(&mut self, a: f64, b: f64) {
        let product = a * b;
        // What the product lost: exact with a fused multiplication.
        let lost = a.mul_add(b, -product);
        let sum = self.high + product;
        // What the sum lost (Knuth), whichever of the two was larger.
        let back = sum - self.high;
        self.low += (self.high - (sum - back)) + (product - back) + lost;
        self.high = sum;
    }

    /// The value.
    pub(super) fn value(self) -> f64 {
        let total = self.high + self.low;
        // Infinite or undefined sums have no corrections.
        if total.is_nan() { self.high } else { total }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_large_terms_swallow_comes_back() {
        let mut sum = Sum::default();
        for (a, b) in [(1e30, 1.0), (1.0, 3.0), (-1e30, 1.0), (0.1, 0.1), (-0.1, 0.1)] {
            sum.add(a, b);
        }
        assert_eq!(sum.value().to_bits(), 3_f64.to_bits());
    }
}
