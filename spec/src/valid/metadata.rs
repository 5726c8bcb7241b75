//! The rules about pairs that a decoded tree can break.

use std::collections::HashMap;

use super::{Context, Report};
use crate::binary::string_size;
use crate::field::{Field, KvPart, ValuePart, printable};
use crate::limits::{ALIGNMENT_MULTIPLE, GGML_MAX_ARRAY_LENGTH, GGML_MAX_STRING_LENGTH, MAX_KEY_LENGTH};
use crate::rules::{Rule, metadata};
use crate::syntax::{Array, Elements, Pair, RawString, Value};
use crate::types::ValueType;
use crate::valid::layout::alignment_pair;

pub(super) fn check(context: &Context<'_, '_>, report: &mut Report<'_>) {
    let mut seen = HashMap::new();
    for (i, pair) in context.tree.metadata.iter().enumerate() {
        check_key(context, i, pair, report);
        if let Some(first) = seen.insert(&pair.key.bytes, i) {
            let (span, field) = key_place(context, i, pair);
            let name = printable(&pair.key.bytes);
            report.add(
                &metadata::KEY_DUPLICATE,
                span,
                field,
                "a key of its own",
                format!("{name}, the key of pair {first} too"),
            );
            seen.insert(&pair.key.bytes, first);
        }
        check_value(context, i, pair, report);
    }
    check_alignment(context, report);
}

fn wide(context: &Context<'_, '_>) -> u64 {
    context.tree.length_width() as u64
}

fn key_place(context: &Context<'_, '_>, i: usize, pair: &Pair) -> (std::ops::Range<u64>, Field) {
    let start = context.places.pairs[i] + wide(context);
    (start..start + pair.key.bytes.len() as u64, Field::Kv(i, KvPart::Key))
}

fn check_key(context: &Context<'_, '_>, i: usize, pair: &Pair, report: &mut Report<'_>) {
    let key = &pair.key.bytes;
    let (span, field) = key_place(context, i, pair);
    let mut add = |rule: &'static Rule, expected: &str, actual: String| {
        report.add(rule, span.clone(), field.clone(), expected, actual);
    };
    let length = key.len() as u64;
    if key.is_empty() {
        add(&metadata::KEY_EMPTY, "at least one byte", "an empty key".to_owned());
        return;
    }
    if length > GGML_MAX_STRING_LENGTH {
        add(&metadata::KEY_LIMIT, "at most 1073741824 bytes", format!("{length} bytes"));
    } else if length > MAX_KEY_LENGTH {
        add(&metadata::KEY_LENGTH, "at most 65535 bytes", format!("{length} bytes"));
    }
    if !key.is_ascii() {
        add(&metadata::KEY_ASCII, "ASCII", printable(key));
    } else if !is_snake_case_path(key) {
        add(&metadata::KEY_SNAKE_CASE, "lower_snake_case segments joined by dots", printable(key));
    }
}

/// Segments of lower-case letters, digits and underscores, joined by dots, none of them empty.
fn is_snake_case_path(key: &[u8]) -> bool {
    key.split(|&b| b == b'.').all(|segment| {
        !segment.is_empty() && segment.iter().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || *b == b'_')
    })
}

fn check_value(context: &Context<'_, '_>, i: usize, pair: &Pair, report: &mut Report<'_>) {
    let at = context.value_start(i);
    let field = |part| Field::Kv(i, KvPart::Value(Vec::new(), part));
    match &pair.value {
        Value::Fixed(bytes) => {
            if ValueType::from_id(pair.type_id) == Some(ValueType::Bool) {
                check_bools(bytes, at, &field(ValuePart::Whole), report);
            }
        }
        Value::String(string) => {
            if string.bytes.len() as u64 > GGML_MAX_STRING_LENGTH {
                let actual = format!("{} bytes", string.bytes.len());
                report.add(
                    &metadata::STRING_LIMIT,
                    at..at + wide(context),
                    field(ValuePart::Len),
                    "at most 1073741824 bytes",
                    actual,
                );
            }
            check_utf8(context, string, at, || field(ValuePart::Whole), report);
        }
        Value::Array(array) => {
            if ValueType::from_id(array.type_id) == Some(ValueType::Array) {
                let expected = "elements that are not arrays";
                report.add(
                    &metadata::ARRAY_NESTED,
                    at..at + 4,
                    field(ValuePart::ElementType),
                    expected,
                    "an array of arrays",
                );
            }
            let mut once = Once { pair: i, utf8: false, bools: false, limit: false };
            check_array(context, array, at, &mut Vec::new(), &mut once, report);
        }
    }
}

