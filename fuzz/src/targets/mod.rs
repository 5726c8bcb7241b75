//! The targets, one file each.

use crate::Target;

#[cfg(feature = "adapter_protocol")]
pub mod adapter_protocol;
pub mod differential;
#[cfg(feature = "inspect")]
pub mod inspect;
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
];
