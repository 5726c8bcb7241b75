//! The bytes and numbers of a case: a function of its name and the contract.

use std::fmt;

use gguf_spec::kernel::contract::{Contract, FORMS, Form};
use gguf_spec::kernel::{Columns, KernelError, Matmul, MatmulId, Matrix, Operation};
use rand::Rng;
use rand::seq::SliceRandom;

use super::cases::{Case, Tier, block, block_bytes};
use super::numbers::rng;
use super::{draw, exact};

/// Why there are no inputs for a case under a contract.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoRoom(pub String);

impl fmt::Display for NoRoom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for NoRoom {}

/// What fills the bytes behind a row of weights: as a scale of any kind, NaN.
const JUNK: u8 = 0xFF;

/// What a kernel is given.
#[derive(Clone, Debug, PartialEq)]
pub struct Inputs {
    /// The rows of all experts. The last row is followed by nothing.
    pub weights: Vec<u8>,
    /// Bytes from row to row.
    pub row_stride: usize,
    /// Bytes from expert to expert.
    pub expert_stride: usize,
    /// The columns. The last one is followed by nothing.
    pub activations: Vec<f32>,
    /// Elements from column to column.
    pub column_stride: usize,
    /// Experts of pairs, or rows that are asked for.
    pub ids: Vec<u32>,
    /// Elements from column to column of the result.
    pub y_stride: usize,
}

impl Inputs {
    /// Draws the inputs of a call: 0 is the first, 1 the one that follows it in cases with a second.
    ///
    /// # Errors
    ///
    /// [`NoRoom`] if no inputs are what the tier asks for: a contract may round so much that no sum is exact.
    pub fn draw(case: &Case, contract: &Contract, call: usize) -> Result<Self, NoRoom> {
        let name = case.to_string();
        let rng = |what: &str| rng(&name, &format!("{what} {call}"));
        let (mut of_weights, mut of_columns) = (rng("weights"), rng("activations"));
        let form = form(case, contract);
        let count = match case.operation {
            Operation::QuantizeRow => 0,
            _ => case.rows * case.experts.max(1),
        };
        let columns = match case.operation {
            Operation::Dequantize | Operation::GetRows => 0..0,
            _ => 0..case.inputs(),
        };
        let (rows, columns): (Vec<_>, Vec<_>) = if case.tier == Tier::Exact {
            let room =
                if count == 0 { exact::Room::unlimited() } else { exact::rows(case, contract, &mut of_weights)? };
            let columns = columns.map(|_| exact::column(case, form, &room, &mut of_columns)).collect();
            (room.rows, columns)
        } else {
            let mirrored = draw::mirrored(case, form);
            let mut rows = Vec::with_capacity(count);
            for _ in 0..count {
                let mut row = draw::row(case, &mut of_weights).map_err(|e| NoRoom(e.to_string()))?;
                draw::mirror_row(case.ty, &mut row, mirrored);
                rows.push(row);
            }
            (rows, columns.map(|i| draw::column(case, form, i, &mut of_columns)).collect())
        };
        let row_stride = (case.k / block(case.ty) + case.row_padding) * block_bytes(case.ty);
        // Padding between rows is padding between experts too.
        let expert_stride = row_stride * (case.rows + case.row_padding);
        let experts: Vec<_> = rows.chunks(case.rows.max(1)).map(|rows| spread(rows, row_stride, JUNK)).collect();
        let column_stride = case.k + case.column_padding;
        Ok(Self {
            weights: spread(&experts, expert_stride, JUNK),
            row_stride,
            expert_stride,
            activations: spread(&columns, column_stride, f32::NAN),
            column_stride,
            ids: ids(case, &mut rng("ids")),
            y_stride: case.rows + case.column_padding,
        })
    }

    /// What a kernel is handed, where it lies.
    #[must_use]
    pub fn operands(&self) -> Operands<'_> {
        Operands { inputs: self, weights: &self.weights, activations: &self.activations, ids: &self.ids }
    }

    /// The expert and the column of activations that make a column of the result.
    #[must_use]
    pub fn source(&self, case: &Case, result: usize) -> (usize, usize) {
        if case.operation == Operation::MatmulId {
            let expert = usize::try_from(self.ids[result]).unwrap_or(usize::MAX);
            (expert, if case.paired { result } else { result / case.used })
        } else {
            (0, result)
        }
    }
}

