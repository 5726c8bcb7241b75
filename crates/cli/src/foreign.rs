//! What a file is that is not GGUF: people point a checker at pointers, web pages and other formats.

use crate::text::{count, quoted};

/// A file of another kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Foreign {
    /// The kind, a word for scripts.
    pub kind: &'static str,
    /// What it is and what to do, a sentence.
    pub sentence: String,
}

/// Looks at the first bytes and the length of a file.
type Recogniser = fn(&[u8], u64) -> Option<Foreign>;

/// Tells what a file is from its first bytes and its length, if it is something known. `head` has at
/// least the first few kilobytes, unless the file is shorter.
#[must_use]
pub fn recognise(head: &[u8], len: u64) -> Option<Foreign> {
    const RECOGNISERS: [Recogniser; 10] =
        [empty, short, git_lfs, older_ggml, pytorch, safetensors, markup, by_signature, onnx, zeros];
    RECOGNISERS.iter().find_map(|recognise| recognise(head, len)).or_else(|| embedded(head))
}

fn foreign(kind: &'static str, sentence: impl Into<String>) -> Option<Foreign> {
    Some(Foreign { kind, sentence: sentence.into() })
}

fn empty(_: &[u8], len: u64) -> Option<Foreign> {
    if len == 0 { foreign("empty", "an empty file: the download or copy never started; get it again") } else { None }
}

fn short(head: &[u8], len: u64) -> Option<Foreign> {
    if len < 4 && b"GGUF".starts_with(head) {
        foreign("cut", "a GGUF file cut off inside its first four bytes: get it again")
    } else {
        None
    }
}

/// The text file that stands for a large one in a git repository.
fn git_lfs(head: &[u8], _: u64) -> Option<Foreign> {
    if !head.starts_with(b"version https://git-lfs.github.com/spec/") {
        return None;
    }
    let text = String::from_utf8_lossy(&head[..head.len().min(1024)]);
    let field = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
    let size = field("size ").and_then(|size| size.parse::<u64>().ok());
    let stands_for = size.map_or_else(String::new, |size| format!(" for a file of {}", count(size, "byte")));
    foreign(
        "git-lfs-pointer",
        format!("a git-lfs pointer{stands_for}, not the file itself: fetch it with `git lfs pull`"),
    )
}

/// The formats before GGUF: a number as the magic, so the letters stand backwards in the file.
fn older_ggml(head: &[u8], _: u64) -> Option<Foreign> {
    const CONVERT: &str = "convert the original weights to GGUF again; no current reader takes this file";
    match head.get(..4)? {
        b"lmgg" => foreign(
            "ggml",
            "a GGML file without a version: a language model from before May 2023, which must be converted to GGUF again, \
             or a model for whisper.cpp, which no reader of GGUF takes",
        ),
        b"fmgg" => foreign("ggmf", format!("a GGMF file, a predecessor of GGUF: {CONVERT}")),
        b"tjgg" => foreign("ggjt", format!("a GGJT file, the last predecessor of GGUF: {CONVERT}")),
        b"algg" => {
            foreign("ggla", "a GGLA file, an adapter in a format before GGUF: convert the adapter to GGUF again")
        }
        b"FUGG" => foreign(
            "byte-swapped-magic",
            "a file whose magic is byte-swapped: GGUF starts with the bytes G G U F in either byte order; \
             whoever wrote it wrote the magic as a number in the wrong order",
        ),
        _ => None,
    }
}

/// Zip archives and pickles: PyTorch writes either.
fn pytorch(head: &[u8], _: u64) -> Option<Foreign> {
    const CONVERT: &str = "convert the model to GGUF";
    if head.starts_with(b"PK\x03\x04") || head.starts_with(b"PK\x05\x06") {
        // The names of members stand in the clear.
        let is_torch = find(head, b"data.pkl").is_some();
        return if is_torch {
            foreign("pytorch-zip", format!("a PyTorch checkpoint (a zip archive around a pickle): {CONVERT}"))
        } else {
            foreign("zip", "a zip archive: unpack it, the GGUF file may be inside")
        };
    }
    match head {
        [0x80, 2..=5, ..] => foreign(
            "pickle",
            format!(
                "a Python pickle, as old PyTorch checkpoints are: {CONVERT}; unpickling can run code, so know where it comes from"
            ),
        ),
        _ => None,
    }
}

/// A length, then that much JSON.
fn safetensors(head: &[u8], len: u64) -> Option<Foreign> {
    let length = u64::from_le_bytes(head.get(..8)?.try_into().ok()?);
    if length < 2 || length.checked_add(8)? > len || head.get(8) != Some(&b'{') {
        return None;
    }
    foreign("safetensors", "a safetensors file: convert the model to GGUF")
}

/// A web page, or what a server says instead of a file.
fn markup(head: &[u8], _: u64) -> Option<Foreign> {
    let text = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head).trim_ascii_start();
    let starts = |with: &[u8]| text.get(..with.len()).is_some_and(|start| start.eq_ignore_ascii_case(with));
    if starts(b"<!doctype html") || starts(b"<html") || starts(b"<head") {
        foreign(
            "html",
            "a web page (HTML), not a model: the link led to a page, or asks you to log in; use the link that downloads the file",
        )
    } else if starts(b"<?xml") || starts(b"<error") {
        foreign("xml", "an XML document, not a model: likely the error message of a server that was saved as the file")
    } else if text.first() == Some(&b'{') && text.get(1..)?.trim_ascii_start().first() == Some(&b'"') {
        let start = &text[..text.len().min(60)];
        foreign(
            "json",
            format!(
                "JSON text, not a model: {}; an index, a configuration or the error message of a server",
                quoted(start, 60)
            ),
        )
    } else {
        None
    }
}

