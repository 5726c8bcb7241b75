//! What the benches measure on.

#![forbid(unsafe_code)]

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::time::{Duration, Instant};

use assay_reader::{Policy, Stop, grown, read_head};
use gguf_spec::input::Input;

/// Tokens of the vocabulary, and merges beside them.
pub const TOKENS: u32 = 262_144;
/// Merges of the vocabulary.
pub const MERGES: u32 = 500_000;
/// Entries of the tensor table: as many as a model of some billion parameters has.
pub const TENSORS: u64 = 300;

/// A file of 16 MB that keeps every rule: a vocabulary as byte-level tokenizers have it, where half of
/// the tokens begin with a two-byte character that stands for a space, and every merge has one; and a
/// tensor table with a little data.
#[must_use]
pub fn vocabulary() -> Vec<u8> {
    let mut file = b"GGUF\x03\0\0\0".to_vec();
    file.extend(TENSORS.to_le_bytes());
    file.extend(6u64.to_le_bytes());
    pair(&mut file, "general.architecture", 8);
    string(&mut file, "llama");
    pair(&mut file, "tokenizer.ggml.model", 8);
    string(&mut file, "gpt2");
    array(&mut file, "tokenizer.ggml.tokens", 8, TOKENS);
    for i in 0..TOKENS {
        string(&mut file, &format!("{}{}", if i % 2 == 0 { "Ġ" } else { "" }, word(i)));
    }
    array(&mut file, "tokenizer.ggml.scores", 6, TOKENS);
    for i in 0..u16::MAX {
        // Four of each score.
        file.extend(f32::from(i).to_le_bytes().repeat(4));
    }
    file.extend(0f32.to_le_bytes().repeat(4));
    array(&mut file, "tokenizer.ggml.token_type", 5, TOKENS);
    (0..TOKENS).for_each(|i| file.extend((1 + i % 6).to_le_bytes()));
    array(&mut file, "tokenizer.ggml.merges", 8, MERGES);
    (0..MERGES).for_each(|i| string(&mut file, &format!("Ġ{} {}", word(i), word(i / 3))));
    for i in 0..TENSORS {
        string(&mut file, &format!("blk.{i}.attn_norm.weight"));
        file.extend(1u32.to_le_bytes());
        file.extend(8u64.to_le_bytes());
        file.extend(0u32.to_le_bytes());
        file.extend((32 * i).to_le_bytes());
    }
    let data = file.len().next_multiple_of(32) + 32 * usize::try_from(TENSORS).unwrap_or(0);
    file.resize(data, 0);
    file
}

/// A word of two to nine letters.
fn word(i: u32) -> String {
    let mixed = i.wrapping_mul(2_654_435_761);
    let letters = 2 + (mixed >> 28) % 8;
    (0..letters).map(|k| char::from(b'a' + u8::try_from((mixed >> (3 * k)) % 26).unwrap_or(0))).collect()
}

fn string(file: &mut Vec<u8>, text: &str) {
    file.extend((text.len() as u64).to_le_bytes());
    file.extend(text.as_bytes());
}

fn pair(file: &mut Vec<u8>, key: &str, type_id: u32) {
    string(file, key);
    file.extend(type_id.to_le_bytes());
}

fn array(file: &mut Vec<u8>, key: &str, type_id: u32, len: u32) {
    pair(file, key, 9);
    file.extend(type_id.to_le_bytes());
    file.extend(u64::from(len).to_le_bytes());
}

/// Makes a file of `size` bytes that is a header and a hole: one tensor that fills it.
///
/// # Errors
///
/// As for writing a file; also if its file system has no holes of this size.
pub fn sparse(file: &mut File, size: u64) -> io::Result<()> {
    let mut head = b"GGUF\x03\0\0\0\x01\0\0\0\0\0\0\0\x01\0\0\0\0\0\0\0".to_vec();
    pair(&mut head, "general.architecture", 8);
    string(&mut head, "llama");
    string(&mut head, "token_embd.weight");
    head.extend(1u32.to_le_bytes());
    let end = (head.len() + 8 + 4 + 8).next_multiple_of(32) as u64;
    head.extend((size - end).to_le_bytes());
    head.extend(24u32.to_le_bytes());
    head.extend(0u64.to_le_bytes());
    io::Write::write_all(file, &head)?;
    file.set_len(size)
}

