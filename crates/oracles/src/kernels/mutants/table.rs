//! The planted faults.
//!
//! Abbreviations in reports: LCPP is `ggml-org/llama.cpp`, IKL is `ikawrakow/ik_llama.cpp`.

use gguf_spec::kernel::Operation;
use gguf_spec::kernel::contract::Form;

use super::fault::{Bits, Fault, Of, Pick, Where};
use super::{Killer, Kind, Mutant};
use crate::kernels::cases::Tier;
use crate::kernels::generic::Family::{self, Half, Integer, Single};
use crate::kernels::laws::Law;

const PRODUCTS: &[Operation] = &[Operation::Dot, Operation::Matmul, Operation::MatmulId];
const EXPERTS: &[Operation] = &[Operation::MatmulId];
const DECODING: &[Operation] = &[Operation::Dequantize, Operation::GetRows];
const LOOKUP: &[Operation] = &[Operation::GetRows];
const QUANTIZING: &[Operation] = &[Operation::QuantizeRow];

const EXACT: Killer = Killer::Tier(Tier::Exact);
const LOSSLESS: Killer = Killer::Tier(Tier::Lossless);
const ORDINARY: Killer = Killer::Tier(Tier::Ordinary);
const BITS: Killer = Killer::Tier(Tier::Bits);

const ANY: Where = Where::ANY;
const SECOND: Where = Where { calls: Pick::At(1), ..ANY };
const ODD: Where = block(Pick::LastOfOdd);
const TAIL: Where = block(Pick::Tail);

const fn block(blocks: Pick) -> Where {
    Where { blocks, ..ANY }
}

const fn row(rows: Pick) -> Where {
    Where { rows, ..ANY }
}

const fn columns(columns: Pick) -> Where {
    Where { columns, ..ANY }
}

const fn batch(least: usize, most: usize) -> Where {
    Where { batch: (least, most), ..ANY }
}

/// A fault in products of a set that holds activations as CPUs do.
const fn fault(kind: Kind, ty: &'static str, name: &'static str, at: Where, fault: Fault, killer: Killer) -> Mutant {
    Mutant { name, kind, ty, family: Integer, operations: PRODUCTS, at, fault, killer, after: None }
}

impl Mutant {
    const fn after(self, report: &'static str) -> Self {
        Self { after: Some(report), ..self }
    }

    const fn of(self, operations: &'static [Operation]) -> Self {
        Self { operations, ..self }
    }

    const fn family(self, family: Family) -> Self {
        Self { family, ..self }
    }
}

