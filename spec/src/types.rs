//! The two type tables of the format: the 13 value types of metadata and the tensor types 0..=42.
//!
//! Sources: `docs/gguf.md` of the ggml repository (`gguf_metadata_value_type`, `ggml_type`) for ids
//! 0..=39; `ggml_type_name`, `ggml_blck_size` and `ggml_type_size` of the ggml 0.25.1 binary for
//! every id, sizes and the ids 40..=42. What is in a block is told by [`quant`](crate::quant).

use std::fmt;

use crate::quant::Format;
use crate::quant::formats::{
    iq1_m, iq1_s, iq2_s, iq2_xs, iq2_xxs, iq3_s, iq3_xxs, iq4_nl, iq4_xs, mxfp4, nvfp4, plain, q1_0, q2_0, q2_k, q3_k,
    q4_0, q4_1, q4_k, q5_0, q5_1, q5_k, q6_k, q8_0, q8_1, q8_k, tq1_0, tq2_0,
};

/// The type of a metadata value, as stored in the file (an unsigned 32-bit integer).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ValueType {
    /// Unsigned 8-bit integer.
    U8,
    /// Signed 8-bit integer.
    I8,
    /// Unsigned 16-bit integer.
    U16,
    /// Signed 16-bit integer.
    I16,
    /// Unsigned 32-bit integer.
    U32,
    /// Signed 32-bit integer.
    I32,
    /// IEEE 754 binary32.
    F32,
    /// One byte, 0 or 1.
    Bool,
    /// A length and that many bytes.
    String,
    /// An element type, a count and that many elements.
    Array,
    /// Unsigned 64-bit integer.
    U64,
    /// Signed 64-bit integer.
    I64,
    /// IEEE 754 binary64.
    F64,
}

/// One row of the table of value types.
#[derive(Clone, Copy, Debug)]
pub struct ValueTypeRow {
    /// The type.
    pub ty: ValueType,
    /// The number stored in the file.
    pub id: u32,
    /// The short name used in documents, messages and the command line.
    pub name: &'static str,
    /// Size in bytes, for types of a fixed size.
    pub size: Option<usize>,
}

/// The 13 value types, in the order of their ids.
pub const VALUE_TYPES: [ValueTypeRow; 13] = {
    const fn row(ty: ValueType, id: u32, name: &'static str, size: Option<usize>) -> ValueTypeRow {
        ValueTypeRow { ty, id, name, size }
    }
    [
        row(ValueType::U8, 0, "u8", Some(1)),
        row(ValueType::I8, 1, "i8", Some(1)),
        row(ValueType::U16, 2, "u16", Some(2)),
        row(ValueType::I16, 3, "i16", Some(2)),
        row(ValueType::U32, 4, "u32", Some(4)),
        row(ValueType::I32, 5, "i32", Some(4)),
        row(ValueType::F32, 6, "f32", Some(4)),
        row(ValueType::Bool, 7, "bool", Some(1)),
        row(ValueType::String, 8, "string", None),
        row(ValueType::Array, 9, "array", None),
        row(ValueType::U64, 10, "u64", Some(8)),
        row(ValueType::I64, 11, "i64", Some(8)),
        row(ValueType::F64, 12, "f64", Some(8)),
    ]
};

impl ValueType {
    /// The type with this number, or `None` if the number is not assigned.
    #[must_use]
    #[inline]
    pub fn from_id(id: u32) -> Option<Self> {
        // The table is in the order of the numbers; a unit test holds it to that.
        VALUE_TYPES.get(usize::try_from(id).ok()?).map(|row| row.ty)
    }

    /// The type with this short name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        VALUE_TYPES.iter().find(|row| row.name == name).map(|row| row.ty)
    }

    fn row(self) -> &'static ValueTypeRow {
        // The table is in the order of the enum; a unit test holds it to that.
        &VALUE_TYPES[self as usize]
    }

    /// The number stored in the file.
    #[must_use]
    pub fn id(self) -> u32 {
        self.row().id
    }

    /// The short name.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// Size in bytes; `None` for strings and arrays.
    #[must_use]
    pub fn size(self) -> Option<usize> {
        self.row().size
    }
}

