//! Arrays as they lie in the file: nothing is copied, and nothing is indexed.

use gguf_spec::limits::MAX_NESTING;
use gguf_spec::types::ValueType;

use crate::cursor::ByteOrder;
use crate::value::Number;

/// An array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Array<'a> {
    ty: ValueType,
    order: ByteOrder,
    len: usize,
    bytes: &'a [u8],
}

impl<'a> Array<'a> {
    /// The array that starts with these bytes; the last of them may be behind it if it holds strings or
    /// arrays.
    pub(crate) fn new(bytes: &'a [u8], order: ByteOrder) -> Self {
        let ty = ValueType::from_id(order.u32_at(bytes, 0)).unwrap_or(ValueType::U8);
        // Every element takes bytes that are in memory.
        let len = usize::try_from(order.u64_at(bytes, 4)).unwrap_or(usize::MAX);
        let elements = &bytes[12..];
        let bytes = ty.size().map_or(elements, |size| &elements[..size * len]);
        Self { ty, order, len, bytes }
    }

    /// The type of the elements.
    #[must_use]
    pub fn ty(&self) -> ValueType {
        self.ty
    }

    /// How many elements there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The order of the bytes of numbers, and of the lengths of strings.
    #[must_use]
    pub fn byte_order(&self) -> ByteOrder {
        self.order
    }

    /// The bytes of the elements of an array of numbers or bools, end to end as in the file. Of an array
    /// of strings or arrays, bytes that begin with those of the elements.
    #[must_use]
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// The elements, if they are of the type of `T`.
    ///
    /// ```
    /// # let file = assay_reader::example();
    /// let file = assay_reader::read(&file, assay_reader::Policy::strict())?;
    /// let scores = file.get("tokenizer.ggml.scores").and_then(|value| value.as_array());
    /// let best = scores.and_then(|scores| scores.iter::<f32>()).and_then(|scores| scores.reduce(f32::max));
    /// assert_eq!(best, Some(0.5));
    /// # Ok::<(), assay_reader::Refused>(())
    /// ```
    #[must_use]
    pub fn iter<T: Element>(&self) -> Option<impl ExactSizeIterator<Item = T> + use<'a, T>> {
        let order = self.order;
        (self.ty == T::TYPE).then(|| self.bytes.chunks_exact(size_of::<T>()).map(move |bytes| T::read(bytes, order)))
    }

    /// A copy of the elements, if they are of the type of `T`.
    #[must_use]
    pub fn to_vec<T: Element>(&self) -> Option<Vec<T>> {
        Some(self.iter()?.collect())
    }

    /// The elements of an array of numbers or bools of any type.
    #[must_use]
    pub fn numbers(&self) -> Option<impl ExactSizeIterator<Item = Number> + use<'a>> {
        let Self { ty, order, bytes, .. } = *self;
        Some(bytes.chunks_exact(ty.size()?).map(move |bytes| Number { ty, bits: order.bits(bytes) }))
    }

    /// The elements of an array of strings. Each is found from the one before it.
    #[must_use]
    pub fn strings(&self) -> Option<Strings<'a>> {
        (self.ty == ValueType::String).then_some(Strings { left: self.len, bytes: self.bytes, order: self.order })
    }

    /// The elements of an array of arrays. Each is found from the one before it.
    #[must_use]
    pub fn arrays(&self) -> Option<Arrays<'a>> {
        (self.ty == ValueType::Array).then_some(Arrays { left: self.len, bytes: self.bytes, order: self.order })
    }
}

/// The strings of an array.
#[derive(Clone, Debug)]
pub struct Strings<'a> {
    left: usize,
    bytes: &'a [u8],
    order: ByteOrder,
}

impl<'a> Iterator for Strings<'a> {
    type Item = &'a [u8];

    #[inline]
    fn next(&mut self) -> Option<&'a [u8]> {
        self.left = self.left.checked_sub(1)?;
        let (length, rest) = self.bytes.split_first_chunk()?;
        let (string, rest) = rest.split_at_checked(usize::try_from(self.order.u64(*length)).ok()?)?;
        self.bytes = rest;
        Some(string)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl ExactSizeIterator for Strings<'_> {}

/// The arrays of an array.
#[derive(Clone, Debug)]
pub struct Arrays<'a> {
    left: usize,
    bytes: &'a [u8],
    order: ByteOrder,
}

impl<'a> Iterator for Arrays<'a> {
    type Item = Array<'a>;

    fn next(&mut self) -> Option<Array<'a>> {
        self.left = self.left.checked_sub(1)?;
        let array = Array::new(self.bytes, self.order);
        self.bytes = behind(self.bytes, self.order);
        Some(array)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl ExactSizeIterator for Arrays<'_> {}

/// What lies behind the array that these bytes start with. It was read before, so that no level is deeper
/// than the stack.
fn behind(mut bytes: &[u8], order: ByteOrder) -> &[u8] {
    // Elements still to come of each array around the one at hand.
    let mut outer = [0usize; MAX_NESTING];
    let mut depth = 0;
    loop {
        let array = Array::new(bytes, order);
        bytes = &bytes[12..];
        match array.ty {
            ValueType::Array => {
                outer[depth] = array.len;
                depth += 1;
            }
            ValueType::String => {
                let mut strings = Strings { left: array.len, bytes, order };
                while strings.next().is_some() {}
                bytes = strings.bytes;
            }
            _ => bytes = &bytes[array.bytes.len()..],
        }
        while depth > 0 && outer[depth - 1] == 0 {
            depth -= 1;
        }
        let Some(left) = depth.checked_sub(1).map(|last| &mut outer[last]) else { return bytes };
        *left -= 1;
    }
}

mod sealed {
    pub trait Sealed {}
}

/// A Rust type for the elements of an array.
pub trait Element: sealed::Sealed + Sized {
    /// The type of the format.
    const TYPE: ValueType;

    /// An element from its bytes.
    #[doc(hidden)]
    fn read(bytes: &[u8], order: ByteOrder) -> Self;
}

macro_rules! elements {
    ($($rust:ident $ty:ident,)*) => {$(
        impl sealed::Sealed for $rust {}

        impl Element for $rust {
            const TYPE: ValueType = ValueType::$ty;

            #[inline]
            fn read(bytes: &[u8], order: ByteOrder) -> Self {
                let bytes = bytes.first_chunk().copied().unwrap_or_default();
                match order {
                    ByteOrder::Little => Self::from_le_bytes(bytes),
                    ByteOrder::Big => Self::from_be_bytes(bytes),
                }
            }
        }
    )*};
}

elements! {
    u8 U8, i8 I8, u16 U16, i16 I16, u32 U32, i32 I32, u64 U64, i64 I64, f32 F32, f64 F64,
}
