//! How things are shown to people.
//!
//! - [`terminal`], [`markdown`]: the record of a run of an adapter;
//! - [`kernels`]: the record of kernels, and the planted faults of kernels;
//! - [`text`]: bytes of unknown origin made safe to show, counts and times made readable;
//! - [`table`]: tables of plain text;
//! - [`style`]: what the few colours mean.
#![forbid(unsafe_code)]

pub mod kernels;
pub mod markdown;
pub mod style;
mod summary;
pub mod table;
pub mod terminal;
pub mod text;
