//! Kernels on quantized tensors: implementations under test like any other, and the ones that Assay itself
//! computes with.
//!
//! Of the specification they take tables alone (types, grids, levels), and nothing that decodes: two
//! implementations that share code share their faults. [`Kernels`] is a [`KernelSet`](gguf_spec::kernel::KernelSet);
//! what it may do is told by [`contract`].
//!
//! - [`contract`]: the forms in which activations are held, type by type, and what is promised;
//! - `arch`: the loops, one folder for each kind of processor;
//! - `set`: calls taken apart into rows.
#![forbid(unsafe_code)]

mod arch;
pub mod contract;
mod set;

pub use set::Kernels;
