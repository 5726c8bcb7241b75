//! A history as a page of Markdown: one row a vector, one column a release.

use std::io::{self, Write};

use assay_harness::history::{Change, LEGEND, Outcome, Row, modes};

use assay_report::markdown::plain;

use super::Shown;
use crate::text::count;

const HEAD: &str = "\
# The corpus through the releases of ggml

Written by `assay history --markdown`, from libraries that `reports/fetch-ggml-releases.sh` fetches. Each
vector of the corpus was read by each release with `gguf_init_from_file`, header only (`no_alloc = true`)
and with its data (`no_alloc = false`), each time in a process of its own under 4 GiB of address space and
10 seconds of processor time. Only the outcome was looked at, not what was read.

An abort is an assertion of the library or an exception that nobody caught; some depend on the limit of
memory. What a vector is for, and who should do what with it, is in the corpus: `assay explain VECTOR`.
";

pub(super) fn write(shown: &Shown<'_>, out: &mut dyn Write) -> io::Result<()> {
    let history = shown.history;
    writeln!(out, "{HEAD}")?;
    let limits = if history.limits_enforced { "" } else { " Limits: not enforced." };
    writeln!(
        out,
        "**{} of {} change or fail over {}** ({}).{limits}\n",
        shown.changing(),
        count(history.vectors, "vector"),
        count(history.releases.len(), "release"),
        count(history.runs, "run"),
    )?;
    writeln!(out, "| kind | rows |\n| --- | --: |")?;
    for (change, rows) in &shown.groups {
        writeln!(out, "| [{}](#{}) | {} |", change.title(), anchor(*change), rows.len())?;
    }
    if !history.unexpected.is_empty() {
        writeln!(out, "\nThe release that the corpus speaks of does not do what the corpus says:\n")?;
        for unexpected in &history.unexpected {
            writeln!(out, "- {}", plain(unexpected))?;
        }
    }
    writeln!(out, "\n## The releases\n\n| release | ggml | package |\n| --- | --- | --- |")?;
    for release in &history.releases {
        let or_dash = |text: &Option<String>| text.clone().unwrap_or_else(|| "not told".to_owned());
        writeln!(
            out,
            "| {} | {} | {} |",
            plain(&release.name),
            plain(&or_dash(&release.version)),
            plain(&or_dash(&release.package))
        )?;
    }
    writeln!(out, "\n| cell | means |\n| :-: | --- |")?;
    for (symbol, meaning) in LEGEND {
        writeln!(out, "| {} | {meaning} |", cell_of(*symbol))?;
    }
    writeln!(out, "\nA row is for both modes where it does not say which.")?;
    for (change, rows) in &shown.groups {
        writeln!(out, "\n## {}\n", change.title())?;
        write_rows(shown, rows, out)?;
    }
    Ok(())
}

fn write_rows(shown: &Shown<'_>, rows: &[&Row], out: &mut dyn Write) -> io::Result<()> {
    writeln!(
        out,
        "| vector | in words | {} |",
        shown.names.iter().map(|name| plain(name)).collect::<Vec<_>>().join(" | ")
    )?;
    writeln!(out, "| --- | --- |{}", " :-: |".repeat(shown.names.len()))?;
    for row in rows {
        let mode = row.mode.map_or_else(String::new, |_| format!(" ({})", modes(row.mode)));
        let cells: Vec<_> = row.outcomes.iter().map(Outcome::symbol).map(cell_of).collect();
        writeln!(out, "| `{}`{mode} | {} | {} |", row.id, plain(&row.story(&shown.names)), cells.join(" | "))?;
    }
    Ok(())
}

/// A cell: failures stand out, and a hyphen is not taken for a list.
fn cell_of(symbol: char) -> String {
    match symbol {
        '+' | '?' => symbol.to_string(),
        '-' => "–".to_owned(),
        failure => format!("**{failure}**"),
    }
}

/// The anchor that renderers of Markdown make of a heading.
fn anchor(change: Change) -> String {
    let title = change.title().to_lowercase();
    title.chars().filter(|c| c.is_alphanumeric() || *c == ' ').map(|c| if c == ' ' { '-' } else { c }).collect()
}
