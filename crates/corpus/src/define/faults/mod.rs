//! Faults of published readers, each as the smallest file that shows it.
//!
//! References name a public issue, pull request or advisory: `owner/repository#number`. What the
//! right behaviour is follows from the rules, not from the reference.

mod numbers;
mod places;
mod words;

use gguf_spec::generate::{Builder, tensor};
use gguf_spec::rules::header;

use super::{Definition, Group, bytes};

pub(super) fn define() -> Vec<Definition> {
    let mut group = Group::new("faults", "bug");
    numbers::sizes(&mut group);
    numbers::alignments(&mut group);
    numbers::counts(&mut group);
    places::extents(&mut group);
    places::names(&mut group);
    places::versions(&mut group);
    words::arrays(&mut group);
    words::tokenizers(&mut group);
    words::types(&mut group);
    words::models(&mut group);
    foreign(&mut group);
    group.list
}

fn one(type_id: u32, dims: &[u64]) -> Vec<u8> {
    bytes(Builder::new().add(tensor("t", type_id, dims)))
}

fn foreign(group: &mut Group) {
    for (name, purpose, content, reference) in [
        (
            "ggjt",
            "An old GGJT file with a negative tensor length: not a GGUF file, and a converter loops on it.",
            b"tjgg\x03\0\0\0\0\0\0\0\0\0\0\0\xFF\xFF\xFF\xFF".to_vec(),
            "the converter for legacy files of ggml-org/llama.cpp",
        ),
        (
            "zero-bytes",
            "A file of no bytes, as an interrupted merge leaves it.",
            Vec::new(),
            "ggml-org/llama.cpp#8264, ggml-org/llama.cpp#9498",
        ),
        (
            "lfs-pointer",
            "A pointer of a large-file store instead of the file.",
            b"version https://git-lfs.github.com/spec/v1\noid sha256:0000\nsize 98362432\n".to_vec(),
            "a frequent download mistake",
        ),
        (
            "html",
            "A page that says the file was not found.",
            b"<!DOCTYPE html><html><body>404: Not Found</body></html>".to_vec(),
            "a frequent download mistake",
        ),
        (
            "zip",
            "The start of a zip archive, as other frameworks store weights.",
            b"PK\x03\x04\x14\0\0\0\0\0\0\0".to_vec(),
            "a frequent mix-up",
        ),
        ("zeros", "A block of zeros, as a sparse download leaves it.", vec![0; 64], "janhq/jan#3521"),
    ] {
        group
            .push(format!("fault-{name}"), purpose, content)
            .breaks(&[&header::MAGIC])
            .flags(&["foreign"])
            .from("bug", reference);
    }
}
