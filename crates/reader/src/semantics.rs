//! What the metadata means: the General and Tokenizer keys.

use gguf_spec::field::{Field, KvPart, ValuePart};
use gguf_spec::rules::keys::{self, KeyRow, KeyType};
use gguf_spec::rules::semantics;
use gguf_spec::types::{TensorType, ValueType};

use crate::array::Array;
use crate::elements::shown;
use crate::error::{First, Halt};
use crate::file::File;
use crate::value::{Pair, Value};

/// Judges the meaning of the metadata.
pub(crate) fn check(file: &File<'_>, first: &mut First) -> Result<(), Halt> {
    let tokens = file.get("tokenizer.ggml.tokens").and_then(|value| value.array_of(ValueType::String));
    for (i, pair) in file.metadata().enumerate() {
        let Some(row) = row(pair.key()) else { continue };
        if is_of(pair.value(), row.ty) {
            check_value(file, i, &pair, tokens.as_ref(), first);
        } else if row.own_rule().is_some() {
            let at = file.type_at(i);
            let texts = || (row.ty.describe(), pair.value().describe());
            first.offer(row.rule(), at..at + 4, || Field::Kv(i, KvPart::Type), texts);
        }
        if first.any() {
            break;
        }
    }
    check_required(file, first);
    first.settle()
}

/// The row of a key. Most keys are of one architecture and have none.
fn row(key: &[u8]) -> Option<&'static KeyRow> {
    if key.starts_with(b"general.") || key.starts_with(b"tokenizer.") { keys::find(key) } else { None }
}

fn is_of(value: Value<'_>, ty: KeyType) -> bool {
    match ty {
        KeyType::Scalar(ty) => value.ty() == ty,
        KeyType::Array(ty) => value.array_of(ty).is_some(),
    }
}

fn check_required(file: &File<'_>, first: &mut First) {
    let end = file.metadata_end();
    let mut offer = |rule, key: &str| {
        let texts = || (format!("`{key}`"), "nothing".to_owned());
        first.offer(rule, end..end, || Field::MetadataEnd, texts);
    };
    if file.get("general.architecture").is_none() {
        offer(&semantics::ARCHITECTURE_REQUIRED, "general.architecture");
    }
    let quantized = |id| TensorType::from_id(id).is_some_and(|row| row.quantized);
    if file.tensors().any(|tensor| quantized(tensor.type_id())) && file.get("general.quantization_version").is_none() {
        offer(&semantics::QUANTIZATION_VERSION_REQUIRED, "general.quantization_version");
    }
}

/// The rules on the values of single keys, for a value of the right type.
fn check_value(file: &File<'_>, i: usize, pair: &Pair<'_>, tokens: Option<&Array<'_>>, first: &mut First) {
    let value = pair.value();
    match pair.key() {
        b"general.architecture" => {
            let name = value.as_bytes().unwrap_or_default();
            if name.is_empty() || !name.iter().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit()) {
                let start = file.type_at(i) + 4 + 8;
                let len = name.len() as u64;
                let texts = || ("lower-case letters and digits".to_owned(), shown(name, len));
                let field = || Field::Kv(i, KvPart::Value(Vec::new(), ValuePart::Whole));
                first.offer(&semantics::ARCHITECTURE_CHARSET, start..start + len, field, texts);
            }
        }
        b"general.languages" => check_languages(file, i, value, first),
        b"tokenizer.ggml.scores" => {
            check_length(file, i, value, tokens, &semantics::SCORES_LENGTH, first);
        }
        b"tokenizer.ggml.token_type" => {
            check_length(file, i, value, tokens, &semantics::TOKEN_TYPE_LENGTH, first);
            check_token_types(file, i, value, first);
        }
        _ => {}
    }
}

fn check_languages(file: &File<'_>, i: usize, value: Value<'_>, first: &mut First) {
    // Where an entry lies: behind the lengths and bytes of those before it.
    let mut at = file.elements_at(i);
    for (j, code) in value.strings().into_iter().flatten().enumerate() {
        let len = code.len() as u64;
        if code.len() != 2 || !code.iter().all(u8::is_ascii_lowercase) {
            let texts = || ("a two-letter code".to_owned(), shown(code, len));
            let field = || Field::Kv(i, KvPart::Value(vec![j], ValuePart::Whole));
            first.offer(&semantics::LANGUAGES_ISO639, at + 8..at + 8 + len, field, texts);
            return;
        }
        at += 8 + len;
    }
}

fn check_length(
    file: &File<'_>,
    i: usize,
    value: Value<'_>,
    tokens: Option<&Array<'_>>,
    rule: &'static gguf_spec::rules::Rule,
    first: &mut First,
) {
    let (Some(array), Some(tokens)) = (value.as_array(), tokens) else { return };
    if array.len() != tokens.len() {
        let at = file.elements_at(i);
        let field = || Field::Kv(i, KvPart::Value(Vec::new(), ValuePart::Len));
        let texts = || (format!("{}, one for each token", tokens.len()), array.len().to_string());
        first.offer(rule, at - 8..at, field, texts);
    }
}

fn check_token_types(file: &File<'_>, i: usize, value: Value<'_>, first: &mut First) {
    let Some(array) = value.as_array() else { return };
    let Some(bad) = first_not_a_token_type(array) else { return };
    let at = file.elements_at(i) + 4 * bad as u64;
    let actual = || array.iter::<i32>().and_then(|mut types| types.nth(bad)).unwrap_or_default().to_string();
    let field = || Field::Kv(i, KvPart::Value(Vec::new(), ValuePart::Elements));
    first.offer(&semantics::TOKEN_TYPE_VALUES, at..at + 4, field, || ("1 to 6".to_owned(), actual()));
}

/// The index of the first element that is not 1 to 6.
fn first_not_a_token_type(array: Array<'_>) -> Option<usize> {
    // Whole blocks at once: a loop without a way out is made into vector instructions.
    const BLOCK: usize = 1024;
    let (types, _) = array.bytes().as_chunks::<4>();
    let order = array.byte_order();
    let is_none = |four: &[u8; 4]| order.u32(*four).wrapping_sub(1) >= 6;
    let fine = types.chunks(BLOCK).take_while(|block| !block.iter().fold(false, |any, four| any | is_none(four)));
    let before = fine.count() * BLOCK;
    types.iter().skip(before).position(is_none).map(|j| before + j)
}
