//! What is checked of a set of kernels.

use std::fmt::Display;

use gguf_spec::kernel::{Columns, KernelError, KernelSet, Matmul, MatmulId, Matrix, Operation};
use gguf_spec::quant::{self, blocks};
use gguf_spec::types::TensorType;
use libtest_mimic::Failed;
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

use crate::inputs;

/// What a type has to be for it to be checked: the types that ggml 0.25.1 multiplies.
const MULTIPLIED: usize = 28;
const COLUMNS: [usize; 5] = [1, 2, 8, 9, 32];

/// What was seen, as lines.
pub(crate) struct Report {
    build: String,
    failures: Vec<String>,
}

impl Report {
    pub(crate) fn new(build: &str) -> Self {
        Self { build: build.to_owned(), failures: Vec::new() }
    }

    fn fail(&mut self, what: impl Display) {
        self.failures.push(what.to_string());
    }

    /// Something worth knowing that is not judged.
    fn tell(&self, what: impl Display) {
        println!("{}: {what}", self.build);
    }

    /// Compares results bit for bit; zeros are equal.
    fn same(&mut self, what: &str, expected: &[f32], actual: &[f32]) {
        let different = |(a, b): (&f32, &f32)| !quant::same(*a, *b);
        assert_eq!(expected.len(), actual.len(), "{what}");
        if let Some(at) = expected.iter().zip(actual).position(different) {
            let wrong = expected.iter().zip(actual).filter(|&pair| different(pair)).count();
            let (expected, actual, of) = (expected[at], actual[at], expected.len());
            self.fail(format_args!("{what}: {wrong} of {of} differ; {at}: expected {expected:e}, got {actual:e}"));
        }
    }

    fn done(&mut self, what: &str, result: Result<(), KernelError>) -> bool {
        result.inspect_err(|error| self.fail(format_args!("{what}: {error}"))).is_ok()
    }

    pub(crate) fn finish(self) -> Result<(), Failed> {
        if self.failures.is_empty() { Ok(()) } else { Err(self.failures.join("\n").into()) }
    }
}

fn rng(ty: &TensorType) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(u64::from(ty.id))
}

/// The base library: decodes and encodes as the specification does.
pub(crate) fn base(set: &mut dyn KernelSet, report: &mut Report) {
    let (mut decoded, mut encoded) = (Vec::new(), Vec::new());
    for ty in TensorType::live() {
        let rng = &mut rng(ty);
        if set.contract(Operation::Dequantize, ty, 1).is_ok() {
            let blocks: Vec<u8> =
                (0..200).flat_map(|_| blocks::random(ty, rng, &blocks::Scales::Any).unwrap()).collect();
            let mut expected = vec![0.0; inputs::exactly(ty, &blocks).len()];
            quant::decode(ty, &blocks, &mut expected).unwrap();
            let mut actual = vec![0.0; expected.len()];
            if report.done(ty.name, set.dequantize(ty, &blocks, &mut actual)) {
                report.same(&format!("{} decoded", ty.name), &expected, &actual);
            }
            decoded.push(ty.name);
        }
        if set.contract(Operation::QuantizeRow, ty, 1).is_ok() {
            let values: Vec<f32> = (0..20 * 256).map(|_| rng.random_range(-4.0..4.0_f32)).collect();
            let size = values.len() / usize::try_from(ty.block).unwrap() * usize::try_from(ty.bytes).unwrap();
            let (mut expected, mut actual) = (vec![0; size], vec![0; size]);
            quant::encode(ty, &values, &mut expected).unwrap();
            if report.done(ty.name, set.quantize_row(ty, &values, &mut actual)) && expected != actual {
                report.fail(format_args!("{} encoded: the bytes differ", ty.name));
            }
            encoded.push(ty.name);
        }
    }
    report.tell(format_args!("decodes {}", decoded.join(" ")));
    report.tell(format_args!("encodes {}", encoded.join(" ")));
    if decoded.len() != MULTIPLIED {
        report.fail(format_args!("{} types are decoded", decoded.len()));
    }
    let mut nothing = [0.0; 32];
    let q4_0 = TensorType::from_name("Q4_0").unwrap();
    if set.dot(q4_0, &[0; 18], &nothing) != Err(KernelError::Unsupported) {
        report.fail("the base library multiplies");
    }
    if !matches!(set.dequantize(q4_0, &[0; 17], &mut nothing), Err(KernelError::Arguments(_))) {
        report.fail("part of a block is decoded");
    }
}

