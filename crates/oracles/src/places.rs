//! Where the fields lie.

use gguf_spec::binary::{Places, Span, spans, spans_of_data};
use gguf_spec::field::{Field, KvPart, TensorPart};
use gguf_spec::profile::KeyLookup;
use gguf_spec::rules::Checks;
use gguf_spec::syntax::Tree;
use gguf_spec::valid::layout::DataLayout;

use crate::Holds;
use crate::round_trip::decoded;

/// The spans of the fields lie end to end from the start of the file up to the first byte that could
/// not be decoded; those of a completely decoded file reach, with those of its data, the end of the
/// input. The places found by arithmetic are those of the spans.
///
/// # Errors
///
/// The first gap, overlap, empty span or contradiction.
pub fn tile(input: &[u8], base: u64) -> Holds {
    let len = input.len() as u64;
    for lookup in [KeyLookup::Exact, KeyLookup::CString] {
        let decoded = decoded(input, base, &Checks::all(), lookup)?;
        let Some(tree) = &decoded.tree else { continue };
        let mut list = spans(tree, base);
        end_to_end(&list, base, len - tree.rest.len() as u64)?;
        agree(&decoded.places, tree, &list)?;
        if decoded.complete {
            let layout = DataLayout::of(tree, &decoded.places, lookup);
            list.extend(spans_of_data(&layout, len));
            end_to_end(&list, base, len)?;
        }
    }
    Ok(())
}

/// Spans that are not empty and lie end to end.
fn end_to_end(list: &[Span], from: u64, to: u64) -> Holds {
    let mut at = from;
    for span in list {
        if span.range.start != at || span.range.end <= at {
            return Err(format!("{} lies at {:?}, the field before it ends at {at}", span.field, span.range));
        }
        at = span.range.end;
    }
    if at == to { Ok(()) } else { Err(format!("the last field ends at {at}, not at {to}")) }
}

/// Encoding walks the tree, [`Places`] adds up its sizes: both must find the same places.
fn agree(places: &Places, tree: &Tree<'_>, list: &[Span]) -> Holds {
    let mut at = 0;
    let mut expect = |name: &str, start: u64, matches: &dyn Fn(&Field) -> bool| {
        // Both lists are in file order, so one pass finds every entry.
        while at < list.len() && !matches(&list[at].field) {
            at += 1;
        }
        match list.get(at) {
            Some(span) if span.range.start == start => Ok(()),
            Some(span) => Err(format!("{name} starts at {start} by its size, at {} as written", span.range.start)),
            None => Err(format!("{name} has no span")),
        }
    };
    expect("the version", places.version, &|field| matches!(field, Field::Version))?;
    expect("the tensor count", places.tensor_count, &|field| matches!(field, Field::TensorCount))?;
    expect("the pair count", places.kv_count, &|field| matches!(field, Field::KvCount))?;
    for (i, &start) in places.pairs.iter().enumerate() {
        let first = |field: &Field| matches!(field, Field::Kv(j, KvPart::KeyLen) if *j == i);
        expect(&format!("metadata[{i}]"), start, &first)?;
    }
    for (i, tensor) in tree.tensors.iter().enumerate() {
        let parts = [TensorPart::NameLen, TensorPart::Name, TensorPart::NDims]
            .into_iter()
            .chain((0..tensor.dims.len()).map(TensorPart::Dim))
            .chain([TensorPart::Type, TensorPart::Offset]);
        for part in parts {
            let range = places.tensor_part(tree, i, part);
            if !range.is_empty() {
                let field = Field::Tensor(i, part);
                expect(&field.to_string(), range.start, &|other| *other == field)?;
            }
        }
    }
    let end = list.last().map_or(places.base, |span| span.range.end);
    if places.padding_end == end {
        Ok(())
    } else {
        Err(format!("the padding ends at {} by its size, at {end} as written", places.padding_end))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gguf_spec::binary::encode;
    use gguf_spec::generate::valid;

    #[test]
    fn a_gap_an_overlap_and_a_short_list_are_told() {
        let span = |range| Span { field: Field::Gap, range };
        assert_eq!(end_to_end(&[span(2..5), span(5..9)], 2, 9), Ok(()));
        assert!(end_to_end(&[span(2..5), span(6..9)], 2, 9).is_err());
        assert!(end_to_end(&[span(2..5), span(4..9)], 2, 9).is_err());
        assert!(end_to_end(&[span(2..5), span(5..5), span(5..9)], 2, 9).is_err());
        assert!(end_to_end(&[span(2..5)], 2, 9).is_err());
    }

    #[test]
    fn a_wrong_place_is_told() {
        let tree = valid(3);
        let list = spans(&tree, 7);
        let right = Places::of(&tree, 7);
        assert_eq!(agree(&right, &tree, &list), Ok(()));
        let mut wrong = right.clone();
        wrong.pairs[0] += 1;
        assert!(agree(&wrong, &tree, &list).is_err_and(|reason| reason.starts_with("metadata[0]")));
        let wrong = Places { padding_end: right.padding_end + 1, ..right };
        assert!(agree(&wrong, &tree, &list).is_err());
        assert_eq!(tile(&encode(&tree), 0), Ok(()));
    }
}
