//! Faults in the rest of a call: activations, sums, columns, rows, experts, and what is promised.

use gguf_spec::kernel::contract::Form;

use super::super::fault::{Bits, Fault, Of, Pick, Where};
use super::super::{Killer, Kind, Mutant};
use super::{
    ANY, BITS, DECODING, EXACT, EXPERTS, LOOKUP, LOSSLESS, ODD, ORDINARY, QUANTIZING, SECOND, batch, block, columns,
    fault, row,
};
use crate::kernels::generic::Family::{Half, Single};
use crate::kernels::laws::Law;

pub(super) const FAULTS: &[Mutant] = &[
    // Activations.
    fault(Kind::Activation, "Q4_0", "codes are cut, not rounded", ANY, Fault::Truncated, ORDINARY),
    fault(Kind::Activation, "Q4_K", "codes are cut, not rounded", ANY, Fault::Truncated, ORDINARY),
    fault(Kind::Activation, "Q5_0", "one bit less for the codes", ANY, Fault::CoarseCodes(63), EXACT),
    fault(Kind::Activation, "Q6_K", "the scale comes from the largest value", ANY, Fault::LargestWithSign, EXACT),
    fault(
        Kind::Activation,
        "Q8_0",
        "the scale of the last of an odd number of blocks is that of the first",
        ODD,
        Fault::ScaleOfFirst,
        EXACT,
    ),
    fault(Kind::Activation, "F16", "one element in 32 is that eight before", ANY, Fault::WrongElement(8, 0), EXACT)
        .after("LCPP pull 16518"),
    fault(
        Kind::Activation,
        "Q4_0",
        "one element in 32 is that before",
        columns(Pick::At(0)),
        Fault::WrongElement(31, 30),
        EXACT,
    ),
    fault(
        Kind::Activation,
        "F32",
        "activations are rounded to bfloat16",
        ANY,
        Fault::ActivationsTo(Form::Bf16),
        LOSSLESS,
    ),
    fault(Kind::Activation, "Q4_1", "a block of zeros makes NaN", ANY, Fault::ZerosMakeNan, ORDINARY)
        .after("mlx pull 1577"),
    // Stored sums.
    fault(Kind::Sum, "Q4_1", "a sum beyond binary16 stops at its end", ANY, Fault::SumClamped, ORDINARY)
        .after("LCPP pull 21652"),
    fault(Kind::Sum, "Q5_1", "the sum of one block is left out", block(Pick::At(0)), Fault::NoSum, EXACT),
    fault(
        Kind::Sum,
        "Q4_1",
        "the sum is that of the block before",
        block(Pick::LastOfOdd),
        Fault::SumOfPrevious,
        EXACT,
    )
    .after("IKL 1616"),
    fault(Kind::Sum, "Q5_1", "the sum is not multiplied with the scale", ANY, Fault::SumUnscaled, EXACT)
        .after("IKL pull 364"),
    // Accumulators.
    fault(
        Kind::Accumulator,
        "IQ4_NL",
        "sums of two products stop at the largest 16-bit integer",
        ANY,
        Fault::SaturatedPairs,
        EXACT,
    )
    .after("IKL pull 427"),
    fault(Kind::Accumulator, "Q4_0", "added up in binary16", ANY, Fault::SumsTo(Form::F16), EXACT)
        .family(Single)
        .after("candle pull 3409"),
    fault(
        Kind::Accumulator,
        "Q6_K",
        "added up in binary16, from nine columns on",
        batch(9, usize::MAX),
        Fault::SumsTo(Form::F16),
        EXACT,
    )
    .after("LCPP 7805"),
    fault(Kind::Accumulator, "Q1_0", "sums are cut to integers", ANY, Fault::IntegerSums, EXACT)
        .after("PrismML-Eng/llama.cpp pull 3"),
    fault(
        Kind::Accumulator,
        "Q8_0",
        "added up in bfloat16 tiles",
        batch(32, usize::MAX),
        Fault::SumsTo(Form::Bf16),
        EXACT,
    )
    .family(Half),
    fault(Kind::Accumulator, "F32", "the last place is off by one", batch(2, usize::MAX), Fault::LastPlace, EXACT),
    fault(
        Kind::Accumulator,
        "Q4_K",
        "the last place is off by one, in one column",
        columns(Pick::At(4)),
        Fault::LastPlace,
        EXACT,
    ),
    // Columns.
    fault(
        Kind::Columns,
        "Q8_0",
        "the second column is the first again",
        columns(Pick::At(1)),
        Fault::ColumnBefore(1),
        EXACT,
    )
    .after("candle 2072"),
    fault(
        Kind::Columns,
        "Q4_0",
        "the last of many columns is the one before",
        Where { columns: Pick::Last, ..batch(33, usize::MAX) },
        Fault::ColumnBefore(1),
        EXACT,
    )
    .after("LCPP 27792"),
    fault(Kind::Columns, "Q5_K", "the ninth column is not written", columns(Pick::At(8)), Fault::NotWritten, EXACT),
    fault(Kind::Columns, "IQ2_XXS", "all is zero, for two columns and more", batch(2, usize::MAX), Fault::Zeros, EXACT)
        .after("ggml 529"),
    fault(
        Kind::Columns,
        "Q3_K",
        "one column of many, 32 apart, is taken twice",
        columns(Pick::At(32)),
        Fault::ColumnBefore(32),
        EXACT,
    ),
    fault(
        Kind::Columns,
        "Q6_K",
        "from the sixty-fifth on, columns are the one before",
        columns(Pick::From(64)),
        Fault::ColumnBefore(1),
        EXACT,
    ),
    // Rows.
    fault(
        Kind::Rows,
        "Q4_0",
        "from the 129th on, rows are not written",
        row(Pick::From(128)),
        Fault::NotWritten,
        EXACT,
    ),
    fault(Kind::Rows, "Q8_0", "the row below, in one of four", row(Pick::At(3)), Fault::NextRow, EXACT)
        .after("LCPP 18783"),
    fault(
        Kind::Rows,
        "Q4_K",
        "the last of an odd number of rows is not written",
        row(Pick::LastOfOdd),
        Fault::NotWritten,
        EXACT,
    ),
    fault(Kind::Rows, "F16", "one element too many is written", ANY, Fault::WrittenBeyond, EXACT)
        .after("whisper.cpp pull 2231"),
    fault(
        Kind::Rows,
        "Q5_0",
        "the seventeenth row is not written with several threads",
        Where { rows: Pick::At(16), threads: 2, ..ANY },
        Fault::NotWritten,
        EXACT,
    ),
    // Strides.
    fault(Kind::Stride, "Q4_0", "rows are taken to lie side by side", row(Pick::From(1)), Fault::RowsPacked, EXACT),
    fault(
        Kind::Stride,
        "Q6_K",
        "columns are taken to lie side by side",
        columns(Pick::From(1)),
        Fault::ColumnsPacked,
        EXACT,
    )
    .after("mlx 3795"),
    fault(
        Kind::Stride,
        "Q4_K",
        "results are taken to lie side by side, for two to four columns",
        batch(2, 4),
        Fault::ResultsPacked,
        EXACT,
    )
    .after("LCPP pull 5386"),
    fault(
        Kind::Stride,
        "Q5_1",
        "the last row begins where it would without padding",
        row(Pick::Last),
        Fault::RowsPacked,
        EXACT,
    )
    .after("IKL pull 2292"),
    // Experts.
    fault(Kind::Experts, "Q8_0", "experts lie an eighth as far apart", ANY, Fault::ExpertStride(1), EXACT)
        .of(EXPERTS)
        .after("candle pull 3801"),
    fault(
        Kind::Experts,
        "Q4_K",
        "all tokens use the experts of the first",
        columns(Pick::From(1)),
        Fault::ExpertsOfFirst,
        EXACT,
    )
    .of(EXPERTS)
    .after("LCPP 25455"),
    fault(Kind::Experts, "Q6_K", "pairs use the column of their token", ANY, Fault::ColumnOfToken, EXACT).of(EXPERTS),
    fault(Kind::Experts, "Q8_0", "all is zero for five to eight tokens", batch(10, 16), Fault::Zeros, EXACT)
        .of(EXPERTS)
        .after("LCPP 24064"),
    fault(
        Kind::Experts,
        "MXFP4",
        "the last pair of an odd number is not written",
        columns(Pick::LastOfOdd),
        Fault::NotWritten,
        EXACT,
    )
    .of(EXPERTS)
    .after("LCPP 28151"),
    // What is left of the first call.
    fault(Kind::State, "Q2_K", "the weights of the first call are kept", SECOND, Fault::KeepsWeights, EXACT)
        .after("LCPP 26845"),
    fault(Kind::State, "Q4_0", "one row of the first call is kept", SECOND, Fault::KeepsRow(0), EXACT)
        .after("LCPP pull 12560"),
    fault(Kind::State, "Q8_0", "the activations of the first call are kept", SECOND, Fault::KeepsActivations, EXACT)
        .after("ggml pull 1561"),
    fault(
        Kind::State,
        "Q4_K",
        "the scales of the first call's activations are kept",
        SECOND,
        Fault::KeepsScales,
        EXACT,
    )
    .after("TheTom/llama-cpp-turboquant pull 52"),
    fault(Kind::State, "Q6_K", "the results of the first call are added", SECOND, Fault::AddsResults, EXACT),
    fault(
        Kind::State,
        "IQ3_S",
        "the results of the first call are added, in the last row",
        Where { rows: Pick::Last, ..SECOND },
        Fault::AddsResults,
        EXACT,
    ),
    fault(
        Kind::State,
        "BF16",
        "the weights of the first call are kept for many columns",
        Where { calls: Pick::At(1), ..batch(32, usize::MAX) },
        Fault::KeepsWeights,
        EXACT,
    ),
    // Decoding.
    fault(
        Kind::Decoding,
        "Q6_K",
        "the lowest bit of one code",
        block(Pick::At(0)),
        Fault::Read(Of::Code, 77, 78, Bits::Flip(1)),
        BITS,
    )
    .of(DECODING),
    fault(Kind::Decoding, "Q5_K", "weights are rounded to binary16", ANY, Fault::WeightsTo(Form::F16), BITS)
        .of(DECODING),
    fault(
        Kind::Decoding,
        "IQ1_M",
        "a scale that is subnormal loses a bit",
        ANY,
        Fault::Read(Of::Scale, 0, 1, Bits::Keep(0xFFFE)),
        BITS,
    )
    .of(DECODING),
    fault(
        Kind::Decoding,
        "Q4_0",
        "the second row is the one before",
        columns(Pick::At(0)),
        Fault::ColumnBefore(1),
        BITS,
    )
    .of(LOOKUP),
    fault(Kind::Decoding, "Q8_0", "rows are taken to lie side by side", row(Pick::From(1)), Fault::RowsPacked, BITS)
        .of(LOOKUP),
    // Blocks of activations.
    fault(
        Kind::Quantizing,
        "Q8_1",
        "the sum of the last block is zero",
        block(Pick::Last),
        Fault::Read(Of::Sum, 0, 1, Bits::Keep(0)),
        EXACT,
    )
    .of(QUANTIZING),
    fault(
        Kind::Quantizing,
        "Q8_K",
        "the last sum is that of the first 16",
        ANY,
        Fault::Read(Of::Sum, 15, 16, Bits::From(0)),
        EXACT,
    )
    .of(QUANTIZING),
    fault(
        Kind::Quantizing,
        "Q8_0",
        "the lowest bit of one code",
        block(Pick::At(1)),
        Fault::Read(Of::Code, 9, 10, Bits::Flip(1)),
        EXACT,
    )
    .of(QUANTIZING),
    // Promises.
    fault(
        Kind::Promise,
        "Q4_0",
        "another order of addition for several columns",
        batch(2, usize::MAX),
        Fault::OtherOrder,
        Killer::Law(Law::ColumnAlone),
    )
    .family(Single),
    fault(
        Kind::Promise,
        "Q4_K",
        "another order of addition for several threads",
        Where { threads: 2, ..ANY },
        Fault::OtherOrder,
        Killer::Law(Law::Threads),
    )
    .family(Single),
    fault(
        Kind::Promise,
        "Q8_0",
        "another order of addition the next time",
        Where { calls: Pick::From(1), ..ANY },
        Fault::OtherOrder,
        Killer::Law(Law::Repeat),
    )
    .family(Single),
];
