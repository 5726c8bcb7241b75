//! What of a document an adapter does not show, because its library does not.

use std::collections::BTreeSet;

/// A word in `omits`: something that a library hides from everybody who uses it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Omit {
    /// The member `version` is missing.
    Version,
    /// The member `byte_order` is missing.
    ByteOrder,
    /// The member `alignment` is missing.
    Alignment,
    /// The member `data_offset` is missing.
    DataOffset,
    /// The metadata is missing.
    Metadata,
    /// The metadata comes in another order, so that pairs are found by their keys.
    MetadataOrder,
    /// Of pairs with the same key one is kept.
    MetadataDuplicates,
    /// The types of values are lost.
    MetadataType,
    /// Arrays of arrays are not shown.
    MetadataNested,
    /// Floats have no bits.
    MetadataBits,
    /// The bytes of bools are not shown.
    MetadataByte,
    /// Strings end at their first NUL.
    TextAfterNul,
    /// The tensors are missing.
    Tensors,
    /// The tensors come in another order, so that they are found by their names.
    TensorsOrder,
    /// Of tensors with the same name one is kept.
    TensorsDuplicates,
    /// The types of tensors are missing.
    TensorsType,
    /// The shapes are missing.
    TensorsNe,
    /// Shapes have dimensions of 1 at their end, or have lost them.
    TensorsNePadded,
    /// The offsets are missing.
    TensorsOffset,
}

/// The words, and what each means, in the order of the documentation.
pub const OMITS: [(Omit, &str, &str); 19] = [
    (Omit::Version, "version", "The member `version` is missing."),
    (Omit::ByteOrder, "byte_order", "The member `byte_order` is missing."),
    (Omit::Alignment, "alignment", "The member `alignment` is missing."),
    (Omit::DataOffset, "data_offset", "The member `data_offset` is missing."),
    (Omit::Metadata, "metadata", "The whole list is missing."),
    (Omit::MetadataOrder, "metadata.order", "The library has a map: pairs are found by their keys."),
    (
        Omit::MetadataDuplicates,
        "metadata.duplicates",
        "Of pairs with the same key the library keeps one; any of them is right.",
    ),
    (
        Omit::MetadataType,
        "metadata.type",
        "Value types are lost: numbers are compared as numbers, arrays element by element.",
    ),
    (Omit::MetadataNested, "metadata.nested", "Arrays of arrays are not shown."),
    (
        Omit::MetadataBits,
        "metadata.bits",
        "Floats have no bits: the number is compared after it is rounded to the stored type; NaN equals NaN.",
    ),
    (Omit::MetadataByte, "metadata.byte", "The byte of a bool is not shown: true and false are compared."),
    (Omit::TextAfterNul, "text.after-nul", "Strings end at their first NUL."),
    (Omit::Tensors, "tensors", "The whole list is missing."),
    (Omit::TensorsOrder, "tensors.order", "The library has a map: tensors are found by their names."),
    (
        Omit::TensorsDuplicates,
        "tensors.duplicates",
        "Of tensors with the same name the library keeps one; any of them is right.",
    ),
    (Omit::TensorsType, "tensors.type", "The members `type` and `type_id` are missing."),
    (Omit::TensorsNe, "tensors.ne", "The member `ne` is missing."),
    (Omit::TensorsNePadded, "tensors.ne.padded", "Dimensions of 1 at the end are added or removed."),
    (Omit::TensorsOffset, "tensors.offset", "The member `offset` is missing."),
];

/// What an adapter does not show: words, and places of one document.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Omits {
    words: BTreeSet<Omit>,
    paths: BTreeSet<String>,
}

impl Omits {
    /// Reads a list of words and paths, such as `metadata.order` and `metadata[3].value`.
    ///
    /// # Errors
    ///
    /// The entry that is neither.
    pub fn read(list: &[String]) -> Result<Self, String> {
        let mut omits = Self::default();
        for entry in list {
            if let Some((omit, ..)) = OMITS.iter().find(|(_, word, _)| word == entry) {
                omits.words.insert(*omit);
            } else if is_path(entry) {
                omits.paths.insert(entry.clone());
            } else {
                return Err(format!(
                    "`omits` has {entry:?}, which is neither one of its words nor a place such as `metadata[3].value` \
                     or `tensors[0].offset`"
                ));
            }
        }
        Ok(omits)
    }

    /// These and those.
    #[must_use]
    pub fn and(&self, other: &Self) -> Self {
        Self {
            words: self.words.union(&other.words).copied().collect(),
            paths: self.paths.union(&other.paths).cloned().collect(),
        }
    }

    /// Whether something is declared to be hidden.
    #[must_use]
    pub fn has(&self, omit: Omit) -> bool {
        self.words.contains(&omit)
    }

    /// Whether the place is declared to be hidden.
    #[must_use]
    pub fn has_path(&self, path: &str) -> bool {
        self.paths.contains(path)
    }

    /// Whether any single place is declared to be hidden.
    #[must_use]
    pub fn has_paths(&self) -> bool {
        !self.paths.is_empty()
    }
}

/// `metadata[I]`, `metadata[I].{type,value}`, `tensors[I]` or `tensors[I].{type,ne,offset}`.
fn is_path(text: &str) -> bool {
    let parts = |list: &str, members: &[&str]| {
        let Some((index, member)) = text.strip_prefix(list).and_then(|rest| rest.split_once(']')) else { return false };
        let number = !index.is_empty() && index.bytes().all(|b| b.is_ascii_digit());
        number && (member.is_empty() || member.strip_prefix('.').is_some_and(|member| members.contains(&member)))
    };
    parts("metadata[", &["type", "value"]) || parts("tensors[", &["type", "ne", "offset"])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(entry: &str) -> Result<Omits, String> {
        Omits::read(&[entry.to_owned()])
    }

    #[test]
    fn the_page_of_the_protocol_explains_every_word_in_the_same_words() {
        let page = include_str!("../../../../docs/adapter-protocol.md");
        for (_, word, meaning) in OMITS {
            let row = format!("\n| `{word}` | {meaning} |\n");
            assert!(page.contains(&row), "docs/adapter-protocol.md lacks {row}");
        }
    }

    #[test]
    fn every_word_is_read_and_nothing_else() {
        for (omit, word, _) in OMITS {
            assert!(read(word).is_ok_and(|omits| omits.has(omit)), "{word}");
        }
        for path in ["metadata[3].value", "metadata[0].type", "metadata[12]", "tensors[0].offset", "tensors[1].ne"] {
            assert!(read(path).is_ok_and(|omits| omits.has_path(path) && omits.has_paths()), "{path}");
        }
        for wrong in
            ["", "Metadata", "metadata[]", "metadata[x].value", "metadata[1].key", "tensors[0].name", "tensors[-1]"]
        {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
