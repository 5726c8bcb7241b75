//! The cases of the command line.

fn main() {}