/// All of them.
pub const MUTANTS: &[Mutant] = &[
    // Codes.
    fault(
        Kind::Code,
        "Q4_0",
        "the lowest bit of one code",
        block(Pick::At(1)),
        Fault::Read(Of::Code, 5, 6, Bits::Flip(1)),
        EXACT,
    ),
    fault(
        Kind::Code,
        "Q6_K",
        "the lowest bit of the last code",
        block(Pick::At(0)),
        Fault::Read(Of::Code, 255, 256, Bits::Flip(1)),
        EXACT,
    )
    .after("LCPP 25477"),
    fault(
        Kind::Code,
        "Q5_K",
        "the fifth bits of 32 codes are not read",
        block(Pick::At(0)),
        Fault::Read(Of::Code, 96, 128, Bits::Keep(15)),
        EXACT,
    )
    .after("LCPP pull 2339"),
    fault(
        Kind::Code,
        "Q5_0",
        "the fifth bits of the second half are not read",
        ANY,
        Fault::Read(Of::Code, 16, 32, Bits::Keep(15)),
        EXACT,
    )
    .after("LCPP 10923"),
    fault(
        Kind::Code,
        "Q3_K",
        "the third bit of one code is turned over",
        row(Pick::At(0)),
        Fault::Read(Of::Code, 130, 131, Bits::Flip(4)),
        EXACT,
    )
    .after("LCPP 3276"),
    fault(
        Kind::Code,
        "Q8_0",
        "one code is read as that of its neighbour",
        block(Pick::At(0)),
        Fault::Read(Of::Code, 31, 32, Bits::From(30)),
        EXACT,
    )
    .after("LCPP 10710"),
    fault(
        Kind::Code,
        "Q2_0",
        "four codes lose their high bit",
        block(Pick::At(0)),
        Fault::Read(Of::Code, 60, 64, Bits::Keep(1)),
        EXACT,
    ),
    fault(
        Kind::Code,
        "TQ2_0",
        "the last code of a block",
        row(Pick::Last),
        Fault::Read(Of::Code, 255, 256, Bits::Flip(1)),
        EXACT,
    ),
    fault(Kind::Code, "Q1_0", "one sign", block(Pick::At(2)), Fault::Read(Of::Code, 127, 128, Bits::Flip(1)), EXACT),
    fault(Kind::Code, "Q2_K", "16 weights are left out", block(Pick::At(0)), Fault::Lost(112, 128), EXACT)
        .after("candle pull 1594"),
    // Grids, signs, shifts.
    fault(
        Kind::Grid,
        "IQ3_S",
        "the ninth bits of eight grid indices are not read",
        ANY,
        Fault::Read(Of::Grid, 8, 16, Bits::Keep(0xFF)),
        EXACT,
    )
    .after("LCPP pull 5834"),
    fault(
        Kind::Grid,
        "IQ2_XXS",
        "the sign of the eighth weight",
        block(Pick::At(0)),
        Fault::Read(Of::Signs, 3, 4, Bits::Flip(64)),
        EXACT,
    ),
    fault(
        Kind::Grid,
        "IQ3_XXS",
        "one grid index is that of its neighbour",
        block(Pick::At(0)),
        Fault::Read(Of::Grid, 63, 64, Bits::From(62)),
        EXACT,
    ),
    fault(
        Kind::Grid,
        "IQ2_S",
        "the high bits of one grid index are not read",
        row(Pick::At(0)),
        Fault::Read(Of::Grid, 17, 18, Bits::Keep(0xFF)),
        EXACT,
    ),
    fault(
        Kind::Grid,
        "IQ1_S",
        "one shift has the wrong sign",
        block(Pick::At(0)),
        Fault::Read(Of::Shift, 7, 8, Bits::Flip(1)),
        EXACT,
    ),
    fault(
        Kind::Grid,
        "IQ1_M",
        "the shifts of the second half are those of the first",
        ANY,
        Fault::Read(Of::Shift, 16, 32, Bits::From(0)),
        EXACT,
    ),
    // Scales.
    fault(
        Kind::Scale,
        "Q4_0",
        "the scale has ten bits",
        ANY,
        Fault::Read(Of::Scale, 0, 1, Bits::KeepOfNormal(0xFFFE)),
        LOSSLESS,
    ),
    fault(
        Kind::Scale,
        "Q6_K",
        "the scale has eight bits",
        ANY,
        Fault::Read(Of::Scale, 0, 1, Bits::KeepOfNormal(0xFFF8)),
        LOSSLESS,
    ),
    fault(
        Kind::Scale,
        "Q4_K",
        "the scale of the minima has seven bits",
        ANY,
        Fault::Read(Of::Scale, 1, 2, Bits::KeepOfNormal(0xFFF0)),
        LOSSLESS,
    ),
    fault(Kind::Scale, "F32", "weights are rounded to binary16", ANY, Fault::WeightsTo(Form::F16), LOSSLESS),
    fault(Kind::Scale, "IQ4_XS", "weights are rounded to binary16", ANY, Fault::WeightsTo(Form::F16), EXACT),
    fault(Kind::Scale, "Q5_K", "weights are rounded to bfloat16", ANY, Fault::WeightsTo(Form::Bf16), LOSSLESS),
    fault(
        Kind::Scale,
        "Q8_0",
        "the bytes of the scale change places",
        ANY,
        Fault::Read(Of::Scale, 0, 1, Bits::SwapBytes),
        EXACT,
    )
    .after("LCPP 3298"),
    fault(
        Kind::Scale,
        "Q4_K",
        "the scale of one block is that of the block before",
        block(Pick::At(1)),
        Fault::ScalesOfPrevious,
        EXACT,
    ),
    fault(
        Kind::Scale,
        "IQ2_XS",
        "weights are twice as large in one block",
        block(Pick::Last),
        Fault::WeightsTimes(2048),
        EXACT,
    ),
    fault(Kind::Scale, "TQ1_0", "weights are a thousandth too large", ANY, Fault::WeightsTimes(1025), EXACT),
    // Sub-scales.
    fault(
        Kind::SubScale,
        "Q4_K",
        "a sub-scale is that of the group before, in half of the groups",
        ANY,
        Fault::Read(Of::SubScale, 1, 2, Bits::From(0)),
        EXACT,
    )
    .after("paiml/aprender 3105"),
    fault(
        Kind::SubScale,
        "Q5_K",
        "the high bits of the last sub-scale are not read",
        block(Pick::At(0)),
        Fault::Read(Of::SubScale, 7, 8, Bits::Keep(15)),
        EXACT,
    ),
    fault(
        Kind::SubScale,
        "Q2_K",
        "the last sub-scale has three bits",
        ANY,
        Fault::Read(Of::SubScale, 15, 16, Bits::Keep(7)),
        EXACT,
    )
    .after("LCPP 11041"),
    fault(
        Kind::SubScale,
        "Q3_K",
        "two sub-scales change places with none",
        block(Pick::At(0)),
        Fault::Read(Of::SubScale, 8, 9, Bits::From(0)),
        EXACT,
    ),
    fault(
        Kind::SubScale,
        "Q6_K",
        "the sign of a sub-scale",
        block(Pick::At(0)),
        Fault::Read(Of::SubScale, 15, 16, Bits::Keep(0x7F)),
        EXACT,
    ),
    fault(
        Kind::SubScale,
        "IQ4_XS",
        "the high bits of one sub-scale are not read",
        block(Pick::At(0)),
        Fault::Read(Of::SubScale, 6, 7, Bits::Keep(15)),
        EXACT,
    ),
    fault(
        Kind::SubScale,
        "Q4_K",
        "wrong for one column, right for more",
        batch(1, 1),
        Fault::Read(Of::SubScale, 4, 8, Bits::Keep(15)),
        EXACT,
    )
    .after("LCPP 3276"),
    // Minima.
    fault(Kind::Minimum, "Q4_K", "16 weights have no minimum", ANY, Fault::NoMinimum(240, 256), EXACT)
        .after("paiml/aprender 3105"),
    fault(
        Kind::Minimum,
        "Q5_1",
        "the minimum of one block is left out",
        block(Pick::At(1)),
        Fault::NoMinimum(0, 32),
        EXACT,
    ),
    fault(Kind::Minimum, "Q2_K", "the minimum is added", ANY, Fault::MinimumAdded, EXACT),
    fault(
        Kind::Minimum,
        "Q5_K",
        "the sub-minimum is that of the next group",
        block(Pick::At(0)),
        Fault::Read(Of::SubMin, 2, 3, Bits::From(3)),
        EXACT,
    ),
    // Layout.
    fault(Kind::Layout, "Q4_1", "two bytes of scales, where four are", ANY, Fault::CodesEarly(2), EXACT)
        .after("mlx pull 3664"),
    fault(Kind::Layout, "Q4_0", "the halves of a block change places", ANY, Fault::Nibbles, EXACT)
        .after("LCPP pull 12560"),
    fault(Kind::Layout, "IQ4_NL", "taken for Q4_0", ANY, Fault::OtherFormat("Q4_0"), EXACT).after("sparkinfer 16"),
    fault(Kind::Layout, "BF16", "taken for F16", ANY, Fault::OtherFormat("F16"), EXACT).after("candle pull 3409"),
    fault(Kind::Layout, "MXFP4", "the scale byte is taken for the scale", row(Pick::Below(8)), Fault::RawScale, EXACT)
        .after("mlx 3762"),
    // Ends of rows.
    fault(Kind::Tail, "IQ4_NL", "the last of an odd number of blocks is left out", ODD, Fault::Lost(0, 32), EXACT)
        .after("LCPP 29131"),
    fault(
        Kind::Tail,
        "MXFP4",
        "the last of an odd number of blocks has the scale of the one before",
        ODD,
        Fault::ScalesOfPrevious,
        EXACT,
    )
    .after("LCPP 29131"),
    fault(Kind::Tail, "Q8_0", "what is behind the last 256 weights is left out", TAIL, Fault::Lost(0, 32), EXACT),
    fault(
        Kind::Tail,
        "NVFP4",
        "the last 16 weights are left out behind the last 256",
        TAIL,
        Fault::Lost(48, 64),
        EXACT,
    )
    .after("mlx pull 3912"),
    fault(
        Kind::Tail,
        "Q5_1",
        "the last of an odd number of blocks has no minimum",
        ODD,
        Fault::NoMinimum(0, 32),
        EXACT,
    ),
    fault(
        Kind::Tail,
        "Q6_K",
        "a weight of the last of an odd number of blocks",
        ODD,
        Fault::Read(Of::Code, 0, 1, Bits::Flip(1)),
        EXACT,
    ),
    fault(
        Kind::Tail,
        "Q4_0",
        "the second half of the last block is left out, behind the last 256",
        TAIL,
        Fault::Lost(16, 32),
        EXACT,
    ),
    // Extremes.
    fault(Kind::Extreme, "IQ4_NL", "a scale of zero makes NaN", ANY, Fault::NanOnZero, EXACT).after("LCPP pull 20460"),
    fault(
        Kind::Extreme,
        "Q4_K",
        "a scale of zero makes NaN, in the last block",
        block(Pick::Last),
        Fault::NanOnZero,
        EXACT,
    )
    .after("LCPP 7311"),
    fault(
        Kind::Extreme,
        "Q4_0",
        "subnormal scales become zero",
        ANY,
        Fault::Read(Of::Scale, 0, 1, Bits::FlushSubnormal),
        EXACT,
    ),
    fault(
        Kind::Extreme,
        "Q3_K",
        "subnormal scales become zero, in one block",
        block(Pick::At(1)),
        Fault::Read(Of::Scale, 0, 1, Bits::FlushSubnormal),
        EXACT,
    ),
    fault(Kind::Extreme, "MXFP4", "the smallest scale is taken for zero", ANY, Fault::SmallestIsZero, EXACT)
        .after("b12x pull 388"),
    fault(Kind::Extreme, "NVFP4", "subnormal scales are taken for normal ones", ANY, Fault::SubnormalAsNormal, EXACT)
        .after("vllm pull 34577"),
    fault(Kind::Extreme, "Q4_0", "large activations become infinite", ANY, Fault::ActivationsTo(Form::F16), ORDINARY)
        .family(Single)
        .after("LCPP 25748"),
    fault(Kind::Extreme, "Q8_0", "small scales of activations become zero", ANY, Fault::TinyScaleFlushed, ORDINARY),
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
    // Rows.
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
