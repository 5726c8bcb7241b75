//! `assay corpus diff`: what changed between two corpora.

use std::collections::BTreeMap;
use std::path::PathBuf;

use assay_corpus::store::{Entry, load};
use assay_oracles::difference::{Difference, all};
use serde_json::{Value as Json, json};

use crate::exit::{Exit, Failure};
use crate::text::{count, safe};
use crate::ui::{BOLD, ERROR, GOOD, ID, Ui, WARNING, write_json};

const EXAMPLES: &str = "\
Examples:
  assay corpus diff old/corpus corpus            added, removed and changed vectors
  assay corpus diff old/corpus corpus --json     for a script

Exit codes: 0 the same, 1 they differ, 2 usage, 3 one of them could not be read.";

/// Compare two corpora, field by field.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// The older one.
    #[arg(value_name = "OLD")]
    old: PathBuf,

    /// The newer one.
    #[arg(value_name = "NEW")]
    new: PathBuf,

    /// One JSON object.
    #[arg(long)]
    pub(super) json: bool,
}

/// What happened to a vector.
enum Change {
    Added,
    Removed,
    Changed(Vec<Difference>),
}

pub(super) fn run(args: &Args, ui: &mut Ui) -> Result<Exit, Failure> {
    let (old, new) = (load(&args.old)?, load(&args.new)?);
    let changes = changes(&old, &new);
    if args.json {
        write_json(ui.out(), &to_json(&changes))?;
    } else {
        write(ui, &changes, new.len())?;
    }
    Ok(if changes.is_empty() { Exit::Fine } else { Exit::Findings })
}

fn changes<'a>(old: &'a [Entry], new: &'a [Entry]) -> BTreeMap<&'a str, Change> {
    fn by_id(list: &[Entry]) -> BTreeMap<&str, &Entry> {
        list.iter().map(|entry| (entry.vector.id.as_str(), entry)).collect()
    }
    let (old, new) = (by_id(old), by_id(new));
    let mut changes = BTreeMap::new();
    for (id, before) in &old {
        match new.get(id) {
            None => {
                changes.insert(*id, Change::Removed);
            }
            Some(after) => {
                let found = all("", &stored(before), &stored(after));
                if !found.is_empty() {
                    changes.insert(id, Change::Changed(found));
                }
            }
        }
    }
    for id in new.keys().filter(|id| !old.contains_key(*id)) {
        changes.insert(id, Change::Added);
    }
    changes
}

/// Everything that is stored of a vector; its file is there by its hash.
fn stored(entry: &Entry) -> Json {
    let mut json = json!(entry.vector);
    if let Json::Object(object) = &mut json {
        object.insert("group".to_owned(), json!(entry.group));
    }
    json
}

fn write(ui: &mut Ui, changes: &BTreeMap<&str, Change>, vectors: usize) -> Result<(), Failure> {
    let out = ui.out();
    let (mut added, mut removed, mut changed) = (0, 0, 0);
    for (id, change) in changes {
        match change {
            Change::Added => {
                added += 1;
                writeln!(out, "{GOOD}added{GOOD:#}    {ID}{id}{ID:#}")?;
            }
            Change::Removed => {
                removed += 1;
                writeln!(out, "{ERROR}removed{ERROR:#}  {ID}{id}{ID:#}")?;
            }
            Change::Changed(differences) => {
                changed += 1;
                writeln!(out, "{WARNING}changed{WARNING:#}  {ID}{id}{ID:#}")?;
                for Difference { path, expected, actual } in differences {
                    let text = |value: &Option<Json>| {
                        value.as_ref().map_or_else(|| "nothing".to_owned(), |v| safe(&v.to_string()))
                    };
                    writeln!(out, "           {path}: {} became {}", text(expected), text(actual))?;
                }
            }
        }
    }
    if changes.is_empty() {
        writeln!(out, "the same: {}", count(vectors, "vector"))?;
    } else {
        writeln!(out, "\n{BOLD}{added} added, {removed} removed, {changed} changed{BOLD:#}")?;
    }
    Ok(())
}

fn to_json(changes: &BTreeMap<&str, Change>) -> Json {
    let ids =
        |wanted: fn(&Change) -> bool| changes.iter().filter(|(_, c)| wanted(c)).map(|(id, _)| *id).collect::<Vec<_>>();
    let changed = changes.iter().filter_map(|(id, change)| match change {
        Change::Changed(differences) => Some(json!({
            "id": id,
            "differences": differences.iter().map(|d| json!({"path": d.path, "old": d.expected, "new": d.actual})).collect::<Vec<_>>(),
        })),
        Change::Added | Change::Removed => None,
    });
    json!({
        "added": ids(|change| matches!(change, Change::Added)),
        "removed": ids(|change| matches!(change, Change::Removed)),
        "changed": changed.collect::<Vec<_>>(),
    })
}
