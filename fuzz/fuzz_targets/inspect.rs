//! The target `inspect`; see `assay_fuzz::targets::inspect`.
#![cfg_attr(fuzzing, no_main)]
assay_fuzz::fuzz_target!(inspect);
