//! The tree view: header, metadata, tensors, and what is wrong beside each.

use std::collections::BTreeMap;
use std::io::{self, Write};

use gguf_spec::field::{Field, Finding};
use gguf_spec::profile::KeyLookup;
use gguf_spec::syntax::Tree;
use gguf_spec::valid::layout::DataLayout;

use super::{Dump, all_spans, finding_line};
use crate::facts::type_name;
use crate::fields::{Limits, content, shape, type_of, value};
use crate::text::{count, grouped, quoted};
use crate::ui::{BOLD, DIM, ID};

/// The findings, by what they belong to: each is looked up once.
#[derive(Default)]
struct Notes<'a> {
    header: Vec<&'a Finding>,
    /// By the index of the pair; those of pairs that could not be read are behind all others.
    pairs: BTreeMap<usize, Vec<&'a Finding>>,
    metadata_end: Vec<&'a Finding>,
    /// By the index of the tensor, likewise.
    tensors: BTreeMap<usize, Vec<&'a Finding>>,
    rest: Vec<&'a Finding>,
}

impl<'a> Notes<'a> {
    fn of(findings: &'a [Finding]) -> Self {
        let mut notes = Self::default();
        for finding in findings {
            match &finding.field {
                Field::Magic | Field::Version | Field::TensorCount | Field::KvCount => notes.header.push(finding),
                Field::Kv(i, _) => notes.pairs.entry(*i).or_default().push(finding),
                Field::MetadataEnd => notes.metadata_end.push(finding),
                Field::Tensor(i, _) | Field::Data(i) | Field::DataPadding(i) => {
                    notes.tensors.entry(*i).or_default().push(finding);
                }
                Field::Padding | Field::Gap | Field::Trailing | Field::Unread => notes.rest.push(finding),
            }
        }
        notes
    }
}

pub(super) fn write(out: &mut dyn Write, dump: &Dump<'_>) -> io::Result<()> {
    let Some(tree) = &dump.decoded.tree else {
        for finding in dump.findings {
            writeln!(out, "  {}", finding_line(finding, false))?;
        }
        return Ok(());
    };
    let notes = Notes::of(dump.findings);
    write_header(out, tree, &notes)?;
    write_metadata(out, dump, tree, &notes)?;
    write_tensors(out, dump, tree, &notes)?;
    write_rest(out, dump, &notes)
}

fn write_header(out: &mut dyn Write, tree: &Tree<'_>, notes: &Notes<'_>) -> io::Result<()> {
    writeln!(out, "  {BOLD}header{BOLD:#}")?;
    for field in [Field::Magic, Field::Version, Field::TensorCount, Field::KvCount] {
        writeln!(out, "    {ID}{:<17}{ID:#}  {}", field.to_string(), content(tree, &field, 0))?;
        write_findings(out, notes.header.iter().copied().filter(|finding| finding.field == field))?;
    }
    Ok(())
}

fn write_metadata(out: &mut dyn Write, dump: &Dump<'_>, tree: &Tree<'_>, notes: &Notes<'_>) -> io::Result<()> {
    let limits = if dump.full { Limits::NONE } else { Limits::LINE };
    let rows: Vec<[String; 3]> = tree
        .metadata
        .iter()
        .enumerate()
        .map(|(i, pair)| [format!("[{i}]"), name(&pair.key.bytes), type_of(pair.type_id, &pair.value)])
        .collect();
    if !rows.is_empty() || tree.kv_count > 0 {
        writeln!(out, "\n  {BOLD}metadata{BOLD:#}{}", missing(rows.len(), tree.kv_count))?;
    }
    let widths = widths(&rows);
    for (i, (pair, [index, key, ty])) in tree.metadata.iter().zip(&rows).enumerate() {
        write!(out, "    {DIM}{index:<0$}{DIM:#}  {ID}{key:<1$}{ID:#}  {ty:<2$}  ", widths[0], widths[1], widths[2])?;
        writeln!(out, "{}", value(pair.type_id, &pair.value, tree.byte_order, limits))?;
        write_findings(out, notes.pairs.get(&i).into_iter().flatten().copied())?;
    }
    // A pair that could not be read to its end is not in the tree.
    write_findings(out, notes.pairs.range(rows.len()..).flat_map(|(_, list)| list).copied())?;
    write_findings(out, notes.metadata_end.iter().copied())
}

