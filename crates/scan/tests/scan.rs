//! The scan against files made by code: what is planted is found where it was planted, by any number
//! of threads, and nothing else is.

use std::io;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicU64, Ordering};

use assay_scan::{Arrangement, CHUNK, Scan, Source, Subject, Tensor, scan, work};
use gguf_spec::field::Field;
use gguf_spec::syntax::ByteOrder;
use gguf_spec::types::{ScaleField, ScaleKind, TensorType};
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

const ORDERS: [ByteOrder; 2] = [ByteOrder::Little, ByteOrder::Big];

fn threads(n: usize) -> NonZeroUsize {
    NonZeroUsize::new(n).expect("a thread")
}

fn scanned(
    file: &(impl Source + ?Sized),
    tensors: &[Option<Tensor>],
    order: ByteOrder,
    len: u64,
    n: usize,
) -> (Scan, Vec<gguf_spec::field::Finding>) {
    let arrangement = Arrangement::of(tensors, 0, 32);
    let subject = Subject { tensors, arrangement: &arrangement, byte_order: order, len };
    let told = AtomicU64::new(0);
    let seen = scan(file, subject, threads(n), |bytes| {
        told.fetch_add(bytes, Ordering::Relaxed);
    })
    .expect("a source that can be read");
    assert_eq!(told.into_inner(), seen.bytes);
    if seen.shrunk.is_none() {
        assert_eq!(work(subject), seen.bytes);
    }
    let findings = seen.findings(subject);
    (seen, findings)
}

/// A number in the order of the file.
fn put(bytes: &mut [u8], order: ByteOrder, number: u64) {
    let size = bytes.len();
    match order {
        ByteOrder::Little => bytes.copy_from_slice(&number.to_le_bytes()[..size]),
        ByteOrder::Big => bytes.copy_from_slice(&number.to_be_bytes()[8 - size..]),
    }
}

/// Every number of a type that is looked at: bytes from the start of the block, the field, and which
/// of its numbers.
fn places(ty: &TensorType) -> Vec<(usize, ScaleKind, &'static str)> {
    let size = |kind| match kind {
        ScaleKind::E8M0 | ScaleKind::Ue4M3 => 1,
        ScaleKind::F16 => 2,
        ScaleKind::F32 => 4,
        ScaleKind::SplitF16 => 8,
    };
    let of = |field: ScaleField| {
        (0..field.count).map(move |i| (field.offset + i * size(field.kind), field.kind, field.name))
    };
    ty.scales().flat_map(of).collect()
}

/// Stores a scale: finite, NaN (1) or infinite (2) where the format has such a thing.
fn store(block: &mut [u8], at: usize, kind: ScaleKind, order: ByteOrder, what: u8) -> bool {
    match (kind, what) {
        (ScaleKind::F16, 0) => put(&mut block[at..at + 2], order, 0xFBFF),
        (ScaleKind::F16, 1) => put(&mut block[at..at + 2], order, 0xFC01),
        (ScaleKind::F16, _) => put(&mut block[at..at + 2], order, 0x7C00),
        (ScaleKind::F32, 0) => put(&mut block[at..at + 4], order, 0xFF7F_FFFF),
        (ScaleKind::F32, 1) => put(&mut block[at..at + 4], order, 0x7F80_0001),
        (ScaleKind::F32, _) => put(&mut block[at..at + 4], order, 0xFF80_0000),
        (ScaleKind::E8M0, 0) => block[at] = 0xFE,
        (ScaleKind::E8M0, 1) => block[at] = 0xFF,
        (ScaleKind::Ue4M3, 0) => block[at] = 0x7E,
        (ScaleKind::Ue4M3, 1) => block[at] = 0x7F,
        (ScaleKind::E8M0 | ScaleKind::Ue4M3, _) => return false,
        (ScaleKind::SplitF16, what) => {
            // 0x7BFF, 0x7C20, 0xFC00, a nibble on top of each word, the lowest first.
            let nibbles = [[0xF, 0xF, 0xB, 0x7], [0, 2, 0xC, 0x7], [0, 0, 0xC, 0xF]][usize::from(what)];
            for (i, nibble) in nibbles.into_iter().enumerate() {
                put(&mut block[at + 2 * i..at + 2 * i + 2], order, nibble << 12 | 0xABC);
            }
        }
    }
    true
}

