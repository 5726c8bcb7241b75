//! A campaign, shown to people.

use std::io::{self, Write};
use std::path::Path;
use std::time::Duration;

use assay_corpus::store::Entry;
use assay_harness::adapter::verdict::{VERDICTS, Verdict};
use assay_harness::campaign::{Campaign, Group};
use gguf_spec::rules::catalogue;

use crate::table::{Align, Table};
use crate::text::{count, duration, folded, safe, safe_path};
use crate::ui::{BOLD, DIM, ERROR, GOOD, ID, WARNING};

/// Columns of a line that is folded.
const WIDTH: usize = 100;

/// Groups that are shown of each verdict.
const MOST_GROUPS: usize = 12;

/// Rows of the table of readers that differ.
const MOST_PAIRS: usize = 8;

/// Who is asked, and from which seed.
pub(super) fn head(campaign: &Campaign, vectors: &[Entry], out: &mut dyn Write) -> io::Result<()> {
    for reader in campaign.readers() {
        let started = reader.started();
        writeln!(
            out,
            "{BOLD}{} {}{BOLD:#}, judged up to {}",
            safe(reader.name()),
            safe(&started.version),
            started.claims.last_stage
        )?;
    }
    let seeds = if vectors.is_empty() { "no corpus".to_owned() } else { count(vectors.len(), "vector") };
    let made = match campaign.made() {
        0 => String::new(),
        made => format!(", goes on after {}", count(made, "file")),
    };
    writeln!(out, "seed {}, {seeds} as seeds{made}\n", campaign.seed())
}

/// What came of it.
pub(super) fn summary(campaign: &Campaign, directory: &Path, out: &mut dyn Write) -> io::Result<()> {
    table(campaign, out)?;
    pairs(campaign, out)?;
    groups(campaign, directory, out)?;
    let waiting = campaign.progress().waiting;
    writeln!(out)?;
    for reader in campaign.readers() {
        for problem in reader.problems() {
            writeln!(out, "{WARNING}{}{WARNING:#}: {}", safe(reader.name()), safe(&problem))?;
        }
        let unstable = campaign.unstable_of(reader.name());
        if unstable > 0 {
            let what = "failed and did not fail the same way in a fresh process";
            writeln!(
                out,
                "{WARNING}unstable{WARNING:#}: {} of {} {what}",
                count(unstable, "file"),
                safe(reader.name())
            )?;
        }
        let left_out = campaign.left_out_of(reader.name());
        if left_out > 0 {
            let what = "failed in ways that are too many to be told apart";
            writeln!(
                out,
                "{WARNING}left out{WARNING:#}: {} of {} {what}",
                count(left_out, "file"),
                safe(reader.name())
            )?;
        }
    }
    for remark in campaign.remarks() {
        writeln!(out, "{WARNING}remark{WARNING:#}: {}", safe(remark))?;
    }
    if waiting > 0 {
        let what = "wait to be confirmed: --resume goes on with them";
        writeln!(out, "{WARNING}not confirmed{WARNING:#}: {} {what}", count(waiting, "failure"))?;
    }
    let found = campaign.groups().len();
    let mut aside = 0;
    for reader in campaign.readers() {
        if let Some(why) = reader.aside() {
            aside += 1;
            writeln!(out, "{WARNING}put aside{WARNING:#}: {}: {}", safe(reader.name()), safe(why))?;
        }
    }
    let style = if found + waiting + aside == 0 { GOOD } else { ERROR };
    let seconds = campaign.seconds();
    let time = Duration::try_from_secs_f64(seconds).unwrap_or_default();
    let each = Duration::try_from_secs_f64(seconds / as_float(campaign.made().max(1))).unwrap_or_default();
    writeln!(
        out,
        "{BOLD}{}{BOLD:#}: {style}{}{style:#}; {} of {} rules broken, {}, {} in the pool; {}, {} a file",
        count(campaign.made(), "file"),
        match (found, aside) {
            (0, 0) => "no failure".to_owned(),
            (0, aside) => format!("nothing confirmed, {} put aside", count(aside, "reader")),
            _ => format!("{} of failures", count(found, "group")),
        },
        campaign.coverage().rules.len(),
        catalogue().len(),
        count(campaign.coverage().len(), "combination"),
        count(campaign.pool(), "file"),
        duration(time),
        duration(each),
    )
}

