//! The rules about the tensor data.

use std::ops::Range;

use super::layout::{DataLayout, Placed, Soundness};
use super::{Context, Input, Report};
use crate::field::{Field, TensorPart};
use crate::limits::{GGML_ADDRESS_SPACE, GGML_TENSOR_OVERHEAD};
use crate::rules::data;

pub(super) fn check(context: &Context<'_, '_>, layout: &DataLayout, sound: Soundness, report: &mut Report<'_>) {
    let end = u128::from(context.input.len());
    let contiguous = sound == Soundness::Contiguous;
    let present = |placed: &Placed| match placed.size {
        // Sizes that do not fit 64 bits when padded are findings of the layout stage.
        Some(size) if size > 0 && layout.pad(size) <= u128::from(u64::MAX) => placed.start + size <= end,
        _ => true,
    };
    let missing = layout.tensors.iter().find(|placed| !present(placed));
    if sound == Soundness::Impossible || layout.tensors.is_empty() || u128::from(layout.start) > end {
        return;
    }

    let total = layout.total();
    let needed = total + u128::from(GGML_TENSOR_OVERHEAD) * (layout.tensors.len() as u128 + 1);
    if let Some(placed) = missing {
        let i = placed.index;
        let place = |part| (context.places.tensor_part(context.tree, i, part), Field::Tensor(i, part));
        let (span, field) = place(TensorPart::Offset);
        if contiguous && needed > u128::from(u64::MAX) {
            report.add(&data::CONTEXT_SIZE, span, field, "a sum under 2^64 bytes", format!("{needed} bytes"));
        } else if contiguous && needed > u128::from(GGML_ADDRESS_SPACE) {
            let actual = format!("{total} declared, {} there", end - u128::from(layout.start));
            report.add(&data::MEMORY, span, field, "all bytes, or at most 4 GiB declared", actual);
        } else {
            for placed in layout.tensors.iter().filter(|placed| !present(placed)) {
                let i = placed.index;
                let span = context.places.tensor_part(context.tree, i, TensorPart::Offset);
                let wanted = format!("data up to byte {}", placed.start + placed.size.unwrap_or(0));
                let actual = format!("the end of the file at byte {end}");
                report.add(&data::EXTENT, span, Field::Tensor(i, TensorPart::Offset), wanted, actual);
            }
        }
        return;
    }
    if !contiguous {
        return;
    }
    let Some(last) = layout.tensors.last() else { return };
    if u128::from(layout.start) + total > end {
        let at = context.input.len();
        let wanted = format!("padding up to byte {}", u128::from(layout.start) + total);
        report.add(
            &data::FINAL_PADDING,
            at..at,
            Field::DataPadding(last.index),
            wanted,
            format!("the end of the file at byte {end}"),
        );
    }
    for placed in &layout.tensors {
        let Some(size) = placed.size else { continue };
        let from = placed.start + size;
        let to = (placed.start + layout.pad(size)).min(end);
        let (Ok(from), Ok(to)) = (u64::try_from(from), u64::try_from(to)) else { continue };
        if let Some(at) = first_non_zero(context.input, from..to) {
            report.add(&data::PADDING_ZERO, at..at + 1, Field::DataPadding(placed.index), "zero bytes", "another byte");
        }
    }
}

/// Where the first byte other than zero lies. Bytes that cannot be read count as zero.
pub(super) fn first_non_zero(input: &dyn Input, range: Range<u64>) -> Option<u64> {
    const CHUNK: u64 = 1 << 16;
    let mut at = range.start;
    while at < range.end {
        let to = range.end.min(at + CHUNK);
        if let Some(offset) = input.bytes(at..to).and_then(|bytes| bytes.iter().position(|&b| b != 0)) {
            return Some(at + offset as u64);
        }
        at = to;
    }
    None
}
