//! What a reader's answer to one vector is worth.

use std::fmt;

/// What a reader's answer to one vector is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verdict {
    /// It does what is expected.
    Agree,
    /// The authorities disagree, and it does what some of them do.
    SidesWith,
    /// It accepts what it should refuse.
    FalseAccept,
    /// It refuses what it should accept.
    FalseReject,
    /// It accepts a file rightly and reads something else in it.
    WrongValue,
    /// It died.
    Crash,
    /// It took too long.
    Hang,
    /// It used too much memory.
    OutOfMemory,
    /// The adapter did not keep to the protocol.
    ProtocolError,
    /// It refuses a file for what comes after its last stage.
    OutOfScope,
    /// It refuses a file, or was not asked, for something that it does not claim to read.
    Unsupported,
    /// It was not asked.
    NotRun,
}

/// One row of the table of verdicts.
#[derive(Clone, Copy, Debug)]
pub struct VerdictRow {
    /// The verdict.
    pub verdict: Verdict,
    /// The word in records and reports.
    pub name: &'static str,
    /// What it means.
    pub meaning: &'static str,
    /// Whether it is a failure: one that no expectation names makes a run fail.
    pub failure: bool,
    /// Whether it is confirmed in a fresh process before it is told.
    pub confirmed: bool,
}

/// The verdicts, in the order of every table.
pub const VERDICTS: [VerdictRow; 12] = {
    const fn row(verdict: Verdict, name: &'static str, meaning: &'static str) -> VerdictRow {
        VerdictRow { verdict, name, meaning, failure: false, confirmed: false }
    }
    const fn failure(verdict: Verdict, name: &'static str, meaning: &'static str) -> VerdictRow {
        VerdictRow { verdict, name, meaning, failure: true, confirmed: true }
    }
    [
        row(Verdict::Agree, "agree", "The reader does what every profile that is compared does."),
        row(
            Verdict::SidesWith,
            "sides-with",
            "The profiles disagree, and the reader does what the named ones do. No failure: a choice to know of.",
        ),
        failure(Verdict::FalseAccept, "false-accept", "The reader accepts what every compared profile refuses."),
        failure(Verdict::FalseReject, "false-reject", "The reader refuses what every compared profile accepts."),
        failure(
            Verdict::WrongValue,
            "wrong-value",
            "The reader rightly accepts, and reads something else; the first place that differs is named.",
        ),
        failure(Verdict::Crash, "crash", "A signal ended the reader, or it ended without an answer."),
        failure(Verdict::Hang, "hang", "The reader used up its processor time, or all of the time on the clock."),
        failure(
            Verdict::OutOfMemory,
            "out-of-memory",
            "The reader was ended above the limit of memory, or died saying that memory was refused to it.",
        ),
        VerdictRow {
            verdict: Verdict::ProtocolError,
            name: "protocol-error",
            meaning: "The adapter did not keep to the protocol: a fault of the adapter, not of the reader.",
            failure: true,
            confirmed: false,
        },
        row(
            Verdict::OutOfScope,
            "out-of-scope",
            "The reader refuses a file that some profile refuses at a stage after the last one that the reader \
             says it judges.",
        ),
        row(
            Verdict::Unsupported,
            "unsupported",
            "The reader refuses, or the adapter skips, something that it does not claim to read.",
        ),
        row(Verdict::NotRun, "not-run", "The adapter was not asked; the record says why."),
    ]
};

impl Verdict {
    fn row(self) -> &'static VerdictRow {
        &VERDICTS[self as usize]
    }

    /// The word in records and reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// The verdict with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        VERDICTS.iter().find(|row| row.name == name).map(|row| row.verdict)
    }

    /// Whether it is a failure.
    #[must_use]
    pub fn is_failure(self) -> bool {
        self.row().failure
    }

    /// Whether the reader did not survive, or had to be ended.
    #[must_use]
    pub fn ends_the_reader(self) -> bool {
        self == Self::Crash || self.takes_all()
    }

    /// Whether the reader took all the time or memory that there was for it.
    #[must_use]
    pub fn takes_all(self) -> bool {
        matches!(self, Self::Hang | Self::OutOfMemory)
    }

    /// Whether it is confirmed in a fresh process before it is told.
    #[must_use]
    pub fn is_confirmed(self) -> bool {
        self.row().confirmed
    }

    /// Whether it says something of the reader: a run without any such verdict has checked nothing.
    #[must_use]
    pub fn is_checked(self) -> bool {
        !matches!(self, Self::OutOfScope | Self::Unsupported | Self::NotRun | Self::ProtocolError)
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_of_the_protocol_explains_every_verdict_in_the_same_words() {
        let page = include_str!("../../../../docs/adapter-protocol.md");
        for row in &VERDICTS {
            let yes = |yes: bool| if yes { " yes |" } else { " |" };
            let row = format!("\n| `{}` | {} |{}{}\n", row.name, row.meaning, yes(row.failure), yes(row.confirmed));
            assert!(page.contains(&row), "docs/adapter-protocol.md lacks {row}");
        }
    }

    #[test]
    fn the_table_is_in_the_order_of_the_type() {
        for (i, row) in VERDICTS.iter().enumerate() {
            assert_eq!(row.verdict as usize, i);
            assert_eq!(Verdict::from_name(row.name), Some(row.verdict));
            assert!(row.failure || !row.confirmed, "only failures are confirmed");
        }
        assert_eq!(Verdict::from_name("neither"), None);
    }
}