/// A file on disk, read at any place.
struct OnDisk<'f> {
    file: &'f File,
    len: u64,
}

impl OnDisk<'_> {
    fn read(&self, range: Range<u64>) -> io::Result<Vec<u8>> {
        let mut file = self.file;
        let mut bytes = vec![0; usize::try_from(range.end - range.start).map_err(io::Error::other)?];
        file.seek(SeekFrom::Start(range.start))?;
        file.read_exact(&mut bytes)?;
        Ok(bytes)
    }
}

impl Input for OnDisk<'_> {
    fn len(&self) -> u64 {
        self.len
    }

    fn bytes(&self, range: Range<u64>) -> Option<Cow<'_, [u8]>> {
        self.read(range).ok().map(Cow::Owned)
    }
}

/// Opens a file and reads its header, every rule judged. Gives the number of tensors.
///
/// # Errors
///
/// What the file system says, or why the file is refused.
pub fn open(path: &std::path::Path) -> io::Result<usize> {
    let file = File::open(path)?;
    let input = OnDisk { len: file.metadata()?.len(), file: &file };
    let mut size = 64 << 10;
    loop {
        let head = input.read(0..size.min(input.len))?;
        match read_head(&head, &input, Policy::strict()) {
            Ok(file) => return Ok(file.tensors().len()),
            Err(Stop::NeedMore { at_least }) => size = grown(size, at_least),
            Err(stop) => return Err(io::Error::other(stop)),
        }
    }
}

/// How long a work takes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Times {
    /// The shortest: what else a machine does makes a work slower, never faster.
    pub best: Duration,
    /// The median.
    pub median: Duration,
}

/// Something that takes time, under the name that it is shown by.
pub type Work<'a> = (&'static str, Box<dyn FnMut() + 'a>);

/// The times that some works take, each done once in a round, so that what else the machine does meets
/// all of them.
pub fn measured(rounds: usize, works: &mut [Work<'_>]) -> Vec<Times> {
    let mut times: Vec<Vec<Duration>> = vec![Vec::new(); works.len()];
    for _ in 0..rounds {
        for ((_, work), times) in works.iter_mut().zip(&mut times) {
            let start = Instant::now();
            work();
            times.push(start.elapsed());
        }
    }
    times
        .into_iter()
        .map(|mut times| {
            times.sort();
            let at = |i: usize| times.get(i).copied().unwrap_or_default();
            Times { best: at(0), median: at(rounds / 2) }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_header_is_of_the_size_and_kind_that_is_said() {
        let bytes = vocabulary();
        assert!((15 << 20..18 << 20).contains(&bytes.len()), "{} bytes", bytes.len());
        let file = assay_reader::read(&bytes, Policy::strict()).unwrap_or_else(|refused| panic!("{refused}"));
        let len = |key| file.get(key).and_then(|value| value.as_array()).map_or(0, |array| array.len());
        assert_eq!(len("tokenizer.ggml.tokens"), TOKENS as usize);
        assert_eq!(len("tokenizer.ggml.scores"), TOKENS as usize);
        assert_eq!(len("tokenizer.ggml.token_type"), TOKENS as usize);
        assert_eq!(len("tokenizer.ggml.merges"), MERGES as usize);
        assert_eq!(file.tensors().len() as u64, TENSORS);
    }

    #[test]
    fn a_file_with_a_hole_keeps_every_rule() {
        let mut file = tempfile::NamedTempFile::new().unwrap_or_else(|e| panic!("{e}"));
        sparse(file.as_file_mut(), 10 << 30).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(open(file.path()).ok(), Some(1));
    }
}
