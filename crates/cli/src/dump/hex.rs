//! The annotated bytes: sixteen to a line, a new line for every field, findings below their bytes.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::ops::Range;

use gguf_spec::binary::{Decoded, Span, spans_of_unfinished};
use gguf_spec::field::{Field, Finding, KvPart};
use gguf_spec::input::Input;
use gguf_spec::rules::Severity;
use gguf_spec::syntax::{Array, Elements, Tree, Value};

use super::{Dump, all_spans, finding_line};
use crate::fields::{content, content_of_unfinished};
use crate::text::{count, grouped};
use crate::ui::{DIM, ERROR, ID, WARNING};

/// Bytes in a line.
const ROW: u64 = 16;
/// A field of more lines than this is cut, unless everything is wanted.
const LONGEST: u64 = 8;
/// So many lines of a field that is cut are shown at its start; one at its end.
const FIRST: u64 = 4;
/// Of an array of strings or arrays that is cut, so many elements are shown at its start,
const FIRST_ELEMENTS: usize = 8;
/// and so many at its end.
const LAST_ELEMENTS: usize = 2;

/// Every field, or those alone where something is wrong, and their neighbours.
pub(super) fn write(out: &mut dyn Write, dump: &Dump<'_>, faults_alone: bool) -> io::Result<()> {
    let len = dump.input.len();
    let mut spans = all_spans(dump.decoded, len);
    let unfinished = name_unfinished(&mut spans, dump.decoded, len);
    let mut findings: Vec<&Finding> = dump.findings.iter().collect();
    findings.sort_by_key(|finding| finding.span.start);
    let digits = format!("{len:x}").len().max(8);
    let mut page = Page {
        out,
        input: dump.input,
        findings,
        next: 0,
        digits,
        full: dump.full,
        chunk: (0, Vec::new()),
        group: None,
    };

    let wrong: Vec<bool> = spans.iter().map(|span| page.concerns(&span.range)).collect();
    // What is missing is missing between two fields, or behind the last one.
    let missing: BTreeSet<u64> = dump.findings.iter().filter(|f| f.span.is_empty()).map(|f| f.span.start).collect();
    let near = |i: usize| {
        wrong[i.saturating_sub(1)..wrong.len().min(i + 2)].contains(&true) || missing.contains(&spans[i].range.end)
    };
    let mut hidden: Option<(Range<u64>, &str)> = None;
    for (i, span) in spans.iter().enumerate() {
        let element = dump.decoded.tree.as_ref().is_some_and(|tree| is_middle_element(tree, &span.field));
        let why = if faults_alone && !near(i) {
            Some("")
        } else if element && !dump.full && !wrong[i] {
            Some(" of elements")
        } else {
            None
        };
        if let Some(why) = why {
            let start = hidden.map_or(span.range.start, |(range, _)| range.start);
            hidden = Some((start..span.range.end, why));
            continue;
        }
        if let Some((range, why)) = hidden.take() {
            page.elided(&range, why)?;
        }
        let label = dump.decoded.tree.as_ref().map_or_else(String::new, |tree| {
            let size = span.range.end - span.range.start;
            let text = if unfinished.contains(&i) {
                let start = dump.input.bytes(span.range.start..span.range.start + size.min(256)).unwrap_or_default();
                content_of_unfinished(&span.field, &start, size, tree.byte_order)
            } else {
                content(tree, &span.field, size)
            };
            if text.is_empty() { text } else { format!(" = {text}") }
        });
        page.span(span, &label)?;
    }
    if let Some((range, why)) = hidden {
        page.elided(&range, why)?;
    }
    page.rest()
}

/// Names what is there of the pair or tensor info in which decoding stopped; where these fields are in the list.
fn name_unfinished(spans: &mut Vec<Span>, decoded: &Decoded<'_>, len: u64) -> Range<usize> {
    let named = spans_of_unfinished(decoded, len);
    let Some(end) = named.last().map(|span| span.range.end) else { return 0..0 };
    // They are the start of what is not read.
    let Some(unread) = spans.pop() else { return 0..0 };
    let first = spans.len();
    spans.extend(named);
    let names = first..spans.len();
    if end < unread.range.end {
        spans.push(Span { range: end..unread.range.end, ..unread });
    }
    names
}

