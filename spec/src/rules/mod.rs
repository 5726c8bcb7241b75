//! The catalogue: every rule of the format, what each profile says of it, and where that was read.
//!
//! Rules are kept in one file per stage. Ids are permanent: a rule is never renamed or reused.
//! Rules of one stage are written to be disjoint, so that one fault in a file is one finding. Beside
//! the catalogue stand those of [`scan`], which no profile judges.

pub mod data;
pub mod header;
pub mod keys;
pub mod layout;
pub mod metadata;
pub mod scan;
pub mod semantics;
pub mod tensors;

use std::fmt;

use crate::profile::Profile;

/// Where in the reading of a file a reader must notice a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Stage {
    /// The first four bytes.
    Magic,
    /// Version, byte order, counts.
    Header,
    /// The key-value pairs.
    Metadata,
    /// The tensor infos, one by one.
    TensorTable,
    /// Where the tensors lie, from the table alone.
    Layout,
    /// The tensor data: whether it is there, and the padding around it.
    Data,
    /// What the metadata means.
    Semantics,
}

impl Stage {
    /// Every stage, in order.
    pub const ALL: [Self; 7] =
        [Self::Magic, Self::Header, Self::Metadata, Self::TensorTable, Self::Layout, Self::Data, Self::Semantics];

    /// The name used in files and on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Magic => "magic",
            Self::Header => "header",
            Self::Metadata => "metadata",
            Self::TensorTable => "tensor-table",
            Self::Layout => "layout",
            Self::Data => "data",
            Self::Semantics => "semantics",
        }
    }

    /// The stage with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|stage| stage.name() == name)
    }
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What a profile does with a file that breaks a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Says {
    /// It refuses the file.
    Refuses,
    /// It ends the process.
    Aborts,
    /// It states, or was seen, to read such a file.
    Accepts,
    /// It says nothing, so the file is not refused.
    Silent,
}

impl Says {
    /// The word used in tables.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Refuses => "refuses",
            Self::Aborts => "aborts",
            Self::Accepts => "accepts",
            Self::Silent => "silent",
        }
    }
}

/// How much a broken rule matters to somebody who checks a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// ggml refuses the file, or its data cannot be used.
    Error,
    /// The file deviates from the format document; ggml reads it.
    Warning,
}

impl Severity {
    /// `error` or `warning`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
        }
    }
}

/// One normative statement.
#[derive(Debug)]
pub struct Rule {
    /// The permanent dotted id.
    pub id: &'static str,
    /// Where a reader must notice.
    pub stage: Stage,
    /// What holds in a right file.
    pub statement: &'static str,
    /// What breaks when it does not hold.
    pub why: &'static str,
    /// What to do with a file that breaks it.
    pub fix: &'static str,
    /// Where it was read or observed.
    pub source: &'static str,
    /// What each profile does with a file that breaks it, in the order of [`Profile::ALL`].
    pub says: [Says; 3],
    /// For decode rules: how a reader that does not know the rule goes on.
    pub fallback: Option<&'static str>,
    /// Whether the tensor data of a file that breaks it cannot be used, whatever the profiles say.
    pub unusable: bool,
}

impl Rule {
    /// What a profile does with a file that breaks this rule; `None` if it does not judge the stage.
    #[must_use]
    #[inline]
    pub fn says(&self, profile: Profile) -> Option<Says> {
        (self.stage <= profile.last_stage()).then(|| self.says[profile as usize])
    }

    /// How much it matters when this rule is broken.
    #[must_use]
    pub fn severity(&self) -> Severity {
        let ggml_objects = [Profile::GgmlHeader, Profile::GgmlData]
            .into_iter()
            .any(|p| matches!(self.says(p), Some(Says::Refuses | Says::Aborts)));
        if ggml_objects || self.unusable { Severity::Error } else { Severity::Warning }
    }
}

