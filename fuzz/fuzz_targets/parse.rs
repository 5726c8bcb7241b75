//! The target `parse`; see `assay_fuzz::targets::parse`.
#![cfg_attr(fuzzing, no_main)]
assay_fuzz::fuzz_target!(parse);
