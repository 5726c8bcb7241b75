//! `assay-adapter-ggus`: the GGUF reader of the crate ggus, `GGuf::new`, behind the adapter protocol.
//!
//! Its last stage is `data`: `GGuf::new` cuts the bytes of all tensors out of the file.
//!
//! A file counts as read if `GGuf::new` takes it and every value can be asked for. Many of its refusals
//! are panics. None is caught: a panic ends the process, as it ends that of anybody who reads a file so.
#![forbid(unsafe_code)]

mod show;

use std::io;
use std::path::Path;
use std::process::ExitCode;

use assay_adapter::{About, Answer};
use gguf_spec::rules::Stage;
use ggus::GGuf;

/// The version that Cargo.toml pins.
const VERSION: &str = "0.5.1";

fn main() -> ExitCode {
    match assay_adapter::serve(&about(), read, io::stdin().lock(), io::stdout().lock()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("assay-adapter-ggus: {error}");
            ExitCode::FAILURE
        }
    }
}

fn about() -> About {
    About {
        name: "ggus".to_owned(),
        version: VERSION.to_owned(),
        language: "Rust".to_owned(),
        homepage: "https://crates.io/crates/ggus".to_owned(),
        last_stage: Stage::Data,
        versions: vec![3],
        byte_orders: vec!["little"],
        tensor_types: show::types(),
        // It reads the order of the machine alone, and does not say which.
        omits: vec!["byte_order"],
    }
}

fn read(path: &Path) -> Answer {
    let bytes = match std::fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) => return Answer::Skipped { reason: format!("{}: cannot be read: {error}", path.display()) },
    };
    match GGuf::new(&bytes) {
        Ok(file) => show::answer(&file, &bytes),
        Err(error) => Answer::Rejected { message: error.to_string() },
    }
}
