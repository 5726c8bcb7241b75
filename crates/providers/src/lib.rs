//! Other people's libraries, called through their C interfaces.
//!
//! Nothing here judges: a provider loads a library, calls it, and says what it answered. A library
//! may end the process, so whoever does not trust it, or wants to know whether it does, calls it
//! from a process of its own.
//!
//! Unsafe code is confined to `ggml::abi`, where each block carries the argument why it is sound.

pub mod ggml;
