//! `assay gen`: files made from a seed, right ones or such that break one rule.

use std::fs;
use std::path::{Path, PathBuf};

use gguf_spec::binary::encode;
use gguf_spec::generate::{breaking, valid};
use gguf_spec::judge::judge;
use gguf_spec::rules::{Checks, Rule, catalogue, find};
use serde_json::json;

use crate::exit::{Exit, Failure};
use crate::numbers;
use crate::table::{Align, Table};
use crate::text::{count, hint, path_json, safe_path};
use crate::ui::{ID, Ui, write_json};

const EXAMPLES: &str = "\
Examples:
  assay gen --count 100 --out files                   a hundred right files, seeds 0 to 99
  assay gen --break align.power-of-two --out files    a file that breaks this rule and no other
  assay gen --break all --seed 7 --out files          one for each rule
  assay gen --list                                    the rules that can be broken

The same seed makes the same file, always. Every file is judged before it is written. Exit codes:
0 written, 1 a file is not what it should be, which is a fault of this program, 2 usage or a rule
that is not known, 3 a file could not be written.";

/// Make files from a seed: right ones, or such that break one rule.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The first seed.
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = numbers::whole, allow_hyphen_values = true)]
    pub seed: u64,

    /// How many files, each from the next seed.
    #[arg(long, value_name = "K", default_value_t = 1, value_parser = numbers::whole, allow_hyphen_values = true)]
    pub count: u64,

    /// Where to write them; made if it is not there.
    #[arg(long, value_name = "DIR", required_unless_present = "list")]
    pub out: Option<PathBuf>,

    /// Break this rule and no other; `all` for each rule in turn.
    #[arg(long = "break", value_name = "RULE")]
    pub broken: Option<String>,

    /// List the rules that can be broken.
    #[arg(long, conflicts_with_all = ["out", "broken"])]
    pub list: bool,

    /// A JSON list of what was written, or of the rules.
    #[arg(long)]
    pub json: bool,
}

/// Runs the command.
///
/// # Errors
///
/// If the rule is not known, a file cannot be written or is not what it should be.
pub fn run(args: &Args, ui: &mut Ui) -> Result<Exit, Failure> {
    let Some(directory) = &args.out else { return list(args, ui) };
    if args.count == 0 {
        return Err(Failure::Usage("--count 0 asks for no file at all".to_owned()));
    }
    let rules: Vec<Option<&Rule>> = match args.broken.as_deref() {
        None => vec![None],
        Some("all") => catalogue().into_iter().filter(|rule| breaking(rule, 0).is_some()).map(Some).collect(),
        Some(id) => vec![Some(breakable(id)?)],
    };
    let last = args.seed.checked_add(args.count - 1);
    let seeds = args.seed..=last.ok_or_else(|| Failure::Usage("there are no seeds from 2^64 on".to_owned()))?;
    if directory.exists() && !directory.is_dir() {
        return Err(Failure::Unreadable(format!("{}: not a directory: name one with --out", safe_path(directory))));
    }
    fs::create_dir_all(directory).map_err(|error| unwritable(directory, &error))?;

    let mut exit = Exit::Fine;
    let mut written = Vec::new();
    for rule in rules {
        for seed in seeds.clone() {
            let Some(bytes) = make(rule, seed) else { continue };
            let path = directory.join(format!("{}-{seed}.gguf", rule.map_or("valid", |rule| rule.id)));
            if let Some(fault) = fault(rule, &bytes) {
                ui.complain(&format!("{}: not written: {fault}", safe_path(&path)));
                exit = Exit::Findings;
                continue;
            }
            fs::write(&path, &bytes).map_err(|error| unwritable(&path, &error))?;
            if !args.json {
                writeln!(ui.out(), "{}  {}", safe_path(&path), count(bytes.len(), "byte"))?;
            }
            written.push(json!({
                "path": path_json(&path), "seed": seed, "breaks": rule.map(|rule| rule.id), "size": bytes.len(),
            }));
        }
    }
    if args.json {
        write_json(ui.out(), &written.into())?;
    }
    Ok(exit)
}

fn make(rule: Option<&Rule>, seed: u64) -> Option<Vec<u8>> {
    match rule {
        None => Some(encode(&valid(seed))),
        Some(rule) => breaking(rule, seed).map(|broken| broken.bytes()),
    }
}

/// What is wrong with a generated file, if it is not what it should be.
fn fault(rule: Option<&Rule>, bytes: &[u8]) -> Option<String> {
    let broken: Vec<_> = judge(bytes, &Checks::all()).findings.iter().map(|finding| finding.rule.id).collect();
    let wanted: Vec<_> = rule.map(|rule| rule.id).into_iter().collect();
    let right = !broken.iter().any(|id| !wanted.contains(id)) && !wanted.iter().any(|id| !broken.contains(id));
    (!right).then(|| format!("meant to break {wanted:?}, breaks {broken:?}"))
}

/// The rule with this id, if a small file can break it.
fn breakable(id: &str) -> Result<&'static Rule, Failure> {
    let Some(rule) = find(id) else {
        let hint = hint(id, catalogue().iter().map(|rule| rule.id), "assay gen --list shows them");
        return Err(Failure::Usage(format!("no rule is called {id:?}; {hint}")));
    };
    if breaking(rule, 0).is_none() {
        let message =
            format!("{id} is broken only by files of over a gigabyte; assay corpus build --large DIR makes them");
        return Err(Failure::Usage(message));
    }
    Ok(rule)
}

fn list(args: &Args, ui: &mut Ui) -> Result<Exit, Failure> {
    let rules = catalogue();
    if args.json {
        let rows = rules.iter().map(|rule| json!({"rule": rule.id, "generated": breaking(rule, 0).is_some()}));
        write_json(ui.out(), &rows.collect())?;
        return Ok(Exit::Fine);
    }
    let mut table = Table::new(&[("rule", Align::Left), ("made by gen", Align::Left)]);
    for rule in &rules {
        let made =
            if breaking(rule, 0).is_some() { "yes" } else { "no: over a gigabyte, see assay corpus build --large" };
        table.row([rule.id.to_owned(), made.to_owned()]);
    }
    table.write(ui.out(), false)?;
    writeln!(ui.out(), "\n{}; {ID}assay explain RULE{ID:#} tells what each says", count(rules.len(), "rule"))?;
    Ok(Exit::Fine)
}

fn unwritable(path: &Path, error: &std::io::Error) -> Failure {
    Failure::Unreadable(format!("{}: cannot be written: {error}", safe_path(path)))
}
