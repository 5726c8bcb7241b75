//! Providers that do one thing wrong, and what is said of each.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use assay_providers::c_abi::LoadError;
use assay_providers::child::{RemoteKernels, StartError};
use gguf_spec::kernel::{Columns, KernelError, KernelSet, Matmul, Matrix};
use gguf_spec::types::TensorType;
use libtest_mimic::Failed;

use crate::compiler::{Compiler, package};
use crate::{LIMIT, SHORT, start};

/// A bad provider.
#[derive(Clone, Copy)]
pub(crate) struct Case {
    /// The file in `tests/bad`, without its ending.
    pub(crate) file: &'static str,
    expected: Expected,
    /// Words of the message.
    says: &'static [&'static str],
}

#[derive(Clone, Copy)]
enum Expected {
    /// It is not loaded.
    NotLoaded(fn(&StartError) -> bool),
    /// A matrix is multiplied.
    Right,
    /// A matrix is not multiplied, and another call is answered after that.
    FailedMatmul,
    /// The same with other operations.
    FailedDot,
    FailedDequantize,
    /// What is NaN is left as it was, decoded and encoded.
    UnwrittenNan,
    /// The product is left as it was.
    UnwrittenMatmul,
}

use Expected::{FailedDequantize, FailedDot, FailedMatmul, NotLoaded, Right, UnwrittenMatmul, UnwrittenNan};

const fn case(file: &'static str, expected: Expected, says: &'static [&'static str]) -> Case {
    Case { file, expected, says }
}

fn is(of: fn(&LoadError) -> bool, error: &StartError) -> bool {
    matches!(error, StartError::Unusable(error) if of(error))
}

const SEGV: &str = "the process ended by signal 11 (segmentation fault): ";

const CONTRACT: &str = "asked for the contract for matmul, F32, 2 columns: ";

/// Only Linux enforces the limit on memory.
pub(crate) const NEEDS_LINUX: &str = "eats_memory";

pub(crate) const CASES: [Case; 35] = [
    case(
        "wrong_abi",
        NotLoaded(|error| is(|error| matches!(error, LoadError::Abi { found: 2, .. }), error)),
        &["speaks version 2 of the interface, this program version 1"],
    ),
    case(
        "no_dot",
        NotLoaded(|error| is(|error| matches!(error, LoadError::Symbol { .. }), error)),
        &["exports no function assay_dot"],
    ),
    case(
        "no_name",
        NotLoaded(|error| is(|error| matches!(error, LoadError::Name { .. }), error)),
        &["assay_kernels_name: expected a line of text in UTF-8, of at most 100 bytes, got \"two\\nlines\""],
    ),
    case(
        "long_name",
        NotLoaded(|error| is(|error| matches!(error, LoadError::Name { .. }), error)),
        &["assay_kernels_name: expected a line of text in UTF-8, of at most 100 bytes, got 101 bytes"],
    ),
    case(
        "bad_terms",
        NotLoaded(|error| is(|error| matches!(error, LoadError::Terms { .. }), error)),
        &["assay_contract for dequantize, F32, 1 column: activations: expected one of the ASSAY_FORM_ numbers, got 77"],
    ),
    case(
        "crash_at_load",
        NotLoaded(|error| matches!(error, StartError::Crashed { .. })),
        &["while it was loaded", SEGV],
    ),
    case(
        "hangs_at_load",
        NotLoaded(|error| matches!(error, StartError::Hangs { .. })),
        &["while it was loaded: no answer within 2 s"],
    ),
    case(
        "bad_terms_at_columns",
        FailedMatmul,
        &[CONTRACT, "assay_contract: activations: expected one of the ASSAY_FORM_ numbers, got 77"],
    ),
    case(
        "other_terms",
        FailedMatmul,
        &[CONTRACT, "assay_contract: expected the same terms whenever it is asked, got", "F32", "then", "F64"],
    ),
    case("crash_at_columns", FailedMatmul, &[CONTRACT, SEGV]),
    case("hangs_at_columns", FailedMatmul, &[CONTRACT, "no answer within 2 s: it was ended"]),
    case("crash", FailedMatmul, &[SEGV, "touched an address far from every operand"]),
    case("aborts", FailedMatmul, &["signal 6 (abort): assertion failed: k % 5 == 0"]),
    case(
        NEEDS_LINUX,
        FailedMatmul,
        &[SEGV, "touched an address far from every operand, with ", " MiB of memory in use, of at most 8192 MiB"],
    ),
    case("fills_the_disk", Right, &[]),
    case("forks_and_aborts", FailedMatmul, &["the process ended by signal 6 (abort)"]),
    case("exits", FailedMatmul, &["the process ended by exit code 0"]),
    case("fails", FailedMatmul, &["the provider returned 7"]),
    case("hangs", FailedMatmul, &["no answer within 2 s: it was ended"]),
    case("reads_past_weights", FailedMatmul, &[SEGV, "touched 0 bytes past the end of the weights"]),
    case("reads_past_activations", FailedMatmul, &[SEGV, "touched 0 bytes past the end of the activations"]),
    case("reads_before", FailedMatmul, &[SEGV, "touched 20000 bytes before the start of the weights"]),
    case("reads_padding", Right, &[]),
    case("reads_past_padding", FailedMatmul, &[SEGV, "touched 16 bytes past the end of the weights"]),
    case("writes_past", FailedMatmul, &["wrote out of bounds: the first byte past the end of the result"]),
    case("writes_far", FailedMatmul, &[SEGV, "touched 16000 bytes past the end of the result"]),
    case("writes_before", FailedMatmul, &["wrote out of bounds: 1 bytes before the start of the result"]),
    case(
        "writes_between",
        FailedMatmul,
        &["wrote between the columns of the result: byte 12 from the start of column 0"],
    ),
    case("writes_operand", FailedMatmul, &[SEGV, "touched 4 bytes into the weights, which may only be read"]),
    case("dot_writes_past", FailedDot, &["wrote out of bounds: the first byte past the end of the result"]),
    case("dot_writes_nothing", FailedDot, &["assay_dot: the result was not written"]),
    case("writes_no_nan", UnwrittenNan, &[]),
    case("writes_nothing", UnwrittenMatmul, &[]),
    case("dequantizes_past", FailedDequantize, &["wrote out of bounds: the first byte past the end of the result"]),
    case("noise", Right, &[]),
];

const ROWS: usize = 3;
const K: usize = 5;
const COLUMNS: usize = 2;
const Y_STRIDE: usize = 4;

fn f32s() -> &'static TensorType {
    TensorType::from_name("F32").expect("a type of the table")
}

