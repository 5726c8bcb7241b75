//! What a right kernel may do: the forms in which it holds its operands, what it adds up in, what it may
//! read, and what it promises beyond its bounds.
//!
//! A contract is stated by whoever brings the kernels, for an operation, a type and a number of columns. The
//! bounds a kernel is held to are derived from it; what it does not state it may not do.

use std::fmt;

use crate::types::TensorType;

/// A form in which a kernel holds an operand when it multiplies.
///
/// The relative errors are those of rounding to nearest: half a unit in the last place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Form {
    /// As it is: the exact value of a stored weight; IEEE 754 binary32 for activations.
    Exact,
    /// IEEE 754 binary16.
    F16,
    /// The upper half of a binary32.
    Bf16,
    /// Blocks of 32: an `f16` scale and 8-bit codes.
    Q8_0,
    /// Blocks of 32: an `f16` scale, 8-bit codes, and an `f16` sum of the codes times the scale.
    Q8_1,
    /// Blocks of 256: an `f32` scale, 8-bit codes, and sums of 16 codes each.
    Q8K,
}

/// One row of the table of forms.
#[derive(Clone, Copy, Debug)]
pub struct FormRow {
    /// The form.
    pub form: Form,
    /// The name in tables and records.
    pub name: &'static str,
    /// The number in the C interface.
    pub id: u32,
    /// The relative error of a value in the normal range, in units of 2^-24; 0 for forms that scale by blocks.
    pub relative: u32,
    /// The tensor type of its blocks.
    pub blocks: Option<&'static str>,
}

/// The forms, in the order of their ids.
pub const FORMS: [FormRow; 6] = {
    const fn row(form: Form, name: &'static str, id: u32, relative: u32, blocks: Option<&'static str>) -> FormRow {
        FormRow { form, name, id, relative, blocks }
    }
    [
        row(Form::Exact, "exact", 0, 0, None),
        row(Form::F16, "f16", 1, 1 << 13, None),   // 2^-11
        row(Form::Bf16, "bf16", 2, 1 << 16, None), // 2^-8
        row(Form::Q8_0, "q8_0", 3, 0, Some("Q8_0")),
        row(Form::Q8_1, "q8_1", 4, 0, Some("Q8_1")),
        row(Form::Q8K, "q8_k", 5, 0, Some("Q8_K")),
    ]
};

impl Form {
    fn row(self) -> &'static FormRow {
        // The table is in the order of the enum; a unit test holds it to that.
        &FORMS[self as usize]
    }

    /// The name in tables and records.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// The number in the C interface.
    #[must_use]
    pub fn id(self) -> u32 {
        self.row().id
    }

    /// The form of this number.
    #[must_use]
    pub fn from_id(id: u32) -> Option<Self> {
        FORMS.iter().find(|row| row.id == id).map(|row| row.form)
    }

    /// The relative error of a value in the normal range of the form; 0 for those that scale by blocks.
    #[must_use]
    pub fn relative_error(self) -> f64 {
        f64::from(self.row().relative) * 2f64.powi(-24)
    }

    /// The tensor type of its blocks, for forms that scale by blocks.
    #[must_use]
    pub fn blocks(self) -> Option<&'static TensorType> {
        self.row().blocks.and_then(TensorType::from_name)
    }
}

/// What products are added up in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Accumulator {
    /// IEEE 754 binary32 (integers inside a block are exact and need no word).
    F32,
    /// IEEE 754 binary16, over at most `chunk` products, and binary32 beyond.
    F16 {
        /// The most products added in binary16.
        chunk: u32,
    },
    /// IEEE 754 binary64, rounded to binary32 at the end.
    F64,
}

/// In words: `f16 sums of 32`.
impl fmt::Display for Accumulator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::F32 => f.write_str("f32 sums"),
            Self::F16 { chunk } => write!(f, "f16 sums of {chunk}"),
            Self::F64 => f.write_str("f64 sums"),
        }
    }
}

impl Accumulator {
    /// The unit roundoff of one addition.
    #[must_use]
    pub fn unit(self) -> f64 {
        match self {
            Self::F32 => 2f64.powi(-24),
            Self::F16 { .. } => 2f64.powi(-11),
            Self::F64 => 2f64.powi(-53),
        }
    }
}

/// What a kernel promises beyond its bounds. Right kernels break each of these, so each is tested where it is
/// promised, and only told where it is not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Promises {
    /// A column has the same bits alone as among others.
    pub batch_invariant: bool,
    /// Rows have the same bits whether they are computed together or in parts, and with any number of threads.
    pub split_invariant: bool,
    /// The same call has the same bits again.
    pub repeatable: bool,
}

/// The names of promises in the C interface.
pub mod promise {
    /// [`Promises::batch_invariant`](super::Promises::batch_invariant).
    pub const BATCH_INVARIANT: &str = "ASSAY_BATCH_INVARIANT";
    /// [`Promises::split_invariant`](super::Promises::split_invariant).
    pub const SPLIT_INVARIANT: &str = "ASSAY_SPLIT_INVARIANT";
    /// [`Promises::repeatable`](super::Promises::repeatable).
    pub const REPEATABLE: &str = "ASSAY_REPEATABLE";
}

impl Promises {
    /// The names of those that are made, in the C interface.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        let all = [
            (self.batch_invariant, promise::BATCH_INVARIANT),
            (self.split_invariant, promise::SPLIT_INVARIANT),
            (self.repeatable, promise::REPEATABLE),
        ];
        all.into_iter().filter(|(made, _)| *made).map(|(_, name)| name)
    }
}

/// What a right kernel may do, for one operation, one type and the numbers of columns it was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Contract {
    /// The form in which weights are multiplied.
    pub weights: Form,
    /// The form in which activations are multiplied.
    pub activations: Form,
    /// What products are added up in.
    pub accumulator: Accumulator,
    /// Bytes that may be read past the end of the weights, and of each other operand.
    pub reads_past: usize,
    /// Whether subnormal operands or results may become zero.
    pub flushes_subnormals: bool,
    /// What it promises beyond its bounds.
    pub promises: Promises,
}

impl Contract {
    /// Exact weights and activations, added up in binary32; nothing read past the end, nothing flushed, nothing
    /// promised.
    pub const F32: Self = Self {
        weights: Form::Exact,
        activations: Form::Exact,
        accumulator: Accumulator::F32,
        reads_past: 0,
        flushes_subnormals: false,
        promises: Promises { batch_invariant: false, split_invariant: false, repeatable: false },
    };

    /// The same with activations in another form.
    #[must_use]
    pub const fn with_activations(self, activations: Form) -> Self {
        Self { activations, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_of_forms_is_in_order() {
        for (i, row) in FORMS.iter().enumerate() {
            assert_eq!(row.form as usize, i);
            assert_eq!(row.id as usize, i);
            assert_eq!(Form::from_id(row.id), Some(row.form));
            assert_eq!(row.form.blocks().is_some(), row.blocks.is_some(), "{}", row.name);
        }
    }

    #[test]
    fn relative_errors_are_half_a_unit_in_the_last_place() {
        assert_eq!(Form::F16.relative_error().to_bits(), 2f64.powi(-11).to_bits());
        assert_eq!(Form::Bf16.relative_error().to_bits(), 2f64.powi(-8).to_bits());
    }
}
