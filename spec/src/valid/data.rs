//! The rules about the tensor data.

use std::ops::Range;

use super::layout::{DataLayout, Placed, Soundness};
use super::{Context, Input, Report};
use crate::field::{Field, TensorPart};
use crate::limits::{GGML_ADDRESS_SPACE, GGML_TENSOR_OVERHEAD};
use crate::rules::data;

pub(super) fn check(context: &Context<'_, '_>, layout: &DataLayout, sound: Soundness, report: &mut Report<'_>) {
    let end = context.input.len();
    if sound == Soundness::Impossible || layout.tensors.is_empty() || layout.start > end {
        return;
    }
    let contiguous = sound == Soundness::Contiguous;
    if !check_extents(context, layout, contiguous, report) && contiguous {
        check_final_padding(layout, end, report);
    }
    check_padding(context, layout, report);
}

/// Checks that the data of all tensors is there; returns whether some is missing.
fn check_extents(context: &Context<'_, '_>, layout: &DataLayout, contiguous: bool, report: &mut Report<'_>) -> bool {
    let end = u128::from(context.input.len());
    let present = |placed: &Placed| match placed.size {
        // Sizes that do not fit 64 bits when padded are findings of the layout stage.
        Some(size) if size > 0 && layout.pad(size) <= u128::from(u64::MAX) => placed.start + size <= end,
        _ => true,
    };
    let Some(first) = layout.tensors.iter().find(|placed| !present(placed)) else { return false };
    let place =
        |i| (context.places.tensor_part(context.tree, i, TensorPart::Offset), Field::Tensor(i, TensorPart::Offset));
    let total = layout.total();
    let needed = total + u128::from(GGML_TENSOR_OVERHEAD) * (layout.tensors.len() as u128 + 1);
    let (span, field) = place(first.index);
    if contiguous && needed > u128::from(u64::MAX) {
        report.add(&data::CONTEXT_SIZE, span, field, "a sum under 2^64 bytes", format!("{needed} bytes"));
    } else if contiguous && needed > u128::from(GGML_ADDRESS_SPACE) {
        let actual = format!("{total} declared, {} there", end - u128::from(layout.start));
        report.add(&data::MEMORY, span, field, "all bytes, or at most 4 GiB declared", actual);
    } else {
        for placed in layout.tensors.iter().filter(|placed| !present(placed)) {
            let (span, field) = place(placed.index);
            let wanted = format!("data up to byte {}", placed.start + placed.size.unwrap_or(0));
            report.add(&data::EXTENT, span, field, wanted, format!("the end of the file at byte {end}"));
        }
    }
    true
}

fn check_final_padding(layout: &DataLayout, end: u64, report: &mut Report<'_>) {
    let Some(last) = layout.tensors.last() else { return };
    let wanted = u128::from(layout.start) + layout.total();
    if wanted > u128::from(end) {
        let field = Field::DataPadding(last.index);
        let actual = format!("the end of the file at byte {end}");
        report.add(&data::FINAL_PADDING, end..end, field, format!("padding up to byte {wanted}"), actual);
    }
}

/// Checks the bytes that pad a tensor to the alignment, wherever it lies, as far as no other tensor
/// lies there. What follows the last tensor is not between tensors and may be anything.
///
/// Each byte is looked at once, however the tensors overlap.
fn check_padding(context: &Context<'_, '_>, layout: &DataLayout, report: &mut Report<'_>) {
    let end = u128::from(context.input.len());
    let mut order: Vec<(&Placed, u128)> = layout
        .tensors
        .iter()
        .filter_map(|placed| Some((placed, placed.size.filter(|&size| size > 0)?)))
        .filter(|(placed, _)| placed.start < end)
        .collect();
    order.sort_by_key(|(placed, size)| (placed.start, *size, placed.index));

    // Behind the tensors so far: where their data ends, whose it is, and where its padding would end.
    let mut data_end = 0u128;
    let mut pad_end = 0u128;
    let mut owner = None;
    for &(placed, size) in &order {
        if let Some(owner) = owner
            && placed.start > data_end
        {
            // A gap: the padding of what lies before it, then bytes of which nothing is said.
            check_zero(context, owner, data_end..pad_end.min(placed.start), report);
        }
        let tensor_end = placed.start + size;
        if tensor_end >= data_end {
            data_end = tensor_end;
            pad_end = u128::from(layout.start) + layout.pad(tensor_end - u128::from(layout.start));
            owner = Some(placed.index);
        }
    }
}

fn check_zero(context: &Context<'_, '_>, tensor: usize, range: Range<u128>, report: &mut Report<'_>) {
    let end = context.input.len();
    let within = |at: u128| u64::try_from(at).unwrap_or(u64::MAX).min(end);
    if let Some(at) = first_non_zero(context.input, within(range.start)..within(range.end)) {
        report.add(&data::PADDING_ZERO, at..at + 1, Field::DataPadding(tensor), "zero bytes", "another byte");
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
