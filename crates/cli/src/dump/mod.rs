//! `assay dump`: what a file says, as a tree, as annotated bytes, or as its canonical document.

mod hex;
mod tree;

use std::io::{self, Write};
use std::path::PathBuf;

use gguf_spec::binary::{Decoded, Options, Span, spans, spans_of_data};
use gguf_spec::field::{Field, Finding};
use gguf_spec::input::Input;
use gguf_spec::profile::KeyLookup;
use gguf_spec::rules::Severity;
use gguf_spec::valid::layout::DataLayout;

use crate::exit::{Exit, Failure};
use crate::input::{FileInput, Judged, Window, judge};
use crate::numbers;
use crate::text::{folded, safe_path, span};
use crate::ui::{BOLD, ERROR, Ui, WARNING, error_json, write_json};
use crate::what::What;

const EXAMPLES: &str = "\
Examples:
  assay dump model.gguf                 header, metadata and tensors
  assay dump --hex small.gguf           every byte with the field it belongs to
  assay dump --hex --full small.gguf    tensor data and long arrays in full, too
  assay dump --json model.gguf          the document that readers are compared by

A broken file is shown as far as it goes, with what is wrong marked where it is. Exit codes: 0 no
errors, 1 errors, 2 usage, 3 could not read.";

/// Show what a file says, down to every byte.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The file.
    #[arg(value_name = "FILE")]
    pub file: PathBuf,

    /// Every byte with the field it belongs to.
    #[arg(long, conflicts_with = "json")]
    pub hex: bool,

    /// The canonical document as JSON; corpus/README.md describes it.
    #[arg(long)]
    pub json: bool,

    /// Leave nothing out: long values, long arrays, tensor data.
    #[arg(long)]
    pub full: bool,

    /// Where in the file the GGUF file starts, in bytes; 0x1000 is hexadecimal.
    #[arg(long, value_name = "OFFSET", default_value = "0", value_parser = numbers::bytes, allow_hyphen_values = true)]
    pub at: u64,

    /// The largest header that is read, in bytes; decoding it can take some twelve times as much memory.
    #[arg(long, value_name = "BYTES", default_value_t = crate::input::DEFAULT_MAX_HEADER)]
    #[arg(value_parser = numbers::bytes, allow_hyphen_values = true)]
    pub max_header: u64,
}

/// Runs the command.
///
/// # Errors
///
/// If the file cannot be read or the output cannot be written.
pub fn run(args: &Args, ui: &mut Ui) -> Result<Exit, Failure> {
    let named = |sentence: String| Failure::Unreadable(format!("{}: {sentence}", safe_path(&args.file)));
    let input = FileInput::open(&args.file).map_err(named)?;
    let window = Window { base: args.at, max_header: args.max_header, ..Window::default() };
    let Judged { judgement, head, .. } = judge(&input, window, args.json).map_err(named)?;
    let broken = judgement.findings.iter().find(|finding| finding.severity() == Severity::Error);
    let exit = if broken.is_some() { Exit::Findings } else { Exit::Fine };

    if args.json {
        match &judgement.document {
            Some(document) => write_json(ui.out(), &document.to_json())?,
            None => {
                let because = broken.map_or_else(String::new, |finding| format!(": {finding}"));
                let sentence = format!("{}: there is no document{because}", safe_path(&args.file));
                write_json(ui.out(), &error_json(&sentence))?;
                ui.complain(&sentence);
            }
        }
        return Ok(exit);
    }

    let decoded = head.decode(&Options::default());
    let out = ui.out();
    writeln!(out, "{BOLD}{}{BOLD:#}", safe_path(&args.file))?;
    let what = What::of(&head, &decoded);
    let line = folded(&what.line(args.at, input.len()), 2, 100);
    match what {
        What::Gguf(_) => writeln!(out, "  {line}")?,
        What::Cut | What::Foreign(_) | What::Unknown => writeln!(out, "  {ERROR}{line}{ERROR:#}")?,
    }
    writeln!(out)?;
    let dump = Dump { decoded: &decoded, input: &input, findings: &judgement.findings, full: args.full };
    if args.hex {
        hex::write(out, &dump, false)?;
    } else {
        tree::write(out, &dump)?;
    }
    if let Some(fault) = input.fault() {
        return Err(named(fault));
    }
    Ok(exit)
}

/// What is dumped.
#[derive(Clone, Copy)]
pub struct Dump<'a> {
    /// The decoded file.
    pub decoded: &'a Decoded<'a>,
    /// Its bytes.
    pub input: &'a dyn Input,
    /// What is wrong with it.
    pub findings: &'a [Finding],
    /// Whether to leave nothing out.
    pub full: bool,
}

/// Writes the tree view.
///
/// # Errors
///
/// If the output does not take it.
pub fn write_tree(out: &mut dyn Write, dump: &Dump<'_>) -> io::Result<()> {
    tree::write(out, dump)
}

/// Writes the annotated bytes.
///
/// # Errors
///
/// If the output does not take it.
pub fn write_hex(out: &mut dyn Write, dump: &Dump<'_>) -> io::Result<()> {
    hex::write(out, dump, false)
}

/// Writes the annotated bytes of the fields where something is wrong, and of their neighbours.
///
/// # Errors
///
/// If the output does not take it.
pub fn write_hex_of_faults(out: &mut dyn Write, dump: &Dump<'_>) -> io::Result<()> {
    hex::write(out, dump, true)
}

/// Every byte from the base to the end, field by field, end to end.
#[must_use]
pub fn all_spans(decoded: &Decoded<'_>, len: u64) -> Vec<Span> {
    let mut list = decoded.tree.as_ref().map_or_else(Vec::new, |tree| spans(tree, decoded.places.base));
    let end = |list: &[Span]| list.last().map_or(decoded.places.base, |span| span.range.end);
    let fill = |list: &mut Vec<Span>, field: Field, to: u64| {
        let from = end(list);
        if from < to {
            match list.last_mut() {
                Some(last) if last.field == field => last.range.end = to,
                _ => list.push(Span { field, range: from..to }),
            }
        }
    };
    match decoded.tree.as_ref().filter(|_| decoded.complete) {
        Some(tree) => {
            let layout = DataLayout::of(tree, &decoded.places, KeyLookup::Exact);
            // The tree holds padding as far as the head goes; the file may have more.
            fill(&mut list, Field::Padding, layout.start.min(len));
            list.extend(spans_of_data(&layout, len));
        }
        None => fill(&mut list, Field::Unread, len),
    }
    list
}

/// The line about a finding, with its bytes unless they are marked.
fn finding_line(finding: &Finding, marked: bool) -> String {
    let style = if finding.severity() == Severity::Error { ERROR } else { WARNING };
    let place = if marked { String::new() } else { format!(", {}", span(&finding.span)) };
    format!(
        "{style}{} {}{style:#}: {}{place}: expected {}, found {}",
        finding.severity().name(),
        finding.rule.id,
        finding.field,
        finding.expected,
        finding.actual,
    )
}
