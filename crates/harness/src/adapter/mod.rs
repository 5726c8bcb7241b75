//! Readers in any language behind one protocol: asked about every vector, and judged.
//!
//! An adapter is a program that reads requests from its standard input and writes answers to its standard
//! output, one JSON object a line; `docs/adapter-protocol.md` is the contract. The files here are its
//! chapters:
//!
//! - [`message`]: requests and answers; [`omit`]: what an adapter does not show;
//! - [`verdict`]: what an answer can be worth; [`judge`]: what it is worth; [`compare`]: documents;
//! - [`program`]: the command that starts an adapter; [`session`]: one process of it, under limits;
//! - [`run`]: all vectors, side by side, with processes started again after they have died.
//!
//! Files that are no vectors are put to adapters by [`crate::campaign`].

pub(crate) mod again;
pub mod compare;
mod complaint;
pub mod judge;
pub mod message;
pub mod omit;
pub mod program;
pub mod run;
mod scalar;
pub mod session;
pub mod verdict;
