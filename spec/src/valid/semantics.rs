//! The rules about what the metadata means.

use super::{Context, Report};
use crate::field::{Field, KvPart, ValuePart, printable};
use crate::rules::keys::{self, KeyType, Required};
#[cfg(test)]
use crate::rules::metadata;
use crate::rules::semantics;
use crate::syntax::{Array, Elements, Pair, Value};
use crate::types::{TensorType, ValueType};

pub(super) fn check(context: &Context<'_, '_>, report: &mut Report<'_>) {
    for (i, pair) in context.tree.metadata.iter().enumerate() {
        check_type(context, i, pair, report);
    }
    check_required(context, report);
    check_architecture(context, report);
    check_languages(context, report);
    check_tokenizer(context, report);
}

fn check_type(context: &Context<'_, '_>, i: usize, pair: &Pair, report: &mut Report<'_>) {
    let Some(row) = keys::find(&pair.key.bytes) else { return };
    // The alignment is judged in the metadata stage.
    let Some(rule) = row.own_rule() else { return };
    if !has_type(pair, row.ty) {
        let start = context.value_start(i) - 4;
        report.add(rule, start..start + 4, Field::Kv(i, KvPart::Type), row.ty.describe(), describe(pair));
    }
}

fn has_type(pair: &Pair, wanted: KeyType) -> bool {
    match (wanted, &pair.value) {
        (KeyType::Scalar(ty), _) => pair.type_id == ty.id(),
        (KeyType::Array(ty), Value::Array(array)) => pair.type_id == ValueType::Array.id() && array.type_id == ty.id(),
        (KeyType::Array(_), _) => false,
    }
}

fn describe(pair: &Pair) -> String {
    let name = |id: u32| ValueType::from_id(id).map_or_else(|| format!("type {id}"), |ty| ty.name().to_owned());
    match &pair.value {
        Value::Array(array) => format!("array of {}", name(array.type_id)),
        Value::Fixed(_) | Value::String(_) => name(pair.type_id),
    }
}

/// The pairs with this key.
fn pairs<'c>(context: &'c Context<'_, '_>, key: &'c str) -> impl Iterator<Item = (usize, &'c Pair)> {
    context.tree.metadata.iter().enumerate().filter(move |(_, pair)| pair.key.bytes == key.as_bytes())
}

/// The arrays with this key that have the documented type: of a key that occurs twice, which only some
/// profiles refuse, every value has to be right.
fn arrays<'c>(context: &'c Context<'_, '_>, key: &'c str, ty: ValueType) -> impl Iterator<Item = (usize, &'c Array)> {
    pairs(context, key).filter_map(move |(i, pair)| match &pair.value {
        Value::Array(array) if has_type(pair, KeyType::Array(ty)) => Some((i, array)),
        Value::Array(_) | Value::Fixed(_) | Value::String(_) => None,
    })
}

fn check_required(context: &Context<'_, '_>, report: &mut Report<'_>) {
    let quantized = context
        .tree
        .tensors
        .iter()
        .any(|tensor| TensorType::from_id(tensor.type_id).is_some_and(|ty| ty.quantized && ty.has_layout()));
    for row in keys::KEYS {
        let rule = match row.required {
            Required::Always => &semantics::ARCHITECTURE_REQUIRED,
            Required::WhenQuantized if quantized => &semantics::QUANTIZATION_VERSION_REQUIRED,
            Required::WhenQuantized | Required::No => continue,
        };
        if pairs(context, row.name).next().is_none() {
            let end = context.places.metadata_end;
            report.add(rule, end..end, Field::MetadataEnd, format!("the key {}", row.name), "no such key");
        }
    }
}

