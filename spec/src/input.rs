//! Input that need not lie in memory.

use std::borrow::Cow;
use std::ops::Range;

/// The bytes of an input, for the few rules that look at the data behind the header.
pub trait Input {
    /// The length of the input in bytes.
    fn len(&self) -> u64;

    /// Whether there are no bytes.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Some bytes, or `None` if they cannot be read. The range lies inside the input.
    fn bytes(&self, range: Range<u64>) -> Option<Cow<'_, [u8]>>;
}

impl Input for &[u8] {
    fn len(&self) -> u64 {
        <[u8]>::len(self) as u64
    }

    fn bytes(&self, range: Range<u64>) -> Option<Cow<'_, [u8]>> {
        let index = |at: u64| usize::try_from(at).ok();
        Some(Cow::Borrowed(self.get(index(range.start)?..index(range.end)?)?))
    }
}
