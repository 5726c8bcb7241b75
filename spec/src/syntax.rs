//! The raw tree: every field of a file as it is stored, able to express broken files too.
//!
//! Nothing here is checked. Declared counts stand apart from what follows them, types are raw
//! numbers, strings are raw bytes, padding is explicit, and whatever comes last is `rest`. Numbers
//! inside values are kept as the bytes of the file, in the file's byte order, so that a NaN or a
//! bool of 2 survives. Source of the layout: `docs/gguf.md`, sections "File Structure" and
//! "Version History".

use std::borrow::Cow;

use arbitrary::Arbitrary;

/// The order of the bytes of every number in the file, tensor data included.
#[derive(Arbitrary, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ByteOrder {
    /// Least significant byte first: the default.
    #[default]
    Little,
    /// Most significant byte first.
    Big,
}

impl ByteOrder {
    /// `little` or `big`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Little => "little",
            Self::Big => "big",
        }
    }

    /// Up to eight bytes of this order as an unsigned number.
    #[must_use]
    pub fn number(self, bytes: &[u8]) -> u64 {
        let push = |n: u64, b: &u8| (n << 8) | u64::from(*b);
        match self {
            Self::Little => bytes.iter().rev().fold(0, push),
            Self::Big => bytes.iter().fold(0, push),
        }
    }

    /// The low `width` (at most 8) bytes of a number, in this order.
    #[must_use]
    pub fn bytes(self, number: u64, width: usize) -> Vec<u8> {
        match self {
            Self::Little => number.to_le_bytes()[..width].to_vec(),
            Self::Big => number.to_be_bytes()[8 - width..].to_vec(),
        }
    }
}

/// A whole file.
#[derive(Arbitrary, Clone, Debug, Default, PartialEq, Eq)]
pub struct Tree<'a> {
    /// The order in which the numbers below are written.
    pub byte_order: ByteOrder,
    /// Four bytes, `GGUF` in a right file.
    pub magic: [u8; 4],
    /// The version; 1 has 32-bit counts and lengths, all others have 64-bit ones.
    pub version: u32,
    /// Declared number of tensors.
    pub tensor_count: u64,
    /// Declared number of key-value pairs.
    pub kv_count: u64,
    /// The pairs that follow.
    pub metadata: Vec<Pair>,
    /// The tensor infos that follow.
    pub tensors: Vec<TensorInfo>,
    /// The bytes between the last tensor info and the tensor data.
    pub padding: Vec<u8>,
    /// Everything after: tensor data, padding between tensors, trailing bytes; after a field that
    /// could not be decoded, all bytes from that field on.
    pub rest: Cow<'a, [u8]>,
}

/// A string: its declared length and the bytes that follow.
#[derive(Arbitrary, Clone, Debug, Default, PartialEq, Eq)]
pub struct RawString {
    /// The declared length in bytes.
    pub len: u64,
    /// The bytes that follow.
    pub bytes: Vec<u8>,
}

impl RawString {
    /// A string whose declared length is true.
    #[must_use]
    pub fn new(bytes: impl Into<Vec<u8>>) -> Self {
        let bytes = bytes.into();
        Self { len: bytes.len() as u64, bytes }
    }
}

impl From<&str> for RawString {
    fn from(s: &str) -> Self {
        Self::new(s)
    }
}

/// A key-value pair.
#[derive(Arbitrary, Clone, Debug, Default, PartialEq, Eq)]
pub struct Pair {
    /// The key.
    pub key: RawString,
    /// The number that tells the type of the value.
    pub type_id: u32,
    /// The value.
    pub value: Value,
}

/// A value.
#[derive(Arbitrary, Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// A number or a bool: its bytes as stored.
    Fixed(Vec<u8>),
    /// A string.
    String(RawString),
    /// An array.
    Array(Array),
}

impl Default for Value {
    fn default() -> Self {
        Self::Fixed(Vec::new())
    }
}

/// An array: element type and declared length, then the elements.
#[derive(Arbitrary, Clone, Debug, Default, PartialEq, Eq)]
pub struct Array {
    /// The number that tells the type of the elements.
    pub type_id: u32,
    /// The declared number of elements.
    pub len: u64,
    /// The elements that follow.
    pub elements: Elements,
}

/// The elements of an array.
#[derive(Arbitrary, Clone, Debug, PartialEq, Eq)]
pub enum Elements {
    /// Numbers or bools, end to end, as stored.
    Fixed(Vec<u8>),
    /// Strings.
    Strings(Vec<RawString>),
    /// Arrays.
    Arrays(Vec<Array>),
}

impl Default for Elements {
    fn default() -> Self {
        Self::Fixed(Vec::new())
    }
}

/// The entry of one tensor in the tensor table.
#[derive(Arbitrary, Clone, Debug, Default, PartialEq, Eq)]
pub struct TensorInfo {
    /// The name.
    pub name: RawString,
    /// Declared number of dimensions.
    pub n_dims: u32,
    /// The dimensions that follow, in elements; the first is the length of a row.
    pub dims: Vec<u64>,
    /// The number that tells the tensor type.
    pub type_id: u32,
    /// Where the data starts, in bytes from the start of the tensor data.
    pub offset: u64,
}

impl Tree<'_> {
    /// Bytes of a count or length in this version: 4 in version 1, else 8.
    #[must_use]
    pub fn length_width(&self) -> usize {
        length_width(self.version)
    }

    /// The same tree, owning its bytes.
    #[must_use]
    pub fn into_owned(self) -> Tree<'static> {
        Tree {
            byte_order: self.byte_order,
            magic: self.magic,
            version: self.version,
            tensor_count: self.tensor_count,
            kv_count: self.kv_count,
            metadata: self.metadata,
            tensors: self.tensors,
            padding: self.padding,
            rest: Cow::Owned(self.rest.into_owned()),
        }
    }
}

/// Bytes of a count or length: 4 in version 1, else 8 (document, "Version History", v2).
#[must_use]
pub fn length_width(version: u32) -> usize {
    if version == 1 { 4 } else { 8 }
}
