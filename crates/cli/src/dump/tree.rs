//! The tree view: header, metadata, tensors, and what is wrong beside each.

use std::io::{self, Write};

use gguf_spec::field::{Field, KvPart, TensorPart};
use gguf_spec::profile::KeyLookup;
use gguf_spec::syntax::Tree;
use gguf_spec::valid::layout::DataLayout;

use super::{Dump, all_spans, finding_line};
use crate::facts::type_name;
use crate::fields::{Limits, content, shape, type_of, value};
use crate::text::{count, grouped, quoted};
use crate::ui::{BOLD, DIM, ID};

pub(super) fn write(out: &mut dyn Write, dump: &Dump<'_>) -> io::Result<()> {
    let Some(tree) = &dump.decoded.tree else {
        for finding in dump.findings {
            writeln!(out, "  {}", finding_line(finding, false))?;
        }
        return Ok(());
    };
    write_header(out, dump, tree)?;
    write_metadata(out, dump, tree)?;
    write_tensors(out, dump, tree)?;
    write_rest(out, dump)
}

fn write_header(out: &mut dyn Write, dump: &Dump<'_>, tree: &Tree<'_>) -> io::Result<()> {
    writeln!(out, "  {BOLD}header{BOLD:#}")?;
    for field in [Field::Magic, Field::Version, Field::TensorCount, Field::KvCount] {
        writeln!(out, "    {ID}{:<17}{ID:#}  {}", field.to_string(), content(tree, &field, 0))?;
        write_findings(out, dump, |of| *of == field)?;
    }
    Ok(())
}

fn write_metadata(out: &mut dyn Write, dump: &Dump<'_>, tree: &Tree<'_>) -> io::Result<()> {
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
        write_findings(out, dump, |of| matches!(of, Field::Kv(j, _) if *j == i))?;
    }
    // A pair that could not be read to its end is not in the tree.
    let first_unread = rows.len();
    write_findings(
        out,
        dump,
        |of| matches!(of, Field::Kv(j, KvPart::KeyLen | KvPart::Key | KvPart::Type | KvPart::Value(..)) if *j >= first_unread),
    )?;
    write_findings(out, dump, |of| *of == Field::MetadataEnd)
}

fn write_tensors(out: &mut dyn Write, dump: &Dump<'_>, tree: &Tree<'_>) -> io::Result<()> {
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
        write_findings(out, dump, |of| match of {
            Field::Tensor(j, _) | Field::Data(j) | Field::DataPadding(j) => *j == i,
            _ => false,
        })?;
    }
    let first_unread = rows.len();
    write_findings(out, dump, |of| {
        matches!(of, Field::Tensor(j, TensorPart::NameLen | TensorPart::Name | TensorPart::NDims
            | TensorPart::Dim(_) | TensorPart::Type | TensorPart::Offset) if *j >= first_unread)
    })
}

/// What is neither header nor tensor.
fn write_rest(out: &mut dyn Write, dump: &Dump<'_>) -> io::Result<()> {
    write_findings(out, dump, |of| matches!(of, Field::Padding | Field::Gap | Field::Trailing | Field::Unread))?;
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

fn write_findings(out: &mut dyn Write, dump: &Dump<'_>, of: impl Fn(&Field) -> bool) -> io::Result<()> {
    for finding in dump.findings.iter().filter(|finding| of(&finding.field)) {
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