/// A small product of integers, and what it is.
pub(crate) fn matmul(set: &mut RemoteKernels) -> Result<(), KernelError> {
    let weights: Vec<u8> = (1_u8..=15).flat_map(|w| f32::from(w).to_le_bytes()).collect();
    let x: Vec<f32> = (0_u8..10).map(f32::from).collect();
    let product = Matmul {
        weights: Matrix::new(f32s(), ROWS, K, 4 * K, &weights)?,
        columns: Columns::new(COLUMNS, K, K, &x)?,
        y_stride: Y_STRIDE,
        threads: 1,
    };
    let mut y = [0.0; COLUMNS * Y_STRIDE];
    set.matmul(&product, &mut y)?;
    assert_eq!(y.map(f32::to_bits), [40.0, 90.0, 140.0, 0.0, 115.0, 290.0, 465.0, 0.0].map(f32::to_bits));
    Ok(())
}

pub(crate) fn dequantize(set: &mut RemoteKernels) -> Result<(), KernelError> {
    let mut y = [0.0; 2];
    set.dequantize(f32s(), &[2_f32.to_le_bytes(), 3_f32.to_le_bytes()].concat(), &mut y)?;
    assert_eq!(y.map(f32::to_bits), [2_f32, 3.0].map(f32::to_bits));
    Ok(())
}

/// No arithmetic makes a NaN of these bits.
const BEFORE: u32 = 0x7FC0_CAFE;

/// What is not written comes back as it was, so that it can be told from a NaN that was.
fn unwritten_nan(set: &mut RemoteKernels) -> Result<(), Failed> {
    let f16s = TensorType::from_name("F16").ok_or("no F16")?;
    for (ty, blocks) in [
        (f32s(), [f32::NAN.to_le_bytes(), 3_f32.to_le_bytes()].concat()),
        (f16s, [0x7E00_u16.to_le_bytes(), 0x4200_u16.to_le_bytes()].concat()),
    ] {
        let mut y = [f32::from_bits(BEFORE); 2];
        set.dequantize(ty, &blocks, &mut y)?;
        assert_eq!(y.map(f32::to_bits), [BEFORE, 3_f32.to_bits()], "{}", ty.name);
    }
    let mut blocks = [0xAA; 8];
    set.quantize_row(f32s(), &[f32::NAN, 3.0], &mut blocks)?;
    assert_eq!(blocks, [[0xAA; 4], 3_f32.to_le_bytes()].concat()[..]);
    Ok(())
}

