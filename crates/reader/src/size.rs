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

    pub(crate) fn fault(&self) -> Option<Fault> {
        let negative = self.ne.iter().position(|&dim| dim > SIGNED_MAX);
        if self.is_empty() {
            return negative.map(Fault::Signed);
        }
        let over = self.first_over()?;
        let at = over.min(self.n.saturating_sub(1));
        // ggml tests a product only if it is positive after it has wrapped.
        let wrapped = self.ne.iter().fold(1, |product: u64, &dim| product.wrapping_mul(dim));
        let passes = wrapped == 0 || wrapped > SIGNED_MAX;
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
        let elements = self.ne.iter().fold(1, |product: u64, &dim| product.wrapping_mul(dim));
        let over_range = u128::from(elements / row.block) * u128::from(row.bytes) > u128::from(u64::MAX);
        let row_wraps = row.block > 1 && self.ne[0].checked_mul(row.bytes).is_none();
        Size { bytes: self.as_ggml(row), over_range, row_wraps }
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