/// One row for each reader.
fn table(campaign: &Campaign, out: &mut dyn Write) -> io::Result<()> {
    let tallies = campaign.tallies();
    let seen: Vec<_> =
        VERDICTS.iter().filter(|row| tallies.iter().any(|tally| tally.verdicts.contains_key(row.name))).collect();
    let mut columns = vec![("reader", Align::Left), ("files", Align::Right), ("accepted", Align::Right)];
    columns.extend(seen.iter().map(|row| (row.name, Align::Right)));
    columns.push(("groups", Align::Right));
    let mut table = Table::new(&columns);
    let groups = campaign.groups();
    for (reader, tally) in campaign.readers().iter().zip(tallies) {
        let cell = |number: u64| if number == 0 { String::new() } else { number.to_string() };
        let mut row = vec![safe(reader.name()), tally.files.to_string(), cell(tally.accepted)];
        row.extend(seen.iter().map(|row| cell(tally.verdicts.get(row.name).copied().unwrap_or_default())));
        row.push(cell(groups.iter().filter(|(group, _)| group.signature.adapter == reader.name()).count() as u64));
        table.row(row);
    }
    table.write(out, false)
}

/// Where readers differ on files about which the profiles disagree, which is no failure.
fn pairs(campaign: &Campaign, out: &mut dyn Write) -> io::Result<()> {
    let pairs = campaign.pairs();
    if pairs.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n{BOLD}where the profiles disagree, one accepts what the other refuses{BOLD:#}")?;
    let mut table = Table::new(&[
        ("files", Align::Right),
        ("accepts", Align::Left),
        ("verdict", Align::Left),
        ("refuses", Align::Left),
        ("verdict", Align::Left),
    ]);
    for (pair, files) in pairs.iter().take(MOST_PAIRS) {
        table.row([
            files.to_string(),
            safe(&pair.accepts),
            safe(&pair.accepting),
            safe(&pair.refuses),
            safe(&pair.refusing),
        ]);
    }
    table.write(out, false)?;
    if let Some(left @ 1..) = pairs.len().checked_sub(MOST_PAIRS) {
        writeln!(out, "{DIM}and {left} more: --json has all{DIM:#}")?;
    }
    Ok(())
}

/// The groups, crashes first.
fn groups(campaign: &Campaign, directory: &Path, out: &mut dyn Write) -> io::Result<()> {
    let all = campaign.groups();
    let mut rest = all.as_slice();
    while let Some((first, _)) = rest.first() {
        let same = rest.iter().take_while(|(group, _)| group.signature.verdict == first.signature.verdict).count();
        for (group, files) in rest.iter().take(same.min(MOST_GROUPS)) {
            one(group, *files, directory, out)?;
        }
        if let Some(left @ 1..) = same.checked_sub(MOST_GROUPS) {
            let verdict = safe(&first.signature.verdict);
            writeln!(out, "\n{DIM}and {left} more of {verdict}: they are in {}{DIM:#}", safe_path(directory))?;
        }
        rest = &rest[same..];
    }
    Ok(())
}

fn one(group: &Group, files: u64, directory: &Path, out: &mut dyn Write) -> io::Result<()> {
    let signature = &group.signature;
    let start = format!("{} {}: ", safe(&signature.verdict), safe(&signature.adapter));
    let mut what = signature.rules.join(", ");
    // What it said of the reproducer is more to people than its shape; what it says where it accepts is nothing.
    let said = match signature.verdict() {
        Some(Verdict::FalseAccept) if signature.detail.is_empty() => &signature.detail,
        None => &signature.detail,
        Some(_) if group.message.is_empty() => &signature.detail,
        Some(_) => &group.message,
    };
    if !said.is_empty() {
        what = if what.is_empty() { said.clone() } else { format!("{what}: {said}") };
    }
    writeln!(
        out,
        "\n{ERROR}{}{ERROR:#} {ID}{}{ID:#}{}{}",
        safe(&signature.verdict),
        safe(&signature.adapter),
        if what.is_empty() { "" } else { ": " },
        folded(&safe(&what), start.len().min(WIDTH / 2), WIDTH)
    )?;
    let place = match &group.directory {
        Some(name) => safe_path(&directory.join(name)),
        None => "no room for a reproducer: give more with --max-disk".to_owned(),
    };
    writeln!(
        out,
        "  {DIM}{}, {} made from {}{}; {place}{DIM:#}",
        count(files, "file"),
        count(group.size, "byte"),
        group.size_before,
        if group.unfinished { ", not made small yet" } else { "" }
    )
}

/// A number of files as a divisor; nobody makes 2^32 in one campaign.
fn as_float(number: u64) -> f64 {
    f64::from(u32::try_from(number).unwrap_or(u32::MAX))
}
