//! Arrays of strings: where each ends, and whether all of them are UTF-8.
//!
//! Most of a header is two arrays of some hundred thousand short strings. Their lengths have to be read
//! one after another, each telling where the next one is; everything else is kept out of that loop. A
//! length of less than 128 is stored in eight bytes that are ASCII, in either byte order. So the bytes of
//! a run of such strings, lengths included, are UTF-8 as a whole exactly if each string is: no sequence
//! can reach over a length, and nothing that a length touches becomes one. The run is validated in one
//! go, while it is still in the cache.

use crate::cursor::{ByteOrder, Cursor, Short};

/// How many bytes are walked before they are validated.
const RUN: usize = 64 << 10;

/// Lengths below this one are ASCII in all their bytes.
const SHORT: u64 = 128;

/// A string of an array that is wanted by its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct At {
    /// Its index in the array.
    pub(crate) index: u64,
    /// The index of the first byte of its length in the head.
    pub(crate) length: usize,
}

/// How the strings of an array were walked.
#[derive(Debug, Default)]
pub(crate) struct Walked {
    /// The first string that is not UTF-8, if that was asked.
    pub(crate) not_utf8: Option<At>,
    /// The first string of more than the limit of bytes.
    pub(crate) over_limit: Option<At>,
}

/// Why a walk ended before the last string.
pub(crate) enum Cut {
    /// The length of the string with this index cannot be taken; the cursor is at it.
    Length(u64, Short),
    /// The bytes of the string with this index and length cannot be taken; the cursor is behind the length.
    Bytes(u64, u64, Short),
}

/// Walks `count` strings.
pub(crate) fn walk(cursor: &mut Cursor<'_>, count: u64, utf8: bool, limit: u64) -> Result<Walked, Cut> {
    match cursor.order {
        ByteOrder::Little => walk_as(cursor, count, utf8, limit, u64::from_le_bytes),
        ByteOrder::Big => walk_as(cursor, count, utf8, limit, u64::from_be_bytes),
    }
}

#[inline(always)]
fn walk_as(
    cursor: &mut Cursor<'_>,
    count: u64,
    utf8: bool,
    limit: u64,
    number: impl Fn([u8; 8]) -> u64 + Copy,
) -> Result<Walked, Cut> {
    let head = cursor.head;
    let mut walked = Walked::default();
    let mut index = 0;
    while index < count {
        let start = At { index, length: cursor.at };
        let (skipped, end) = skip_short(head, cursor.at, count - index, number);
        if utf8 && walked.not_utf8.is_none() && simdutf8::basic::from_utf8(&head[cursor.at..end]).is_err() {
            walked.not_utf8 = first_bad(head, start, skipped, number);
        }
        cursor.at = end;
        index += skipped;
        if skipped == 0 {
            // A long string, or one near the end of the head, by itself.
            let at = At { index, length: cursor.at };
            let length = cursor.take(8).map_err(|short| Cut::Length(index, short))?;
            let length = length.first_chunk().map_or(0, |eight| number(*eight));
            let bytes = cursor.take(length).map_err(|short| Cut::Bytes(index, length, short))?;
            if length > limit {
                walked.over_limit.get_or_insert(at);
            }
            if utf8 && walked.not_utf8.is_none() && simdutf8::basic::from_utf8(bytes).is_err() {
                walked.not_utf8 = Some(at);
            }
            index += 1;
        }
    }
    Ok(walked)
}

/// Skips at most `most` short strings from `at`, until about [`RUN`] bytes are skipped, or a string is
/// long or near the end of the head. Gives how many, and where the next one starts.
#[inline(always)]
fn skip_short(head: &[u8], mut at: usize, most: u64, number: impl Fn([u8; 8]) -> u64) -> (u64, usize) {
    let stop = at.saturating_add(RUN);
    let mut left = most;
    // A short string that starts before `safe` ends inside the head.
    let safe = head.len().saturating_sub(8 + 127).min(stop);
    while left > 0 && at < safe {
        let Some(eight) = head[at..].first_chunk() else { break };
        let length = number(*eight);
        if length >= SHORT {
            break;
        }
        // Less than 128, and so no less on any machine.
        #[expect(clippy::cast_possible_truncation)]
        let length = length as usize;
        at += 8 + length;
        left -= 1;
    }
    (most - left, at)
}

