//! The loops, one folder for each kind of processor.

mod scalar;

use gguf_spec::kernel::contract::Form;
use gguf_spec::types::TensorType;

pub(crate) use scalar::SCALAR;

/// The kernels of one kind of processor. What they get has been checked: whole blocks, and as many of one operand
/// as the other needs.
#[derive(Debug)]
pub(crate) struct Arch {
    /// The name of the set.
    pub(crate) name: &'static str,
    /// The kernels of a type; `None` if it has no layout.
    pub(crate) kernel: fn(&TensorType) -> Option<Kernel>,
    /// Appends activations in a form other than [`Form::Exact`].
    pub(crate) quantize: fn(Form, &[f32], &mut Vec<u8>),
}

/// Whole blocks to as many weights.
pub(crate) type Decode = fn(&[u8], &mut [f32]);

/// The kernels of one type.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kernel {
    /// The weights.
    pub(crate) decode: Decode,
    /// The product of a row with a row of activations, for types that have one.
    pub(crate) dot: Option<Dot>,
}

/// The product of a row with a row of activations.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Dot {
    /// Activations as they are.
    Floats(fn(&[u8], &[f32]) -> f32),
    /// Activations in the form of the contract.
    Held(fn(&[u8], &[u8]) -> f32),
}
