//! One file through all releases.

use assay_providers::ggml::Mode;

use super::Outcome;

/// One file, in one mode or in both where they do not differ, through all releases.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// The vector.
    pub id: String,
    /// The mode; `None` if both modes have the same outcomes.
    pub mode: Option<Mode>,
    /// What each release did, oldest first.
    pub outcomes: Vec<Outcome>,
}

/// A run of releases with the same outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// The first release.
    pub first: usize,
    /// The last release, which may be the first.
    pub last: usize,
}

/// What kind of change a row shows; in the order in which it matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Change {
    /// The newest release crashes or hangs, and an older one did not.
    CrashesNow,
    /// Some release crashed or hung, the newest does not.
    Crashed,
    /// Accepted once, refused by the newest.
    RefusedNow,
    /// Refused once, accepted by the newest.
    AcceptedNow,
    /// Crashes or hangs in all releases.
    CrashesAlways,
    /// The same in all releases.
    None,
}

impl Change {
    /// Every kind, in order.
    pub const ALL: [Self; 6] =
        [Self::CrashesNow, Self::Crashed, Self::RefusedNow, Self::AcceptedNow, Self::CrashesAlways, Self::None];

    /// A heading.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::CrashesNow => "Crashes or hangs in the newest release, not in all before",
            Self::Crashed => "Crashed or hung once, no longer",
            Self::RefusedNow => "Accepted once, refused now",
            Self::AcceptedNow => "Refused once, accepted now",
            Self::CrashesAlways => "Crashes or hangs in every release",
            Self::None => "The same in every release",
        }
    }
}

impl Row {
    /// The rows of a vector from its outcomes in the order of [`Mode::ALL`]: one if the modes do not
    /// differ.
    pub(super) fn of(id: &str, [header, data]: [Vec<Outcome>; 2]) -> Vec<Self> {
        let row = |mode, outcomes| Self { id: id.to_owned(), mode, outcomes };
        if header.iter().zip(&data).all(|(a, b)| a.same(b)) {
            vec![row(None, header)]
        } else {
            vec![row(Some(Mode::Header), header), row(Some(Mode::Data), data)]
        }
    }

    /// The runs of releases with the same outcome, oldest first.
    #[must_use]
    pub fn windows(&self) -> Vec<Window> {
        let mut list: Vec<Window> = Vec::new();
        for (i, outcome) in self.outcomes.iter().enumerate() {
            match list.last_mut() {
                Some(window) if self.outcomes[window.last].same(outcome) => window.last = i,
                _ => list.push(Window { first: i, last: i }),
            }
        }
        list
    }

    /// What kind of change it shows.
    #[must_use]
    pub fn change(&self) -> Change {
        let fails = |outcome: &Outcome| outcome.is_crash() || *outcome == Outcome::Hang;
        let Some(newest) = self.outcomes.last() else { return Change::None };
        match (self.windows().len() > 1, fails(newest)) {
            (true, true) if self.outcomes.iter().all(fails) => Change::CrashesAlways,
            (true, true) => Change::CrashesNow,
            (true, false) if self.outcomes.iter().any(fails) => Change::Crashed,
            (true, false) if *newest == Outcome::Accept => Change::AcceptedNow,
            (true, false) => Change::RefusedNow,
            (false, true) => Change::CrashesAlways,
            (false, false) => Change::None,
        }
    }

    /// How many releases crash or hang.
    #[must_use]
    pub fn failures(&self) -> usize {
        self.outcomes.iter().filter(|outcome| outcome.is_crash() || **outcome == Outcome::Hang).count()
    }

    /// The order of a report: the kind of change, then the most failures, then the name.
    #[must_use]
    pub fn order(&self, other: &Self) -> std::cmp::Ordering {
        let key = |row: &Self| (row.change(), usize::MAX - row.failures());
        key(self).cmp(&key(other)).then_with(|| self.id.cmp(&other.id)).then_with(|| self.mode.cmp(&other.mode))
    }

    /// The windows in words: `abort b4234 to b5640, refused since b6122`.
    #[must_use]
    pub fn story(&self, names: &[&str]) -> String {
        let windows = self.windows();
        let one = windows.len() == 1;
        let last = names.len().saturating_sub(1);
        let told = windows.iter().map(|&Window { first, last: end }| {
            let what = self.outcomes[first].describe();
            if one {
                format!("{what} by all")
            } else if end == last {
                format!("{what} since {}", names[first])
            } else if first == 0 {
                format!("{what} up to {}", names[end])
            } else if first == end {
                format!("{what} in {}", names[first])
            } else {
                format!("{what} {} to {}", names[first], names[end])
            }
        });
        told.collect::<Vec<_>>().join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Outcome::{Accept, Hang, Refuse};

    fn crash(signal: i32) -> Outcome {
        Outcome::Crash(signal)
    }

    fn row(outcomes: &[Outcome]) -> Row {
        Row { id: "x".to_owned(), mode: None, outcomes: outcomes.to_vec() }
    }

    #[test]
    fn the_kind_of_change_is_told() {
        let cases: &[(&[Outcome], Change)] = &[
            (&[Accept, Accept], Change::None),
            (&[Accept, Refuse], Change::RefusedNow),
            (&[Refuse, Accept], Change::AcceptedNow),
            (&[Refuse, Accept, Refuse], Change::RefusedNow),
            (&[Accept, crash(6), Refuse], Change::Crashed),
            (&[Hang, Refuse], Change::Crashed),
            (&[Refuse, crash(11)], Change::CrashesNow),
            (&[crash(6), crash(6)], Change::CrashesAlways),
            (&[crash(6), crash(11)], Change::CrashesAlways),
            (&[], Change::None),
        ];
        for (outcomes, change) in cases {
            assert_eq!(row(outcomes).change(), *change, "{outcomes:?}");
        }
    }

    #[test]
    fn a_story_names_the_releases() {
        let names = ["a", "b", "c", "d"];
        let told = |outcomes: &[Outcome]| row(outcomes).story(&names);
        assert_eq!(told(&[crash(6), crash(6), Refuse, Refuse]), "abort up to b, refused since c");
        assert_eq!(
            told(&[Accept, crash(11), Refuse, Refuse]),
            "accepted up to a, segmentation fault in b, refused since c"
        );
        assert_eq!(told(&[Accept, Hang, Hang, Refuse]), "accepted up to a, hang b to c, refused since d");
        assert_eq!(told(&[const { Refuse }; 4]), "refused by all");
    }

    #[test]
    fn modes_that_do_not_differ_are_one_row() {
        let one = Row::of("x", [vec![Accept, crash(6)], vec![Accept, crash(6)]]);
        assert_eq!(one.iter().map(|row| row.mode).collect::<Vec<_>>(), [None]);
        let two = Row::of("x", [vec![Accept], vec![Refuse]]);
        assert_eq!(two.iter().map(|row| row.mode).collect::<Vec<_>>(), [Some(Mode::Header), Some(Mode::Data)]);
    }

    #[test]
    fn failures_come_first() {
        let mut rows =
            [row(&[Accept, Refuse]), row(&[crash(6), Refuse]), row(&[Refuse, crash(6)]), row(&[const { Accept }; 2])];
        rows.sort_by(Row::order);
        let changes: Vec<_> = rows.iter().map(Row::change).collect();
        assert_eq!(changes, [Change::CrashesNow, Change::Crashed, Change::RefusedNow, Change::None]);
    }
}
