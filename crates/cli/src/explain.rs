//! `assay explain`: what a rule says, or what a vector is for.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use assay_corpus::store::{Entry, LoadError, load};
use gguf_spec::profile::Profile;
use gguf_spec::rules::{Rule, Says, catalogue, find, scan};
use serde_json::{Value as Json, json};

use crate::exit::{Exit, Failure};
use crate::table::{Align, Table};
use crate::text::{folded, hint, near, safe_path};
use crate::ui::{BOLD, DIM, ERROR, GOOD, ID, Ui, WARNING, write_json};
use crate::vector;

const EXAMPLES: &str = "\
Examples:
  assay explain align.power-of-two    a rule: what it says, why, what to do, who insists
  assay explain key-upper             a vector: what it is for, what is expected, its bytes
  assay explain --list                every rule, with what each profile says of it

Exit codes: 0 explained, 2 usage or a name that is not known, 3 the corpus could not be read.";

/// Explain a rule or a vector.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The id of a rule or of a vector.
    #[arg(value_name = "RULE|VECTOR", required_unless_present = "list", conflicts_with = "list")]
    pub name: Option<String>,

    /// List every rule.
    #[arg(long)]
    pub list: bool,

    /// Where the corpus is.
    #[arg(long, value_name = "DIR", default_value = "corpus")]
    pub corpus: PathBuf,

    /// JSON for a script.
    #[arg(long)]
    pub json: bool,
}

/// Runs the command.
///
/// # Errors
///
/// If the name is not known, or the output cannot be written.
pub fn run(args: &Args, ui: &mut Ui) -> Result<Exit, Failure> {
    let Some(name) = &args.name else {
        if args.json {
            write_json(ui.out(), &all_rules().map(rule_json).collect())?;
        } else {
            write_list(ui.out())?;
        }
        return Ok(Exit::Fine);
    };
    // A corpus that is not there is no reason not to explain a rule.
    let corpus = load(&args.corpus);
    if let Some(rule) = find(name) {
        let entries = corpus.as_deref();
        if args.json {
            let mut json = rule_json(rule);
            if let (Json::Object(object), Ok(entries)) = (&mut json, entries) {
                object.insert("broken_by".to_owned(), json!(vectors(entries, rule, Role::Breaks)));
                object.insert("kept_by".to_owned(), json!(vectors(entries, rule, Role::Keeps)));
            }
            write_json(ui.out(), &json)?;
        } else {
            write_rule(ui.out(), rule, entries.map_err(|error| (error, args.corpus.as_path())))?;
        }
        return Ok(Exit::Fine);
    }
    let entries = match corpus {
        Ok(entries) => entries,
        Err(error) => {
            // Rules are built in: a name that is nearly one of theirs is a slip, corpus or not.
            let near = near(name, all_rules().map(|rule| rule.id));
            if !near.is_empty() {
                let near = near.join(", ");
                return Err(Failure::Usage(format!(
                    "no rule is called {name:?}; did you mean {near}? Vectors cannot be looked up: {error}"
                )));
            }
            return Err(Failure::Unreadable(format!(
                "no rule is called {name:?}, and vectors cannot be looked up: {error}"
            )));
        }
    };
    match entries.iter().find(|entry| entry.vector.id == *name) {
        Some(entry) if args.json => write_json(ui.out(), &json!(entry.vector))?,
        Some(entry) => vector::write(ui.out(), entry)?,
        None => {
            return Err(unknown(
                name,
                all_rules().map(|rule| rule.id).chain(entries.iter().map(|e| e.vector.id.as_str())),
            ));
        }
    }
    Ok(Exit::Fine)
}

/// The rules of the catalogue, and behind them those of the data scan.
fn all_rules() -> impl Iterator<Item = &'static Rule> {
    catalogue().into_iter().chain(scan::rules())
}

/// The failure about a name that does not exist, with what may have been meant.
fn unknown<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> Failure {
    let hint = hint(name, candidates, "assay explain --list and assay corpus list show them");
    Failure::Usage(format!("no rule and no vector is called {name:?}; {hint}"))
}

#[derive(Clone, Copy)]
enum Role {
    Breaks,
    Keeps,
}

/// The ids of the vectors that break or just keep a rule.
fn vectors<'a>(entries: &'a [Entry], rule: &Rule, role: Role) -> Vec<&'a str> {
    entries
        .iter()
        .filter(|entry| {
            let rules = &entry.vector.rules;
            let list = match role {
                Role::Breaks => &rules.breaks,
                Role::Keeps => &rules.keeps,
            };
            list.iter().any(|id| id == rule.id)
        })
        .map(|entry| entry.vector.id.as_str())
        .collect()
}

