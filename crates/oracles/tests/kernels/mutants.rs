//! Planted faults are killed, each by what the table says.

use std::collections::BTreeSet;

use assay_oracles::kernels::cases::Tier;
use assay_oracles::kernels::laws::Law;
use assay_oracles::kernels::mutants::{Killer, Kind, MUTANTS, Mutant, first_of_tier, kill, nmse_kills};
use gguf_spec::types::TensorType;

#[test]
fn every_fault_is_killed_by_what_it_names() {
    let threads = 2;
    let failed: Vec<String> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads)
            .map(|worker| {
                scope.spawn(move || {
                    let mine = MUTANTS.iter().skip(worker).step_by(threads);
                    mine.filter_map(|m| {
                        kill(m, 1).err().map(|why| format!("{}, {}, by {}: {why}", m.ty, m.name, m.killer))
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
    assert!(count(&Mutant::is_of_second_call) >= 5);
    assert!(
        3 * count(&|mutant| mutant.is_local()
            || mutant.is_conditional()
            || mutant.is_of_second_call()
            || mutant.kind == Kind::Extreme)
            >= MUTANTS.len()
    );
}

/// Faults that one tier, or one law, kills alone.
#[test]
fn every_tier_kills_what_no_other_does() {
    for (ty, kind, name, tier) in ALONE {
        let found: Vec<_> = MUTANTS.iter().filter(|m| (m.ty, m.kind, m.name) == (*ty, *kind, *name)).collect();
        let [mutant] = found[..] else { panic!("{ty}, {name}: {} of them in the table", found.len()) };
        let by: Vec<Tier> =
            Tier::ALL.iter().copied().filter(|tier| first_of_tier(mutant, *tier, 1).is_some()).collect();
        assert_eq!(by, tier.iter().copied().collect::<Vec<_>>(), "{ty}, {name}");
    }
}

const ALONE: &[(&str, Kind, &str, Option<Tier>)] = &[
    ("F32", Kind::Accumulator, "the last place is off by one", Some(Tier::Exact)),
    ("Q4_0", Kind::Scale, "the scale has ten bits for 3 to 32 columns", Some(Tier::Lossless)),
    ("Q4_0", Kind::Activation, "codes are cut, not rounded", Some(Tier::Ordinary)),
    ("Q4_1", Kind::Sum, "a sum beyond binary16 stops at its end", Some(Tier::Ordinary)),
    ("Q4_0", Kind::Decoding, "the second row is the one before", Some(Tier::Bits)),
    // A promise that is broken inside the bounds: no tier sees it, only the law does.
    ("Q4_0", Kind::Promise, "another order of addition for several columns", None),
];

/// What the table names has to kill, not something else.
#[test]
fn what_is_not_killed_is_told() {
    let all = MUTANTS.iter().find(|mutant| mutant.name == "the last place is off by one");
    let mutant = Mutant { killer: Killer::Tier(Tier::Ordinary), ..*all.expect("the fault") };
    assert_eq!(kill(&mutant, 1), Err("it survives".to_owned()));
    let mutant = Mutant { killer: Killer::Law(Law::Repeat), ..mutant };
    assert_eq!(kill(&mutant, 1), Err("it survives".to_owned()));
}

/// The customary test lets many of them live.
#[test]
fn the_customary_test_kills_few() {
    let asked: Vec<bool> = MUTANTS.iter().filter_map(|mutant| nmse_kills(mutant, 1)).collect();
    let alive = asked.iter().filter(|killed| !**killed).count();
    assert!(alive > asked.len() / 2 && alive < asked.len(), "{alive} of {}", asked.len());
}
