//! What holds of every list of findings.

use std::collections::HashMap;

use gguf_spec::binary::{Options, Span, spans, spans_of_data};
use gguf_spec::field::Finding;
use gguf_spec::judge::judge;
use gguf_spec::profile::KeyLookup;
use gguf_spec::rules::{Checks, find};
use gguf_spec::valid;
use gguf_spec::valid::layout::DataLayout;

use crate::Holds;
use crate::round_trip::decoded;

/// At most this many findings concern the file as a whole.
pub const MOST_OF_FILE: usize = 16;
/// At most this many findings concern one pair: two about the key's form, one about its being a
/// duplicate, four about the value, two about its meaning.
pub const MOST_OF_PAIR: usize = 9;
/// At most this many findings concern one tensor: three about its name, two about its shape, two about
/// its type, three about its place, two about its data.
pub const MOST_OF_TENSOR: usize = 12;

/// No message is longer than this many bytes, whatever the file holds.
pub const LONGEST_MESSAGE: usize = 1024;

/// The findings of any bytes are ordered, inside the input, in the field that they name, of rules of
/// the catalogue, told in short messages, and at most so many as there are entries, times a constant.
/// The findings of a judgement are those of the one lookup, then those that the other one adds.
///
/// # Errors
///
/// The first finding of which this is not true.
pub fn sound(bytes: &[u8]) -> Holds {
    let mut lists = Vec::new();
    for lookup in [KeyLookup::Exact, KeyLookup::CString] {
        let decoded = decoded(bytes, 0, &Checks::all(), lookup)?;
        let options = Options { checks: Checks::all(), lookup };
        let list = valid::findings(&decoded, &bytes, &options);
        ordered(&list)?;
        inside(&list, bytes.len() as u64)?;
        known(&list)?;
        short(&list)?;
        let (mut pairs, mut tensors) = (0, 0);
        if let Some(tree) = &decoded.tree {
            (pairs, tensors) = (tree.metadata.len(), tree.tensors.len());
            let mut places = spans(tree, 0);
            if decoded.complete {
                places.extend(spans_of_data(&DataLayout::of(tree, &decoded.places, lookup), bytes.len() as u64));
            }
            in_their_field(&list, &places)?;
        }
        few(&list, pairs, tensors)?;
        lists.push(list);
    }
    let judgement = judge(bytes, &Checks::all());
    joined(&lists[0], &lists[1], &judgement.findings)
}

/// In order, and none told twice.
fn ordered(list: &[Finding]) -> Holds {
    match list.windows(2).find(|pair| pair[0].order(&pair[1]).is_ge()) {
        Some(pair) => Err(format!("out of order: `{}`, then `{}`", pair[0], pair[1])),
        None => Ok(()),
    }
}

fn inside(list: &[Finding], len: u64) -> Holds {
    match list.iter().find(|finding| finding.span.start > finding.span.end || finding.span.end > len) {
        Some(finding) => Err(format!("bytes {:?} of an input of {len}: {finding}", finding.span)),
        None => Ok(()),
    }
}

fn known(list: &[Finding]) -> Holds {
    // Files with many findings break few rules.
    let mut seen = Vec::new();
    for finding in list {
        if seen.contains(&finding.rule.id) {
            continue;
        }
        if find(finding.rule.id) != Some(finding.rule) {
            return Err(format!("not a rule of the catalogue: {finding}"));
        }
        seen.push(finding.rule.id);
    }
    Ok(())
}

fn short(list: &[Finding]) -> Holds {
    match list.iter().map(ToString::to_string).find(|text| text.len() > LONGEST_MESSAGE) {
        Some(text) => {
            Err(format!("a message of {} bytes: {}…", text.len(), text.chars().take(200).collect::<String>()))
        }
        None => Ok(()),
    }
}

fn few(list: &[Finding], pairs: usize, tensors: usize) -> Holds {
    let most = MOST_OF_FILE + MOST_OF_PAIR * pairs + MOST_OF_TENSOR * tensors;
    if list.len() <= most {
        Ok(())
    } else {
        Err(format!("{} findings of {pairs} pairs and {tensors} tensors", list.len()))
    }
}

