//! Right sets pass.

use assay_kernels::Kernels;
use assay_oracles::Holds;
use assay_oracles::kernels::cases::Case;
use assay_oracles::kernels::generic::{Family, Generic};
use assay_oracles::kernels::judge::{Verdict, all_pass, run};
use assay_oracles::kernels::list::list;
use gguf_spec::kernel::KernelSet;
use rand::SeedableRng;
use rand::seq::IndexedRandom;
use rand_chacha::ChaCha8Rng;

use crate::{report, seed};

fn sets() -> Vec<Box<dyn KernelSet>> {
    let generic = |family| -> Box<dyn KernelSet> { Box::new(Generic::new(family)) };
    let mut sets: Vec<_> = Family::ALL.map(generic).into();
    sets.push(Box::new(Kernels::scalar()));
    sets
}

fn pass(set: &mut dyn KernelSet, cases: &[Case]) -> Holds {
    let outcomes: Vec<_> = cases.iter().map(|case| run(set, case)).collect();
    all_pass(&outcomes).map_err(|reason| format!("{}: {reason}", set.name()))
}

/// A seed is a sample of the whole list; with `ASSAY_CASES=100` it is a hundred samples.
#[test]
fn right_sets_pass_samples_of_many_seeds() {
    let cases = list("", 0);
    report(seed::each(6, |seed| {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        for mut set in sets() {
            let sample: Vec<Case> = cases.sample(&mut rng, 12).map(|case| Case { seed, ..*case }).collect();
            pass(set.as_mut(), &sample)?;
        }
        Ok(())
    }));
}

/// All cases of a type: the one whose form of activations can overflow.
#[test]
fn the_scalar_set_passes_every_case_of_a_type() {
    report(pass(&mut Kernels::scalar(), &list("/Q4_1/", 1)));
}

/// The whole list, seed after seed: `ASSAY_CASES` of them.
#[test]
#[ignore = "minutes: the whole list for every set, for each of ASSAY_CASES seeds"]
fn right_sets_pass_everything() {
    report(seed::each(1, |seed| {
        for mut set in sets() {
            pass(set.as_mut(), &list("", seed))?;
        }
        Ok(())
    }));
}

/// How much of each bound right sets use: printed, for the report.
#[test]
#[ignore = "prints shares of bounds"]
fn shares_of_bounds() {
    for mut set in sets() {
        let mut shares = std::collections::BTreeMap::<String, (f64, f64, usize)>::new();
        for case in list("", seed::first()) {
            let outcome = run(set.as_mut(), &case);
            if outcome.verdict == Verdict::Pass {
                let form = outcome.contract.map_or("", |contract| contract.activations.name());
                let share = shares.entry(format!("{} {} {form}", case.tier, case.operation)).or_default();
                *share = (share.0.max(outcome.share), share.1.max(outcome.row_share), share.2 + 1);
            }
        }
        for (what, (share, row, count)) in shares {
            println!("{:18} {what:34} {count:5} cases: {:9.5} of the bound, {row:7.4} of the row", set.name(), share);
        }
    }
}
