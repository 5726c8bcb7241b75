//! The rules about single tensor infos.

use std::collections::HashMap;

use super::{Context, Report};
use crate::field::{Field, TensorPart, printable};
use crate::limits::{MAX_DIMS, MAX_TENSOR_NAME_LENGTH};
use crate::profile::c_string;
use crate::rules::{Rule, tensors};
use crate::syntax::TensorInfo;
use crate::types::{TensorType, TypeStatus};

pub(super) fn check(context: &Context<'_, '_>, report: &mut Report<'_>) {
    let mut seen = HashMap::new();
    for (i, tensor) in context.tree.tensors.iter().enumerate() {
        let mut add = |rule: &'static Rule, part: TensorPart, expected: String, actual: String| {
            let span = context.places.tensor_part(context.tree, i, part);
            report.add(rule, span, Field::Tensor(i, part), expected, actual);
        };
        check_name(tensor, &mut add);
        let first = *seen.entry(c_string(&tensor.name.bytes)).or_insert(i);
        if first != i {
            let actual = format!("{}, the name of tensor {first} too", printable(&tensor.name.bytes));
            add(&tensors::NAME_DUPLICATE, TensorPart::Name, "a name of its own".to_owned(), actual);
        }
        check_shape(tensor, &mut add);
        check_type(tensor, &mut add);
    }
}

type Add<'a> = dyn FnMut(&'static Rule, TensorPart, String, String) + 'a;

fn check_name(tensor: &TensorInfo, add: &mut Add<'_>) {
    let name = &tensor.name.bytes;
    let length = name.len() as u64;
    if length > MAX_TENSOR_NAME_LENGTH {
        add(&tensors::NAME_LENGTH, TensorPart::Name, "at most 64 bytes".to_owned(), format!("{length} bytes"));
    } else if length == MAX_TENSOR_NAME_LENGTH {
        add(&tensors::NAME_TERMINATOR, TensorPart::Name, "at most 63 bytes".to_owned(), "64 bytes".to_owned());
    }
    if std::str::from_utf8(name).is_err() {
        add(&tensors::NAME_UTF8, TensorPart::Name, "UTF-8".to_owned(), printable(name));
    }
}

fn check_shape(tensor: &TensorInfo, add: &mut Add<'_>) {
    if tensor.n_dims > MAX_DIMS {
        add(&tensors::N_DIMS_MAX, TensorPart::NDims, "at most 4".to_owned(), tensor.n_dims.to_string());
    }
    let negative = tensor.dims.iter().position(|&dim| i64::try_from(dim).is_err());
    if let Some(j) = negative.filter(|_| tensor.dims.contains(&0)) {
        let actual = tensor.dims[j].to_string();
        add(&tensors::DIM_SIGNED, TensorPart::Dim(j), "less than 2^63".to_owned(), actual);
    } else if let Some(j) = elements_out_of_range(&tensor.dims) {
        let rule = if wraps_past_ggml(tensor) { &tensors::ELEMENTS_WRAP } else { &tensors::ELEMENTS_RANGE };
        add(rule, TensorPart::Dim(j), "fewer than 2^63 - 1 elements".to_owned(), shape(&tensor.dims));
    }
}

/// Dimensions for a message: a file may have a million of them.
fn shape(dims: &[u64]) -> String {
    match dims.split_at_checked(MAX_DIMS as usize) {
        Some((first, rest)) if !rest.is_empty() => format!("{first:?} and {} more", rest.len()),
        _ => format!("{dims:?}"),
    }
}

/// ggml's test of the number of elements, as observed: the index of the dimension it objects to.
/// With no dimension of 0, the product of the dimensions before one must be less than 2^63 - 1
/// divided by that one, rounded down; dimensions that are not there count as 1.
#[must_use]
pub(crate) fn elements_out_of_range(dims: &[u64]) -> Option<usize> {
    const MAX: u64 = i64::MAX as u64;
    if dims.contains(&0) {
        return None;
    }
    let mut product = 1;
    for (j, &dim) in dims.iter().enumerate() {
        if j > 0 && MAX / dim <= product {
            return Some(j);
        }
        // The test above keeps the product under 2^63.
        product = dim.saturating_mul(product);
    }
    (dims.len() <= 1 && product >= MAX).then_some(0)
}