fn write_tensors(out: &mut dyn Write, dump: &Dump<'_>, tree: &Tree<'_>, notes: &Notes<'_>) -> io::Result<()> {
    let layout = DataLayout::of(tree, &dump.decoded.places, KeyLookup::Exact);
    let rows: Vec<[String; 4]> = tree
        .tensors
        .iter()
        .enumerate()
        .map(|(i, tensor)| [format!("[{i}]"), name(&tensor.name.bytes), type_name(tensor.type_id), shape(&tensor.dims)])
        .collect();
    if !rows.is_empty() || tree.tensor_count > 0 {
        let start = grouped(layout.start);
        let missing = missing(rows.len(), tree.tensor_count);
        writeln!(out, "\n  {BOLD}tensors{BOLD:#}{missing}, aligned to {} from byte {start} on", layout.alignment)?;
    }
    let widths = widths(&rows);
    for (i, (placed, [index, name, ty, shape])) in layout.tensors.iter().zip(&rows).enumerate() {
        write!(
            out,
            "    {DIM}{index:<0$}{DIM:#}  {ID}{name:<1$}{ID:#}  {ty:<2$}  {shape:<3$}  ",
            widths[0], widths[1], widths[2], widths[3]
        )?;
        match placed.size {
            Some(size) => writeln!(out, "{} at {}", count(size, "byte"), grouped(placed.start))?,
            None => writeln!(out, "at {}", grouped(placed.start))?,
        }
        write_findings(out, notes.tensors.get(&i).into_iter().flatten().copied())?;
    }
    write_findings(out, notes.tensors.range(rows.len()..).flat_map(|(_, list)| list).copied())
}

/// What is neither header nor tensor.
fn write_rest(out: &mut dyn Write, dump: &Dump<'_>, notes: &Notes<'_>) -> io::Result<()> {
    write_findings(out, notes.rest.iter().copied())?;
    for span in all_spans(dump.decoded, dump.input.len()) {
        let what = match span.field {
            Field::Gap => "between tensors, and part of none",
            Field::Trailing => "after everything the tensor table speaks of",
            Field::Unread => "not decoded, because of what is wrong above",
            _ => continue,
        };
        let size = count(span.range.end - span.range.start, "byte");
        writeln!(out, "\n  {ID}{}{ID:#}  {size} from {}: {what}", span.field, grouped(span.range.start))?;
    }
    Ok(())
}

fn write_findings<'a>(out: &mut dyn Write, findings: impl Iterator<Item = &'a Finding>) -> io::Result<()> {
    for finding in findings {
        writeln!(out, "        {}", finding_line(finding, false))?;
    }
    Ok(())
}

/// A key or name: as it is if it is plain, else quoted.
fn name(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(plain) if !plain.is_empty() && plain.bytes().all(|b| b.is_ascii_graphic()) && plain.len() <= 80 => {
            plain.to_owned()
        }
        _ => quoted(bytes, 64),
    }
}

fn missing(read: usize, declared: u64) -> String {
    if read as u64 == declared {
        String::new()
    } else {
        format!(" ({} of {} could be read)", grouped(read), grouped(declared))
    }
}

/// The width of each column, within reason.
fn widths<const N: usize>(rows: &[[String; N]]) -> [usize; N] {
    const WIDEST: usize = 44;
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).filter(|&n| n <= WIDEST).max();
    std::array::from_fn(|column| width(column).unwrap_or(0))
}
