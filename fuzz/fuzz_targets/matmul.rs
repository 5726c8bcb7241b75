//! The target `matmul`; see `assay_fuzz::targets::matmul`.
#![cfg_attr(fuzzing, no_main)]
assay_fuzz::fuzz_target!(matmul);
