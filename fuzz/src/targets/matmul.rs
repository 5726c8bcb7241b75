//! Every set of kernels on products of any blocks with any activations.

use assay_oracles::kernels::given;

use crate::operands::Product;
use crate::{Found, Kind, Target, kernel_sets};

/// Products are within the worst case of the contract, columns are alone what they are among others, and nothing
/// is written beside the result.
pub const TARGET: Target = Target {
    name: "matmul",
    says: "Products are within the worst case of the contract, columns are alone what they are among others, and nothing is written beside the result.",
    kind: Kind::Products,
    run,
};

fn run(bytes: &[u8]) -> Result<Found, String> {
    let Some(product) = Product::read(bytes) else { return Ok(Found::default()) };
    let asked = product.matmul().map_err(|error| error.to_string())?;
    let mut accepted = false;
    for set in &mut kernel_sets() {
        let judged = given::matmul(set, &asked)?;
        // Most of it, at least.
        accepted |= judged.judged * 2 > judged.elements;
    }
    Ok(Found { accepted, ty: accepted.then_some(product.ty().name), ..Found::default() })
}
