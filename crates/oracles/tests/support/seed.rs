//! The numbers that a run of generated files starts from and counts to.

use assay_oracles::Holds;
use assay_oracles::cases::{Case, Cases};

/// `ASSAY_SEED`, or a number that is the same on every day: a change is not blamed for what it did not
/// break, and another seed is one variable away.
pub(crate) fn first() -> u64 {
    number("ASSAY_SEED").unwrap_or(0x6767_7566)
}

/// `ASSAY_CASES`, or the usual number of cases.
pub(crate) fn cases(usual: u64) -> u64 {
    number("ASSAY_CASES").unwrap_or(usual)
}

fn number(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok()?;
    match text.parse() {
        Ok(number) => Some(number),
        Err(e) => panic!("{variable}={text:?} is not a number: {e}"),
    }
}

/// Holds a statement against many cases, on every processor.
pub(crate) fn each_case(usual: u64, holds: impl Fn(&Case) -> Holds + Sync) -> Holds {
    let generator = Cases::new();
    each(usual, |seed| {
        let case = generator.draw(seed);
        holds(&case).map_err(|reason| format!("{}: {reason}", case.kind))
    })
}

/// Holds a statement against many seeds, on every processor. The first seed for which it does not hold
/// is named with the way to run it again.
pub(crate) fn each(usual: u64, holds: impl Fn(u64) -> Holds + Sync) -> Holds {
    let (first, count) = (first(), cases(usual));
    let threads = std::thread::available_parallelism().map_or(1, |n| n.get() as u64);
    let failed = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads)
            .map(|worker| {
                let holds = &holds;
                scope.spawn(move || {
                    (worker..count).step_by(usize::try_from(threads).unwrap_or(1)).find_map(|i| {
                        let seed = first.wrapping_add(i);
                        let reason = held(holds, seed).err()?;
                        Some((i, format!("{reason}\n    again: ASSAY_SEED={seed} ASSAY_CASES=1")))
                    })
                })
            })
            .collect();
        workers
            .into_iter()
            .filter_map(|worker| worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .min()
    });
    match failed {
        Some((_, reason)) => Err(reason),
        None => Ok(()),
    }
}

/// A panic is a statement that does not hold, with a seed like any other.
fn held(holds: impl Fn(u64) -> Holds, seed: u64) -> Holds {
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| holds(seed))).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
        Err(format!("panicked: {}", text.unwrap_or("without a text")))
    })
}