/// What has been reported of an array already: one finding per rule and pair.
struct Once {
    pair: usize,
    utf8: bool,
    bools: bool,
    limit: bool,
}

/// Returns where the array ends. Recursion is as deep as the tree, which decoding bounds.
fn check_array(
    context: &Context<'_, '_>,
    array: &Array,
    at: u64,
    path: &mut Vec<usize>,
    once: &mut Once,
    report: &mut Report<'_>,
) -> u64 {
    let len_end = at + 4 + wide(context);
    let field = |path: &[usize], part| Field::Kv(once.pair, KvPart::Value(path.to_vec(), part));
    if array.len > GGML_MAX_ARRAY_LENGTH && !once.limit {
        let actual = format!("{} elements", array.len);
        report.add(
            &metadata::ARRAY_LIMIT,
            at + 4..len_end,
            field(path, ValuePart::Len),
            "at most 1073741824 elements",
            actual,
        );
        once.limit = true;
    }
    let mut at = len_end;
    match &array.elements {
        Elements::Fixed(bytes) => {
            if ValueType::from_id(array.type_id) == Some(ValueType::Bool) && !once.bools {
                once.bools = check_bools(bytes, at, &field(path, ValuePart::Elements), report);
            }
            at += bytes.len() as u64;
        }
        Elements::Strings(strings) => {
            for (j, string) in strings.iter().enumerate() {
                if !once.utf8 {
                    let inner = || {
                        let path = path.iter().copied().chain([j]).collect();
                        Field::Kv(once.pair, KvPart::Value(path, ValuePart::Whole))
                    };
                    once.utf8 = check_utf8(context, string, at, inner, report);
                }
                at += string_size(string, wide(context));
            }
        }
        Elements::Arrays(arrays) => {
            for (j, inner) in arrays.iter().enumerate() {
                path.push(j);
                at = check_array(context, inner, at, path, once, report);
                path.pop();
            }
        }
    }
    at
}

/// Reports the first bool that is neither 0 nor 1; returns whether there was one.
fn check_bools(bytes: &[u8], at: u64, field: &Field, report: &mut Report<'_>) -> bool {
    let Some(first) = bytes.iter().position(|&b| b > 1) else { return false };
    let start = at + first as u64;
    report.add(&metadata::BOOL_VALUE, start..start + 1, field.clone(), "0 or 1", bytes[first].to_string());
    true
}

/// Reports a string that is not UTF-8; returns whether it is not. `at` is where its length starts.
fn check_utf8(
    context: &Context<'_, '_>,
    string: &RawString,
    at: u64,
    field: impl FnOnce() -> Field,
    report: &mut Report<'_>,
) -> bool {
    let Err(error) = std::str::from_utf8(&string.bytes) else { return false };
    let start = at + wide(context);
    let end = start + string.bytes.len() as u64;
    let actual = format!("{}, wrong from byte {} of the string on", printable(&string.bytes), error.valid_up_to());
    report.add(&metadata::STRING_UTF8, start..end, field(), "UTF-8", actual);
    true
}

fn check_alignment(context: &Context<'_, '_>, report: &mut Report<'_>) {
    let tree = context.tree;
    let Some((i, pair)) = alignment_pair(tree, context.options.lookup) else { return };
    let at = context.value_start(i);
    let type_at = at - 4;
    let found = |pair: &Pair| match ValueType::from_id(pair.type_id) {
        Some(ty) => ty.name().to_owned(),
        None => format!("type {}", pair.type_id),
    };
    let Value::Fixed(bytes) = &pair.value else {
        report.add(&metadata::ALIGN_TYPE, type_at..at, Field::Kv(i, KvPart::Type), "u32", found(pair));
        return;
    };
    if ValueType::from_id(pair.type_id) != Some(ValueType::U32) {
        report.add(&metadata::ALIGN_TYPE, type_at..at, Field::Kv(i, KvPart::Type), "u32", found(pair));
        return;
    }
    let value = tree.byte_order.number(bytes);
    let span = at..at + bytes.len() as u64;
    let field = || Field::Kv(i, KvPart::Value(Vec::new(), ValuePart::Whole));
    if value == 0 {
        report.add(&metadata::ALIGN_ZERO, span, field(), "a power of two of at least 8", "0");
        return;
    }
    if !value.is_multiple_of(ALIGNMENT_MULTIPLE) {
        report.add(&metadata::ALIGN_MULTIPLE, span.clone(), field(), "a multiple of 8", value.to_string());
    }
    if !value.is_power_of_two() {
        report.add(&metadata::ALIGN_POWER, span, field(), "a power of two", value.to_string());
    }
}
