//! A history on a terminal: one line a row, one character a release.

use std::io::{self, Write};
use std::time::Duration;

use assay_harness::history::{Change, LEGEND, Row, modes};

use super::Shown;
use crate::text::{count, duration, safe};
use crate::ui::{BOLD, DIM, ERROR, GOOD, ID, WARNING};

pub(super) fn write(shown: &Shown<'_>, time: Duration, out: &mut dyn Write) -> io::Result<()> {
    let history = shown.history;
    for (i, release) in history.releases.iter().enumerate() {
        let version = release.version.as_ref().map_or_else(String::new, |version| format!("  ggml {}", safe(version)));
        let package = release.package.as_ref().map_or_else(String::new, |package| format!("  {}", safe(package)));
        writeln!(out, "{:>3}  {BOLD}{}{BOLD:#}{DIM}{version}{package}{DIM:#}", i + 1, safe(&release.name))?;
    }
    writeln!(out)?;
    for (symbol, meaning) in LEGEND {
        writeln!(out, "  {symbol}  {meaning}")?;
    }
    for (change, rows) in &shown.groups {
        let style = match change {
            Change::CrashesNow | Change::CrashesAlways => ERROR,
            Change::Crashed => WARNING,
            Change::RefusedNow | Change::AcceptedNow | Change::None => BOLD,
        };
        writeln!(out, "\n{style}{}{style:#}: {}", change.title(), rows.len())?;
        write_rows(shown, rows, out)?;
    }
    if shown.groups.is_empty() {
        writeln!(out, "\nno vector changes; --all shows them")?;
    }
    for unexpected in &history.unexpected {
        writeln!(out, "\n{ERROR}not as the corpus says{ERROR:#}: {}", safe(unexpected))?;
    }
    let limits = if history.limits_enforced { "" } else { "; limits: not enforced" };
    writeln!(
        out,
        "\n{GOOD}{}{GOOD:#} of {} change or fail over {}; {} in {}{limits}",
        shown.changing(),
        count(history.vectors, "vector"),
        count(history.releases.len(), "release"),
        count(history.runs, "run"),
        duration(time),
    )
}

fn write_rows(shown: &Shown<'_>, rows: &[&Row], out: &mut dyn Write) -> io::Result<()> {
    let width = rows.iter().map(|row| row.id.chars().count()).max().unwrap_or(0);
    let columns = shown.names.len();
    // The last digits of the numbers in the list above, so that a release is found in its column.
    let ruler: String = (1..=columns).map(|i| char::from(b"0123456789"[i % 10])).collect();
    writeln!(out, "  {:width$}  mode    {DIM}{ruler}{DIM:#}", "")?;
    for row in rows {
        let symbols: String = row.outcomes.iter().map(assay_harness::history::Outcome::symbol).collect();
        writeln!(
            out,
            "  {ID}{:width$}{ID:#}  {:6}  {symbols}  {DIM}{}{DIM:#}",
            row.id,
            modes(row.mode),
            safe(&row.story(&shown.names))
        )?;
    }
    Ok(())
}
