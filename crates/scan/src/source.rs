//! Where bytes come from: any place that can be read at an offset, by several threads at once.

use std::fs::File;
use std::io;

/// Bytes that can be read at an offset. Reading at offsets, and not through a mapping, is what makes
/// a file that shrinks an answer instead of a signal.
pub trait Source: Sync {
    /// Reads some bytes at `offset`, as many as it likes; 0 at the end.
    ///
    /// # Errors
    ///
    /// If the system cannot read there.
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize>;
}

impl Source for File {
    #[cfg(unix)]
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        std::os::unix::fs::FileExt::read_at(self, buffer, offset)
    }

    #[cfg(windows)]
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        std::os::windows::fs::FileExt::seek_read(self, buffer, offset)
    }
}

impl Source for [u8] {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let rest = usize::try_from(offset).ok().and_then(|offset| self.get(offset..)).unwrap_or_default();
        let size = rest.len().min(buffer.len());
        buffer[..size].copy_from_slice(&rest[..size]);
        Ok(size)
    }
}

/// Fills the buffer as far as the source goes; returns how many bytes that was.
pub(crate) fn fill(source: &(impl Source + ?Sized), buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    let mut done = 0;
    while done < buffer.len() {
        match source.read_at(&mut buffer[done..], offset + done as u64) {
            Ok(0) => break,
            Ok(n) => done += n,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(done)
}
