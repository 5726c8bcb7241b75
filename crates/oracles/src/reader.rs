//! The fast reader does what the specification says.
//!
//! The two share the tables of facts and no code that parses, so that a mistake in one of them shows.

use std::borrow::Cow;
use std::ops::Range;

use assay_reader::{Array, ByteOrder, File, Policy, Refused, Stop, Value, read, read_head};
use gguf_spec::binary::Source;
use gguf_spec::document::{self, Document, Items};
use gguf_spec::field::Finding;
use gguf_spec::input::Input;
use gguf_spec::judge::{Judgement, judge, judge_source};
use gguf_spec::profile::{Outcome, Profile};
use gguf_spec::rules::{Checks, data, layout, metadata};
use gguf_spec::syntax;
use gguf_spec::types::ValueType;

use crate::{Holds, difference};

/// Bytes of heap for each byte of a header, at most, at any time while it is read.
///
/// The reader keeps 16 bytes for each pair, of which the shortest has 13, and 24 for each tensor, of which
/// the shortest has 24, in lists that grow by doubling, and beside them a sorted list of 16 bytes for each.
pub const HEAP_PER_BYTE: u64 = 8;

/// Bytes of heap that reading may take whatever the size of the file: a finding, and the first allocation
/// of every list.
pub const HEAP_ALWAYS: u64 = 64 << 10;

/// The most heap, in bytes, that reading a file of `len` bytes takes at any time.
#[must_use]
pub fn heap(len: usize) -> u64 {
    HEAP_ALWAYS + HEAP_PER_BYTE * len as u64
}

/// The most bytes that are allocated, freed or not, while a file of `len` bytes is read.
#[must_use]
pub fn allocated(len: usize) -> u64 {
    HEAP_ALWAYS + 2 * HEAP_PER_BYTE * len as u64
}

/// The policies of the reader, each with its name: the profiles, and every rule.
#[must_use]
pub fn policies() -> [(&'static str, Policy); 4] {
    let of = |profile: Profile| (profile.name(), Policy::profile(profile));
    [of(Profile::Document), of(Profile::GgmlHeader), of(Profile::GgmlData), ("strict", Policy::strict())]
}

/// Under every policy the reader accepts what the specification accepts, refuses and aborts where it
/// does, for the same first finding (rule, span and field), and reads the same document.
///
/// # Errors
///
/// The first policy under which it does not, and what differs.
pub fn as_specified(bytes: &[u8]) -> Holds {
    as_judged(&judge(bytes, &Checks::all()), |policy| read(bytes, policy))
}

/// The same of a file that has been judged, and of whatever reads it.
///
/// # Errors
///
/// As for [`as_specified`].
pub fn as_judged<'a>(judgement: &Judgement, mut read: impl FnMut(Policy) -> Result<File<'a>, Refused>) -> Holds {
    for (name, policy) in policies() {
        let expected = Expected::of(judgement, policy);
        compare(&expected, read(policy)).map_err(|reason| format!("{name}: {reason}"))?;
    }
    Ok(())
}

/// A head that grows by what is asked for, from nothing and from somewhere, gives what the whole file
/// gives; and what is asked for is more than there was and no more than there is.
///
/// # Errors
///
/// The policy and the head, and what differs.
pub fn head_or_whole(bytes: &[u8]) -> Holds {
    let len = bytes.len();
    for (name, policy) in policies() {
        let whole = read(bytes, policy);
        for start in [0, len / 4, len / 2, len - len / 4, len.saturating_sub(1)] {
            let mut head = start;
            let pieces = loop {
                match read_head(&bytes[..head], &bytes, policy) {
                    Ok(file) => break Ok(file),
                    Err(Stop::Refused(refused)) => break Err(refused),
                    Err(Stop::NeedMore { at_least }) => {
                        let least = usize::try_from(at_least).unwrap_or(usize::MAX);
                        if least <= head || least > len {
                            return Err(format!("{name}: a head of {head} of {len} bytes asks for {at_least}"));
                        }
                        head = if len <= 512 { least } else { least.max(2 * head).min(len) };
                    }
                    Err(stop @ Stop::Unreadable(_)) => return Err(format!("{name}: {stop}")),
                }
            };
            same(&whole, &pieces)
                .map_err(|reason| format!("{name}, with a head of {start} bytes, then {head} of {len}: {reason}"))?;
        }
    }
    Ok(())
}

/// A header in memory and zeros behind it.
struct Hole<'a> {
    head: &'a [u8],
    len: u64,
}

impl Input for Hole<'_> {
    fn len(&self) -> u64 {
        self.len
    }

    fn bytes(&self, range: Range<u64>) -> Option<Cow<'_, [u8]>> {
        let index = |at: u64| usize::try_from(at).unwrap_or(usize::MAX).min(self.head.len());
        let mut bytes = self.head[index(range.start)..index(range.end)].to_vec();
        bytes.resize(usize::try_from(range.end - range.start).ok()?, 0);
        Some(Cow::Owned(bytes))
    }
}

