//! The corpus: what a vector is ([`vector`], [`flags`]), how each one is defined ([`define`]), how
//! the committed files are written ([`build`]) and read ([`store`]), and the specification's pages
//! that link rules with vectors ([`pages`]). What is too large to commit is a recipe ([`recipes`]).
#![forbid(unsafe_code)]

pub mod build;
pub mod define;
pub mod flags;
pub mod golden;
pub mod pages;
pub mod recipes;
pub mod store;
pub mod vector;
