//! Oracles: each says whether something is right, in a sentence. They are free of any test engine,
//! so that tests, commands and fuzzers share them.
//!
//! - [`corpus`]: the specification says of every vector what the vector says;
//! - [`difference`]: the first place where two JSON values differ.
#![forbid(unsafe_code)]

pub mod corpus;
pub mod difference;
