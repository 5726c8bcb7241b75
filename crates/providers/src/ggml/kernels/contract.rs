//! What ggml's kernels may do: one table, with the reasons.
//!
//! Read from `ggml-cpu.c` (the table of types, and how a product is computed), `llamafile/sgemm.cpp` and
//! `iqp.cpp`, and seen by running the libraries of ggml 0.25.1 on blocks whose products are exact.
//!
//! - **Weights** are multiplied as they are: codes as integers, scales as f32.
//! - **Activations** are brought into the `vec_dot_type` of the weights' type, which the build itself tells: by
//!   itself for a dot, and by the graph for a product, whatever the number of columns.
//! - **Products** are added up in f32 (scalar tails of plain types in f64, which is no worse). With several
//!   columns ggml may take another way to the same forms: `llamafile_sgemm` (F32, F16, BF16, Q4_0, Q5_0, Q8_0,
//!   IQ4_NL), from two columns on and with activations without gaps; decoded panels of eight rows (`iqp`) for
//!   types with grids, from eight columns on, where the rows are a multiple of eight. These add in another
//!   order, so that a column alone may have other bits than among others.
//! - **Subnormals**: the instruction that multiplies bfloat16 (`vdpbf16ps`, in the builds for Cooper Lake,
//!   Zen 4 and Sapphire Rapids) takes subnormal operands for zero, and makes zero of subnormal results. No other
//!   build does, and these with no other type. Seen by running them.
//! - **Reads** past the end: none. Seen by running them on operands that end where memory may not be read.
//! - **Promises**: none. ggml states none, and some would not hold.

use gguf_spec::kernel::contract::{Contract, FORMS, Form};
use gguf_spec::types::TensorType;

/// Decoding, by itself or by looking up rows.
pub(super) const DECODE: Contract = Contract::F32;

/// Encoding: for the types that activations are held in.
pub(super) fn encode(ty: &TensorType) -> Option<Contract> {
    form(ty).filter(|&form| form != Form::Exact).map(|form| Contract::F32.with_activations(form))
}

/// A product of weights of `ty`, for which activations are brought into `held`.
pub(super) fn product(ty: &TensorType, held: &TensorType, multiplies_bf16: bool) -> Option<Contract> {
    let flushes_subnormals = multiplies_bf16 && ty.name == "BF16";
    form(held).map(|form| Contract { flushes_subnormals, ..Contract::F32.with_activations(form) })
}

/// The form that blocks of a type are.
fn form(ty: &TensorType) -> Option<Form> {
    match ty.name {
        "F32" => Some(Form::Exact),
        "F16" => Some(Form::F16),
        "BF16" => Some(Form::Bf16),
        _ => FORMS.iter().map(|row| row.form).find(|form| form.blocks().is_some_and(|blocks| blocks.id == ty.id)),
    }
}