/// A build: products are exact, laid out as they should be, and rows are looked up.
pub(crate) fn build(set: &mut dyn KernelSet, base: &mut dyn KernelSet, report: &mut Report) {
    let types: Vec<&TensorType> =
        TensorType::live().filter(|ty| set.contract(Operation::Matmul, ty, 1).is_ok()).collect();
    for &ty in &types {
        let contract = set.contract(Operation::Matmul, ty, 1).unwrap();
        let before = report.failures.len();
        let block = usize::try_from(ty.block).unwrap();
        let lengths = if block == 1 { [33, 96] } else { [block, 3 * block] };
        for k in lengths {
            for rows in [1, 5, 16] {
                products(set, ty, rows, k, report);
            }
        }
        experts(set, ty, 2 * block.max(16), report);
        rows(set, base, ty, report);
        let (form, failed) = (contract.activations.name(), report.failures.len() - before);
        let verdict = if failed == 0 { "exact".to_owned() } else { format!("{failed} wrong") };
        report.tell(format_args!("{} with {form}: {verdict}", ty.name));
    }
    if types.len() != MULTIPLIED {
        report.fail(format_args!("{} types are multiplied", types.len()));
    }
    for name in ["F32", "F16", "BF16"] {
        subnormals(set, TensorType::from_name(name).unwrap(), report);
    }
    encodes(set, base, report);
}

/// The smallest weight times one is itself, or zero exactly where the contract says so; alone and among columns.
fn subnormals(set: &mut dyn KernelSet, ty: &'static TensorType, report: &mut Report) {
    let k = 64;
    let size = usize::try_from(ty.bytes).unwrap();
    let mut bytes = vec![0; k * size];
    bytes[0] = 1;
    let mut weights = vec![0.0; k];
    quant::decode(ty, &bytes, &mut weights).unwrap();
    let flushes = set.contract(Operation::Matmul, ty, 1).is_ok_and(|contract| contract.flushes_subnormals);
    let expected = if flushes { 0.0 } else { weights[0] };
    let x = vec![1.0; 9 * k];
    match set.dot(ty, &bytes, &x[..k]) {
        Ok(y) => report.same(&format!("{} dot of a subnormal", ty.name), &[expected], &[y]),
        Err(error) => report.fail(format_args!("{} dot of a subnormal: {error}", ty.name)),
    }
    for columns in [1, 9] {
        let product = Matmul {
            weights: Matrix::new(ty, 1, k, k * size, &bytes).unwrap(),
            columns: Columns::new(columns, k, k, &x).unwrap(),
            y_stride: 1,
            threads: 1,
        };
        let mut y = vec![-1.0; columns];
        let name = format!("{} matmul of a subnormal with {columns} columns", ty.name);
        if report.done(&name, set.matmul(&product, &mut y)) {
            report.same(&name, &vec![expected; columns], &y);
        }
    }
}

/// How many threads: two wait for each other by spinning, which takes long where others want the processor.
fn threads_for(columns: usize) -> usize {
    if columns < 9 { 1 } else { 2 }
}

/// A dot with one row, products with columns, with and without gaps, with one thread and two.
fn products(set: &mut dyn KernelSet, ty: &'static TensorType, rows: usize, k: usize, report: &mut Report) {
    let rng = &mut rng(ty);
    let bytes = inputs::weights(ty, rows, k, rng);
    let weights = inputs::exactly(ty, &bytes);
    let unit = inputs::unit(&weights);
    let row = bytes.len() / rows;
    for columns in COLUMNS {
        let x = inputs::activations(columns, k, rng);
        let expected: Vec<f32> = x
            .chunks_exact(k)
            .flat_map(|column| weights.chunks_exact(k).map(|row| inputs::product(row, unit, column)))
            .collect();
        let name = format!("{} {rows} x {k} x {columns}", ty.name);
        if rows * columns == 1 {
            match set.dot(ty, &bytes, &x) {
                Ok(y) => report.same(&format!("{name} dot"), &expected, &[y]),
                Err(error) => report.fail(format_args!("{name} dot: {error}")),
            }
        }
        let block = usize::try_from(ty.bytes).unwrap();
        // Bytes between rows, elements between columns, elements between columns of the result, threads.
        for (i, (pad, gap, hole, threads)) in
            [(0, 0, 0, 1), (0, 0, 0, threads_for(columns)), (block, 3, 2, 1), (2, 0, 1, 1)].into_iter().enumerate()
        {
            let spread = |from: &[u8]| {
                from.chunks_exact(row)
                    .flat_map(|row| row.iter().copied().chain(std::iter::repeat_n(0xFF, pad)))
                    .collect()
            };
            let padded: Vec<u8> = spread(&bytes);
            let x: Vec<f32> = x
                .chunks_exact(k)
                .flat_map(|column| column.iter().copied().chain(std::iter::repeat_n(f32::NAN, gap)))
                .collect();
            let product = Matmul {
                weights: Matrix::new(ty, rows, k, row + pad, &padded).unwrap(),
                columns: Columns::new(columns, k, k + gap, &x).unwrap(),
                y_stride: rows + hole,
                threads,
            };
            let mut y = vec![-1.0; columns * (rows + hole)];
            let name = format!("{name} variant {i}");
            if report.done(&name, set.matmul(&product, &mut y)) {
                let untouched = y
                    .chunks_exact(rows + hole)
                    .all(|column| column[rows..].iter().all(|y| y.to_bits() == (-1.0_f32).to_bits()));
                if !untouched {
                    report.fail(format_args!("{name}: the gaps of the result were written"));
                }
                let y: Vec<f32> = y.chunks_exact(rows + hole).flat_map(|column| &column[..rows]).copied().collect();
                report.same(&name, &expected, &y);
            }
        }
    }
}

