//! Arrays: from the element type to the last element, without recursion.

use gguf_spec::field::{Field, KvPart, ValuePart};
use gguf_spec::limits::{GGML_MAX_ARRAY_LENGTH, GGML_MAX_STRING_LENGTH, MAX_NESTING};
use gguf_spec::rules::metadata;
use gguf_spec::types::ValueType;

use crate::cursor::{Cursor, Short, count};
use crate::error::{First, Halt, end};
use crate::text::{At, Cut, walk};

/// An array that was begun and whose elements are arrays.
#[derive(Clone, Copy, Default)]
struct Outer {
    /// Elements that are still to come, the one at hand included.
    left: u64,
    /// The index of the one at hand.
    index: u64,
}

/// The arrays around the place at hand. Nesting has a limit, so that they need no heap.
#[derive(Default)]
struct Stack {
    outer: [Outer; MAX_NESTING],
    depth: usize,
}

impl Stack {
    /// The field of a part of the array at hand in the pair with index `pair`.
    fn field(&self, pair: usize, part: ValuePart) -> Field {
        self.element(pair, None, part)
    }

    /// The field of a part of one of its elements.
    fn element(&self, pair: usize, index: Option<u64>, part: ValuePart) -> Field {
        let path = self.outer[..self.depth].iter().map(|outer| outer.index).chain(index);
        // No index is larger than the number of bytes in memory before it.
        let path = path.map(|index| usize::try_from(index).unwrap_or(usize::MAX)).collect();
        Field::Kv(pair, KvPart::Value(path, part))
    }

    /// Goes to the next array, out of those that are finished; `false` if there is none.
    fn next(&mut self) -> bool {
        while let Some(last) = self.depth.checked_sub(1) {
            let outer = &mut self.outer[last];
            outer.left -= 1;
            outer.index += 1;
            if outer.left > 0 {
                return true;
            }
            self.depth = last;
        }
        false
    }
}

/// The least bytes of an element: those of a number, a length, or an element type and a length.
fn least_size(ty: ValueType) -> u64 {
    match ty {
        ValueType::String => 8,
        ValueType::Array => 4 + 8,
        fixed => fixed.size().map_or(1, |size| size as u64),
    }
}

/// Reads the array that is the value of the pair with index `pair`. What is found is offered to `first`.
pub(crate) fn array(cursor: &mut Cursor<'_>, pair: usize, first: &mut First) -> Result<(), Halt> {
    let mut stack = Stack::default();
    loop {
        let (ty, len) = begin(cursor, pair, &stack, first)?;
        match ty {
            ValueType::Array if len > 0 => {
                stack.outer[stack.depth] = Outer { left: len, index: 0 };
                stack.depth += 1;
                continue;
            }
            ValueType::Array => {}
            ValueType::String => strings(cursor, pair, &stack, len, first)?,
            fixed => numbers(cursor, pair, &stack, fixed, len, first)?,
        }
        if !stack.next() {
            return Ok(());
        }
    }
}

/// Element type and length.
fn begin(cursor: &mut Cursor<'_>, pair: usize, stack: &Stack, first: &mut First) -> Result<(ValueType, u64), Halt> {
    let field = |part| stack.field(pair, part);
    // What is cut is judged by that alone, so that both are read before either is judged.
    let id = cursor.u32_field(&metadata::ARRAY_TRUNCATED, || field(ValuePart::ElementType))?;
    let type_span = cursor.before(4);
    let len = cursor.u64_field(&metadata::ARRAY_TRUNCATED, || field(ValuePart::Len))?;
    let Some(ty) = ValueType::from_id(id) else {
        let rule = &metadata::ARRAY_TYPE_KNOWN;
        return Err(end(rule, type_span, field(ValuePart::ElementType), "0 to 12", id.to_string()));
    };
    if len > cursor.left() / least_size(ty) {
        return Err(cursor.overrun(
            Short::Missing,
            len,
            "element",
            &metadata::ELEMENTS_TRUNCATED,
            field(ValuePart::Len),
        ));
    }
    if ty == ValueType::Array {
        if len > 0 && stack.depth + 1 == MAX_NESTING {
            let expected = format!("at most {MAX_NESTING} arrays in one another");
            let rule = &metadata::ARRAY_DEPTH;
            return Err(end(rule, type_span, field(ValuePart::ElementType), expected, "one more"));
        }
        first.offer(
            &metadata::ARRAY_NESTED,
            type_span,
            || field(ValuePart::ElementType),
            || ("a type other than array".to_owned(), "9, array".to_owned()),
        );
    }
    if len > GGML_MAX_ARRAY_LENGTH {
        first.offer(
            &metadata::ARRAY_LIMIT,
            cursor.before(8),
            || field(ValuePart::Len),
            || (format!("at most {GGML_MAX_ARRAY_LENGTH} elements"), len.to_string()),
        );
    }
    Ok((ty, len))
}

