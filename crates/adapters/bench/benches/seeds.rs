//! What fuzz targets start from, every file of it read once: by the fast reader, and by ggml.
//!
//! `ASSAY_GGML_DIR` names a directory with ggml's base library. The corpus is `corpus`, two folders above
//! this workspace. Both readers are shown the files in memory, as a fuzzer does; and opened by their paths,
//! where most of the time is that of the system.

use std::fs;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use assay_bench::{Work, measured};
use assay_providers::ggml::{Mode, Release};
use assay_reader::{Policy, read};
use criterion::{Criterion, Throughput};
use gguf_spec::profile::Profile;

/// The time of ggml is three times that of the fast reader, both in memory. The run fails if even the best
/// times, which what else a machine does cannot make better, are further apart than that explains.
const LEAST: f64 = 2.5;

/// Larger vectors are no seeds.
const MOST_BYTES: u64 = 4096;

fn main() -> ExitCode {
    let vectors = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../corpus/vectors"));
    let files = seeds(vectors).unwrap_or_else(|e| panic!("{}: {e}", vectors.display()));
    assert!(files.len() > 500, "{}: {} seeds", vectors.display(), files.len());
    let Some(directory) = std::env::var_os("ASSAY_GGML_DIR") else {
        eprintln!("ASSAY_GGML_DIR is not set: there is nothing to compare with");
        return ExitCode::FAILURE;
    };
    let ggml = Release::load(Path::new(&directory)).unwrap_or_else(|e| panic!("ASSAY_GGML_DIR: {e}"));
    let policy = Policy::profile(Profile::GgmlHeader);
    let in_memory: Vec<Vec<u8>> =
        files.iter().map(|path| fs::read(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))).collect();
    let mut works: Vec<Work<'_>> = vec![
        (
            "reader, from paths",
            Box::new(|| {
                for path in &files {
                    let bytes = fs::read(black_box(path)).unwrap_or_default();
                    black_box(read(&bytes, policy).is_ok());
                }
            }),
        ),
        (
            "ggml, from paths",
            Box::new(|| {
                for path in &files {
                    black_box(ggml.reads(black_box(path), Mode::Header).is_ok());
                }
            }),
        ),
        (
            "reader, in memory",
            Box::new(|| {
                for bytes in &in_memory {
                    black_box(read(black_box(bytes), policy).is_ok());
                }
            }),
        ),
        (
            "ggml, in memory",
            Box::new(|| {
                for bytes in &in_memory {
                    black_box(ggml.reads_bytes(black_box(bytes), Mode::Header).is_ok());
                }
            }),
        ),
    ];

    let mut criterion = Criterion::default().sample_size(20).configure_from_args();
    let mut group = criterion.benchmark_group("seeds");
    group.throughput(Throughput::Elements(files.len() as u64)).measurement_time(Duration::from_secs(5));
    for (name, work) in &mut works {
        group.bench_function(*name, |bencher| bencher.iter(&mut *work));
    }
    group.finish();
    criterion.final_summary();

    let times = measured(15, &mut works);
    println!("{} files, 15 interleaved rounds, times of ggml by those of the reader (best, median):", files.len());
    let ratio = |i: usize| {
        let (best, median) = (times[i + 1].best.as_secs_f64(), times[i + 1].median.as_secs_f64());
        (best / times[i].best.as_secs_f64(), median / times[i].median.as_secs_f64())
    };
    for (i, how) in [(0, "from paths"), (2, "in memory")] {
        let (best, median) = ratio(i);
        println!("{how:12} {best:8.2} {median:8.2}");
    }
    if ratio(2).0 >= LEAST { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// The vectors that are small, in the order of their paths.
fn seeds(vectors: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for group in fs::read_dir(vectors)? {
        for file in fs::read_dir(group?.path())? {
            let file = file?;
            if file.path().extension().is_some_and(|ext| ext == "gguf") && file.metadata()?.len() <= MOST_BYTES {
                files.push(file.path());
            }
        }
    }
    files.sort();
    Ok(files)
}
