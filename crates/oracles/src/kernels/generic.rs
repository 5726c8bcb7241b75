//! A slow set of kernels that is right, and into which faults can be planted.
//!
//! It decodes rows with the specification, brings activations into the form of its contract, multiplies and adds
//! in binary32, one element at a time. Each step asks the planted fault, if there is one, whether it has
//! anything to do.

use gguf_spec::kernel::contract::{Accumulator, Contract, Form, Promises};
use gguf_spec::kernel::{Columns, KernelError, KernelSet, Matmul, MatmulId, Matrix, Operation};
use gguf_spec::quant::{self, Weight};
use gguf_spec::types::TensorType;

use super::cases::{block, block_bytes};
use super::mutants::Mutant;
use super::mutants::steps::{Place, State};
use super::numbers::{form_block, round_f16, round_f32, round_to};

/// What the kernels of a set have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Family {
    /// Activations in blocks of eight bits, as CPUs do it.
    Integer,
    /// Everything in binary32.
    Single,
    /// Binary32 for few columns; from 32 on, tiles of binary16 that are added up in binary16, as GPUs do it.
    Half,
}

impl Family {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Integer, Self::Single, Self::Half];

    /// The word for it in the table of planted faults.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Integer => "integer",
            Self::Single => "single",
            Self::Half => "half",
        }
    }
}

/// The set.
#[derive(Debug)]
pub struct Generic {
    family: Family,
    mutant: Option<Mutant>,
    state: State,
    calls: usize,
}

impl Generic {
    /// A right set.
    #[must_use]
    pub fn new(family: Family) -> Self {
        Self { family, mutant: None, state: State::default(), calls: 0 }
    }

    /// One with a fault.
    #[must_use]
    pub fn with(mutant: Mutant) -> Self {
        Self { mutant: Some(mutant), ..Self::new(mutant.family) }
    }

    /// The fault, if it concerns an operation and a type.
    fn fault(&self, operation: Operation, ty: &TensorType) -> Option<Mutant> {
        self.mutant.filter(|mutant| mutant.concerns(operation, ty))
    }
}

/// The form in which ggml's CPU code holds activations for a type of weights.
fn form(ty: &TensorType) -> Form {
    match (ty.name, ty.block) {
        ("F16", _) => Form::F16,
        ("BF16", _) => Form::Bf16,
        ("Q4_1" | "Q5_1", _) => Form::Q8_1,
        (_, 256) => Form::Q8K,
        (_, 32..256) => Form::Q8_0,
        _ => Form::Exact,
    }
}

/// A column in a form.
#[derive(Clone, Debug)]
pub(super) enum Column {
    /// Number by number.
    Plain(Vec<f32>),
    /// Codes with a scale a block, and sums.
    Blocks {
        /// Elements a block.
        block: usize,
        /// One code an element.
        codes: Vec<i8>,
        /// One scale a block.
        scales: Vec<f32>,
        /// Scale times the sum of the codes, a block; only Q8_1 has them.
        sums: Vec<f32>,
    },
}

impl Column {
    /// Brings activations into a form.
    fn new(x: &[f32], form: Form) -> Self {
        let Some(block) = form_block(form) else {
            return Self::Plain(x.iter().map(|&x| round_to(form, x)).collect());
        };
        let (mut codes, mut scales, mut sums) = (Vec::new(), Vec::new(), Vec::new());
        for x in x.chunks(block) {
            let largest = x.iter().fold(0.0, |largest: f32, x| largest.max(x.abs()));
            let d = largest / 127.0;
            let inverse = if d > 0.0 { 1.0 / d } else { 0.0 };
            let start = codes.len();
            codes.extend(x.iter().map(|x| code(x * inverse)));
            let sum: i32 = codes[start..].iter().map(|&code| i32::from(code)).sum();
            scales.push(if form == Form::Q8K { d } else { round_f16(d) });
            if form == Form::Q8_1 {
                sums.push(round_f16(d * round_f32(f64::from(sum))));
            }
        }
        Self::Blocks { block, codes, scales, sums }
    }
}