/// A finding whose field has a place lies in it.
fn in_their_field(list: &[Finding], places: &[Span]) -> Holds {
    let places: HashMap<_, _> = places.iter().map(|span| (&span.field, &span.range)).collect();
    for finding in list {
        let Some(place) = places.get(&finding.field) else { continue };
        if finding.span.start < place.start || finding.span.end > place.end {
            return Err(format!("bytes {:?} are not in the field at {place:?}: {finding}", finding.span));
        }
    }
    Ok(())
}

/// The one list, then what the other adds, in its order.
fn joined(exact: &[Finding], c_string: &[Finding], judged: &[Finding]) -> Holds {
    let Some((_, rest)) = judged.split_at_checked(exact.len()).filter(|(first, _)| *first == exact) else {
        return Err("the judgement does not begin with the findings of the exact lookup".to_owned());
    };
    let mut added = rest.iter();
    for finding in c_string {
        // The same rule at the same place is the same finding, though its texts may name another alignment.
        let already = exact.binary_search_by(|other| other.order(finding)).is_ok();
        if !already && added.next() != Some(finding) {
            return Err(format!("the judgement does not tell, or tells out of order: {finding}"));
        }
    }
    match added.next() {
        Some(finding) => Err(format!("no lookup brings this: {finding}")),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gguf_spec::field::Field;
    use gguf_spec::rules::{Rule, header, metadata};

    fn finding(rule: &'static Rule, start: u64, end: u64) -> Finding {
        Finding { rule, span: start..end, field: Field::Version, expected: "3".to_owned(), actual: "4".to_owned() }
    }

    #[test]
    fn disorder_is_told() {
        let a = finding(&header::VERSION_1, 4, 8);
        let b = finding(&metadata::KEY_EMPTY, 4, 8);
        assert_eq!(ordered(&[a.clone(), b.clone()]), Ok(()));
        assert!(ordered(&[b.clone(), a.clone()]).is_err());
        assert!(ordered(&[a.clone(), a.clone()]).is_err());
        let (one, two) = ([a.clone()], [a.clone(), b.clone()]);
        assert_eq!(joined(&one, &two, &two), Ok(()));
        assert!(joined(&one, &two, &one).is_err());
        assert!(joined(&one, &one, &two).is_err());
        assert!(joined(&two, &one, &[b, a]).is_err());
    }

    #[test]
    fn bytes_outside_the_input_or_the_field_are_told() {
        let at = finding(&header::VERSION_1, 4, 8);
        assert_eq!(inside(std::slice::from_ref(&at), 8), Ok(()));
        assert!(inside(std::slice::from_ref(&at), 7).is_err());
        assert!(inside(&[finding(&header::VERSION_1, 8, 4)], 10).is_err());
        let place = |range| [Span { field: Field::Version, range }];
        assert_eq!(in_their_field(std::slice::from_ref(&at), &place(4..8)), Ok(()));
        assert!(in_their_field(std::slice::from_ref(&at), &place(5..8)).is_err());
        assert!(in_their_field(&[at], &place(0..7)).is_err());
    }

    #[test]
    fn too_many_too_long_and_unknown_are_told() {
        let one = finding(&header::VERSION_1, 4, 8);
        assert!(few(&vec![one.clone(); MOST_OF_FILE + 1], 0, 0).is_err());
        assert_eq!(few(&vec![one.clone(); MOST_OF_FILE + 1], 1, 0), Ok(()));
        let long = Finding { actual: "x".repeat(LONGEST_MESSAGE), ..one.clone() };
        assert!(short(&[long]).is_err());
        static STRANGE: Rule = Rule { id: "strange.rule", ..header::VERSION_1 };
        assert!(known(&[Finding { rule: &STRANGE, ..one.clone() }]).is_err());
        assert_eq!(known(&[one]), Ok(()));
    }
}
