//! The memory behind a buffer, and views of it. The one module of this crate with unsafe code.
#![allow(unsafe_code)]

#[cfg(unix)]
pub(crate) use mapped::Memory;
#[cfg(not(unix))]
pub(crate) use plain::Memory;

/// Bytes as numbers.
pub(crate) fn f32s(bytes: &[u8]) -> &[f32] {
    // SAFETY: every pattern of 32 bits is an f32.
    let (before, numbers, after) = unsafe { bytes.align_to::<f32>() };
    assert!(before.is_empty() && after.is_empty(), "{} bytes are no aligned 32-bit numbers", bytes.len());
    numbers
}

/// Bytes as numbers.
pub(crate) fn u32s(bytes: &[u8]) -> &[u32] {
    // SAFETY: every pattern of 32 bits is a u32.
    let (before, numbers, after) = unsafe { bytes.align_to::<u32>() };
    assert!(before.is_empty() && after.is_empty(), "{} bytes are no aligned 32-bit numbers", bytes.len());
    numbers
}

/// Bytes as numbers, to be written.
pub(crate) fn f32s_mut(bytes: &mut [u8]) -> &mut [f32] {
    let len = bytes.len();
    // SAFETY: every pattern of 32 bits is an f32, and every f32 is four bytes without padding.
    let (before, numbers, after) = unsafe { bytes.align_to_mut::<f32>() };
    assert!(before.is_empty() && after.is_empty(), "{len} bytes are no aligned 32-bit numbers");
    numbers
}

/// Whole pages between two that may not be read.
#[cfg(unix)]
mod mapped {
    use std::io;
    use std::ptr::{self, NonNull};

    /// Bytes on either side that may not be read, at least: a step that is too long by thousands of elements ends
    /// here and not in another buffer.
    const GUARD: usize = 1 << 16;

    /// A mapping: pages that may not be read, the bytes, pages that may not be read.
    #[derive(Debug)]
    pub(crate) struct Memory {
        base: NonNull<u8>,
        /// Bytes on either side that may not be read, a multiple of a page.
        guard: usize,
        /// Bytes between them, a multiple of a page.
        len: usize,
        writable: bool,
    }

    // SAFETY: the mapping is owned by this value alone, and is no business of the thread that made it.
    unsafe impl Send for Memory {}
    // SAFETY: through a shared reference it is only read.
    unsafe impl Sync for Memory {}

    impl Memory {
        /// Whether a read past the end is noticed.
        pub(crate) const GUARDED: bool = true;
        /// Bytes past those that were asked for, so that writes there are noticed: none, there is the guard.
        pub(crate) const TAIL: usize = 0;

        /// At least so many bytes.
        pub(crate) fn new(needed: usize) -> io::Result<Self> {
            // SAFETY: takes no pointers.
            let page = usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).map_err(io::Error::other)?;
            let guard = GUARD.next_multiple_of(page);
            let size = |needed: usize| {
                let len = needed.checked_next_multiple_of(page)?;
                Some((len, len.checked_add(2 * guard)?))
            };
            let (len, all) = size(needed).ok_or(io::ErrorKind::OutOfMemory)?;
            let flags = libc::MAP_PRIVATE | libc::MAP_ANON;
            // SAFETY: a new private mapping at an address that the system chooses touches no memory of others.
            let base = unsafe { libc::mmap(ptr::null_mut(), all, libc::PROT_NONE, flags, -1, 0) };
            if base == libc::MAP_FAILED {
                return Err(io::Error::last_os_error());
            }
            let base = NonNull::new(base.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
            let mut memory = Self { base, guard, len, writable: true };
            memory.protect(libc::PROT_READ | libc::PROT_WRITE)?;
            Ok(memory)
        }

        /// Whoever writes from now on ends the process.
        pub(crate) fn freeze(&mut self) -> io::Result<()> {
            self.writable = false;
            self.protect(libc::PROT_READ)
        }

        fn protect(&mut self, how: libc::c_int) -> io::Result<()> {
            if self.len == 0 {
                return Ok(());
            }
            // SAFETY: the range lies inside the mapping, on the bounds of pages; nobody holds a reference into it,
            // as this value is borrowed mutably.
            if unsafe { libc::mprotect(self.base.as_ptr().add(self.guard).cast(), self.len, how) } == 0 {
                Ok(())
            } else {
                Err(io::Error::last_os_error())
            }
        }

        pub(crate) fn bytes(&self) -> &[u8] {
            // SAFETY: these bytes of the mapping are readable as long as it lives, the system has filled them with
            // zeroes, and they are only written through a mutable reference to this value.
            unsafe { std::slice::from_raw_parts(self.base.as_ptr().add(self.guard), self.len) }
        }

        pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
            assert!(self.writable, "this buffer may only be read");
            // SAFETY: as above; they are writable, and this value is borrowed mutably.
            unsafe { std::slice::from_raw_parts_mut(self.base.as_ptr().add(self.guard), self.len) }
        }
    }

    impl Drop for Memory {
        fn drop(&mut self) {
            // SAFETY: the range is the whole mapping of this value, which ends here with all references into it.
            unsafe { libc::munmap(self.base.as_ptr().cast(), self.len + 2 * self.guard) };
        }
    }
}

/// Memory of the heap, for systems that are not asked for pages.
#[cfg(any(not(unix), test))]
#[cfg_attr(unix, expect(dead_code, reason = "only tested where pages can be guarded"))]
mod plain {
    use std::io;

    /// Some words of the heap.
    #[derive(Debug)]
    pub(crate) struct Memory {
        words: Vec<u64>,
        writable: bool,
    }

    impl Memory {
        /// Whether a read past the end is noticed.
        pub(crate) const GUARDED: bool = false;
        /// Bytes past those that were asked for, and before them, so that writes there are noticed.
        pub(crate) const TAIL: usize = 64;

        /// At least so many bytes, and room on either side.
        pub(crate) fn new(needed: usize) -> io::Result<Self> {
            let words = needed.checked_add(2 * Self::TAIL).ok_or(io::ErrorKind::OutOfMemory)?.div_ceil(8);
            Ok(Self { words: vec![0; words], writable: true })
        }

        /// Whoever writes from now on is not stopped, but found out if it was through this value.
        #[expect(clippy::unnecessary_wraps, reason = "as where pages are guarded")]
        pub(crate) fn freeze(&mut self) -> io::Result<()> {
            self.writable = false;
            Ok(())
        }

        pub(crate) fn bytes(&self) -> &[u8] {
            // SAFETY: a u64 is eight bytes, none of them padding, and needs no less alignment.
            unsafe { self.words.align_to().1 }
        }

        pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
            assert!(self.writable, "this buffer may only be read");
            // SAFETY: as above, and every eight bytes are a u64.
            unsafe { self.words.align_to_mut().1 }
        }
    }

    #[cfg(test)]
    mod tests {
        use super::Memory;

        #[test]
        fn it_is_as_long_as_needed_and_aligned() {
            for needed in [0, 1, 7, 8, 4096] {
                let mut memory = Memory::new(needed).expect("memory");
                assert!(memory.bytes().len() >= needed + 2 * Memory::TAIL);
                assert_eq!(memory.bytes().as_ptr() as usize % 8, 0);
                memory.bytes_mut()[needed] = 7;
                assert_eq!(memory.bytes()[needed], 7);
            }
        }
    }
}