/// A quotient as a code.
#[expect(clippy::cast_possible_truncation, reason = "clamped to the range of a code")]
pub(super) fn code(quotient: f32) -> i8 {
    quotient.round().clamp(-127.0, 127.0) as i8
}

/// How products are added up.
#[derive(Clone, Copy, Debug)]
struct Adder {
    weights: Form,
    accumulator: Accumulator,
}

impl Adder {
    /// A row of weights times a column.
    fn dot(self, row: &[Weight], column: &Column, fault: Option<&Mutant>, place: &Place) -> f32 {
        let mut sum = 0.0_f32;
        match column {
            Column::Plain(x) => {
                let chunk = match self.accumulator {
                    Accumulator::F16 { chunk } => usize::try_from(chunk).unwrap_or(usize::MAX).min(row.len()),
                    _ => row.len(),
                };
                let turned = fault.is_some_and(|fault| fault.reversed(place));
                let (backwards, x_backwards): (Vec<_>, Vec<_>) = match turned {
                    true => (row.iter().rev().copied().collect(), x.iter().rev().copied().collect()),
                    false => (Vec::new(), Vec::new()),
                };
                let (row, x) = if turned { (&backwards[..], &x_backwards[..]) } else { (row, &x[..]) };
                for (row, x) in row.chunks(chunk.max(1)).zip(x.chunks(chunk.max(1))) {
                    let mut part = 0.0_f32;
                    for (w, x) in row.iter().zip(x) {
                        let product = round_to(self.weights, w.rounded()) * x;
                        part = match self.accumulator {
                            Accumulator::F16 { .. } => round_f16(part + round_f16(product)),
                            _ => part + product,
                        };
                        part = fault.map_or(part, |fault| fault.partial_sum(part, place));
                    }
                    sum += part;
                }
            }
            Column::Blocks { block, codes, scales, sums } => {
                for (index, (row, codes)) in row.chunks(*block).zip(codes.chunks(*block)).enumerate() {
                    let scale = scales[index];
                    // With one minimum for the block, the stored sum takes it off at once.
                    let offset = row.first().map_or(0.0, |w| w.offset);
                    let at_once =
                        sums.get(index).filter(|_| row.iter().all(|w| w.offset.to_bits() == offset.to_bits()));
                    if let Some(stored) = at_once {
                        sum += round_f32(offset) * stored;
                    }
                    for (row, codes) in row.chunks(16).zip(codes.chunks(16)) {
                        let mut part =
                            fault.and_then(|fault| fault.integer_part(row, codes, place)).unwrap_or_else(|| {
                                row.iter().zip(codes).map(|(w, &code)| w.product * f64::from(code)).sum::<f64>()
                            });
                        if at_once.is_none() {
                            part += row.iter().zip(codes).map(|(w, &code)| w.offset * f64::from(code)).sum::<f64>();
                        }
                        sum += round_f32(part) * scale;
                        sum = fault.map_or(sum, |fault| fault.partial_sum(sum, place));
                    }
                }
            }
        }
        sum
    }
}

impl Generic {
    /// The weights of a row, as this set decodes them.
    fn row(
        &self,
        operation: Operation,
        ty: &'static TensorType,
        bytes: &[u8],
        place: &Place,
    ) -> Result<Vec<Weight>, KernelError> {
        let mut weights = vec![Weight::default(); bytes.len() / block_bytes(ty) * block(ty)];
        let failed = |e: quant::QuantError| KernelError::Arguments(e.to_string());
        let Some(mutant) = self.fault(operation, ty) else {
            quant::weights(ty, bytes, &mut weights).map_err(failed)?;
            return Ok(weights);
        };
        let blocks = bytes.len() / block_bytes(ty);
        let mut previous: Option<&[u8]> = None;
        for (index, (stored, weights)) in
            bytes.chunks_exact(block_bytes(ty)).zip(weights.chunks_exact_mut(block(ty))).enumerate()
        {
            let place = Place { block: index, blocks, per_block: block(ty), ..*place };
            let mut bytes = stored.to_vec();
            mutant.block(ty, &mut bytes, previous, &place);
            quant::weights(ty, &bytes, weights).map_err(failed)?;
            mutant.weights(ty, &bytes, weights, &place);
            previous = Some(stored);
        }
        Ok(weights)
    }

