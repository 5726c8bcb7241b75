//! Stretches of a source, read in chunks by several threads.

use std::io;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use crate::source::{Source, fill};

/// How much is read at once, in bytes: it fits the second-level cache of a core, so that looking at
/// what was just read costs no memory traffic.
pub const CHUNK: usize = 256 << 10;

/// Bytes to be read, in pieces of whole units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// Where it starts.
    pub start: u64,
    /// How many bytes.
    pub size: u64,
    /// Pieces are a multiple of this many bytes, but for the last one.
    pub unit: usize,
}

/// A piece of a stretch that was read.
#[derive(Clone, Copy, Debug)]
pub struct Chunk<'b> {
    /// The index of the stretch.
    pub stretch: usize,
    /// Where it starts in the source.
    pub start: u64,
    /// Its bytes.
    pub bytes: &'b [u8],
}

/// Why reading ended before its end.
#[derive(Debug)]
pub enum Stopped {
    /// The source ended inside a stretch.
    Ended {
        /// The index of the stretch.
        stretch: usize,
        /// Where the source ended, in bytes.
        at: u64,
    },
    /// The system could not read.
    Failed {
        /// Where, in bytes.
        at: u64,
        /// What it said.
        error: io::Error,
    },
}

/// Hands out the pieces, in order.
struct Queue<'s> {
    stretches: &'s [Stretch],
    next: usize,
    done: u64,
}

impl Queue<'_> {
    fn take(&mut self) -> Option<(usize, u64, usize)> {
        loop {
            let stretch = self.stretches.get(self.next)?;
            let left = stretch.size.saturating_sub(self.done);
            if left == 0 {
                (self.next, self.done) = (self.next + 1, 0);
                continue;
            }
            let most = (CHUNK - CHUNK % stretch.unit.clamp(1, CHUNK)) as u64;
            let size = left.min(most);
            let start = stretch.start.saturating_add(self.done);
            self.done += size;
            return Some((self.next, start, usize::try_from(size).unwrap_or(CHUNK)));
        }
    }
}

/// Reads stretches with some threads, each with a state of its own that `work` is given with each
/// chunk. Returns the states, and what stopped the reading, if something did: of several, the one at
/// the lowest place.
///
/// Chunks come in any order; each byte comes once. What was read before a stop has been worked on.
pub fn read<S: Send>(
    source: &(impl Source + ?Sized),
    stretches: &[Stretch],
    threads: NonZeroUsize,
    state: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, Chunk<'_>) + Sync,
) -> (Vec<S>, Option<Stopped>) {
    let queue = Mutex::new(Queue { stretches, next: 0, done: 0 });
    let stop = AtomicBool::new(false);
    let run = || {
        let mut state = state();
        let mut buffer = Vec::new();
        while !stop.load(Ordering::Relaxed) {
            let taken = queue.lock().unwrap_or_else(PoisonError::into_inner).take();
            let Some((stretch, start, size)) = taken else { break };
            if buffer.len() < size {
                buffer.resize(size, 0);
            }
            let stopped = match fill(source, &mut buffer[..size], start) {
                Ok(read) => {
                    work(&mut state, Chunk { stretch, start, bytes: &buffer[..read] });
                    (read < size).then(|| Stopped::Ended { stretch, at: start + read as u64 })
                }
                Err(error) => Some(Stopped::Failed { at: start, error }),
            };
            if stopped.is_some() {
                stop.store(true, Ordering::Relaxed);
                return (state, stopped);
            }
        }
        (state, None)
    };

    let chunks: u64 = stretches.iter().map(|stretch| stretch.size.div_ceil(CHUNK as u64)).sum();
    let helpers = threads.get().min(usize::try_from(chunks / 2).unwrap_or(usize::MAX).max(1)) - 1;
    let ended: Vec<_> = thread::scope(|scope| {
        let helpers: Vec<_> = (0..helpers).map(|_| scope.spawn(run)).collect();
        let own = run();
        let others = helpers.into_iter().map(|helper| match helper.join() {
            Ok(ended) => ended,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        std::iter::once(own).chain(others.collect::<Vec<_>>()).collect()
    });
    let mut states = Vec::new();
    let mut first: Option<Stopped> = None;
    for (state, stopped) in ended {
        states.push(state);
        if let Some(stopped) = stopped
            && first.as_ref().is_none_or(|first| stopped.at() < first.at())
        {
            first = Some(stopped);
        }
    }
    (states, first)
}

impl Stopped {
    /// Where.
    #[must_use]
    pub fn at(&self) -> u64 {
        match self {
            Self::Ended { at, .. } | Self::Failed { at, .. } => *at,
        }
    }
}
