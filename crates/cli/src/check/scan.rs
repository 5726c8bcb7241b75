//! The scan of the tensor data, and what is told of it.

use std::num::NonZeroUsize;
use std::thread;
use std::time::{Duration, Instant};

use assay_scan::{scan, work};
use gguf_spec::field::Finding;
use gguf_spec::input::Input as _;
use gguf_spec::limits::MAX_FINDINGS_PER_RULE;

use super::decide::{Failed, Table};
use crate::facts::type_name;
use crate::input::FileInput;
use crate::ui::Progress;

/// What a scan of the data did and saw.
#[derive(Clone, Debug)]
pub struct Scanned {
    /// Bytes that were read.
    pub bytes: u64,
    /// Tensors that were looked at.
    pub tensors: u64,
    /// Threads that it was allowed.
    pub threads: usize,
    /// How long it took.
    pub time: Duration,
    /// The tensors with numbers that are not finite, the first ones of the table.
    pub noticed: Vec<Noticed>,
    /// How many more of them there are.
    pub left_out: usize,
}

/// A tensor with numbers that are not finite.
#[derive(Clone, Debug)]
pub struct Noticed {
    /// The name.
    pub name: Vec<u8>,
    /// The type.
    pub ty: String,
    /// Numbers that are NaN.
    pub nan: u64,
    /// Numbers that are infinite.
    pub infinite: u64,
    /// Numbers that were looked at: values, or scales of blocks.
    pub looked_at: u64,
    /// Where the first of them lies, from the start of the file.
    pub start: u64,
    /// Its block, from the start of the tensor; for plain values, the element.
    pub block: u64,
}

/// How many threads scan unless a number is asked for: as many as the machine runs at once.
#[must_use]
pub fn default_threads() -> NonZeroUsize {
    thread::available_parallelism().unwrap_or(NonZeroUsize::MIN)
}

/// Scans the data of a file.
///
/// # Errors
///
/// If the file cannot be read. One that gets shorter is among the findings.
pub fn scan_file(
    input: &FileInput,
    table: &Table,
    threads: NonZeroUsize,
    progress: bool,
) -> Result<(Scanned, Vec<Finding>), Failed> {
    let subject = table.subject(input.len());
    let start = Instant::now();
    let bar = Progress::bytes("scanning", work(subject), progress);
    let seen = scan(input.file(), subject, threads, |bytes| bar.add(bytes)).map_err(|error| error.to_string())?;
    drop(bar);
    let noticed = seen.noticed.iter().take(MAX_FINDINGS_PER_RULE).filter_map(|noticed| {
        let tensor = (*table.tensors.get(noticed.tensor)?)?;
        let first = noticed.tally.first?;
        Some(Noticed {
            name: table.names.get(noticed.tensor)?.clone(),
            ty: type_name(tensor.type_id),
            nan: noticed.tally.nan,
            infinite: noticed.tally.infinite,
            looked_at: noticed.looked_at,
            start: tensor.start + first.offset,
            block: first.block,
        })
    });
    let noticed: Vec<_> = noticed.collect();
    let scanned = Scanned {
        bytes: seen.bytes,
        tensors: seen.tensors,
        threads: threads.get(),
        time: start.elapsed(),
        left_out: seen.noticed.len() - noticed.len(),
        noticed,
    };
    Ok((scanned, seen.findings(subject)))
}
