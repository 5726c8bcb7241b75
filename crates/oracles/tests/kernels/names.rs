//! Names of cases: printing and reading are inverse.

use assay_oracles::kernels::cases::{ActivationClass, Case, ScaleClass, tiers};
use gguf_spec::kernel::{OPERATIONS, Operation};
use gguf_spec::types::TensorType;
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::{report, seed};

fn draw(seed: u64) -> Case {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let asked: Vec<_> = OPERATIONS
        .iter()
        .flat_map(|row| TensorType::live().map(|ty| (row.operation, ty)))
        .filter(|(operation, ty)| !tiers(*operation, ty).is_empty())
        .collect();
    let &(operation, ty) = asked.choose(&mut rng).unwrap();
    let with_experts = operation == Operation::MatmulId;
    let experts = if with_experts { rng.random_range(1..9) } else { 0 };
    Case {
        rows: rng.random_range(1..50),
        k: usize::try_from(ty.block).unwrap() * rng.random_range(1..9),
        columns: rng.random_range(1..300),
        row_padding: rng.random_range(0..3),
        column_padding: rng.random_range(0..3),
        experts,
        used: if with_experts { rng.random_range(1..=experts) } else { 0 },
        paired: with_experts && rng.random(),
        threads: rng.random_range(1..4),
        again: rng.random(),
        scales: *ScaleClass::ALL.choose(&mut rng).unwrap(),
        activations: *ActivationClass::ALL.choose(&mut rng).unwrap(),
        ..Case::new(operation, ty, *tiers(operation, ty).choose(&mut rng).unwrap(), rng.random())
    }
}

#[test]
fn a_name_makes_the_case_again() {
    report(seed::each(2000, |seed| {
        let case = draw(seed);
        let again: Case = case.to_string().parse().map_err(|e| format!("{e}"))?;
        if format!("{again:?}") == format!("{case:?}") { Ok(()) } else { Err(format!("{case} became {again:?}")) }
    }));
}

/// A name with one character less or more is another case, or none: it is never read as the same.
#[test]
fn a_name_that_differs_makes_no_case_that_is_the_same() {
    report(seed::each(500, |seed| {
        let case = draw(seed);
        let name = case.to_string();
        for at in 0..name.len() {
            for changed in [format!("{}{}", &name[..at], &name[at + 1..]), format!("{}0{}", &name[..at], &name[at..])] {
                if let Ok(other) = changed.parse::<Case>()
                    && changed != name
                    && (other == case || other.to_string() != changed)
                {
                    return Err(format!("{changed} was read as {other}"));
                }
            }
        }
        Ok(())
    }));
}
