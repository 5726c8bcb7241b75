//! Words that files of the format are made of, for mutations that know nothing of trees.
//!
//! Everything is taken from the tables of the specification, so that a new type or key is a new word.

use std::fmt::Write;

use gguf_spec::limits::{GGML_MAX_PAIRS, GGML_MAX_STRING_LENGTH, GGML_MAX_TENSORS, MAGIC, MAX_KEY_LENGTH};
use gguf_spec::rules::keys::KEYS;
use gguf_spec::types::{TENSOR_TYPES, VALUE_TYPES};

/// The dictionary in the form that libFuzzer and AFL read: `name="bytes"`, one a line.
#[must_use]
pub fn text() -> String {
    let mut text =
        "# Written by `cargo run -p assay-fuzz --bin prepare`, from the tables of the specification.\n".to_owned();
    entry(&mut text, "magic", &MAGIC);
    entry(&mut text, "magic-reversed", b"FUGG");
    for version in 1..=4u32 {
        entry(&mut text, &format!("version-{version}"), &version.to_le_bytes());
        entry(&mut text, &format!("version-{version}-big"), &version.to_be_bytes());
    }
    for row in &VALUE_TYPES {
        entry(&mut text, &format!("value-{}", row.name), &row.id.to_le_bytes());
        entry(&mut text, &format!("array-of-{}", row.name), &[9u32.to_le_bytes(), row.id.to_le_bytes()].concat());
    }
    for ty in &TENSOR_TYPES {
        entry(&mut text, &format!("tensor-{}", ty.name), &ty.id.to_le_bytes());
    }
    for row in KEYS {
        let key = row.example();
        let stored = [&(key.len() as u64).to_le_bytes()[..], key.as_bytes()].concat();
        entry(&mut text, &key, &stored);
    }
    for (name, number) in [
        ("2-31", 1 << 31),
        ("2-32", 1 << 32),
        ("2-62", 1 << 62),
        ("2-63", 1 << 63),
        ("2-64-less-1", u64::MAX),
        ("longest-key", MAX_KEY_LENGTH),
        ("longest-string", GGML_MAX_STRING_LENGTH),
        ("most-pairs", GGML_MAX_PAIRS),
        ("most-tensors", GGML_MAX_TENSORS),
    ] {
        entry(&mut text, name, &number.to_le_bytes());
    }
    // What adapters write.
    for word in [
        "seq",
        "result",
        "started",
        "accepted",
        "rejected",
        "skipped",
        "written",
        "stopped",
        "document",
        "message",
        "reason",
        "omits",
        "incidental",
        "metadata",
        "tensors",
        "type",
        "value",
        "key",
        "bits",
        "base64",
    ] {
        entry(&mut text, &format!("word-{word}"), format!("\"{word}\"").as_bytes());
    }
    text
}

fn entry(text: &mut String, name: &str, bytes: &[u8]) {
    let name: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    let _ = write!(text, "{name}=\"");
    for byte in bytes {
        let _ = match byte {
            b'"' | b'\\' => write!(text, "\\{}", char::from(*byte)),
            b' '..=b'~' => write!(text, "{}", char::from(*byte)),
            _ => write!(text, "\\x{byte:02X}"),
        };
    }
    text.push_str("\"\n");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_written_as_libfuzzer_reads_them() {
        let text = text();
        assert!(text.contains("\nmagic=\"GGUF\"\n"));
        assert!(text.contains("\nvalue_string=\"\\x08\\x00\\x00\\x00\"\n"));
        assert!(text.contains("\nword_seq=\"\\\"seq\\\"\"\n"));
        assert!(text.lines().skip(1).all(|line| line.ends_with('"') && line.contains("=\"")));
    }
}
