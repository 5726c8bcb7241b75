//! Files drawn from a number: right, broken, damaged, arbitrary.
//!
//! One number makes one case and nothing else goes into it, so that a failing case is replayed from
//! the number alone.

use std::fmt;

use arbitrary::{Arbitrary, Unstructured};
use gguf_spec::binary::{encode, spans};
use gguf_spec::field::{Field, KvPart, TensorPart, ValuePart};
use gguf_spec::generate::{Builder, breaking, disturbed, interesting, tensor, valid};
use gguf_spec::rules::{Rule, catalogue};
use gguf_spec::syntax::{ByteOrder, Tree};
use gguf_spec::types::TensorType;
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// How a case was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A file without findings.
    Valid,
    /// A file whose only deviations are its version and byte order.
    Variant,
    /// A file made to break this rule.
    Broken(&'static Rule),
    /// A right or broken file of which some bytes or fields were changed, cut, moved or doubled.
    Damaged,
    /// The encoding of a tree that was drawn without any care.
    Arbitrary,
    /// Bytes behind a header.
    Noise,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Valid => f.write_str("valid"),
            Self::Variant => f.write_str("variant"),
            Self::Broken(rule) => write!(f, "broken {}", rule.id),
            Self::Damaged => f.write_str("damaged"),
            Self::Arbitrary => f.write_str("arbitrary"),
            Self::Noise => f.write_str("noise"),
        }
    }
}

/// A file drawn from a number.
#[derive(Clone, Debug)]
pub struct Case {
    /// The number.
    pub seed: u64,
    /// How it was made.
    pub kind: Kind,
    /// The file.
    pub bytes: Vec<u8>,
}

/// Draws cases; holds the rules that have generators.
#[derive(Clone, Debug)]
pub struct Cases {
    rules: Vec<&'static Rule>,
}

impl Default for Cases {
    fn default() -> Self {
        Self::new()
    }
}

impl Cases {
    /// The source of all cases.
    #[must_use]
    pub fn new() -> Self {
        Self { rules: catalogue().into_iter().filter(|rule| breaking(rule, 0).is_some()).collect() }
    }

    /// The case of a number.
    #[must_use]
    pub fn draw(&self, seed: u64) -> Case {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let (kind, bytes) = match rng.random_range(0..10) {
            0 => (Kind::Valid, encode(&valid(seed))),
            1 => (Kind::Variant, encode(&variant(seed))),
            2 | 3 => {
                let rule = self.rules[rng.random_range(0..self.rules.len())];
                let file = breaking(rule, seed).map(|broken| broken.bytes()).unwrap_or_default();
                (Kind::Broken(rule), file)
            }
            4..=7 => (Kind::Damaged, self.damaged(seed, &mut rng)),
            8 => (Kind::Arbitrary, encode(&arbitrary(&mut rng))),
            _ => (Kind::Noise, noise(&mut rng)),
        };
        Case { seed, kind, bytes }
    }

    fn damaged(&self, seed: u64, rng: &mut ChaCha8Rng) -> Vec<u8> {
        let tree = match rng.random_range(0..3) {
            0 => valid(seed),
            1 => variant(seed),
            _ => {
                let rule = self.rules[rng.random_range(0..self.rules.len())];
                breaking(rule, seed).map_or_else(|| valid(seed), |broken| broken.tree)
            }
        };
        let mut bytes = encode(&tree);
        // Fields first, while they are where the tree says.
        let numbers: Vec<_> = spans(&tree, 0).into_iter().filter(|span| is_number(&span.field)).collect();
        for _ in 0..rng.random_range(0..3) {
            let range = numbers[rng.random_range(0..numbers.len())].range.clone();
            let (Ok(start), Ok(end)) = (usize::try_from(range.start), usize::try_from(range.end)) else { continue };
            let field = &mut bytes[start..end];
            let new = tree.byte_order.bytes(interesting(rng, tree.byte_order.number(field)), field.len());
            field.copy_from_slice(&new);
        }
        for _ in 0..rng.random_range(0..4) {
            bytes = disturbed(&bytes, rng);
        }
        bytes
    }
}

/// A right file in another version or byte order: 1, 2 or 3, little or big.
#[must_use]
pub fn variant(seed: u64) -> Tree<'static> {
    let mut rng = ChaCha8Rng::seed_from_u64(!seed);
    let right = valid(seed);
    let builder = Builder {
        version: rng.random_range(1..=3),
        byte_order: if rng.random_bool(0.5) { ByteOrder::Little } else { ByteOrder::Big },
        metadata: right.metadata,
        tensors: right.tensors,
        fill: rng.random(),
    };
    let mut tree = builder.finish();
    if rng.random_bool(0.2) {
        tree.rest.to_mut().extend(b"trailing");
    }
    tree
}

