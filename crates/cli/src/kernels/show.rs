//! What was found, for people: failures first, then what was judged how.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

use assay_harness::kernels::record::{Footer, Header, Result as ResultLine};
use gguf_spec::kernel::OPERATIONS;
use gguf_spec::types::TensorType;

use super::Args;
use crate::table::{Align, Table};
use crate::text::{count, grouped, safe};
use crate::ui::{BOLD, DIM, ERROR, GOOD, ID, WARNING};

/// What came of a type and an operation with a set.
#[derive(Clone, Debug, Default)]
pub(super) struct Cell {
    pub(super) passed: usize,
    pub(super) wrong: usize,
    pub(super) no_room: usize,
    pub(super) not_run: usize,
    /// Whether there were questions with one right result.
    pub(super) exact: bool,
    /// The largest share of a bound that was used on lossless activations.
    pub(super) lossless: Option<f64>,
    /// The same on ordinary data.
    pub(super) ordinary: Option<f64>,
    pub(super) contracts: BTreeSet<String>,
}

/// The larger of two numbers, where there are any.
fn larger(a: Option<f64>, b: Option<f64>) -> Option<f64> {
    a.into_iter().chain(b).reduce(f64::max)
}

impl Cell {
    fn asked(&self) -> usize {
        self.passed + self.wrong + self.not_run
    }

    fn add(&mut self, result: &ResultLine) {
        match result.verdict.as_str() {
            "pass" => self.passed += 1,
            "no-room" => self.no_room += 1,
            "not-run" => self.not_run += 1,
            _ if result.is_wrong() => self.wrong += 1,
            _ => return,
        }
        self.contracts.extend(result.contract.clone());
        if result.checked == 0 {
            return;
        }
        let share = Some(result.share.unwrap_or(f64::INFINITY).max(result.row_share));
        match result.tier.as_str() {
            "lossless" => self.lossless = larger(self.lossless, share),
            "ordinary" => self.ordinary = larger(self.ordinary, share),
            _ => self.exact = true,
        }
    }

    fn join(&mut self, other: &Self) {
        self.passed += other.passed;
        self.wrong += other.wrong;
        self.no_room += other.no_room;
        self.not_run += other.not_run;
        self.exact |= other.exact;
        self.lossless = larger(self.lossless, other.lossless);
        self.ordinary = larger(self.ordinary, other.ordinary);
    }

    /// `=` for what has to be exact, then the shares in percent.
    fn text(&self) -> String {
        match (self.asked(), self.wrong) {
            (0, _) => "-".to_owned(),
            (asked, 1..) => format!("{} of {asked} wrong", self.wrong),
            _ if self.passed == 0 => "not run".to_owned(),
            _ => {
                let exact = self.exact.then(|| "=".to_owned());
                let words = [exact, self.lossless.map(percent), self.ordinary.map(percent)];
                words.into_iter().flatten().collect::<Vec<_>>().join(" ")
            }
        }
    }
}

/// A share in percent, rounded up.
fn percent(share: f64) -> String {
    format!("{:.0}", (100.0 * share).ceil())
}

/// All cells, by set, type and operation.
pub(super) struct Cells<'a>(BTreeMap<(&'a str, &'a str, &'a str), Cell>);

impl<'a> Cells<'a> {
    pub(super) fn of(results: &'a [ResultLine]) -> Self {
        let mut cells: BTreeMap<_, Cell> = BTreeMap::new();
        for result in results {
            cells.entry((result.set.as_str(), result.ty.as_str(), result.operation.as_str())).or_default().add(result);
        }
        Self(cells)
    }

    pub(super) fn all(&self) -> impl Iterator<Item = (&(&'a str, &'a str, &'a str), &Cell)> {
        self.0.iter()
    }

    /// One cell for a set and a type: all operations together.
    fn together(&self, set: &str, ty: &str) -> Cell {
        let mut all = Cell::default();
        self.0.iter().filter(|((s, t, _), _)| *s == set && *t == ty).for_each(|(_, cell)| all.join(cell));
        all
    }
}

/// Sets of which each gets a table of its own.
const FEW: usize = 2;

/// What is written.
pub(super) struct Page<'a> {
    pub(super) header: &'a Header,
    pub(super) results: &'a [ResultLine],
    pub(super) footer: &'a Footer,
    pub(super) args: &'a Args,
}