    /// What a product with one or several matrices comes to, result after result.
    fn product(&mut self, operation: Operation, job: &Job<'_>, y: &mut [f32]) -> Result<(), KernelError> {
        let ty = job.matrices[0].ty;
        let contract = self.contract(operation, ty, job.columns.count)?;
        let fault = self.fault(operation, ty);
        let adder = Adder { weights: contract.weights, accumulator: contract.accumulator };
        let results = job.sources.len();
        let base = Place {
            call: self.calls,
            columns: results,
            rows: job.matrices[0].rows,
            threads: job.threads,
            ..Place::default()
        };
        self.calls += 1;

        let mut columns = Vec::with_capacity(job.columns.count);
        for index in 0..job.columns.count {
            let mut x = job.columns.column(index).to_vec();
            let mut column = Column::new(&x, contract.activations);
            if let Some(mutant) = &fault {
                let place = Place { column: index, ..base };
                mutant.column_of(&job.columns, &mut x, &place);
                column = Column::new(&x, contract.activations);
                mutant.held(&x, contract.activations, &mut column, &place);
            }
            columns.push(column);
        }
        let mut rows = Vec::with_capacity(job.matrices.len());
        for (expert, matrix) in job.matrices.iter().enumerate() {
            let place = |row| Place { row, expert, ..base };
            let decode = |row| {
                let bytes = fault.and_then(|mutant| mutant.row_bytes(matrix, row, &place(row)));
                self.row(operation, ty, bytes.as_deref().unwrap_or(matrix.row(row)), &place(row))
            };
            rows.push((0..matrix.rows).map(decode).collect::<Result<Vec<_>, _>>()?);
        }
        if let Some(mutant) = fault {
            mutant.remembered(&mut self.state, &mut rows, &mut columns, &base);
        }
        for (result, &(expert, column)) in job.sources.iter().enumerate() {
            let at = Place { column: result, expert, ..base };
            let (expert, column) = fault.map_or((expert, column), |m| m.source(expert, column, job, &at));
            for (row, weights) in rows[expert].iter().enumerate() {
                let at = Place { row, ..at };
                let value = adder.dot(weights, &columns[column], fault.as_ref(), &at);
                let index = result * job.y_stride + row;
                let written = fault.map_or(Some((value, index)), |m| m.written(value, index, job.y_stride, &at));
                if let Some((value, at)) = written
                    && let Some(y) = y.get_mut(at)
                {
                    *y = value;
                }
            }
        }
        if let Some(mutant) = fault {
            mutant.finished(&mut self.state, y, job.y_stride, &base);
        }
        Ok(())
    }
}

/// A product: which matrix and which column make each column of the result.
#[derive(Debug)]
pub(super) struct Job<'a> {
    pub(super) matrices: Vec<Matrix<'a>>,
    pub(super) columns: Columns<'a>,
    pub(super) sources: Vec<(usize, usize)>,
    pub(super) y_stride: usize,
    pub(super) threads: usize,
}

impl KernelSet for Generic {
    fn name(&self) -> &str {
        match self.family {
            Family::Integer => "generic/integer",
            Family::Single => "generic/single",
            Family::Half => "generic/half",
        }
    }

    fn contract(&self, operation: Operation, ty: &'static TensorType, columns: usize) -> Result<Contract, KernelError> {
        if !ty.has_layout() || (operation == Operation::QuantizeRow && !matches!(ty.name, "Q8_0" | "Q8_1" | "Q8_K")) {
            return Err(KernelError::Unsupported);
        }
        let promises =
            Promises { batch_invariant: self.family != Family::Half, split_invariant: true, repeatable: true };
        let single = Contract { promises, ..Contract::F32 };
        Ok(match self.family {
            Family::Integer => single.with_activations(form(ty)),
            Family::Half if columns >= 32 => Contract {
                weights: Form::F16,
                accumulator: Accumulator::F16 { chunk: 16 },
                ..single.with_activations(Form::F16)
            },
            Family::Half | Family::Single => single,
        })
    }

