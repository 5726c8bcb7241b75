//! Bytes to tree ([`decode`]), tree to bytes ([`encode`]), and where each field lies ([`spans`], [`Places`]).
//!
//! Layout: `docs/gguf.md`, section "File Structure"; version 1 from "Version History". The document
//! says that there is no way to tell the byte order; like ggml, this decoder takes a version word
//! whose low 16 bits are zero for a byte-swapped one.

mod decode;
mod encode;
mod places;

pub use decode::{Decoded, NeedMore, Options, Source, decode, decode_with, spans_of_unfinished};
pub use encode::encode;
pub use places::{Places, Span, spans, spans_of_data};
pub(crate) use places::{array_size, string_size};

#[cfg(test)]
mod tests;
