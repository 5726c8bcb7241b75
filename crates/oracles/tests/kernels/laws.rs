//! Laws hold for right sets, whether they promise them or not.

use assay_kernels::Kernels;
use assay_oracles::kernels::cases::Case;
use assay_oracles::kernels::generic::{Family, Generic};
use assay_oracles::kernels::judge::all_pass;
use assay_oracles::kernels::laws::{Law, check, list};
use gguf_spec::kernel::KernelSet;
use rand::SeedableRng;
use rand::seq::IndexedRandom;
use rand_chacha::ChaCha8Rng;

use crate::{report, seed};

#[test]
fn laws_hold_for_right_sets() {
    let cases = list("", 0);
    report(seed::each(4, |seed| {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let generic = |family| -> Box<dyn KernelSet> { Box::new(Generic::new(family)) };
        let mut sets: Vec<_> = Family::ALL.map(generic).into();
        sets.push(Box::new(Kernels::scalar()));
        for mut set in sets {
            for &law in Law::ALL {
                let has = |case: &Case| set.contract(case.operation, case.ty, case.columns).is_ok();
                let of_law: Vec<_> = cases.iter().filter(|(of, case)| *of == law && has(case)).collect();
                let outcomes: Vec<_> =
                    of_law.sample(&mut rng, 2).map(|(law, case)| check(set.as_mut(), *law, case)).collect();
                all_pass(&outcomes).map_err(|reason| format!("{}, {law}: {reason}", set.name()))?;
            }
        }
        Ok(())
    }));
}
