//! Opening a file of 100 GB, every rule on its header judged: a header, and a hole that is one tensor.

use std::hint::black_box;
use std::process::ExitCode;
use std::time::Duration;

use assay_bench::{measured, open, sparse};
use criterion::Criterion;

/// The size of the file in bytes.
const SIZE: u64 = 100_000_000_000;

/// The longest that opening it may take.
const MOST: Duration = Duration::from_millis(20);

fn main() -> ExitCode {
    let mut file = tempfile::NamedTempFile::new().unwrap_or_else(|e| panic!("a file with a hole: {e}"));
    sparse(file.as_file_mut(), SIZE).unwrap_or_else(|e| panic!("{}: {e}", file.path().display()));
    let mut criterion = Criterion::default().sample_size(20).configure_from_args();
    criterion.bench_function("file of 100 GB, header", |bencher| {
        bencher.iter(|| assert_eq!(open(black_box(file.path())).ok(), Some(1)));
    });
    criterion.final_summary();
    let times = measured(15, &mut [("open", Box::new(|| assert_eq!(open(file.path()).ok(), Some(1))))]);
    println!("15 rounds: {times:?}, at most {MOST:?}");
    if times.iter().all(|times| times.best <= MOST) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
