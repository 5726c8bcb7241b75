//! Judging takes time in proportion to the bytes of the file, and so does reading with the fast reader.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

use assay_oracles::hostile::{FAMILIES, Family};
use assay_oracles::reader;
use gguf_spec::binary::{Options, Source, decode_with, encode, spans, spans_of_data};
use gguf_spec::document::Document;
use gguf_spec::judge::judge;
use gguf_spec::profile::KeyLookup;
use gguf_spec::rules::Checks;
use gguf_spec::valid::layout::DataLayout;

/// The size of the small files, in bytes, and how many of them make one large file. A build for daily
/// work is slow, and smaller files show as much.
const SMALL: usize = if cfg!(debug_assertions) { 1 << 14 } else { 1 << 16 };
/// The same for the fast reader, for which those are over too soon to be measured.
const SMALL_FOR_READER: usize = if cfg!(debug_assertions) { 1 << 18 } else { 1 << 20 };
const TIMES: usize = 16;

/// One large file takes at most this many times as long as small ones of the same size together. Work in
/// proportion takes about as long, or twice as long where the large one leaves the caches; work in
/// proportion to the square takes 16 times as long.
const MOST: u32 = 5;

/// The smallest of some measurements counts, and more are taken only while they look wrong: what else
/// the machine does makes it slower, never faster.
#[test]
fn one_large_file_takes_about_as_long_as_many_small_ones() {
    in_proportion_to_size(SMALL, tell);
}

#[test]
fn the_fast_reader_takes_as_long_for_one_large_file_as_for_many_small_ones() {
    in_proportion_to_size(SMALL_FOR_READER, |_, bytes| {
        for (_, policy) in reader::policies() {
            drop(std::hint::black_box(assay_reader::read(bytes, policy)));
        }
    });
}

fn in_proportion_to_size(size: usize, tell: impl Fn(&Family, &[u8])) {
    let mut slow = Vec::new();
    for family in FAMILIES {
        let small_file = family.file(size);
        let large_file = family.file(size * TIMES);
        let (mut small, mut large) = (Duration::MAX, Duration::MAX);
        for attempt in 1..=8 {
            small = small.min(time(|| (0..TIMES).for_each(|_| tell(family, &small_file))));
            large = large.min(time(|| tell(family, &large_file)));
            // No load on the machine makes one of them twice as slow as it may be, two times running.
            if in_proportion(small, large) || (attempt == 2 && !in_proportion(small, large / 2)) {
                break;
            }
        }
        println!("{:32} {small:>8.0?} {large:>8.0?}  {}", family.name, family.cost);
        if !in_proportion(small, large) {
            slow.push(format!("{}: {small:?} for {TIMES} files of {size} bytes, {large:?} for one", family.name));
        }
    }
    assert!(slow.is_empty(), "more than {MOST} times as long:\n{}", slow.join("\n"));
}

/// A time too short to be measured well is taken for 10 milliseconds.
fn in_proportion(small: Duration, large: Duration) -> bool {
    large <= small.max(Duration::from_millis(10)) * MOST
}

/// Judges a file and computes everything that is told of one: findings, spans, bytes, document.
fn tell(family: &Family, bytes: &[u8]) {
    let judgement = judge(bytes, &Checks::all());
    let mut told: usize = judgement.findings.iter().map(|finding| finding.to_string().len()).sum();
    let options = Options { checks: Checks::all(), lookup: KeyLookup::CString };
    if let Ok(decoded) = decode_with(Source::whole(bytes), &options)
        && let Some(tree) = &decoded.tree
    {
        let layout = DataLayout::of(tree, &decoded.places, options.lookup);
        told += spans(tree, 0).len() + spans_of_data(&layout, bytes.len() as u64).len() + encode(tree).len();
        told += Document::of(&decoded, options.lookup).map_or(0, |document| document.through_c().metadata.len());
    }
    assert!(told > 0, "{}: nothing came out", family.name);
}

/// The time that some work takes on this thread, where the system tells; else the time that passes.
fn time(work: impl FnOnce()) -> Duration {
    let before = busy();
    work();
    busy().saturating_sub(before)
}

/// How long this thread has run, in steps of some milliseconds.
fn busy() -> Duration {
    static START: OnceLock<Instant> = OnceLock::new();
    let start = START.get_or_init(Instant::now);
    let run = std::fs::read_to_string("/proc/thread-self/schedstat")
        .ok()
        .and_then(|line| line.split_whitespace().next()?.parse().ok())
        .map(Duration::from_nanos);
    run.unwrap_or_else(|| start.elapsed())
}