/// Writes what a rule says.
///
/// # Errors
///
/// If the output does not take it.
pub fn write_rule(out: &mut dyn Write, rule: &Rule, corpus: Result<&[Entry], (&LoadError, &Path)>) -> io::Result<()> {
    const WIDTH: usize = 100;
    let severity = rule.severity();
    let style = if severity == gguf_spec::rules::Severity::Error { ERROR } else { WARNING };
    writeln!(out, "{BOLD}{ID}{}{ID:#}{BOLD:#}  {style}{}{style:#}, {} stage", rule.id, severity.name(), rule.stage)?;
    writeln!(out, "  {}\n", folded(rule.statement, 2, WIDTH))?;
    let mut line = |name: &str, text: &str| writeln!(out, "  {DIM}{name:<8}{DIM:#}  {}", folded(text, 12, WIDTH));
    line("why", rule.why)?;
    line("fix", rule.fix)?;
    line("source", rule.source)?;
    if let Some(fallback) = rule.fallback {
        line("without", &format!("a reader that does not know the rule goes on like this: {fallback}"))?;
    }
    if rule.unusable {
        line("data", "the tensor data of a file that breaks it cannot be used, whatever the profiles say")?;
    }
    writeln!(out)?;
    for profile in Profile::ALL {
        let id = profile.id();
        match rule.says(profile) {
            Some(says) => {
                let style = if matches!(says, Says::Refuses | Says::Aborts) { ERROR } else { GOOD };
                writeln!(out, "  {ID}{id:<18}{ID:#}  {style}{}{style:#}{}", says.name(), says_more(says))?;
            }
            None => writeln!(out, "  {ID}{id:<18}{ID:#}  does not judge this stage")?,
        }
    }
    writeln!(out)?;
    if scan::rules().any(|other| other == rule) {
        let text = "no profile judges it, so no vector breaks it: assay check tells of it when it looks at the data";
        return writeln!(out, "  {DIM}{text}{DIM:#}");
    }
    match corpus {
        Ok(entries) => {
            for (title, role) in [("broken by", Role::Breaks), ("kept by", Role::Keeps)] {
                let list = vectors(entries, rule, role);
                let text = if list.is_empty() { "no vector".to_owned() } else { list.join(", ") };
                writeln!(out, "  {DIM}{title:<9}{DIM:#}  {}", folded(&text, 13, WIDTH))?;
            }
            Ok(())
        }
        Err((_, path)) => writeln!(out, "  {DIM}no vectors: there is no corpus at {}{DIM:#}", safe_path(path)),
    }
}

fn says_more(says: Says) -> &'static str {
    match says {
        Says::Refuses => " a file that breaks it",
        Says::Aborts => ": it ends the process",
        Says::Accepts => " a file that breaks it",
        Says::Silent => ": it has no such rule, and does not refuse the file",
    }
}

fn write_list(out: &mut dyn Write) -> io::Result<()> {
    let mut table = Table::new(&[
        ("rule", Align::Left),
        ("stage", Align::Left),
        ("severity", Align::Left),
        (Profile::ALL[0].name(), Align::Left),
        (Profile::ALL[1].name(), Align::Left),
        (Profile::ALL[2].name(), Align::Left),
    ]);
    for rule in all_rules() {
        let says = Profile::ALL.map(|profile| rule.says(profile).map_or("", Says::name).to_owned());
        table.row([rule.id, rule.stage.name(), rule.severity().name()].map(str::to_owned).into_iter().chain(says));
    }
    table.write(out, false)?;
    let (rules, of_scan) = (catalogue().len(), scan::rules().count());
    writeln!(
        out,
        "\n{rules} rules, and {of_scan} of the data scan that no profile judges; assay explain RULE tells more"
    )
}

fn rule_json(rule: &Rule) -> Json {
    json!({
        "id": rule.id,
        "stage": rule.stage.name(),
        "severity": rule.severity().name(),
        "statement": rule.statement,
        "why": rule.why,
        "fix": rule.fix,
        "source": rule.source,
        "fallback": rule.fallback,
        "unusable": rule.unusable,
        "profiles": Profile::ALL.map(|profile| json!({
            "profile": profile.id(),
            "says": rule.says(profile).map(Says::name),
        })),
    })
}
