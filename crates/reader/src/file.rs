//! A file that was read.

use std::ops::Range;

use gguf_spec::types::{TensorType, ValueType};

use crate::cursor::ByteOrder;
use crate::index::Index;
use crate::layout::DataPlace;
use crate::metadata::PairPlace;
use crate::tensors::TensorPlace;
use crate::value::{Pair, Value, text};

/// A file that was read and that keeps every rule that counts. It borrows from the bytes it was read
/// from, and holds a few words for each pair and tensor.
#[derive(Clone, Debug, Default)]
pub struct File<'a> {
    pub(crate) head: &'a [u8],
    pub(crate) len: u64,
    pub(crate) order: ByteOrder,
    pub(crate) version: u32,
    pub(crate) tensor_count: u64,
    pub(crate) kv_count: u64,
    pub(crate) alignment: u64,
    pub(crate) pairs: Vec<PairPlace>,
    pub(crate) metadata_end: usize,
    pub(crate) keys: Index,
    pub(crate) tensors: Vec<TensorPlace>,
    pub(crate) names: Index,
    pub(crate) data: Option<DataPlace>,
}

impl<'a> File<'a> {
    /// The version of the format.
    #[must_use]
    pub fn version(&self) -> u32 {
        self.version
    }

    /// The order of the bytes of every number, tensor data included.
    #[must_use]
    pub fn byte_order(&self) -> ByteOrder {
        self.order
    }

    /// The length of the whole file in bytes.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Never: a file has a header.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The declared number of tensors.
    #[must_use]
    pub fn tensor_count(&self) -> u64 {
        self.tensor_count
    }

    /// The declared number of pairs.
    #[must_use]
    pub fn kv_count(&self) -> u64 {
        self.kv_count
    }

    /// The alignment in force, in bytes: that of `general.alignment`, or 32.
    #[must_use]
    pub fn alignment(&self) -> u64 {
        self.alignment
    }

    /// Where the metadata ends and the tensor table starts, in bytes from the start of the file.
    #[must_use]
    pub fn metadata_end(&self) -> u64 {
        self.metadata_end as u64
    }

    /// Where the tensor table ends, in bytes from the start of the file: the size of the header without
    /// padding. `None` if reading ended before the layout.
    #[must_use]
    pub fn table_end(&self) -> Option<u64> {
        Some(self.data?.table_end)
    }

    /// Where the tensor data starts, in bytes from the start of the file; `None` without tensors.
    #[must_use]
    pub fn data_offset(&self) -> Option<u64> {
        if self.tensors.is_empty() { None } else { Some(self.data?.start) }
    }

    /// The pairs, in file order.
    #[must_use]
    pub fn metadata(&self) -> impl ExactSizeIterator<Item = Pair<'a>> + use<'a, '_> {
        (0..self.pairs.len()).map(|i| self.pair_at(i))
    }

    /// The pair with this index.
    #[must_use]
    pub fn pair(&self, i: usize) -> Option<Pair<'a>> {
        (i < self.pairs.len()).then(|| self.pair_at(i))
    }

    /// The value of a key, compared by all its bytes. If a policy allows several pairs of one key, the
    /// first counts.
    #[must_use]
    pub fn get(&self, key: impl AsRef<[u8]>) -> Option<Value<'a>> {
        let i = self.keys.find(key.as_ref(), |i| self.pairs[i].key(self.head))?;
        Some(self.pair_at(i).value())
    }

    fn pair_at(&self, i: usize) -> Pair<'a> {
        let place = &self.pairs[i];
        let end = self.pairs.get(i + 1).map_or(self.metadata_end, |next| next.at);
        let ty = ValueType::from_id(self.order.u32_at(self.head, place.ty)).unwrap_or(ValueType::U8);
        Pair::new(place.key(self.head), Value::new(ty, &self.head[place.ty + 4..end], self.order))
    }

    /// Where the type of a pair lies.
    pub(crate) fn type_at(&self, i: usize) -> u64 {
        self.pairs[i].ty as u64
    }

    /// Where the elements of the array of a pair lie, behind three types and lengths.
    pub(crate) fn elements_at(&self, i: usize) -> u64 {
        self.type_at(i) + 4 + 4 + 8
    }

    /// The tensors, in table order.
    #[must_use]
    pub fn tensors(&self) -> impl ExactSizeIterator<Item = Tensor<'a>> + use<'a, '_> {
        (0..self.tensors.len()).map(|i| self.tensor_at(i))
    }

    /// The tensor with this index.
    #[must_use]
    pub fn tensor(&self, i: usize) -> Option<Tensor<'a>> {
        (i < self.tensors.len()).then(|| self.tensor_at(i))
    }

    /// The tensor with this name, compared by all its bytes. If a policy allows several of one name, the
    /// first counts.
    #[must_use]
    pub fn tensor_named(&self, name: impl AsRef<[u8]>) -> Option<Tensor<'a>> {
        // The index knows names as far as their first NUL.
        let wanted = name.as_ref();
        let compared = crate::tensors::compared(wanted);
        let i = self.names.find(compared, |i| crate::tensors::compared(self.tensors[i].name(self.head)))?;
        let found = self.tensor_at(i);
        if found.name == wanted { Some(found) } else { self.tensors().find(|tensor| tensor.name == wanted) }
    }

    fn tensor_at(&self, i: usize) -> Tensor<'a> {
        let place = &self.tensors[i];
        let (head, order) = (self.head, self.order);
        let mut dims = [1; 4];
        let n_dims = place.n_dims(head, order).min(4);
        for (j, dim) in dims[..n_dims].iter_mut().enumerate() {
            *dim = place.dim(j, head, order);
        }
        let offset = place.offset(head, order);
        let start = self.data.and_then(|data| data.start.checked_add(offset));
        let type_id = place.type_id(head, order);
        Tensor { name: place.name(head), dims, n_dims, type_id, offset, size: place.size, start }
    }
}

/// An entry of the tensor table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tensor<'a> {
    name: &'a [u8],
    dims: [u64; 4],
    n_dims: usize,
    type_id: u32,
    offset: u64,
    size: u64,
    start: Option<u64>,
}

impl<'a> Tensor<'a> {
    /// The bytes of the name.
    #[must_use]
    pub fn name(&self) -> &'a [u8] {
        self.name
    }

    /// The name, if it is UTF-8. Under [`Policy::strict`](crate::Policy::strict) every name is.
    #[must_use]
    pub fn name_str(&self) -> Option<&'a str> {
        text(self.name)
    }

    /// The dimensions, in elements; the first is the length of a row. At most four.
    #[must_use]
    pub fn dims(&self) -> &[u64] {
        &self.dims[..self.n_dims]
    }

    /// The number of the type.
    #[must_use]
    pub fn type_id(&self) -> u32 {
        self.type_id
    }

    /// The type: its name, block size and the places of its scales. Every profile wants it to be known.
    #[must_use]
    pub fn ty(&self) -> Option<&'static TensorType> {
        TensorType::from_id(self.type_id)
    }

    /// Where the data starts, in bytes from the start of the tensor data.
    #[must_use]
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// The size of the data in bytes, without padding.
    ///
    /// ggml's profiles accept some shapes whose size does not fit 64 bits (`tensor.elements.wrap`,
    /// `tensor.bytes.wrap`); then this is what ggml takes the size for.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Where the data lies, in bytes from the start of the file; `None` if that is beyond 64 bits, or if
    /// reading ended before the layout. Whether the file reaches so far is a rule of the data stage.
    #[must_use]
    pub fn range(&self) -> Option<Range<u64>> {
        let start = self.start?;
        Some(start..start.checked_add(self.size)?)
    }
}