/// The reader does as specified with a file of this length that begins with these bytes, a header and
/// some of its data, and goes on with zeros.
///
/// # Errors
///
/// As for [`as_specified`].
pub fn with_a_hole(head: &[u8], len: u64) -> Holds {
    let input = Hole { head, len: len.max(head.len() as u64) };
    let source = Source { head, len: input.len, base: 0 };
    let judgement = judge_source(source, &input, &Checks::all()).map_err(|need| format!("{need:?}"))?;
    for (name, policy) in policies() {
        let expected = Expected::of(&judgement, policy);
        match read_head(head, &input, policy) {
            Ok(file) => compare(&expected, Ok(file)),
            Err(Stop::Refused(refused)) => compare(&expected, Err(refused)),
            Err(stop) => Err(stop.to_string()),
        }
        .map_err(|reason| format!("{name}: {} of {len} bytes: {reason}", head.len()))?;
    }
    Ok(())
}

/// What the reader should do.
struct Expected<'a> {
    outcome: Outcome,
    because: Option<&'a Finding>,
    document: Option<&'a Document>,
}

impl<'a> Expected<'a> {
    fn of(judgement: &'a Judgement, policy: Policy) -> Self {
        match policy.of() {
            Some(profile) => {
                let verdict = judgement.verdict(profile);
                let document = judgement.document_for(profile);
                Self { outcome: verdict.outcome, because: verdict.because.as_ref(), document }
            }
            None => Self {
                outcome: if judgement.first().is_some() { Outcome::Refuse } else { Outcome::Accept },
                because: judgement.first(),
                document: judgement.document.as_ref(),
            },
        }
    }
}

fn compare(expected: &Expected<'_>, actual: Result<File<'_>, Refused>) -> Holds {
    let because = || expected.because.map_or_else(String::new, |finding| format!(" ({finding})"));
    match actual {
        Ok(file) if expected.outcome == Outcome::Accept => {
            let Some(document) = expected.document else {
                return Err("it reads to the end what the specification does not".to_owned());
            };
            same_document(document, &document_of(&file))
        }
        Ok(_) => Err(format!("it accepts what should be {}d{}", expected.outcome, because())),
        // Deeper arrays than anybody reads: the outcome is told, and that there is no document.
        Err(refused) if refused.outcome() == Outcome::Accept => {
            let fine = expected.outcome == Outcome::Accept
                && expected.document.is_none()
                && *refused.rule() == metadata::ARRAY_DEPTH;
            if fine { Ok(()) } else { Err(format!("{} expected{}, found {refused}", expected.outcome, because())) }
        }
        Err(refused) => {
            let Some(finding) = expected.because.filter(|_| refused.outcome() == expected.outcome) else {
                return Err(format!("{} expected{}, found {refused}", expected.outcome, because()));
            };
            same_finding(finding, refused.finding())
        }
    }
}

fn same_finding(expected: &Finding, actual: &Finding) -> Holds {
    if (expected.rule, &expected.span, &expected.field) == (actual.rule, &actual.span, &actual.field) {
        return Ok(());
    }
    Err(format!("expected `{expected}` at {:?}, found `{actual}` at {:?}", expected.span, actual.span))
}

fn same_document(expected: &Document, actual: &Document) -> Holds {
    if expected == actual {
        return Ok(());
    }
    let first = difference::first("", &expected.to_json(), &actual.to_json());
    Err(first.map_or_else(|| "two documents have the same JSON form".to_owned(), |first| first.to_string()))
}

fn same(whole: &Result<File<'_>, Refused>, pieces: &Result<File<'_>, Refused>) -> Holds {
    match (whole, pieces) {
        (Ok(whole), Ok(pieces)) => same_document(&document_of(whole), &document_of(pieces)),
        (Err(whole), Err(pieces)) if whole == pieces => Ok(()),
        (Err(whole), Err(pieces)) => Err(format!("`{pieces}`, the whole file: `{whole}`")),
        (Ok(_), Err(pieces)) => Err(format!("`{pieces}`, the whole file is accepted")),
        (Err(whole), Ok(_)) => Err(format!("accepted, the whole file: `{whole}`")),
    }
}

