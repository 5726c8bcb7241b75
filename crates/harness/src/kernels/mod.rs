//! Sets of kernels under the judgements of [`assay_oracles::kernels`]: questions, each put to every set, and the
//! record of what came of them; and what the judgements are worth, on planted faults.

mod planted;
pub mod record;
mod run;

use std::fmt;
use std::str::FromStr;

use assay_oracles::kernels::cases::{Case, Tier};
use assay_oracles::kernels::laws::{self, Law};
use assay_oracles::kernels::list;
use gguf_spec::kernel::Operation;
use gguf_spec::types::TensorType;

pub use planted::{Planted, planted};
pub use run::{Answered, Bounds, Maker, Told, ask};

/// What a set of kernels is asked: a case, or a law applied to one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Question {
    /// The law, if it is one.
    pub law: Option<Law>,
    /// The case.
    pub case: Case,
}

impl fmt::Display for Question {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(law) = self.law {
            write!(f, "{law}:")?;
        }
        self.case.fmt(f)
    }
}

impl FromStr for Question {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let (law, case) = match name.split_once(':') {
            Some((law, case)) => {
                let known = || Law::ALL.iter().map(|law| law.name()).collect::<Vec<_>>().join(", ");
                let found = Law::from_name(law);
                (Some(found.ok_or_else(|| format!("{name:?}: no law is called {law:?}; there are {}", known()))?), case)
            }
            None => (None, name),
        };
        let case: Case = case.parse().map_err(|error: assay_oracles::kernels::cases::NameError| error.to_string())?;
        if law.is_some() && case.operation != Operation::Matmul {
            return Err(format!("{name:?}: laws are about matmul, not {}", case.operation));
        }
        Ok(Self { law, case })
    }
}

/// Which questions are asked: those that fit every list that is not empty.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// Types of weights.
    pub types: Vec<&'static TensorType>,
    /// Operations.
    pub operations: Vec<Operation>,
    /// Tiers.
    pub tiers: Vec<Tier>,
    /// Parts of names, upper and lower case alike.
    pub parts: Vec<String>,
}

impl Filter {
    /// Whether a question is wanted.
    #[must_use]
    pub fn wants(&self, question: &Question) -> bool {
        let case = &question.case;
        let among = |list: &[String]| {
            let name = format!("/{question}").to_ascii_lowercase();
            list.is_empty() || list.iter().any(|part| name.contains(&part.to_ascii_lowercase()))
        };
        (self.types.is_empty() || self.types.iter().any(|ty| ty.id == case.ty.id))
            && (self.operations.is_empty() || self.operations.contains(&case.operation))
            && (self.tiers.is_empty() || self.tiers.contains(&case.tier))
            && among(&self.parts)
    }
}

/// The questions there are, drawn from a seed: cases first, then laws.
#[must_use]
pub fn questions(filter: &Filter, seed: u64) -> Vec<Question> {
    let cases = list::list("", seed).into_iter().map(|case| Question { law: None, case });
    let laws = laws::list("", seed).into_iter().map(|(law, case)| Question { law: Some(law), case });
    cases.chain(laws).filter(|question| filter.wants(question)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_asks_again() {
        let all = questions(&Filter::default(), 3);
        assert!(all.iter().any(|question| question.law.is_some()));
        for question in all.iter().step_by(7) {
            assert_eq!(question.to_string().parse(), Ok(*question));
        }
        let says = |name: &str| name.parse::<Question>().expect_err("no question");
        assert!(says("sum:matmul/Q4_0/exact/r2-k32-c2-scales.normal/1").contains("no law is called \"sum\""));
        assert!(says("threads:dot/Q4_0/exact/r1-k32-c1-scales.normal/1").contains("laws are about matmul"));
    }

    #[test]
    fn a_filter_narrows() {
        let ty = TensorType::from_name("Q4_K").expect("a type");
        let filter = Filter {
            types: vec![ty],
            operations: vec![Operation::Matmul],
            tiers: vec![Tier::Exact],
            parts: vec!["c9-".to_owned(), "THREADS:".to_owned()],
        };
        let some = questions(&filter, 1);
        assert!(!some.is_empty());
        for question in some {
            let name = question.to_string();
            assert!(
                name.contains("matmul/Q4_K/exact") && (name.contains("c9-") || name.contains("threads:")),
                "{name}"
            );
        }
    }
}
