//! The system's allocator, counting what each thread takes.
//!
//! This module alone in its crate holds unsafe code: a global allocator cannot be written without.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// What one thread allocates, in bytes.
struct Counts {
    /// Allocated and not freed.
    held: Cell<u64>,
    /// The most that was held at any time.
    peak: Cell<u64>,
    /// All that was ever allocated.
    total: Cell<u64>,
}

thread_local! {
    // Constant and without a destructor, so that reaching it neither allocates nor fails.
    static COUNTS: Counts = const { Counts { held: Cell::new(0), peak: Cell::new(0), total: Cell::new(0) } };
}

struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn taken(size: usize) {
    COUNTS.with(|counts| {
        counts.held.set(counts.held.get() + size as u64);
        counts.total.set(counts.total.get() + size as u64);
        counts.peak.set(counts.peak.get().max(counts.held.get()));
    });
}

fn given_back(size: usize) {
    // What another thread took is freed here now and then; it is not held by this thread.
    COUNTS.with(|counts| counts.held.set(counts.held.get().saturating_sub(size as u64)));
}

// SAFETY: every call goes to the system's allocator with the arguments it came with, and its answer is
// returned as it is. Counting touches numbers of the calling thread only: it neither allocates nor
// unwinds.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        taken(layout.size());
        // SAFETY: the caller keeps the promises of `alloc`, which are those of the system's.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        taken(layout.size());
        // SAFETY: the caller keeps the promises of `alloc_zeroed`, which are those of the system's.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        given_back(layout.size());
        // SAFETY: the memory came from the system's allocator, through this one, with this layout.
        unsafe { System.dealloc(at, layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // Old and new may both exist while one is copied to the other.
        taken(size);
        given_back(layout.size());
        // SAFETY: the memory came from the system's allocator, through this one, with this layout, and
        // the caller keeps the promises of `realloc`.
        unsafe { System.realloc(at, layout, size) }
    }
}

/// What some work took of the heap, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Heap {
    /// The most that was held at any time, beyond what was held before.
    pub(crate) peak: u64,
    /// All that was allocated, freed or not.
    pub(crate) total: u64,
}

/// Does some work on this thread and tells what it took.
pub(crate) fn measured<T>(work: impl FnOnce() -> T) -> (T, Heap) {
    let (held, total) = COUNTS.with(|counts| {
        counts.peak.set(counts.held.get());
        (counts.held.get(), counts.total.get())
    });
    let result = work();
    let heap =
        COUNTS.with(|counts| Heap { peak: counts.peak.get().saturating_sub(held), total: counts.total.get() - total });
    (result, heap)
}

#[test]
fn what_is_held_and_what_was_taken_are_counted() {
    let (list, heap) = measured(|| {
        drop(vec![0u8; 1000]);
        vec![0u8; 600]
    });
    assert_eq!(heap, Heap { peak: 1000, total: 1600 });
    let ((), heap) = measured(|| drop(list));
    assert_eq!(heap, Heap::default());
    let (_, heap) = measured(|| {
        let mut list: Vec<u8> = Vec::with_capacity(10);
        list.reserve_exact(20);
        list
    });
    assert_eq!(heap.total, 30);
}
