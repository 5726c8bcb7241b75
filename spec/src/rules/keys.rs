//! The General and Tokenizer keys of the document and the type each must have.
//!
//! Source: `docs/gguf.md`, sections "General", "Source metadata" and "Tokenizer". Each key of the
//! table is a rule of its own, `key.NAME.type`; `general.alignment` is governed by `align.type`,
//! which ggml enforces too.

use super::{Rule, Says, Stage, metadata};
use crate::types::ValueType;

/// The type a key must have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyType {
    /// A value of this type.
    Scalar(ValueType),
    /// An array of elements of this type.
    Array(ValueType),
}

impl KeyType {
    /// `u32`, `array of string`.
    #[must_use]
    pub fn describe(self) -> String {
        match self {
            Self::Scalar(ty) => ty.name().to_owned(),
            Self::Array(ty) => format!("array of {ty}"),
        }
    }
}

/// One key of the document.
#[derive(Debug)]
pub struct KeyRow {
    /// The key; `{id}` stands for a decimal number.
    pub name: &'static str,
    /// Its type.
    pub ty: KeyType,
    /// Whether the document calls it required, on which condition.
    pub required: Required,
    rule: Option<&'static Rule>,
}

/// When a key must be there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Required {
    /// Always.
    Always,
    /// If any tensor has a block format.
    WhenQuantized,
    /// Never.
    No,
}

impl KeyRow {
    /// The rule that fixes the type of this key.
    #[must_use]
    pub fn rule(&self) -> &'static Rule {
        self.rule.unwrap_or(&metadata::ALIGN_TYPE)
    }

    /// The rule that exists for this key alone; `None` for the alignment.
    #[must_use]
    pub fn own_rule(&self) -> Option<&'static Rule> {
        self.rule
    }

    /// Whether a stored key is this one.
    #[must_use]
    pub fn matches(&self, key: &[u8]) -> bool {
        // Most keys differ from most rows early on, and few rows have a number in them.
        if key == self.name.as_bytes() {
            return !self.name.contains("{id}");
        }
        let alike = key.iter().zip(self.name.as_bytes()).take_while(|(a, b)| a == b).count();
        if !self.name[alike..].starts_with("{id}") {
            return false;
        }
        let (before, after) = (&self.name[..alike], &self.name[alike + 4..]);
        key.strip_prefix(before.as_bytes())
            .and_then(|rest| rest.strip_suffix(after.as_bytes()))
            .is_some_and(|id| !id.is_empty() && id.iter().all(u8::is_ascii_digit))
    }

    /// The key with `{id}` filled in.
    #[must_use]
    pub fn example(&self) -> String {
        self.name.replace("{id}", "0")
    }
}

/// The row for a stored key.
#[must_use]
pub fn find(key: &[u8]) -> Option<&'static KeyRow> {
    KEYS.iter().find(|row| row.matches(key))
}

macro_rules! keys {
    (@type scalar $ty:ident) => { KeyType::Scalar(ValueType::$ty) };
    (@type array $ty:ident) => { KeyType::Array(ValueType::$ty) };
    (@word scalar $word:literal) => { $word };
    (@word array $word:literal) => { concat!("array of ", $word) };
    ($($name:literal $rule:literal $kind:ident $ty:ident $word:literal $required:ident;)*) => {
        /// The keys, in the order of the document.
        pub static KEYS: &[KeyRow] = &[
            KeyRow {
                name: "general.alignment",
                ty: KeyType::Scalar(ValueType::U32),
                required: Required::No,
                rule: None,
            },
            $(KeyRow {
                name: $name,
                ty: keys!(@type $kind $ty),
                required: Required::$required,
                rule: Some(&Rule {
                    id: concat!("key.", $rule, ".type"),
                    stage: Stage::Semantics,
                    statement: concat!("`", $name, "` is of type ", keys!(@word $kind $word), "."),
                    why: "A reader that asks for the documented type refuses the file, ignores the key, or reads other bytes as the value.",
                    fix: concat!("Write the value as ", keys!(@word $kind $word), "."),
                    source: concat!("document: ", $name),
                    says: [Says::Refuses, Says::Silent, Says::Silent],
                    fallback: None,
                    unusable: false,
                }),
            },)*
        ];
    };
}