impl fmt::Display for ValueType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Whether a tensor type can be used today.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TypeStatus {
    /// In the format document and in ggml.
    Live,
    /// In ggml 0.25.1 but not in the format document, which ends at 39.
    Newer,
    /// Once assigned; support was removed and no block layout is defined any more.
    Removed,
}

/// How a field of a block that scales its weights is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScaleKind {
    /// IEEE 754 binary16.
    F16,
    /// IEEE 754 binary32.
    F32,
    /// Eight exponent bits, no sign, no mantissa (`MXFP4`).
    E8M0,
    /// Unsigned: four exponent bits, three mantissa bits (`NVFP4`).
    Ue4M3,
    /// A binary16 spread over the top nibbles of four 16-bit words (`IQ1_M`).
    SplitF16,
}

/// One scale field of a block: `count` values of `kind` starting `offset` bytes into the block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScaleField {
    /// The field's name in `ggml-common.h`.
    pub name: &'static str,
    /// Bytes from the start of the block.
    pub offset: usize,
    /// How many of them.
    pub count: usize,
    /// How each is stored.
    pub kind: ScaleKind,
}

/// One row of the table of tensor types.
#[derive(Clone, Copy, Debug)]
pub struct TensorType {
    /// The number stored in the file.
    pub id: u32,
    /// The name used by the format document, without the `GGML_TYPE_` prefix.
    pub name: &'static str,
    /// Weights per block (1 for plain numbers, 0 for removed types).
    pub block: u64,
    /// Bytes per block (0 for removed types).
    pub bytes: u64,
    /// Whether it can be used.
    pub status: TypeStatus,
    /// Whether the document's `general.quantization_version` applies: a block format, not a plain number.
    pub quantized: bool,
    /// What is in a block; `None` for removed types.
    pub format: Option<&'static Format>,
}

