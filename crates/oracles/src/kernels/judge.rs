//! One case, one set of kernels, one verdict.

use gguf_spec::kernel::contract::Contract;
use gguf_spec::kernel::{Columns, KernelError, KernelSet, Operation};
use gguf_spec::quant::{self, Weight, same};

use super::bounds::{Limit, row_limit};
use super::cases::{Case, Tier, block, block_bytes};
use super::expect::{Expected, Prepared};
use super::held::Held;
use super::inputs::{NoRoom, Operands};
use super::memory::{self, CANARY, Memory, written_beside};
use super::numbers::round_f32;
use super::pattern::Wrong;
use super::sides::{self, Taken};
use crate::Holds;

/// What came of a case.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// Every element is right.
    Pass,
    /// One is not: [`Outcome::worst`] or [`Outcome::reason`] says which.
    Fail,
    /// The set has no kernel for it.
    NotSupported,
    /// The contract leaves no room for such inputs: nothing was asked.
    NoRoom(NoRoom),
    /// The kernel gave no result.
    Error(KernelError),
}

impl From<KernelError> for Verdict {
    fn from(error: KernelError) -> Self {
        match error {
            KernelError::Unsupported => Self::NotSupported,
            error => Self::Error(error),
        }
    }
}

/// The element that is the furthest off, in units of its bound.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Worst {
    /// The call: 0, or 1 for the second.
    pub call: usize,
    /// The column of the result; of decoding, 0.
    pub column: usize,
    /// The row, or the weight.
    pub row: usize,
    /// The right value.
    pub expected: f64,
    /// The value of the kernel.
    pub got: f32,
    /// How far apart they may be: 0 where there is one right value.
    pub bound: f64,
}

impl Worst {
    /// The right value as the kernel would have to give it.
    #[must_use]
    pub fn right(&self) -> f32 {
        round_f32(self.expected)
    }

    /// Whether the kernel has left there what was there before the call.
    #[must_use]
    pub fn is_unwritten(&self) -> bool {
        unwritten(self.got)
    }
}

/// Whether an element is what results are filled with before a call, here or in a process of its own.
fn unwritten(got: f32) -> bool {
    got.to_bits() == CANARY || assay_guard::is_pattern(got.to_bits())
}

/// What came of a case, with evidence.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The case; its name replays it.
    pub case: Case,
    /// The verdict.
    pub verdict: Verdict,
    /// The contract it was judged by; `None` if the set has none, or could not be asked.
    pub contract: Option<Contract>,
    /// Elements that were compared.
    pub checked: usize,
    /// The largest share of a bound that was used; infinite where there is one right value and it was not given.
    pub share: f64,
    /// The largest share of the limit of a row's NMSE; 0 where no row was judged as a whole.
    pub row_share: f64,
    /// The element that is the furthest off.
    pub worst: Option<Worst>,
    /// The wrong elements.
    pub wrong: Wrong,
    /// What is wrong, if it is not one element; of a law, what was compared.
    pub reason: Option<String>,
    /// The sides that the set takes where authorities differ about a scale.
    pub sides: Vec<Taken>,
}

impl Outcome {
    pub(super) fn new(case: &Case, contract: Option<Contract>, verdict: Verdict) -> Self {
        Self {
            case: *case,
            verdict,
            contract,
            checked: 0,
            share: 0.0,
            row_share: 0.0,
            worst: None,
            wrong: Wrong::default(),
            reason: None,
            sides: Vec::new(),
        }
    }

    /// What came of a case for which a set gives no contract.
    #[must_use]
    pub fn without_contract(case: &Case, error: KernelError) -> Self {
        Self::new(case, None, error.into())
    }

    /// The tier that judged.
    #[must_use]
    pub fn tier(&self) -> Tier {
        self.case.tier
    }

