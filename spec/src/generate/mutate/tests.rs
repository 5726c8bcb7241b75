use std::collections::BTreeSet;

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::*;
use crate::generate::valid;
use crate::judge::judge;
use crate::rules::{Checks, catalogue};

/// A chain of files, each drawn from one before.
fn chain(seed: u64, files: usize, mut see: impl FnMut(&[u8])) {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut pool = vec![encode(&valid(seed))];
    for _ in 0..files {
        let from = rng.random_range(0..pool.len());
        let new = if rng.random_bool(0.1) {
            let other = rng.random_range(0..pool.len());
            crossed(&pool[from], &pool[other], 4096, &mut rng)
        } else {
            mutated(&pool[from], 4096, &mut rng)
        };
        see(&new);
        if pool.len() < 40 {
            pool.push(new);
        } else {
            let to = rng.random_range(0..pool.len());
            pool[to] = new;
        }
    }
}

#[test]
fn one_seed_makes_one_chain_of_small_files() {
    let files = |seed| {
        let mut list = Vec::new();
        chain(seed, 200, |bytes| list.push(bytes.to_vec()));
        list
    };
    assert_eq!(files(1), files(1));
    assert_ne!(files(1), files(2));
    assert!(files(3).iter().all(|bytes| bytes.len() <= 4096));
}

#[test]
fn edits_reach_most_rules_and_leave_many_files_right() {
    let mut reached = BTreeSet::new();
    let (mut files, mut decoded, mut right) = (0, 0, 0);
    for seed in 0..12 {
        chain(seed, 700, |bytes| {
            let judgement = judge(bytes, &Checks::all());
            files += 1;
            decoded += usize::from(judgement.document.is_some());
            right += usize::from(judgement.verdicts.iter().any(|verdict| verdict.because.is_none()));
            reached.extend(judgement.findings.iter().map(|finding| finding.rule.id));
        });
    }
    let missing: Vec<_> = catalogue().into_iter().map(|rule| rule.id).filter(|id| !reached.contains(id)).collect();
    println!("{right} right and {decoded} decoded of {files}; not reached: {missing:?}");
    assert!(reached.len() >= 80, "{} rules reached", reached.len());
    assert!(right * 10 > files && decoded * 4 > files, "{right} right and {decoded} decoded of {files}");
}

#[test]
fn any_bytes_can_be_edited() {
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    for bytes in [&b""[..], b"G", b"GGUF", b"GGUF\x03\0\0\0", &[0xFF; 40]] {
        for _ in 0..200 {
            let most = rng.random_range(0..100);
            assert!(mutated(bytes, most, &mut rng).len() <= most);
            assert!(crossed(bytes, &encode(&valid(1)), most, &mut rng).len() <= most);
        }
    }
}
