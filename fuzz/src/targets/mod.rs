//! The targets, one file each.

use crate::Target;

pub mod adapter_protocol;
pub mod differential;
pub mod inspect;
pub mod mutate;
pub mod parse;
pub mod roundtrip;

/// All of them.
pub const ALL: [Target; 6] =
    [parse::TARGET, roundtrip::TARGET, mutate::TARGET, differential::TARGET, inspect::TARGET, adapter_protocol::TARGET];
