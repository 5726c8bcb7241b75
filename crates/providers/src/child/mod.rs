//! A provider in a process of its own: what it does to memory, and whether it ever returns, is seen from outside.
//!
//! The process is this program again, started with a word that makes it call [`serve`]. The two talk in frames
//! through its standard input and output, which the child moves out of reach before it loads the library. In the
//! child every operand lies in memory that ends, to the byte, where memory may not be read, and may only be read;
//! a result lies between patterns that must not change. Memory, growth of files and core dumps are limited.
//!
//! [`RemoteKernels`] is the other end, a [`KernelSet`](gguf_spec::kernel::KernelSet) like any other. When the child
//! ends or does not answer, the call fails with the reason, and the next one starts a new child.

#[cfg(unix)]
mod fault;
mod frame;
mod message;
mod process;
mod remote;
mod serve;
#[cfg(unix)]
mod streams;

use std::ffi::OsString;
use std::path::PathBuf;

pub use remote::{RemoteKernels, StartError};
pub use serve::{serve, serve_set};

/// How this program starts itself as a child.
#[derive(Clone, Debug)]
pub struct Host {
    /// The program.
    pub program: PathBuf,
    /// What comes before the arguments of [`serve`]: the word that leads there.
    pub arguments: Vec<OsString>,
}

impl Host {
    /// The running program, with a word as its first argument.
    ///
    /// # Errors
    ///
    /// If the system does not say which program runs.
    pub fn current(word: &str) -> std::io::Result<Self> {
        Ok(Self { program: std::env::current_exe()?, arguments: vec![word.into()] })
    }
}
