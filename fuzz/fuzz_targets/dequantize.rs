//! The target `dequantize`; see `assay_fuzz::targets::dequantize`.
#![cfg_attr(fuzzing, no_main)]
assay_fuzz::fuzz_target!(dequantize);
