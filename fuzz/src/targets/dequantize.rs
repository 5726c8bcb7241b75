//! Every set of kernels on any blocks of any type.

use assay_oracles::kernels::given;

use crate::{Found, Kind, Target, kernel_sets, operands};

/// Every set of kernels decodes what the specification decodes, bit for bit, and both refuse what are no whole
/// blocks.
pub const TARGET: Target = Target {
    name: "dequantize",
    says: "Every set of kernels decodes what the specification decodes, bit for bit, and both refuse what are no whole blocks.",
    kind: Kind::Blocks,
    run,
};

fn run(bytes: &[u8]) -> Result<Found, String> {
    let Some((ty, blocks)) = operands::blocks(bytes) else { return Ok(Found::default()) };
    given::specification(ty, blocks)?;
    for set in &mut kernel_sets() {
        given::dequantize(set, ty, blocks)?;
    }
    let accepted = blocks.len() >= operands::block_bytes(ty);
    Ok(Found { accepted, ty: accepted.then_some(ty.name), ..Found::default() })
}
