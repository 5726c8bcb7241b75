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
    check_memory(cursor, tensors, place, first);
    if !first.any() {
        check_extents(cursor, tensors, place, first);
    }
    first.settle()?;
    check_final_padding(cursor, tensors, place, first);
    if first.wants(&data::PADDING_ZERO) {
        check_padding(cursor, tensors, place, input, first)?;
    }
    first.settle()
}

/// The bytes of a field in the table.
fn offset_span(cursor: &Cursor<'_>, tensor: &TensorPlace) -> std::ops::Range<u64> {
    let at = tensor.type_at(cursor.head, cursor.order) as u64 + 4;
    at..at + 8
}

fn check_memory(cursor: &Cursor<'_>, tensors: &[TensorPlace], place: &DataPlace, first: &mut First) {
    let overhead = GGML_TENSOR_OVERHEAD.saturating_mul(tensors.len() as u64 + 1);
    let field = || Field::Tensor(0, TensorPart::Offset);
    let declared = || count(place.total, "byte");
    match place.total.checked_add(overhead) {
        None => {
            let texts = || ("a size that leaves room for bookkeeping".to_owned(), declared());
            first.offer(&data::CONTEXT_SIZE, offset_span(cursor, &tensors[0]), field, texts);
        }
        Some(needed) if needed > GGML_ADDRESS_SPACE && place.total > cursor.len.saturating_sub(place.start) => {
            let texts = || ("no more data than the file holds".to_owned(), declared());
            first.offer(&data::MEMORY, offset_span(cursor, &tensors[0]), field, texts);
        }
        Some(_) => {}
    }
}

/// The end of a tensor's data in the file.
fn end_of(cursor: &Cursor<'_>, tensor: &TensorPlace, place: &DataPlace) -> Option<u64> {
    place.start.checked_add(tensor.offset(cursor.head, cursor.order))?.checked_add(tensor.size)
}

fn check_extents(cursor: &Cursor<'_>, tensors: &[TensorPlace], place: &DataPlace, first: &mut First) {
    for (i, tensor) in tensors.iter().enumerate() {
        if end_of(cursor, tensor, place).is_none_or(|end| end > cursor.len) {
            let texts = || (format!("{} in the file", count(tensor.size, "byte")), "fewer".to_owned());
            let field = || Field::Tensor(i, TensorPart::Offset);
            first.offer(&data::EXTENT, offset_span(cursor, tensor), field, texts);
            return;
        }
    }
}

fn check_final_padding(cursor: &Cursor<'_>, tensors: &[TensorPlace], place: &DataPlace, first: &mut First) {
    let Some(end) = place.start.checked_add(place.total) else { return };
    if end > cursor.len {
        let last = tensors.iter().rposition(|tensor| tensor.size > 0).unwrap_or(0);
        let texts = || (format!("{} of padding more", count(end - cursor.len, "byte")), "the end".to_owned());
        first.offer(&data::FINAL_PADDING, cursor.len..cursor.len, || Field::DataPadding(last), texts);
    }
}

/// The padding of each tensor but the last one in the file.
fn check_padding(
    cursor: &Cursor<'_>,
    tensors: &[TensorPlace],
    place: &DataPlace,
    input: &dyn Input,
    first: &mut First,
) -> Result<(), Halt> {
    let offset = |i: &usize| tensors[*i].offset(cursor.head, cursor.order);
    let mut order: Vec<usize> = Vec::with_capacity(tensors.len());
    order.extend(0..tensors.len());
    order.sort_by_key(offset);
    for pair in order.windows(2) {
        let (i, next) = (pair[0], offset(&pair[1]));
        let end = offset(&i) + tensors[i].size;
        let Some(padded) = pad(end, place.alignment) else { continue };
        if let Some((at, byte)) = first_not_zero(input, place.start + end, place.start + padded.min(next))? {
            let texts = || ("0".to_owned(), byte.to_string());
            first.offer(&data::PADDING_ZERO, at..at + 1, || Field::DataPadding(i), texts);
            break;
        }
    }
    Ok(())
}
