//! The report about a file, for people.

use std::collections::HashMap;
use std::io::{self, Write};
use std::path::Path;
use std::time::Duration;

use gguf_spec::field::Finding;
use gguf_spec::profile::Outcome;
use gguf_spec::rules::{Rule, Severity, Stage};

use super::{Report, Totals};
use crate::text::{count, duration, folded, grouped, hundredths, quoted, safe_path, span};
use crate::ui::{BOLD, DIM, ERROR, GOOD, ID, WARNING};
use crate::what::What;

const WIDTH: usize = 100;

/// Writes the report about a file.
///
/// # Errors
///
/// If the output does not take it.
pub fn write(out: &mut dyn Write, path: &Path, report: &Report) -> io::Result<()> {
    writeln!(out, "{BOLD}{}{BOLD:#}", safe_path(path))?;
    let line = folded(&report.what.line(report.base, report.size), 2, WIDTH);
    match report.what {
        What::Gguf(_) => writeln!(out, "  {line}")?,
        What::Cut | What::Foreign(_) | What::Unknown => writeln!(out, "  {ERROR}{line}{ERROR:#}")?,
    }

    let blocks = blocks(report);
    for block in &blocks {
        writeln!(out)?;
        write_block(out, block)?;
    }
    let told: usize = blocks.iter().map(|block| block.total).sum();
    let left_out = report.judgement.findings.len() - told;
    if left_out > 0 {
        let text = format!("and {} of other rules", count(left_out, "finding"));
        writeln!(out, "\n  {DIM}{text}; --max-findings 0 shows all{DIM:#}")?;
    }

    writeln!(out)?;
    write_verdicts(out, report)?;
    write_hashes(out, report)?;
    let mut times =
        format!("header read in {}, judged in {}", duration(report.times.read), duration(report.times.judge));
    if let Some(scanned) = report.scanned.as_ref().filter(|scanned| scanned.tensors > 0) {
        times.push_str(&format!(
            ", {} of data scanned in {}{}",
            count(scanned.bytes, "byte"),
            duration(scanned.time),
            speed(scanned.bytes, scanned.time)
        ));
    }
    if let Some(hash) = report.times.hash {
        times.push_str(&format!(", hashed in {}", duration(hash)));
    }
    writeln!(out, "  {DIM}{}{DIM:#}", folded(&times, 2, WIDTH))
}

/// How fast so many bytes were read, if they are enough to tell.
fn speed(bytes: u64, time: Duration) -> String {
    const ENOUGH: u64 = 10_000_000;
    // Bytes in a nanosecond are gigabytes in a second.
    match hundredths(u128::from(bytes), time.as_nanos()) {
        Some(speed) if bytes >= ENOUGH => format!(" ({speed} GB/s)"),
        _ => String::new(),
    }
}

/// The findings of one rule.
struct Block<'r> {
    rule: &'static Rule,
    /// Those to show, each with what it belongs to.
    shown: Vec<(&'r Finding, Option<&'r [u8]>)>,
    /// How many there are.
    total: usize,
}

/// The findings by rule, the rules in the order of their first ones.
fn blocks(report: &Report) -> Vec<Block<'_>> {
    let mut blocks: Vec<Block<'_>> = Vec::new();
    let mut places: HashMap<&str, usize> = HashMap::new();
    for (finding, owner) in report.findings() {
        let place = *places.entry(finding.rule.id).or_insert_with(|| {
            blocks.push(Block { rule: finding.rule, shown: Vec::new(), total: 0 });
            blocks.len() - 1
        });
        blocks[place].shown.push((finding, owner));
    }
    for finding in &report.judgement.findings {
        if let Some(&place) = places.get(finding.rule.id) {
            blocks[place].total += 1;
        }
    }
    blocks
}

/// One finding, or several of a rule with what to do told once.
fn write_block(out: &mut dyn Write, block: &Block<'_>) -> io::Result<()> {
    let severity = block.rule.severity();
    let style = if severity == Severity::Error { ERROR } else { WARNING };
    write!(out, "  {style}{:<7}{style:#}  {ID}{}{ID:#}  ", severity.name(), block.rule.id)?;
    if block.total > 1 {
        write!(out, "{} places\n           ", grouped(block.total))?;
    }
    for (i, (finding, owner)) in block.shown.iter().enumerate() {
        let indent = if i == 0 { "" } else { "           " };
        let owner = owner.map_or_else(String::new, |owner| format!(" of {}", quoted(owner, 64)));
        writeln!(out, "{indent}{}  {}{owner}", span(&finding.span), finding.field)?;
        let difference = format!("expected {}, found {}", finding.expected, finding.actual);
        let indent = if block.total > 1 { 13 } else { 11 };
        writeln!(out, "{:indent$}{}", "", folded(&difference, indent, WIDTH))?;
    }
    let left_out = block.total - block.shown.len();
    if left_out > 0 {
        writeln!(out, "           and {} more; --max-findings 0 shows all", grouped(left_out))?;
    }
    writeln!(out, "           {DIM}{}{DIM:#}", folded(block.rule.fix, 11, WIDTH))
}

fn write_verdicts(out: &mut dyn Write, report: &Report) -> io::Result<()> {
    for verdict in &report.judgement.verdicts {
        let id = verdict.profile.id();
        let (style, word) = match verdict.outcome {
            Outcome::Accept => (GOOD, "accepts"),
            Outcome::Refuse => (ERROR, "refuses"),
            Outcome::Abort => (ERROR, "aborts"),
        };
        write!(out, "  {ID}{id:<18}{ID:#}  {style}{word}{style:#}")?;
        match &verdict.because {
            Some(finding) => writeln!(out, ": {} at byte {}", finding.rule.id, finding.span.start)?,
            None if report.until < verdict.profile.last_stage() => {
                writeln!(out, " it up to the {} stage", report.until)?;
            }
            None => writeln!(out)?,
        }
    }
    if report.until < Stage::Semantics {
        writeln!(out, "  {DIM}judged up to the {} stage; later ones were not looked at{DIM:#}", report.until)?;
    }
    Ok(())
}

fn write_hashes(out: &mut dyn Write, report: &Report) -> io::Result<()> {
    if let Some(hash) = &report.sha256 {
        writeln!(out, "  sha256 {hash}")?;
    }
    match &report.tensors {
        None => Ok(()),
        Some(Err(reason)) => writeln!(out, "  no hashes of tensors: {reason}"),
        Some(Ok(tensors)) => tensors.iter().try_for_each(|tensor| {
            let size = count(tensor.size, "byte");
            writeln!(out, "  sha256 {}  {}  {size} at {}", tensor.sha256, quoted(&tensor.name, 64), tensor.start)
        }),
    }
}

/// Writes the line about several files.
///
/// # Errors
///
/// If the output does not take it.
pub(super) fn write_summary(out: &mut dyn Write, totals: &Totals) -> io::Result<()> {
    writeln!(
        out,
        "{BOLD}{}{BOLD:#}: {} fine, {} failed, {} could not be read; {}, {}",
        count(totals.files, "file"),
        totals.fine,
        totals.failed,
        totals.unreadable,
        count(totals.errors, "error"),
        count(totals.warnings, "warning"),
    )
}
