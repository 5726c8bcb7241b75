//! Runs programs that may crash, hang or eat memory, and compares what they say with what is
//! expected.
//!
//! - [`sandbox`]: a child process under limits, and how it ended;
//! - [`probe`]: what such a child says about one file, in one line of JSON;
//! - [`verify`]: the expectations of the corpus against the programs they speak of.
//!
//! Unsafe code is confined to `sandbox::unix`, where each block carries the argument why it is sound.

pub mod probe;
pub mod sandbox;
pub mod verify;
