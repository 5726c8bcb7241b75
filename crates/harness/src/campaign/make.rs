//! Files to ask readers about: new ones, and changed ones of the pool.
//!
//! The file of a number follows from the seed, the number and the pool: nothing else goes into it.

use assay_corpus::store::Entry;
use gguf_spec::binary::encode;
use gguf_spec::generate::{breaking, crossed, mutated, valid};
use gguf_spec::rules::{Rule, catalogue};
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use super::coverage::Coverage;
use super::pool::Pool;

/// How a file was made.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct How {
    /// `valid`, `breaking`, `vector`, `mutated` or `crossed`.
    pub step: String,
    /// What it was made from first: `valid 7`, `breaking align.zero 7`, `vector alignment-1`; the number is a
    /// seed.
    pub root: String,
    /// How many steps lie between.
    pub depth: u32,
}

/// A file that was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Made {
    pub(crate) number: u64,
    pub(crate) bytes: Vec<u8>,
    pub(crate) how: How,
}

/// Makes files.
#[derive(Clone, Debug)]
pub(crate) struct Maker {
    seed: u64,
    most: usize,
    rules: Vec<&'static Rule>,
    /// Ids and files.
    vectors: Vec<(String, Vec<u8>)>,
}

impl Maker {
    /// Files of at most `most` bytes.
    pub(crate) fn new(seed: u64, most: usize, vectors: &[Entry]) -> Self {
        let rules = catalogue().into_iter().filter(|rule| breaking(rule, 0).is_some()).collect();
        let small = vectors.iter().filter(|entry| entry.bytes.len() <= most);
        let vectors = small.map(|entry| (entry.vector.id.clone(), entry.bytes.clone())).collect();
        Self { seed, most, rules, vectors }
    }

    /// The file of a number.
    pub(crate) fn make(&self, number: u64, pool: &mut Pool, coverage: &Coverage) -> Made {
        // What is known comes first, each once and in order.
        if let Some((id, bytes)) = usize::try_from(number).ok().and_then(|number| self.vectors.get(number)) {
            return Made { number, bytes: bytes.clone(), how: first("vector", &format!("vector {id}")) };
        }
        let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
        rng.set_stream(number);
        let (how, mut bytes) = match rng.random_range(0..100) {
            0..8 if !self.vectors.is_empty() => {
                let (id, bytes) = &self.vectors[rng.random_range(0..self.vectors.len())];
                (first("vector", &format!("vector {id}")), bytes.clone())
            }
            0..8 => right(&mut rng),
            8..12 => right(&mut rng),
            12..20 => self.broken(coverage, &mut rng),
            kind => self.changed(kind < 36, pool, coverage, &mut rng),
        };
        bytes.truncate(self.most);
        Made { number, bytes, how }
    }

    /// A file that breaks one rule: one of those that the fewest files have broken, or any.
    fn broken(&self, coverage: &Coverage, rng: &mut ChaCha8Rng) -> (How, Vec<u8>) {
        let seen = |rule: &Rule| coverage.rules.get(rule.id).copied().unwrap_or_default();
        let fewest = self.rules.iter().map(|rule| seen(rule)).min().unwrap_or_default();
        let rare: Vec<_> = self.rules.iter().filter(|rule| seen(rule) == fewest).collect();
        let rule = if rng.random_bool(0.5) {
            rare[rng.random_range(0..rare.len())]
        } else {
            &self.rules[rng.random_range(0..self.rules.len())]
        };
        let seed = rng.next_u64();
        let bytes = breaking(rule, seed).map(|broken| broken.bytes()).unwrap_or_default();
        (first("breaking", &format!("breaking {} {seed}", rule.id)), bytes)
    }

    fn changed(&self, cross: bool, pool: &mut Pool, coverage: &Coverage, rng: &mut ChaCha8Rng) -> (How, Vec<u8>) {
        let Some(one) = pool.choose(coverage, rng).cloned() else { return self.broken(coverage, rng) };
        let how = |step: &str, depth: u32| How {
            step: step.to_owned(),
            root: one.note.made.root.clone(),
            depth: depth.saturating_add(1),
        };
        if cross && let Some(other) = pool.choose(coverage, rng) {
            let depth = one.note.made.depth.max(other.note.made.depth);
            return (how("crossed", depth), crossed(&one.bytes, &other.bytes, self.most, rng));
        }
        (how("mutated", one.note.made.depth), mutated(&one.bytes, self.most, rng))
    }
}

fn first(step: &str, root: &str) -> How {
    How { step: step.to_owned(), root: root.to_owned(), depth: 0 }
}

fn right(rng: &mut ChaCha8Rng) -> (How, Vec<u8>) {
    let seed = rng.next_u64();
    (first("valid", &format!("valid {seed}")), encode(&valid(seed)))
}
