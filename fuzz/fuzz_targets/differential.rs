//! The target `differential`; see `assay_fuzz::targets::differential`.
#![cfg_attr(fuzzing, no_main)]
assay_fuzz::fuzz_target!(differential);
