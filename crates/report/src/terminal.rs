//! The record of a run on a terminal.

use std::io::{self, Write};
use std::path::Path;
use std::time::Duration;

use assay_harness::adapter::verdict::VERDICTS;
use assay_harness::record::{Record, Result};

use crate::style::{BOLD, DIM, ERROR, GOOD, ID, WARNING};
use crate::summary::{Summary, Tallies, as_expected};
use crate::table::{Align, Table};
use crate::text::{count, duration, folded, safe};

/// Columns of a line that is folded.
const WIDTH: usize = 100;

/// Writes a record: the table, at most `most` failures that are not expected of each verdict, what is
/// expected, and the summary.
///
/// # Errors
///
/// If the output does not take it.
pub fn write(record: &Record, most: usize, out: &mut dyn Write) -> io::Result<()> {
    let header = &record.header;
    let language = match header.said("language") {
        "" => String::new(),
        language => format!(" ({})", safe(language)),
    };
    writeln!(
        out,
        "{BOLD}{} {}{BOLD:#}{language}, judged up to {}",
        safe(header.said("name")),
        safe(header.said("version")),
        safe(header.said("last_stage"))
    )?;
    let limits = &header.limits;
    if limits.enforced {
        writeln!(
            out,
            "{DIM}limits: {} s of processor time for each file, {} MiB of memory{DIM:#}",
            limits.cpu_seconds,
            limits.memory_bytes >> 20
        )?;
    } else {
        writeln!(out, "{WARNING}limits: not enforced{WARNING:#}")?;
    }
    writeln!(out)?;
    table(record, out)?;

    let summary = Summary::of(record);
    failures(&summary, most, out)?;
    if let Some(footer) = &record.footer {
        for problem in &footer.problems {
            writeln!(out, "\n{ERROR}adapter{ERROR:#} {}", safe(problem))?;
        }
        if !footer.expectations.is_empty() {
            writeln!(out, "\n{ERROR}expectations{ERROR:#}")?;
            for problem in &footer.expectations {
                writeln!(out, "  {}", safe(problem))?;
            }
        }
    }
    if !summary.known.is_empty() {
        writeln!(out, "\n{BOLD}expected failures{BOLD:#}")?;
        for (verdict, reason, number) in &summary.known {
            let start = format!("  {number:>4} {:<14} ", safe(verdict));
            writeln!(out, "{start}{}", folded(&safe(reason), start.len(), WIDTH))?;
        }
    }
    last(record, &summary, out)
}

fn table(record: &Record, out: &mut dyn Write) -> io::Result<()> {
    let tallies = Tallies::of(record);
    let mut columns = vec![("group", Align::Left), ("vectors", Align::Right)];
    columns.extend(tallies.verdicts.iter().map(|verdict| (verdict.name(), Align::Right)));
    let mut table = Table::new(&columns);
    for (group, vectors, counts) in &tallies.rows {
        let cell = |count: &usize| if *count == 0 { String::new() } else { count.to_string() };
        table.row([safe(group), vectors.to_string()].into_iter().chain(counts.iter().map(cell)));
    }
    table.write(out, true)
}

fn failures(summary: &Summary<'_>, most: usize, out: &mut dyn Write) -> io::Result<()> {
    for row in &VERDICTS {
        let all: Vec<_> = summary.unexpected.iter().filter(|result| result.verdict == row.name).collect();
        for result in all.iter().take(most) {
            failure(result, out)?;
        }
        if let Some(left @ 1..) = all.len().checked_sub(most) {
            writeln!(out, "\n{DIM}and {left} more of {}: --max-failures 0 shows all{DIM:#}", row.name)?;
        }
    }
    Ok(())
}

fn failure(result: &Result, out: &mut dyn Write) -> io::Result<()> {
    let flags = if result.flags.is_empty() { String::new() } else { format!(", {}", safe(&result.flags.join(", "))) };
    writeln!(
        out,
        "\n{ERROR}{}{ERROR:#} {ID}{}{ID:#} ({}{flags})",
        result.verdict,
        safe(&result.vector),
        safe(&result.group)
    )?;
    if let Some(second) = &result.unstable {
        writeln!(out, "  {WARNING}unstable{WARNING:#}: in a fresh process it was {}", safe(second))?;
    }
    match &result.difference {
        Some(difference) => writeln!(
            out,
            "  {}: expected {}, found {}",
            safe(&difference.path),
            safe(&difference.expected),
            safe(&difference.found)
        )?,
        None => writeln!(out, "  expected {}, got {}", safe(&result.expected), safe(&result.got))?,
    }
    if !result.message.is_empty() {
        writeln!(out, "  {DIM}{}{DIM:#}", safe(&cut(&result.message)))?;
    }
    let file = result.file.as_str().map_or_else(String::new, |file| {
        format!("; assay dump --hex {}", safe(&Path::new(file).display().to_string()))
    });
    writeln!(out, "  {DIM}assay explain {}{file}{DIM:#}", safe(&result.vector))
}

/// A message on one line, not too long.
pub(crate) fn cut(message: &str) -> String {
    const LONGEST: usize = 300;
    let line = message.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" / ");
    match line.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

fn last(record: &Record, summary: &Summary<'_>, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out)?;
    if !summary.sides.is_empty() {
        let sides: Vec<_> =
            summary.sides.iter().map(|(who, number)| format!("with {} on {number}", safe(who))).collect();
        writeln!(out, "where the profiles disagree it sides {}", sides.join(", "))?;
    }
    for left_out in &record.header.not_run {
        writeln!(out, "{WARNING}not run{WARNING:#}: {} ({})", safe(&left_out.what), safe(&left_out.why))?;
    }
    let Some(footer) = &record.footer else {
        return writeln!(
            out,
            "{ERROR}the run did not come to its end; {} recorded{ERROR:#}",
            count(record.results.len(), "result")
        );
    };
    let unexpected = footer.failures - footer.known.min(footer.failures);
    let style = if as_expected(record) { GOOD } else { ERROR };
    let mut others = vec![if unexpected == 0 { "no other failure".to_owned() } else { count(unexpected, "failure") }];
    if !footer.expectations.is_empty() {
        others.push(format!("{} wrong", count(footer.expectations.len(), "expectation")));
    }
    if !footer.problems.is_empty() {
        others.push(format!("{} of the adapter", count(footer.problems.len(), "fault")));
    }
    let expected =
        if footer.known == 0 { String::new() } else { format!(", {} as expected", count(footer.known, "failure")) };
    writeln!(
        out,
        "{BOLD}{}{BOLD:#}: {style}{} agree{expected}, {}{style:#}; {} compared; {}",
        count(record.results.len(), "vector"),
        footer.tallies.get("agree").copied().unwrap_or(0),
        others.join(", "),
        count(footer.compared, "document"),
        duration(Duration::try_from_secs_f64(footer.seconds).unwrap_or_default()),
    )
}