/// Bytes that are read at once.
const CHUNK: u64 = 1 << 16;

struct Page<'a> {
    out: &'a mut dyn Write,
    input: &'a dyn Input,
    /// By the place where they start.
    findings: Vec<&'a Finding>,
    /// The first finding that is not written yet.
    next: usize,
    digits: usize,
    full: bool,
    /// Bytes that were read last, and where they start.
    chunk: (u64, Vec<u8>),
    /// What the last field was part of.
    group: Option<Group>,
}

/// What stands together on the page: the header, a pair, a tensor info, or anything else by itself.
#[derive(Clone, PartialEq)]
enum Group {
    Header,
    Pair(usize),
    Tensor(usize),
    Other(Field),
}

impl Group {
    fn of(field: &Field) -> Self {
        match field {
            Field::Magic | Field::Version | Field::TensorCount | Field::KvCount => Self::Header,
            Field::Kv(i, _) => Self::Pair(*i),
            Field::Tensor(i, _) => Self::Tensor(*i),
            other => Self::Other(other.clone()),
        }
    }
}

impl Page<'_> {
    fn span(&mut self, span: &Span, label: &str) -> io::Result<()> {
        let Range { start, end } = span.range;
        let rows = (end - start).div_ceil(ROW);
        let group = Some(Group::of(&span.field));
        if self.group != group {
            if self.group.is_some() {
                writeln!(self.out)?;
            }
            self.group = group;
        }
        let mut at = 0;
        for shown in self.shown_rows(start, rows) {
            if shown > at {
                self.elided(&(start + at * ROW..start + shown * ROW), "")?;
            }
            let row = start + shown * ROW..end.min(start + (shown + 1) * ROW);
            let label = if shown == 0 { format!("{ID}{}{ID:#}{label}", span.field) } else { String::new() };
            self.row(&row, &label)?;
            at = shown + 1;
        }
        Ok(())
    }

    /// The rows of a field to show: all of a short one; of a long one the first, the last, and those
    /// where a finding starts.
    fn shown_rows(&self, start: u64, rows: u64) -> Box<dyn Iterator<Item = u64>> {
        if self.full || rows <= LONGEST {
            return Box::new(0..rows);
        }
        let end = start + rows * ROW;
        let mut shown: BTreeSet<u64> = (0..FIRST).chain([rows - 1]).collect();
        let concerned = self.findings[self.next..].iter().map(|finding| finding.span.start).take_while(|&at| at < end);
        shown.extend(concerned.filter(|&at| at >= start).map(|at| (at - start) / ROW));
        Box::new(shown.into_iter())
    }

    fn row(&mut self, row: &Range<u64>, label: &str) -> io::Result<()> {
        // What is missing is missing before the byte that stands in its place.
        self.findings_while(|finding| finding.span.is_empty() && finding.span.start <= row.start)?;
        let width = self.digits;
        let Some(bytes) = self.bytes(row) else {
            return writeln!(self.out, "{DIM}{:0width$x}{DIM:#}  cannot be read", row.start);
        };
        let mut line = String::with_capacity(96);
        for (i, &byte) in bytes.iter().enumerate() {
            line.push_str(gap(i));
            push_hex(&mut line, byte);
        }
        line.extend(std::iter::repeat_n(' ', 50 - line.len()));
        let end = line.len();
        line.extend(bytes.iter().map(|&b| if b.is_ascii_graphic() || b == b' ' { char::from(b) } else { '.' }));
        let (hex, ascii) = line.split_at(end);
        let padding = if label.is_empty() { 0 } else { 18 - ascii.len() };
        writeln!(self.out, "{DIM}{:0width$x}{DIM:#}  {hex}{DIM}{ascii}{DIM:#}{:padding$}{label}", row.start, "")?;

        let from = self.next;
        while self.findings.get(self.next).is_some_and(|finding| finding.span.start < row.end) {
            self.next += 1;
        }
        for i in from..self.next {
            let finding = self.findings[i];
            let marked = finding.span.start.max(row.start)..finding.span.end.min(row.end);
            let style = if finding.severity() == Severity::Error { ERROR } else { WARNING };
            let marks = carets(&(marked.start.saturating_sub(row.start)..marked.end.saturating_sub(row.start)));
            let more = if finding.span.end > row.end { "…" } else { "" };
            let indent = self.digits + 2;
            if !marks.trim().is_empty() {
                writeln!(self.out, "{:indent$}{style}{marks}{more}{style:#}", "")?;
            }
            writeln!(self.out, "{:indent$}{}", "", finding_line(finding, !finding.span.is_empty()))?;
        }
        Ok(())
    }

    /// The bytes of a row, from a larger piece that is read at once.
    fn bytes(&mut self, row: &Range<u64>) -> Option<Vec<u8>> {
        let inside = |(start, bytes): &(u64, Vec<u8>)| {
            let from = usize::try_from(row.start.checked_sub(*start)?).ok()?;
            bytes.get(from..from + usize::try_from(row.end - row.start).ok()?).map(<[u8]>::to_vec)
        };
        if let Some(found) = inside(&self.chunk) {
            return Some(found);
        }
        let end = self.input.len().min(row.start + CHUNK).max(row.end);
        self.chunk = (row.start, self.input.bytes(row.start..end)?.into_owned());
        inside(&self.chunk)
    }

    fn findings_while(&mut self, goes: impl Fn(&Finding) -> bool) -> io::Result<()> {
        while let Some(finding) = self.findings.get(self.next).filter(|finding| goes(finding)) {
            writeln!(
                self.out,
                "{:width$}{}",
                "",
                finding_line(finding, !finding.span.is_empty()),
                width = self.digits + 2
            )?;
            self.next += 1;
        }
        Ok(())
    }

    fn elided(&mut self, range: &Range<u64>, of: &str) -> io::Result<()> {
        let size = count(range.end - range.start, "byte");
        let to = grouped(range.end);
        writeln!(self.out, "{:width$}{DIM}… {size}{of} up to byte {to} not shown{DIM:#}", "", width = self.digits + 2)
    }

    /// Whether a finding starts in these bytes.
    fn concerns(&self, range: &Range<u64>) -> bool {
        let from = self.findings.partition_point(|finding| finding.span.start < range.start);
        self.findings.get(from).is_some_and(|finding| finding.span.start < range.end)
    }

    /// The findings behind the last byte.
    fn rest(&mut self) -> io::Result<()> {
        self.findings_while(|_| true)
    }
}

