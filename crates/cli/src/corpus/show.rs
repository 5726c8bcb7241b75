//! `assay corpus show`: one vector.

use std::path::PathBuf;

use assay_corpus::store::load;
use serde_json::json;

use crate::exit::{Exit, Failure};
use crate::text::hint;
use crate::ui::{Ui, write_json};
use crate::vector;

const EXAMPLES: &str = "\
Examples:
  assay corpus show key-upper           in words, with the bytes that matter
  assay corpus show key-upper --json    as it is stored

Exit codes: 0 shown, 2 usage or an id that is not known, 3 the corpus could not be read.";

/// Show one vector.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// The id.
    #[arg(value_name = "ID")]
    id: String,

    /// Where the corpus is.
    #[arg(long, value_name = "DIR", default_value = "corpus")]
    corpus: PathBuf,

    /// The vector as it is stored.
    #[arg(long)]
    pub(super) json: bool,
}

pub(super) fn run(args: &Args, ui: &mut Ui) -> Result<Exit, Failure> {
    let entries = load(&args.corpus)?;
    let Some(entry) = entries.iter().find(|entry| entry.vector.id == args.id) else {
        let ids = entries.iter().map(|entry| entry.vector.id.as_str());
        let hint = hint(&args.id, ids, "assay corpus list shows them");
        return Err(Failure::Usage(format!("no vector is called {:?}; {hint}", args.id)));
    };
    if args.json {
        write_json(ui.out(), &json!(entry.vector))?;
    } else {
        vector::write(ui.out(), entry)?;
    }
    Ok(Exit::Fine)
}
