//! `assay-adapter-candle`: the GGUF reader of candle-core, `gguf_file::Content::read`, behind the
//! adapter protocol.
//!
//! Its last stage is `layout`. `Content::read` takes in the header, the metadata and the tensor
//! table, and works out where the tensor data starts, so everything up to there is in its hands.
//! It has no look at the data: whether a tensor is in the file shows when that tensor is loaded.
#![forbid(unsafe_code)]

mod show;

use std::fs::File;
use std::io::{self, BufReader};
use std::path::Path;
use std::process::ExitCode;

use assay_adapter::{About, Answer};
use candle_core::quantized::gguf_file::Content;
use gguf_spec::rules::Stage;

/// The version that Cargo.toml pins.
const VERSION: &str = "0.11.1";

fn main() -> ExitCode {
    match assay_adapter::serve(&about(), read, io::stdin().lock(), io::stdout().lock()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("assay-adapter-candle: {error}");
            ExitCode::FAILURE
        }
    }
}

fn about() -> About {
    About {
        name: "candle".to_owned(),
        version: VERSION.to_owned(),
        language: "Rust".to_owned(),
        homepage: "https://github.com/huggingface/candle".to_owned(),
        last_stage: Stage::Layout,
        versions: vec![1, 2, 3],
        byte_orders: vec!["little"],
        tensor_types: show::TYPES.iter().map(|(_, name)| *name).collect(),
        // Two hash maps, and neither the alignment nor the byte order is kept.
        omits: vec![
            "byte_order",
            "alignment",
            "metadata.order",
            "metadata.duplicates",
            "tensors.order",
            "tensors.duplicates",
        ],
    }
}

fn read(path: &Path) -> Answer {
    let mut reader = match File::open(path) {
        Ok(file) => BufReader::new(file),
        Err(error) => return Answer::Skipped { reason: format!("{}: cannot be read: {error}", path.display()) },
    };
    match Content::read(&mut reader) {
        Ok(content) => show::answer(&content),
        // Behind the first line comes a backtrace, where those are asked for.
        Err(error) => Answer::Rejected { message: error.to_string().lines().next().unwrap_or_default().to_owned() },
    }
}