/// The first of some short strings, one of which is not UTF-8, that is not.
#[cold]
fn first_bad(head: &[u8], start: At, count: u64, number: impl Fn([u8; 8]) -> u64) -> Option<At> {
    let mut at = start;
    for _ in 0..count {
        let (length, rest) = head[at.length..].split_first_chunk()?;
        let length = usize::try_from(number(*length)).ok()?;
        if simdutf8::basic::from_utf8(rest.get(..length)?).is_err() {
            return Some(at);
        }
        at = At { index: at.index + 1, length: at.length + 8 + length };
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn array(strings: &[&[u8]], order: ByteOrder) -> Vec<u8> {
        let mut bytes = Vec::new();
        for string in strings {
            let length = string.len() as u64;
            bytes.extend(if order == ByteOrder::Little { length.to_le_bytes() } else { length.to_be_bytes() });
            bytes.extend(*string);
        }
        bytes
    }

    fn walked(strings: &[&[u8]], order: ByteOrder, behind: usize) -> (Walked, usize) {
        let mut head = array(strings, order);
        let end = head.len();
        head.resize(end + behind, 0xFF);
        let mut cursor = Cursor { head: &head, len: head.len() as u64, at: 0, order };
        let Ok(walked) = walk(&mut cursor, strings.len() as u64, true, 1000) else { panic!("all strings are there") };
        (walked, end - cursor.at)
    }

    /// Every way in which a sequence could seem to reach over the length between two strings.
    #[test]
    fn a_run_is_utf8_exactly_if_each_string_is() {
        let pieces: [&[u8]; 12] = [
            b"",
            b"a",
            "é".as_bytes(),
            "語".as_bytes(),
            "🦀".as_bytes(),
            b"\xC3",
            b"\xA9",
            b"\xE8\xAA",
            b"\x9E",
            b"\xF0\x9F\xA6",
            b"\x80",
            &[b'x'; 127],
        ];
        for order in [ByteOrder::Little, ByteOrder::Big] {
            for behind in [0, 500] {
                for a in pieces {
                    for b in pieces {
                        for c in pieces {
                            let strings = [a, b, c];
                            let bad = strings.iter().position(|s| std::str::from_utf8(s).is_err());
                            let (walked, rest) = walked(&strings, order, behind);
                            assert_eq!(walked.not_utf8.map(|at| at.index), bad.map(|i| i as u64), "{strings:?}");
                            assert_eq!(rest, 0);
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn long_strings_are_walked_and_judged_too() {
        let (long, bad) = (vec![b'y'; 1001], [vec![b'y'; 300], vec![0xC0]].concat());
        let (walked, rest) = walked(&[b"a", &long, &bad, b"\xFF"], ByteOrder::Little, 0);
        assert_eq!(walked.over_limit, Some(At { index: 1, length: 9 }));
        assert_eq!(walked.not_utf8, Some(At { index: 2, length: 9 + 1009 }));
        assert_eq!(rest, 0);
    }

    #[test]
    fn many_runs_are_as_one() {
        let mut strings: Vec<&[u8]> = vec!["Ġthe".as_bytes(); 3 * RUN / 12];
        assert_eq!(walked(&strings, ByteOrder::Little, 0).0.not_utf8, None);
        for bad in [0, 1, strings.len() / 2, strings.len() - 1] {
            strings[bad] = b"\xE4\xB8";
            let found = walked(&strings, ByteOrder::Little, 0).0.not_utf8;
            assert_eq!(found.map(|at| at.index), Some(bad as u64));
            strings[bad] = b"fine";
        }
    }
}
