//! Where the tensors lie, from the table alone, and the padding before them.

use gguf_spec::field::{Field, TensorPart};
use gguf_spec::input::Input;
use gguf_spec::rules::layout;

use crate::cursor::{Cursor, count};
use crate::error::{First, Halt};
use crate::tensors::TensorPlace;

/// Where the tensor data lies.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct DataPlace {
    /// The first byte behind the tensor table.
    pub(crate) table_end: u64,
    /// The aligned start of the tensor data; without tensors too.
    pub(crate) start: u64,
    /// In bytes.
    pub(crate) alignment: u64,
    /// The padded size of all tensors, in 64 bits that wrap.
    pub(crate) total: u64,
    /// Whether the tensors lie end to end, in table order.
    pub(crate) end_to_end: bool,
}

/// `n` rounded up to a multiple of the alignment, if that fits 64 bits.
pub(crate) fn pad(n: u64, alignment: u64) -> Option<u64> {
    n.checked_next_multiple_of(alignment)
}

/// Judges the layout. The cursor is behind the table.
pub(crate) fn check(
    cursor: &Cursor<'_>,
    tensors: &[TensorPlace],
    alignment: u64,
    input: &dyn Input,
    first: &mut First,
) -> Result<DataPlace, Halt> {
    let table_end = cursor.here();
    // The table is in memory and the alignment has 32 bits.
    let start = pad(table_end, alignment).unwrap_or(u64::MAX);
    let (total, end_to_end) = check_table(cursor, tensors, alignment, first);
    first.settle()?;
    if !tensors.is_empty() && start > cursor.len {
        let texts = || (count(start - table_end, "byte"), count(cursor.len - table_end, "byte"));
        first.offer(&layout::DATA_START, table_end..cursor.len, || Field::Padding, texts);
    } else if first.wants(&layout::PADDING_ZERO)
        && let Some((at, byte)) = first_not_zero(input, table_end, start.min(cursor.len))?
    {
        let texts = || ("0".to_owned(), byte.to_string());
        first.offer(&layout::PADDING_ZERO, at..at + 1, || Field::Padding, texts);
    }
    first.settle()?;
    Ok(DataPlace { table_end, start, alignment, total, end_to_end })
}

/// The rules on single tensors; gives the sum of the padded sizes, and whether the tensors lie end to end.
fn check_table(cursor: &Cursor<'_>, tensors: &[TensorPlace], alignment: u64, first: &mut First) -> (u64, bool) {
    let (head, order) = (cursor.head, cursor.order);
    let mut total: u64 = 0;
    let mut end_to_end = true;
    for (i, tensor) in tensors.iter().enumerate() {
        let type_at = tensor.type_at(head, order) as u64;
        let offset = tensor.offset(head, order);
        let field = |part| move || Field::Tensor(i, part);
        let padded = pad(tensor.size, alignment);
        if padded.is_none() {
            let texts = || ("a padded size below 2^64".to_owned(), count(tensor.size, "byte"));
            first.offer(&layout::PADDING_WRAPS, type_at..type_at + 4, field(TensorPart::Type), texts);
        }
        let at = type_at + 4..type_at + 12;
        if offset % alignment != 0 {
            let texts = || (format!("a multiple of {alignment}"), offset.to_string());
            first.offer(&layout::OFFSET_ALIGNED, at.clone(), field(TensorPart::Offset), texts);
        }
        if offset != total {
            end_to_end = false;
            let texts = || (total.to_string(), offset.to_string());
            first.offer(&layout::OFFSET_CONTIGUOUS, at, field(TensorPart::Offset), texts);
        }
        match total.checked_add(padded.unwrap_or(0)) {
            Some(sum) => total = sum,
            None => {
                end_to_end = false;
                let texts = || ("a sum of sizes below 2^64".to_owned(), count(tensor.size, "more byte"));
                first.offer(&layout::TOTAL_RANGE, type_at..type_at + 4, field(TensorPart::Type), texts);
            }
        }
        if first.any() {
            break;
        }
    }
    (total, end_to_end)
}

/// How many bytes are read at once.
const PIECE: u64 = 16 << 10;

/// The first byte of a range that is not zero, with its place.
pub(crate) fn first_not_zero(input: &dyn Input, start: u64, end: u64) -> Result<Option<(u64, u8)>, Halt> {
    let mut at = start;
    while at < end {
        let stop = end.min(at + PIECE);
        let bytes = input.bytes(at..stop).ok_or(Halt::Unreadable(at..stop))?;
        if let Some(i) = bytes.iter().position(|&b| b != 0) {
            return Ok(Some((at + i as u64, bytes[i])));
        }
        at = stop;
    }
    Ok(None)
}