/// A file of a few tensors whose shapes, types and offsets are where products and sums stop to fit.
#[must_use]
pub fn extreme_shapes(seed: u64) -> Vec<u8> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut builder = Builder::new();
    for i in 0..rng.random_range(1..4) {
        let type_id = rng.random_range(0..43);
        let block = TensorType::from_id(type_id).map_or(1, |row| row.block.max(1));
        // Products near a power of two: what one dimension has, the next ones have no more.
        let mut bits = rng.random_range(58..70u32);
        let dims: Vec<u64> = (0..rng.random_range(0..5))
            .map(|j| {
                let power = rng.random_range(0..=bits.min(63));
                bits -= power;
                let dim = match rng.random_range(0..8) {
                    0 => rng.random_range(0..4),
                    1 => (1u64 << power).wrapping_sub(1),
                    2 => (1 << power) + rng.random_range(0..300),
                    3 => (1 << power) / 3,
                    _ => 1 << power,
                };
                // Most rows are of whole blocks.
                if j == 0 && rng.random_bool(0.9) { dim.checked_next_multiple_of(block).unwrap_or(dim) } else { dim }
            })
            .collect();
        builder.tensors.push(tensor(format!("t{i}"), type_id, &dims));
    }
    let mut tree = builder.finish();
    if rng.random_bool(0.2) {
        let i = rng.random_range(0..tree.tensors.len());
        tree.tensors[i].offset = interesting(&mut rng, tree.tensors[i].offset);
    }
    encode(&tree)
}

/// A tree drawn without any care.
fn arbitrary(rng: &mut ChaCha8Rng) -> Tree<'static> {
    let mut bytes = vec![0; rng.random_range(0..2048)];
    rng.fill_bytes(&mut bytes);
    let mut tree = Tree::arbitrary(&mut Unstructured::new(&bytes)).unwrap_or_default().into_owned();
    if rng.random_bool(0.9) {
        tree.magic = *b"GGUF";
        tree.version = rng.random_range(0..5);
    }
    // Declared counts near the truth let decoding go on.
    if rng.random_bool(0.8) {
        tree.kv_count = tree.metadata.len() as u64 + u64::from(rng.random_bool(0.1));
        tree.tensor_count = tree.tensors.len() as u64 + u64::from(rng.random_bool(0.1));
        for pair in &mut tree.metadata {
            pair.key.len = pair.key.bytes.len() as u64;
            pair.type_id %= 14;
        }
    }
    tree
}

/// A header with small counts, and bytes that are mostly small numbers.
fn noise(rng: &mut ChaCha8Rng) -> Vec<u8> {
    let mut bytes = b"GGUF".to_vec();
    bytes.extend(rng.random_range(0..5u32).to_le_bytes());
    bytes.extend(rng.random_range(0..3u64).to_le_bytes());
    bytes.extend(rng.random_range(0..3u64).to_le_bytes());
    for _ in 0..rng.random_range(0..512) {
        bytes.push(match rng.random_range(0..4) {
            0 => rng.random(),
            1 => rng.random_range(0..14),
            _ => 0,
        });
    }
    bytes
}

/// Whether a field holds a count, a length, a type, a dimension, an offset or the version.
fn is_number(field: &Field) -> bool {
    match field {
        Field::Version | Field::TensorCount | Field::KvCount => true,
        Field::Kv(_, part) => match part {
            KvPart::KeyLen | KvPart::Type => true,
            KvPart::Value(_, part) => matches!(part, ValuePart::Len | ValuePart::ElementType),
            KvPart::Key => false,
        },
        Field::Tensor(_, part) => *part != TensorPart::Name,
        Field::Magic
        | Field::MetadataEnd
        | Field::Padding
        | Field::Data(_)
        | Field::DataPadding(_)
        | Field::Gap
        | Field::Trailing
        | Field::Unread => false,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use gguf_spec::judge::judge;
    use gguf_spec::rules::Checks;

    #[test]
    fn a_number_makes_one_case() {
        let cases = Cases::new();
        for seed in 0..50 {
            assert_eq!(cases.draw(seed).bytes, cases.draw(seed).bytes, "seed {seed}");
        }
    }

    #[test]
    fn every_kind_occurs_and_does_not_stop_at_the_header() {
        let cases = Cases::new();
        let mut kinds = BTreeMap::new();
        for seed in 0..2_000 {
            let case = cases.draw(seed);
            let word = case.kind.to_string();
            let word = word.split(' ').next().unwrap_or_default().to_owned();
            let deep = judge(&case.bytes, &Checks::all()).document.is_some();
            let (all, decoded) = kinds.entry(word).or_insert((0, 0));
            *all += 1;
            *decoded += i32::from(deep);
        }
        assert_eq!(kinds.len(), 6, "{kinds:?}");
        // Some of each kind are decoded to the end: those reach all rules.
        assert!(kinds.values().all(|&(all, decoded)| all > 50 && decoded > 2), "{kinds:?}");
    }

    #[test]
    fn variants_differ_from_right_files_by_version_and_byte_order_alone() {
        for seed in 0..300 {
            let findings = judge(&encode(&variant(seed)), &Checks::all()).findings;
            let allowed = ["header.version.v1", "header.version.v2", "header.byte-order"];
            assert!(findings.iter().all(|finding| allowed.contains(&finding.rule.id)), "seed {seed}: {findings:#?}");
        }
    }
}
