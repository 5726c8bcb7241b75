//! The planted faults of kernels: how many of them are killed, and by what.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

use assay_harness::kernels::Planted;
use assay_oracles::kernels::mutants::{Kind, Mutant, NMSE_LIMIT};

use crate::markdown::{code, plain};
use crate::style::{DIM, ERROR, GOOD};
use crate::table::{Align, Table};
use crate::text::count;

/// What is told of all of them together.
struct Totals<'a> {
    all: &'a [Planted],
    killed: usize,
    /// How many each tier and law killed.
    killers: BTreeMap<String, usize>,
    /// How many of them the customary test asks about, and how many it kills.
    asked: usize,
    nmse: usize,
}

impl<'a> Totals<'a> {
    fn of(all: &'a [Planted]) -> Self {
        let mut killers = BTreeMap::new();
        for planted in all.iter().filter(|planted| planted.killed.is_ok()) {
            *killers.entry(planted.mutant.killer.to_string()).or_default() += 1;
        }
        Self {
            all,
            killed: killers.values().sum(),
            killers,
            asked: all.iter().filter(|planted| planted.nmse.is_some()).count(),
            nmse: all.iter().filter(|planted| planted.nmse == Some(true)).count(),
        }
    }

    fn count(&self, is: impl Fn(&Mutant) -> bool) -> usize {
        self.all.iter().filter(|planted| is(planted.mutant)).count()
    }

    fn kinds(&self) -> usize {
        self.all.iter().map(|planted| planted.mutant.kind).collect::<BTreeSet<_>>().len()
    }

    fn types(&self) -> usize {
        self.all.iter().map(|planted| planted.mutant.ty).collect::<BTreeSet<_>>().len()
    }

    /// `bits` 2, `exact` 70 and so on, in the order of the names.
    fn killers(&self, mark: &str) -> String {
        let one = |(name, number): (&String, &usize)| format!("{mark}{name}{mark} {number}");
        self.killers.iter().map(one).collect::<Vec<_>>().join(", ")
    }
}

/// Whether a fault is killed by the customary test, in a word.
fn nmse(planted: &Planted) -> &'static str {
    match planted.nmse {
        Some(true) => "killed",
        Some(false) => "alive",
        None => "not asked",
    }
}

/// The operations that a fault concerns.
fn operations(mutant: &Mutant) -> String {
    mutant.operations.iter().map(|operation| operation.name()).collect::<Vec<_>>().join(", ")
}

/// Writes them for a terminal: a table, those that are alive, and the summary.
///
/// # Errors
///
/// If the output does not take it.
pub fn write_text(all: &[Planted], out: &mut dyn Write) -> io::Result<()> {
    let totals = Totals::of(all);
    let columns = ["type", "kind", "fault", "killed by", "NMSE"].map(|title| (title, Align::Left));
    let mut table = Table::new(&columns);
    for planted in all {
        let mutant = planted.mutant;
        let killer = if planted.killed.is_ok() { mutant.killer.to_string() } else { "nothing".to_owned() };
        let words = [mutant.ty, mutant.kind.name(), mutant.name, &killer, nmse(planted)];
        table.row(words.map(str::to_owned));
    }
    table.write(out, false)?;
    writeln!(out)?;
    for planted in all {
        if let (Err(why), mutant) = (&planted.killed, planted.mutant) {
            writeln!(out, "{ERROR}alive{ERROR:#}  {}, {}, by {}: {why}", mutant.ty, mutant.name, mutant.killer)?;
        }
    }
    let colour = if totals.killed == all.len() { GOOD } else { ERROR };
    writeln!(
        out,
        "{} of {} kinds for {} types: {colour}{} killed{colour:#} ({})",
        count(all.len(), "fault"),
        totals.kinds(),
        totals.types(),
        totals.killed,
        totals.killers("")
    )?;
    writeln!(
        out,
        "{DIM}the customary limit, NMSE {NMSE_LIMIT:e} on 32 rows by 32 columns, kills {} of the {} that it asks about{DIM:#}",
        totals.nmse, totals.asked
    )
}

