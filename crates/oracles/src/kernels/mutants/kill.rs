//! What kills a planted fault, found out by asking.

use super::super::cases::{Case, Tier};
use super::super::expect::Prepared;
use super::super::generic::Generic;
use super::super::judge::{Verdict, judge};
use super::super::laws::{self, Law};
use super::super::list::of_type;
use super::{Killer, Mutant, breaks, kills, prepare};

/// A question that a set with the fault fails and the same set without it passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kill {
    /// The law, if one kills.
    pub law: Option<Law>,
    /// The case, or what the law is applied to.
    pub case: Case,
}

/// The first case of a tier, of those drawn from a seed, that kills a fault.
#[must_use]
pub fn first_of_tier(mutant: &Mutant, tier: Tier, seed: u64) -> Option<Prepared> {
    of_type(mutant.tensor_type(), seed)
        .iter()
        .filter(|case| case.tier == tier && mutant.operations.contains(&case.operation))
        .filter_map(|case| prepare(mutant.family, case))
        .find(|prepared| kills(mutant, prepared))
}

/// The first question of what the table names, of those drawn from a seed, that kills a fault.
///
/// # Errors
///
/// What is wrong: no question kills it, or the one that does is failed without the fault too.
pub fn kill(mutant: &Mutant, seed: u64) -> Result<Kill, String> {
    let (kill, right) = match mutant.killer {
        Killer::Tier(tier) => {
            let prepared = first_of_tier(mutant, tier, seed).ok_or("it survives")?;
            let right = judge(&mut Generic::new(mutant.family), &prepared);
            (Kill { law: None, case: prepared.case }, right)
        }
        Killer::Law(law) => {
            let mut cases = of_type(mutant.tensor_type(), seed).into_iter().flat_map(|case| laws::of_case(&case));
            let broken = cases.find(|(of, case)| *of == law && breaks(mutant, law, case));
            let (_, case) = broken.ok_or("it survives")?;
            (Kill { law: Some(law), case }, laws::check(&mut Generic::new(mutant.family), law, &case))
        }
    };
    match right.verdict {
        Verdict::Pass => Ok(kill),
        _ => Err(format!("{} is failed without the fault too: {:?}", kill.case, right.failure())),
    }
}