/// In every type, at every scale, in some block of several chunks: one number, and it is found there.
#[test]
fn every_scale_of_every_type_is_looked_at() {
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let mut planted = 0;
    for order in ORDERS {
        for ty in TensorType::live().filter(|ty| ty.quantized) {
            let bytes = usize::try_from(ty.bytes).expect("a small block");
            let blocks = 3 * CHUNK / bytes + 7;
            let mut file = vec![0; 32 + blocks * bytes];
            random.fill(&mut file[..]);
            for block in file[32..].chunks_exact_mut(bytes) {
                for (at, kind, _) in places(ty) {
                    store(block, at, kind, order, 0);
                }
            }
            let tensors = [Some(Tensor { type_id: ty.id, start: 32, size: (blocks * bytes) as u64 })];
            let (seen, findings) = scanned(file.as_slice(), &tensors, order, file.len() as u64, 2);
            assert_eq!(findings, [], "{}", ty.name);
            assert_eq!((seen.tensors, seen.bytes), (1, (blocks * bytes) as u64));

            for (at, kind, name) in places(ty) {
                for what in 1..=2 {
                    let block = random.random_range(0..blocks);
                    let start = 32 + block * bytes;
                    let before = file[start..start + bytes].to_vec();
                    if !store(&mut file[start..start + bytes], at, kind, order, what) {
                        continue;
                    }
                    planted += 1;
                    let (seen, findings) = scanned(file.as_slice(), &tensors, order, file.len() as u64, 2);
                    let tally = seen.noticed[0].tally;
                    assert_eq!((tally.nan, tally.infinite), if what == 1 { (1, 0) } else { (0, 1) }, "{}", ty.name);
                    let [finding] = &findings[..] else { panic!("{findings:?}") };
                    assert_eq!((finding.rule.id, finding.span.start), ("scan.scale.finite", (start + at) as u64));
                    let element = block as u64 * ty.block;
                    let expected = format!(
                        "1 {} of {}; the first is {name} of block {block} (elements {element}..{})",
                        ["NaN", "infinite"][usize::from(what) - 1],
                        blocks * places(ty).len(),
                        element + ty.block,
                    );
                    assert_eq!(finding.actual, expected);
                    file[start..start + bytes].copy_from_slice(&before);
                }
            }
        }
    }
    // Of binary16 and binary32 two kinds (29, one split, one wide), of the one-byte formats one.
    assert_eq!(planted, ORDERS.len() * (2 * (29 + 1 + 1) + 1 + 4));
}

/// Every bit pattern of the 16-bit types, and of the wider ones those at the limits.
#[test]
fn values_are_finite_or_not_as_floating_point_says() {
    let values: [(u32, usize, Vec<u64>); 4] = [
        (1, 2, (0..=0xFFFF).collect()),
        (30, 2, (0..=0xFFFF).collect()),
        (
            0,
            4,
            vec![
                0,
                1,
                0x7F7F_FFFF,
                0x7F80_0000,
                0x7F80_0001,
                0x7FFF_FFFF,
                0x8000_0000,
                0xFF7F_FFFF,
                0xFF80_0000,
                0xFFC0_0000,
            ],
        ),
        (
            28,
            8,
            vec![
                0,
                0x7FEF_FFFF_FFFF_FFFF,
                0x7FF0_0000_0000_0000,
                0x7FF0_0000_0000_0001,
                0xFFEF_FFFF_FFFF_FFFF,
                0xFFF0_0000_0000_0000,
                u64::MAX,
            ],
        ),
    ];
    for order in ORDERS {
        for (type_id, size, numbers) in &values {
            let (mut nan, mut infinite, mut first) = (0, 0, None);
            let mut file = vec![0; numbers.len() * size];
            for (i, (bytes, &number)) in file.chunks_exact_mut(*size).zip(numbers).enumerate() {
                put(bytes, order, number);
                let float = match type_id {
                    1 => f16(number),
                    30 => f64::from(f32::from_bits(u32::try_from(number << 16).expect("32 bits"))),
                    0 => f64::from(f32::from_bits(u32::try_from(number).expect("32 bits"))),
                    _ => f64::from_bits(number),
                };
                nan += u64::from(float.is_nan());
                infinite += u64::from(float.is_infinite());
                if !float.is_finite() {
                    first = first.or(Some(i as u64));
                }
            }
            let tensors = [Some(Tensor { type_id: *type_id, start: 0, size: file.len() as u64 })];
            let (seen, findings) = scanned(file.as_slice(), &tensors, order, file.len() as u64, 1);
            let noticed = &seen.noticed[0];
            assert_eq!(
                (noticed.tally.nan, noticed.tally.infinite, noticed.looked_at),
                (nan, infinite, numbers.len() as u64)
            );
            assert_eq!(noticed.tally.first.map(|place| place.block), first);
            assert_eq!(findings[0].rule.id, "scan.value.finite");
            assert!(findings[0].actual.ends_with("infinite"), "{}", findings[0].actual);
        }
    }
}

