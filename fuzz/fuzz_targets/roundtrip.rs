//! The target `roundtrip`; see `assay_fuzz::targets::roundtrip`.
#![cfg_attr(fuzzing, no_main)]
assay_fuzz::fuzz_target!(roundtrip);