impl PartialEq for Rule {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

impl Eq for Rule {}

impl PartialOrd for Rule {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Rule {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.id.cmp(other.id)
    }
}

/// The fallback of the rules about bytes that are missing, and about arrays too deep to be read.
const QUIET_STOP: &str = "reading ends here without a word; what was read so far is kept";

/// Defines the rules of one stage, and the list `RULES` of them.
macro_rules! rules {
    ($stage:ident: $($name:ident $id:literal {
        $statement:literal
        why: $why:literal
        fix: $fix:literal
        source: $source:literal
        says: $document:ident, $header:ident, $data:ident;
        $(fallback: $fallback:expr;)?
        $(unusable: $unusable:literal;)?
    })*) => {
        $(
            #[doc = $statement]
            pub static $name: $crate::rules::Rule = $crate::rules::Rule {
                id: $id,
                stage: $crate::rules::Stage::$stage,
                statement: $statement,
                why: $why,
                fix: $fix,
                source: $source,
                says: [
                    $crate::rules::Says::$document,
                    $crate::rules::Says::$header,
                    $crate::rules::Says::$data,
                ],
                fallback: $crate::rules::rules!(@option $($fallback)?),
                unusable: $crate::rules::rules!(@flag $($unusable)?),
            };
        )*
        /// Every rule of this file, in reading order.
        pub static RULES: &[&$crate::rules::Rule] = &[$(&$name),*];
    };
    (@option) => { None };
    (@option $value:expr) => { Some($value) };
    (@flag) => { false };
    (@flag $value:literal) => { $value };
}
pub(crate) use rules;

/// The whole catalogue, by stage, then in reading order.
#[must_use]
pub fn catalogue() -> Vec<&'static Rule> {
    [header::MAGIC_RULES, header::RULES, metadata::RULES, tensors::RULES, layout::RULES, data::RULES, semantics::RULES]
        .into_iter()
        .flatten()
        .copied()
        .chain(keys::KEYS.iter().filter_map(keys::KeyRow::own_rule))
        .collect()
}

/// The rule with this id, of the catalogue or of those that a scan of the data judges by.
#[must_use]
pub fn find(id: &str) -> Option<&'static Rule> {
    catalogue().into_iter().chain(scan::rules()).find(|rule| rule.id == id)
}

/// Which rules are looked at. All of them, unless some are switched off.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Checks {
    off: Vec<&'static str>,
}

impl Checks {
    /// Every rule.
    #[must_use]
    pub fn all() -> Self {
        Self::default()
    }

    /// All of these but one. A decode rule that is off has the stated fallback.
    #[must_use]
    pub fn without(mut self, rule: &Rule) -> Self {
        self.off.push(rule.id);
        self
    }

    /// Whether the rule is looked at.
    #[must_use]
    pub fn has(&self, rule: &Rule) -> bool {
        !self.off.contains(&rule.id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn ids_are_unique_and_dotted() {
        let rules: Vec<_> = catalogue().into_iter().chain(scan::rules()).collect();
        let ids: BTreeSet<_> = rules.iter().map(|rule| rule.id).collect();
        assert_eq!(ids.len(), rules.len(), "two rules share an id");
        for id in ids {
            assert!(id.contains('.'), "{id}");
            assert!(
                id.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b'_')),
                "{id} has a character outside [A-Za-z0-9._-]"
            );
        }
    }

    #[test]
    fn somebody_objects_to_every_broken_rule() {
        for rule in catalogue() {
            assert!(
                Profile::ALL.iter().any(|&p| matches!(rule.says(p), Some(Says::Refuses | Says::Aborts))),
                "{}: no profile refuses it, so no reader could be told wrong by it",
                rule.id
            );
        }
    }

    #[test]
    fn no_profile_judges_what_a_scan_notices() {
        for rule in scan::rules() {
            assert_eq!(rule.says, [Says::Silent; 3], "{}", rule.id);
            assert_eq!(find(rule.id), Some(rule));
        }
    }

    #[test]
    fn texts_are_sentences() {
        for rule in catalogue().into_iter().chain(scan::rules()) {
            for text in [rule.statement, rule.why, rule.fix] {
                assert!(text.ends_with('.'), "{}: {text:?}", rule.id);
            }
            assert!(!rule.source.is_empty(), "{}", rule.id);
        }
    }
}
