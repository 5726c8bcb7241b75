//! Which sides sets take where authorities differ about scales.

use assay_harness::kernels::record::Result as ResultLine;

/// What sets that say the same say in a dispute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Position<'a> {
    /// The type.
    pub ty: &'a str,
    /// Which of its blocks are disputed.
    pub blocks: &'a str,
    /// The sets.
    pub sets: Vec<&'a str>,
    /// The sides that they take in all their answers; empty if that is none of the known.
    pub who: Vec<&'a str>,
}

impl Position<'_> {
    /// The sides in words.
    #[must_use]
    pub fn text(&self) -> String {
        if self.who.is_empty() { "none of the known".to_owned() } else { self.who.join("; ") }
    }
}

/// The positions of sets, by dispute.
#[must_use]
pub fn positions(results: &[ResultLine]) -> Vec<Position<'_>> {
    let mut alone: Vec<Position<'_>> = Vec::new();
    for result in results {
        for side in &result.sides {
            let who = || side.who.iter().map(String::as_str);
            let known = alone.iter_mut().find(|position| {
                position.ty == result.ty && position.blocks == side.blocks && position.sets == [result.set.as_str()]
            });
            match known {
                Some(position) => position.who.retain(|one| who().any(|other| other == *one)),
                None => alone.push(Position {
                    ty: &result.ty,
                    blocks: &side.blocks,
                    sets: vec![&result.set],
                    who: who().collect(),
                }),
            }
        }
    }
    alone.sort_by_key(|position| (position.ty, position.blocks));
    let mut together: Vec<Position<'_>> = Vec::new();
    for position in alone {
        let same = |other: &&mut Position<'_>| {
            (other.ty, other.blocks, &other.who) == (position.ty, position.blocks, &position.who)
        };
        match together.iter_mut().find(same) {
            Some(other) => other.sets.extend(position.sets),
            None => together.push(position),
        }
    }
    together
}