/// Inputs in some memory.
#[derive(Clone, Copy, Debug)]
pub struct Operands<'a> {
    /// The strides, and whatever else is no operand.
    pub inputs: &'a Inputs,
    /// The rows.
    pub weights: &'a [u8],
    /// The columns.
    pub activations: &'a [f32],
    /// Experts of pairs, or rows that are asked for.
    pub ids: &'a [u32],
}

impl<'a> Operands<'a> {
    /// The first matrix, or the only one.
    ///
    /// # Errors
    ///
    /// [`KernelError::Arguments`] if the parts do not fit, which is a fault of this suite.
    pub fn matrix(&self, case: &Case) -> Result<Matrix<'a>, KernelError> {
        Matrix::new(case.ty, case.rows, case.k, self.inputs.row_stride, self.weights)
    }

    /// One of the experts.
    ///
    /// # Errors
    ///
    /// As [`Operands::matrix`].
    pub fn expert(&self, case: &Case, expert: usize) -> Result<Matrix<'a>, KernelError> {
        let bytes = self.weights.get(expert * self.inputs.expert_stride..).unwrap_or(&[]);
        Matrix::new(case.ty, case.rows, case.k, self.inputs.row_stride, bytes)
    }

    /// The columns.
    ///
    /// # Errors
    ///
    /// As [`Operands::matrix`].
    pub fn columns(&self, case: &Case) -> Result<Columns<'a>, KernelError> {
        Columns::new(case.inputs(), case.k, self.inputs.column_stride, self.activations)
    }

    /// The product of a [`Operation::Matmul`].
    ///
    /// # Errors
    ///
    /// As [`Operands::matrix`].
    pub fn matmul(&self, case: &Case) -> Result<Matmul<'a>, KernelError> {
        Ok(Matmul {
            weights: self.matrix(case)?,
            columns: self.columns(case)?,
            y_stride: self.inputs.y_stride,
            threads: case.threads,
        })
    }

    /// The product of a [`Operation::MatmulId`].
    ///
    /// # Errors
    ///
    /// As [`Operands::matrix`].
    pub fn matmul_id(&self, case: &Case) -> Result<MatmulId<'a>, KernelError> {
        Ok(MatmulId {
            weights: self.matrix(case)?,
            experts: case.experts,
            expert_stride: self.inputs.expert_stride,
            ids: self.ids,
            used: case.used,
            columns: self.columns(case)?,
            y_stride: self.inputs.y_stride,
            threads: case.threads,
        })
    }
}

/// Runs of elements, so far apart; what is between them is filled.
fn spread<T: Copy>(runs: &[Vec<T>], stride: usize, fill: T) -> Vec<T> {
    let mut all = Vec::with_capacity(runs.len() * stride);
    for (i, run) in runs.iter().enumerate() {
        all.resize(i * stride, fill);
        all.extend_from_slice(run);
    }
    all
}

/// Experts, those of one token different from each other; or rows, some of them twice.
fn ids(case: &Case, rng: &mut impl Rng) -> Vec<u32> {
    let numbered = |count: usize| (0..u32::try_from(count).unwrap_or(u32::MAX)).collect::<Vec<_>>();
    match case.operation {
        Operation::MatmulId => {
            let mut experts = numbered(case.experts);
            let tokens = (0..case.columns).map(|_| {
                experts.shuffle(rng);
                experts.iter().copied().cycle().take(case.used).collect::<Vec<_>>()
            });
            tokens.flatten().collect()
        }
        Operation::GetRows => {
            let mut rows = numbered(case.rows);
            rows.shuffle(rng);
            // The last row, the first, and then more, the same ones again in the end.
            let last = u32::try_from(case.rows).map_or(0, |rows| rows - 1);
            [last, 0].into_iter().chain(rows.into_iter().cycle()).take(case.columns).collect()
        }
        _ => Vec::new(),
    }
}

/// The form that activations are brought into: by the contract, or by the operation itself.
pub(super) fn form(case: &Case, contract: &Contract) -> Form {
    let blocks = |form: &Form| form.blocks().is_some_and(|blocks| blocks.id == case.ty.id);
    match case.operation {
        Operation::QuantizeRow => FORMS.map(|row| row.form).into_iter().find(blocks).unwrap_or(Form::Exact),
        _ => contract.activations,
    }
}
