//! Faults that are planted in the fast reader, to see that fuzzing finds what readers got wrong in public.
//!
//! `fuzz/planted/faults.toml` is the table; the program `planted` builds a reader with each fault and
//! hunts for it.

use std::collections::BTreeMap;
use std::path::Path;

use gguf_spec::rules::find;
use serde::Deserialize;

/// The table.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Table {
    /// The faults, in the order of the stages they concern.
    pub fault: Vec<Fault>,
}

/// One fault.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fault {
    /// Its name.
    pub id: String,
    /// The row of the list of public faults that it stands for.
    pub row: String,
    /// Where a reader failed like that.
    pub reference: String,
    /// What the faulty reader does.
    pub says: String,
    /// Whether it shows at one boundary, in one type, version or byte order, or in nested arrays alone.
    #[serde(default)]
    pub subtle: bool,
    /// The rules whose vectors are no seeds when it is hunted; none for what no rule speaks of.
    pub rules: Vec<String>,
    /// What is changed in the source of the reader.
    pub edits: Vec<Edit>,
}

/// A change of one file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Edit {
    /// The file, in `crates/reader/src`.
    pub file: String,
    /// Text that is in it exactly once.
    pub find: String,
    /// What it becomes.
    pub replace: String,
}

/// Where the table lies, and where the source is that it changes, from the top of a checkout.
pub const TABLE: &str = "fuzz/planted/faults.toml";
/// The source of the fast reader.
pub const SOURCE: &str = "crates/reader/src";

impl Table {
    /// Reads the table of a checkout, and holds it to the source and to the rules.
    ///
    /// # Errors
    ///
    /// Everything that is wrong, a line each.
    pub fn load(root: &Path) -> Result<Self, String> {
        let path = root.join(TABLE);
        let text = std::fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        let table: Self = toml::from_str(&text).map_err(|e| format!("{TABLE}: {e}"))?;
        let mut wrong = Vec::new();
        let mut ids = BTreeMap::new();
        for fault in &table.fault {
            if ids.insert(&fault.id, ()).is_some() {
                wrong.push(format!("{}: the id is taken", fault.id));
            }
            if fault.edits.is_empty() {
                wrong.push(format!("{}: it changes nothing", fault.id));
            }
            for rule in fault.rules.iter().filter(|rule| find(rule).is_none()) {
                wrong.push(format!("{}: there is no rule {rule}", fault.id));
            }
            if let Err(reason) = fault.edited(root) {
                wrong.push(reason);
            }
        }
        if wrong.is_empty() { Ok(table) } else { Err(wrong.join("\n")) }
    }
}

impl Fault {
    /// The files that it changes, with their new text, by their paths from the top of a checkout.
    ///
    /// # Errors
    ///
    /// If a text is not found exactly once: the source has moved on.
    pub fn edited(&self, root: &Path) -> Result<BTreeMap<String, String>, String> {
        let mut files = BTreeMap::new();
        for edit in &self.edits {
            let path = format!("{SOURCE}/{}", edit.file);
            let text = match files.get(&path) {
                Some(text) => text,
                None => &std::fs::read_to_string(root.join(&path)).map_err(|e| format!("{path}: {e}"))?,
            };
            let times = text.matches(&edit.find).count();
            if times != 1 {
                return Err(format!("{}: {path} has {times} times, not once: {}", self.id, edit.find));
            }
            let new = text.replace(&edit.find, &edit.replace);
            files.insert(path, new);
        }
        Ok(files)
    }
}
