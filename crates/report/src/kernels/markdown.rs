//! The record of kernels as Markdown, for a pull request or a page.

use std::io::{self, Write};
use std::time::Duration;

use assay_harness::kernels::record::{Record, Result as ResultLine};

use super::failure::{in_turns, sentences};
use super::sides::positions;
use super::{Cells, left_out, not_asked, percent, verdicts, wholes};
use crate::markdown::{code, plain};
use crate::terminal::cut;
use crate::text::{count, duration, grouped};

/// Writes a record: what was run and where, a table of the sets, at most `most` failures of each, what was not asked
/// and not run.
///
/// # Errors
///
/// If the output does not take it.
pub fn write(record: &Record, most: usize, out: &mut dyn Write) -> io::Result<()> {
    let header = &record.header;
    let wrong = verdicts(record, "fail") + verdicts(record, "error");
    let verdict = match &record.footer {
        None => format!("**The run did not come to its end:** {} recorded.", count(record.results.len(), "answer")),
        Some(footer) if !footer.complete => {
            format!("**{} wrong, and some sets failed too often to be asked everything.**", grouped(wrong))
        }
        Some(_) if wrong > 0 => format!("**{} wrong.**", grouped(wrong)),
        Some(_) if verdicts(record, "pass") == 0 => "**Nothing was compared.**".to_owned(),
        Some(_) => "Nothing is wrong.".to_owned(),
    };
    writeln!(
        out,
        "## Kernels\n\n{verdict} {} to {}, drawn from seed {}; assay {}; {} on {}, {}.\n",
        count(header.questions, "question"),
        count(header.sets.len(), "set"),
        header.seed,
        plain(&header.assay),
        plain(&header.machine.system),
        plain(header.machine.processor.as_deref().unwrap_or(&header.machine.architecture)),
        count(header.machine.threads, "thread"),
    )?;
    table(record, out)?;
    failures(record, most, out)?;
    disputes(record, out)?;
    if let Some(footer) = &record.footer {
        let time = duration(Duration::try_from_secs_f64(footer.seconds).unwrap_or_default());
        writeln!(out, "\n{} compared, {time}.", count(footer.checked, "element"))?;
    }
    for (reason, left) in not_asked(&record.results) {
        let (times, names) = (count(left.times, "question"), code(&left.names()));
        writeln!(out, "\nNot asked: {times} ({}): {names}.", plain(reason))?;
    }
    for (what, why) in left_out(record) {
        writeln!(out, "\nNot run: {} ({}).", plain(&what), plain(why))?;
    }
    if !header.features.is_empty() {
        writeln!(out, "\nFeatures of the processor: {}.", plain(&header.features.join(" ")))?;
    }
    Ok(())
}

/// The sides that sets take where authorities differ about scales.
fn disputes(record: &Record, out: &mut dyn Write) -> io::Result<()> {
    let positions = positions(&record.results);
    if positions.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n### Disputed scales\n\n| type | blocks | sets | decode like |\n| --- | --- | --- | --- |")?;
    for position in positions {
        let (sets, who) = (position.sets.join(", "), position.text());
        writeln!(out, "| {} | {} | {} | {} |", plain(position.ty), plain(position.blocks), plain(&sets), plain(&who))?;
    }
    Ok(())
}

fn table(record: &Record, out: &mut dyn Write) -> io::Result<()> {
    writeln!(
        out,
        "| set | types | right | wrong | not supported | lossless | ordinary |\n\
         | --- | ---: | ---: | ---: | ---: | ---: | ---: |"
    )?;
    for whole in wholes(record, &Cells::of(&record.results)) {
        let share = |share: Option<f64>| share.map_or_else(String::new, percent);
        writeln!(
            out,
            "| {} | {} | {} | {} | {} | {} | {} |",
            plain(whole.name),
            whole.types,
            grouped(whole.all.passed),
            grouped(whole.all.wrong),
            grouped(whole.all.not_supported),
            share(whole.all.lossless),
            share(whole.all.ordinary),
        )?;
    }
    writeln!(
        out,
        "\nThe last two columns have the largest share of a bound that was used, where activations are lossless and on \
         ordinary data."
    )
}

fn failures(record: &Record, most: usize, out: &mut dyn Write) -> io::Result<()> {
    let of = |set: &String| -> Vec<&ResultLine> {
        record.results.iter().filter(|result| result.set == *set && result.is_wrong()).collect()
    };
    let sets: Vec<_> = record.header.sets.iter().map(of).filter(|wrong| !wrong.is_empty()).collect();
    if sets.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n### Wrong answers\n\n| set | verdict | question | what |\n| --- | --- | --- | --- |")?;
    for result in sets.iter().flat_map(|wrong| in_turns(wrong).into_iter().take(most)) {
        writeln!(
            out,
            "| {} | {} | {} | {} |",
            plain(&result.set),
            plain(&result.verdict),
            code(&result.question),
            plain(&cut(&sentences(result).join("; ")))
        )?;
    }
    match sets.iter().map(|wrong| wrong.len().saturating_sub(most)).sum::<usize>() {
        0 => Ok(()),
        left => writeln!(out, "\n{} more are in the record.", grouped(left)),
    }
}