impl Page<'_> {
    pub(super) fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        for set in &self.header.sets {
            self.failures(set, out)?;
        }
        let cells = Cells::of(self.results);
        if self.args.full || self.header.sets.len() <= FEW {
            for set in &self.header.sets {
                self.table_of(set, &cells, out)?;
            }
        } else {
            self.table_of_all(&cells, out)?;
        }
        writeln!(
            out,
            "{DIM}=  the one right result, bit for bit. Numbers: the largest share of a bound that was used, in percent,\n   \
             where activations are lossless, then on ordinary data. -  no kernel, or no question.{DIM:#}\n"
        )?;
        for left in &self.header.not_run {
            writeln!(out, "{WARNING}not run{WARNING:#}  {}: {}", safe(&left.what), safe(&left.why))?;
        }
        self.without_room(out)?;
        self.last(out)
    }

    fn failures(&self, set: &str, out: &mut dyn Write) -> io::Result<()> {
        let wrong: Vec<_> = self.results.iter().filter(|result| result.set == set && result.is_wrong()).collect();
        if wrong.is_empty() {
            return Ok(());
        }
        writeln!(out, "{BOLD}{}{BOLD:#}: {ERROR}{}{ERROR:#}", safe(set), count(wrong.len(), "wrong answer"))?;
        let most = if self.args.max_failures == 0 { usize::MAX } else { self.args.max_failures };
        for result in wrong.iter().take(most) {
            failure(result, out)?;
        }
        if wrong.len() > most {
            writeln!(
                out,
                "  {DIM}and {} more: --max-failures 0 shows all{DIM:#}",
                grouped((wrong.len() - most) as u64)
            )?;
        }
        writeln!(out, "  {DIM}--case NAME asks again{DIM:#}\n")
    }

    fn table_of(&self, set: &str, cells: &Cells<'_>, out: &mut dyn Write) -> io::Result<()> {
        let asked = |name: &str| self.results.iter().any(|result| result.operation == name);
        let operations: Vec<_> = OPERATIONS.iter().map(|row| row.name).filter(|name| asked(name)).collect();
        let columns = operations.iter().map(|&name| (name, Align::Left));
        let mut table = Table::new(&[("type", Align::Left)].into_iter().chain(columns).collect::<Vec<_>>());
        let mut without = Vec::new();
        for ty in self.types() {
            if cells.together(set, ty.name).asked() == 0 {
                without.push(ty.name);
                continue;
            }
            let cell = |operation| cells.0.get(&(set, ty.name, operation)).map_or_else(|| "-".to_owned(), Cell::text);
            table.row([ty.name.to_owned()].into_iter().chain(operations.iter().map(|&operation| cell(operation))));
        }
        writeln!(out, "{BOLD}{}{BOLD:#}\n", safe(set))?;
        table.write(out, false)?;
        if !without.is_empty() {
            writeln!(out, "\n{DIM}no kernel for {}{DIM:#}", without.join(", "))?;
        }
        writeln!(out)
    }

    fn table_of_all(&self, cells: &Cells<'_>, out: &mut dyn Write) -> io::Result<()> {
        let mut table = Table::new(&[
            ("set", Align::Left),
            ("types", Align::Right),
            ("right", Align::Right),
            ("wrong", Align::Right),
            ("lossless", Align::Right),
            ("ordinary", Align::Right),
            ("most of it used by", Align::Left),
        ]);
        for set in &self.header.sets {
            let of_types: Vec<_> = self.types().map(|ty| (ty.name, cells.together(set, ty.name))).collect();
            let mut all = Cell::default();
            of_types.iter().for_each(|(_, cell)| all.join(cell));
            let share = |cell: &Cell| cell.ordinary.unwrap_or(-1.0);
            let most = of_types.iter().max_by(|a, b| share(&a.1).total_cmp(&share(&b.1)));
            table.row([
                safe(set),
                of_types.iter().filter(|(_, cell)| cell.asked() > 0).count().to_string(),
                grouped(all.passed as u64),
                grouped(all.wrong as u64),
                all.lossless.map_or_else(String::new, percent),
                all.ordinary.map_or_else(String::new, percent),
                most.filter(|(_, cell)| cell.ordinary.is_some()).map_or("", |(name, _)| name).to_owned(),
            ]);
        }
        table.write(out, false)?;
        writeln!(out, "\n{DIM}--full has a table of each set, by type and operation{DIM:#}\n")
    }

    /// The types that were asked about, in the order of the table of types.
    fn types(&self) -> impl Iterator<Item = &'static TensorType> {
        TensorType::live().filter(|ty| self.results.iter().any(|result| result.ty == ty.name))
    }

    /// What no inputs could be made for.
    fn without_room(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
        for result in self.results.iter().filter(|result| result.verdict == "no-room") {
            *reasons.entry(result.reason.as_deref().unwrap_or_default()).or_default() += 1;
        }
        for (reason, times) in reasons {
            writeln!(out, "{WARNING}not asked{WARNING:#}  {}: {}", count(times, "question"), safe(reason))?;
        }
        Ok(())
    }

    fn last(&self, out: &mut dyn Write) -> io::Result<()> {
        let of = |verdict: &str| self.results.iter().filter(|result| result.verdict == verdict).count() as u64;
        let wrong = of("fail") + of("error");
        let colour = if wrong > 0 { ERROR } else { GOOD };
        writeln!(
            out,
            "{} to {}: {GOOD}{} right{GOOD:#}, {colour}{} wrong{colour:#}, {} not supported; {} elements compared in {:.1} s{}",
            count(self.header.questions, "question"),
            count(self.header.sets.len(), "set"),
            grouped(of("pass")),
            grouped(wrong),
            grouped(of("not-supported")),
            grouped(self.footer.checked),
            self.footer.seconds,
            if self.footer.complete { "" } else { "; some sets failed too often to be asked everything" }
        )
    }
}

/// One wrong answer: which question, and the element that is the furthest off.
fn failure(result: &ResultLine, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "  {ERROR}{}{ERROR:#}  {ID}{}{ID:#}", result.verdict, result.question)?;
    if let Some(reason) = &result.reason {
        writeln!(out, "    {}", safe(reason))?;
    } else if let Some(worst) = &result.worst {
        let exact = worst.bound.parse::<f64>().is_ok_and(|bound| bound <= 0.0);
        let bound = if exact { "and nothing else".to_owned() } else { format!("within {}", worst.bound) };
        let place = format!("call {}, column {}, row {}", worst.call + 1, worst.column, worst.row);
        writeln!(out, "    {place}: expected {} {bound}, got {} (0x{})", worst.expected, worst.got, worst.got_bits)?;
    }
    match &result.contract {
        Some(contract) => writeln!(out, "    {DIM}contract: {contract}{DIM:#}"),
        None => Ok(()),
    }
}
