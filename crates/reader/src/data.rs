//! Whether the tensor data is in the file, and the padding around it.

use gguf_spec::field::{Field, TensorPart};
use gguf_spec::input::Input;
use gguf_spec::limits::{GGML_ADDRESS_SPACE, GGML_TENSOR_OVERHEAD};
use gguf_spec::rules::data;

use crate::cursor::{Cursor, count};
use crate::error::{First, Halt};
use crate::layout::{DataPlace, first_not_zero, pad};
use crate::tensors::TensorPlace;

/// Judges the data. It is not read, but for its padding.
pub(crate) fn check(
    cursor: &Cursor<'_>,
    tensors: &[TensorPlace],
    place: &DataPlace,
    input: &dyn Input,
    first: &mut First,
) -> Result<(), Halt> {
    if tensors.is_empty() {
        return Ok(());
    }
    check_presence(cursor, tensors, place, first);
    first.settle()?;
    check_final_padding(cursor, tensors, place, first);
    if first.wants(&data::PADDING_ZERO) {
        check_padding(cursor, tensors, place, input, first)?;
    }
    first.settle()
}

/// The first tensor of which the file has not all bytes.
fn first_missing(cursor: &Cursor<'_>, tensors: &[TensorPlace], place: &DataPlace) -> Option<usize> {
    let missing = |tensor: &TensorPlace| {
        // What ggml takes for empty has no bytes to miss.
        tensor.takes(place.alignment) > 0 && end_of(cursor, tensor, place).is_none_or(|end| end > cursor.len)
    };
    tensors.iter().position(missing)
}

/// The end of a tensor's data in the file.
fn end_of(cursor: &Cursor<'_>, tensor: &TensorPlace, place: &DataPlace) -> Option<u64> {
    place.start.checked_add(tensor.offset(cursor.head, cursor.order))?.checked_add(tensor.size)
}

fn check_presence(cursor: &Cursor<'_>, tensors: &[TensorPlace], place: &DataPlace, first: &mut First) {
    let Some(i) = first_missing(cursor, tensors, place) else { return };
    let mut offer = |rule, expected: &str| {
        let at = tensors[i].type_at(cursor.head, cursor.order) as u64 + 4;
        let there = cursor.len.saturating_sub(place.start);
        let actual = || format!("{} of data, {there} of them there", count(place.total, "byte"));
        let field = || Field::Tensor(i, TensorPart::Offset);
        first.offer(rule, at..at + 8, field, || (expected.to_owned(), actual()));
    };
    // ggml asks for memory for tensors that lie end to end: others it has refused.
    if place.end_to_end {
        let overhead = GGML_TENSOR_OVERHEAD.saturating_mul(tensors.len() as u64 + 1);
        match place.total.checked_add(overhead) {
            None => return offer(&data::CONTEXT_SIZE, "a size that leaves room for bookkeeping"),
            Some(needed) if needed > GGML_ADDRESS_SPACE => {
                return offer(&data::MEMORY, "all bytes, or at most 4 GiB declared");
            }
            Some(_) => {}
        }
    }
    offer(&data::EXTENT, "all bytes of the tensor");
}

fn check_final_padding(cursor: &Cursor<'_>, tensors: &[TensorPlace], place: &DataPlace, first: &mut First) {
    let Some(end) = place.start.checked_add(place.total) else { return };
    if end > cursor.len {
        let last = tensors.len() - 1;
        let texts = || (format!("{} of padding more", count(end - cursor.len, "byte")), "the end".to_owned());
        first.offer(&data::FINAL_PADDING, cursor.len..cursor.len, || Field::DataPadding(last), texts);
    }
}

/// The padding of each tensor but the last one in the file. Bytes that are data of another tensor, which
/// overlaps the first, are no padding.
fn check_padding(
    cursor: &Cursor<'_>,
    tensors: &[TensorPlace],
    place: &DataPlace,
    input: &dyn Input,
    first: &mut First,
) -> Result<(), Halt> {
    let offset = |i: usize| tensors[i].offset(cursor.head, cursor.order);
    let mut order: Vec<usize> = Vec::with_capacity(tensors.len());
    order.extend((0..tensors.len()).filter(|&i| tensors[i].size > 0));
    order.sort_by_key(|&i| offset(i));
    // The tensor that reaches furthest, the last of several, and how far.
    let mut furthest: Option<(usize, u64)> = None;
    for &i in &order {
        let start = offset(i);
        if let Some((before, end)) = furthest
            && end < start
            && let Some(padded) = pad(end, place.alignment)
            && let Some((at, byte)) = first_not_zero(input, place.start + end, place.start + padded.min(start))?
        {
            let texts = || ("0".to_owned(), byte.to_string());
            first.offer(&data::PADDING_ZERO, at..at + 1, || Field::DataPadding(before), texts);
            break;
        }
        let end = start + tensors[i].size;
        if furthest.is_none_or(|(_, before)| end >= before) {
            furthest = Some((i, end));
        }
    }
    Ok(())
}