/// What stands before the byte with this index in a row.
fn gap(index: usize) -> &'static str {
    match index {
        0 => "",
        8 => "  ",
        _ => " ",
    }
}

fn push_hex(text: &mut String, byte: u8) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    text.extend([byte >> 4, byte & 15].map(|digit| char::from(DIGITS[usize::from(digit)])));
}

/// Marks below the bytes of a row.
fn carets(range: &Range<u64>) -> String {
    let mut marks = String::new();
    for i in 0..range.end {
        marks.push_str(if i == 8 {
            "  "
        } else if i > 0 {
            " "
        } else {
            ""
        });
        marks.push_str(if i >= range.start { "^^" } else { "  " });
    }
    marks
}

/// Whether a field belongs to an element in the middle of a long array.
fn is_middle_element(tree: &Tree<'_>, field: &Field) -> bool {
    let Field::Kv(i, KvPart::Value(path, _)) = field else { return false };
    let Some(Value::Array(outer)) = tree.metadata.get(*i).map(|pair| &pair.value) else { return false };
    let mut array: &Array = outer;
    for &j in path {
        let elements = match &array.elements {
            Elements::Strings(strings) => strings.len(),
            Elements::Arrays(arrays) => arrays.len(),
            Elements::Fixed(_) => return false,
        };
        if j >= FIRST_ELEMENTS && elements > FIRST_ELEMENTS + LAST_ELEMENTS + 1 && j < elements - LAST_ELEMENTS {
            return true;
        }
        match &array.elements {
            Elements::Arrays(arrays) if j < arrays.len() => array = &arrays[j],
            _ => return false,
        }
    }
    false
}
