//! What is sent from one process to the other: a line of JSON, and bytes.
//!
//! A frame is the length of the line (four bytes, little-endian), the line, and the parts, one after the other. The
//! line is `{"parts":[LENGTH,..],"message":..}`.

use std::io::{self, Read, Write};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// The longest line. A message is some numbers, or some lines of text.
const LONGEST_LINE: u32 = 1 << 20;

/// A message, and bytes that belong to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Frame<M> {
    pub(super) message: M,
    pub(super) parts: Vec<Vec<u8>>,
}

#[derive(Serialize, Deserialize)]
struct Head<M> {
    parts: Vec<u64>,
    message: M,
}

impl<M: Serialize> Frame<&M> {
    /// The frame as it is sent.
    pub(super) fn to_bytes(&self) -> io::Result<Vec<u8>> {
        let parts = self.parts.iter().map(|part| part.len() as u64).collect();
        let mut line = serde_json::to_vec(&Head { parts, message: self.message })?;
        line.push(b'\n');
        let length = u32::try_from(line.len()).ok().filter(|&length| length <= LONGEST_LINE);
        let length = length.ok_or_else(|| io::Error::other("a message that is too long"))?;
        Ok([&length.to_le_bytes()[..], &line, &self.parts.concat()].concat())
    }
}

impl<M: DeserializeOwned> Frame<M> {
    /// The next frame; `None` where the stream ends between two.
    ///
    /// # Errors
    ///
    /// If the stream ends inside of a frame, or what is sent is none.
    pub(super) fn read(from: &mut dyn Read) -> io::Result<Option<Self>> {
        let mut length = Vec::new();
        from.take(4).read_to_end(&mut length)?;
        let length = match *length.as_slice() {
            [] => return Ok(None),
            [a, b, c, d] => u32::from_le_bytes([a, b, c, d]),
            _ => return Err(io::ErrorKind::UnexpectedEof.into()),
        };
        if length > LONGEST_LINE {
            return Err(io::Error::other(format!("a message of {length} bytes, expected at most {LONGEST_LINE}")));
        }
        let head: Head<M> = serde_json::from_slice(&bytes(from, u64::from(length))?)?;
        let parts = head.parts.into_iter().map(|length| bytes(from, length)).collect::<io::Result<_>>()?;
        Ok(Some(Self { message: head.message, parts }))
    }
}

/// So many bytes; memory is taken as they come.
fn bytes(from: &mut dyn Read, length: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let read = from.take(length).read_to_end(&mut bytes)?;
    if read as u64 == length { Ok(bytes) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}

/// Sends a frame.
pub(super) fn write<M: Serialize>(to: &mut dyn Write, message: &M, parts: Vec<Vec<u8>>) -> io::Result<()> {
    to.write_all(&Frame { message, parts }.to_bytes()?)?;
    to.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(message: &str, parts: &[&[u8]]) -> Vec<u8> {
        let parts = parts.iter().map(|part| part.to_vec()).collect();
        Frame { message: &message.to_owned(), parts }.to_bytes().unwrap()
    }

    #[test]
    fn frames_arrive_as_they_were_sent() {
        let stream = [sent("one", &[b"abc", b"", b"\n{}"]), sent("two\n", &[])].concat();
        let mut stream = stream.as_slice();
        let mut next = || Frame::<String>::read(&mut stream).unwrap();
        let first = next().unwrap();
        assert_eq!(first.message, "one");
        assert_eq!(first.parts, [b"abc".to_vec(), Vec::new(), b"\n{}".to_vec()]);
        assert_eq!(next(), Some(Frame { message: "two\n".to_owned(), parts: Vec::new() }));
        assert_eq!(next(), None);
    }

    #[test]
    fn what_is_cut_short_is_an_error() {
        let stream = sent("one", &[b"abc"]);
        for end in 1..stream.len() {
            assert!(Frame::<String>::read(&mut &stream[..end]).is_err(), "{end}");
        }
    }

    #[test]
    fn what_is_no_frame_is_an_error_and_takes_no_memory() {
        for stream in [
            b"Hello, I am a library that prints".to_vec(),
            [&28_u32.to_le_bytes()[..], b"{\"parts\":[],\"message\":\"\"}   "].concat()[..20].to_vec(),
            {
                let line = format!("{{\"parts\":[{}],\"message\":\"\"}}", u64::MAX);
                [&u32::try_from(line.len()).unwrap().to_le_bytes()[..], line.as_bytes(), b"abc"].concat()
            },
        ] {
            assert!(Frame::<String>::read(&mut stream.as_slice()).is_err());
        }
    }
}
