//! Which rules make the reader refuse a file.

use gguf_spec::profile::{KeyLookup, Profile};
use gguf_spec::rules::{Rule, Says, Stage};

/// Whose rules count, and how far the file is read.
///
/// ```
/// use assay_reader::Policy;
/// use gguf_spec::profile::Profile;
/// use gguf_spec::rules::Stage;
///
/// let whatever_ggml_loads = Policy::profile(Profile::GgmlData);
/// let header_alone = Policy::strict().until(Stage::Layout);
/// assert_ne!(whatever_ggml_loads, header_alone);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Policy {
    /// `None`: every rule counts.
    profile: Option<Profile>,
    until: Stage,
}

impl Policy {
    /// Every rule of the catalogue counts, whoever states it; keys are looked up by all their bytes.
    ///
    /// Files that pass are read alike by every reader that follows any of the profiles.
    #[must_use]
    pub const fn strict() -> Self {
        Self { profile: None, until: Stage::Semantics }
    }

    /// The rules count that make this profile refuse a file or end the process; keys are looked up as
    /// it does, and the file is read as far as it judges.
    #[must_use]
    pub fn profile(profile: Profile) -> Self {
        Self { profile: Some(profile), until: profile.last_stage() }
    }

    /// The same, but reading ends after this stage: what lies behind it is neither read nor judged, and
    /// is empty in the [`File`](crate::File).
    ///
    /// [`Stage::Layout`] judges a header alone, whether or not the tensor data is there.
    #[must_use]
    pub const fn until(mut self, stage: Stage) -> Self {
        if (stage as u8) < self.until as u8 {
            self.until = stage;
        }
        self
    }

    /// Whether a file that breaks this rule is refused.
    #[must_use]
    #[inline]
    pub fn counts(&self, rule: &Rule) -> bool {
        rule.stage <= self.until
            && self.profile.is_none_or(|profile| matches!(rule.says(profile), Some(Says::Refuses | Says::Aborts)))
    }

    /// Whether the file is read as far as this stage.
    #[inline]
    pub(crate) fn reaches(&self, stage: Stage) -> bool {
        stage <= self.until
    }

    /// How keys are looked up.
    pub(crate) fn lookup(&self) -> KeyLookup {
        self.profile.map_or(KeyLookup::Exact, Profile::lookup)
    }

    /// The profile, unless every rule counts.
    #[must_use]
    pub fn of(&self) -> Option<Profile> {
        self.profile
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gguf_spec::rules::{data, header, metadata};

    #[test]
    fn a_rule_counts_for_whom_it_concerns_and_as_far_as_is_read() {
        assert!(Policy::strict().counts(&metadata::KEY_ASCII));
        assert!(Policy::strict().counts(&data::EXTENT));
        assert!(!Policy::strict().until(Stage::Layout).counts(&data::EXTENT));
        assert!(!Policy::profile(Profile::GgmlHeader).counts(&metadata::KEY_ASCII));
        assert!(!Policy::profile(Profile::GgmlHeader).until(Stage::Semantics).counts(&data::EXTENT));
        assert!(Policy::profile(Profile::GgmlData).counts(&data::MEMORY));
        assert!(!Policy::profile(Profile::Document).counts(&header::BYTE_ORDER));
    }
}