    /// The failure as a sentence; `None` if there is none.
    #[must_use]
    pub fn failure(&self) -> Option<String> {
        match (&self.verdict, &self.worst, &self.reason) {
            (Verdict::Error(e), ..) => Some(format!("{}: {e}", self.case)),
            (Verdict::Fail, Some(worst), reason) if self.wrong.elements > 0 => Some(format!(
                "{}: call {}, column {}, row {}: expected {:e} within {:e}, got {:e}{}",
                self.case,
                worst.call,
                worst.column,
                worst.row,
                worst.expected,
                worst.bound,
                worst.got,
                reason.as_ref().map_or_else(String::new, |reason| format!("; {reason}"))
            )),
            (Verdict::Fail, _, Some(reason)) => Some(format!("{}: {reason}", self.case)),
            (Verdict::Fail, _, None) => Some(format!("{}: failed", self.case)),
            (Verdict::Pass | Verdict::NotSupported | Verdict::NoRoom(_), ..) => None,
        }
    }

    fn fail(&mut self, reason: String) {
        self.verdict = Verdict::Fail;
        self.reason.get_or_insert(reason);
    }

    /// Says of wrong elements what was compared, before anything else that is wrong.
    pub(super) fn compared(&mut self, what: &str) {
        self.reason = Some(match self.reason.take() {
            Some(reason) => format!("{what}; {reason}"),
            None => what.to_owned(),
        });
    }

    /// What lies between the columns of a result, and behind the last, has to stay as it was.
    pub(super) fn untouched(&mut self, y: &[f32], rows: usize, columns: usize, stride: usize) {
        if let Some(i) = written_beside(y, rows, columns, stride) {
            let (column, at) = (i / stride, i % stride);
            self.fail(format!("wrote {:e} at element {at} of column {column}, which has {rows} rows", y[i]));
        }
    }

    /// Takes one comparison into account.
    pub(super) fn element(&mut self, worst: Worst, right: bool) {
        self.checked += 1;
        self.wrong.add(&self.case, &worst, right);
        let error = (f64::from(worst.got) - worst.expected).abs();
        let share = match (right, worst.bound > 0.0) {
            (true, false) => 0.0,
            // Results that a form cannot hold are right without being near.
            (true, true) if error.is_finite() => error / worst.bound,
            (true, true) => 0.0,
            (false, true) if error.is_finite() => error / worst.bound,
            (false, _) => f64::INFINITY,
        };
        if self.worst.is_none() || share > self.share {
            self.share = share;
            self.worst = Some(worst);
        }
        if !right {
            self.verdict = Verdict::Fail;
        }
    }
}

/// Runs a case.
pub fn run(set: &mut dyn KernelSet, case: &Case) -> Outcome {
    match set.contract(case.operation, case.ty, case.inputs()) {
        Ok(contract) => settled(set, case, contract, &Prepared::new(case, &contract)),
        Err(error) => Outcome::without_contract(case, error),
    }
}

/// Runs a case that was prepared under a contract, or has no room there.
pub fn settled(
    set: &mut dyn KernelSet,
    case: &Case,
    contract: Contract,
    prepared: &Result<Prepared, NoRoom>,
) -> Outcome {
    match prepared {
        Ok(prepared) => judge(set, prepared),
        Err(reason) => Outcome::new(case, Some(contract), Verdict::NoRoom(reason.clone())),
    }
}

/// Runs a case whose inputs and results are known.
pub fn judge(set: &mut dyn KernelSet, prepared: &Prepared) -> Outcome {
    let mut outcome = Outcome::new(&prepared.case, Some(prepared.contract), Verdict::Pass);
    match calls(set, prepared, &mut outcome) {
        Ok(()) if outcome.checked == 0 => outcome.fail("nothing was compared".to_owned()),
        Ok(()) => {}
        Err(error) => outcome.verdict = error.into(),
    }
    outcome
}

/// Whether a run shows that a set is right: nothing failed, and something passed. A run that compared nothing
/// shows nothing.
///
/// # Errors
///
/// The first failure, or that there was nothing.
pub fn all_pass(outcomes: &[Outcome]) -> Holds {
    if let Some(failure) = outcomes.iter().find_map(Outcome::failure) {
        return Err(failure);
    }
    match outcomes.iter().any(|outcome| outcome.verdict == Verdict::Pass) {
        true => Ok(()),
        false => Err(format!("of {} cases none was judged: nothing is shown", outcomes.len())),
    }
}

