//! `assay corpus promote`: a finding becomes a vector.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use assay_corpus::build::{self, BuildError, WITHDRAWN, entry_of};
use assay_corpus::define::found::{self, Found};
use assay_corpus::store::{Entry, load};
use assay_harness::adapter::verdict::Verdict;
use assay_harness::campaign::finding::{FILE, Finding, JSON, read_file};
use serde_json::json;

use crate::exit::{Exit, Failure};
use crate::text::{count, path_json, safe, safe_path};
use crate::ui::{BOLD, ID, Ui, error_json, write_json};

const EXAMPLES: &str = "\
Examples:
  assay corpus promote false-accept-0123abcd --id offset-past-the-end
  assay corpus promote crash-0123abcd --id empty-name-crash --fixed --reference owner/repository#7
  assay corpus promote fuzz/artifacts/read/crash-1234 --id nested-twice --ours

NAME is a directory below findings/, as assay fuzz writes it; any other directory of that form, or a
bare file, is named by its path. The definition is written to corpus/found, and the corpus is built.
SECURITY.md, rule 2: a file that shows an unfixed memory-safety fault of named software is not
shipped. Whoever promotes a crash, a hang or memory used up says --fixed or --ours.

Exit codes: 0 promoted; 1 refused: a vector says the same, or the fault may not be fixed; 2 usage, or
an id that is taken or was withdrawn; 3 something could not be read or written.";

/// Make a vector of a finding.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// The finding: its name, its directory, or a bare file.
    #[arg(value_name = "NAME|DIR|FILE")]
    finding: PathBuf,

    /// The id of the vector, which is permanent: it says what the file is.
    #[arg(long, value_name = "ID")]
    id: Option<String>,

    /// The one thing the vector is for, as a sentence [default: the rules that it breaks].
    #[arg(long, value_name = "TEXT")]
    purpose: Option<String>,

    /// The issue or advisory that speaks of it [default: how it was found].
    #[arg(long, value_name = "TEXT", required_if_eq("fixed", "true"))]
    reference: Option<String>,

    /// A flag of the vector, of the list in corpus/README.md; can be given more than once.
    #[arg(long, value_name = "FLAG")]
    flag: Vec<String>,

    /// The fault is fixed in a version that is out; --reference names the advisory.
    #[arg(long)]
    fixed: bool,

    /// The fault is one of this project's own programs.
    #[arg(long, conflicts_with = "fixed")]
    ours: bool,

    /// Promote it although a vector breaks the same rules to the same effect; --purpose says why.
    #[arg(long, requires = "purpose")]
    force: bool,

    /// Where findings are.
    #[arg(long, value_name = "DIR", default_value = "findings")]
    findings: PathBuf,

    /// The root of the repository, where `corpus` and `spec` are.
    #[arg(long, value_name = "DIR", default_value = ".")]
    root: PathBuf,

    /// One JSON object.
    #[arg(long)]
    pub(super) json: bool,
}

