//! Runs programs that may crash, hang or eat memory, and compares what they say with what is
//! expected.
//!
//! - [`adapter`]: readers in any language behind one protocol, asked about every vector, and judged;
//! - [`campaign`]: generated files against such readers, guided by what they show;
//! - [`expectations`]: failures of an implementation that are known, each with its reason;
//! - [`kernels`]: sets of kernels, each asked every question;
//! - [`record`]: what a run writes down;
//! - [`sandbox`]: a child process under limits, and how it ended;
//! - [`probe`]: what such a child says about one file, in one line of JSON;
//! - [`child`]: how such a child is started;
//! - [`verify`]: the expectations of the corpus against the programs they speak of;
//! - `server`, on Linux: ggml reading file after file for a fuzzer;
//! - [`history`]: what became of the corpus from one release of ggml to the next.
//!
//! Unsafe code is confined to `sandbox::unix` and `sandbox::fork`, where each block carries the argument why it is
//! sound.

pub mod adapter;
pub mod campaign;
pub mod child;
pub mod expectations;
pub mod history;
pub mod kernels;
mod parallel;
pub mod probe;
pub mod record;
pub mod sandbox;
#[cfg(target_os = "linux")]
pub mod server;
pub mod verify;
