//! The executable specification of GGUF.
//!
//! Written to be read: no unsafe code, no threads, no files; bytes in, meaning out. The modules are
//! the chapters:
//!
//! - [`types`], [`limits`], [`profile`], [`rules`]: the tables every other place derives from;
//! - [`quant`]: what is in the blocks of tensor data, weight by weight;
//! - [`input`]: bytes that need not lie in memory;
//! - [`syntax`]: the raw tree, able to express broken files;
//! - [`binary`]: bytes to tree and back, with the place of every field;
//! - [`valid`]: the rules applied to a tree;
//! - [`document`]: what a file says, in the form readers are compared by;
//! - [`judge`]: what each profile does with a file;
//! - [`kernel`]: the operations on tensor data, and what a right kernel may do;
//! - [`generate`]: valid trees, and one way to break each rule.
//!
//! ```
//! use gguf_spec::{judge, profile::Profile, rules::Checks};
//!
//! let file = b"GGUF\x03\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0";
//! let judgement = judge::judge(file, &Checks::all());
//! assert!(judgement.accepts(Profile::GgmlHeader));
//! assert!(!judgement.accepts(Profile::Document)); // no general.architecture
//! ```
#![forbid(unsafe_code)]

pub mod binary;
pub mod document;
pub mod field;
pub mod generate;
pub mod input;
pub mod judge;
pub mod kernel;
pub mod limits;
pub mod profile;
pub mod quant;
pub mod rules;
pub mod syntax;
pub mod types;
pub mod valid;
