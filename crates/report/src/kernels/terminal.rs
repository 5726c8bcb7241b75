//! The record of kernels on a terminal: failures first, then what was judged how.

use std::io::{self, Write};

use assay_harness::kernels::record::{Record, Result as ResultLine};
use gguf_spec::kernel::OPERATIONS;

use super::failure::{by_operation_and_type, in_turns, sentences};
use super::sides::positions;
use super::{Cell, Cells, left_out, not_asked, percent, types, verdicts, wholes};
use crate::style::{BOLD, DIM, ERROR, GOOD, ID, WARNING};
use crate::table::{Align, Table};
use crate::text::{count, grouped, safe};

/// So many types without a kernel are named; more are counted.
const MANY: usize = 12;

/// Sets of which each gets a table of its own.
const FEW: usize = 2;

/// Writes a record: at most `most` failures of each set; a table of each set if there are few or `full` is wanted,
/// else one of all; the sides taken in disputes, what was not run, and the summary. `again` is the command that has
/// asked, up to the names of questions; without it the page does not know how the sets were named.
///
/// # Errors
///
/// If the output does not take it.
pub fn write(record: &Record, most: usize, full: bool, again: Option<&str>, out: &mut dyn Write) -> io::Result<()> {
    for set in &record.header.sets {
        failures(record, set, most, again, out)?;
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
        "{DIM}=  the one right result, bit for bit. = / lossless / ordinary  where there are bounds, and the largest share of\n   \
         them that was used, where activations are lossless and on ordinary data. -  no kernel, or no question.{DIM:#}\n"
    )?;
    disputes(record, out)?;
    for (what, why) in left_out(record) {
        writeln!(out, "{WARNING}not run{WARNING:#}  {}: {}", safe(&what), safe(why))?;
    }
    for (reason, left) in not_asked(&record.results) {
        let (times, names) = (count(left.times, "question"), safe(&left.names()));
        writeln!(out, "{WARNING}not asked{WARNING:#}  {times}: {}: {names}", safe(reason))?;
    }
    last(record, out)
}

/// The sides that sets take where authorities differ about scales.
fn disputes(record: &Record, out: &mut dyn Write) -> io::Result<()> {
    let positions = positions(&record.results);
    if positions.is_empty() {
        return Ok(());
    }
    writeln!(out, "{BOLD}disputed scales{BOLD:#}: who decodes them alike\n")?;
    let mut dispute = None;
    for position in &positions {
        if dispute.replace((position.ty, position.blocks)) != Some((position.ty, position.blocks)) {
            writeln!(out, "  {}, {}", safe(position.ty), safe(position.blocks))?;
        }
        writeln!(out, "    {}: {}", safe(&position.sets.join(", ")), safe(&position.text()))?;
    }
    writeln!(out)
}

fn failures(record: &Record, set: &str, most: usize, again: Option<&str>, out: &mut dyn Write) -> io::Result<()> {
    let wrong: Vec<_> = record.results.iter().filter(|result| result.set == set && result.is_wrong()).collect();
    if wrong.is_empty() {
        return Ok(());
    }
    writeln!(out, "{BOLD}{}{BOLD:#}: {ERROR}{}{ERROR:#}", safe(set), count(wrong.len(), "wrong answer"))?;
    if let Some(counts) = by_operation_and_type(&wrong) {
        writeln!(out, "  {}", safe(&counts))?;
    }
    let shown = in_turns(&wrong);
    for result in shown.iter().take(most) {
        failure(result, out)?;
    }
    if let Some(left @ 1..) = wrong.len().checked_sub(most) {
        writeln!(out, "  {DIM}and {} more: --max-failures 0 shows all{DIM:#}", grouped(left))?;
    }
    match (again, shown.first()) {
        (Some(again), Some(first)) => {
            writeln!(out, "  {DIM}ask the first again: {} --case {}{DIM:#}\n", safe(again), safe(&first.question))
        }
        _ => writeln!(out, "  {DIM}assay kernels --case NAME, with the --provider of the run, asks again{DIM:#}\n"),
    }
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
    match without.len() {
        0 => {}
        many if many > MANY => {
            writeln!(out, "\n{DIM}no kernel for {many} of {}{DIM:#}", count(types(record).count(), "type"))?;
        }
        _ => writeln!(out, "\n{DIM}no kernel for {}{DIM:#}", without.join(", "))?,
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
    let some = |verdict, words: &str| match verdicts(record, verdict) {
        0 => String::new(),
        times => format!(", {} {words}", grouped(times)),
    };
    let colour = if wrong > 0 { ERROR } else { GOOD };
    writeln!(
        out,
        "{} to {}: {GOOD}{} right{GOOD:#}, {colour}{} wrong{colour:#}, {} not supported{}{}; {} compared in {:.1} s{}",
        count(record.header.questions, "question"),
        count(record.header.sets.len(), "set"),
        grouped(verdicts(record, "pass")),
        grouped(wrong),
        grouped(verdicts(record, "not-supported")),
        some("no-room", "not asked"),
        some("not-run", "not run"),
        count(footer.checked, "element"),
        footer.seconds,
        if footer.complete { "" } else { "; some sets failed too often to be asked everything" }
    )
}

/// One wrong answer: which question, what is wrong, and the contract that it is held to.
fn failure(result: &ResultLine, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "  {ERROR}{}{ERROR:#}  {ID}{}{ID:#}", safe(&result.verdict), safe(&result.question))?;
    for sentence in sentences(result) {
        writeln!(out, "    {}", safe(&sentence))?;
    }
    match &result.contract {
        Some(contract) => writeln!(out, "    {DIM}contract: {}{DIM:#}", safe(contract)),
        None => Ok(()),
    }
}
