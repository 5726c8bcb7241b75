//! The closed list of flags a vector can carry.

/// A flag and what it tells somebody who looks at a result.
#[derive(Clone, Copy, Debug)]
pub struct Flag {
    /// The name.
    pub name: &'static str,
    /// What it means.
    pub meaning: &'static str,
}

/// The flags. Each is used by at least one vector; the builder refuses others.
pub const FLAGS: &[Flag] = &[
    Flag { name: "big-endian", meaning: "The file is big-endian. ggml on a little-endian host refuses it." },
    Flag { name: "version-1", meaning: "Version 1 of the format: 32-bit counts and lengths." },
    Flag { name: "version-2", meaning: "Version 2 of the format: the layout of version 3." },
    Flag { name: "nested-array", meaning: "An array of arrays, which the document allows and ggml refuses." },
    Flag { name: "c-string", meaning: "Text with a NUL inside: a C interface shows only what comes before it." },
    Flag { name: "non-utf8", meaning: "Text that is not UTF-8: the document refuses it, ggml reads any bytes." },
    Flag { name: "truncated", meaning: "The file ends too early." },
    Flag { name: "huge-count", meaning: "A count or length far beyond the file: nothing may be allocated by it." },
    Flag { name: "overflow", meaning: "A product or sum of sizes that wraps in 64-bit arithmetic." },
    Flag {
        name: "memory",
        meaning: "The outcome of `ggml-data` depends on the address space: it is stated for 4 GiB.",
    },
    Flag { name: "empty-tensor", meaning: "A tensor with a dimension of 0: real files have them." },
    Flag { name: "duplicate", meaning: "A key or name that occurs twice." },
    Flag {
        name: "no-tensors",
        meaning: "A file without tensors, such as a vocabulary or the first shard of a split model.",
    },
    Flag { name: "trailing-bytes", meaning: "Bytes after everything the tensor table speaks of." },
    Flag { name: "padding", meaning: "Only padding differs from a right file." },
    Flag { name: "newer-type", meaning: "A tensor type that ggml knows and the document does not list." },
    Flag { name: "split", meaning: "One shard of a model in several files." },
    Flag { name: "foreign", meaning: "Another format, or a damaged start." },
    Flag {
        name: "limit",
        meaning: "A limit of this specification where the document sets none; a reader with another limit is not wrong.",
    },
    Flag { name: "well-formed", meaning: "Nothing is wrong with the file: the fault on record is in a reader." },
];

/// Whether a flag is on the list.
#[must_use]
pub fn is_known(name: &str) -> bool {
    FLAGS.iter().any(|flag| flag.name == name)
}

#[cfg(test)]
mod tests {
    use super::FLAGS;

    #[test]
    fn the_readme_of_the_corpus_explains_every_flag_in_the_same_words() {
        let readme = include_str!("../../../corpus/README.md");
        let list = readme.split("\n## ").find(|section| section.starts_with("Flags\n")).expect("a section on flags");
        for flag in FLAGS {
            let row = format!("\n| `{}` | {} |\n", flag.name, flag.meaning);
            assert!(list.contains(&row), "corpus/README.md lacks the row{row}");
        }
        assert_eq!(
            list.matches("\n| `").count(),
            FLAGS.len(),
            "corpus/README.md explains a flag that is not on the list"
        );
    }
}
