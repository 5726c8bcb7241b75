//! The shape of a message: its words, without the numbers, quotations and names of one file.
//!
//! Two messages of one shape come from one place in a reader, as far as can be told from outside.

use std::collections::BTreeSet;

use gguf_spec::binary::decode;

/// What in a message belongs to a file, not to the reader.
#[derive(Clone, Debug, Default)]
pub(crate) struct Own {
    path: String,
    names: BTreeSet<String>,
}

impl Own {
    /// The path of the file as the reader was told it, and the keys and names in the file.
    pub(crate) fn of(path: &str, bytes: &[u8]) -> Self {
        let tree = decode(bytes).tree;
        let keys = tree.iter().flat_map(|tree| tree.metadata.iter().map(|pair| &pair.key));
        let tensors = tree.iter().flat_map(|tree| tree.tensors.iter().map(|tensor| &tensor.name));
        let names = keys.chain(tensors).map(|name| String::from_utf8_lossy(&name.bytes).into_owned()).collect();
        Self { path: path.to_owned(), names }
    }
}

/// Stands for what is taken out.
const OUT: &str = "#";

/// Words that are kept.
const MOST_WORDS: usize = 24;

/// A word that is longer is no word.
const LONGEST_WORD: usize = 40;

/// Bytes of a message that are looked at.
const LONGEST: usize = 4096;

/// The shape of a message about a file.
pub(crate) fn shape(message: &str, own: &Own) -> String {
    let message = &message[..message.floor_char_boundary(LONGEST)];
    let message = if own.path.is_empty() { message.to_owned() } else { message.replace(&own.path, OUT) };
    let mut words: Vec<&str> = Vec::new();
    let unquoted = without_quotations(&message);
    for word in unquoted.split_whitespace() {
        let word = match place_in_a_source(word) {
            Some(place) => place,
            None if is_of_a_file(word, own) => OUT,
            None => word,
        };
        // Lists of numbers have any length.
        if word != OUT || words.last() != Some(&OUT) {
            words.push(word);
        }
        if words.len() == MOST_WORDS {
            break;
        }
    }
    words.join(" ")
}

/// The names of files that programs are written in end with one of these.
const SOURCES: [&str; 17] =
    ["rs", "c", "cc", "cpp", "cxx", "cu", "h", "hpp", "m", "mm", "py", "js", "mjs", "ts", "go", "swift", "zig"];

/// The file and the line of `folder/file.rs:3:5:`, which are those of the reader, and part of what it fails by.
fn place_in_a_source(word: &str) -> Option<&str> {
    let start = word.rfind(['/', '\\', '(']).map_or(0, |at| at + 1);
    let word = &word[start..];
    let (file, rest) = word.split_once(':')?;
    let (stem, ending) = file.rsplit_once('.')?;
    let named = !stem.is_empty() && stem.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.'));
    let line = rest.bytes().take_while(u8::is_ascii_digit).count();
    let known = named && SOURCES.contains(&ending) && line > 0;
    let end = file.len() + 1 + line;
    (known && end <= LONGEST_WORD).then(|| &word[..end])
}

fn is_of_a_file(word: &str, own: &Own) -> bool {
    let bare = word.trim_matches(|c: char| c.is_ascii_punctuation());
    word.len() > LONGEST_WORD
        || word.chars().any(|c| c.is_ascii_digit() || !(' '..='~').contains(&c))
        || bare.is_empty()
        || own.names.contains(word)
        || own.names.contains(bare)
}

/// A message in which each quotation is one mark. What a file holds may have quotes in it: one that is not
/// closed reaches to the end of its line.
fn without_quotations(message: &str) -> String {
    let mut out = String::with_capacity(message.len());
    for line in message.lines() {
        let mut rest = line.chars();
        let mut before = ' ';
        while let Some(c) = rest.next() {
            // After a letter it is an apostrophe.
            if matches!(c, '"' | '\'' | '`') && !before.is_alphanumeric() {
                out.push_str(OUT);
                rest.find(|&end| end == c);
            } else {
                out.push(c);
            }
            before = c;
        }
        out.push(' ');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(message: &str) -> String {
        let own = Own { path: "/room a/7.gguf".to_owned(), names: BTreeSet::from(["general.name".to_owned()]) };
        shape(message, &own)
    }

    #[test]
    fn what_belongs_to_one_file_is_taken_out() {
        for (message, shape) in [
            ("bad magic in /room a/7.gguf", "bad magic in #"),
            ("index 12 is out of bounds for axis 0 with size 0", "index # is out of bounds for axis # with size #"),
            ("cannot reshape (3, 4, 5)", "cannot reshape #"),
            ("key 'x y' isn't known", "key # isn't known"),
            ("the key general.name, again", "the key # again"),
            ("signal 6 (abort): GGML_ASSERT(n > 0) failed", "signal # (abort): GGML_ASSERT(n # failed"),
            ("panicked at /a/7/lib.rs:31:5: index 7", "panicked at lib.rs:31 index #"),
            ("/x/gguf.cpp:12: GGML_ASSERT", "gguf.cpp:12 GGML_ASSERT"),
            ("x.txt:12 :12 .rs:12 a.rs:", "# a.rs:"),
            ("größe \u{1}", "#"),
            ("open \"quote\nnext line", "open # next line"),
            ("", ""),
        ] {
            assert_eq!(of(message), shape, "{message:?}");
        }
    }

    #[test]
    fn a_shape_is_short_whatever_the_message() {
        for message in ["a ".repeat(100_000), "a".repeat(100_000), "\"".repeat(9_999), "é".repeat(5_000)] {
            assert!(of(&message).len() <= MOST_WORDS * (LONGEST_WORD + 1), "{}", of(&message).len());
        }
    }
}
