//! Other people's libraries, called through their C interfaces.
//!
//! - [`ggml`]: ggml's own GGUF reader, and its kernels;
//! - [`c_abi`]: kernels behind the one C header of this project, `include/assay_kernels.h`;
//! - [`child`]: such kernels in a process of its own, on guarded memory;
//! - [`complaint`]: what such a process last said;
//! - [`group`]: such a process with those that it starts.
//!
//! Nothing here judges: a provider loads a library, calls it, and says what it answered. A library
//! may end the process, so whoever does not trust it, or wants to know whether it does, calls it
//! from a process of its own.
//!
//! Unsafe code is confined to the modules named `abi`, `child::streams`, `child::fault` and `group`, where each block carries
//! the argument why it is sound.

pub mod c_abi;
pub mod child;
pub mod complaint;
pub mod ggml;
pub mod group;
pub mod signal;

/// Why the system does not load a library. Its own message is that of the cause, where there is one.
fn reason(error: &libloading::Error) -> String {
    std::error::Error::source(error).map_or_else(|| error.to_string(), ToString::to_string)
}
