//! How things are shown to people.
//!
//! - [`text`]: bytes of unknown origin made safe to show, counts and times made readable;
//! - [`table`]: tables of plain text;
//! - [`style`]: what the few colours mean.
#![forbid(unsafe_code)]

pub mod style;
pub mod table;
pub mod text;