/// Products with experts: a column a token, and a column an id; few tokens, and enough for panels.
fn experts(set: &mut dyn KernelSet, ty: &'static TensorType, k: usize, report: &mut Report) {
    let rng = &mut rng(ty);
    let (experts, used, rows) = (4, 2, 16);
    for (tokens, pad) in [(1, 0), (5, 0), (5, 2), (40, 0)] {
        let bytes = inputs::weights(ty, experts * rows, k, rng);
        let weights = inputs::exactly(ty, &bytes);
        let unit = inputs::unit(&weights);
        let expert = bytes.len() / experts;
        let padded: Vec<u8> = bytes
            .chunks_exact(expert)
            .flat_map(|expert| expert.iter().copied().chain(std::iter::repeat_n(0xFF, pad)))
            .collect();
        let ids: Vec<u32> = (0..tokens)
            .flat_map(|_| {
                let first = rng.random_range(0..4);
                [first, (first + rng.random_range(1..4)) % 4]
            })
            .collect();
        for columns in [tokens, tokens * used] {
            let x = inputs::activations(columns, k, rng);
            let column = |pair: usize| {
                let column = if columns == tokens { pair / used } else { pair };
                &x[column * k..][..k]
            };
            let expected: Vec<f32> = ids
                .iter()
                .enumerate()
                .flat_map(|(pair, &id)| {
                    let expert = &weights[usize::try_from(id).unwrap() * rows * k..][..rows * k];
                    expert.chunks_exact(k).map(move |row| (row, pair))
                })
                .map(|(row, pair)| inputs::product(row, unit, column(pair)))
                .collect();
            let product = MatmulId {
                weights: Matrix::new(ty, rows, k, expert / rows, &padded).unwrap(),
                experts,
                expert_stride: expert + pad,
                ids: &ids,
                used,
                columns: Columns::new(columns, k, k, &x).unwrap(),
                y_stride: rows,
                threads: threads_for(tokens),
            };
            let mut y = vec![-1.0; expected.len()];
            let name = format!("{} experts, {tokens} tokens, {columns} columns, padding {pad}", ty.name);
            if report.done(&name, set.matmul_id(&product, &mut y)) {
                report.same(&name, &expected, &y);
            }
        }
    }
}

/// Rows that are looked up are what the base library decodes, infinities and all.
fn rows(set: &mut dyn KernelSet, base: &mut dyn KernelSet, ty: &'static TensorType, report: &mut Report) {
    let rng = &mut rng(ty);
    let bytes: Vec<u8> = (0..12).flat_map(|_| blocks::random(ty, rng, &blocks::Scales::Any).unwrap()).collect();
    let row = bytes.len() / 4;
    let k = 3 * usize::try_from(ty.block).unwrap();
    let ids = [3, 0, 0, 2];
    let mut expected = vec![0.0; 4 * k];
    for (id, out) in ids.into_iter().zip(expected.chunks_exact_mut(k)) {
        let row = &bytes[usize::try_from(id).unwrap() * row..][..row];
        match base.dequantize(ty, row, out) {
            // The base library has no function for F32.
            Err(KernelError::Unsupported) => quant::decode(ty, row, out).unwrap(),
            result => assert_eq!(result, Ok(())),
        }
    }
    let mut y = vec![0.0; 4 * k];
    let matrix = Matrix::new(ty, 4, k, row, &bytes).unwrap();
    let name = format!("{} looked up", ty.name);
    if report.done(&name, set.get_rows(&matrix, &ids, &mut y)) {
        report.same(&name, &expected, &y);
    }
}

/// How far the encoding of a build is from that of the base library, which is told and not judged; on what is
/// lossless both must be the same.
fn encodes(set: &mut dyn KernelSet, base: &mut dyn KernelSet, report: &mut Report) {
    for ty in TensorType::live().filter(|ty| set.contract(Operation::QuantizeRow, ty, 1).is_ok()).collect::<Vec<_>>() {
        let rng = &mut rng(ty);
        let lossless = inputs::activations(20, 256, rng);
        let drawn: Vec<f32> = (0..200 * 256).map(|_| rng.random_range(-4.0..4.0_f32)).collect();
        let bytes = usize::try_from(ty.bytes).unwrap();
        let mut encode = |values: &[f32]| {
            let size = values.len() / usize::try_from(ty.block).unwrap() * bytes;
            let (mut a, mut b) = (vec![0; size], vec![0; size]);
            base.quantize_row(ty, values, &mut a).unwrap();
            set.quantize_row(ty, values, &mut b).unwrap();
            let blocks = a.chunks_exact(bytes).zip(b.chunks_exact(bytes));
            (blocks.clone().filter(|(a, b)| a != b).count(), blocks.len())
        };
        let (wrong, _) = encode(&lossless);
        if wrong > 0 {
            report.fail(format_args!("{} encoded: {wrong} lossless blocks differ from the base library's", ty.name));
        }
        let (different, blocks) = encode(&drawn);
        report.tell(format_args!("{} encoded: {different} of {blocks} blocks differ from the base library's", ty.name));
    }
}
