//! Blocks of weights: how they are laid out, what each says exactly, and how to write them.
//!
//! A tensor is rows of whole blocks. [`formats`] has one page for each type: its fields, where every
//! code and scale lies, and the formula of a weight. [`TensorType::format`] leads there.
//!
//! **What a weight is.** Every stored weight is an integer times a stored scale, plus or minus, in some
//! types, a second such product. A scale has at most 11 significant bits (binary16 and narrower), the
//! integer at most 12 (Q6_K: `sc (q - 32)`, at most 4096), so each product fits the 24 bits of an f32
//! and the sum is the only thing that is ever rounded. A right decoder therefore gives the correctly
//! rounded weight, fused or not, in any order; [`decode`] gives it, and whoever differs is wrong.
//!
//! **Exceptions**, which [`same`] knows where they are about equality:
//!
//! - Q8_K has an f32 scale: its one product is rounded, once.
//! - F64 and the wide integers are rounded to the nearest f32, once.
//! - Zeros are equal whatever their sign: in Q6_K and others it depends on the order of factors.
//! - All NaNs are equal.
//! - Zero times infinity is NaN, and what is over the range of f32 is infinity (MXFP4, Q8_K, F64).
//! - Some codes mean different things to different programs: [`DISPUTES`].
//!
//! ```
//! use gguf_spec::quant;
//! use gguf_spec::types::TensorType;
//!
//! let q8_0 = TensorType::from_name("Q8_0").ok_or("no such type")?;
//! let mut block = [0; 34];
//! block[..3].copy_from_slice(&[0x00, 0x38, 0xFD]); // the scale 0.5, and -3 for the first code
//! let mut weights = [0.0; 32];
//! quant::decode(q8_0, &block, &mut weights)?;
//! assert_eq!(weights[0], -1.5);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Sources: `ggml-common.h` for layouts and tables; `dequantize_row_*` and `quantize_row_*_ref` of the
//! ggml 0.25.1 library, run, for values.

pub mod blocks;
mod disputes;
pub mod formats;
pub mod grids;
mod layout;
mod numbers;
mod steps;
#[cfg(test)]
mod tests;

use std::fmt;

pub use disputes::{DISPUTES, Dispute, Side, disputed, readings};
pub use layout::{Field, Format, Part, Place, Role};

use crate::types::TensorType;

/// A weight as the two products it is made of, both exact.
///
/// Exact in f64, because: a binary16 is a multiple of 2^-24 below 2^16. The integers that multiply it
/// are below 2^12, so a product is a multiple of 2^-24 below 2^28 (of 2^-27 below 2^25 for the grids,
/// where eighths occur), which is 52 bits; the sum of two is one bit more. The other scales have fewer
/// bits: one (E8M0), four (UE4M3), or 24 and a product of its own (Q8_K).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Weight {
    /// The scale times the code, without the minimum.
    pub product: f64,
    /// The minimum: `m` or `-dmin m`; 0 in types that have none.
    pub offset: f64,
}

impl Weight {
    /// A scale times an integer.
    fn product(scale: f64, integer: i32) -> Self {
        Self { product: scale * f64::from(integer), offset: 0.0 }
    }

    /// With a minimum.
    fn plus(self, offset: f64) -> Self {
        Self { offset, ..self }
    }

    /// The weight, exactly.
    #[must_use]
    pub fn value(self) -> f64 {
        self.product + self.offset
    }

    /// The weight as a decoder gives it: rounded once, to the nearest f32.
    #[must_use]
    pub fn rounded(self) -> f32 {
        numbers::nearest_f32(self.value())
    }
}

/// Whether two decoded values are the same: the same bits, or both zero, or both NaN.
#[must_use]
pub fn same(a: f32, b: f32) -> bool {
    a.to_bits() == b.to_bits() || (a == 0.0 && b == 0.0) || (a.is_nan() && b.is_nan())
}

/// Why blocks cannot be read or written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QuantError {
    /// The type was removed from ggml; no layout is defined any more.
    Removed {
        /// The name of the type.
        ty: &'static str,
    },
    /// The bytes, or the values, are not those of whole blocks.
    Partial {
        /// The name of the type.
        ty: &'static str,
        /// What is counted: `bytes` or `values`.
        unit: &'static str,
        /// How many there are.
        actual: usize,
        /// How many a block has.
        block: usize,
    },
    /// The output is not as long as what goes into it.
    Output {
        /// The name of the type.
        ty: &'static str,
        /// What is counted: `bytes` or `values`.
        unit: &'static str,
        /// How long the output has to be.
        expected: usize,
        /// How long it is.
        actual: usize,
    },
    /// Values become blocks of this type by a search, not by a formula: there is no encoder here.
    NoEncoder {
        /// The name of the type.
        ty: &'static str,
    },
}