pub(super) fn run(args: &Args, ui: &mut Ui) -> Result<Exit, Failure> {
    let corpus = if args.root == Path::new(".") { PathBuf::from("corpus") } else { args.root.join("corpus") };
    if !corpus.join("README.md").is_file() {
        let root = safe_path(&args.root);
        let why = "there is no corpus/README.md, so this is not the root of the repository; name it with --root DIR";
        return Err(Failure::Unreadable(format!("{root}: {why}")));
    }
    let Source { file, finding } = source(args)?;
    let bytes = read_file(&file).map_err(Failure::Unreadable)?;
    let new = entry_of(args.id.as_deref().unwrap_or_default(), bytes, file.clone());
    if let Some(finding) = &finding {
        finding.is_of(&new).map_err(|why| Failure::Unreadable(format!("{}: {why}", safe_path(&file))))?;
    }
    let vectors = load(&corpus)?;
    if let Some(id) = &args.id {
        check_id(id, &vectors, &corpus)?;
    }
    // All at once: who is told of one at a time types the line as often.
    let refused: Vec<String> =
        may_be_shipped(args, &file, finding.as_ref()).into_iter().chain(known(args, &new, &vectors)).collect();
    let Some(id) = &args.id else {
        let missing = "--id ID is missing: a permanent name that says what the file is".to_owned();
        return Err(Failure::Usage([vec![missing], refused].concat().join("; and ")));
    };
    if !refused.is_empty() {
        return refuse(&refused.join("; and "), args, ui);
    }

    let path = found::path(&corpus, id);
    let text = found::text(&definition(args, id, &new, finding.as_ref()));
    let report = match write(&path, &text).and_then(|()| build::write(&args.root)) {
        Ok(report) => report,
        Err(error @ BuildError::File { .. }) => {
            let why = "is defined; once that is mended, `assay corpus build` writes what is missing";
            return Err(Failure::Unreadable(format!("{error}\n{} {why}", safe(id))));
        }
        Err(error) => {
            // Nothing was written yet. Whether it is there or not, what is told is why it cannot be a vector.
            let _ = fs::remove_file(&path);
            let why = error.to_string();
            return if matches!(error, BuildError::Definitions(_)) {
                refuse(&why, args, ui)
            } else {
                Err(Failure::Unreadable(why))
            };
        }
    };
    let vector = corpus.join("vectors").join(found::GROUP).join(format!("{id}.gguf"));
    if args.json {
        let object = json!({
            "id": id, "definition": path_json(&path), "vector": path_json(&vector), "class": new.vector.class,
            "breaks": new.vector.rules.breaks, "size": new.vector.size, "vectors": report.vectors,
        });
        write_json(ui.out(), &object)?;
        return Ok(Exit::Fine);
    }
    let out = ui.out();
    let rules = new.vector.rules.breaks.join(", ");
    let rules = if rules.is_empty() { "no rule".to_owned() } else { rules };
    writeln!(
        out,
        "{ID}{id}{ID:#} is a vector: {}, {}, breaks {rules}",
        new.vector.class,
        count(new.vector.size, "byte")
    )?;
    writeln!(out, "  {} defines it; {} now", safe_path(&path), count(report.vectors, "vector"))?;
    writeln!(out, "{BOLD}next{BOLD:#}: assay corpus verify --ggml DIR --python PYTHON --bless, assay corpus build,")?;
    writeln!(out, "      a line in corpus/CHANGES.md")?;
    Ok(Exit::Fine)
}

/// Says why it is not promoted.
fn refuse(why: &str, args: &Args, ui: &mut Ui) -> Result<Exit, Failure> {
    if args.json {
        write_json(ui.out(), &error_json(why))?;
    }
    ui.complain(why);
    Ok(Exit::Findings)
}

/// What is to be promoted.
struct Source {
    file: PathBuf,
    finding: Option<Finding>,
}

/// Finds it: a path, or the name of a finding.
fn source(args: &Args) -> Result<Source, Failure> {
    let named = args.findings.join(&args.finding);
    let path = if args.finding.exists() || !named.exists() { args.finding.clone() } else { named };
    if path.is_dir() {
        let finding = Finding::load(&path).map_err(Failure::Unreadable)?;
        return Ok(Source { file: path.join(FILE), finding: Some(finding) });
    }
    if path.exists() {
        // The file of a finding is promoted as one, whoever names it.
        let folder = path.parent().filter(|folder| folder.join(JSON).exists() && path.ends_with(FILE));
        let finding = folder.map(Finding::load).transpose().map_err(Failure::Unreadable)?;
        return Ok(Source { file: path, finding });
    }
    let findings = safe_path(&args.findings);
    let why = format!("is not there, nor is it below {findings}: name the directory, or --findings DIR");
    Err(Failure::Unreadable(format!("{}: {why}", safe_path(&args.finding))))
}

/// Characters of the longest id, which is also the name of files.
const LONGEST_ID: usize = 64;

fn check_id(id: &str, vectors: &[Entry], corpus: &Path) -> Result<(), Failure> {
    let refused = |why: &str| Err(Failure::Usage(format!("{}: {why}", safe(id))));
    if id.is_empty() || !id.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-') {
        return refused("an id is made of lower-case letters, digits and hyphens");
    }
    if !id.starts_with(|c: char| c.is_ascii_lowercase()) || id.len() > LONGEST_ID {
        return refused("an id starts with a letter and has at most 64 characters");
    }
    if WITHDRAWN.contains(&id) {
        return refused("the id was withdrawn; ids are permanent: choose another one");
    }
    if vectors.iter().any(|entry| entry.vector.id == id) || found::path(corpus, id).exists() {
        return refused("the id is taken; ids are permanent: choose another one");
    }
    Ok(())
}

