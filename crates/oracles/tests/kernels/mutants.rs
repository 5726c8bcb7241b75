//! Planted faults are killed, each by what the table says.

use std::collections::{BTreeMap, BTreeSet};

use assay_oracles::kernels::cases::Tier;
use assay_oracles::kernels::expect::Prepared;
use assay_oracles::kernels::generic::Generic;
use assay_oracles::kernels::judge::{Verdict, judge};
use assay_oracles::kernels::list::of_type;
use assay_oracles::kernels::mutants::{Killer, Kind, MUTANTS, Mutant, breaks, kills, prepare};
use assay_oracles::kernels::{laws, mutants};
use gguf_spec::types::TensorType;

/// The first case of a tier that kills a fault, if there is one.
fn killer(mutant: &Mutant, tier: Tier) -> Option<Prepared> {
    of_type(mutant.tensor_type(), 1)
        .iter()
        .filter(|case| case.tier == tier && mutant.operations.contains(&case.operation))
        .filter_map(|case| prepare(mutant.family, case))
        .find(|prepared| kills(mutant, prepared))
}

fn killed(mutant: &Mutant) -> Result<(), String> {
    match mutant.killer {
        Killer::Tier(tier) => {
            let prepared = killer(mutant, tier).ok_or("it survives")?;
            // The set without the fault passes the case that kills it.
            let right = judge(&mut Generic::new(mutant.family), &prepared);
            if right.verdict == Verdict::Pass { Ok(()) } else { Err(format!("without it: {:?}", right.failure())) }
        }
        Killer::Law(law) => {
            let mut cases = of_type(mutant.tensor_type(), 1).into_iter().flat_map(|case| laws::of_case(&case));
            let broken = cases.any(|(of, case)| of == law && breaks(mutant, law, &case));
            if broken { Ok(()) } else { Err("it survives".to_owned()) }
        }
    }
}

#[test]
fn every_fault_is_killed_by_what_it_names() {
    let threads = 2;
    let failed: Vec<String> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads)
            .map(|worker| {
                scope.spawn(move || {
                    let mine = MUTANTS.iter().skip(worker).step_by(threads);
                    mine.filter_map(|m| {
                        killed(m).err().map(|why| format!("{}, {}, by {}: {why}", m.ty, m.name, m.killer))
                    })
                    .collect::<Vec<_>>()
                })
            })
            .collect();
        workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
    });
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

/// The kinds of faults that are named in the table of what a suite has to find are there in numbers.
#[test]
fn the_table_covers_what_kernels_get_wrong() {
    let count = |is: &dyn Fn(&Mutant) -> bool| MUTANTS.iter().filter(|mutant| is(mutant)).count();
    let kinds: BTreeSet<_> = MUTANTS.iter().map(|mutant| mutant.kind).collect();
    let types: BTreeSet<_> = MUTANTS.iter().map(|mutant| mutant.ty).collect();
    let names: BTreeSet<_> = MUTANTS.iter().map(|mutant| (mutant.ty, mutant.name, mutant.kind)).collect();
    assert_eq!(names.len(), MUTANTS.len());
    assert!(MUTANTS.len() >= 60);
    assert_eq!(kinds.len(), Kind::ALL.len());
    assert!(types.len() >= 10 && types.iter().all(|ty| TensorType::from_name(ty).is_some()));
    assert!(count(&Mutant::is_local) >= 20, "{}", count(&Mutant::is_local));
    assert!(count(&Mutant::is_conditional) >= 10, "{}", count(&Mutant::is_conditional));
    assert!(count(&|mutant| mutant.kind == Kind::Extreme) >= 5);
    assert!(count(&|mutant| mutant.kind == Kind::State) >= 5);
    assert!(
        3 * count(&|mutant| mutant.is_local()
            || mutant.is_conditional()
            || matches!(mutant.kind, Kind::Extreme | Kind::State))
            >= MUTANTS.len()
    );
}

/// Faults that one tier, or one law, kills alone.
#[test]
fn every_tier_kills_what_no_other_does() {
    for (ty, kind, name, tier) in ALONE {
        let found: Vec<_> = MUTANTS.iter().filter(|m| (m.ty, m.kind, m.name) == (*ty, *kind, *name)).collect();
        let [mutant] = found[..] else { panic!("{ty}, {name}: {} of them in the table", found.len()) };
        let by: Vec<Tier> = Tier::ALL.iter().copied().filter(|tier| killer(mutant, *tier).is_some()).collect();
        assert_eq!(by, tier.iter().copied().collect::<Vec<_>>(), "{ty}, {name}");
    }
}

const ALONE: &[(&str, Kind, &str, Option<Tier>)] = &[
    ("F32", Kind::Accumulator, "the last place is off by one", Some(Tier::Exact)),
    ("Q4_0", Kind::Scale, "the scale has ten bits", Some(Tier::Lossless)),
    ("Q4_0", Kind::Activation, "codes are cut, not rounded", Some(Tier::Ordinary)),
    ("Q4_1", Kind::Sum, "a sum beyond binary16 stops at its end", Some(Tier::Ordinary)),
    ("Q4_0", Kind::Decoding, "the second row is the one before", Some(Tier::Bits)),
    // A promise that is broken inside the bounds: no tier sees it, only the law does.
    ("Q4_0", Kind::Promise, "another order of addition for several columns", None),
];

/// The customary test lets many of them live.
#[test]
fn the_customary_test_kills_few() {
    let table = mutants::table(1);
    let alive = table.iter().filter(|(_, killed)| !killed).count();
    assert!(alive > table.len() / 2 && alive < table.len(), "{alive} of {}", table.len());
}

/// The table of the report, printed.
#[test]
#[ignore = "prints the table of planted faults"]
fn print_the_table() {
    let mut kinds = BTreeMap::<String, (usize, usize)>::new();
    for (mutant, nmse) in mutants::table(1) {
        println!(
            "| {} | {} | {} | {} | {} | {} |",
            mutant.ty,
            mutant.kind,
            mutant.name,
            mutant.killer,
            if nmse { "yes" } else { "no" },
            mutant.after.unwrap_or("")
        );
        for key in [format!("kind {}", mutant.kind), format!("killer {}", mutant.killer), "all".to_owned()] {
            let row = kinds.entry(key).or_default();
            *row = (row.0 + 1, row.1 + usize::from(nmse));
        }
    }
    for (key, (all, nmse)) in kinds {
        println!("{key}: {all}, of them killed by NMSE {nmse}");
    }
}