/// The elements of an array of numbers or bools.
fn numbers(
    cursor: &mut Cursor<'_>,
    pair: usize,
    stack: &Stack,
    ty: ValueType,
    len: u64,
    first: &mut First,
) -> Result<(), Halt> {
    // No more than what is left in the file: that was looked at.
    let elements = cursor.take(len * least_size(ty)).map_err(|short| {
        cursor.overrun(short, len, "element", &metadata::ELEMENTS_TRUNCATED, stack.field(pair, ValuePart::Len))
    })?;
    if ty == ValueType::Bool
        && first.wants(&metadata::BOOL_VALUE)
        && let Some(bad) = not_bool(elements)
    {
        let at = cursor.here() - (elements.len() - bad) as u64;
        first.offer(
            &metadata::BOOL_VALUE,
            at..at + 1,
            || stack.field(pair, ValuePart::Elements),
            || ("0 or 1".to_owned(), elements[bad].to_string()),
        );
    }
    Ok(())
}

/// The index of the first byte that is neither 0 nor 1.
fn not_bool(bytes: &[u8]) -> Option<usize> {
    // Whole blocks at once: a loop without a way out is made into vector instructions.
    let fine = bytes.chunks(4096).take_while(|block| block.iter().fold(0, |all, b| all | b) <= 1).count();
    bytes.iter().skip(fine * 4096).position(|&b| b > 1).map(|i| fine * 4096 + i)
}

/// The elements of an array of strings.
fn strings(cursor: &mut Cursor<'_>, pair: usize, stack: &Stack, len: u64, first: &mut First) -> Result<(), Halt> {
    let utf8 = first.wants(&metadata::STRING_UTF8);
    let walked = walk(cursor, len, utf8, GGML_MAX_STRING_LENGTH).map_err(|cut| match cut {
        Cut::Length(_, Short::Unseen(at_least)) | Cut::Bytes(_, _, Short::Unseen(at_least)) => Halt::NeedMore(at_least),
        Cut::Length(index, Short::Missing) => {
            let here = cursor.here();
            let field = stack.element(pair, Some(index), ValuePart::Len);
            let actual = count(cursor.left(), "byte");
            end(&metadata::ELEMENTS_TRUNCATED, here..cursor.len, field, "8 bytes", actual)
        }
        Cut::Bytes(index, length, short) => {
            let field = stack.element(pair, Some(index), ValuePart::Len);
            cursor.overrun(short, length, "byte", &metadata::ELEMENTS_TRUNCATED, field)
        }
    })?;
    if let Some(At { index, length }) = walked.over_limit {
        first.offer(
            &metadata::STRING_LIMIT,
            length as u64..length as u64 + 8,
            || stack.element(pair, Some(index), ValuePart::Len),
            || (format!("at most {GGML_MAX_STRING_LENGTH} bytes"), "more".to_owned()),
        );
    }
    if let Some(At { index, length }) = walked.not_utf8 {
        let start = length as u64 + 8;
        let size = cursor.order.u64_at(cursor.head, length);
        first.offer(
            &metadata::STRING_UTF8,
            start..start + size,
            || stack.element(pair, Some(index), ValuePart::Whole),
            || ("UTF-8".to_owned(), shown(&cursor.head[length + 8..], size)),
        );
    }
    Ok(())
}

/// The first `size` of some bytes, for a message.
pub(crate) fn shown(bytes: &[u8], size: u64) -> String {
    let size = usize::try_from(size).unwrap_or(usize::MAX).min(bytes.len());
    gguf_spec::field::printable(&bytes[..size])
}
