//! The target `adapter_protocol`; see `assay_fuzz::targets::adapter_protocol`.
#![cfg_attr(fuzzing, no_main)]
assay_fuzz::fuzz_target!(adapter_protocol);
