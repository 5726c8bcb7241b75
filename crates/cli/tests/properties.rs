//! What holds of every file, however damaged: its fields tile it, and its dump shows every byte.

mod common;

use gguf_assay::dump::{Dump, all_spans, write_hex, write_tree};
use gguf_spec::binary::{decode, encode};
use gguf_spec::generate::strategy::{any_tree, broken, damaged_bytes, valid};
use gguf_spec::judge::judge;
use gguf_spec::rules::{Checks, catalogue};
use proptest::prelude::*;

/// The spans go from the first byte to the last, end to end, and none is empty.
fn tiles(bytes: &[u8]) -> Result<(), TestCaseError> {
    let mut at = 0;
    for span in all_spans(&decode(bytes), bytes.len() as u64) {
        prop_assert_eq!(span.range.start, at, "a gap or an overlap before {}", span.field);
        prop_assert!(span.range.end > at, "{} is empty", span.field);
        at = span.range.end;
    }
    prop_assert_eq!(at, bytes.len() as u64, "the last field does not reach the end");
    Ok(())
}

/// The bytes that a full dump shows are those of the file, and it tells of every finding.
fn dump_shows_all(bytes: &[u8]) -> Result<(), TestCaseError> {
    let (decoded, judgement) = (decode(bytes), judge(bytes, &Checks::all()));
    let dump = Dump { decoded: &decoded, input: &bytes, findings: &judgement.findings, full: true };
    let mut styled = Vec::new();
    write_hex(&mut styled, &dump)?;
    let text = anstream::adapter::strip_bytes(&styled).into_vec();
    let text = String::from_utf8(text)?;

    let mut shown = Vec::new();
    for line in text.lines() {
        let Some((offset, rest)) = line.split_once("  ").filter(|(offset, _)| offset.len() >= 8) else { continue };
        let Ok(offset) = u64::from_str_radix(offset, 16) else { continue };
        prop_assert_eq!(offset, shown.len() as u64, "{}", line);
        // Fifteen gaps, one of them double.
        let hex: String = rest.chars().take(48).collect();
        for byte in hex.split_whitespace() {
            shown.push(u8::from_str_radix(byte, 16)?);
        }
    }
    prop_assert_eq!(shown.as_slice(), bytes);
    let told = |text: &str, id: &str| text.matches(&format!(" {id}: ")).count();
    let mut tree = Vec::new();
    write_tree(&mut tree, &dump)?;
    let tree = String::from_utf8(anstream::adapter::strip_bytes(&tree).into_vec())?;
    for rule in catalogue() {
        let found = judgement.findings.iter().filter(|finding| *finding.rule == *rule).count();
        prop_assert_eq!(told(&text, rule.id), found, "{} in the hex dump\n{}", rule.id, text);
        prop_assert_eq!(told(&tree, rule.id), found, "{} in the tree\n{}", rule.id, tree);
    }
    Ok(())
}

fn holds(bytes: &[u8]) -> Result<(), TestCaseError> {
    tiles(bytes)?;
    dump_shows_all(bytes)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(300) })]

    #[test]
    fn of_valid_files(tree in valid()) {
        holds(&encode(&tree))?;
    }

    #[test]
    fn of_files_that_break_a_rule((_, broken) in broken()) {
        holds(&broken.bytes())?;
    }

    #[test]
    fn of_damaged_files(bytes in damaged_bytes()) {
        holds(&bytes)?;
    }

    #[test]
    fn of_any_tree(tree in any_tree()) {
        holds(&encode(&tree))?;
    }

    #[test]
    fn of_any_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        holds(&bytes)?;
    }
}

#[test]
fn of_every_vector() {
    for entry in common::committed_corpus() {
        if let Err(error) = holds(&entry.bytes) {
            panic!("{}: {error}", entry.vector.id);
        }
    }
}
