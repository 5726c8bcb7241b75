//! The vocabulary of planted faults: what goes wrong, and where.

use gguf_spec::kernel::contract::Form;
use gguf_spec::quant::Role;

use super::steps::Place;

/// Which of several things a fault touches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pick {
    /// Every one.
    Any,
    /// The one with this index.
    At(usize),
    /// All from this index on.
    From(usize),
    /// All before this index.
    Below(usize),
    /// The last of an odd number, at least three.
    LastOfOdd,
    /// The last.
    Last,
    /// Of blocks: those behind the last whole 256 weights, if there are any before.
    Tail,
}

impl Pick {
    pub(super) fn takes(self, index: usize, count: usize) -> bool {
        match self {
            Self::Any => true,
            Self::At(at) => index == at,
            Self::From(first) => index >= first,
            Self::Below(end) => index < end,
            Self::LastOfOdd => count >= 3 && count % 2 == 1 && index + 1 == count,
            Self::Last | Self::Tail => index + 1 == count,
        }
    }
}

/// Where a fault acts. What is not picked is right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Where {
    /// Rows of the matrix.
    pub rows: Pick,
    /// Blocks of a row.
    pub blocks: Pick,
    /// Columns of the result or of activations.
    pub columns: Pick,
    /// The least number of columns, and the most.
    pub batch: (usize, usize),
    /// The first call, or the second.
    pub calls: Pick,
    /// The least number of threads.
    pub threads: usize,
}

impl Where {
    /// Everywhere.
    pub const ANY: Self = Self {
        rows: Pick::Any,
        blocks: Pick::Any,
        columns: Pick::Any,
        batch: (0, usize::MAX),
        calls: Pick::Any,
        threads: 0,
    };

    pub(super) fn call(&self, place: &Place) -> bool {
        self.calls.takes(place.call, 2)
            && (self.batch.0..=self.batch.1).contains(&place.columns)
            && place.threads >= self.threads
    }

    pub(super) fn block(&self, place: &Place) -> bool {
        let whole = place.blocks * place.per_block / 256 * 256;
        let block = match self.blocks {
            Pick::Tail => whole > 0 && place.block * place.per_block >= whole,
            pick => pick.takes(place.block, place.blocks),
        };
        self.call(place) && self.rows.takes(place.row, place.rows) && block
    }

    pub(super) fn column(&self, place: &Place) -> bool {
        self.call(place) && self.columns.takes(place.column, place.columns)
    }

    pub(super) fn element(&self, place: &Place) -> bool {
        self.column(place) && self.rows.takes(place.row, place.rows)
    }
}

/// Which numbers of a block: their part in it, without what kind of number it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Of {
    /// Scales and minima.
    Scale,
    /// Sub-scales.
    SubScale,
    /// Sub-minima.
    SubMin,
    /// Codes.
    Code,
    /// Grid indices.
    Grid,
    /// Signs.
    Signs,
    /// Shifts of grids.
    Shift,
    /// Stored sums.
    Sum,
}

impl Of {
    pub(super) fn is(self, role: Role) -> bool {
        match self {
            Self::Scale => matches!(role, Role::Scale(_)),
            Self::SubScale => role == Role::SubScale,
            Self::SubMin => role == Role::SubMin,
            Self::Code => role == Role::Code,
            Self::Grid => role == Role::Grid,
            Self::Signs => role == Role::Signs,
            Self::Shift => role == Role::Shift,
            Self::Sum => matches!(role, Role::FloatSum(_) | Role::IntSum),
        }
    }
}

/// What is done to the bits of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bits {
    /// These are turned over.
    Flip(u64),
    /// Only these are read.
    Keep(u64),
    /// Only these are read, of a binary16 that is not subnormal.
    KeepOfNormal(u64),
    /// Those of the number with this index are read instead.
    From(usize),
    /// The two bytes are read in the wrong order.
    SwapBytes,
    /// Zero, if it is a subnormal binary16.
    FlushSubnormal,
}

/// A fault: what goes wrong. Weights are numbered inside their block.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fault {
    /// The numbers of a part with indices from the first to before the second are read wrongly.
    Read(Of, usize, usize, Bits),
    /// Codes are looked for so many bytes before where they are.
    CodesEarly(usize),
    /// The two nibbles of every byte of codes change places.
    Nibbles,
    /// The block before lends its scales.
    ScalesOfPrevious,
    /// These weights are left out.
    Lost(usize, usize),
    /// The minimum of these weights is left out.
    NoMinimum(usize, usize),
    /// The minimum is added where it has to be taken off.
    MinimumAdded,
    /// A scale of zero makes what is multiplied with it NaN.
    NanOnZero,
    /// Weights are rounded to a form that the contract does not name.
    WeightsTo(Form),
    /// Weights are multiplied with this, in 1/1024.
    WeightsTimes(u32),
    /// The scale byte is taken for the scale.
    RawScale,
    /// The smallest scale of E8M0 is taken for zero.
    SmallestIsZero,
    /// The subnormal scales of UE4M3 are taken for normal ones.
    SubnormalAsNormal,
    /// The weight is that of another format of the same width.
    OtherFormat(&'static str),
    /// Codes of activations are cut, not rounded.
    Truncated,
    /// The scale of activations comes from their largest value, not from their largest magnitude.
    LargestWithSign,
    /// Activations have fewer codes: this many to one side.
    CoarseCodes(u8),
    /// The stored sum of activations is left out.
    NoSum,
    /// The stored sum is that of the block before.
    SumOfPrevious,
    /// The stored sum stops at the largest binary16.
    SumClamped,
    /// The sum is not multiplied with the scale.
    SumUnscaled,
    /// The scale of the first block is taken for all.
    ScaleOfFirst,
    /// Scales of activations that are subnormal become zero.
    TinyScaleFlushed,
    /// Activations are rounded to a form that the contract does not name.
    ActivationsTo(Form),
    /// A block of zeros makes NaN.
    ZerosMakeNan,
    /// The element with the first index is taken from the second, in every run of 32.
    WrongElement(usize, usize),
    /// The columns of activations are taken to lie side by side.
    ColumnsPacked,
    /// Another column is taken: so many to the left.
    ColumnBefore(usize),
    /// Rows are taken to lie side by side.
    RowsPacked,
    /// The row below is taken.
    NextRow,
    /// Experts are taken to be so many times as far apart, in eighths.
    ExpertStride(usize),
    /// All tokens use the experts of the first.
    ExpertsOfFirst,
    /// Each pair uses the column of its token, though it has its own.
    ColumnOfToken,
    /// Sums of two products of codes stop at the largest 16-bit integer.
    SaturatedPairs,
    /// Sums are rounded to a form after each addition.
    SumsTo(Form),
    /// Sums are cut to integers.
    IntegerSums,
    /// Results are not written.
    NotWritten,
    /// Results are zero.
    Zeros,
    /// Results are written for columns that lie side by side.
    ResultsPacked,
    /// One element too many is written.
    WrittenBeyond,
    /// The weights of the first call are kept.
    KeepsWeights,
    /// The weights of one row of the first call are kept.
    KeepsRow(usize),
    /// The activations of the first call are kept.
    KeepsActivations,
    /// The scales of the activations of the first call are kept.
    KeepsScales,
    /// The results of the first call are added.
    AddsResults,
    /// A unit in the last place is added where there is more than one column.
    LastPlace,
    /// Products are added up from the last to the first.
    OtherOrder,
}