/// The value of a binary16, by its definition.
fn f16(bits: u64) -> f64 {
    let (sign, exponent, mantissa) = (bits >> 15, bits >> 10 & 31, bits & 1023);
    let mantissa = f64::from(u32::try_from(mantissa).expect("ten bits"));
    let size = match exponent {
        31 if mantissa > 0.0 => f64::NAN,
        31 => f64::INFINITY,
        0 => mantissa / f64::from(1 << 24),
        _ => (1.0 + mantissa / 1024.0) * f64::from(i32::try_from(exponent).expect("five bits") - 15).exp2(),
    };
    if sign == 1 { -size } else { size }
}

#[test]
fn integers_have_nothing_to_look_at() {
    let file = vec![0xFF; 4096];
    for ty in TensorType::live().filter(|ty| ty.name.starts_with('I') && !ty.quantized) {
        let tensors = [Some(Tensor { type_id: ty.id, start: 0, size: 4096 })];
        let (seen, findings) = scanned(file.as_slice(), &tensors, ByteOrder::Little, 4096, 2);
        assert_eq!((seen.tensors, seen.bytes, findings.len()), (0, 0, 0), "{}", ty.name);
    }
}

/// Many tensors, everything wrong in them: counts and places do not depend on who read what.
#[test]
fn the_answer_does_not_depend_on_the_threads() {
    let mut random = ChaCha8Rng::seed_from_u64(2);
    let mut file = vec![0; 4 << 20];
    random.fill(&mut file[..]);
    let mut tensors = Vec::new();
    let mut start = 0u64;
    let types: Vec<_> = TensorType::live().collect();
    while start < 4 << 20 {
        let size = random.random_range(0..200_000);
        tensors.push(Some(Tensor { type_id: types[tensors.len() % types.len()].id, start, size }));
        start += size;
    }
    let one = scanned(file.as_slice(), &tensors, ByteOrder::Little, file.len() as u64, 1);
    assert!(one.1.len() > 20, "{}", one.1.len());
    for n in 2..6 {
        assert_eq!(scanned(file.as_slice(), &tensors, ByteOrder::Little, file.len() as u64, n), one);
    }
}

/// Random bytes, looked at number by number in another way.
#[test]
fn counts_are_those_of_a_plain_loop() {
    let mut random = ChaCha8Rng::seed_from_u64(3);
    let mut file = vec![0; 300_000];
    random.fill(&mut file[..]);
    for ty in TensorType::live().filter(|ty| ty.scales().all(|scale| scale.kind == ScaleKind::F16) && ty.quantized) {
        let bytes = usize::try_from(ty.bytes).expect("a small block");
        let mut bad = 0;
        for block in file.chunks_exact(bytes) {
            for (at, _, _) in places(ty) {
                bad += u64::from(!f16(u64::from(u16::from_le_bytes([block[at], block[at + 1]]))).is_finite());
            }
        }
        let tensors = [Some(Tensor { type_id: ty.id, start: 0, size: 300_000 })];
        let (seen, _) = scanned(file.as_slice(), &tensors, ByteOrder::Little, 300_000, 2);
        assert_eq!(seen.noticed[0].tally.total(), bad, "{}", ty.name);
    }
}

#[test]
fn of_a_tensor_that_is_cut_off_the_whole_blocks_are_scanned() {
    let mut file = vec![0; 18 * 10 + 5];
    file[18 * 9 + 1] = 0x7C;
    file[18 * 10 + 1] = 0x7C;
    let tensors = [
        Some(Tensor { type_id: 2, start: 0, size: 18 * 1000 }),
        Some(Tensor { type_id: 2, start: 1 << 40, size: u64::MAX }),
        None,
    ];
    let (seen, findings) = scanned(file.as_slice(), &tensors, ByteOrder::Little, file.len() as u64, 2);
    assert_eq!((seen.tensors, seen.bytes, seen.shrunk), (1, 180, None));
    assert_eq!(findings.len(), 1);
    assert_eq!(findings[0].span, 162..164);
}