/// Writes them as a page: the totals, and a table.
///
/// # Errors
///
/// If the output does not take it.
pub fn write_markdown(all: &[Planted], out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "# Planted faults of kernels\n")?;
    totals(&Totals::of(all), out)?;
    writeln!(
        out,
        "\n*Set* tells in which set of kernels the fault is planted: `integer` holds activations in blocks of eight bits, as \
         CPUs do; `single` has everything in binary32; `half` has tiles of binary16 from 32 columns on, as GPUs do. \
         *After* is the public report that a fault is modelled on, a number alone an issue: LCPP is \
         `ggml-org/llama.cpp`, IKL is `ikawrakow/ik_llama.cpp`. A law stands before the colon of the question it was \
         applied to.\n\n\
         Made by `assay kernels --mutants --markdown reports/kernel-mutants.md`.\n\n\
         | type | kind | fault | set | operations | killed by | the question that killed it | after | NMSE |\n\
         | --- | --- | --- | --- | --- | --- | --- | --- | --- |"
    )?;
    for planted in all {
        let mutant = planted.mutant;
        let (killer, question) = match &planted.killed {
            Ok(question) => (mutant.killer.to_string(), code(&question.to_string())),
            Err(why) => ("**nothing**".to_owned(), plain(why)),
        };
        writeln!(
            out,
            "| {} | {} | {} | {} | {} | {killer} | {question} | {} | {} |",
            plain(mutant.ty),
            mutant.kind,
            plain(mutant.name),
            mutant.family.name(),
            operations(mutant),
            plain(mutant.after.unwrap_or_default()),
            nmse(planted),
        )?;
    }
    Ok(())
}

fn totals(totals: &Totals<'_>, out: &mut dyn Write) -> io::Result<()> {
    let all = totals.all.len();
    writeln!(
        out,
        "What `assay kernels` is worth is what it kills. A right set of kernels is given one fault at a time, and asked the \
         questions of the tier or law that has to notice. **{} of {all} were killed**, each by a question that the \
         same set without the fault answers rightly; the faults are of {} kinds, in kernels for {} types. Killed by: \
         {}.\n",
        totals.killed,
        totals.kinds(),
        totals.types(),
        totals.killers("`"),
    )?;
    writeln!(
        out,
        "{} touch one block, row or column; {} act only behind the last whole 256 weights, on the last of an odd number of \
         blocks, or with several columns; {} only where scales are zero, subnormal or large; {} only on the \
         second of two calls. {} are modelled on public reports.\n",
        totals.count(Mutant::is_local),
        totals.count(Mutant::is_conditional),
        totals.count(|mutant| mutant.kind == Kind::Extreme),
        totals.count(Mutant::is_of_second_call),
        totals.count(|mutant| mutant.after.is_some()),
    )?;
    writeln!(
        out,
        "The customary test multiplies one matrix of 32 rows with 32 columns of random data, and allows a sum of squared \
         errors of {NMSE_LIMIT:e} of the sum of squares (NMSE). Of the {} faults that concern such products it kills {} and \
         lets {} live. The other {} lie beyond it, in decoding, in quantizing, in products with experts.",
        totals.asked,
        totals.nmse,
        totals.asked - totals.nmse,
        all - totals.asked,
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_oracles::kernels::mutants::MUTANTS;

    #[test]
    fn what_lives_is_told() {
        let question = || "dot/Q4_0/exact/r1-k32-c1-scales.normal/1".parse();
        let all = [
            Planted { mutant: &MUTANTS[0], killed: question(), nmse: Some(false) },
            Planted { mutant: &MUTANTS[1], killed: Err("it survives".to_owned()), nmse: None },
        ];
        let written = |write: fn(&[Planted], &mut dyn Write) -> io::Result<()>| {
            let mut text = Vec::new();
            write(&all, &mut text).expect("memory takes it");
            String::from_utf8(text).expect("UTF-8")
        };
        let text = written(write_text);
        assert!(text.contains("by exact: it survives\n") && text.contains("1 killed"), "{text}");
        let page = written(write_markdown);
        assert!(page.contains("**1 of 2 were killed**") && page.contains("| **nothing** | it survives |"), "{page}");
        assert!(page.contains("| exact | `dot/Q4_0/exact/r1-k32-c1-scales.normal/1` |"), "{page}");
    }
}
