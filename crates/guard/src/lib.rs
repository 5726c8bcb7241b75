//! Buffers that end where memory may not be read.
//!
//! A kernel that reads one byte past the end of an operand is right on every test whose operands lie in the
//! middle of a heap, and crashes when a tensor ends where a mapped file does. So a [`Buffer`] ends, to the
//! byte, where pages begin that may not be read; a kernel that may read some bytes past the end gets exactly as many.
//!
//! ```text
//! | unreadable | pattern | the buffer | slack, in the pattern | unreadable |
//! ```
//!
//! What lies before the buffer, and the slack after it, is filled with a pattern. [`Buffer::intact`] tells
//! whether somebody wrote there. Read as a number, the pattern is a NaN of every float format that tensors have
//! (binary16, bfloat16, binary32), so that what a kernel reads there and does not leave out shows in its result.
//!
//! Without `mmap` the buffer lies in plain memory: [`Buffer::guarded`] is false, and only writes are noticed.

mod memory;

use std::io;

use memory::Memory;

/// A buffer that ends where memory may not be read.
#[derive(Debug)]
pub struct Buffer {
    memory: Memory,
    start: usize,
    len: usize,
}

/// Where somebody wrote who should not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Damage {
    /// Before the buffer: the last byte that was written lies so many bytes before its start, at least 1.
    Before(usize),
    /// After the buffer: the first byte that was written lies so many bytes past its end, at least 0.
    After(usize),
}

impl Damage {
    /// Where it is, of a buffer with a name: `4 bytes past the end of the result`.
    #[must_use]
    pub fn of(self, name: &str) -> String {
        match self {
            Self::Before(distance) => format!("{distance} bytes before the start of the {name}"),
            Self::After(0) => format!("the first byte past the end of the {name}"),
            Self::After(distance) => format!("{distance} bytes past the end of the {name}"),
        }
    }
}

impl Buffer {
    /// A buffer of `len` bytes followed by `slack` bytes that may be read. All of it is filled with the pattern.
    ///
    /// The address of the end plus the slack is a multiple of the size of a page: if `len` and `slack` are
    /// multiples of some alignment of at most that, so is the start.
    ///
    /// # Errors
    ///
    /// If the system gives no memory.
    pub fn new(len: usize, slack: usize) -> io::Result<Self> {
        let needed = len.checked_add(slack).ok_or(io::ErrorKind::OutOfMemory)?;
        let mut memory = Memory::new(needed)?;
        let usable = memory.bytes().len() - Memory::TAIL;
        for (at, byte) in memory.bytes_mut().iter_mut().enumerate() {
            *byte = pattern(at);
        }
        Ok(Self { memory, start: usable - needed, len })
    }

    /// A buffer that holds these bytes and may only be read from now on.
    ///
    /// # Errors
    ///
    /// If the system gives no memory.
    pub fn holding(bytes: &[u8], slack: usize) -> io::Result<Self> {
        let mut buffer = Self::new(bytes.len(), slack)?;
        buffer.bytes_mut().copy_from_slice(bytes);
        buffer.memory.freeze()?;
        Ok(buffer)
    }

    /// Whether unreadable pages follow, so that a read past the end ends the process.
    #[must_use]
    pub fn guarded(&self) -> bool {
        Memory::GUARDED
    }

    /// The bytes, without the slack.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.memory.bytes()[self.start..][..self.len]
    }

    /// The bytes, to be written.
    ///
    /// # Panics
    ///
    /// If the buffer was made by [`Buffer::holding`].
    #[must_use]
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.memory.bytes_mut()[self.start..][..self.len]
    }

    /// The buffer as numbers of the machine's byte order.
    ///
    /// # Panics
    ///
    /// If it is not whole numbers, or not aligned for them: if length and slack are not multiples of 4.
    #[must_use]
    pub fn f32s(&self) -> &[f32] {
        memory::f32s(self.bytes())
    }

    /// The buffer as numbers of the machine's byte order.
    ///
    /// # Panics
    ///
    /// As [`Buffer::f32s`].
    #[must_use]
    pub fn u32s(&self) -> &[u32] {
        memory::u32s(self.bytes())
    }

    /// The buffer as numbers of the machine's byte order, to be written.
    ///
    /// # Panics
    ///
    /// As [`Buffer::f32s`] and [`Buffer::bytes_mut`].
    #[must_use]
    pub fn f32s_mut(&mut self) -> &mut [f32] {
        memory::f32s_mut(self.bytes_mut())
    }

    /// Whether nobody wrote before the buffer or after it.
    ///
    /// # Errors
    ///
    /// Where somebody did, nearest to the buffer.
    pub fn intact(&self) -> Result<(), Damage> {
        let all = self.memory.bytes();
        let changed = |at: &usize| all[*at] != pattern(*at);
        let end = self.start + self.len;
        if let Some(at) = (end..all.len()).find(changed) {
            return Err(Damage::After(at - end));
        }
        match (0..self.start).rev().find(changed) {
            Some(at) => Err(Damage::Before(self.start - at)),
            None => Ok(()),
        }
    }

    /// Whether the bytes of a part are still those of a new buffer, for what lies between the results of a
    /// strided output: the first that is not.
    ///
    /// # Panics
    ///
    /// If the part does not lie in the buffer.
    #[must_use]
    pub fn first_written(&self, part: std::ops::Range<usize>) -> Option<usize> {
        let bytes = self.bytes();
        assert!(part.end <= bytes.len(), "{part:?} of {} bytes", bytes.len());
        part.into_iter().find(|&at| bytes[at] != pattern(self.start + at))
    }
}

/// The pattern: little-endian 16-bit words 0x7FC1 to 0x7FFF at even places, different from word to word. Each is
/// a NaN of binary16 and of bfloat16, and any two together are one of binary32.
const fn pattern(at: usize) -> u8 {
    if at % 2 == 1 { 0x7F } else { LOW[at / 2 % LOW.len()] }
}

/// Whether a number is what a new buffer is filled with: two words of the pattern that follow each other.
#[must_use]
pub fn is_pattern(bits: u32) -> bool {
    let [low, first, next, second] = bits.to_le_bytes();
    let follows = |at: &usize| LOW[*at] == low && LOW[(at + 1) % LOW.len()] == next;
    (first, second) == (0x7F, 0x7F) && (0..LOW.len()).any(|at| follows(&at))
}

/// The low bytes, in an order that no run of small steps repeats.
const LOW: [u8; 61] = {
    let mut low = [0; 61];
    let (mut at, mut byte) = (0, 0xC1_u8);
    while at < low.len() {
        low[at] = byte;
        byte = 0xC1 + (byte - 0xC1 + 23) % 63;
        at += 1;
    }
    low
};

#[cfg(test)]
mod tests;