fn check_architecture(context: &Context<'_, '_>, report: &mut Report<'_>) {
    for (i, pair) in pairs(context, "general.architecture") {
        let Value::String(name) = &pair.value else { continue };
        let right = |b: &u8| b.is_ascii_lowercase() || b.is_ascii_digit();
        if name.bytes.is_empty() || !name.bytes.iter().all(right) {
            let start = context.value_start(i) + context.tree.length_width() as u64;
            let field = Field::Kv(i, KvPart::Value(Vec::new(), ValuePart::Whole));
            let span = start..start + name.bytes.len() as u64;
            report.add(&semantics::ARCHITECTURE_CHARSET, span, field, "letters a-z and digits", printable(&name.bytes));
        }
    }
}

fn check_languages(context: &Context<'_, '_>, report: &mut Report<'_>) {
    let wide = context.tree.length_width() as u64;
    for (i, languages) in arrays(context, "general.languages", ValueType::String) {
        let Elements::Strings(strings) = &languages.elements else { continue };
        let mut at = context.value_start(i) + 4 + wide;
        for (j, string) in strings.iter().enumerate() {
            let start = at + wide;
            at = start + string.bytes.len() as u64;
            if string.bytes.len() != 2 || !string.bytes.iter().all(u8::is_ascii_lowercase) {
                let field = Field::Kv(i, KvPart::Value(vec![j], ValuePart::Whole));
                let actual = printable(&string.bytes);
                report.add(&semantics::LANGUAGES_ISO639, start..at, field, "a two-letter code", actual);
                break;
            }
        }
    }
}

fn check_tokenizer(context: &Context<'_, '_>, report: &mut Report<'_>) {
    let wide = context.tree.length_width() as u64;
    // Who looks the key up finds the first one.
    let tokens = match pairs(context, "tokenizer.ggml.tokens").next() {
        Some((_, Pair { value: Value::Array(tokens), .. })) if tokens.type_id == ValueType::String.id() => {
            Some(tokens.len)
        }
        _ => None,
    };
    for (rule, key, ty) in [
        (&semantics::SCORES_LENGTH, "tokenizer.ggml.scores", ValueType::F32),
        (&semantics::TOKEN_TYPE_LENGTH, "tokenizer.ggml.token_type", ValueType::I32),
    ] {
        let Some(tokens) = tokens else { continue };
        for (i, array) in arrays(context, key, ty).filter(|(_, array)| array.len != tokens) {
            let start = context.value_start(i) + 4;
            let field = Field::Kv(i, KvPart::Value(Vec::new(), ValuePart::Len));
            let expected = format!("{tokens}, one for each token");
            report.add(rule, start..start + wide, field, expected, array.len.to_string());
        }
    }
    for (i, types) in arrays(context, "tokenizer.ggml.token_type", ValueType::I32) {
        let Elements::Fixed(bytes) = &types.elements else { continue };
        let value = |chunk: &[u8]| context.tree.byte_order.number(chunk);
        if let Some(j) = bytes.chunks(4).position(|chunk| !(1..=6).contains(&value(chunk))) {
            let start = context.value_start(i) + 4 + wide + 4 * j as u64;
            let chunk = &bytes[4 * j..];
            let found = u32::try_from(value(&chunk[..chunk.len().min(4)])).unwrap_or(0).cast_signed();
            let field = Field::Kv(i, KvPart::Value(Vec::new(), ValuePart::Elements));
            let actual = format!("{found} for token {j}");
            report.add(&semantics::TOKEN_TYPE_VALUES, start..start + 4, field, "1 to 6", actual);
        }
    }
}

/// The rule about the type of the alignment belongs to the metadata stage; it is named here so that
/// the table of keys and this file are seen to agree.
#[cfg(test)]
#[test]
fn the_alignment_is_the_only_key_judged_elsewhere() {
    let elsewhere: Vec<_> = keys::KEYS.iter().filter(|row| row.own_rule().is_none()).collect();
    assert_eq!(elsewhere.len(), 1);
    assert_eq!(elsewhere[0].rule(), &metadata::ALIGN_TYPE);
}
