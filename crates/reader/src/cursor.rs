//! The bytes of a header, read in order.

use std::fmt;
use std::ops::Range;

use gguf_spec::field::Field;
use gguf_spec::rules::Rule;

use crate::error::{Halt, end};

/// The order of the bytes of every number in a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ByteOrder {
    /// Least significant byte first.
    #[default]
    Little,
    /// Most significant byte first.
    Big,
}

impl ByteOrder {
    /// One, two, four or eight bytes as an unsigned number.
    #[inline]
    pub(crate) fn bits(self, bytes: &[u8]) -> u64 {
        let mut wide = [0; 8];
        match self {
            Self::Little => {
                wide[..bytes.len()].copy_from_slice(bytes);
                u64::from_le_bytes(wide)
            }
            Self::Big => {
                wide[8 - bytes.len()..].copy_from_slice(bytes);
                u64::from_be_bytes(wide)
            }
        }
    }

    #[inline]
    pub(crate) fn u32(self, bytes: [u8; 4]) -> u32 {
        match self {
            Self::Little => u32::from_le_bytes(bytes),
            Self::Big => u32::from_be_bytes(bytes),
        }
    }

    #[inline]
    pub(crate) fn u64(self, bytes: [u8; 8]) -> u64 {
        match self {
            Self::Little => u64::from_le_bytes(bytes),
            Self::Big => u64::from_be_bytes(bytes),
        }
    }

    /// The 32-bit number at an index. Only for bytes that were read before.
    pub(crate) fn u32_at(self, bytes: &[u8], at: usize) -> u32 {
        bytes[at..].first_chunk().map_or(0, |four| self.u32(*four))
    }

    /// The 64-bit number at an index. Only for bytes that were read before.
    pub(crate) fn u64_at(self, bytes: &[u8], at: usize) -> u64 {
        bytes[at..].first_chunk().map_or(0, |eight| self.u64(*eight))
    }
}

/// Why bytes could not be taken.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Short {
    /// The file ends before them.
    Missing,
    /// The head ends before them; so many bytes of the file reach to their end.
    Unseen(u64),
}

/// A place in a file of which the first bytes are there.
#[derive(Clone, Debug)]
pub(crate) struct Cursor<'a> {
    /// The first bytes of the file, or all of them.
    pub(crate) head: &'a [u8],
    /// The length of the file, at least that of the head.
    pub(crate) len: u64,
    /// The next byte, an index into the head.
    pub(crate) at: usize,
    /// The byte order of the file.
    pub(crate) order: ByteOrder,
}

impl<'a> Cursor<'a> {
    /// The place as an offset.
    #[inline]
    pub(crate) fn here(&self) -> u64 {
        self.at as u64
    }

    /// Bytes from here to the end of the file.
    #[inline]
    pub(crate) fn left(&self) -> u64 {
        self.len - self.here()
    }

    /// The next `n` bytes.
    #[inline]
    pub(crate) fn take(&mut self, n: u64) -> Result<&'a [u8], Short> {
        if n > self.left() {
            return Err(Short::Missing);
        }
        // The end lies inside the file, so that the sum is in range.
        let unseen = Short::Unseen(self.here() + n);
        let Ok(n) = usize::try_from(n) else { return Err(unseen) };
        let Some(bytes) = self.head[self.at..].get(..n) else { return Err(unseen) };
        self.at += n;
        Ok(bytes)
    }

    /// The bytes of a field of a fixed size.
    ///
    /// # Errors
    ///
    /// The file or the head ends inside it; in the file, that breaks `rule`.
    #[inline]
    pub(crate) fn field<const N: usize>(
        &mut self,
        rule: &'static Rule,
        field: impl FnOnce() -> Field,
    ) -> Result<[u8; N], Halt> {
        if let Some(bytes) = self.head[self.at..].first_chunk() {
            self.at += N;
            return Ok(*bytes);
        }
        Err(self.cut(N as u64, rule, field))
    }

    /// What there is to say of a field of `n` bytes that cannot be taken.
    fn cut(&mut self, n: u64, rule: &'static Rule, field: impl FnOnce() -> Field) -> Halt {
        match self.take(n) {
            Err(Short::Unseen(at_least)) => Halt::NeedMore(at_least),
            Err(Short::Missing) | Ok(_) => {
                let (expected, actual) = (count(n, "byte"), count(self.left(), "byte"));
                end(rule, self.here()..self.len.min(self.here().saturating_add(n)), field(), expected, actual)
            }
        }
    }

    /// The bytes of a field of `n` bytes.
    ///
    /// # Errors
    ///
    /// As for [`field`](Self::field).
    #[inline]
    pub(crate) fn wide_field(
        &mut self,
        n: u64,
        rule: &'static Rule,
        field: impl FnOnce() -> Field,
    ) -> Result<&'a [u8], Halt> {
        match self.take(n) {
            Ok(bytes) => Ok(bytes),
            Err(Short::Unseen(at_least)) => Err(Halt::NeedMore(at_least)),
            Err(Short::Missing) => Err(self.cut(n, rule, field)),
        }
    }

    #[inline]
    pub(crate) fn u32_field(&mut self, rule: &'static Rule, field: impl FnOnce() -> Field) -> Result<u32, Halt> {
        Ok(self.order.u32(self.field(rule, field)?))
    }

    #[inline]
    pub(crate) fn u64_field(&mut self, rule: &'static Rule, field: impl FnOnce() -> Field) -> Result<u64, Halt> {
        Ok(self.order.u64(self.field(rule, field)?))
    }

    /// A length and that many bytes. If either is not in the file, that breaks `rule`, and the finding
    /// lies on the length.
    #[inline]
    pub(crate) fn string(&mut self, rule: &'static Rule, len: impl Fn() -> Field) -> Result<&'a [u8], Halt> {
        let n = self.u64_field(rule, &len)?;
        self.take(n).map_err(|short| self.overrun(short, n, "byte", rule, len()))
    }

    /// What there is to say when the thing behind a 64-bit count that ends here cannot be taken.
    pub(crate) fn overrun(&self, short: Short, n: u64, what: &str, rule: &'static Rule, field: Field) -> Halt {
        match short {
            Short::Unseen(at_least) => Halt::NeedMore(at_least),
            Short::Missing => {
                let expected = format!("no more than the {} left in the file", Count(self.left(), "byte"));
                end(rule, self.before(8), field, expected, count(n, what))
            }
        }
    }

    /// The `n` bytes before this place.
    #[inline]
    pub(crate) fn before(&self, n: u64) -> Range<u64> {
        self.here() - n..self.here()
    }
}

/// `1 byte`, `2 bytes`, as a text of its own.
pub(crate) fn count(n: u64, what: &str) -> String {
    Count(n, what).to_string()
}

/// `1 byte`, `2 bytes`, inside another text.
pub(crate) struct Count<'a>(pub(crate) u64, pub(crate) &'a str);

impl fmt::Display for Count<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}{}", self.0, self.1, if self.0 == 1 { "" } else { "s" })
    }
}