keys! {
    "general.architecture" "general.architecture" scalar String "string" Always;
    "general.quantization_version" "general.quantization_version" scalar U32 "u32" WhenQuantized;
    "general.name" "general.name" scalar String "string" No;
    "general.author" "general.author" scalar String "string" No;
    "general.version" "general.version" scalar String "string" No;
    "general.organization" "general.organization" scalar String "string" No;
    "general.basename" "general.basename" scalar String "string" No;
    "general.finetune" "general.finetune" scalar String "string" No;
    "general.description" "general.description" scalar String "string" No;
    "general.quantized_by" "general.quantized_by" scalar String "string" No;
    "general.size_label" "general.size_label" scalar String "string" No;
    "general.license" "general.license" scalar String "string" No;
    "general.license.name" "general.license.name" scalar String "string" No;
    "general.license.link" "general.license.link" scalar String "string" No;
    "general.url" "general.url" scalar String "string" No;
    "general.doi" "general.doi" scalar String "string" No;
    "general.uuid" "general.uuid" scalar String "string" No;
    "general.repo_url" "general.repo_url" scalar String "string" No;
    "general.tags" "general.tags" array String "string" No;
    "general.languages" "general.languages" array String "string" No;
    "general.datasets" "general.datasets" array String "string" No;
    "general.file_type" "general.file_type" scalar U32 "u32" No;
    "general.source.url" "general.source.url" scalar String "string" No;
    "general.source.doi" "general.source.doi" scalar String "string" No;
    "general.source.uuid" "general.source.uuid" scalar String "string" No;
    "general.source.repo_url" "general.source.repo_url" scalar String "string" No;
    "general.base_model.count" "general.base_model.count" scalar U32 "u32" No;
    "general.base_model.{id}.name" "general.base_model.N.name" scalar String "string" No;
    "general.base_model.{id}.author" "general.base_model.N.author" scalar String "string" No;
    "general.base_model.{id}.version" "general.base_model.N.version" scalar String "string" No;
    "general.base_model.{id}.organization" "general.base_model.N.organization" scalar String "string" No;
    "general.base_model.{id}.url" "general.base_model.N.url" scalar String "string" No;
    "general.base_model.{id}.doi" "general.base_model.N.doi" scalar String "string" No;
    "general.base_model.{id}.uuid" "general.base_model.N.uuid" scalar String "string" No;
    "general.base_model.{id}.repo_url" "general.base_model.N.repo_url" scalar String "string" No;
    "tokenizer.ggml.model" "tokenizer.ggml.model" scalar String "string" No;
    "tokenizer.ggml.tokens" "tokenizer.ggml.tokens" array String "string" No;
    "tokenizer.ggml.scores" "tokenizer.ggml.scores" array F32 "f32" No;
    "tokenizer.ggml.token_type" "tokenizer.ggml.token_type" array I32 "i32" No;
    "tokenizer.ggml.merges" "tokenizer.ggml.merges" array String "string" No;
    "tokenizer.ggml.added_tokens" "tokenizer.ggml.added_tokens" array String "string" No;
    "tokenizer.ggml.bos_token_id" "tokenizer.ggml.bos_token_id" scalar U32 "u32" No;
    "tokenizer.ggml.eos_token_id" "tokenizer.ggml.eos_token_id" scalar U32 "u32" No;
    "tokenizer.ggml.unknown_token_id" "tokenizer.ggml.unknown_token_id" scalar U32 "u32" No;
    "tokenizer.ggml.separator_token_id" "tokenizer.ggml.separator_token_id" scalar U32 "u32" No;
    "tokenizer.ggml.padding_token_id" "tokenizer.ggml.padding_token_id" scalar U32 "u32" No;
    "tokenizer.huggingface.json" "tokenizer.huggingface.json" scalar String "string" No;
    "tokenizer.rwkv.world" "tokenizer.rwkv.world" scalar String "string" No;
    "tokenizer.chat_template" "tokenizer.chat_template" scalar String "string" No;
}
