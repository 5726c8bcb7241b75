//! One header of 16 MB, read by the fast reader and by other people's, each on one thread, in one run.
//!
//! `ASSAY_GGML_DIR` names a directory with ggml's base library; without it ggml is left out. After
//! criterion's own report comes a table of interleaved rounds, and the run fails if the best time of the
//! fast reader is slower than it promises to be: what else a machine does makes it slower, never faster.

use std::hint::black_box;
use std::io::{Cursor, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use assay_bench::{Work, measured, vocabulary};
use assay_providers::ggml::{Mode, Reads, Release};
use assay_reader::{Policy, read};
use candle_core::quantized::gguf_file::Content;
use criterion::{Criterion, Throughput};
use gguf_rs_lib::reader::GGUFFileReader;
use gguf_spec::profile::Profile;
use ggus::GGuf;

/// What a reader takes at most, as a share of another's time.
const PROMISES: [(&str, f64); 3] = [("ggus", 1.0), ("candle-core", 0.2), ("gguf-rs-lib", 0.2)];

/// Bytes in a second, at least.
const LEAST_RATE: f64 = 1e9;

fn main() -> ExitCode {
    let bytes = vocabulary();
    let directory = std::env::var_os("ASSAY_GGML_DIR").map(PathBuf::from);
    let ggml = directory.map(|directory| Release::load(&directory).unwrap_or_else(|e| panic!("ASSAY_GGML_DIR: {e}")));
    let mut on_disk = tempfile::NamedTempFile::new().unwrap_or_else(|e| panic!("a file of the header: {e}"));
    on_disk.write_all(&bytes).unwrap_or_else(|e| panic!("{}: {e}", on_disk.path().display()));
    let mut works = works(&bytes, ggml.as_ref(), on_disk.path());

    let mut criterion =
        Criterion::default().sample_size(20).measurement_time(Duration::from_secs(5)).configure_from_args();
    let mut group = criterion.benchmark_group("header of 16 MB");
    group.throughput(Throughput::Bytes(bytes.len() as u64));
    for (name, work) in &mut works {
        group.bench_function(*name, |bencher| bencher.iter(&mut *work));
    }
    group.finish();
    criterion.final_summary();
    table(&bytes, &mut works)
}

/// The readers. Each reads the whole header; what it finds there is thrown away.
fn works<'a>(bytes: &'a [u8], ggml: Option<&'a Release>, path: &'a Path) -> Vec<Work<'a>> {
    let mut works: Vec<Work<'a>> = vec![
        ("reader, every rule", Box::new(move || assert!(read(black_box(bytes), Policy::strict()).is_ok()))),
        (
            "reader, as ggml",
            Box::new(move || assert!(read(black_box(bytes), Policy::profile(Profile::GgmlHeader)).is_ok())),
        ),
        ("ggus", Box::new(move || assert!(GGuf::new(black_box(bytes)).is_ok()))),
        ("gguf-rs-lib", Box::new(move || assert!(GGUFFileReader::new(Cursor::new(black_box(bytes))).is_ok()))),
        ("candle-core", Box::new(move || assert!(Content::read(&mut Cursor::new(black_box(bytes))).is_ok()))),
    ];
    if let Some(ggml) = ggml {
        works.push((
            "ggml, header",
            Box::new(move || assert!(matches!(ggml.reads(black_box(path), Mode::Header), Ok(Reads::Yes)))),
        ));
    }
    works
}

fn table(bytes: &[u8], works: &mut [Work<'_>]) -> ExitCode {
    const ROUNDS: usize = 15;
    let times = measured(ROUNDS, works);
    let best = |i: usize| times[i].best.as_secs_f64();
    let median = |i: usize| times[i].median.as_secs_f64();
    #[expect(clippy::cast_precision_loss, reason = "16 MB")]
    let rate = |i: usize| bytes.len() as f64 / best(i);
    println!("{} bytes, {ROUNDS} interleaved rounds:", bytes.len());
    println!("                        best      median   best GB/s   times the reader (best, median)");
    for (i, (name, _)) in works.iter().enumerate() {
        println!(
            "{name:18} {:7.3} ms {:8.3} ms {:11.2} {:18.2} {:7.2}",
            best(i) * 1e3,
            median(i) * 1e3,
            rate(i) / 1e9,
            best(i) / best(0),
            median(i) / median(0)
        );
    }
    let mut kept = rate(0) >= LEAST_RATE;
    for (name, share) in PROMISES {
        let i = works.iter().position(|(other, _)| *other == name).unwrap_or_else(|| panic!("{name} was not measured"));
        kept &= best(0) <= share * best(i);
    }
    if kept {
        return ExitCode::SUCCESS;
    }
    eprintln!("the reader promises {LEAST_RATE:.0} bytes in a second and at most these shares: {PROMISES:?}");
    ExitCode::FAILURE
}