/// The document that a file says, by the reader's public interface alone. Every way to get at a value
/// is taken, and each must give the same.
fn document_of(file: &File<'_>) -> Document {
    let pairs = file.metadata();
    let tensors = file.tensors();
    Document {
        version: file.version(),
        byte_order: match file.byte_order() {
            ByteOrder::Little => syntax::ByteOrder::Little,
            ByteOrder::Big => syntax::ByteOrder::Big,
        },
        alignment: file.alignment(),
        data_offset: file.data_offset(),
        metadata: pairs.map(|pair| (pair.key().to_vec(), value_of(pair.value()))).collect(),
        tensors: tensors
            .map(|tensor| document::Tensor {
                name: tensor.name().to_vec(),
                type_id: tensor.type_id(),
                ne: tensor.dims().to_vec(),
                offset: tensor.offset(),
            })
            .collect(),
    }
}

fn value_of(value: Value<'_>) -> document::Value {
    match value {
        Value::Number(number) => document::Value::Fixed(number.ty(), number.bits()),
        Value::String(bytes) => document::Value::String(bytes.to_vec()),
        Value::Array(array) => document::Value::Array(array_of(array)),
    }
}

/// Recursion is as deep as the reader lets arrays nest.
fn array_of(array: Array<'_>) -> document::Array {
    let items = match array.ty() {
        ValueType::String => Items::Strings(array.strings().into_iter().flatten().map(<[u8]>::to_vec).collect()),
        ValueType::Array => Items::Arrays(array.arrays().into_iter().flatten().map(array_of).collect()),
        _ => Items::Fixed(array.numbers().into_iter().flatten().map(assay_reader::Number::bits).collect()),
    };
    document::Array { ty: array.ty(), items }
}

/// A file that is accepted gives every pair and tensor by its name, and the typed views of its arrays are
/// those of its numbers.
///
/// # Errors
///
/// What is not found, or differs.
pub fn is_found_by_name(bytes: &[u8]) -> Holds {
    for (name, policy) in policies() {
        let Ok(file) = read(bytes, policy) else { continue };
        for (i, pair) in file.metadata().enumerate() {
            let first = file.metadata().find(|other| other.key() == pair.key());
            if file.pair(i) != Some(pair) || file.get(pair.key()) != first.map(|first| first.value()) {
                // A NaN is not itself: then the bits decide.
                let shown = file.get(pair.key()).map(value_of);
                if shown != first.map(|first| value_of(first.value())) {
                    return Err(format!("{name}: metadata[{i}] is not what its key finds"));
                }
            }
            if let Some(array) = pair.value().as_array() {
                typed_views(array).map_err(|reason| format!("{name}: metadata[{i}]: {reason}"))?;
            }
        }
        for (i, tensor) in file.tensors().enumerate() {
            let first = file.tensors().find(|other| other.name() == tensor.name());
            if file.tensor(i) != Some(tensor) || file.tensor_named(tensor.name()) != first {
                return Err(format!("{name}: tensors[{i}] is not what its name finds"));
            }
        }
        if file.get("no such key").is_some() || file.tensor_named("no such tensor").is_some() {
            return Err(format!("{name}: what is not there is found"));
        }
    }
    Ok(())
}

/// A file that was read holds as many entries as it declares, and every place in it lies in the file as
/// far as the policy looked.
///
/// # Errors
///
/// What is missing, or lies outside.
pub fn is_sound(file: &File<'_>, len: usize, policy: Policy) -> Holds {
    let (pairs, tensors) = (file.metadata().len() as u64, file.tensors().len() as u64);
    if (pairs, tensors) != (file.kv_count(), file.tensor_count()) {
        return Err(format!(
            "{pairs} pairs and {tensors} tensors were read of {:?}",
            (file.kv_count(), file.tensor_count())
        ));
    }
    // ggml takes some tensors whose size wraps for small ones, and then they have no place.
    let with_data = policy.counts(&data::EXTENT) && policy.counts(&layout::PADDING_WRAPS);
    for (i, tensor) in file.tensors().enumerate().filter(|_| with_data) {
        let start = file.data_offset().unwrap_or(u64::MAX);
        match tensor.range() {
            // One of no bytes may lie anywhere, even where nothing can.
            _ if tensor.size() == 0 => {}
            Some(range) if start <= range.start && range.end <= len as u64 => {}
            range => return Err(format!("tensors[{i}] lies at {range:?} in a file of {len} bytes")),
        }
    }
    Ok(())
}

