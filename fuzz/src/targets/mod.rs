//! The targets, one file each.

use crate::Target;

#[cfg(feature = "adapter_protocol")]
pub mod adapter_protocol;
#[cfg(feature = "kernels")]
pub mod dequantize;
pub mod differential;
#[cfg(feature = "inspect")]
pub mod inspect;
#[cfg(feature = "kernels")]
pub mod matmul;
pub mod mutate;
pub mod parse;
pub mod roundtrip;

/// All of them.
pub const ALL: &[Target] = &[
    parse::TARGET,
    roundtrip::TARGET,
    mutate::TARGET,
    differential::TARGET,
    #[cfg(feature = "inspect")]
    inspect::TARGET,
    #[cfg(feature = "adapter_protocol")]
    adapter_protocol::TARGET,
    #[cfg(feature = "kernels")]
    dequantize::TARGET,
    #[cfg(feature = "kernels")]
    matmul::TARGET,
];
