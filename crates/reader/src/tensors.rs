//! The tensor infos.

use gguf_spec::field::{Field, TensorPart};
use gguf_spec::limits::{MAX_DIMS, MAX_TENSOR_NAME_LENGTH};
use gguf_spec::profile::c_string;
use gguf_spec::rules::{Rule, tensors};
use gguf_spec::types::{TensorType, TypeStatus};

use crate::cursor::{ByteOrder, Cursor};
use crate::elements::shown;
use crate::error::{First, Halt};
use crate::layout::pad;
use crate::size::{Fault, Shape};

/// Where a tensor info lies in the head.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TensorPlace {
    /// The first byte of the length of the name.
    pub(crate) at: usize,
    /// The first byte of the number of dimensions.
    pub(crate) dims: usize,
    /// The bytes of the data, without padding.
    pub(crate) size: u64,
}

impl TensorPlace {
    pub(crate) fn name<'a>(&self, head: &'a [u8]) -> &'a [u8] {
        &head[self.at + 8..self.dims]
    }

    pub(crate) fn n_dims(&self, head: &[u8], order: ByteOrder) -> usize {
        usize::try_from(order.u32_at(head, self.dims)).unwrap_or(usize::MAX)
    }

    /// The padded size of the data; 0 if that does not fit 64 bits, as ggml takes it for.
    pub(crate) fn takes(&self, alignment: u64) -> u64 {
        pad(self.size, alignment).unwrap_or(0)
    }

    /// The dimension with an index below the number of dimensions.
    pub(crate) fn dim(&self, j: usize, head: &[u8], order: ByteOrder) -> u64 {
        order.u64_at(head, self.dims + 4 + 8 * j)
    }

    /// The first byte of the type.
    pub(crate) fn type_at(&self, head: &[u8], order: ByteOrder) -> usize {
        self.dims + 4 + 8 * self.n_dims(head, order)
    }

    pub(crate) fn type_id(&self, head: &[u8], order: ByteOrder) -> u32 {
        order.u32_at(head, self.type_at(head, order))
    }

    pub(crate) fn offset(&self, head: &[u8], order: ByteOrder) -> u64 {
        order.u64_at(head, self.type_at(head, order) + 4)
    }
}

/// Reads the tensor info with index `i`. What is found is offered to `first`; an error is what ends
/// reading.
pub(crate) fn tensor(cursor: &mut Cursor<'_>, i: usize, first: &mut First) -> Result<TensorPlace, Halt> {
    let field = |part| move || Field::Tensor(i, part);
    let at = cursor.at;
    let name = cursor.string(&tensors::NAME_TRUNCATED, field(TensorPart::NameLen))?;
    let place = TensorPlace { at, dims: cursor.at, size: 0 };
    let n_dims = cursor.u32_field(&tensors::N_DIMS_TRUNCATED, field(TensorPart::NDims))?;
    let dims = cursor.dims(n_dims, i)?;
    let type_id = cursor.u32_field(&tensors::TYPE_TRUNCATED, field(TensorPart::Type))?;
    cursor.u64_field(&tensors::OFFSET_TRUNCATED, field(TensorPart::Offset))?;

    check_name(&place, i, name, first);
    if n_dims > MAX_DIMS {
        let span = place.dims as u64..place.dims as u64 + 4;
        let texts = || (format!("at most {MAX_DIMS}"), n_dims.to_string());
        first.offer(&tensors::N_DIMS_MAX, span, field(TensorPart::NDims), texts);
        // Nobody accepts it, and nothing else about it comes first.
        return Ok(place);
    }
    let shape = Shape::new(dims, cursor.order);
    let row = TensorType::from_id(type_id);
    check_shape(&place, i, &shape, row, first);
    let size = check_type(&place, i, &shape, type_id, first);
    Ok(TensorPlace { size, ..place })
}

impl<'a> Cursor<'a> {
    /// The bytes of `n` dimensions, behind their number.
    fn dims(&mut self, n: u32, i: usize) -> Result<&'a [u8], Halt> {
        let before = self.before(4);
        self.take(u64::from(n) * 8).map_err(|short| {
            let field = Field::Tensor(i, TensorPart::NDims);
            match self.overrun(short, u64::from(n), "dimension", &tensors::DIMS_TRUNCATED, field) {
                Halt::Found(mut finding) => {
                    finding.span = before;
                    Halt::Found(finding)
                }
                other => other,
            }
        })
    }
}

