//! What libFuzzer calls. Only built under `cfg(fuzzing)`.

use std::cell::RefCell;

use libfuzzer_sys::fuzzer_mutate;

use crate::Target;
use crate::mutation::{crossed, mutated};
use crate::statistics::Statistics;

thread_local! {
    static STATISTICS: RefCell<Option<Statistics>> = const { RefCell::new(None) };
}

/// Looks at one input.
///
/// # Panics
///
/// If something does not hold: that is how libFuzzer is told.
pub fn once(target: &Target, bytes: &[u8]) {
    let found = match (target.run)(bytes) {
        Ok(found) => found,
        Err(reason) => panic!("{}: {reason}", target.name),
    };
    STATISTICS.with_borrow_mut(|statistics| {
        let statistics = statistics.get_or_insert_with(|| Statistics::new(target));
        statistics.note(bytes.len(), found);
        if statistics.is_due() {
            eprintln!("{statistics}");
        }
    });
}

/// Changes an input in place; gives its new length.
pub fn mutate(target: &Target, data: &mut [u8], size: usize, max_size: usize, seed: u32) -> usize {
    // Now and then as bytes, by libFuzzer itself, which knows the dictionary.
    let structured = !seed.is_multiple_of(16);
    match structured.then(|| mutated(target.kind, &data[..size], max_size, u64::from(seed))).flatten() {
        Some(new) => put(&new, data),
        None => fuzzer_mutate(data, size, max_size),
    }
}

/// Makes one input of two; gives its length, 0 for none.
pub fn cross(target: &Target, a: &[u8], b: &[u8], out: &mut [u8], seed: u32) -> usize {
    crossed(target.kind, a, b, out.len(), u64::from(seed)).map_or(0, |new| put(&new, out))
}

fn put(new: &[u8], out: &mut [u8]) -> usize {
    let len = new.len().min(out.len());
    out[..len].copy_from_slice(&new[..len]);
    len
}
