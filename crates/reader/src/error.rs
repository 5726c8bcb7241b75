//! Why a file was not read.

use std::fmt;
use std::ops::Range;

use gguf_spec::field::{Field, Finding};
use gguf_spec::profile::Outcome;
use gguf_spec::rules::{Rule, Says};

use crate::policy::Policy;

/// A file is refused: the first rule that counts and that it breaks.
///
/// Its `Display` names the place in the file, the field, the rule, what a right file has there, what
/// this one has, and what to do:
///
/// ```
/// let refused = assay_reader::read(b"GGML\0\0\0\0", assay_reader::Policy::strict()).unwrap_err();
/// assert_eq!(
///     refused.to_string(),
///     "byte 0, magic: expected \"GGUF\", found \"GGML\" (magic.bytes). \
///      Check that this is a GGUF file and that the download is complete."
/// );
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    finding: Box<Finding>,
    policy: Policy,
}

impl Refused {
    pub(crate) fn new(finding: Box<Finding>, policy: Policy) -> Self {
        Self { finding, policy }
    }

    /// The finding: rule, span, field, expected and actual.
    #[must_use]
    pub fn finding(&self) -> &Finding {
        &self.finding
    }

    /// The finding itself.
    #[must_use]
    pub fn into_finding(self) -> Finding {
        *self.finding
    }

    /// The rule that the file breaks.
    #[must_use]
    pub fn rule(&self) -> &'static Rule {
        self.finding.rule
    }

    /// The bytes concerned, from the start of the file; empty where something is missing.
    #[must_use]
    pub fn span(&self) -> Range<u64> {
        self.finding.span.clone()
    }

    /// The field that they belong to.
    #[must_use]
    pub fn field(&self) -> &Field {
        &self.finding.field
    }

    /// What the profile that was asked for does with such a file: it refuses it, or ends the process. If
    /// every rule counts, the answer is [`Outcome::Refuse`].
    ///
    /// [`Outcome::Accept`] means that the file goes beyond a limit of this reader that the profile does
    /// not have: arrays more than [`MAX_NESTING`](gguf_spec::limits::MAX_NESTING) deep. What lies behind
    /// them was not read.
    #[must_use]
    pub fn outcome(&self) -> Outcome {
        match self.policy.of().map(|profile| self.finding.rule.says(profile)) {
            None | Some(Some(Says::Refuses)) => Outcome::Refuse,
            Some(Some(Says::Aborts)) => Outcome::Abort,
            Some(Some(Says::Accepts | Says::Silent) | None) => Outcome::Accept,
        }
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Finding { rule, span, field, expected, actual } = &*self.finding;
        write!(f, "byte {}, {field}: expected {expected}, found {actual} ({}). {}", span.start, rule.id, rule.fix)
    }
}

impl std::error::Error for Refused {}

/// Why [`read_head`](crate::read_head) has no file to give.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Stop {
    /// The file is refused.
    #[error(transparent)]
    Refused(#[from] Refused),
    /// The header goes on behind the head.
    #[error("the header goes on: the first {at_least} bytes of the file are needed")]
    NeedMore {
        /// How many bytes of the file are needed at least to get further: more than the head has, and no
        /// more than the file has.
        at_least: u64,
    },
    /// The input did not give bytes that it said it has: it became shorter, or cannot be read.
    #[error("bytes {} to {} of the file cannot be read", .0.start, .0.end)]
    Unreadable(Range<u64>),
}

/// Why reading stops, inside the reader.
#[derive(Debug)]
pub(crate) enum Halt {
    /// This was found.
    Found(Box<Finding>),
    /// This many bytes of the file are needed.
    NeedMore(u64),
    /// These bytes could not be read.
    Unreadable(Range<u64>),
}

/// The first finding that counts, of those offered.
#[derive(Debug)]
pub(crate) struct First {
    policy: Policy,
    found: Option<Box<Finding>>,
}

impl First {
    pub(crate) fn new(policy: Policy) -> Self {
        Self { policy, found: None }
    }

    /// Whether it is worth looking whether this rule is broken.
    #[inline]
    pub(crate) fn wants(&self, rule: &Rule) -> bool {
        self.policy.counts(rule)
    }

    /// A broken rule: kept if it counts and comes before what was found so far. `texts` gives what is
    /// expected and what is there.
    #[inline]
    pub(crate) fn offer(
        &mut self,
        rule: &'static Rule,
        span: Range<u64>,
        field: impl FnOnce() -> Field,
        texts: impl FnOnce() -> (String, String),
    ) {
        if !self.wants(rule) {
            return;
        }
        // Texts cost allocations: they are made for what is kept alone.
        let mut finding = Finding { rule, span, field: field(), expected: String::new(), actual: String::new() };
        if self.found.as_ref().is_none_or(|found| finding.order(found).is_lt()) {
            (finding.expected, finding.actual) = texts();
            self.found = Some(Box::new(finding));
        }
    }

    #[inline]
    pub(crate) fn any(&self) -> bool {
        self.found.is_some()
    }

    /// The end of a stage, or of an entry of it.
    ///
    /// # Errors
    ///
    /// What was found.
    #[inline]
    pub(crate) fn settle(&mut self) -> Result<(), Halt> {
        self.found.take().map_or(Ok(()), |finding| Err(Halt::Found(finding)))
    }
}

/// A finding that ends reading whether or not it counts: what follows cannot be found.
pub(crate) fn end(
    rule: &'static Rule,
    span: Range<u64>,
    field: Field,
    expected: impl Into<String>,
    actual: impl Into<String>,
) -> Halt {
    Halt::Found(Box::new(Finding { rule, span, field, expected: expected.into(), actual: actual.into() }))
}
