//! The judgements on kernels, judged: right sets pass, planted faults do not.
//!
//! `ASSAY_SEED` and `ASSAY_CASES` choose the generated cases; a failure names the values to run it again, and the
//! case, whose name replays it.

#[path = "../support/seed.rs"]
#[expect(dead_code, reason = "cases of files are drawn elsewhere")]
mod seed;

mod exact;
mod laws;
mod mutants;
mod names;
mod right;
mod verdicts;

use assay_oracles::Holds;

fn report(holds: Holds) {
    if let Err(reason) = holds {
        panic!("{reason}");
    }
}
