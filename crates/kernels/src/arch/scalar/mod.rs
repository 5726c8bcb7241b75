//! Plain Rust: one number at a time, in the order of the row. One file for each family of types.
//!
//! Fields of blocks have the names they have in `ggml-common.h`, the source of the layouts.

mod blocks;
mod floats;
mod fp4;
mod grid;
mod iq1;
mod iq2;
mod iq3;
mod iq4;
mod k;
mod k_small;
mod numbers;
mod plain;
mod q4;
mod q5;
mod q8;
mod signs;
mod small;
mod ternary;

use gguf_spec::types::TensorType;

use super::{Arch, Decode, Dot, Kernel};

/// The kernels of this folder.
pub(crate) static SCALAR: Arch = Arch { name: "scalar", kernel, quantize: q8::hold };

fn kernel(ty: &TensorType) -> Option<Kernel> {
    use Dot::{Floats, Held};

    let (decode, dot): (Decode, _) = match ty.name {
        "F32" => (plain::decode_f32, Some(Floats(plain::dot_f32))),
        "F64" => (plain::decode_f64, Some(Floats(plain::dot_f64))),
        "I8" => (plain::decode_i8, Some(Floats(plain::dot_i8))),
        "I16" => (plain::decode_i16, Some(Floats(plain::dot_i16))),
        "I32" => (plain::decode_i32, Some(Floats(plain::dot_i32))),
        "I64" => (plain::decode_i64, Some(Floats(plain::dot_i64))),
        "F16" => (floats::decode_f16, Some(Held(floats::dot_f16))),
        "BF16" => (floats::decode_bf16, Some(Held(floats::dot_bf16))),
        "Q4_0" => (q4::decode_0, Some(Held(q4::dot_0))),
        "Q4_1" => (q4::decode_1, Some(Held(q4::dot_1))),
        "Q5_0" => (q5::decode_0, Some(Held(q5::dot_0))),
        "Q5_1" => (q5::decode_1, Some(Held(q5::dot_1))),
        "Q8_0" => (q8::decode_0, Some(Held(q8::dot_0))),
        "Q8_1" => (q8::decode_1, None),
        "Q8_K" => (q8::decode_k, None),
        "Q1_0" => (small::decode_q1, Some(Held(small::dot_q1))),
        "Q2_0" => (small::decode_q2, Some(Held(small::dot_q2))),
        "Q2_K" => (k_small::decode_q2, Some(Held(k_small::dot_q2))),
        "Q3_K" => (k_small::decode_q3, Some(Held(k_small::dot_q3))),
        "Q4_K" => (k::decode_q4, Some(Held(k::dot_q4))),
        "Q5_K" => (k::decode_q5, Some(Held(k::dot_q5))),
        "Q6_K" => (k::decode_q6, Some(Held(k::dot_q6))),
        "IQ1_S" => (iq1::decode_s, Some(Held(iq1::dot_s))),
        "IQ1_M" => (iq1::decode_m, Some(Held(iq1::dot_m))),
        "IQ2_XXS" => (iq2::decode_xxs, Some(Held(iq2::dot_xxs))),
        "IQ2_XS" => (iq2::decode_xs, Some(Held(iq2::dot_xs))),
        "IQ2_S" => (iq2::decode_s, Some(Held(iq2::dot_s))),
        "IQ3_XXS" => (iq3::decode_xxs, Some(Held(iq3::dot_xxs))),
        "IQ3_S" => (iq3::decode_s, Some(Held(iq3::dot_s))),
        "IQ4_NL" => (iq4::decode_nl, Some(Held(iq4::dot_nl))),
        "IQ4_XS" => (iq4::decode_xs, Some(Held(iq4::dot_xs))),
        "TQ1_0" => (ternary::decode_1, Some(Held(ternary::dot_1))),
        "TQ2_0" => (ternary::decode_2, Some(Held(ternary::dot_2))),
        "MXFP4" => (fp4::decode_mx, Some(Held(fp4::dot_mx))),
        "NVFP4" => (fp4::decode_nv, Some(Held(fp4::dot_nv))),
        _ => return None,
    };
    Some(Kernel { decode, dot })
}
