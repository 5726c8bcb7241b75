//! The scalar kernels held to the specification, type by type: weights bit for bit, activations byte for byte,
//! products within what rounding can do, and what is promised bit for bit.
//!
//! `ASSAY_SEED` names another seed; a failure tells the one it came with.

use assay_kernels::Kernels;
use assay_kernels::contract::activations;
use gguf_spec::kernel::contract::Form;
use gguf_spec::kernel::{Columns, KernelError, KernelSet, Matmul, MatmulId, Matrix, Operation, row_bytes};
use gguf_spec::quant::blocks::{Edge, Scales, edges, random};
use gguf_spec::quant::{self, Weight, same};
use gguf_spec::types::{ScaleKind, TensorType};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

fn seed() -> u64 {
    std::env::var("ASSAY_SEED").map_or(1, |seed| seed.parse().expect("ASSAY_SEED is a number"))
}

/// The same draws for a type, whatever the other types do.
fn rng(ty: &TensorType) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed() << 8 | u64::from(ty.id))
}

fn ty(name: &str) -> &'static TensorType {
    TensorType::from_name(name).expect("a type of the table")
}

fn size(n: u64) -> usize {
    usize::try_from(n).expect("it fits")
}

/// So many blocks with scales of everyday size.
fn blocks(ty: &TensorType, count: usize, rng: &mut ChaCha8Rng) -> Vec<u8> {
    let scales = Scales::Exponents(-8..=2);
    (0..count).flat_map(|_| random(ty, rng, &scales).expect("a type with a layout")).collect()
}

/// Values of both signs and many magnitudes.
fn values(count: usize, rng: &mut ChaCha8Rng) -> Vec<f32> {
    (0..count).map(|_| rng.random_range(-1.0..1.0_f32) * 2_f32.powi(rng.random_range(-6..=3))).collect()
}

fn bits(values: &[f32]) -> Vec<u32> {
    values.iter().map(|value| value.to_bits()).collect()
}

#[test]
fn weights_are_those_of_the_specification() {
    for ty in TensorType::live() {
        let mut rng = rng(ty);
        let mut all: Vec<_> = Edge::ALL.into_iter().flat_map(|edge| edges(ty, edge).unwrap()).collect();
        let scales = [Scales::Any, Scales::Exponents(-30..=20), Scales::exact(1.0), Scales::exact(0.0)];
        all.extend((0..400).map(|n| random(ty, &mut rng, &scales[n % scales.len()]).unwrap()));
        let bytes = all.concat();
        let count = all.len() * size(ty.block);
        let (mut expected, mut actual) = (vec![0.0; count], vec![0.0; count]);
        quant::decode(ty, &bytes, &mut expected).unwrap();
        Kernels::scalar().dequantize(ty, &bytes, &mut actual).unwrap();
        let wrong = (0..count).find(|&i| !same(expected[i], actual[i]));
        assert_eq!(
            wrong.map(|i| (i / size(ty.block), i % size(ty.block), expected[i], actual[i])),
            None,
            "{}, seed {}: block, weight, expected, actual",
            ty.name,
            seed()
        );
    }
}

#[test]
fn held_activations_are_those_of_the_specification() {
    for name in ["Q8_0", "Q8_1", "Q8_K"] {
        let (ty, mut rng) = (ty(name), rng(ty(name)));
        for magnitude in [-100, -30, -14, 0, 10, 40, 100] {
            for zeros in [0, 1, 256] {
                let mut row: Vec<f32> =
                    values(1024, &mut rng).into_iter().map(|value| value * 2_f32.powi(magnitude)).collect();
                row[..zeros].fill(0.0);
                // Under a scale of 1, halves: where roundings differ.
                for (i, value) in (0..256_u16).zip(&mut row[512..768]) {
                    *value = if i % 32 == 0 { 127.0 } else { f32::from(i % 100) - 49.5 };
                }
                let bytes = row_bytes(ty, row.len()).unwrap();
                let (mut expected, mut actual) = (vec![0; bytes], vec![0xFF; bytes]);
                quant::encode(ty, &row, &mut expected).unwrap();
                Kernels::scalar().quantize_row(ty, &row, &mut actual).unwrap();
                assert!(expected == actual, "{name}, seed {}, magnitude {magnitude}, {zeros} zeros", seed());
            }
        }
    }
}

