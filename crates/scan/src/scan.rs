//! The scan: every tensor is read once, and looked at.

use std::collections::HashMap;
use std::io;
use std::num::NonZeroUsize;

use gguf_spec::syntax::ByteOrder;
use gguf_spec::types::TensorType;

use crate::arrangement::{Arrangement, Tensor};
use crate::kernel::{Kernel, Tally};
use crate::parallel::{Stopped, Stretch, read};
use crate::source::Source;

/// What there is to scan.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// The tensors in table order; `None` where place or size are not known.
    pub tensors: &'a [Option<Tensor>],
    /// How they lie.
    pub arrangement: &'a Arrangement,
    /// The byte order of the file.
    pub byte_order: ByteOrder,
    /// The length of the file in bytes.
    pub len: u64,
}

/// What was seen of a tensor that has numbers that are not finite.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Noticed {
    /// The index of the tensor.
    pub tensor: usize,
    /// How many numbers are NaN, how many infinite, and the first of them, counted from the start of
    /// the tensor.
    pub tally: Tally,
    /// How many numbers were looked at.
    pub looked_at: u64,
}

/// What a scan saw.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scan {
    /// The tensors with numbers that are not finite, in table order.
    pub noticed: Vec<Noticed>,
    /// Tensors that were looked at: those that have bytes of their own in the file, of a type with
    /// floating-point values or scales.
    pub tensors: u64,
    /// Bytes that were read.
    pub bytes: u64,
    /// Where the file ended while it was read, if it got shorter, with the tensor that was cut.
    pub shrunk: Option<(usize, u64)>,
}

/// Where a tensor is scanned, and with what.
struct Target {
    tensor: usize,
    kernel: Kernel,
    start: u64,
    size: u64,
}

/// Scans the tensors with some threads. `progress` is told the bytes of each chunk that was read.
///
/// Tensors that start inside another are left out, so that no byte is read twice, whatever the table
/// says; so are types of integers. Of a tensor that the file cuts off, the whole blocks are scanned.
///
/// # Errors
///
/// If the system cannot read. A file that ends early is not an error: [`Scan::shrunk`] tells.
pub fn scan(
    source: &(impl Source + ?Sized),
    subject: Subject<'_>,
    threads: NonZeroUsize,
    progress: impl Fn(u64) + Sync,
) -> io::Result<Scan> {
    let targets = targets(subject);
    let stretches: Vec<Stretch> = targets
        .iter()
        .map(|target| Stretch { start: target.start, size: target.size, unit: target.kernel.bytes() })
        .collect();
    let (states, stopped) = read(
        source,
        &stretches,
        threads,
        || (HashMap::<usize, Tally>::new(), 0),
        |(tallies, bytes), chunk| {
            let target = &targets[chunk.stretch];
            let tally = target.kernel.look(chunk.bytes);
            if tally.total() > 0 {
                let moved = moved(tally, chunk.start - target.start, target.kernel.bytes() as u64);
                merge(tallies.entry(chunk.stretch).or_default(), moved);
            }
            *bytes += chunk.bytes.len() as u64;
            progress(chunk.bytes.len() as u64);
        },
    );
    let shrunk = match stopped {
        None => None,
        Some(Stopped::Ended { stretch, at }) => Some((targets[stretch].tensor, at)),
        Some(Stopped::Failed { at, error }) => {
            return Err(io::Error::new(error.kind(), format!("reading at byte {at} failed: {error}")));
        }
    };

    let mut scan = Scan { tensors: targets.len() as u64, shrunk, ..Scan::default() };
    let mut tallies: HashMap<usize, Tally> = HashMap::new();
    for (found, bytes) in states {
        scan.bytes += bytes;
        for (target, tally) in found {
            merge(tallies.entry(target).or_default(), tally);
        }
    }
    scan.noticed = tallies
        .into_iter()
        .map(|(target, tally)| {
            let target = &targets[target];
            let looked_at = target.size / target.kernel.bytes() as u64 * target.kernel.per_block();
            Noticed { tensor: target.tensor, tally, looked_at }
        })
        .collect();
    scan.noticed.sort_unstable_by_key(|noticed| noticed.tensor);
    Ok(scan)
}

/// How many bytes a scan will read: for a progress bar.
#[must_use]
pub fn work(subject: Subject<'_>) -> u64 {
    targets(subject).iter().map(|target| target.size).sum()
}

fn targets(subject: Subject<'_>) -> Vec<Target> {
    let mut kernels: HashMap<u32, Option<Kernel>> = HashMap::new();
    let order = subject.arrangement.order.iter();
    order
        .filter_map(|&i| {
            let tensor = (*subject.tensors.get(i)?)?;
            let kernel = kernels.entry(tensor.type_id).or_insert_with(|| {
                TensorType::from_id(tensor.type_id).and_then(|ty| Kernel::of(ty, subject.byte_order))
            });
            let kernel = kernel.clone()?;
            let there = subject.len.saturating_sub(tensor.start).min(tensor.size);
            let size = there - there % kernel.bytes() as u64;
            (size > 0).then_some(Target { tensor: i, kernel, start: tensor.start, size })
        })
        .collect()
}

/// A tally of a chunk that starts `by` bytes into the tensor.
fn moved(mut tally: Tally, by: u64, block: u64) -> Tally {
    if let Some(first) = &mut tally.first {
        first.offset += by;
        first.block += by / block;
    }
    tally
}

fn merge(into: &mut Tally, other: Tally) {
    into.nan += other.nan;
    into.infinite += other.infinite;
    into.first = [into.first, other.first].into_iter().flatten().min_by_key(|place| place.offset);
}
