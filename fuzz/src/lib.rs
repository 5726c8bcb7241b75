//! Fuzz targets for everything in this workspace that reads bytes of others.
//!
//! A target is a function from bytes to a [`Found`] or a sentence about what does not hold; it is the
//! same under libFuzzer (`cargo +nightly fuzz run NAME`), in the seeded tests of this crate on stable
//! Rust, and when one file is replayed (`cargo run -p assay-fuzz --bin NAME -- FILE`). The judgements
//! are those of `assay-oracles`; here is only the glue: which oracles a target asks, what it starts
//! from ([`seeds`]), how its inputs are changed ([`mutation`]) and what it prints ([`statistics`]).

pub mod dictionary;
pub mod ended;
#[cfg(fuzzing)]
pub mod engine;
#[cfg(all(feature = "ggml", target_os = "linux"))]
pub mod ggml;
pub mod mutation;
pub mod operands;
pub mod planted;
pub mod replay;
pub mod seeds;
pub mod statistics;
pub mod targets;

/// What some work took of the heap is within its budget.
fn within(taken: counting_allocator::Heap, peak: u64, total: u64, len: usize) -> Result<(), String> {
    if taken.peak <= peak && taken.total <= total { Ok(()) } else { Err(format!("{taken:?} for {len} bytes")) }
}

/// Reading a file took no more of the heap than the fast reader promises.
fn read_within(taken: counting_allocator::Heap, len: usize) -> Result<(), String> {
    within(taken, reader::heap(len), reader::allocated(len), len)
}

/// A folder for files that are looked at once: in memory, where the system offers that.
#[cfg(any(feature = "ggml", feature = "inspect"))]
fn folder() -> Result<tempfile::TempDir, String> {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).map_err(|error| error.to_string())
}

#[path = "../../crates/oracles/tests/support/counting_allocator.rs"]
mod counting_allocator;

#[cfg(fuzzing)]
#[doc(hidden)]
pub use libfuzzer_sys;

use assay_oracles::reader;
use gguf_spec::judge::Judgement;
use gguf_spec::rules::Rule;

/// What an input was, for the statistics.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// Whether somebody accepts it; of operands of kernels, whether they say enough to judge the result.
    pub accepted: bool,
    /// The first rule that it breaks.
    pub rule: Option<&'static Rule>,
    /// The tensor type of what is accepted, of inputs that are blocks of one.
    pub ty: Option<&'static str>,
}

impl Found {
    /// What a judgement says: a file counts as accepted if some profile accepts it, since few of what
    /// mutation makes are right for everybody.
    #[must_use]
    pub fn of(judgement: &Judgement) -> Self {
        let accepted = judgement.verdicts.iter().any(|verdict| verdict.because.is_none());
        Self { accepted, rule: judgement.first().map(|finding| finding.rule), ty: None }
    }
}

/// What the inputs of a target are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Files of the format.
    File,
    /// What an adapter writes: lines of JSON.
    Lines,
    /// Blocks of a tensor type; [`operands`] says how.
    Blocks,
    /// Operands of a product, likewise.
    Products,
}

/// One fuzz target.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Its name, also that of its program.
    pub name: &'static str,
    /// What it checks, as a sentence.
    pub says: &'static str,
    /// What its inputs are.
    pub kind: Kind,
    /// Looks at one input; the error is what does not hold.
    pub run: fn(&[u8]) -> Result<Found, String>,
}

/// The sets of kernels of this workspace, each of which is judged.
#[cfg(feature = "kernels")]
fn kernel_sets() -> [assay_kernels::Kernels; 1] {
    [assay_kernels::Kernels::scalar()]
}

/// What every program does first.
pub fn first() {
    #[cfg(all(feature = "ggml", target_os = "linux"))]
    ggml::serve_if_asked();
}

/// The program of a target: under libFuzzer its entry points, else one that replays files.
#[macro_export]
macro_rules! fuzz_target {
    ($name:ident) => {
        #[cfg(fuzzing)]
        use $crate::libfuzzer_sys;

        #[cfg(fuzzing)]
        $crate::libfuzzer_sys::fuzz_target!(init: $crate::first(), |bytes: &[u8]| {
            $crate::engine::once(&$crate::targets::$name::TARGET, bytes);
        });

        #[cfg(fuzzing)]
        $crate::libfuzzer_sys::fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
            $crate::engine::mutate(&$crate::targets::$name::TARGET, data, size, max_size, seed)
        });

        #[cfg(fuzzing)]
        $crate::libfuzzer_sys::fuzz_crossover!(|a: &[u8], b: &[u8], out: &mut [u8], seed: u32| {
            $crate::engine::cross(&$crate::targets::$name::TARGET, a, b, out, seed)
        });

        #[cfg(not(fuzzing))]
        fn main() -> std::process::ExitCode {
            $crate::replay::main(&$crate::targets::$name::TARGET)
        }
    };
}