/// What a row of weights times a row of held activations is, and the sum of the magnitudes, both in binary64.
fn reference(ty: &'static TensorType, row: &[u8], activations: &[f32], form: Form) -> (f64, f64) {
    let mut weights = vec![Weight::default(); activations.len()];
    quant::weights(ty, row, &mut weights).unwrap();
    let held_as = form.blocks().or_else(|| (form != Form::Exact).then(|| self::ty(form.name())));
    let mut held = vec![Weight { product: 0.0, offset: 0.0 }; activations.len()];
    let mut bytes = Vec::new();
    match held_as {
        Some(held_as) => {
            bytes = vec![0; row_bytes(held_as, activations.len()).unwrap()];
            quant::encode(held_as, activations, &mut bytes).unwrap();
            quant::weights(held_as, &bytes, &mut held).unwrap();
        }
        None => held.iter_mut().zip(activations).for_each(|(held, &x)| held.product = f64::from(x)),
    }
    let (mut sum, mut magnitude) = (0.0, 0.0);
    for (w, x) in weights.iter().zip(&held) {
        let offset = if form == Form::Q8_1 { 0.0 } else { w.offset };
        sum += (w.product + offset) * x.product;
        magnitude += (w.product.abs() + w.offset.abs()) * x.product.abs();
    }
    if form == Form::Q8_1 {
        // The minimum meets the stored sum.
        for (block, weights) in bytes.chunks_exact(36).zip(weights.chunks_exact(32)) {
            let stored = ScaleKind::F16.value(u64::from(u16::from_le_bytes([block[2], block[3]])));
            sum += weights[0].offset * stored;
        }
    }
    (sum, magnitude)
}

#[test]
fn products_are_those_of_the_specification_within_roundings() {
    for ty in TensorType::live() {
        let Some(form) = activations(ty) else { continue };
        let mut rng = rng(ty);
        let step = size(form.blocks().map_or(1, |blocks| blocks.block).max(ty.block));
        for count in [1, 2, 3, 7, 16] {
            let k = count * step;
            let row = blocks(ty, k / size(ty.block), &mut rng);
            let x = values(k, &mut rng);
            let (expected, magnitude) = reference(ty, &row, &x, form);
            let actual = Kernels::scalar().dot(ty, &row, &x).unwrap();
            // Each block, or each product of plain types, is rounded at most six times, and once more when added.
            let roundings = f64::from(u32::try_from(count).unwrap()) * f64::from(u32::try_from(step.min(64)).unwrap());
            let bound = (roundings + 6.0) * 2_f64.powi(-24) * magnitude;
            let off = (f64::from(actual) - expected).abs();
            assert!(off <= bound, "{}, k {k}, seed {}: {actual} for {expected}, off by {off:e}", ty.name, seed());
            assert!(magnitude > 0.0);
        }
    }
}

/// A matrix with something between its rows, and columns with something between them.
struct Case {
    ty: &'static TensorType,
    k: usize,
    row_stride: usize,
    bytes: Vec<u8>,
    x_stride: usize,
    x: Vec<f32>,
}

const ROWS: usize = 5;
const COLUMNS: usize = 4;

impl Case {
    fn new(ty: &'static TensorType) -> Self {
        let mut rng = rng(ty);
        let k = 3 * size(activations(ty).and_then(Form::blocks).map_or(1, |blocks| blocks.block).max(ty.block));
        let row = row_bytes(ty, k).unwrap();
        let row_stride = row + 6;
        let mut bytes = vec![0xFF; (ROWS - 1) * row_stride + row];
        for i in 0..ROWS {
            bytes[i * row_stride..][..row].copy_from_slice(&blocks(ty, k / size(ty.block), &mut rng));
        }
        let x_stride = k + 3;
        let mut x = values(COLUMNS * x_stride, &mut rng);
        for c in 0..COLUMNS {
            x[c * x_stride + k..][..3].fill(f32::NAN);
        }
        Self { ty, k, row_stride, bytes, x_stride, x }
    }

    fn weights(&self) -> Matrix<'_> {
        Matrix::new(self.ty, ROWS, self.k, self.row_stride, &self.bytes).unwrap()
    }

    fn columns(&self) -> Columns<'_> {
        Columns::new(COLUMNS, self.k, self.x_stride, &self.x).unwrap()
    }
}

fn cases() -> impl Iterator<Item = Case> {
    TensorType::live().filter(|ty| activations(ty).is_some()).map(Case::new)
}

/// A result with something in it that must stay where no result goes.
fn untouched(count: usize) -> Vec<f32> {
    vec![-77.25; count]
}

#[test]
fn a_matrix_is_its_rows_and_columns_bit_for_bit() {
    let set = &mut Kernels::scalar();
    for case in cases() {
        let (weights, columns, y_stride) = (case.weights(), case.columns(), ROWS + 2);
        for threads in [1, 3] {
            let mut y = untouched(COLUMNS * y_stride);
            set.matmul(&Matmul { weights, columns, y_stride, threads }, &mut y).unwrap();
            let mut expected = untouched(COLUMNS * y_stride);
            for c in 0..COLUMNS {
                for r in 0..ROWS {
                    expected[c * y_stride + r] = set.dot(case.ty, weights.row(r), columns.column(c)).unwrap();
                }
            }
            assert_eq!(bits(&y), bits(&expected), "{}, seed {}", case.ty.name, seed());
        }
    }
}