fn calls(set: &mut dyn KernelSet, prepared: &Prepared, outcome: &mut Outcome) -> Result<(), KernelError> {
    // One place in memory for both calls: who remembers what was there is seen.
    let first = &prepared.calls[0].inputs;
    let mut memory = Memory::holding(&first.weights, &first.activations, &first.ids, prepared.contract.reads_past)?;
    for (index, call) in prepared.calls.iter().enumerate() {
        let operands = memory.load(&call.inputs);
        one_call(set, &prepared.case, &operands, &call.expected, index, outcome)?;
    }
    Ok(())
}

fn one_call(
    set: &mut dyn KernelSet,
    case: &Case,
    operands: &Operands<'_>,
    expected: &Expected,
    index: usize,
    outcome: &mut Outcome,
) -> Result<(), KernelError> {
    match expected {
        Expected::Decoded(expected) => {
            let y = decode(set, case, operands, expected.values.len())?;
            decoded(&y, &expected.values, index, outcome);
            sides::take(&y, &expected.disputed, &mut outcome.sides);
        }
        Expected::Blocks(columns) => {
            for (column, held) in columns.iter().enumerate() {
                let x = operands.columns(case)?.column(column);
                let mut blocks = vec![0xAA; case.k / block(case.ty) * block_bytes(case.ty)];
                set.quantize_row(case.ty, x, &mut blocks)?;
                quantized(case, held, &blocks, (index, column), outcome);
            }
        }
        Expected::Product(limits) => {
            let y = product(set, case, operands)?;
            let stride = operands.inputs.y_stride;
            for (column, limits) in limits.iter().enumerate() {
                for (row, limit) in limits.iter().enumerate() {
                    let place =
                        Worst { call: index, column, row, expected: 0.0, got: y[column * stride + row], bound: 0.0 };
                    element(case.tier, limit, place, outcome);
                }
            }
            outcome.untouched(&y, case.rows, case.results(), stride);
            if case.tier == Tier::Ordinary && (case.operation != Operation::MatmulId || case.paired || case.used == 1) {
                whole_rows(case, limits, &y, stride, outcome);
            }
        }
    }
    Ok(())
}

/// What a set makes of the inputs of an operation that decodes.
fn decode(
    set: &mut dyn KernelSet,
    case: &Case,
    operands: &Operands<'_>,
    length: usize,
) -> Result<Vec<f32>, KernelError> {
    let mut y = vec![f32::from_bits(CANARY); length];
    let matrix = operands.matrix(case)?;
    match case.operation {
        Operation::GetRows => set.get_rows(&matrix, operands.ids, &mut y)?,
        _ => set.dequantize(case.ty, matrix.row(0), &mut y)?,
    }
    Ok(y)
}

