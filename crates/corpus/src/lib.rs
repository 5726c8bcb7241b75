//! The corpus: what a vector is ([`vector`]), how the committed ones are read ([`store`]).
#![forbid(unsafe_code)]

pub mod store;
pub mod vector;