#[test]
fn experts_are_matrices_bit_for_bit() {
    let set = &mut Kernels::scalar();
    for case in cases() {
        // Every row is an expert.
        let weights = Matrix { rows: 1, ..case.weights() };
        let (experts, expert_stride, ids) = (ROWS, case.row_stride, [2, 0, 4, 2]);
        let row = weights.row_bytes();
        for (used, count) in [(1, 4), (2, 2), (2, 4)] {
            let columns = Columns { count, ..case.columns() };
            let y_stride = 2;
            let product = MatmulId { weights, experts, expert_stride, ids: &ids, used, columns, y_stride, threads: 1 };
            let mut y = untouched(8);
            set.matmul_id(&product, &mut y).unwrap();
            let mut expected = untouched(8);
            for (pair, &id) in ids.iter().enumerate() {
                let column = if count == ids.len() { pair } else { pair / used };
                let row = &case.bytes[size(u64::from(id)) * expert_stride..][..row];
                expected[2 * pair] = set.dot(case.ty, row, columns.column(column)).unwrap();
            }
            assert_eq!(bits(&y), bits(&expected), "{}, seed {}", case.ty.name, seed());
        }
    }
}

#[test]
fn rows_that_are_looked_up_are_decoded_rows() {
    let set = &mut Kernels::scalar();
    for case in cases() {
        let (weights, ids) = (case.weights(), [4, 0, 0, 2]);
        let mut y = vec![0.0; 4 * case.k];
        set.get_rows(&weights, &ids, &mut y).unwrap();
        for (y, &id) in y.chunks_exact(case.k).zip(&ids) {
            let mut expected = vec![0.0; case.k];
            set.dequantize(case.ty, weights.row(size(u64::from(id))), &mut expected).unwrap();
            assert_eq!(bits(y), bits(&expected), "{}, seed {}", case.ty.name, seed());
        }
    }
}

#[test]
fn what_does_not_fit_is_an_error_and_what_is_not_there_is_unsupported() {
    let set = &mut Kernels::scalar();
    let refused = |result: Result<(), KernelError>| matches!(result, Err(KernelError::Arguments(_)));
    for ty in TensorType::live() {
        let (block, bytes) = (size(ty.block), size(ty.bytes));
        assert!(refused(set.dequantize(ty, &vec![0; bytes + 1], &mut vec![0.0; block])), "{}", ty.name);
        assert!(refused(set.dequantize(ty, &vec![0; bytes], &mut vec![0.0; block + 1])), "{}", ty.name);
        assert!(refused(set.get_rows(&Matrix { ty, rows: 1, k: block, row_stride: bytes, bytes: &[] }, &[0], &mut [])));
        if activations(ty).is_some() {
            assert!(refused(set.dot(ty, &vec![0; bytes], &vec![0.0; block + 1]).map(|_| ())), "{}", ty.name);
            assert!(refused(set.dot(ty, &vec![0; bytes + 1], &vec![0.0; block]).map(|_| ())), "{}", ty.name);
        }
    }
    let gone = ty("Q4_2");
    assert_eq!(set.dequantize(gone, &[], &mut []), Err(KernelError::Unsupported));
    assert_eq!(set.dot(gone, &[], &[]), Err(KernelError::Unsupported));
    assert_eq!(set.dot(ty("Q8_K"), &[0; 292], &[0.0; 256]), Err(KernelError::Unsupported));
    assert_eq!(set.quantize_row(ty("Q4_0"), &[0.0; 32], &mut [0; 18]), Err(KernelError::Unsupported));
    assert_eq!(set.contract(Operation::Dequantize, gone, 1), Err(KernelError::Unsupported));
}

#[test]
fn a_row_of_nothing_is_zero() {
    for ty in TensorType::live().filter(|ty| activations(ty).is_some()) {
        assert_eq!(Kernels::scalar().dot(ty, &[], &[]).map(f32::to_bits), Ok(0), "{}", ty.name);
    }
}

#[test]
fn activations_that_are_no_numbers_end_in_some_result() {
    let set = &mut Kernels::scalar();
    for ty in TensorType::live().filter(|ty| activations(ty).is_some()) {
        let k = size(activations(ty).and_then(Form::blocks).map_or(1, |blocks| blocks.block).max(ty.block));
        let row = blocks(ty, k / size(ty.block), &mut rng(ty));
        for value in [f32::NAN, f32::INFINITY, f32::MAX, f32::MIN_POSITIVE, f32::from_bits(1)] {
            // Nothing is said about the result, but that there is one.
            assert!(set.dot(ty, &row, &vec![value; k]).is_ok(), "{} {value}", ty.name);
        }
    }
}