/// What a set makes of the inputs of a product: columns `y_stride` apart, and a guard behind.
fn product(set: &mut dyn KernelSet, case: &Case, operands: &Operands<'_>) -> Result<Vec<f32>, KernelError> {
    let stride = operands.inputs.y_stride;
    let mut y = memory::result(case.results(), case.rows, stride);
    match case.operation {
        Operation::MatmulId => set.matmul_id(&operands.matmul_id(case)?, &mut y)?,
        Operation::Matmul => set.matmul(&operands.matmul(case)?, &mut y)?,
        _ => {
            let (matrix, columns): (_, Columns<'_>) = (operands.matrix(case)?, operands.columns(case)?);
            for column in 0..case.columns {
                for row in 0..case.rows {
                    y[column * stride + row] = set.dot(case.ty, matrix.row(row), columns.column(column))?;
                }
            }
        }
    }
    Ok(y)
}

/// The right results of the first call of a product, each with what a set makes of it; `None` if it makes nothing.
pub(super) fn results(set: &mut dyn KernelSet, prepared: &Prepared) -> Option<Vec<(f64, f32)>> {
    let (case, call) = (&prepared.case, prepared.calls.first()?);
    let Expected::Product(limits) = &call.expected else { return None };
    let y = product(set, case, &call.inputs.operands()).ok()?;
    let stride = call.inputs.y_stride;
    let pairs = |(column, limits): (usize, &Vec<Limit>)| {
        limits.iter().zip(&y[column * stride..]).map(|(limit, &y)| (limit.expected, y)).collect::<Vec<_>>()
    };
    Some(limits.iter().enumerate().flat_map(pairs).collect())
}

fn decoded(y: &[f32], values: &[Option<f32>], call: usize, outcome: &mut Outcome) {
    for (row, (&got, value)) in y.iter().zip(values).enumerate() {
        let Some(value) = *value else { continue };
        let worst = Worst { call, column: 0, row, expected: f64::from(value), got, bound: 0.0 };
        // A NaN that was asked for is right; what was there before is not, unless it is the very number.
        let left = worst.is_unwritten() && got.to_bits() != value.to_bits();
        outcome.element(worst, same(got, value) && !left && got.to_bits() != CANARY);
    }
}

/// Blocks have to say what the activations were, as nearly as the form allows, and their sums what the codes say.
fn quantized(case: &Case, held: &Held, blocks: &[u8], (call, column): (usize, usize), outcome: &mut Outcome) {
    let mut weights = vec![Weight::default(); held.x.len()];
    if let Err(e) = quant::weights(case.ty, blocks, &mut weights) {
        outcome.fail(e.to_string());
        return;
    }
    for (row, (weight, &x)) in weights.iter().zip(&held.x).enumerate() {
        let got = round_f32(weight.value());
        let bound = if case.tier == Tier::Exact { 0.0 } else { held.error[row] };
        let right = (weight.value() - x).abs() <= bound || (!held.holds && !weight.value().is_finite());
        outcome.element(Worst { call, column, row, expected: x, got, bound }, right);
    }
    // Under a scale of zero nothing comes of a sum: ggml's encoder of Q8_K does not write those of such a block.
    let counts =
        |at: usize| weights[at * block(case.ty)..][..block(case.ty)].iter().any(|weight| weight.value() != 0.0);
    let mut all = blocks.chunks_exact(block_bytes(case.ty)).enumerate();
    let wrong = all.find(|&(at, bytes)| counts(at) && quant::disputed(case.ty, bytes).is_some());
    if held.holds
        && let Some((at, _)) = wrong
    {
        outcome.fail(format!("column {column}, block {at}: a stored sum is not that of the codes"));
    }
}

/// Where a form cannot hold the operands, what is not finite says so.
pub(super) fn is_excused(got: f32, limit: &Limit) -> bool {
    !limit.holds && !got.is_finite() && !unwritten(got)
}

fn element(tier: Tier, limit: &Limit, place: Worst, outcome: &mut Outcome) {
    let got = f64::from(place.got);
    let (bound, right) = match tier {
        Tier::Exact | Tier::Bits => (0.0, same(place.got, round_f32(limit.expected))),
        Tier::Lossless => (limit.worst, (got - limit.expected).abs() <= limit.worst),
        Tier::Ordinary => (limit.likely(), (got - limit.expected).abs() <= limit.likely()),
    };
    // Where a contract rounds so much that nothing can be said, nothing is.
    if bound.is_infinite() {
        return;
    }
    let right = right || is_excused(place.got, limit);
    outcome.element(Worst { expected: limit.expected, bound, ..place }, right);
}

/// The NMSE of a row, in units of what rounding explains.
fn whole_rows(case: &Case, limits: &[Vec<Limit>], y: &[f32], stride: usize, outcome: &mut Outcome) {
    for row in 0..case.rows {
        let (mut squares, mut count) = (0.0, 0);
        for (column, limits) in limits.iter().enumerate() {
            let limit = &limits[row];
            if limit.holds && limit.deviation > 0.0 && limit.fixed.is_finite() {
                let error = (f64::from(y[column * stride + row]) - limit.expected).abs();
                let random = (error - limit.fixed).max(0.0) / limit.deviation;
                squares += random * random;
                count += 1;
            }
        }
        let share = squares / row_limit(count);
        outcome.row_share = outcome.row_share.max(share);
        if share > 1.0 {
            if squares.is_infinite() {
                outcome.fail(format!("row {row}: an error is infinite"));
                return;
            }
            outcome.fail(format!(
                "row {row}: errors have {:.2} times the variance that rounding explains, over {count} columns; at most {:.2}",
                squares / super::numbers::real(count),
                row_limit(count) / super::numbers::real(count)
            ));
        }
    }
}
