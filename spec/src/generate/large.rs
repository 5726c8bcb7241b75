//! Files that break a limit only by being larger than a gigabyte: described, and made when needed.

use super::build::{Builder, pair, string};
use crate::binary::encode;
use crate::limits::{GGML_MAX_ARRAY_LENGTH, GGML_MAX_STRING_LENGTH};
use crate::rules::{Rule, metadata};
use crate::syntax::{Array, Elements, Value};
use crate::types::ValueType;

/// A large file in three parts: a head, one byte repeated, a tail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Large {
    /// The first bytes.
    pub head: Vec<u8>,
    /// The byte that is repeated; 0 leaves a hole in a sparse file.
    pub fill: u8,
    /// How often it is repeated.
    pub count: u64,
    /// The last bytes.
    pub tail: Vec<u8>,
}

impl Large {
    /// The size of the file in bytes.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.head.len() as u64 + self.count + self.tail.len() as u64
    }
}

/// A file that breaks exactly this rule, for the rules that only a large file can break.
#[must_use]
pub fn large(rule: &Rule) -> Option<Large> {
    with_length(rule, 1)
}

/// The near miss of [`large`]: the longest that is allowed.
#[must_use]
pub fn keeping_large(rule: &Rule) -> Option<Large> {
    with_length(rule, 0)
}

/// The limit of the rule plus `more`.
fn with_length(rule: &Rule, more: u64) -> Option<Large> {
    let mut builder = Builder::new();
    let marker = if *rule == metadata::KEY_LIMIT {
        // The key is the large thing: what follows it is the tail.
        builder.metadata.push(pair("", (ValueType::U8.id(), Value::Fixed(vec![7]))));
        5
    } else if *rule == metadata::STRING_LIMIT {
        builder.metadata.push(pair("x.blob", string("")));
        0
    } else if *rule == metadata::ARRAY_LIMIT {
        let empty = Array { type_id: ValueType::U8.id(), len: 0, elements: Elements::Fixed(Vec::new()) };
        builder.metadata.push(pair("x.blob", super::build::array(empty)));
        0
    } else {
        return None;
    };
    let (fill, count) = match marker {
        5 => (b'a', GGML_MAX_STRING_LENGTH + more),
        _ => (0, GGML_MAX_ARRAY_LENGTH + more),
    };
    let mut tree = builder.finish();
    tree.padding.clear();
    let bytes = encode(&tree);
    let (head, tail) = bytes.split_at(bytes.len() - marker);
    let mut head = head.to_vec();
    // The declared length is the last thing of the head.
    let at = head.len() - 8;
    head[at..].copy_from_slice(&count.to_le_bytes());
    Some(Large { head, fill, count, tail: tail.to_vec() })
}
