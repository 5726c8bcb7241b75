//! The fields of a file, how they are named in messages, and findings about them.

use std::fmt;
use std::ops::Range;

use crate::rules::{Rule, Severity};

/// A field of a file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Field {
    /// The four bytes at the start.
    Magic,
    /// The version.
    Version,
    /// The declared number of tensors.
    TensorCount,
    /// The declared number of pairs.
    KvCount,
    /// The end of the metadata, where a missing key would be.
    MetadataEnd,
    /// A part of the pair with this index.
    Kv(usize, KvPart),
    /// A part of the tensor info with this index.
    Tensor(usize, TensorPart),
    /// The bytes between the tensor table and the tensor data.
    Padding,
    /// The data of the tensor with this index.
    Data(usize),
    /// The padding after the data of the tensor with this index.
    DataPadding(usize),
    /// Bytes between tensors that are neither data nor padding.
    Gap,
    /// Bytes after everything the table speaks of.
    Trailing,
    /// Bytes that could not be decoded, after a fault.
    Unread,
}

/// A part of a pair.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum KvPart {
    /// The length of the key.
    KeyLen,
    /// The bytes of the key.
    Key,
    /// The type of the value.
    Type,
    /// A part of the value; the path leads through nested arrays to an element, and is empty for the
    /// value itself.
    Value(Vec<usize>, ValuePart),
}

/// A part of a value or of an element of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ValuePart {
    /// The value as a whole, or the bytes of a number, bool or string.
    Whole,
    /// The length of a string or an array.
    Len,
    /// The element type of an array.
    ElementType,
    /// The elements of an array of numbers or bools, end to end.
    Elements,
}

/// A part of a tensor info.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TensorPart {
    /// The length of the name.
    NameLen,
    /// The bytes of the name.
    Name,
    /// The declared number of dimensions.
    NDims,
    /// The dimension with this index.
    Dim(usize),
    /// The type.
    Type,
    /// The offset.
    Offset,
}

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Magic => f.write_str("magic"),
            Self::Version => f.write_str("version"),
            Self::TensorCount => f.write_str("tensor_count"),
            Self::KvCount => f.write_str("metadata_kv_count"),
            Self::MetadataEnd => f.write_str("metadata"),
            Self::Kv(i, part) => write!(f, "metadata[{i}].{part}"),
            Self::Tensor(i, part) => write!(f, "tensors[{i}].{part}"),
            Self::Padding => f.write_str("padding"),
            Self::Data(i) => write!(f, "data[{i}]"),
            Self::DataPadding(i) => write!(f, "data[{i}].padding"),
            Self::Gap => f.write_str("gap"),
            Self::Trailing => f.write_str("trailing"),
            Self::Unread => f.write_str("unread"),
        }
    }
}

impl fmt::Display for KvPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::KeyLen => f.write_str("key.len"),
            Self::Key => f.write_str("key"),
            Self::Type => f.write_str("type"),
            Self::Value(path, part) => {
                f.write_str("value")?;
                for index in path {
                    write!(f, "[{index}]")?;
                }
                f.write_str(match part {
                    ValuePart::Whole => "",
                    ValuePart::Len => ".len",
                    ValuePart::ElementType => ".type",
                    ValuePart::Elements => "[..]",
                })
            }
        }
    }
}

impl fmt::Display for TensorPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NameLen => f.write_str("name.len"),
            Self::Name => f.write_str("name"),
            Self::NDims => f.write_str("n_dims"),
            Self::Dim(i) => write!(f, "dims[{i}]"),
            Self::Type => f.write_str("type"),
            Self::Offset => f.write_str("offset"),
        }
    }
}

/// A rule that a file breaks, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The rule.
    pub rule: &'static Rule,
    /// The bytes concerned, from the start of the input; empty where something is missing.
    pub span: Range<u64>,
    /// The field they belong to.
    pub field: Field,
    /// What a right file would have there.
    pub expected: String,
    /// What this file has.
    pub actual: String,
}

impl Finding {
    /// The order of findings: stage, then offset, then rule; last the field, so that it is total.
    #[must_use]
    pub fn order(&self, other: &Self) -> std::cmp::Ordering {
        self.rule
            .stage
            .cmp(&other.rule.stage)
            .then(self.span.start.cmp(&other.span.start))
            .then(self.rule.cmp(other.rule))
            .then_with(|| self.field.cmp(&other.field))
    }

    /// How much it matters.
    #[must_use]
    pub fn severity(&self) -> Severity {
        self.rule.severity()
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} at byte {} ({}): expected {}, found {}",
            self.rule.id, self.span.start, self.field, self.expected, self.actual
        )
    }
}

/// Bytes as text for a message: printable ASCII as it is, everything else escaped, cut at 64 bytes.
#[must_use]
pub fn printable(bytes: &[u8]) -> String {
    const LONGEST: usize = 64;
    let shown: String =
        bytes.iter().take(LONGEST).flat_map(|&b| std::ascii::escape_default(b)).map(char::from).collect();
    if bytes.len() > LONGEST { format!("\"{shown}\"... ({} bytes)", bytes.len()) } else { format!("\"{shown}\"") }
}
