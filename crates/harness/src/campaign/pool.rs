//! The files that showed something new: those that are mutated further.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use super::coverage::Coverage;
use super::make::How;

/// A file that showed something new.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Kept {
    pub(crate) note: Note,
    pub(crate) bytes: Vec<u8>,
}

/// What the state of a campaign says of such a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Note {
    /// The SHA-256 of the file.
    pub(crate) sha256: String,
    /// The combinations that it showed.
    pub(crate) combinations: Vec<String>,
    /// How it was made.
    pub(crate) made: How,
    /// How often it was mutated.
    pub(crate) chosen: u64,
    /// Whether some reader did not survive it: to ask about such files takes long.
    pub(crate) heavy: bool,
}

/// The pool, in the order in which the files came.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pool {
    pub(crate) list: Vec<Kept>,
    bytes: u64,
}

/// More files than this are not kept.
const MOST: usize = 2048;

/// The weight of a file whose rarest combination was seen once, and that was never chosen.
const WHOLE: u64 = 1 << 40;

/// Files that readers do not survive are chosen so many times less often.
const HEAVY: u64 = 64;

impl Pool {
    /// Keeps a file. Those that show the most frequent combinations go while there are too many, or more
    /// than so many bytes.
    pub(crate) fn keep(&mut self, kept: Kept, coverage: &Coverage, most_bytes: u64) {
        if self.list.iter().any(|other| other.note.sha256 == kept.note.sha256) {
            return;
        }
        self.bytes += kept.bytes.len() as u64;
        self.list.push(kept);
        while self.list.len() > MOST || (self.bytes > most_bytes && self.list.len() > 1) {
            // Of several the largest, of these the first; not the one that has just come.
            let others = self.list[..self.list.len() - 1].iter().enumerate();
            let common = |kept: &Kept| (coverage.rarest(&kept.note.combinations), kept.bytes.len());
            let Some((i, _)) = others.rev().max_by_key(|(_, kept)| common(kept)) else { break };
            self.bytes -= self.list.remove(i).bytes.len() as u64;
        }
    }

    /// Draws a file: the rarer what it showed and the less often it was drawn, the likelier.
    pub(crate) fn choose(&mut self, coverage: &Coverage, rng: &mut ChaCha8Rng) -> Option<&Kept> {
        let weight = |kept: &Kept| {
            let often = coverage.rarest(&kept.note.combinations).max(1).saturating_mul(1 + kept.note.chosen / 4);
            let often = often.saturating_mul(if kept.note.heavy { HEAVY } else { 1 });
            (WHOLE / often).max(1)
        };
        let weights: Vec<u64> = self.list.iter().map(weight).collect();
        let total: u64 = weights.iter().sum();
        if total == 0 {
            return None;
        }
        let mut at = rng.random_range(0..total);
        let i = weights.iter().position(|weight| match at.checked_sub(*weight) {
            Some(rest) => {
                at = rest;
                false
            }
            None => true,
        })?;
        self.list[i].note.chosen += 1;
        Some(&self.list[i])
    }

    /// How many files there are.
    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gguf_spec::binary::encode;
    use gguf_spec::generate::valid;
    use rand::SeedableRng;

    fn kept(name: &str, size: usize) -> Kept {
        let note = Note {
            sha256: name.to_owned(),
            combinations: vec![name.to_owned()],
            made: How::default(),
            chosen: 0,
            heavy: false,
        };
        Kept { note, bytes: vec![0; size] }
    }

    fn coverage(seen: &[(&str, usize)]) -> Coverage {
        let entry = assay_corpus::build::entry_of("x", encode(&valid(0)), std::path::PathBuf::new());
        let mut coverage = Coverage::default();
        for (name, times) in seen {
            for _ in 0..*times {
                coverage.see(&entry, &[(*name).to_owned()]);
            }
        }
        coverage
    }

    #[test]
    fn what_is_rare_is_drawn_more_often() {
        let coverage = coverage(&[("rare", 1), ("common", 1000)]);
        let mut pool = Pool::default();
        pool.keep(kept("common", 10), &coverage, 1000);
        pool.keep(kept("rare", 10), &coverage, 1000);
        let mut rng = ChaCha8Rng::seed_from_u64(0);
        let draws = (0..100).filter(|_| pool.choose(&coverage, &mut rng).is_some_and(|k| k.note.sha256 == "rare"));
        assert!(draws.count() > 80);
    }

    #[test]
    fn what_is_common_goes_when_there_is_no_room() {
        let coverage = coverage(&[("a", 1), ("b", 9), ("c", 3)]);
        let mut pool = Pool::default();
        for name in ["a", "b", "c"] {
            pool.keep(kept(name, 10), &coverage, 25);
        }
        let names: Vec<_> = pool.list.iter().map(|kept| kept.note.sha256.as_str()).collect();
        assert_eq!(names, ["a", "c"]);
        pool.keep(kept("d", 100), &coverage, 25);
        assert_eq!(pool.len(), 1, "the newest stays, however large");
    }
}
