//! Shapes, and how many bytes a tensor of one takes.
//!
//! A right shape has one answer. A shape whose product does not fit 64 bits is refused by the document,
//! yet partly read by ggml, whose signed product wraps; so there are two: what is true, and what ggml
//! makes of it.

use std::fmt;

use gguf_spec::limits::MAX_DIMS;
use gguf_spec::types::TensorType;

use crate::cursor::ByteOrder;

const MOST: usize = MAX_DIMS as usize;
/// The largest signed 64-bit number.
const SIGNED_MAX: u64 = u64::MAX >> 1;

/// At most four dimensions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    /// Those that are not there are 1.
    ne: [u64; MOST],
    n: usize,
}

/// What is wrong with a shape, at the dimension with this index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// It is 2^63 or more, in a tensor without elements.
    Signed(usize),
    /// The number of elements is out of range there.
    Range(usize),
    /// The number of elements is out of range there, and ggml does not notice.
    Wrap(usize),
}

/// A size in bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Size {
    /// As ggml computes it: exact for right shapes.
    pub(crate) bytes: u64,
    /// It does not fit 64 bits.
    pub(crate) over_range: bool,
    /// The product of the elements of a row and the bytes of a block does not.
    pub(crate) row_wraps: bool,
}

impl Shape {
    /// From the bytes of at most four dimensions.
    pub(crate) fn new(bytes: &[u8], order: ByteOrder) -> Self {
        let mut ne = [1; MOST];
        let (eights, _) = bytes.as_chunks();
        for (dim, eight) in ne.iter_mut().zip(eights) {
            *dim = order.u64(*eight);
        }
        Self { ne, n: eights.len().min(MOST) }
    }

    pub(crate) fn dims(&self) -> &[u64] {
        &self.ne[..self.n]
    }

    /// Elements of a row: 1 without dimensions.
    pub(crate) fn row(&self) -> u64 {
        self.ne[0]
    }

    /// Whether there are no dimensions.
    pub(crate) fn is_scalar(&self) -> bool {
        self.n == 0
    }

    fn is_empty(&self) -> bool {
        self.ne.contains(&0)
    }

    /// What is wrong with the number of elements, in a tensor of this type, if that is known.
    pub(crate) fn fault(&self, row: Option<&TensorType>) -> Option<Fault> {
        let negative = self.ne.iter().position(|&dim| dim > SIGNED_MAX);
        if self.is_empty() {
            return negative.map(Fault::Signed);
        }
        let over = self.first_over()?;
        let at = over.min(self.n.saturating_sub(1));
        // ggml tests a product only if it is positive after it has wrapped, and then its size in bytes.
        let wrapped = self.wrapped();
        let passes = (wrapped == 0 || wrapped > SIGNED_MAX) && row.is_none_or(|row| !self.is_over_range(row));
        Some(if negative.is_none() && passes { Fault::Wrap(at) } else { Fault::Range(at) })
    }

    /// The first dimension, from the second on, that is too large for the product of those before it.
    fn first_over(&self) -> Option<usize> {
        let mut product = u128::from(self.ne[0]);
        for (j, &dim) in self.ne.iter().enumerate().skip(1) {
            if product >= u128::from(SIGNED_MAX / dim) {
                return Some(j);
            }
            product *= u128::from(dim);
        }
        None
    }

    /// The size of a tensor of this shape and of a type that has blocks.
    pub(crate) fn size(&self, row: &TensorType) -> Size {
        if self.is_empty() {
            return Size { bytes: 0, over_range: false, row_wraps: false };
        }
        if !self.row().is_multiple_of(row.block) {
            // To the document a row that ends inside a block takes the whole block; ggml refuses it.
            let bytes = self.in_whole_blocks(row);
            return Size { bytes: bytes.unwrap_or(u64::MAX), over_range: bytes.is_none(), row_wraps: false };
        }
        let over_range = self.is_over_range(row);
        let row_wraps = row.block > 1 && self.ne[0].checked_mul(row.bytes).is_none();
        Size { bytes: self.as_ggml(row), over_range, row_wraps }
    }

    /// The number of elements, in 64 bits that wrap.
    fn wrapped(&self) -> u64 {
        self.ne.iter().fold(1, |product, &dim| product.wrapping_mul(dim))
    }

    /// Whether so many elements take more bytes than 64 bits can tell. ggml counts blocks in signed numbers,
    /// and takes a negative count for a huge one. Rows that end inside a block have no size.
    fn is_over_range(&self, row: &TensorType) -> bool {
        if !row.has_layout() || !self.row().is_multiple_of(row.block) {
            return false;
        }
        let blocks = (self.wrapped().cast_signed() / row.block.cast_signed()).cast_unsigned();
        u128::from(blocks) * u128::from(row.bytes) > u128::from(u64::MAX)
    }

    /// The bytes of rows of whole blocks.
    fn in_whole_blocks(&self, row: &TensorType) -> Option<u64> {
        let blocks = self.row().div_ceil(row.block).checked_mul(row.bytes);
        self.ne[1..].iter().try_fold(blocks?, |bytes, &dim| bytes.checked_mul(dim))
    }

    /// The bytes from the first element to the last, in 64 bits that wrap.
    fn as_ggml(&self, row: &TensorType) -> u64 {
        let mut stride = row.bytes.wrapping_mul(self.ne[0] / row.block);
        let mut bytes = self.ne[0].wrapping_mul(row.bytes) / row.block;
        for &dim in &self.ne[1..] {
            bytes = bytes.wrapping_add((dim - 1).wrapping_mul(stride));
            stride = stride.wrapping_mul(dim);
        }
        bytes
    }
}

/// `[2, 3]`
impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.dims()).finish()
    }
}