fn check_name(place: &TensorPlace, i: usize, name: &[u8], first: &mut First) {
    let len = name.len() as u64;
    let start = place.at as u64 + 8;
    let mut offer = |rule, expected: &str| {
        let texts = || (expected.to_owned(), shown(name, len));
        first.offer(rule, start..start + len, || Field::Tensor(i, TensorPart::Name), texts);
    };
    if len > MAX_TENSOR_NAME_LENGTH {
        offer(&tensors::NAME_LENGTH, "at most 64 bytes");
    } else if len == MAX_TENSOR_NAME_LENGTH {
        offer(&tensors::NAME_TERMINATOR, "at most 63 bytes");
    }
    if simdutf8::basic::from_utf8(name).is_err() {
        offer(&tensors::NAME_UTF8, "UTF-8");
    }
}

fn check_shape(place: &TensorPlace, i: usize, shape: &Shape, row: Option<&TensorType>, first: &mut First) {
    let mut offer = |rule: &'static Rule, j: usize, expected: &str| {
        let start = place.dims as u64 + 4 + 8 * j as u64;
        let texts = || (expected.to_owned(), shape.to_string());
        first.offer(rule, start..start + 8, || Field::Tensor(i, TensorPart::Dim(j)), texts);
    };
    match shape.fault(row) {
        Some(Fault::Signed(j)) => offer(&tensors::DIM_SIGNED, j, "less than 2^63"),
        Some(Fault::Range(j)) => offer(&tensors::ELEMENTS_RANGE, j, "fewer than 2^63 elements"),
        Some(Fault::Wrap(j)) => offer(&tensors::ELEMENTS_WRAP, j, "fewer than 2^63 elements"),
        None => {}
    }
    let Some(row) = row.filter(|row| row.block > 1 && !shape.row().is_multiple_of(row.block)) else { return };
    let texts = || (format!("a multiple of {}, the block size of {}", row.block, row.name), shape.row().to_string());
    let start = place.dims as u64;
    if shape.is_scalar() {
        let field = || Field::Tensor(i, TensorPart::NDims);
        first.offer(&tensors::BLOCK_MULTIPLE, start..start + 4, field, texts);
    } else {
        let field = || Field::Tensor(i, TensorPart::Dim(0));
        first.offer(&tensors::BLOCK_MULTIPLE, start + 4..start + 12, field, texts);
    }
}

/// What there is to say about the type; gives the size of the data in bytes.
fn check_type(place: &TensorPlace, i: usize, shape: &Shape, type_id: u32, first: &mut First) -> u64 {
    let start = place.dims as u64 + 4 + 8 * shape.dims().len() as u64;
    let mut offer = |rule: &'static Rule, expected: &str, actual: &dyn Fn() -> String| {
        let texts = || (expected.to_owned(), actual());
        first.offer(rule, start..start + 4, || Field::Tensor(i, TensorPart::Type), texts);
    };
    let Some(row) = TensorType::from_id(type_id) else {
        offer(&tensors::TYPE_KNOWN, "0 to 42", &|| type_id.to_string());
        return 0;
    };
    let name = || format!("{type_id}, {}", row.name);
    match row.status {
        TypeStatus::Removed => {
            offer(&tensors::TYPE_REMOVED, "a type that is in use", &name);
            return 0;
        }
        TypeStatus::Newer => offer(&tensors::TYPE_DOCUMENT, "0 to 39", &name),
        TypeStatus::Live => {}
    }
    let size = shape.size(row);
    if size.over_range {
        offer(&tensors::BYTES_RANGE, "a size in bytes below 2^64", &|| format!("{shape} of {}", row.name));
    } else if size.row_wraps {
        offer(&tensors::BYTES_WRAP, "rows of fewer bytes", &|| format!("{shape} of {}", row.name));
    }
    size.bytes
}

/// A tensor name as far as it is compared with others.
pub(crate) fn compared(name: &[u8]) -> &[u8] {
    c_string(name)
}
