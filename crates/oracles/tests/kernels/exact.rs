//! Exact inputs are exact: whatever the order, the parts and the precision, sums are the same bits.

use assay_oracles::Holds;
use assay_oracles::kernels::cases::{Case, Tier};
use assay_oracles::kernels::components::components;
use assay_oracles::kernels::inputs::Inputs;
use assay_oracles::kernels::list::list;
use gguf_spec::kernel::Operation;
use gguf_spec::kernel::contract::{Accumulator, Contract, FORMS, Form};
use gguf_spec::quant;
use gguf_spec::types::{ScaleKind, TensorType};
use rand::seq::{IndexedRandom, SliceRandom};
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::{report, seed};

fn contracts() -> Vec<Contract> {
    let held = FORMS.map(|row| Contract::F32.with_activations(row.form));
    let mut all: Vec<Contract> = held.to_vec();
    for form in [Form::F16, Form::Bf16] {
        all.push(Contract { weights: form, ..Contract::F32.with_activations(form) });
    }
    all.push(Contract {
        weights: Form::F16,
        accumulator: Accumulator::F16 { chunk: 16 },
        ..Contract::F32.with_activations(Form::F16)
    });
    all
}

/// A number in a form that holds numbers one by one.
fn rounded(form: Form, value: f64) -> f64 {
    #[expect(clippy::cast_possible_truncation, reason = "rounding is what is tested")]
    let single = value as f32;
    match form {
        Form::F16 => ScaleKind::F16.value(ScaleKind::F16.nearest(single)),
        Form::Bf16 => {
            let ty = TensorType::from_name("BF16").expect("a type");
            let (mut bytes, mut back) = ([0; 2], [0.0]);
            quant::encode(ty, &[single], &mut bytes).expect("one value");
            quant::decode(ty, &bytes, &mut back).expect("one value");
            f64::from(back[0])
        }
        _ => f64::from(single),
    }
}

/// A sum in the contract's accumulator, in the order given.
fn sum(contract: &Contract, terms: &[f64]) -> f64 {
    let in_single = |terms: &mut dyn Iterator<Item = f64>| {
        terms.fold(0.0, |sum, term| rounded(Form::Exact, sum + rounded(Form::Exact, term)))
    };
    match contract.accumulator {
        Accumulator::F16 { chunk } => {
            let chunks = terms.chunks(usize::try_from(chunk).expect("small"));
            in_single(
                &mut chunks.map(|chunk| {
                    chunk.iter().fold(0.0, |sum, term| rounded(Form::F16, sum + rounded(Form::F16, *term)))
                }),
            )
        }
        _ => in_single(&mut terms.iter().copied()),
    }
}

/// Whether the activations come back from blocks of their form as they were.
fn lossless(form: Form, x: &[f32]) -> bool {
    match form.blocks() {
        Some(ty) => {
            let block = usize::try_from(ty.block).expect("small");
            let mut whole = x.to_vec();
            whole.resize(x.len().next_multiple_of(block), 0.0);
            let mut bytes = vec![0; whole.len() / block * usize::try_from(ty.bytes).expect("small")];
            quant::encode(ty, &whole, &mut bytes).expect("whole blocks");
            let mut back = vec![0.0; whole.len()];
            quant::decode(ty, &bytes, &mut back).expect("whole blocks");
            // And what is stored beside the codes says the same: a reciprocal, a sum, whatever was rounded.
            back == whole && bytes.chunks(usize::try_from(ty.bytes).expect("small")).all(|b| sum_is_exact(ty, b))
        }
        None => x.iter().all(|&x| rounded(form, f64::from(x)).to_bits() == f64::from(x).to_bits()),
    }
}

/// The sum that Q8_1 stores is the sum, not the nearest number to it.
fn sum_is_exact(ty: &TensorType, block: &[u8]) -> bool {
    if ty.name != "Q8_1" {
        return true;
    }
    let mut values = [0.0; 32];
    quant::decode(ty, block, &mut values).expect("a block");
    let stored = ScaleKind::F16.value(u64::from(u16::from_le_bytes([block[2], block[3]])));
    let sum: f64 = values.iter().map(|&value| f64::from(value)).sum();
    sum.to_bits() == stored.to_bits() || sum == 0.0 && stored == 0.0
}

fn holds(case: &Case, contract: &Contract, rng: &mut impl Rng) -> Holds {
    let Ok(inputs) = Inputs::draw(case, contract, 0) else { return Ok(()) };
    let fail = |what: String| Err(format!("{case} under {contract:?}: {what}"));
    let matrix = inputs.operands().matrix(case).map_err(|e| e.to_string())?;
    let columns = inputs.operands().columns(case).map_err(|e| e.to_string())?;
    let x = columns.column(rng.random_range(0..columns.count));
    if x.contains(&0.0) {
        return fail("an activation is zero".to_owned());
    }
    if !lossless(contract.activations, x) {
        return fail(format!("activations are changed by {}", contract.activations.name()));
    }
    let parts = components(case.ty, matrix.row(rng.random_range(0..matrix.rows)));
    let whole: Vec<f64> = parts.iter().zip(x).map(|(c, &x)| c.value() * f64::from(x)).collect();
    let apart: Vec<f64> = parts
        .iter()
        .zip(x)
        .flat_map(|(c, &x)| [c.raw() * f64::from(x), c.implied * f64::from(x), c.offset * f64::from(x)])
        .collect();
    let expected = sum(contract, &whole);
    for mut terms in [whole.clone(), whole, apart] {
        terms.shuffle(rng);
        let other = sum(contract, &terms);
        // The parts of a weight are more than a chunk has room for: they are added up in binary32.
        let split = terms.len() > x.len() && contract.accumulator != Accumulator::F32;
        let other = if split { sum(&Contract { accumulator: Accumulator::F32, ..*contract }, &terms) } else { other };
        if other.to_bits() != expected.to_bits() && !(other == 0.0 && expected == 0.0) {
            return fail(format!("{expected:e} in one order, {other:e} in another"));
        }
    }
    Ok(())
}

#[test]
fn sums_are_the_same_in_any_order() {
    let contracts = contracts();
    let cases: Vec<Case> = list("matmul/", 0)
        .into_iter()
        .filter(|case| case.tier == Tier::Exact && case.operation == Operation::Matmul)
        .collect();
    report(seed::each(150, |seed| {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let case = Case { seed, rows: 2, columns: 2, ..*cases.choose(&mut rng).expect("cases") };
        let contract = contracts.choose(&mut rng).expect("contracts");
        holds(&case, contract, &mut rng)
    }));
}

/// Nearly every type has room under every contract that activations are held by: the tier is not empty.
#[test]
fn there_is_room() {
    for ty in TensorType::live().filter(|ty| ty.quantized) {
        for contract in contracts() {
            let block = usize::try_from(ty.block).unwrap();
            let case =
                Case { rows: 2, k: 2 * block.max(64), columns: 2, ..Case::new(Operation::Matmul, ty, Tier::Exact, 5) };
            if let Err(reason) = Inputs::draw(&case, &contract, 0) {
                panic!("{case}: {reason}");
            }
        }
    }
}
