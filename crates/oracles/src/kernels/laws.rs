//! What holds between the results of several calls, whatever they are.
//!
//! The operands of every call lie where those of a case do. Two results that should be the same are within the sum
//! of both bounds of each other; on inputs whose sums are exact, and where the contract promises it, they are the
//! same bits.

use std::fmt;

use gguf_spec::kernel::contract::{Contract, Promises, promise};
use gguf_spec::kernel::{Columns, KernelError, KernelSet, Matmul, Matrix, Operation, row_bytes};
use gguf_spec::quant::same;

use super::bounds::Limit;
use super::bounds::Row;
use super::cases::{ActivationClass, Case, ScaleClass, Tier, block, named};
use super::expect::prepare;
use super::held::Held;
use super::inputs::Inputs;
use super::judge::{Outcome, Verdict, Worst};
use super::list;
use super::memory::{self, Memory};
use super::numbers::{form_block, power, round_f32};

/// A law.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Law {
    /// A column alone is what it is among others.
    ColumnAlone,
    /// Rows computed in two parts are what they are together.
    SplitRows,
    /// Two halves of a row's weights add up to the whole.
    SplitK,
    /// The number of threads changes nothing.
    Threads,
    /// A column that is zero but for one element picks that weight of every row.
    OneHot,
    /// The same call gives the same again, with another call between.
    Repeat,
}

named!(Law: ColumnAlone = "column-alone", SplitRows = "split-rows", SplitK = "split-k", Threads = "threads",
    OneHot = "one-hot", Repeat = "repeat");

impl Law {
    /// What is compared: the results that are expected, and those that are got.
    fn compares(self) -> (&'static str, &'static str) {
        match self {
            Self::ColumnAlone => ("the column among others", "the column alone"),
            Self::SplitRows => ("all rows in one call", "the rows in two calls"),
            Self::SplitK => ("whole rows", "the sum of their two halves"),
            Self::Threads => ("with as many threads as the name says", "with 1, 2 or 5"),
            Self::OneHot => ("the weight times the one element that is not zero", "the product"),
            Self::Repeat => ("the first answer", "the answer to the same call, asked again"),
        }
    }

    /// The promise of a contract that makes it a law about bits.
    fn promise(self, promises: Promises) -> Option<&'static str> {
        let (made, name) = match self {
            Self::ColumnAlone => (promises.batch_invariant, promise::BATCH_INVARIANT),
            Self::SplitRows | Self::Threads => (promises.split_invariant, promise::SPLIT_INVARIANT),
            Self::Repeat => (promises.repeatable, promise::REPEATABLE),
            Self::SplitK | Self::OneHot => return None,
        };
        made.then_some(name)
    }
}

/// The laws and the cases they are applied to, for cases whose name contains `filter`.
#[must_use]
pub fn list(filter: &str, seed: u64) -> Vec<(Law, Case)> {
    list::list(filter, seed).into_iter().flat_map(|case| of_case(&case)).collect()
}

/// The laws that are applied to a case.
#[must_use]
pub fn of_case(case: &Case) -> Vec<(Law, Case)> {
    let usual = case.operation == Operation::Matmul && !case.again && case.scales == ScaleClass::Normal;
    // Three shapes of each tier: an odd number of blocks, a tail with padding, more columns than a tile has.
    let wanted = matches!((case.columns, case.threads), (4, 3) | (8, 1)) || (case.columns == 32 && case.rows > 1);
    if !usual || !wanted || case.activations != ActivationClass::Normal {
        return Vec::new();
    }
    // What is one block cannot be split.
    let splits = case.k > block(case.ty).max(16);
    Law::ALL.iter().filter(|&&law| splits || law != Law::SplitK).map(|&law| (law, *case)).collect()
}

/// Applies a law to a [`Operation::Matmul`] case.
pub fn check(set: &mut dyn KernelSet, law: Law, case: &Case) -> Outcome {
    let contract = match set.contract(Operation::Matmul, case.ty, case.columns) {
        Ok(contract) => contract,
        Err(error) => return Outcome::without_contract(case, error),
    };
    let mut outcome = Outcome::new(case, Some(contract), Verdict::Pass);
    let inputs = match Inputs::draw(case, &contract, 0) {
        Ok(inputs) => inputs,
        Err(reason) => return Outcome { verdict: Verdict::NoRoom(reason), ..outcome },
    };
    let mut trial = Trial { set, case, contract, inputs: &inputs, outcome: &mut outcome, bits: false };
    let applied = trial.apply(law);
    let bits = trial.bits;
    match applied {
        Ok(()) => {
            if outcome.wrong.elements > 0 {
                let (first, second) = law.compares();
                let why = match law.promise(contract.promises) {
                    Some(promise) if bits => format!("the contract promises {promise}: they have the same bits"),
                    _ if bits => "nothing can be rounded: they have the same bits".to_owned(),
                    _ => "they are within their bounds of each other".to_owned(),
                };
                outcome.compared(&format!("{law}: expected is {first}, got {second}; {why}"));
            }
            if outcome.checked == 0 && outcome.verdict == Verdict::Pass {
                outcome.verdict = Verdict::NotSupported;
            }
        }
        Err(error) => outcome.verdict = error.into(),
    }
    outcome
}

