//! `assay corpus list`: the vectors, filtered.

use std::collections::BTreeSet;
use std::path::PathBuf;

use assay_corpus::flags::FLAGS;
use assay_corpus::store::{Entry, load};
use clap::builder::PossibleValuesParser;
use gguf_spec::judge::Class;
use gguf_spec::profile::Profile;
use gguf_spec::rules::catalogue;
use serde_json::{Value as Json, json};

use crate::exit::{Exit, Failure};
use crate::table::{Align, Table};
use crate::text::{count, hint, path_json};
use crate::ui::{Ui, write_json};

const EXAMPLES: &str = "\
Examples:
  assay corpus list                                all of them
  assay corpus list --class disputed               those on which the profiles differ
  assay corpus list --rule align.power-of-two      those that break it or only just keep it
  assay corpus list --flag c-string --json         for a script

Filters are joined: a vector is listed if it passes all of them. Exit codes: 0 listed, 2 usage
or a name that nothing has, 3 the corpus could not be read, or no vector passed.";

/// List the vectors.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// Only this class.
    #[arg(long, value_name = "CLASS", value_parser = classes())]
    class: Option<String>,

    /// Only vectors that break this rule or only just keep it.
    #[arg(long, value_name = "RULE")]
    rule: Option<String>,

    /// Only this group.
    #[arg(long, value_name = "GROUP")]
    group: Option<String>,

    /// Only vectors with this flag.
    #[arg(long, value_name = "FLAG")]
    flag: Option<String>,

    /// Where the corpus is.
    #[arg(long, value_name = "DIR", default_value = "corpus")]
    corpus: PathBuf,

    /// A JSON list.
    #[arg(long)]
    pub(super) json: bool,
}

fn classes() -> PossibleValuesParser {
    PossibleValuesParser::new([Class::Valid, Class::Invalid, Class::Disputed].map(Class::name))
}

impl Args {
    /// A name that nothing has is a slip, and no filter.
    ///
    /// A corpus may be newer than this program, so what its vectors name is known too.
    fn check_names(&self, entries: &[Entry]) -> Result<(), Failure> {
        let vectors = || entries.iter().map(|entry| &entry.vector);
        let rules = || vectors().flat_map(|vector| vector.rules.breaks.iter().chain(&vector.rules.keeps));
        let rules = catalogue().into_iter().map(|rule| rule.id).chain(rules().map(String::as_str));
        known("rule", self.rule.as_deref(), rules, "assay explain --list shows them")?;
        let flags = vectors().flat_map(|vector| &vector.flags).map(String::as_str);
        let flags: BTreeSet<&str> = FLAGS.iter().map(|flag| flag.name).chain(flags).collect();
        let all = flags.iter().copied().collect::<Vec<_>>().join(", ");
        known("flag", self.flag.as_deref(), flags, &format!("there are {all}"))?;
        let groups: BTreeSet<&str> = entries.iter().map(|entry| entry.group.as_str()).collect();
        let all = groups.iter().copied().collect::<Vec<_>>().join(", ");
        known("group", self.group.as_deref(), groups, &format!("there are {all}"))
    }

    fn passes(&self, entry: &Entry) -> bool {
        let vector = &entry.vector;
        let rules = &vector.rules;
        self.class.as_ref().is_none_or(|class| vector.class == *class)
            && self.rule.as_ref().is_none_or(|rule| rules.breaks.contains(rule) || rules.keeps.contains(rule))
            && self.group.as_ref().is_none_or(|group| entry.group == *group)
            && self.flag.as_ref().is_none_or(|flag| vector.flags.contains(flag))
    }
}

pub(super) fn run(args: &Args, ui: &mut Ui) -> Result<Exit, Failure> {
    let entries = load(&args.corpus)?;
    args.check_names(&entries)?;
    let chosen: Vec<_> = entries.iter().filter(|entry| args.passes(entry)).collect();
    if chosen.is_empty() {
        return Err(Failure::Unreadable(format!("none of the {} passes the filters", count(entries.len(), "vector"))));
    }
    if args.json {
        write_json(ui.out(), &chosen.iter().map(|entry| row_json(entry)).collect())?;
        return Ok(Exit::Fine);
    }
    let mut table = Table::new(&[
        ("id", Align::Left),
        ("group", Align::Left),
        ("class", Align::Left),
        (Profile::ALL[0].name(), Align::Left),
        (Profile::ALL[1].name(), Align::Left),
        (Profile::ALL[2].name(), Align::Left),
        ("breaks", Align::Left),
    ]);
    for entry in &chosen {
        let vector = &entry.vector;
        let outcomes = Profile::ALL.map(|profile| vector.outcome(profile).name().to_owned());
        let start = [vector.id.clone(), entry.group.clone(), vector.class.clone()];
        table.row(start.into_iter().chain(outcomes).chain([vector.rules.breaks.join(", ")]));
    }
    table.write(ui.out(), false)?;
    let of = if chosen.len() < entries.len() { format!(" of {}", entries.len()) } else { String::new() };
    writeln!(ui.out(), "\n{}{of}", count(chosen.len(), "vector"))?;
    Ok(Exit::Fine)
}

fn known<'a>(
    what: &str,
    name: Option<&str>,
    names: impl IntoIterator<Item = &'a str>,
    otherwise: &str,
) -> Result<(), Failure> {
    let names: Vec<&str> = names.into_iter().collect();
    match name {
        Some(name) if !names.contains(&name) => {
            let hint = hint(name, names, otherwise);
            Err(Failure::Usage(format!("no {what} is called {name:?}; {hint}")))
        }
        _ => Ok(()),
    }
}

fn row_json(entry: &Entry) -> Json {
    let vector = &entry.vector;
    json!({
        "id": vector.id,
        "group": entry.group,
        "path": path_json(&entry.path),
        "purpose": vector.purpose,
        "class": vector.class,
        "expect": vector.expect,
        "rules": vector.rules,
        "flags": vector.flags,
        "origin": vector.origin,
    })
}
