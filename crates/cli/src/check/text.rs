//! The report about a file, for people.

use std::io::{self, Write};
use std::path::Path;

use gguf_spec::field::Finding;
use gguf_spec::profile::Outcome;
use gguf_spec::rules::{Severity, Stage};

use super::{Checked, Report};
use crate::exit::Exit;
use crate::text::{count, duration, folded, quoted, safe_path, span};
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

    for (finding, owner) in report.findings() {
        writeln!(out)?;
        write_finding(out, finding, owner)?;
    }
    let left_out = report.left_out();
    if left_out > 0 {
        writeln!(out, "\n  {DIM}and {} more; --max-findings 0 shows all{DIM:#}", count(left_out, "finding"))?;
    }

    writeln!(out)?;
    write_verdicts(out, report)?;
    write_hashes(out, report)?;
    let mut times =
        format!("header read in {}, judged in {}", duration(report.times.read), duration(report.times.judge));
    if let Some(hash) = report.times.hash {
        times.push_str(&format!(", hashed in {}", duration(hash)));
    }
    writeln!(out, "  {DIM}{times}{DIM:#}")
}

fn write_finding(out: &mut dyn Write, finding: &Finding, owner: Option<&[u8]>) -> io::Result<()> {
    let severity = finding.severity();
    let style = if severity == Severity::Error { ERROR } else { WARNING };
    let owner = owner.map_or_else(String::new, |owner| format!(" of {}", quoted(owner, 64)));
    writeln!(
        out,
        "  {style}{:<7}{style:#}  {ID}{}{ID:#}  {}  {}{owner}",
        severity.name(),
        finding.rule.id,
        span(&finding.span),
        finding.field,
    )?;
    let difference = format!("expected {}, found {}", finding.expected, finding.actual);
    writeln!(out, "           {}", folded(&difference, 11, WIDTH))?;
    writeln!(out, "           {DIM}{}{DIM:#}", folded(finding.rule.fix, 11, WIDTH))
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
pub(super) fn write_summary(out: &mut dyn Write, all: &[Checked], strict: bool) -> io::Result<()> {
    let number = |exit: Exit| {
        all.iter()
            .filter(|(_, checked)| checked.as_ref().map_or(Exit::Unreadable, |report| report.exit(strict)) == exit)
            .count()
    };
    let (errors, warnings) = all.iter().filter_map(|(_, checked)| checked.as_ref().ok()).fold((0, 0), |sum, report| {
        let (errors, warnings) = report.counts();
        (sum.0 + errors, sum.1 + warnings)
    });
    writeln!(
        out,
        "{BOLD}{}{BOLD:#}: {} fine, {} failed, {} could not be read; {}, {}",
        count(all.len(), "file"),
        number(Exit::Fine),
        number(Exit::Findings),
        number(Exit::Unreadable),
        count(errors, "error"),
        count(warnings, "warning"),
    )
}