/// A result with what is known about it.
#[derive(Clone, Copy)]
struct Known {
    value: f64,
    limit: Limit,
}

struct Trial<'a> {
    set: &'a mut dyn KernelSet,
    case: &'a Case,
    contract: Contract,
    inputs: &'a Inputs,
    outcome: &'a mut Outcome,
    /// Whether bits were compared.
    bits: bool,
}

impl Trial<'_> {
    fn apply(&mut self, law: Law) -> Result<(), KernelError> {
        let (matrix, columns) = (self.inputs.operands().matrix(self.case)?, self.inputs.operands().columns(self.case)?);
        if law == Law::OneHot {
            return self.one_hot(&matrix);
        }
        let contract = self.contract;
        let rows = prepared(&matrix, &contract);
        let whole = self.product(&matrix, &columns, self.case.threads, &rows, &contract)?;
        let promised = law.promise(contract.promises).is_some();
        match law {
            Law::ColumnAlone => {
                let other = self.set.contract(Operation::Matmul, self.case.ty, 1)?;
                let rows = prepared(&matrix, &other);
                for column in 0..columns.count {
                    let one = Columns::new(1, columns.k, columns.k, columns.column(column))?;
                    let alone = self.product(&matrix, &one, self.case.threads, &rows, &other)?;
                    self.compare(&whole[column..=column], &alone, (column, 0), &other, promised);
                }
            }
            Law::SplitRows => {
                let half = matrix.rows / 2;
                // What is one row cannot be split.
                if half == 0 {
                    return Ok(());
                }
                for (start, count) in [(0, half), (half, matrix.rows - half)] {
                    let bytes = &matrix.bytes[start * matrix.row_stride..];
                    let part = Matrix::new(matrix.ty, count, matrix.k, matrix.row_stride, bytes)?;
                    let rows = &rows[start..start + count];
                    let part = self.product(&part, &columns, self.case.threads, rows, &contract)?;
                    let whole: Vec<Vec<Known>> =
                        whole.iter().map(|column| column[start..start + count].to_vec()).collect();
                    self.compare(&whole, &part, (0, start), &contract, promised);
                }
            }
            Law::SplitK => self.split_k(&matrix, &columns, &whole)?,
            Law::Threads => {
                for threads in [1, 2, 5] {
                    let other = self.product(&matrix, &columns, threads, &rows, &contract)?;
                    self.compare(&whole, &other, (0, 0), &contract, promised);
                }
            }
            Law::Repeat => {
                let one = Columns::new(1, columns.k, columns.k, columns.column(columns.count - 1))?;
                let other = self.set.contract(Operation::Matmul, self.case.ty, 1)?;
                self.call(&matrix, &one, 1, &other)?;
                let again = self.product(&matrix, &columns, self.case.threads, &rows, &contract)?;
                self.compare(&whole, &again, (0, 0), &contract, promised);
            }
            Law::OneHot => {}
        }
        Ok(())
    }

    /// What the set makes of a product, for which it gives a contract.
    fn call(
        &mut self,
        matrix: &Matrix<'_>,
        columns: &Columns<'_>,
        threads: usize,
        contract: &Contract,
    ) -> Result<Vec<f32>, KernelError> {
        let (count, rows) = (columns.count, matrix.rows);
        let product = Matmul { weights: *matrix, columns: *columns, y_stride: rows, threads };
        let memory = Memory::of_product(&product, contract.reads_past)?;
        let mut y = memory::result(count, rows, rows);
        self.set.matmul(&memory.product(&product), &mut y)?;
        self.outcome.untouched(&y, rows, count, rows);
        y.truncate(count * rows);
        Ok(y)
    }

    /// The same with what is known about each element; the rows are those of the matrix under the contract.
    fn product(
        &mut self,
        matrix: &Matrix<'_>,
        columns: &Columns<'_>,
        threads: usize,
        rows: &[Row],
        contract: &Contract,
    ) -> Result<Vec<Vec<Known>>, KernelError> {
        let y = self.call(matrix, columns, threads, contract)?;
        // Drawn so that the form of the first contract changes nothing; another one may.
        let unchanged = self.case.tier != Tier::Ordinary && contract.activations == self.contract.activations;
        let known = |(column, y): (usize, &[f32])| {
            let held = match columns.column(column) {
                column if unchanged => Held::unchanged(column),
                column => Held::new(column, contract.activations, contract.flushes_subnormals),
            };
            y.iter()
                .zip(rows)
                .map(|(&y, row)| Known { value: f64::from(y), limit: row.limit(&held, contract) })
                .collect()
        };
        Ok(y.chunks(matrix.rows).enumerate().map(known).collect())
    }

    /// Holds results to each other. `other` is the contract of the second: bits are compared only under one.
    fn compare(
        &mut self,
        first: &[Vec<Known>],
        second: &[Vec<Known>],
        (column, row): (usize, usize),
        other: &Contract,
        promised: bool,
    ) {
        let alike = *other == self.contract;
        let bits = alike && (promised || self.case.tier == Tier::Exact);
        self.bits |= bits;
        for (c, (first, second)) in first.iter().zip(second).enumerate() {
            for (r, (a, b)) in first.iter().zip(second).enumerate() {
                let bound = if bits { 0.0 } else { self.bound(&a.limit) + self.bound(&b.limit) };
                if bound.is_infinite() {
                    continue;
                }
                let (va, vb) = (round_f32(a.value), round_f32(b.value));
                let right = same(va, vb) || (a.value - b.value).abs() <= bound;
                let undefined = !a.limit.holds && !b.limit.holds;
                let place = Worst { call: 1, column: column + c, row: row + r, expected: a.value, got: vb, bound };
                self.outcome.element(place, (right && !vb.is_nan()) || undefined);
            }
        }
    }

    fn bound(&self, limit: &Limit) -> f64 {
        if self.case.tier == Tier::Ordinary { limit.likely() } else { limit.worst }
    }

    /// The two halves of every row, as two products.
    fn split_k(&mut self, matrix: &Matrix<'_>, columns: &Columns<'_>, whole: &[Vec<Known>]) -> Result<(), KernelError> {
        let unit = block(matrix.ty).max(form_block(self.contract.activations).unwrap_or(1));
        let at = matrix.k / unit / 2 * unit;
        if at == 0 {
            return Ok(());
        }
        let mut parts = Vec::new();
        for (start, end) in [(0, at), (at, matrix.k)] {
            let mut bytes = Vec::new();
            for row in 0..matrix.rows {
                let row = matrix.row(row);
                bytes.extend_from_slice(&row[row_bytes(matrix.ty, start)?..row_bytes(matrix.ty, end)?]);
            }
            let x: Vec<f32> =
                (0..columns.count).flat_map(|column| columns.column(column)[start..end].to_vec()).collect();
            let stride = bytes.len() / matrix.rows;
            let part = Matrix::new(matrix.ty, matrix.rows, end - start, stride, &bytes)?;
            let columns = Columns::new(columns.count, end - start, end - start, &x)?;
            let contract = self.contract;
            parts.push(self.product(&part, &columns, self.case.threads, &prepared(&part, &contract), &contract)?);
        }
        for (c, column) in whole.iter().enumerate() {
            for (r, a) in column.iter().enumerate() {
                let (b, d) = (&parts[0][c][r], &parts[1][c][r]);
                let exact = self.case.tier == Tier::Exact;
                self.bits |= exact;
                let bound =
                    if exact { 0.0 } else { self.bound(&a.limit) + self.bound(&b.limit) + self.bound(&d.limit) };
                if bound.is_infinite() || !a.limit.holds || !b.limit.holds || !d.limit.holds {
                    continue;
                }
                let sum = b.value + d.value;
                let place = Worst { call: 1, column: c, row: r, expected: a.value, got: round_f32(sum), bound };
                self.outcome.element(place, (sum - a.value).abs() <= bound);
            }
        }
        Ok(())
    }

    /// Picks weights: the first, the last, and some between.
    fn one_hot(&mut self, matrix: &Matrix<'_>) -> Result<(), KernelError> {
        let k = matrix.k;
        let chosen = [0, k / 3, k / 2, k - 1];
        // What every form holds: a code of 127 under a scale of a power of two.
        let hot = round_f32(127.0 * power(-6));
        let mut x = vec![0.0; chosen.len() * k];
        for (column, &at) in chosen.iter().enumerate() {
            x[column * k + at] = hot;
        }
        let columns = Columns::new(chosen.len(), k, k, &x)?;
        let contract = self.set.contract(Operation::Matmul, matrix.ty, columns.count)?;
        let rows = prepared(matrix, &contract);
        let all = self.product(matrix, &columns, self.case.threads, &rows, &contract)?;
        for (column, known) in all.into_iter().enumerate() {
            for (row, known) in known.into_iter().enumerate() {
                let bound = known.limit.worst;
                let right = (known.value - known.limit.expected).abs() <= bound
                    || (!known.limit.holds && !known.value.is_finite());
                let place =
                    Worst { call: 0, column, row, expected: known.limit.expected, got: round_f32(known.value), bound };
                self.outcome.element(place, right);
            }
        }
        Ok(())
    }
}

/// The rows of a matrix under a contract.
fn prepared(matrix: &Matrix<'_>, contract: &Contract) -> Vec<Row> {
    (0..matrix.rows).map(|row| prepare(matrix.ty, matrix.row(row), contract)).collect()
}