/// The tensor types 0..=42, in the order of their ids.
pub const TENSOR_TYPES: [TensorType; 43] = {
    use TypeStatus::{Live, Newer, Removed};

    const fn plain(id: u32, name: &'static str, bytes: u64, format: &'static Format) -> TensorType {
        TensorType { id, name, block: 1, bytes, status: Live, quantized: false, format: Some(format) }
    }
    const fn gone(id: u32, name: &'static str) -> TensorType {
        TensorType { id, name, block: 0, bytes: 0, status: Removed, quantized: true, format: None }
    }
    const fn quant(
        id: u32,
        name: &'static str,
        block: u64,
        bytes: u64,
        status: TypeStatus,
        format: &'static Format,
    ) -> TensorType {
        TensorType { id, name, block, bytes, status, quantized: true, format: Some(format) }
    }

    [
        plain(0, "F32", 4, &plain::F32),
        plain(1, "F16", 2, &plain::F16),
        quant(2, "Q4_0", 32, 18, Live, &q4_0::FORMAT),
        quant(3, "Q4_1", 32, 20, Live, &q4_1::FORMAT),
        gone(4, "Q4_2"),
        gone(5, "Q4_3"),
        quant(6, "Q5_0", 32, 22, Live, &q5_0::FORMAT),
        quant(7, "Q5_1", 32, 24, Live, &q5_1::FORMAT),
        quant(8, "Q8_0", 32, 34, Live, &q8_0::FORMAT),
        quant(9, "Q8_1", 32, 36, Live, &q8_1::FORMAT),
        quant(10, "Q2_K", 256, 84, Live, &q2_k::FORMAT),
        quant(11, "Q3_K", 256, 110, Live, &q3_k::FORMAT),
        quant(12, "Q4_K", 256, 144, Live, &q4_k::FORMAT),
        quant(13, "Q5_K", 256, 176, Live, &q5_k::FORMAT),
        quant(14, "Q6_K", 256, 210, Live, &q6_k::FORMAT),
        quant(15, "Q8_K", 256, 292, Live, &q8_k::FORMAT),
        quant(16, "IQ2_XXS", 256, 66, Live, &iq2_xxs::FORMAT),
        quant(17, "IQ2_XS", 256, 74, Live, &iq2_xs::FORMAT),
        quant(18, "IQ3_XXS", 256, 98, Live, &iq3_xxs::FORMAT),
        quant(19, "IQ1_S", 256, 50, Live, &iq1_s::FORMAT),
        quant(20, "IQ4_NL", 32, 18, Live, &iq4_nl::FORMAT),
        quant(21, "IQ3_S", 256, 110, Live, &iq3_s::FORMAT),
        quant(22, "IQ2_S", 256, 82, Live, &iq2_s::FORMAT),
        quant(23, "IQ4_XS", 256, 136, Live, &iq4_xs::FORMAT),
        plain(24, "I8", 1, &plain::I8),
        plain(25, "I16", 2, &plain::I16),
        plain(26, "I32", 4, &plain::I32),
        plain(27, "I64", 8, &plain::I64),
        plain(28, "F64", 8, &plain::F64),
        quant(29, "IQ1_M", 256, 56, Live, &iq1_m::FORMAT),
        plain(30, "BF16", 2, &plain::BF16),
        gone(31, "Q4_0_4_4"),
        gone(32, "Q4_0_4_8"),
        gone(33, "Q4_0_8_8"),
        quant(34, "TQ1_0", 256, 54, Live, &tq1_0::FORMAT),
        quant(35, "TQ2_0", 256, 66, Live, &tq2_0::FORMAT),
        gone(36, "IQ4_NL_4_4"),
        gone(37, "IQ4_NL_4_8"),
        gone(38, "IQ4_NL_8_8"),
        quant(39, "MXFP4", 32, 17, Live, &mxfp4::FORMAT),
        quant(40, "NVFP4", 64, 36, Newer, &nvfp4::FORMAT),
        quant(41, "Q1_0", 128, 18, Newer, &q1_0::FORMAT),
        quant(42, "Q2_0", 64, 18, Newer, &q2_0::FORMAT),
    ]
};

impl TensorType {
    /// The row with this id; `None` if the id was never assigned (43 and up).
    #[must_use]
    #[inline]
    pub fn from_id(id: u32) -> Option<&'static Self> {
        TENSOR_TYPES.get(usize::try_from(id).ok()?)
    }

    /// The row with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<&'static Self> {
        TENSOR_TYPES.iter().find(|row| row.name.eq_ignore_ascii_case(name))
    }

    /// Whether a block layout is defined, so that a tensor of this type can hold data.
    #[must_use]
    pub fn has_layout(&self) -> bool {
        self.status != TypeStatus::Removed
    }

    /// The stored floating-point scales of one block, in file order; none in plain types. Integer
    /// sub-scales are not among them.
    pub fn scales(&self) -> impl Iterator<Item = ScaleField> {
        self.format.into_iter().flat_map(Format::scales)
    }

    /// The types that have a block layout, in the order of their ids.
    pub fn live() -> impl Iterator<Item = &'static Self> {
        TENSOR_TYPES.iter().filter(|row| row.has_layout())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_in_the_order_of_their_ids() {
        for (i, row) in VALUE_TYPES.iter().enumerate() {
            assert_eq!(row.id as usize, i);
            assert_eq!(row.ty as usize, i);
            assert_eq!(ValueType::from_id(row.id), Some(row.ty));
            assert_eq!(ValueType::from_name(row.name), Some(row.ty));
        }
        for (i, row) in TENSOR_TYPES.iter().enumerate() {
            assert_eq!(row.id as usize, i);
        }
    }

    #[test]
    fn block_formats_have_scales_and_removed_types_nothing() {
        for row in &TENSOR_TYPES {
            assert_eq!(row.format.is_some(), row.has_layout(), "{}", row.name);
            assert_eq!(row.quantized && row.has_layout(), row.scales().next().is_some(), "{}", row.name);
        }
    }
}
