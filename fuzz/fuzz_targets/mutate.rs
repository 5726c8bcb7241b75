//! The target `mutate`; see `assay_fuzz::targets::mutate`.
#![cfg_attr(fuzzing, no_main)]
assay_fuzz::fuzz_target!(mutate);
