//! The customary test of a kernel: one shape, ordinary data, and a limit on the mean of the squared errors.

use gguf_spec::kernel::Operation;

use super::{Mutant, prepare};
use crate::kernels::cases::{Case, Tier, block};
use crate::kernels::generic::Generic;
use crate::kernels::judge::results;
use crate::kernels::numbers::real;

/// The limit that ggml's `test-backend-ops` has for products of matrices: the sum of squared errors over the sum of
/// squares.
pub const NMSE_LIMIT: f64 = 5e-4;

/// The case it is tried on: 32 rows, the shortest row of at least 32 weights, 32 columns.
fn case(mutant: &Mutant, seed: u64) -> Case {
    let ty = mutant.tensor_type();
    let k = 32_usize.next_multiple_of(block(ty).max(1));
    Case { rows: 32, k, columns: 32, ..Case::new(Operation::Matmul, ty, Tier::Ordinary, seed) }
}

/// Whether the customary test kills a fault: products of random data, 32 rows by 32 columns, compared as a whole.
/// A result that is not finite is killed too. `None` for a fault of other operations: the test multiplies matrices.
#[must_use]
pub fn nmse_kills(mutant: &Mutant, seed: u64) -> Option<bool> {
    let asked = mutant.operations.contains(&Operation::Matmul);
    asked.then(|| nmse(mutant, seed).is_none_or(|nmse| nmse.is_nan() || nmse > NMSE_LIMIT))
}

/// The error of a set with a fault on the customary test; `None` if it gives no result.
fn nmse(mutant: &Mutant, seed: u64) -> Option<f64> {
    let case = case(mutant, seed);
    let prepared = prepare(mutant.family, &case)?;
    let pairs = results(&mut Generic::with(*mutant), &prepared)?;
    let (mut errors, mut squares) = (0.0, real(0));
    for (expected, got) in pairs {
        errors += (f64::from(got) - expected).powi(2);
        squares += expected.powi(2);
    }
    Some(errors / squares)
}
