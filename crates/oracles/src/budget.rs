//! How much memory a judgement may take.
//!
//! The specification is the slow reader: it keeps the whole tree, a document and every finding with
//! its texts, so its bound is far above that of a reader built for speed. What matters is that there is
//! one, in proportion to the bytes that are there and to nothing that a file declares.

/// Bytes of heap for each byte of the file, at most, at any time during a judgement.
///
/// The dearest files known are made of pairs of nine bytes (version 1, an empty key, a bool of 2) that
/// bring three findings each, of about 136 bytes and two short texts, in a list that grows by doubling;
/// a key that only ggml takes for the alignment makes it two lists. They take 235 bytes for each byte.
/// Right files take less than 15: a version 1 array of empty strings, whose 4 bytes become 32 in the
/// tree and 24 in the document.
pub const HEAP_PER_BYTE: u64 = 256;

/// Bytes of heap that a judgement may take whatever the size of the file: messages, tables, and the
/// first allocation of every list.
pub const HEAP_ALWAYS: u64 = 8 << 10;

/// Bytes allocated in the course of a judgement for each byte of the file, freed or not. Lists grow by
/// doubling, which allocates at most twice what they hold in the end; the dearest files take 499. That
/// there is such a bound shows that nothing is made again for each entry of a list.
pub const ALLOCATED_PER_BYTE: u64 = 2 * HEAP_PER_BYTE;

/// The most heap, in bytes, that judging a file of `len` bytes takes at any time.
#[must_use]
pub fn heap(len: usize) -> u64 {
    HEAP_ALWAYS + HEAP_PER_BYTE * len as u64
}

/// The most bytes that are allocated while a file of `len` bytes is judged.
#[must_use]
pub fn allocated(len: usize) -> u64 {
    2 * HEAP_ALWAYS + ALLOCATED_PER_BYTE * len as u64
}