fn typed_views(array: Array<'_>) -> Holds {
    let Some(numbers) = array.numbers() else { return Ok(()) };
    let bits: Vec<u64> = numbers.map(assay_reader::Number::bits).collect();
    let wide = |list: Option<Vec<u64>>| list.ok_or("no view of its own type");
    let unsigned: Vec<u64> = match array.ty() {
        ValueType::U8 => wide(array.to_vec::<u8>().map(|v| v.into_iter().map(u64::from).collect()))?,
        ValueType::I8 => wide(array.to_vec::<i8>().map(|v| v.into_iter().map(|n| n.cast_unsigned().into()).collect()))?,
        ValueType::U16 => wide(array.to_vec::<u16>().map(|v| v.into_iter().map(u64::from).collect()))?,
        ValueType::I16 => {
            wide(array.to_vec::<i16>().map(|v| v.into_iter().map(|n| n.cast_unsigned().into()).collect()))?
        }
        ValueType::U32 => wide(array.to_vec::<u32>().map(|v| v.into_iter().map(u64::from).collect()))?,
        ValueType::I32 => {
            wide(array.to_vec::<i32>().map(|v| v.into_iter().map(|n| n.cast_unsigned().into()).collect()))?
        }
        ValueType::U64 => wide(array.to_vec::<u64>())?,
        ValueType::I64 => wide(array.to_vec::<i64>().map(|v| v.into_iter().map(i64::cast_unsigned).collect()))?,
        ValueType::F32 => wide(array.to_vec::<f32>().map(|v| v.into_iter().map(|n| n.to_bits().into()).collect()))?,
        ValueType::F64 => wide(array.to_vec::<f64>().map(|v| v.into_iter().map(f64::to_bits).collect()))?,
        ValueType::Bool | ValueType::String | ValueType::Array => return Ok(()),
    };
    if unsigned == bits && array.len() == bits.len() { Ok(()) } else { Err("the views of its type differ".to_owned()) }
}

/// Everything that holds of the reader and any bytes.
///
/// # Errors
///
/// The first statement that does not hold, with its name.
pub fn any_file(bytes: &[u8]) -> Holds {
    as_specified(bytes)?;
    head_or_whole(bytes).map_err(|reason| format!("head or whole: {reason}"))?;
    is_found_by_name(bytes).map_err(|reason| format!("by name: {reason}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hostile;
    use gguf_spec::binary::encode;
    use gguf_spec::generate::{breaking, valid};
    use gguf_spec::rules::data;

    /// A reader that does something else is told, whatever it does.
    #[test]
    fn another_answer_is_told() {
        let right = encode(&valid(5));
        let judgement = judge(&right, &Checks::all());
        let strict = Policy::strict();
        let expected = Expected::of(&judgement, strict);
        assert_eq!(compare(&expected, read(&right, strict)), Ok(()));
        assert!(compare(&expected, read(b"GGUF", strict)).is_err());

        let other = encode(&valid(6));
        assert!(compare(&expected, read(&other, strict)).is_err());
        assert!(same(&read(&right, strict), &read(&other, strict)).is_err());
        assert!(same(&read(&right, strict), &read(b"GGUF", strict)).is_err());
        assert!(same(&read(b"GGUA", strict), &read(b"GGUF", strict)).is_err());

        let Some(broken) = breaking(&data::MEMORY, 1).map(|broken| broken.bytes()) else { panic!("it can be broken") };
        let judgement = judge(&broken, &Checks::all());
        let ggml = Policy::profile(Profile::GgmlData);
        let expected = Expected::of(&judgement, ggml);
        assert_eq!(expected.outcome, Outcome::Abort);
        assert_eq!(compare(&expected, read(&broken, ggml)), Ok(()));
        // The same finding, but refused and not aborted.
        assert!(compare(&expected, read(&broken, Policy::profile(Profile::Document))).is_err());
        assert!(compare(&expected, read(&right, ggml)).is_err());
        assert!(compare(&expected, read(&broken[..40], ggml)).is_err());
    }

    /// At the deepest level that is read, an array of arrays that are not in the file is cut, not deep.
    #[test]
    fn the_deepest_arrays_are_read_as_specified() {
        let deepest = hostile::nested(3, 32);
        let (ty, len) = (deepest.len() - 12, deepest.len() - 8);
        for behind in [0, 11, 12, 100] {
            for count in [0u64, 1, 2, 9, 1 << 40] {
                let mut bytes = deepest.clone();
                bytes[ty] = 9;
                bytes[len..].copy_from_slice(&count.to_le_bytes());
                bytes.resize(bytes.len() + behind, 0);
                assert_eq!(any_file(&bytes), Ok(()), "{count} arrays, {behind} bytes behind");
            }
        }
    }

    #[test]
    fn a_finding_is_rule_span_and_field() {
        let Err(refused) = read(b"GGUF\0\0\0\0", Policy::strict()) else { panic!("there is no version 0") };
        let right = refused.into_finding();
        assert_eq!(same_finding(&right, &Finding { actual: String::new(), ..right.clone() }), Ok(()));
        assert!(same_finding(&right, &Finding { span: 4..7, ..right.clone() }).is_err());
        assert!(same_finding(&right, &Finding { rule: &data::EXTENT, ..right.clone() }).is_err());
        assert!(same_finding(&right, &Finding { field: gguf_spec::field::Field::Magic, ..right.clone() }).is_err());
    }
}
