//! Writes what fuzzing starts from: seeds, dictionary, and the manifest that is committed.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use assay_corpus::store::load;
use assay_fuzz::{dictionary, seeds, targets};
use clap::Parser;

const EXAMPLES: &str = "\
Examples:
  cargo run -p assay-fuzz --bin prepare                          seeds of every target, below fuzz/corpus
  cargo run -p assay-fuzz --bin prepare -- --target mutate --out seeds --without kv.key.duplicate
  cargo run -p assay-fuzz --bin prepare -- --generated           fuzz/seeds.json and fuzz/gguf.dict, after the
                                                                 corpus or the tables have changed";

/// Write what the fuzz targets start from.
#[derive(Debug, Parser)]
#[command(name = "prepare", after_help = EXAMPLES)]
struct Args {
    /// The corpus.
    #[arg(long, value_name = "DIR", default_value = "corpus")]
    corpus: PathBuf,

    /// Only this target.
    #[arg(long, value_name = "NAME")]
    target: Option<String>,

    /// Where each target gets a folder of its name, as `cargo fuzz` expects it.
    #[arg(long, value_name = "DIR", default_value = "fuzz/corpus")]
    out: PathBuf,

    /// Leave out vectors that break or just keep this rule; may be given more than once.
    #[arg(long, value_name = "RULE")]
    without: Vec<String>,

    /// Write the committed files instead: the manifest and the dictionary.
    #[arg(long, conflicts_with_all = ["target", "without", "out"])]
    generated: bool,
}

fn main() -> ExitCode {
    match run(&Args::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::from(3)
        }
    }
}

fn run(args: &Args) -> Result<(), String> {
    let entries = load(&args.corpus).map_err(|error| error.to_string())?;
    if args.generated {
        let mut manifest =
            serde_json::to_string_pretty(&seeds::manifest(&entries)).map_err(|error| error.to_string())?;
        manifest.push('\n');
        put(Path::new("fuzz/seeds.json"), &manifest)?;
        return put(Path::new("fuzz/gguf.dict"), &dictionary::text());
    }
    if let Some(rule) = args.without.iter().find(|rule| gguf_spec::rules::find(rule).is_none()) {
        return Err(format!("--without {rule}: there is no such rule; `assay explain` lists them"));
    }
    let wanted = |name: &str| args.target.as_deref().is_none_or(|target| target == name);
    let chosen: Vec<_> = targets::ALL.iter().filter(|target| wanted(target.name)).collect();
    if chosen.is_empty() {
        let names: Vec<_> = targets::ALL.iter().map(|target| target.name).collect();
        return Err(format!("--target: there is no such target; there are {}", names.join(", ")));
    }
    for target in chosen {
        let folder = args.out.join(target.name);
        let count = seeds::write(target, &entries, &args.without, &folder)
            .map_err(|error| format!("{}: {error}", folder.display()))?;
        println!("{}: {count} seeds", folder.display());
    }
    Ok(())
}

fn put(path: &Path, text: &str) -> Result<(), String> {
    std::fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()))?;
    println!("{}: {} bytes", path.display(), text.len());
    Ok(())
}
