//! ggml's own GGUF reader, from its `ggml-base` shared library, and its [`kernels`].
//!
//! What its C interface cannot show is not in the documents read here: strings end at their first
//! NUL, a bool is 0 or 1, and every shape has four dimensions.

#[macro_use]
mod functions;
mod abi;
pub mod kernels;
mod log;
mod read;
mod types;

use std::path::{Path, PathBuf};

use gguf_spec::document::Document;

pub use abi::{Library, Release};
pub use types::{TypeDifference, TypeRow, type_differences};

/// How `gguf_init_from_file` is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Mode {
    /// `no_alloc = true`: header, metadata, tensor table and layout.
    Header,
    /// `no_alloc = false`: the tensor data is read too.
    Data,
}

impl Mode {
    /// Both modes.
    pub const ALL: [Self; 2] = [Self::Header, Self::Data];

    /// `header` or `data`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Header => "header",
            Self::Data => "data",
        }
    }

    /// The mode with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mode| mode.name() == name)
    }
}

/// Whether the library reads a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reads {
    /// It does.
    Yes,
    /// It returned no context. The message is what it logged, which may be nothing.
    No(String),
}

/// What the library answered.
pub enum Answer<'l> {
    /// It reads the file.
    Accept(File<'l>),
    /// It returned no context. The message is what it logged, which may be nothing.
    Refuse(String),
}

/// A file that the library has read.
pub struct File<'l>(abi::Context<'l>);

impl File<'_> {
    /// What the interface shows of the file.
    ///
    /// # Errors
    ///
    /// [`Error::Answer`] if the library answers something that its interface does not allow.
    pub fn document(&self) -> Result<Document, Error> {
        read::document(&self.0)
    }
}

/// Why a library could not be used.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The library cannot be loaded.
    #[error("{path}: cannot be loaded as a library of ggml: {reason}")]
    Load {
        /// Which file.
        path: PathBuf,
        /// What the loader of the system says.
        reason: String,
    },
    /// A function is missing: another release of ggml than is supported, or another library.
    #[error("{path}: has no function {symbol}: not a ggml library of the supported versions")]
    Symbol {
        /// Which file.
        path: PathBuf,
        /// The name of the function.
        symbol: &'static str,
    },
    /// This processor lacks what the kernels of the library need.
    #[error("{path}: its ggml_backend_score says that this processor cannot run it; choose another build")]
    Processor {
        /// Which file.
        path: PathBuf,
    },
    /// The library stores tensors in another way than is written down here.
    #[error(
        "{path}: expected {expected} bytes for a tensor (ggml_tensor_overhead), found {actual}: not a supported version"
    )]
    Layout {
        /// Which file.
        path: PathBuf,
        /// Bytes in the layout that is known here.
        expected: usize,
        /// What the library says.
        actual: usize,
    },
    /// The folder of the libraries cannot be read.
    #[error("{path}: cannot be read: {source}")]
    Folder {
        /// Which.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The path of the file to be read cannot be given to a C function.
    #[error("{path}: the path has a NUL or is not UTF-8, so it cannot be given to ggml")]
    Path {
        /// The path.
        path: PathBuf,
    },
    /// The library answered something its interface does not allow.
    #[error("ggml answered {what}, which its interface does not allow")]
    Answer {
        /// What.
        what: String,
    },
}

impl Error {
    fn load(path: &Path, error: &libloading::Error) -> Self {
        Self::Load { path: path.to_owned(), reason: crate::reason(error) }
    }
}

/// The file name of ggml's base library on this system.
#[must_use]
pub fn library_name() -> &'static str {
    if cfg!(windows) {
        "ggml-base.dll"
    } else if cfg!(target_os = "macos") {
        "libggml-base.dylib"
    } else {
        "libggml-base.so"
    }
}

impl Release {
    /// Reads a file with the library, and closes it. The process ends if the library aborts.
    ///
    /// # Errors
    ///
    /// [`Error::Path`] if the path cannot be given to the library. A refusal is not an error.
    pub fn reads(&self, file: &Path, mode: Mode) -> Result<Reads, Error> {
        log::take();
        Ok(match self.open(file, mode)? {
            Some(_) => Reads::Yes,
            None => Reads::No(log::take()),
        })
    }
}

impl Library {
    /// Reads a file with the library. The process ends if the library aborts.
    ///
    /// # Errors
    ///
    /// [`Error::Path`] if the path cannot be given to the library. A refusal is not an error.
    pub fn read(&self, file: &Path, mode: Mode) -> Result<Answer<'_>, Error> {
        log::take();
        Ok(match self.open(file, mode)? {
            Some(context) => Answer::Accept(File(context)),
            None => Answer::Refuse(log::take()),
        })
    }
}
