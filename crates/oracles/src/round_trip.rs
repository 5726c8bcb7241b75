//! Decoding and encoding undo each other.

use gguf_spec::binary::{Decoded, NeedMore, Options, Source, decode_with, encode};
use gguf_spec::profile::KeyLookup;
use gguf_spec::rules::Checks;
use gguf_spec::syntax::Tree;

use crate::Holds;

/// Encoding what was decoded gives the file back, byte for byte, for every file that has a tree: the
/// file starts `base` bytes into the input and reaches to its end. Input without a tree has a finding
/// that tells why.
///
/// # Errors
///
/// The first byte that differs, or that neither a tree nor a finding came out.
pub fn decode_encode(input: &[u8], base: u64, checks: &Checks) -> Holds {
    let file = usize::try_from(base).ok().and_then(|base| input.get(base..)).unwrap_or(&[]);
    for lookup in [KeyLookup::Exact, KeyLookup::CString] {
        let decoded = decoded(input, base, checks, lookup)?;
        match &decoded.tree {
            Some(tree) => same_bytes(file, &encode(tree))?,
            None if decoded.findings.is_empty() && *checks == Checks::all() => {
                return Err("there is no tree, and no finding that tells why".to_owned());
            }
            None => {}
        }
    }
    Ok(())
}

/// Decoding what was encoded gives the tree back, for a tree whose declared counts and lengths are
/// true.
///
/// # Errors
///
/// The first part of the tree that differs.
pub fn encode_decode(tree: &Tree<'_>) -> Holds {
    let bytes = encode(tree);
    let decoded = decoded(&bytes, 0, &Checks::all(), KeyLookup::Exact)?;
    let Some(back) = &decoded.tree else { return Err("no tree came back".to_owned()) };
    same_tree(tree, back)
}

/// A whole input, decoded. The head of a whole input never is too short.
pub(crate) fn decoded<'a>(
    input: &'a [u8],
    base: u64,
    checks: &Checks,
    lookup: KeyLookup,
) -> Result<Decoded<'a>, String> {
    let options = Options { checks: checks.clone(), lookup };
    decode_with(Source::embedded(input, base), &options)
        .map_err(|NeedMore { at_least }| format!("{at_least} bytes wanted of a whole input of {}", input.len()))
}

fn same_bytes(expected: &[u8], actual: &[u8]) -> Holds {
    if expected == actual {
        return Ok(());
    }
    let at = expected.iter().zip(actual).take_while(|(a, b)| a == b).count();
    let byte = |bytes: &[u8]| bytes.get(at).map_or_else(|| "the end".to_owned(), |b| format!("0x{b:02X}"));
    Err(format!("byte {at} of {} came back as {} instead of {}", expected.len(), byte(actual), byte(expected)))
}

fn same_tree(expected: &Tree<'_>, actual: &Tree<'_>) -> Holds {
    if expected == actual {
        return Ok(());
    }
    let part = if let Some(i) = first_different(&expected.metadata, &actual.metadata) {
        format!("metadata[{i}]: {:?} instead of {:?}", actual.metadata.get(i), expected.metadata.get(i))
    } else if let Some(i) = first_different(&expected.tensors, &actual.tensors) {
        format!("tensors[{i}]: {:?} instead of {:?}", actual.tensors.get(i), expected.tensors.get(i))
    } else {
        let header = |tree: &Tree<'_>| {
            format!(
                "{:?} {:?} version {} tensors {} pairs {} padding {} rest {}",
                tree.magic,
                tree.byte_order,
                tree.version,
                tree.tensor_count,
                tree.kv_count,
                tree.padding.len(),
                tree.rest.len()
            )
        };
        format!("{} instead of {}", header(actual), header(expected))
    };
    Err(format!("another tree came back: {part}"))
}

fn first_different<T: PartialEq>(a: &[T], b: &[T]) -> Option<usize> {
    let same = a.iter().zip(b).take_while(|(a, b)| a == b).count();
    (same < a.len() || same < b.len()).then_some(same)
}

#[cfg(test)]
mod tests {
    use super::*;
    use gguf_spec::generate::valid;

    #[test]
    fn a_changed_byte_is_told() {
        assert_eq!(same_bytes(b"GGUF", b"GGUF"), Ok(()));
        assert_eq!(same_bytes(b"GGUF", b"GGUf"), Err("byte 3 of 4 came back as 0x66 instead of 0x46".to_owned()));
        assert_eq!(same_bytes(b"GGUF", b"GGU"), Err("byte 3 of 4 came back as the end instead of 0x46".to_owned()));
    }

    #[test]
    fn a_tree_that_is_not_its_own_decoding_is_told() {
        let mut tree = valid(3);
        assert_eq!(encode_decode(&tree), Ok(()));
        // A declared length that is not true: other bytes are taken for the key.
        tree.metadata[0].key.len -= 1;
        assert!(encode_decode(&tree).is_err_and(|reason| reason.contains("metadata[0]")));
    }
}
