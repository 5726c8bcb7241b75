//! The record of kernels on a terminal: failures first, then what was judged how.

use std::io::{self, Write};

use assay_harness::kernels::record::{Record, Result as ResultLine};
use gguf_spec::kernel::OPERATIONS;

use super::{Cell, Cells, percent, types, verdicts, wholes, without_room, wrong};
use crate::style::{BOLD, DIM, ERROR, GOOD, ID, WARNING};
use crate::table::{Align, Table};
use crate::text::{count, grouped, safe};

/// Sets of which each gets a table of its own.
const FEW: usize = 2;

/// Writes a record: at most `most` failures of each set; a table of each set if there are few or `full` is wanted,
/// else one of all; what was not run, and the summary.
///
/// # Errors
///
/// If the output does not take it.
pub fn write(record: &Record, most: usize, full: bool, out: &mut dyn Write) -> io::Result<()> {
    for set in &record.header.sets {
        failures(record, set, most, out)?;
    }
    let cells = Cells::of(&record.results);
    if full || record.header.sets.len() <= FEW {
        for set in &record.header.sets {
            table_of(record, set, &cells, out)?;
        }
    } else {
        table_of_all(record, &cells, out)?;
    }
    writeln!(
        out,
        "{DIM}=  the one right result, bit for bit. Numbers: the largest share of a bound that was used, in percent,\n   \
         where activations are lossless, then on ordinary data. -  no kernel, or no question.{DIM:#}\n"
    )?;
    for left in &record.header.not_run {
        writeln!(out, "{WARNING}not run{WARNING:#}  {}: {}", safe(&left.what), safe(&left.why))?;
    }
    for (reason, times) in without_room(record) {
        writeln!(out, "{WARNING}not asked{WARNING:#}  {}: {}", count(times, "question"), safe(reason))?;
    }
    last(record, out)
}

fn failures(record: &Record, set: &str, most: usize, out: &mut dyn Write) -> io::Result<()> {
    let wrong: Vec<_> = record.results.iter().filter(|result| result.set == set && result.is_wrong()).collect();
    if wrong.is_empty() {
        return Ok(());
    }
    writeln!(out, "{BOLD}{}{BOLD:#}: {ERROR}{}{ERROR:#}", safe(set), count(wrong.len(), "wrong answer"))?;
    for result in wrong.iter().take(most) {
        failure(result, out)?;
    }
    if let Some(left @ 1..) = wrong.len().checked_sub(most) {
        writeln!(out, "  {DIM}and {} more: --max-failures 0 shows all{DIM:#}", grouped(left))?;
    }
    writeln!(out, "  {DIM}assay kernels --case NAME asks again{DIM:#}\n")
}

fn table_of(record: &Record, set: &str, cells: &Cells<'_>, out: &mut dyn Write) -> io::Result<()> {
    let asked = |name: &str| record.results.iter().any(|result| result.operation == name);
    let operations: Vec<_> = OPERATIONS.iter().map(|row| row.name).filter(|name| asked(name)).collect();
    let columns = operations.iter().map(|&name| (name, Align::Left));
    let mut table = Table::new(&[("type", Align::Left)].into_iter().chain(columns).collect::<Vec<_>>());
    let mut without = Vec::new();
    for ty in types(record) {
        if cells.together(set, ty.name).asked() == 0 {
            without.push(ty.name);
            continue;
        }
        let cell = |operation| cells.one(set, ty.name, operation).map_or_else(|| "-".to_owned(), Cell::text);
        table.row([ty.name.to_owned()].into_iter().chain(operations.iter().map(|&operation| cell(operation))));
    }
    writeln!(out, "{BOLD}{}{BOLD:#}\n", safe(set))?;
    table.write(out, false)?;
    if !without.is_empty() {
        writeln!(out, "\n{DIM}no kernel for {}{DIM:#}", without.join(", "))?;
    }
    writeln!(out)
}

fn table_of_all(record: &Record, cells: &Cells<'_>, out: &mut dyn Write) -> io::Result<()> {
    let mut table = Table::new(&[
        ("set", Align::Left),
        ("types", Align::Right),
        ("right", Align::Right),
        ("wrong", Align::Right),
        ("lossless", Align::Right),
        ("ordinary", Align::Right),
        ("most of it used by", Align::Left),
    ]);
    for whole in wholes(record, cells) {
        table.row([
            safe(whole.name),
            whole.types.to_string(),
            grouped(whole.all.passed),
            grouped(whole.all.wrong),
            whole.all.lossless.map_or_else(String::new, percent),
            whole.all.ordinary.map_or_else(String::new, percent),
            whole.most.to_owned(),
        ]);
    }
    table.write(out, false)?;
    writeln!(out, "\n{DIM}--full has a table of each set, by type and operation{DIM:#}\n")
}

fn last(record: &Record, out: &mut dyn Write) -> io::Result<()> {
    let Some(footer) = &record.footer else {
        return writeln!(
            out,
            "{ERROR}the run did not come to its end; {} of {} to {} recorded{ERROR:#}",
            count(record.results.len(), "answer"),
            count(record.header.questions, "question"),
            count(record.header.sets.len(), "set")
        );
    };
    let wrong = verdicts(record, "fail") + verdicts(record, "error");
    let colour = if wrong > 0 { ERROR } else { GOOD };
    writeln!(
        out,
        "{} to {}: {GOOD}{} right{GOOD:#}, {colour}{} wrong{colour:#}, {} not supported; {} compared in {:.1} s{}",
        count(record.header.questions, "question"),
        count(record.header.sets.len(), "set"),
        grouped(verdicts(record, "pass")),
        grouped(wrong),
        grouped(verdicts(record, "not-supported")),
        count(footer.checked, "element"),
        footer.seconds,
        if footer.complete { "" } else { "; some sets failed too often to be asked everything" }
    )
}

/// One wrong answer: which question, what is wrong, and the contract that it is held to.
fn failure(result: &ResultLine, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "  {ERROR}{}{ERROR:#}  {ID}{}{ID:#}", safe(&result.verdict), safe(&result.question))?;
    if let Some(wrong) = wrong(result) {
        writeln!(out, "    {}", safe(&wrong))?;
    }
    match &result.contract {
        Some(contract) => writeln!(out, "    {DIM}contract: {}{DIM:#}", safe(contract)),
        None => Ok(()),
    }
}
