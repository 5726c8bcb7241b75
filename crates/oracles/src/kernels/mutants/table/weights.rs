//! Faults in what is made of weights: codes, scales, minima, their places, ends of rows, and extremes.

use gguf_spec::kernel::contract::Form;

use super::super::fault::{Bits, Fault, Of, Pick};
use super::super::{Kind, Mutant};
use super::{ANY, EXACT, LOSSLESS, ODD, ORDINARY, TAIL, batch, block, fault, row};
use crate::kernels::generic::Family::Single;

pub(super) const FAULTS: &[Mutant] = &[
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
        "Q4_0",
        "the scale has ten bits for 3 to 32 columns",
        batch(3, 32),
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
    fault(
        Kind::Tail,
        "Q8_0",
        "what is behind 512 weights is left out",
        block(Pick::From(16)),
        Fault::Lost(0, 32),
        EXACT,
    ),
    fault(
        Kind::Tail,
        "Q4_K",
        "what is behind 4096 weights is left out",
        block(Pick::From(16)),
        Fault::Lost(0, 256),
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
];
