//! A vector in words, for `assay explain` and `assay corpus show`.

use std::io::{self, Write};

use assay_corpus::flags::FLAGS;
use assay_corpus::store::Entry;
use gguf_spec::binary::decode;
use gguf_spec::judge::{Class, judge};
use gguf_spec::profile::Profile;
use gguf_spec::rules::Checks;

use crate::dump::{Dump, write_hex_of_faults};
use crate::text::{count, folded, safe, safe_path};
use crate::ui::{BOLD, DIM, ID, outcome_style};

const WIDTH: usize = 100;

/// Writes what a vector is for, what is expected, and the bytes that matter.
///
/// # Errors
///
/// If the output does not take it.
pub fn write(out: &mut dyn Write, entry: &Entry) -> io::Result<()> {
    let vector = &entry.vector;
    writeln!(out, "{BOLD}{ID}{}{ID:#}{BOLD:#}", vector.id)?;
    writeln!(out, "  {}\n", folded(&safe(&vector.purpose), 2, WIDTH))?;

    let meaning = match vector.class() {
        Some(Class::Valid) => "every profile that judges its stage accepts it",
        Some(Class::Invalid) => "no profile that judges its stage accepts it",
        Some(Class::Disputed) => "the profiles differ",
        None => "not a class of this version",
    };
    let mut line =
        |name: &str, text: String| writeln!(out, "  {DIM}{name:<9}{DIM:#}  {}", folded(&safe(&text), 13, WIDTH));
    line("class", format!("{}: {meaning}", vector.class))?;
    for (name, rules) in [("breaks", &vector.rules.breaks), ("keeps", &vector.rules.keeps)] {
        if !rules.is_empty() {
            line(name, rules.join(", "))?;
        }
    }
    for flag in &vector.flags {
        let meaning = FLAGS.iter().find(|row| row.name == flag).map_or("not a flag of this version", |row| row.meaning);
        line("flag", format!("{flag}: {meaning}"))?;
    }
    let reference = vector.origin.reference.as_ref().map_or_else(String::new, |reference| format!(": {reference}"));
    line("origin", format!("{}{reference}", vector.origin.kind))?;
    let document = vector.evidence.document.as_ref().map_or_else(String::new, |by| format!("; document: {by}"));
    line("evidence", format!("outcome: {}{document}", vector.evidence.outcome))?;
    line("file", format!("{}, {}", safe_path(&entry.path), count(vector.size, "byte")))?;
    line("sha256", vector.sha256.clone())?;

    writeln!(out)?;
    for profile in Profile::ALL {
        let id = profile.id();
        let outcome = vector.outcome(profile);
        let style = outcome_style(outcome);
        write!(out, "  {ID}{id:<18}{ID:#}  {style}{outcome}{style:#}")?;
        match vector.expect.get(&id).and_then(|expectation| expectation.rule.as_ref().zip(expectation.stage.as_ref())) {
            Some((rule, stage)) => writeln!(out, " at the {stage} stage: {rule}")?,
            None => writeln!(out)?,
        }
    }
    writeln!(out)?;
    let judgement = judge(&entry.bytes, &Checks::all());
    if judgement.findings.is_empty() {
        return writeln!(out, "  It breaks no rule. Its bytes: assay dump --hex {}", safe_path(&entry.path));
    }
    let decoded = decode(&entry.bytes);
    let input = entry.bytes.as_slice();
    write_hex_of_faults(out, &Dump { decoded: &decoded, input: &input, findings: &judgement.findings, full: false })
}
