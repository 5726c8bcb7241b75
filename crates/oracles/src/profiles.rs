//! Where profiles differ, a rule says so.

use gguf_spec::judge::{Judgement, judge};
use gguf_spec::profile::{Outcome, Profile};
use gguf_spec::rules::{Checks, Says};

use crate::Holds;

/// A profile that does not accept has a finding whose rule says that it does not; one that accepts has
/// none; and two profiles do different things only if some finding's rule says different things of
/// them. Profiles that look the alignment up in different ways may see different findings.
///
/// # Errors
///
/// The first profile, or pair of profiles, of which this is not true.
pub fn differ_only_by_rules(bytes: &[u8]) -> Holds {
    // Only such a key is found by the one lookup and not by the other.
    let two_files = bytes.windows(18).any(|window| window == b"general.alignment\0");
    explained(&judge(bytes, &Checks::all()), two_files)
}

fn explained(judgement: &Judgement, two_files: bool) -> Holds {
    for profile in Profile::ALL {
        let verdict = judgement.verdict(profile);
        let outcome = verdict.outcome;
        if verdict.profile != profile {
            return Err(format!("the verdict in the place of {profile} is that of {}", verdict.profile));
        }
        let said = verdict.because.as_ref().map(|finding| match finding.rule.says(profile) {
            Some(Says::Refuses) => Outcome::Refuse,
            Some(Says::Aborts) => Outcome::Abort,
            Some(Says::Accepts | Says::Silent) | None => Outcome::Accept,
        });
        if said.unwrap_or(Outcome::Accept) != outcome || said == Some(Outcome::Accept) {
            return Err(format!("{profile}: {outcome} because of {:?}", verdict.because));
        }
        if let Some(because) = &verdict.because
            && !judgement.findings.iter().any(|finding| finding.order(because).is_eq())
        {
            return Err(format!("{profile} objects to something that is not among the findings: {because}"));
        }
    }
    for (i, &a) in Profile::ALL.iter().enumerate() {
        for &b in &Profile::ALL[i + 1..] {
            let differ = judgement.verdict(a).outcome != judgement.verdict(b).outcome;
            // A lookup that finds another alignment makes another file of the same bytes.
            let same_file = a.lookup() == b.lookup() || !two_files;
            let said = judgement.findings.iter().any(|finding| finding.rule.says(a) != finding.rule.says(b));
            if differ && same_file && !said {
                return Err(format!("{a} and {b} differ, and no finding's rule says so"));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use gguf_spec::generate::breaking;
    use gguf_spec::rules::metadata;

    #[test]
    fn an_outcome_without_a_reason_is_told() {
        let broken = breaking(&metadata::KEY_ASCII, 1).map(|broken| broken.bytes()).unwrap_or_default();
        let right = judge(&broken, &Checks::all());
        assert_eq!(explained(&right, false), Ok(()));

        let mut wrong = right.clone();
        wrong.verdicts[1].outcome = Outcome::Refuse;
        assert!(explained(&wrong, false).is_err());

        let mut wrong = right.clone();
        wrong.verdicts[1].because = right.verdicts[0].because.clone();
        assert!(explained(&wrong, false).is_err());

        let mut wrong = right.clone();
        wrong.findings.clear();
        assert!(explained(&wrong, false).is_err());

        let mut wrong = right;
        wrong.verdicts.swap(0, 1);
        assert!(explained(&wrong, false).is_err());
    }
}
