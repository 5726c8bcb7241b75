//! What is expected of one call: the result, and how far from it a right kernel can be.

use gguf_spec::kernel::contract::Contract;
use gguf_spec::kernel::{KernelError, Operation};
use gguf_spec::quant::{self, Role};
use gguf_spec::types::{ScaleKind, TensorType};

use super::bounds::{Limit, Row};
use super::cases::{Case, Tier, block, block_bytes};
use super::components::components;
use super::held::Held;
use super::inputs::{Inputs, NoRoom, form};
use super::numbers::power;
use super::sides::{self, Disputed};

/// A case under a contract: drawn, and with everything known about the right results.
#[derive(Clone, Debug)]
pub struct Prepared {
    /// The case.
    pub case: Case,
    /// The contract.
    pub contract: Contract,
    /// One call, or two.
    pub calls: Vec<Call>,
}

/// One call.
#[derive(Clone, Debug)]
pub struct Call {
    /// What the kernel is given.
    pub inputs: Inputs,
    /// What it should give.
    pub(super) expected: Expected,
}

/// What a call should give.
#[derive(Clone, Debug)]
pub(super) enum Expected {
    /// Weights.
    Decoded(Decoded),
    /// Blocks that decode to these activations, nearly.
    Blocks(Vec<Held>),
    /// Columns of results.
    Product(Vec<Vec<Limit>>),
}

/// Decoded weights.
#[derive(Clone, Debug, Default)]
pub(super) struct Decoded {
    /// These numbers, bit for bit; `None` where authorities differ.
    pub(super) values: Vec<Option<f32>>,
    /// Where they differ about a scale, and who says what.
    pub(super) disputed: Vec<Disputed>,
}

impl Prepared {
    /// Draws a case and computes what is right.
    ///
    /// # Errors
    ///
    /// [`NoRoom`] if the contract leaves no room for such inputs, or rounds so much that nothing can be said.
    pub fn new(case: &Case, contract: &Contract) -> Result<Self, NoRoom> {
        let calls = if case.again { 0..2 } else { 0..1 };
        let calls: Result<Vec<_>, NoRoom> = calls
            .map(|call| {
                let inputs = Inputs::draw(case, contract, call)?;
                let expected = expected(case, contract, &inputs).map_err(|e| NoRoom(e.to_string()))?;
                Ok(Call { inputs, expected })
            })
            .collect();
        let calls = calls?;
        let unlimited = |limits: &Vec<Vec<Limit>>| limits.iter().flatten().all(|limit| !limit.worst.is_finite());
        match &calls[0].expected {
            Expected::Product(limits) if unlimited(limits) => Err(NoRoom(format!(
                "{} say nothing about {} products: no bound is smaller than the sum itself",
                contract.accumulator, case.k
            ))),
            Expected::Decoded(decoded) if decoded.values.iter().all(Option::is_none) => {
                Err(NoRoom("authorities differ about every weight".to_owned()))
            }
            _ => Ok(Self { case: *case, contract: *contract, calls }),
        }
    }
}

fn expected(case: &Case, contract: &Contract, inputs: &Inputs) -> Result<Expected, KernelError> {
    Ok(match case.operation {
        Operation::Dequantize => Expected::Decoded(decoded(case.ty, [inputs.operands().matrix(case)?.row(0)])),
        Operation::GetRows => {
            let matrix = inputs.operands().matrix(case)?;
            let row = |&id: &u32| matrix.row(usize::try_from(id).unwrap_or(usize::MAX));
            Expected::Decoded(decoded(case.ty, inputs.ids.iter().map(row)))
        }
        Operation::QuantizeRow => Expected::Blocks(held(case, contract, inputs)?),
        Operation::Dot | Operation::Matmul | Operation::MatmulId => {
            let columns = held(case, contract, inputs)?;
            let mut experts = Vec::new();
            for expert in 0..case.experts.max(1) {
                let matrix = inputs.operands().expert(case, expert)?;
                experts.push((0..case.rows).map(|row| prepare(case.ty, matrix.row(row), contract)).collect::<Vec<_>>());
            }
            let results = (0..case.results()).map(|result| {
                let (expert, column) = inputs.source(case, result);
                experts[expert].iter().map(|row| row.limit(&columns[column], contract)).collect()
            });
            Expected::Product(results.collect())
        }
    })
}

fn held(case: &Case, contract: &Contract, inputs: &Inputs) -> Result<Vec<Held>, KernelError> {
    let columns = inputs.operands().columns(case)?;
    let form = form(case, contract);
    let hold = |column: &[f32]| match case.tier {
        // Drawn so that the form changes nothing.
        Tier::Exact | Tier::Lossless => Held::unchanged(column),
        Tier::Bits | Tier::Ordinary => Held::new(column, form, contract.flushes_subnormals),
    };
    Ok((0..columns.count).map(|c| hold(columns.column(c))).collect())
}

/// A row, prepared for judging its products under a contract.
pub(super) fn prepare(ty: &'static TensorType, bytes: &[u8], contract: &Contract) -> Row {
    let parts = components(ty, bytes);
    let lost: Vec<bool> = bytes
        .chunks_exact(block_bytes(ty))
        .flat_map(|bytes| std::iter::repeat_n(contract.flushes_subnormals && subnormal(ty, bytes), block(ty)))
        .collect();
    Row::new(&parts, &lost, contract)
}

/// Whether a scale of a block is a subnormal number, of its own kind or of binary32.
fn subnormal(ty: &TensorType, block: &[u8]) -> bool {
    let Some(format) = ty.format else { return false };
    format.places(|role| matches!(role, Role::Scale(_))).any(|(role, place)| {
        let Role::Scale(kind) = role else { return false };
        // Of E8M0, half is what the codes are multiplied with.
        let normal = match kind {
            ScaleKind::F16 | ScaleKind::SplitF16 => -14,
            ScaleKind::F32 => -126,
            ScaleKind::E8M0 => -125,
            ScaleKind::Ue4M3 => return false,
        };
        let scale = kind.value(place.read(block)).abs();
        scale > 0.0 && scale < power(normal)
    })
}

/// The blocks of some rows, decoded one after the other.
fn decoded<'a>(ty: &'static TensorType, rows: impl IntoIterator<Item = &'a [u8]>) -> Decoded {
    let mut all = Decoded::default();
    for bytes in rows {
        let first = all.values.len();
        let mut values = vec![0.0; bytes.len() / block_bytes(ty) * block(ty)];
        if let Err(e) = quant::decode(ty, bytes, &mut values) {
            panic!("expected: {e}");
        }
        all.values.extend(values.into_iter().map(Some));
        let disputed = sides::of_blocks(ty, bytes, first);
        for one in &disputed {
            all.values[one.at] = None;
        }
        all.disputed.extend(disputed);
    }
    all
}