/// Formats that say what they are in fixed bytes at a fixed place.
fn by_signature(head: &[u8], _: u64) -> Option<Foreign> {
    const SIGNATURES: &[(usize, &[u8], &str, &str)] = &[
        (0, b"\x1f\x8b", "gzip", "a gzip-compressed file: unpack it first, with `gunzip`"),
        (0, b"\x28\xb5\x2f\xfd", "zstd", "a zstd-compressed file: unpack it first, with `unzstd`"),
        (0, b"\xfd7zXZ\0", "xz", "an xz-compressed file: unpack it first, with `unxz`"),
        (0, b"BZh", "bzip2", "a bzip2-compressed file: unpack it first, with `bunzip2`"),
        (0, b"7z\xbc\xaf\x27\x1c", "7z", "a 7z archive: unpack it, the GGUF file may be inside"),
        (257, b"ustar", "tar", "a tar archive: unpack it, the GGUF file may be inside"),
        (0, b"\x89HDF\r\n\x1a\n", "hdf5", "an HDF5 file, as Keras writes: convert the model to GGUF"),
        (4, b"TFL3", "tflite", "a TensorFlow Lite model: it has another format, and no reader of GGUF takes it"),
        (0, b"\x93NUMPY", "npy", "a NumPy array: it is not a model, and no reader of GGUF takes it"),
    ];
    SIGNATURES
        .iter()
        .find(|(at, bytes, ..)| head.get(*at..).is_some_and(|rest| rest.starts_with(bytes)))
        .and_then(|&(_, _, kind, sentence)| foreign(kind, sentence))
}

/// ONNX has no magic: a protobuf message whose first field is a small number, the version of the
/// format, followed by the name of the producer, the graph or the operator sets.
fn onnx(head: &[u8], _: u64) -> Option<Foreign> {
    let [0x08, 1..=32, tag, length, rest @ ..] = head else { return None };
    let is_text = || {
        rest.get(..usize::from(*length)).is_some_and(|text| !text.is_empty() && text.iter().all(u8::is_ascii_graphic))
    };
    let likely = match tag {
        // The name of the producer, its version, a domain.
        0x12 | 0x1a | 0x22 => is_text(),
        // The graph; the operator sets.
        0x3a | 0x42 => true,
        _ => false,
    };
    if likely { foreign("onnx", "an ONNX model: convert the original weights to GGUF") } else { None }
}

fn zeros(head: &[u8], _: u64) -> Option<Foreign> {
    let start = head.get(..64.min(head.len()))?;
    if start.iter().all(|&b| b == 0) {
        foreign(
            "zeros",
            "a file that starts with zeros: likely space that a download reserved and never filled; get it again",
        )
    } else {
        None
    }
}

/// A GGUF file inside another one, such as a program that carries its model.
fn embedded(head: &[u8]) -> Option<Foreign> {
    let at = find(head, b"GGUF").filter(|&at| at > 0)?;
    foreign(
        "embedded",
        format!("another file, with the letters GGUF at byte {at}: if a model starts there, look at it with --at {at}"),
    )
}

fn find(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    haystack.windows(needle.len()).position(|window| window == needle)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(bytes: &[u8]) -> Option<&'static str> {
        recognise(bytes, bytes.len() as u64).map(|foreign| foreign.kind)
    }

    #[test]
    fn each_kind_is_known_by_its_bytes() {
        let mut safetensors = 2u64.to_le_bytes().to_vec();
        safetensors.extend_from_slice(b"{}");
        let mut tar = vec![b'x'; 512];
        tar[257..262].copy_from_slice(b"ustar");
        let cases: &[(&[u8], &str)] = &[
            (b"", "empty"),
            (b"GGU", "cut"),
            (b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 12\n", "git-lfs-pointer"),
            (b"lmgg\0\0\0\0", "ggml"),
            (b"fmgg\x01\0\0\0", "ggmf"),
            (b"tjgg\x03\0\0\0", "ggjt"),
            (b"algg\x01\0\0\0", "ggla"),
            (b"FUGG\x03\0\0\0", "byte-swapped-magic"),
            (b"PK\x03\x04....archive/data.pkl", "pytorch-zip"),
            (b"PK\x03\x04....model.gguf", "zip"),
            (b"\x80\x02\x8a\x0a", "pickle"),
            (&safetensors, "safetensors"),
            (b"\xef\xbb\xbf\n <!DOCTYPE html><html>", "html"),
            (b"<?xml version='1.0'?><Error>", "xml"),
            (b"{\"error\":\"gated\"}", "json"),
            (b"\x1f\x8b\x08\0", "gzip"),
            (&tar, "tar"),
            (b"\x08\x07\x12\x07pytorch\x1a", "onnx"),
            (b"\x08\x03\x3a\xff", "onnx"),
            (&[0; 80], "zeros"),
            (b"\x7fELF....GGUF\x03\0\0\0", "embedded"),
        ];
        for (bytes, expected) in cases {
            assert_eq!(kind(bytes), Some(*expected), "{}", quoted(bytes, 40));
        }
    }

    #[test]
    fn other_bytes_are_not_guessed_at() {
        for bytes in
            [b"GGUG\x03\0\0\0".as_slice(), b"hello, world", b"\x08\x07\x12\x40pyt", b"{not json", b"\xff\xff\xff\xff"]
        {
            assert_eq!(kind(bytes), None, "{}", quoted(bytes, 40));
        }
        // A length that the file does not have is no safetensors file.
        assert_eq!(kind(b"\xff\0\0\0\0\0\0\0{}"), None);
    }
}