    fn dequantize(&mut self, ty: &'static TensorType, blocks: &[u8], out: &mut [f32]) -> Result<(), KernelError> {
        let place = Place { call: self.calls, ..Place::default() };
        self.calls += 1;
        let row = self.row(Operation::Dequantize, ty, blocks, &place)?;
        out.iter_mut().zip(row).for_each(|(out, w)| *out = w.rounded());
        Ok(())
    }

    fn quantize_row(&mut self, ty: &'static TensorType, values: &[f32], out: &mut [u8]) -> Result<(), KernelError> {
        quant::encode(ty, values, out).map_err(|e| KernelError::Arguments(e.to_string()))?;
        if let Some(mutant) = self.fault(Operation::QuantizeRow, ty) {
            let blocks = out.len() / block_bytes(ty);
            for (index, bytes) in out.chunks_exact_mut(block_bytes(ty)).enumerate() {
                let place = Place { block: index, blocks, per_block: block(ty), call: self.calls, ..Place::default() };
                mutant.block(ty, bytes, None, &place);
            }
        }
        self.calls += 1;
        Ok(())
    }

    fn dot(&mut self, ty: &'static TensorType, weights: &[u8], activations: &[f32]) -> Result<f32, KernelError> {
        let mut y = [0.0];
        let job = Job {
            matrices: vec![Matrix::new(ty, 1, activations.len(), weights.len(), weights)?],
            columns: Columns::new(1, activations.len(), activations.len(), activations)?,
            sources: vec![(0, 0)],
            y_stride: 1,
            threads: 1,
        };
        self.product(Operation::Dot, &job, &mut y)?;
        Ok(y[0])
    }

    fn matmul(&mut self, product: &Matmul<'_>, y: &mut [f32]) -> Result<(), KernelError> {
        let job = Job {
            matrices: vec![product.weights],
            columns: product.columns,
            sources: (0..product.columns.count).map(|column| (0, column)).collect(),
            y_stride: product.y_stride,
            threads: product.threads,
        };
        self.product(Operation::Matmul, &job, y)
    }

    fn matmul_id(&mut self, product: &MatmulId<'_>, y: &mut [f32]) -> Result<(), KernelError> {
        let first = product.weights;
        let expert = |expert: usize| {
            let start = expert * product.expert_stride;
            let bytes =
                first.bytes.get(start..).ok_or_else(|| KernelError::Arguments(format!("expert {expert}: no bytes")))?;
            Matrix::new(first.ty, first.rows, first.k, first.row_stride, bytes)
        };
        let paired = product.columns.count == product.ids.len();
        let source = |(pair, &id): (usize, &u32)| {
            (usize::try_from(id).unwrap_or(usize::MAX), if paired { pair } else { pair / product.used })
        };
        let job = Job {
            matrices: (0..product.experts).map(expert).collect::<Result<_, _>>()?,
            columns: product.columns,
            sources: product.ids.iter().enumerate().map(source).collect(),
            y_stride: product.y_stride,
            threads: product.threads,
        };
        if job.sources.iter().any(|&(expert, _)| expert >= product.experts) {
            return Err(KernelError::Arguments(format!("ids: expected less than {}", product.experts)));
        }
        self.product(Operation::MatmulId, &job, y)
    }

    fn get_rows(&mut self, weights: &Matrix<'_>, ids: &[u32], y: &mut [f32]) -> Result<(), KernelError> {
        let call = self.calls;
        self.calls += 1;
        for (column, (&id, y)) in ids.iter().zip(y.chunks_mut(weights.k)).enumerate() {
            let place = Place { call, column, columns: ids.len(), rows: weights.rows, ..Place::default() };
            let mut row = usize::try_from(id).unwrap_or(usize::MAX);
            let mut bytes = None;
            if let Some(mutant) = self.fault(Operation::GetRows, weights.ty) {
                row = mutant.looked_up(row, &place);
                bytes = mutant.row_bytes(weights, row, &place);
            }
            let row = self.row(
                Operation::GetRows,
                weights.ty,
                bytes.as_deref().unwrap_or(weights.row(row)),
                &Place { row, ..place },
            )?;
            y.iter_mut().zip(row).for_each(|(y, w)| *y = w.rounded());
        }
        Ok(())
    }
}
