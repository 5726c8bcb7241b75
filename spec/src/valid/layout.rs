//! Where the tensor data starts, where each tensor lies, and the rules about that.

use super::{Context, Report, data, tensors};
use crate::binary::Places;
use crate::field::{Field, TensorPart};
use crate::limits::DEFAULT_ALIGNMENT;
use crate::profile::KeyLookup;
use crate::rules::layout;
use crate::syntax::{Pair, Tree, Value};
use crate::types::ValueType;

/// The pair that states the alignment, with its index: the first whose key is found.
#[must_use]
pub(crate) fn alignment_pair<'t>(tree: &'t Tree<'_>, lookup: KeyLookup) -> Option<(usize, &'t Pair)> {
    tree.metadata.iter().enumerate().find(|(_, pair)| lookup.matches(&pair.key.bytes, "general.alignment"))
}

/// The alignment in force, in bytes, never 0: the stated one, or 32 where none is stated, or one of
/// another type than u32, or 0.
#[must_use]
pub fn alignment(tree: &Tree<'_>, lookup: KeyLookup) -> u64 {
    match alignment_pair(tree, lookup) {
        Some((_, Pair { type_id, value: Value::Fixed(bytes), .. }))
            if ValueType::from_id(*type_id) == Some(ValueType::U32) && bytes.len() == 4 =>
        {
            match tree.byte_order.number(bytes) {
                0 => DEFAULT_ALIGNMENT,
                stated => stated,
            }
        }
        _ => DEFAULT_ALIGNMENT,
    }
}

/// `size` rounded up to a multiple of `alignment`, which is not 0.
#[must_use]
pub fn pad(size: u128, alignment: u64) -> u128 {
    let alignment = u128::from(alignment.max(1));
    size.div_ceil(alignment).saturating_mul(alignment)
}

/// Where the tensor data lies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataLayout {
    /// The alignment in force, in bytes.
    pub alignment: u64,
    /// Where the tensor data starts, from the start of the input; may lie behind its end.
    pub start: u64,
    /// Where each tensor lies, in table order.
    pub tensors: Vec<Placed>,
}

/// Where one tensor lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placed {
    /// The index in the table.
    pub index: usize,
    /// Where its data starts, from the start of the input.
    pub start: u128,
    /// The size of its data in bytes; `None` if its type has no layout or its shape no 64-bit size.
    pub size: Option<u128>,
}

impl DataLayout {
    /// The layout of a tree whose tensor table was read to its end.
    #[must_use]
    pub fn of(tree: &Tree<'_>, places: &Places, lookup: KeyLookup) -> Self {
        let alignment = alignment(tree, lookup);
        let header = u128::from(places.table_end - places.base);
        let start = u128::from(places.base) + pad(header, alignment);
        let tensors = tree
            .tensors
            .iter()
            .enumerate()
            .map(|(index, tensor)| Placed {
                index,
                start: start + u128::from(tensor.offset),
                size: tensors::representable_size(tensor),
            })
            .collect();
        Self { alignment, start: u64::try_from(start).unwrap_or(u64::MAX), tensors }
    }

    /// A size rounded up to the alignment.
    #[must_use]
    pub fn pad(&self, size: u128) -> u128 {
        pad(size, self.alignment)
    }

    /// The sum of the padded sizes as ggml adds them up: a rounded size that does not fit 64 bits
    /// counts as 0, and the sum as a whole may be too large for 64 bits.
    #[must_use]
    pub fn total(&self) -> u128 {
        self.tensors.iter().fold(0, |total, tensor| total + self.padded(tensor))
    }

    fn padded(&self, tensor: &Placed) -> u128 {
        let padded = self.pad(tensor.size.unwrap_or(0));
        if padded > u128::from(u64::MAX) { 0 } else { padded }
    }
}

/// What the layout of the tensors allows to be said about their data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Soundness {
    /// The tensors lie one after another: sums over their sizes mean something.
    Contiguous,
    /// Each tensor can be looked at, but not their sum.
    Scattered,
    /// No file can hold the tensors.
    Impossible,
}

/// Checks the layout.
pub(super) fn check(context: &Context<'_, '_>, layout: &DataLayout, report: &mut Report<'_>) -> Soundness {
    let tree = context.tree;
    let max = u128::from(u64::MAX);
    let mut sound = Soundness::Contiguous;
    // Where ggml expects the next tensor; unknown after one without a size.
    let mut expected = Some(0u128);
    for (i, (tensor, placed)) in tree.tensors.iter().zip(&layout.tensors).enumerate() {
        let place = |part| (context.places.tensor_part(tree, i, part), Field::Tensor(i, part));
        let offset = u128::from(tensor.offset);
        if tensor.offset % layout.alignment != 0 {
            let (span, field) = place(TensorPart::Offset);
            let wanted = format!("a multiple of {}", layout.alignment);
            report.add(&layout::OFFSET_ALIGNED, span, field, wanted, offset.to_string());
            sound = sound.max(Soundness::Scattered);
        } else if let Some(expected) = expected.filter(|&e| e != offset) {
            let (span, field) = place(TensorPart::Offset);
            report.add(&layout::OFFSET_CONTIGUOUS, span, field, expected.to_string(), offset.to_string());
            sound = sound.max(Soundness::Scattered);
        }
        let Some(size) = placed.size else {
            expected = None;
            sound = sound.max(Soundness::Scattered);
            continue;
        };
        if layout.pad(size) > max {
            let (span, field) = place(TensorPart::Type);
            let wanted = format!("a size that can be rounded up to {} in 64 bits", layout.alignment);
            report.add(&layout::PADDING_WRAPS, span, field, wanted, format!("{size} bytes"));
        } else if let Some(total) = expected {
            let total = total + layout.pad(size);
            expected = Some(total);
            if total > max {
                let (span, field) = place(TensorPart::Type);
                report.add(&layout::TOTAL_RANGE, span, field, "a total under 2^64 bytes", format!("{total} bytes"));
                expected = None;
                sound = Soundness::Impossible;
            }
        }
    }

    let end = context.input.len();
    let table_end = context.places.table_end;
    if !tree.tensors.is_empty() && layout.start > end {
        let wanted = format!("the tensor data at byte {}", layout.start);
        let actual = format!("the end of the file at byte {end}");
        report.add(&layout::DATA_START, table_end..end.max(table_end), Field::Padding, wanted, actual);
    } else if let Some(at) = data::first_non_zero(context.input, table_end..layout.start.min(end)) {
        report.add(&layout::PADDING_ZERO, at..at + 1, Field::Padding, "zero bytes", "another byte");
    }
    sound
}
