//! `assay-adapter-ggml`: ggml's own reader, `gguf_init_from_file`, behind the adapter protocol.
//!
//! ```text
//! assay run --adapter "assay-adapter-ggml --dir DIR"               # no_alloc = true: ggml-header
//! assay run --adapter "assay-adapter-ggml --dir DIR --mode data"   # no_alloc = false: ggml-data
//! ```
#![forbid(unsafe_code)]

use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use assay_adapter::{About, Answer};
use assay_providers::ggml::{self, Library, Mode};
use clap::Parser;
use gguf_spec::rules::Stage;

/// The reader of a ggml library, behind Assay's adapter protocol
#[derive(Parser)]
#[command(version)]
struct Args {
    /// The directory that holds the base library of ggml (libggml-base.so)
    #[arg(long, value_name = "DIR")]
    dir: PathBuf,

    /// Read the header only, or the tensor data too
    #[arg(long, value_enum, value_name = "MODE", default_value = "header")]
    mode: Wanted,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Wanted {
    Header,
    Data,
}

fn main() -> ExitCode {
    let args = Args::parse();
    if let Err(error) = without_debugger() {
        eprintln!("assay-adapter-ggml: cannot start itself again: {error}");
        return ExitCode::FAILURE;
    }
    let library = match Library::load(&args.dir) {
        Ok(library) => library,
        Err(error) => {
            eprintln!("assay-adapter-ggml: {error}; --dir names the folder that holds {}", ggml::library_name());
            return ExitCode::FAILURE;
        }
    };
    let mode = match args.mode {
        Wanted::Header => Mode::Header,
        Wanted::Data => Mode::Data,
    };
    let served = assay_adapter::serve(
        &about(&library, mode),
        |path| read(&library, mode, path),
        io::stdin().lock(),
        io::stdout().lock(),
    );
    match served {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("assay-adapter-ggml: {error}");
            ExitCode::FAILURE
        }
    }
}

/// An abort of ggml starts a debugger on its own process, a second and a hundred megabytes, unless
/// this variable is set. It is set by starting this program again in its own place: the environment
/// of a running process cannot be changed safely.
#[cfg(unix)]
fn without_debugger() -> io::Result<()> {
    use std::os::unix::process::CommandExt;

    const VARIABLE: &str = "GGML_NO_BACKTRACE";
    if std::env::var_os(VARIABLE).is_some() {
        return Ok(());
    }
    let mut again = std::process::Command::new(std::env::current_exe()?);
    Err(again.args(std::env::args_os().skip(1)).env(VARIABLE, "1").exec())
}

#[cfg(not(unix))]
fn without_debugger() -> io::Result<()> {
    Ok(())
}

fn about(library: &Library, mode: Mode) -> About {
    About {
        name: format!("ggml-{}", mode.name()),
        version: library.version(),
        language: "C".to_owned(),
        homepage: "https://github.com/ggml-org/ggml".to_owned(),
        last_stage: match mode {
            Mode::Header => Stage::Layout,
            Mode::Data => Stage::Data,
        },
        versions: vec![2, 3],
        byte_orders: vec![if cfg!(target_endian = "big") { "big" } else { "little" }],
        // Which types a library knows is not in its interface; that of the corpus' profiles knows all.
        tensor_types: Vec::new(),
        // Strings are `const char *`, bools one byte that was normalised, shapes always four numbers.
        omits: vec!["text.after-nul", "metadata.byte", "tensors.ne.padded"],
    }
}

fn read(library: &Library, mode: Mode, path: &Path) -> Answer {
    // The library says "cannot open" and "refused" in the same way.
    if let Err(error) = std::fs::File::open(path) {
        return Answer::Skipped { reason: format!("{}: cannot be read: {error}", path.display()) };
    }
    let read = match library.read(path, mode) {
        Ok(ggml::Answer::Accept(file)) => file.document(),
        Ok(ggml::Answer::Refuse(message)) => return Answer::Rejected { message },
        Err(error) => Err(error),
    };
    match read {
        Ok(document) => Answer::Accepted { document: document.to_json(), omits: Vec::new() },
        // A library that breaks its own interface has no answer to give.
        Err(error) => panic!("{}: {error}", path.display()),
    }
}