impl fmt::Display for QuantError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Removed { ty } => {
                write!(f, "{ty}: removed from ggml, no layout is defined; convert the model again from its source")
            }
            Self::Partial { ty, unit, actual, block } => {
                write!(f, "{ty}: expected whole blocks of {block} {unit}, found {actual}; pass all of every block")
            }
            Self::Output { ty, unit, expected, actual } => {
                write!(f, "{ty}: expected an output of {expected} {unit}, found {actual}; make it that long")
            }
            Self::NoEncoder { ty } => {
                write!(f, "{ty}: there is no encoder; draw blocks with quant::blocks, or use ggml's")
            }
        }
    }
}

impl std::error::Error for QuantError {}

/// The format of a type, with the weights and the bytes of a block.
fn format_of(ty: &TensorType) -> Result<(&'static Format, usize, usize), QuantError> {
    let size = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
    ty.format.map(|format| (format, size(ty.block), size(ty.bytes))).ok_or(QuantError::Removed { ty: ty.name })
}

fn whole(ty: &TensorType, unit: &'static str, actual: usize, block: usize) -> Result<usize, QuantError> {
    if actual.is_multiple_of(block) {
        Ok(actual / block)
    } else {
        Err(QuantError::Partial { ty: ty.name, unit, actual, block })
    }
}

fn fits(ty: &TensorType, unit: &'static str, actual: usize, expected: usize) -> Result<(), QuantError> {
    if actual == expected { Ok(()) } else { Err(QuantError::Output { ty: ty.name, unit, expected, actual }) }
}

/// What `decode` and `weights` share: every weight, in order, turned into what the output holds.
fn each<T>(ty: &TensorType, bytes: &[u8], out: &mut [T], make: impl Fn(Weight) -> T) -> Result<(), QuantError> {
    let (format, block, size) = format_of(ty)?;
    fits(ty, "values", out.len(), whole(ty, "bytes", bytes.len(), size)? * block)?;
    for (block, out) in bytes.chunks_exact(size).zip(out.chunks_exact_mut(block)) {
        for (i, out) in out.iter_mut().enumerate() {
            *out = make((format.weight)(block, i));
        }
    }
    Ok(())
}

/// The weights of some blocks, as exact components.
///
/// # Errors
///
/// If the type was removed, the bytes are not whole blocks, or the output has another length than they
/// have weights.
pub fn weights(ty: &TensorType, bytes: &[u8], out: &mut [Weight]) -> Result<(), QuantError> {
    each(ty, bytes, out, |weight| weight)
}

/// The weights of some blocks, each rounded once to f32. Of disputed codes it gives what ggml's CPU code
/// makes of them ([`DISPUTES`]).
///
/// # Errors
///
/// If the type was removed, the bytes are not whole blocks, or the output has another length than they
/// have weights.
pub fn decode(ty: &TensorType, bytes: &[u8], out: &mut [f32]) -> Result<(), QuantError> {
    each(ty, bytes, out, Weight::rounded)
}

/// Writes values as blocks: bit for bit what ggml's reference quantizer of the type writes for finite
/// values, with one exception: ggml leaves the sums of a Q8_K block of zeros unwritten, here they are 0.
///
/// Values that are not finite make no panic, but a poor block: a NaN is never the largest value, a code
/// whose quotient is not finite is that of quotient 0 (in Q2_0 it is code 0), and a scale that is not
/// finite is stored as such. Plain types store them as they are.
///
/// # Errors
///
/// If the type was removed or has no encoder, the values are not those of whole blocks, or the output
/// has another length than their blocks.
pub fn encode(ty: &TensorType, values: &[f32], out: &mut [u8]) -> Result<(), QuantError> {
    let (format, block, size) = format_of(ty)?;
    let encode = format.encode.ok_or(QuantError::NoEncoder { ty: ty.name })?;
    fits(ty, "bytes", out.len(), whole(ty, "values", values.len(), block)? * size)?;
    for (values, out) in values.chunks_exact(block).zip(out.chunks_exact_mut(size)) {
        out.fill(0);
        encode(values, out);
    }
    Ok(())
}
