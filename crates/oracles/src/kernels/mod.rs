//! Judgements on kernels: is every type, shape and number of columns right, to a bound that can be defended?
//!
//! - [`cases`]: what a kernel is asked, each with a name that asks it again; [`list`] is all of it;
//! - [`inputs`]: the bytes and numbers of a case;
//! - [`components`]: what a kernel may hold a weight as;
//! - [`bounds`]: how far from the exact result a right kernel can be, derived from its contract;
//! - [`expect`]: what is expected of one call;
//! - [`judge`]: one case, one set of kernels, one verdict;
//! - [`sides`]: who else decodes disputed scales in the same way;
//! - [`given`]: judgements on operands that somebody else chose;
//! - [`pattern`]: which elements are wrong, in words;
//! - [`laws`]: what holds between the results of several calls;
//! - [`mutants`]: planted faults, which the judgements have to find; [`generic`] is the set they are planted into.

pub mod bounds;
pub mod cases;
pub mod components;
mod draw;
mod exact;
pub mod expect;
pub mod generic;
pub mod given;
mod held;
pub mod inputs;
pub mod judge;
pub mod laws;
pub mod list;
mod memory;
pub mod mutants;
mod numbers;
pub mod pattern;
mod reference;
pub mod sides;
