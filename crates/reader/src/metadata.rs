//! The pairs: keys, types and values.

use gguf_spec::field::{Field, KvPart, ValuePart};
use gguf_spec::limits::{ALIGNMENT_MULTIPLE, DEFAULT_ALIGNMENT, GGML_MAX_STRING_LENGTH, MAX_KEY_LENGTH};
use gguf_spec::profile::KeyLookup;
use gguf_spec::rules::metadata;
use gguf_spec::types::ValueType;

use crate::cursor::Cursor;
use crate::elements::{array, shown};
use crate::error::{First, Halt, end};

/// The key of the alignment.
const ALIGNMENT: &str = "general.alignment";

/// Where a pair lies in the head. Its value ends where the next pair starts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PairPlace {
    /// The first byte of the length of the key.
    pub(crate) at: usize,
    /// The first byte of the type.
    pub(crate) ty: usize,
}

impl PairPlace {
    pub(crate) fn key<'a>(&self, head: &'a [u8]) -> &'a [u8] {
        &head[self.at + 8..self.ty]
    }
}

/// The alignment in force, and whether a pair has stated it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Alignment {
    lookup: KeyLookup,
    stated: bool,
    /// In bytes.
    pub(crate) value: u64,
}

impl Alignment {
    pub(crate) fn new(lookup: KeyLookup) -> Self {
        Self { lookup, stated: false, value: DEFAULT_ALIGNMENT }
    }
}

/// Reads the pair with index `i`. What is found is offered to `first`; an error is what ends reading.
pub(crate) fn pair(
    cursor: &mut Cursor<'_>,
    i: usize,
    alignment: &mut Alignment,
    first: &mut First,
) -> Result<PairPlace, Halt> {
    let at = cursor.at;
    let key = cursor.string(&metadata::KEY_TRUNCATED, || Field::Kv(i, KvPart::KeyLen))?;
    check_key(cursor, i, key, first);
    let ty_at = cursor.at;
    let id = cursor.u32_field(&metadata::TYPE_TRUNCATED, || Field::Kv(i, KvPart::Type))?;
    let Some(ty) = ValueType::from_id(id) else {
        let field = Field::Kv(i, KvPart::Type);
        return Err(end(&metadata::TYPE_KNOWN, cursor.before(4), field, "0 to 12", id.to_string()));
    };
    if !alignment.stated && alignment.lookup.matches(key, ALIGNMENT) {
        alignment.stated = true;
        alignment.value = stated(cursor, i, ty, first)?;
    } else {
        value(cursor, i, ty, first)?;
    }
    Ok(PairPlace { at, ty: ty_at })
}

#[inline]
fn check_key(cursor: &Cursor<'_>, i: usize, key: &[u8], first: &mut First) {
    let len = key.len() as u64;
    let span = cursor.before(len);
    let field = || Field::Kv(i, KvPart::Key);
    let form = first.wants(&metadata::KEY_ASCII) || first.wants(&metadata::KEY_SNAKE_CASE);
    let mut offer = |rule, expected: &str| {
        first.offer(rule, span.clone(), field, || (expected.to_owned(), shown(key, len)));
    };
    if key.is_empty() {
        offer(&metadata::KEY_EMPTY, "at least one byte");
    } else if !form {
        // Nobody asks.
    } else if !key.is_ascii() {
        offer(&metadata::KEY_ASCII, "ASCII");
    } else if !is_snake_case(key) {
        offer(&metadata::KEY_SNAKE_CASE, "lower_snake_case segments, joined by dots");
    }
    if len > GGML_MAX_STRING_LENGTH {
        offer(&metadata::KEY_LIMIT, "at most 2^30 bytes");
    } else if len > MAX_KEY_LENGTH {
        offer(&metadata::KEY_LENGTH, "at most 65535 bytes");
    }
}

/// Whether a key is made of segments of lower-case letters, digits and underscores, joined by dots.
fn is_snake_case(key: &[u8]) -> bool {
    let mut before = b'.';
    for &b in key {
        let fine = if b == b'.' { before != b'.' } else { b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_' };
        if !fine {
            return false;
        }
        before = b;
    }
    before != b'.'
}

/// The value of the pair that states the alignment: the alignment in force.
fn stated(cursor: &mut Cursor<'_>, i: usize, ty: ValueType, first: &mut First) -> Result<u64, Halt> {
    if ty != ValueType::U32 {
        let span = cursor.before(4);
        let texts = || ("4, u32".to_owned(), format!("{}, {ty}", ty.id()));
        first.offer(&metadata::ALIGN_TYPE, span, || Field::Kv(i, KvPart::Type), texts);
        value(cursor, i, ty, first)?;
        return Ok(DEFAULT_ALIGNMENT);
    }
    let whole = || Field::Kv(i, KvPart::Value(Vec::new(), ValuePart::Whole));
    let stated = u64::from(cursor.u32_field(&metadata::VALUE_TRUNCATED, whole)?);
    let span = cursor.before(4);
    let mut offer = |rule, expected: &str| {
        first.offer(rule, span.clone(), whole, || (expected.to_owned(), stated.to_string()));
    };
    if stated == 0 {
        offer(&metadata::ALIGN_ZERO, "a power of two");
        return Ok(DEFAULT_ALIGNMENT);
    }
    if stated % ALIGNMENT_MULTIPLE != 0 {
        offer(&metadata::ALIGN_MULTIPLE, "a multiple of 8");
    }
    if !stated.is_power_of_two() {
        offer(&metadata::ALIGN_POWER, "a power of two");
    }
    Ok(stated)
}

fn value(cursor: &mut Cursor<'_>, i: usize, ty: ValueType, first: &mut First) -> Result<(), Halt> {
    let field = |part| Field::Kv(i, KvPart::Value(Vec::new(), part));
    match ty {
        ValueType::Array => array(cursor, i, first)?,
        ValueType::String => {
            let text = cursor.string(&metadata::STRING_TRUNCATED, || field(ValuePart::Len))?;
            let len = text.len() as u64;
            let span = cursor.before(len);
            if len > GGML_MAX_STRING_LENGTH {
                let texts = || (format!("at most {GGML_MAX_STRING_LENGTH} bytes"), len.to_string());
                first.offer(&metadata::STRING_LIMIT, span.start - 8..span.start, || field(ValuePart::Len), texts);
            }
            if first.wants(&metadata::STRING_UTF8) && simdutf8::basic::from_utf8(text).is_err() {
                let texts = || ("UTF-8".to_owned(), shown(text, len));
                first.offer(&metadata::STRING_UTF8, span, || field(ValuePart::Whole), texts);
            }
        }
        fixed => {
            let size = fixed.size().unwrap_or(1) as u64;
            let bytes = cursor.wide_field(size, &metadata::VALUE_TRUNCATED, || field(ValuePart::Whole))?;
            if fixed == ValueType::Bool && bytes[0] > 1 {
                let texts = || ("0 or 1".to_owned(), bytes[0].to_string());
                first.offer(&metadata::BOOL_VALUE, cursor.before(1), || field(ValuePart::Whole), texts);
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::is_snake_case;

    #[test]
    fn segments_are_told_from_what_is_none() {
        for right in ["a", "a.b", "general.name_2", "_", "0.1"] {
            assert!(is_snake_case(right.as_bytes()), "{right}");
        }
        for wrong in ["", ".", "a.", ".a", "a..b", "A", "a-b", "a b", "a\0"] {
            assert!(!is_snake_case(wrong.as_bytes()), "{wrong}");
        }
    }
}
