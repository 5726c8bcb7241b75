//! The rules about the types of keys and what the metadata means.

use gguf_spec::generate::{Builder, array, fixed_array, pair, scalar, string, string_array, tensor};
use gguf_spec::rules::keys::{KEYS, KeyType};
use gguf_spec::rules::semantics;
use gguf_spec::syntax::{Array, Elements, RawString, Value};
use gguf_spec::types::ValueType;

use crate::define::type_ids::Q4_0;
use crate::define::{Group, bytes};

use super::{twins, with_pair, with_tensor};

/// The type of each General and Tokenizer key: a near type, and the right one.
pub(super) fn key_types(group: &mut Group) {
    for row in KEYS {
        let Some(rule) = row.own_rule() else { continue };
        let key = row.example();
        let (wrong, right) = match row.ty {
            KeyType::Scalar(ValueType::String) => (array(string_value("llama")), string("llama")),
            KeyType::Scalar(_) => (scalar(ValueType::U64, 2), scalar(ValueType::U32, 2)),
            KeyType::Array(ValueType::String) => (string("en"), string_array(&["en"])),
            KeyType::Array(ValueType::F32) => {
                (array(fixed_array(ValueType::F64, &[0])), array(fixed_array(ValueType::F32, &[0])))
            }
            KeyType::Array(_) => (array(fixed_array(ValueType::U32, &[1])), array(fixed_array(ValueType::I32, &[1]))),
        };
        let described = match row.ty {
            KeyType::Scalar(ValueType::String) => "an array of one string",
            KeyType::Scalar(_) => "a u64",
            KeyType::Array(ValueType::String) => "a string",
            KeyType::Array(ValueType::F32) => "an array of f64",
            KeyType::Array(_) => "an array of u32",
        };
        twins(
            group,
            rule,
            (&format!("`{key}` is {described}."), with_pair(&key, wrong)),
            (&format!("`{key}` is of the documented type, {}.", row.ty.describe()), with_pair(&key, right)),
        );
    }
}

fn string_value(text: &str) -> Array {
    Array { type_id: ValueType::String.id(), len: 1, elements: Elements::Strings(vec![RawString::new(text)]) }
}

pub(super) fn meaning(group: &mut Group) {
    let without = Builder { metadata: vec![pair("general.name", string("n"))], ..Builder::default() };
    twins(
        group,
        &semantics::ARCHITECTURE_REQUIRED,
        ("No `general.architecture`.", bytes(&without)),
        ("`general.architecture` beside a name.", with_pair("general.name", string("n"))),
    );
    twins(
        group,
        &semantics::ARCHITECTURE_CHARSET,
        (
            "An architecture with a hyphen, as published models have it.",
            with_pair("general.architecture", string("command-r")),
        ),
        ("The same architecture without the hyphen.", with_pair("general.architecture", string("commandr"))),
    );
    let quantized = bytes(Builder::new().add(tensor("t", Q4_0, &[32])));
    twins(
        group,
        &semantics::QUANTIZATION_VERSION_REQUIRED,
        ("A Q4_0 tensor without `general.quantization_version`.", quantized),
        ("A Q4_0 tensor with it.", with_tensor(Q4_0, &[32])),
    );
    twins(
        group,
        &semantics::LANGUAGES_ISO639,
        ("A language of three letters.", with_pair("general.languages", string_array(&["en", "deu"]))),
        ("Two languages of two letters.", with_pair("general.languages", string_array(&["en", "de"]))),
    );
    let vocabulary = |key: &str, value: (u32, Value)| {
        bytes(Builder::new().set(pair("tokenizer.ggml.tokens", string_array(&["a", "b", "c"]))).set(pair(key, value)))
    };
    let scores = |n: usize| vocabulary("tokenizer.ggml.scores", array(fixed_array(ValueType::F32, &vec![0; n])));
    let types = |bits: &[u64]| vocabulary("tokenizer.ggml.token_type", array(fixed_array(ValueType::I32, bits)));
    twins(
        group,
        &semantics::SCORES_LENGTH,
        ("Three tokens and two scores.", scores(2)),
        ("Three tokens and three scores.", scores(3)),
    );
    twins(
        group,
        &semantics::TOKEN_TYPE_LENGTH,
        ("Three tokens and four token types.", types(&[1, 1, 1, 1])),
        ("Three tokens and three token types.", types(&[1, 1, 1])),
    );
    twins(
        group,
        &semantics::TOKEN_TYPE_VALUES,
        ("A token type of 7.", types(&[1, 7, 6])),
        ("Token types 1, 2 and 6.", types(&[1, 2, 6])),
    );
}