fn check_type(tensor: &TensorInfo, add: &mut Add<'_>) {
    let id = tensor.type_id;
    let Some(ty) = TensorType::from_id(id) else {
        add(&tensors::TYPE_KNOWN, TensorPart::Type, "an assigned type, at most 42".to_owned(), id.to_string());
        return;
    };
    let named = || format!("{id} ({})", ty.name);
    match ty.status {
        TypeStatus::Live => {}
        TypeStatus::Newer => {
            add(&tensors::TYPE_DOCUMENT, TensorPart::Type, "a type of the document, at most 39".to_owned(), named());
        }
        TypeStatus::Removed => {
            add(&tensors::TYPE_REMOVED, TensorPart::Type, "a type that has a layout".to_owned(), named());
            return;
        }
    }
    let row = tensor.dims.first().copied().unwrap_or(1);
    let in_range = sound_shape(tensor) && elements_out_of_range(&tensor.dims).is_none();
    let shape_and_type = || format!("{:?} of {}", tensor.dims, ty.name);
    let under_range = || "a size under 2^64 bytes".to_owned();
    if row % ty.block != 0 {
        let part = if tensor.dims.is_empty() { TensorPart::NDims } else { TensorPart::Dim(0) };
        let expected = format!("a multiple of {}, the block size of {}", ty.block, ty.name);
        add(&tensors::BLOCK_MULTIPLE, part, expected, row.to_string());
        // The document says nothing of such rows; in whole blocks they have a size all the same.
        if in_range && exact_size(tensor, ty) > u128::from(u64::MAX) {
            add(&tensors::BYTES_RANGE, TensorPart::Type, under_range(), shape_and_type());
        }
    } else if in_range {
        if !ggml_bytes_fit(tensor, ty) {
            add(&tensors::BYTES_RANGE, TensorPart::Type, under_range(), shape_and_type());
        } else if exact_size(tensor, ty) != u128::from(ggml_size(tensor, ty)) {
            let expected = "a row whose elements times the bytes of a block are under 2^64".to_owned();
            add(&tensors::BYTES_WRAP, TensorPart::Type, expected, shape_and_type());
        }
    }
}

/// Whether the dimensions, taken one by one, are of a shape at all.
fn sound_shape(tensor: &TensorInfo) -> bool {
    tensor.n_dims <= MAX_DIMS && tensor.dims.iter().all(|&dim| i64::try_from(dim).is_ok())
}

/// The product of the dimensions as ggml computes it: signed, with whatever is over 64 bits lost.
fn ggml_elements(tensor: &TensorInfo) -> i64 {
    tensor.dims.iter().fold(1u64, |product, &dim| product.wrapping_mul(dim)).cast_signed()
}

/// Whether ggml 0.25.1 takes a shape of too many elements: it tests each dimension for being negative,
/// then only products that are positive after they have wrapped, and then the size in bytes.
fn wraps_past_ggml(tensor: &TensorInfo) -> bool {
    sound_shape(tensor)
        && ggml_elements(tensor) <= 0
        && TensorType::from_id(tensor.type_id)
            .is_none_or(|ty| !ty.has_layout() || rest_of_row(tensor, ty) != 0 || ggml_bytes_fit(tensor, ty))
}

/// ggml's test of the size in bytes: whole blocks, as an unsigned number, times the bytes of one.
fn ggml_bytes_fit(tensor: &TensorInfo, ty: &TensorType) -> bool {
    let blocks = ggml_elements(tensor) / ty.block.cast_signed();
    blocks.cast_unsigned().checked_mul(ty.bytes).is_some()
}

/// The elements of a row that do not fill a block.
fn rest_of_row(tensor: &TensorInfo, ty: &TensorType) -> u64 {
    tensor.dims.first().copied().unwrap_or(1) % ty.block
}

/// The size of a tensor's data in bytes as ggml reckons it; `None` if its type has no layout, or
/// ggml refuses its shape.
///
/// The true size, except in the few tensors whose size wraps although ggml takes them, which no file
/// could hold. A row that ends inside a block, which ggml refuses too, is rounded up.
#[must_use]
pub(crate) fn representable_size(tensor: &TensorInfo) -> Option<u128> {
    let ty = TensorType::from_id(tensor.type_id).filter(|ty| ty.has_layout())?;
    if tensor.n_dims <= MAX_DIMS && tensor.dims.contains(&0) {
        return Some(0);
    }
    if !sound_shape(tensor) || (elements_out_of_range(&tensor.dims).is_some() && !wraps_past_ggml(tensor)) {
        return None;
    }
    if rest_of_row(tensor, ty) != 0 {
        return Some(exact_size(tensor, ty)).filter(|&size| size <= u128::from(u64::MAX));
    }
    ggml_bytes_fit(tensor, ty).then(|| u128::from(ggml_size(tensor, ty)))
}

/// The size in bytes, rounded up to whole blocks in each row. Saturates far above 2^64.
fn exact_size(tensor: &TensorInfo, ty: &TensorType) -> u128 {
    if tensor.dims.contains(&0) {
        return 0;
    }
    let row = tensor.dims.first().copied().unwrap_or(1);
    let rows = tensor.dims.iter().skip(1).fold(1u128, |product, &dim| product.saturating_mul(u128::from(dim)));
    (u128::from(row.div_ceil(ty.block)) * u128::from(ty.bytes)).saturating_mul(rows)
}

/// `ggml_nbytes`, as observed: the place of the last element from the strides, in 64 bits, whatever
/// is over lost.
fn ggml_size(tensor: &TensorInfo, ty: &TensorType) -> u64 {
    if tensor.dims.contains(&0) {
        return 0;
    }
    let row = tensor.dims.first().copied().unwrap_or(1);
    let mut size = row.wrapping_mul(ty.bytes) / ty.block;
    let mut stride = ty.bytes.wrapping_mul(row / ty.block);
    for &dim in tensor.dims.iter().skip(1) {
        size = size.wrapping_add((dim - 1).wrapping_mul(stride));
        stride = stride.wrapping_mul(dim);
    }
    size
}
