//! The record of a run as Markdown, for a pull request or a page.

use std::io::{self, Write};
use std::time::Duration;

use assay_harness::record::Record;

use crate::summary::{Summary, Tallies, as_expected};
use crate::terminal::cut;
use crate::text::{count, duration, safe};

/// Writes a record: what was run, the table, at most `most` failures that are not expected, what is
/// expected, and what was not run.
///
/// # Errors
///
/// If the output does not take it.
pub fn write(record: &Record, most: usize, out: &mut dyn Write) -> io::Result<()> {
    let header = &record.header;
    writeln!(out, "## {} {}\n", plain(header.said("name")), plain(header.said("version")))?;
    let verdict = match &record.footer {
        None => "**The run did not come to its end.**",
        Some(_) if as_expected(record) => "As expected.",
        Some(_) => "**Not as expected.**",
    };
    let language = header.said("language");
    writeln!(
        out,
        "{verdict} Judged up to `{}`{}; {} of {} in the corpus ({}…); assay {}; {} on {}{}.\n",
        plain(header.said("last_stage")),
        if language.is_empty() { String::new() } else { format!(", written in {}", plain(language)) },
        count(record.results.len(), "vector"),
        header.corpus.vectors,
        plain(header.corpus.sha256.get(..12).unwrap_or_default()),
        plain(&header.assay),
        plain(&header.machine.system),
        plain(header.machine.processor.as_deref().unwrap_or(&header.machine.architecture)),
        if header.limits.enforced { "" } else { "; limits: not enforced" },
    )?;

    let tallies = Tallies::of(record);
    write!(out, "| group | vectors |")?;
    for verdict in &tallies.verdicts {
        write!(out, " {verdict} |")?;
    }
    writeln!(out, "\n| --- | ---: |{}", " ---: |".repeat(tallies.verdicts.len()))?;
    for (group, vectors, counts) in &tallies.rows {
        write!(out, "| {} | {vectors} |", plain(group))?;
        for number in counts {
            write!(out, " {} |", if *number == 0 { String::new() } else { number.to_string() })?;
        }
        writeln!(out)?;
    }

    let summary = Summary::of(record);
    if !summary.unexpected.is_empty() {
        writeln!(
            out,
            "\n### Failures that are not expected\n\n| verdict | vector | what | said |\n| --- | --- | --- | --- |"
        )?;
        for result in summary.unexpected.iter().take(most) {
            let what = match &result.difference {
                Some(difference) => {
                    format!("{}: expected {}, found {}", difference.path, difference.expected, difference.found)
                }
                None => format!("expected {}, got {}", result.expected, result.got),
            };
            let unstable = result.unstable.as_ref().map(|second| format!(", then {second}")).unwrap_or_default();
            writeln!(
                out,
                "| {}{} | `{}` | {} | {} |",
                plain(&result.verdict),
                plain(&unstable),
                plain(&result.vector),
                plain(&what),
                plain(&cut(&result.message))
            )?;
        }
        if let Some(left @ 1..) = summary.unexpected.len().checked_sub(most) {
            writeln!(out, "\n{left} more are in the record.")?;
        }
    }
    if !summary.known.is_empty() {
        writeln!(out, "\n### Expected failures\n\n| vectors | verdict | why |\n| ---: | --- | --- |")?;
        for (verdict, reason, number) in &summary.known {
            writeln!(out, "| {number} | {} | {} |", plain(verdict), plain(reason))?;
        }
    }
    if !summary.sides.is_empty() {
        writeln!(out, "\n### Where the profiles disagree\n")?;
        for (who, number) in &summary.sides {
            writeln!(out, "- it sides with {} on {number}", plain(who))?;
        }
    }
    if let Some(footer) = &record.footer {
        let wrong: Vec<_> = footer.problems.iter().chain(&footer.expectations).collect();
        if !wrong.is_empty() {
            writeln!(out, "\n### What else is wrong\n")?;
            for problem in wrong {
                writeln!(out, "- {}", plain(problem))?;
            }
        }
        let time = duration(Duration::try_from_secs_f64(footer.seconds).unwrap_or_default());
        writeln!(out, "\n{} compared, {time}.", count(footer.compared, "document"))?;
    }
    for left_out in &header.not_run {
        writeln!(out, "\nNot run: {} ({}).", plain(&left_out.what), plain(&left_out.why))?;
    }
    Ok(())
}

/// A name as code, so that it can be copied; as text, if it has characters that names do not have.
#[must_use]
pub fn code(name: &str) -> String {
    let usual = |c: char| c.is_ascii_alphanumeric() || "._:/-".contains(c);
    if !name.is_empty() && name.chars().all(usual) { format!("`{name}`") } else { plain(name) }
}

/// Text of unknown origin that is text in Markdown too, and stays in its cell.
#[must_use]
pub fn plain(text: &str) -> String {
    let mut plain = String::new();
    for c in safe(text).chars() {
        match c {
            '&' => plain.push_str("&amp;"),
            '<' => plain.push_str("&lt;"),
            '\\' | '`' | '|' | '*' | '_' | '[' | ']' | '#' | '~' | '@' => {
                plain.push('\\');
                plain.push(c);
            }
            c => plain.push(c),
        }
    }
    plain
}
