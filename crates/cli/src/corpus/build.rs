//! `assay corpus build`: writes the corpus from its definitions.

use std::path::PathBuf;

use assay_corpus::build::BuildError;
use assay_corpus::{build, recipes};
use serde_json::json;

use crate::exit::{Exit, Failure};
use crate::text::{count, safe_path};
use crate::ui::{BOLD, Ui, error_json, write_json};

const EXAMPLES: &str = "\
Examples:
  assay corpus build                corpus/vectors, corpus/index.json and spec/SPEC.md
  assay corpus build --large big    the vectors of over a gigabyte, each for a limit, below big/

Exit codes: 0 written, 1 the definitions contradict the specification, 2 usage, 3 a file could not
be read or written.";

/// Write the corpus from its definitions.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// The root of the repository, where `corpus` and `spec` are.
    #[arg(long, value_name = "DIR", default_value = ".")]
    root: PathBuf,

    /// Write the large vectors instead, below this directory: it has the form of a corpus.
    #[arg(long, value_name = "DIR", conflicts_with = "root")]
    large: Option<PathBuf>,

    /// One JSON object.
    #[arg(long)]
    pub(super) json: bool,
}

pub(super) fn run(args: &Args, ui: &mut Ui) -> Result<Exit, Failure> {
    if let Some(directory) = args.large.as_ref().filter(|directory| directory.exists() && !directory.is_dir()) {
        return Err(Failure::Unreadable(format!("{}: not a directory: name one with --large", safe_path(directory))));
    }
    let built = match &args.large {
        Some(directory) => recipes::write(directory),
        // Elsewhere everything would be written as new, and nobody would look at it.
        None if !args.root.join("corpus").join("README.md").is_file() => {
            let root = safe_path(&args.root);
            return Err(Failure::Unreadable(format!(
                "{root}: there is no corpus/README.md, so this is not the root of the repository; name it with --root DIR"
            )));
        }
        None => build::write(&args.root),
    };
    let report = match built {
        Ok(report) => report,
        Err(error @ BuildError::Definitions(_)) => {
            if args.json {
                write_json(ui.out(), &error_json(&error.to_string()))?;
            }
            ui.complain(&error.to_string());
            return Ok(Exit::Findings);
        }
        Err(error) => return Err(Failure::Unreadable(error.to_string())),
    };
    if args.json {
        let object = json!({
            "vectors": report.vectors, "bytes": report.bytes, "written": report.written, "removed": report.removed,
        });
        write_json(ui.out(), &object)?;
    } else {
        writeln!(
            ui.out(),
            "{BOLD}{}{BOLD:#}, {}: {} written, {} removed",
            count(report.vectors, "vector"),
            count(report.bytes, "byte"),
            count(report.written, "file"),
            report.removed,
        )?;
    }
    Ok(Exit::Fine)
}