#[test]
fn tensors_that_share_bytes_are_read_once() {
    let file = vec![0; 1 << 16];
    let tensors = vec![Some(Tensor { type_id: 0, start: 0, size: 1 << 16 }); 10_000];
    let (seen, _) = scanned(file.as_slice(), &tensors, ByteOrder::Little, 1 << 16, 2);
    assert_eq!((seen.tensors, seen.bytes), (1, 1 << 16));
    let findings = Arrangement::of(&tensors, 0, 32).findings(u64::MAX);
    assert_eq!(findings.len(), 1000);
    assert_eq!(
        findings[0].to_string(),
        "scan.overlap at byte 0 (data[1]): expected bytes of its own, found 65536 bytes shared with data[0]"
    );
}

#[test]
fn gaps_are_told_with_their_size() {
    let tensors = [Some(Tensor { type_id: 0, start: 0, size: 4 }), Some(Tensor { type_id: 0, start: 64, size: 4 })];
    let findings = Arrangement::of(&tensors, 0, 32).findings(u64::MAX);
    assert_eq!(findings.len(), 1);
    assert_eq!((findings[0].span.clone(), &findings[0].field), (32..64, &Field::Gap));
}

/// A source that gets shorter after some reads.
struct Shrinking {
    bytes: Vec<u8>,
    reads: AtomicU64,
    after: u64,
    to: usize,
}

impl Source for Shrinking {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let shrunk = self.reads.fetch_add(1, Ordering::SeqCst) >= self.after;
        self.bytes[..if shrunk { self.to } else { self.bytes.len() }].read_at(buffer, offset)
    }
}

#[test]
fn a_source_that_shrinks_is_a_finding_and_what_was_read_before_counts() {
    let len = 8 * CHUNK;
    let to = 5 * CHUNK + 1000;
    let mut bytes = vec![0; len];
    // A NaN that is read before the file is cut, one behind the cut.
    bytes[4002..4004].copy_from_slice(&[0xFF, 0xFF]);
    bytes[len - 2..].copy_from_slice(&[0xFF, 0xFF]);
    let source = Shrinking { bytes, reads: AtomicU64::new(0), after: 3, to };
    let half = len as u64 / 2;
    let tensors =
        [Some(Tensor { type_id: 0, start: 0, size: half }), Some(Tensor { type_id: 0, start: half, size: half })];
    let (seen, findings) = scanned(&source, &tensors, ByteOrder::Little, len as u64, 1);
    assert_eq!(seen.shrunk, Some((1, to as u64)));
    assert_eq!(seen.bytes, to as u64);
    let ids: Vec<_> = findings.iter().map(|finding| (finding.rule.id, finding.span.clone())).collect();
    assert_eq!(ids, [("scan.value.finite", 4000..4004), ("scan.shrunk", to as u64..len as u64)]);
    // With more threads the place may be another one behind the cut, the rule is the same.
    for n in 2..5 {
        source.reads.store(0, Ordering::SeqCst);
        let (_, findings) = scanned(&source, &tensors, ByteOrder::Little, len as u64, n);
        assert_eq!(findings.last().map(|finding| finding.rule.id), Some("scan.shrunk"));
    }
}

#[test]
fn a_file_that_was_cut_is_a_finding() {
    let room = tempfile::tempdir().expect("a directory");
    let path = room.path().join("file");
    std::fs::write(&path, vec![0; 1 << 20]).expect("a file");
    let file = std::fs::File::open(&path).expect("the file");
    std::fs::OpenOptions::new().write(true).open(&path).and_then(|file| file.set_len(700_001)).expect("a shorter file");
    let tensors = [Some(Tensor { type_id: 1, start: 0, size: 1 << 20 })];
    let (seen, findings) = scanned(&file, &tensors, ByteOrder::Little, 1 << 20, 2);
    assert_eq!(seen.shrunk, Some((0, 700_001)));
    assert_eq!(findings[0].span, 700_001..1 << 20);
}

/// A source that cannot be read at one place.
struct Bad;

impl Source for Bad {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        match offset {
            0 => Ok(buffer.len().min(100)),
            100 => Err(io::Error::other("the disk")),
            _ => Ok(buffer.len()),
        }
    }
}

#[test]
fn what_cannot_be_read_is_an_error() {
    let tensors = [Some(Tensor { type_id: 0, start: 0, size: 4000 })];
    let arrangement = Arrangement::of(&tensors, 0, 32);
    let subject = Subject { tensors: &tensors, arrangement: &arrangement, byte_order: ByteOrder::Little, len: 4000 };
    let error = scan(&Bad, subject, NonZeroUsize::MIN, |_| {}).expect_err("an error");
    assert_eq!(error.to_string(), "reading at byte 0 failed: the disk");
}
