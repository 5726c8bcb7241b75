//! Kernels behind the C interface of `include/assay_kernels.h`: a shared library as a
//! [`KernelSet`](gguf_spec::kernel::KernelSet).
//!
//! A [`Provider`] runs in this process, and whatever the library does to memory it does to this process. Nobody
//! but [`child::serve`](crate::child::serve) loads one that is not trusted.

mod abi;
mod set;

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

pub use set::{Optional, Provider};

/// The version of the interface that is spoken here.
pub const ABI: u32 = 1;

/// The most bytes past the end that a contract may name.
pub const MOST_READS_PAST: u64 = 1 << 16;

/// The most bytes of a name, which is a cell of every table.
pub const LONGEST_NAME: usize = 100;

/// Why a library cannot be used as a provider.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
pub enum LoadError {
    /// There is no such file.
    #[error("{}: no such file; name the shared library that you have built", path.display())]
    Missing {
        /// The library.
        path: PathBuf,
    },
    /// It is one of ggml's, and cannot be used.
    #[error("{reason}")]
    Ggml {
        /// Which and why.
        reason: String,
    },
    /// The system does not load it.
    #[error("{}: cannot be loaded: {reason}", path.display())]
    Load {
        /// The library.
        path: PathBuf,
        /// What the system says.
        reason: String,
    },
    /// It lacks a function.
    #[error("{}: exports no function {symbol}; assay_kernels.h lists those that are required", path.display())]
    Symbol {
        /// The library.
        path: PathBuf,
        /// The function.
        symbol: String,
    },
    /// It speaks another version of the interface.
    #[error(
        "{}: speaks version {found} of the interface, this program version {ABI}; compile it with the assay_kernels.h \
         that comes with this program", path.display()
    )]
    Abi {
        /// The library.
        path: PathBuf,
        /// What `assay_kernels_abi` returned.
        found: u32,
    },
    /// Its name is not one.
    #[error("{}: assay_kernels_name: expected a line of text in UTF-8, of at most {LONGEST_NAME} bytes, got {found}", path.display())]
    Name {
        /// The library.
        path: PathBuf,
        /// What it returned.
        found: String,
    },
    /// Its contract says what cannot be.
    #[error("{}: assay_contract for {operation}, {ty}, 1 column: {problem}", path.display())]
    Terms {
        /// The library.
        path: PathBuf,
        /// The operation that was asked about.
        operation: String,
        /// The type that was asked about.
        ty: String,
        /// The field, with expected and actual.
        problem: String,
    },
}