/// Why it may not be shipped, if it may not.
fn may_be_shipped(args: &Args, file: &Path, finding: Option<&Finding>) -> Option<String> {
    if args.fixed || args.ours {
        return None;
    }
    let what = match finding {
        Some(finding) => {
            // Of several readers, one may be refused the file wrongly while it ends another. A verdict that
            // nobody knows may be anything.
            let asked = finding.answers.iter().map(|answer| (answer.verdict.as_str(), &answer.adapter));
            let mut all = [(finding.signature.verdict.as_str(), &finding.signature.adapter)].into_iter().chain(asked);
            let ends = |verdict: &str| Verdict::from_name(verdict).is_none_or(Verdict::ends_the_reader);
            let (verdict, adapter) = all.find(|(verdict, _)| ends(verdict))?;
            format!("{} of {}", safe(verdict), safe(adapter))
        }
        None => {
            // So fuzzers name what they leave behind.
            let name = file.file_name().unwrap_or_default().to_string_lossy();
            let kind =
                ["crash-", "oom-", "timeout-", "leak-", "slow-unit-"].into_iter().find(|k| name.starts_with(k))?;
            kind.trim_end_matches('-').to_owned()
        }
    };
    Some(format!(
        "{}: shows a {what}. SECURITY.md, rule 2: the reproducer of an unfixed memory-safety fault in named software is \
         described, not shipped. Say --fixed with --reference ADVISORY once a fixed version is out, or --ours if the \
         fault is this project's own",
        safe_path(file)
    ))
}

/// Which vector says the same, if one does.
fn known(args: &Args, new: &Entry, vectors: &[Entry]) -> Option<String> {
    let id = |entry: &Entry| entry.vector.id.clone();
    if let Some(same) = vectors.iter().find(|entry| entry.vector.sha256 == new.vector.sha256) {
        return Some(format!("{} is this very file: there is nothing to promote", id(same)));
    }
    if args.force {
        return None;
    }
    fn rules(entry: &Entry) -> BTreeSet<&str> {
        entry.vector.rules.breaks.iter().map(String::as_str).collect()
    }
    let same = |entry: &&Entry| entry.vector.class == new.vector.class && rules(entry) == rules(new);
    let like: Vec<_> = vectors.iter().filter(same).collect();
    let first = like.first()?;
    let broken = rules(new).into_iter().collect::<Vec<_>>().join(", ");
    let what = if broken.is_empty() { "nothing is wrong with it".to_owned() } else { format!("it breaks {broken}") };
    let others = match like.len() {
        1 => id(first),
        n => format!("{} and {} more", id(first), n - 1),
    };
    Some(format!("{what}, and so it is with {others}: --force promotes it all the same, for a --purpose of its own"))
}

fn definition(args: &Args, id: &str, new: &Entry, finding: Option<&Finding>) -> Found {
    let breaks = &new.vector.rules.breaks;
    let purpose = args.purpose.clone().unwrap_or_else(|| match breaks.as_slice() {
        [] => "A right file that generated input brought up: some reader failed on it.".to_owned(),
        rules => format!("Generated input that breaks {}.", rules.join(" and ")),
    });
    // Not what it does to whom: that is for whoever publishes it to say.
    let reference = args.reference.clone().unwrap_or_else(|| match finding {
        Some(finding) => format!("assay fuzz, seed {}, file {}", finding.seed, finding.number),
        None => "a fuzz target of this project".to_owned(),
    });
    Found {
        id: id.to_owned(),
        purpose,
        breaks: breaks.clone(),
        flags: args.flag.clone(),
        reference,
        bytes: Found::lines(&new.bytes),
    }
}

fn write(path: &Path, text: &[u8]) -> Result<(), BuildError> {
    let error = |source| BuildError::File { path: path.to_owned(), source };
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(error)?;
    }
    fs::write(path, text).map_err(error)
}