fn unwritten_matmul(set: &mut RemoteKernels) -> Result<(), Failed> {
    let weights: Vec<u8> = [1_f32, 2.0].iter().flat_map(|w| w.to_le_bytes()).collect();
    let product = Matmul {
        weights: Matrix::new(f32s(), 2, 1, 4, &weights)?,
        columns: Columns::new(2, 1, 1, &[1.0, 1.0])?,
        y_stride: 3,
        threads: 1,
    };
    let before = [1, 2, 3, 4, 5, 6].map(|at| BEFORE + at);
    let mut y = before.map(f32::from_bits);
    set.matmul(&product, &mut y)?;
    assert_eq!(y.map(f32::to_bits), before);
    Ok(())
}

fn dot(set: &mut RemoteKernels) -> Result<(), KernelError> {
    assert_eq!(set.dot(f32s(), &2_f32.to_le_bytes(), &[3.0])?.to_bits(), 6_f32.to_bits());
    Ok(())
}

impl Case {
    pub(crate) fn check(&self, compiler: &Compiler) -> Result<(), Failed> {
        let library = compiler.library(&source(self.file))?;
        let hangs = ["hangs", "hangs_at_load", "hangs_at_columns"].contains(&self.file);
        let begun = Instant::now();
        let started = start(&library, if hangs { SHORT } else { LIMIT });
        let message = match (self.expected, started) {
            (NotLoaded(right), Err(error)) => {
                let message = error.to_string();
                assert!(message.contains(&*library.file_name().ok_or("no name")?.to_string_lossy()), "{message}");
                assert!(right(&error), "another error: {error:?}");
                message
            }
            (NotLoaded(_), Ok(_)) => return Err("it was loaded".into()),
            (_, Err(error)) => return Err(error.into()),
            (Right, Ok(mut set)) => {
                // Again: what was said on the wrong stream does not come later, either.
                matmul(&mut set)?;
                matmul(&mut set)?;
                return Ok(dequantize(&mut set)?);
            }
            (UnwrittenNan, Ok(mut set)) => return unwritten_nan(&mut set),
            (UnwrittenMatmul, Ok(mut set)) => return unwritten_matmul(&mut set),
            (FailedMatmul, Ok(mut set)) => fails(&mut set, matmul, dequantize)?,
            (FailedDot, Ok(mut set)) => fails(&mut set, dot, dequantize)?,
            (FailedDequantize, Ok(mut set)) => fails(&mut set, dequantize, dot)?,
        };
        for words in self.says {
            assert!(message.contains(words), "expected {words:?} in {message:?}");
        }
        assert!(!hangs || begun.elapsed() < Duration::from_secs(60), "it took {:?} to tell", begun.elapsed());
        Ok(())
    }
}

type Work = fn(&mut RemoteKernels) -> Result<(), KernelError>;

/// A call fails, as often as it is made, and another one is answered between and after.
fn fails(set: &mut RemoteKernels, bad: Work, good: Work) -> Result<String, Failed> {
    good(set)?;
    let Err(KernelError::Failed(message)) = bad(set) else { return Err("it did not fail".into()) };
    good(set)?;
    let again = bad(set);
    assert_eq!(again, Err(KernelError::Failed(message.clone())));
    good(set)?;
    Ok(message)
}

fn source(file: &str) -> PathBuf {
    package("tests/bad").join(file).with_extension("c")
}

/// Each file in `tests/bad` has a case.
pub(crate) fn all_are_tested() -> Result<(), Failed> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(package("tests/bad"))? {
        let path = entry?.path();
        if path.extension().is_some_and(|ending| ending == "c") {
            files.push(path);
        }
    }
    files.sort();
    let mut cases: Vec<_> = CASES.iter().map(|case| source(case.file)).collect();
    cases.sort();
    assert_eq!(files, cases);
    Ok(())
}

pub(crate) fn missing() -> Result<(), Failed> {
    let Err(error) = start(Path::new("no/such/library.so"), LIMIT) else { return Err("it was loaded".into()) };
    assert_eq!(error.to_string(), "no/such/library.so: no such file; name the shared library that you have built");
    Ok(())
}

pub(crate) fn no_library() -> Result<(), Failed> {
    let path = package("Cargo.toml");
    let Err(error) = start(&path, LIMIT) else { return Err("it was loaded".into()) };
    assert!(is(|error| matches!(error, LoadError::Load { .. }), &error), "{error:?}");
    assert!(error.to_string().contains("Cargo.toml: cannot be loaded: "), "{error}");
    Ok(())
}
