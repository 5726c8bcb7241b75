//! The scan against a sum: how much of the time it takes to read the bytes at all, the looking is.
//!
//! Both read the same file, from the page cache, in the same chunks with the same two threads. The sum
//! is a wrapping sum of 64-bit words, which compilers turn into vector code.

use std::fs::File;
use std::hint::black_box;
use std::io::Write as _;
use std::num::NonZeroUsize;
use std::time::Duration;

use assay_scan::{Arrangement, CHUNK, Chunk, Kernel, Stretch, Subject, Tensor, read, scan};
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use gguf_spec::syntax::ByteOrder;
use gguf_spec::types::TensorType;

const BYTES: usize = 256 << 20;
const TYPES: [&str; 6] = ["F32", "F16", "Q4_0", "Q4_K", "Q6_K", "Q8_0"];

fn sum(bytes: &[u8]) -> u64 {
    let (words, _) = bytes.as_chunks();
    words.iter().fold(0, |sum, &word| sum.wrapping_add(u64::from_le_bytes(word)))
}

/// A file of whose bytes no number is NaN or infinite in any type: no byte has more than four bits set.
fn file() -> File {
    let mut file = tempfile::tempfile().expect("a file");
    let mut state = 1u64;
    let mut chunk = vec![0u8; 1 << 20];
    for _ in 0..BYTES >> 20 {
        for byte in &mut chunk {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            *byte = state.to_be_bytes()[0] & 0x3B;
        }
        file.write_all(&chunk).expect("room for the file");
    }
    file
}

fn benches(criterion: &mut Criterion) {
    let file = file();
    let threads = NonZeroUsize::new(2).unwrap_or(NonZeroUsize::MIN);
    for name in TYPES {
        let ty = TensorType::from_name(name).expect("a type of the table");
        let size = BYTES as u64 / ty.bytes * ty.bytes;
        let mut group = criterion.benchmark_group("data");
        group.throughput(Throughput::Bytes(size)).sample_size(20).measurement_time(Duration::from_secs(5));
        let stretches = [Stretch { start: 0, size, unit: usize::try_from(ty.bytes).expect("a small block") }];
        group.bench_function(BenchmarkId::new("sum", name), |bencher| {
            bencher.iter(|| {
                let add = |total: &mut u64, chunk: Chunk<'_>| *total = total.wrapping_add(sum(chunk.bytes));
                let (sums, stopped) = read(&file, &stretches, threads, || 0, add);
                assert!(stopped.is_none());
                black_box(sums)
            });
        });
        let tensors = [Some(Tensor { type_id: ty.id, start: 0, size })];
        let arrangement = Arrangement::of(&tensors, 0, 32);
        let subject =
            Subject { tensors: &tensors, arrangement: &arrangement, byte_order: ByteOrder::Little, len: size };
        group.bench_function(BenchmarkId::new("scan", name), |bencher| {
            bencher.iter(|| {
                let seen = scan(&file, subject, threads, |_| {}).expect("a file that can be read");
                assert!(seen.noticed.is_empty() && seen.bytes == size);
                seen
            });
        });
        group.finish();
    }
}

/// Looking at one chunk that is in the cache, beside summing it: what of the time is not reading.
fn in_cache(criterion: &mut Criterion) {
    let chunk = vec![0x3B; CHUNK];
    let mut group = criterion.benchmark_group("cache");
    group.throughput(Throughput::Bytes(CHUNK as u64));
    group.bench_function("sum", |bencher| bencher.iter(|| sum(black_box(&chunk))));
    for name in TYPES {
        let kernel = TensorType::from_name(name).and_then(|ty| Kernel::of(ty, ByteOrder::Little)).expect("a kernel");
        group.bench_function(BenchmarkId::new("look", name), |bencher| bencher.iter(|| kernel.look(black_box(&chunk))));
    }
}

criterion_group!(all, in_cache, benches);
criterion_main!(all);
