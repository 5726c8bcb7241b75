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
            report.add(rule, span, Field::Tensor(i, part), expected, actual)
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

type Add<'a> = dyn FnMut(&'static Rule, TensorPart, String, String) -> bool + 'a;

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
    if let Some(j) = tensor.dims.iter().position(|&dim| dim > i64::MAX as u64) {
        let actual = tensor.dims[j].to_string();
        add(&tensors::DIM_SIGNED, TensorPart::Dim(j), "less than 2^63".to_owned(), actual);
    } else if let Some(j) = elements_out_of_range(&tensor.dims) {
        let actual = format!("{:?}", tensor.dims);
        add(&tensors::ELEMENTS_RANGE, TensorPart::Dim(j), "fewer than 2^63 - 1 elements".to_owned(), actual);
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
    if row % ty.block != 0 {
        let part = if tensor.dims.is_empty() { TensorPart::NDims } else { TensorPart::Dim(0) };
        let expected = format!("a multiple of {}, the block size of {}", ty.block, ty.name);
        add(&tensors::BLOCK_MULTIPLE, part, expected, row.to_string());
    } else if representable(tensor) && byte_size(tensor).is_some_and(|size| size > u128::from(u64::MAX)) {
        let expected = "a size under 2^64 bytes".to_owned();
        add(&tensors::BYTES_RANGE, TensorPart::Type, expected, format!("{:?} of {}", tensor.dims, ty.name));
    }
}

/// Whether the shape passes the rules about dimensions, so that its size is a meaningful number.
fn representable(tensor: &TensorInfo) -> bool {
    tensor.n_dims <= MAX_DIMS
        && tensor.dims.iter().all(|&dim| i64::try_from(dim).is_ok())
        && elements_out_of_range(&tensor.dims).is_none()
}

/// The size of a tensor's data in bytes, if it has a layout and the rules allow its shape: at most 2^64 - 1.
#[must_use]
pub(crate) fn representable_size(tensor: &TensorInfo) -> Option<u128> {
    byte_size(tensor).filter(|&size| representable(tensor) && size <= u128::from(u64::MAX))
}

/// The size of a tensor's data in bytes, rounded up to whole blocks in each row; `None` if its type
/// has no layout. Saturates far above 2^64.
#[must_use]
fn byte_size(tensor: &TensorInfo) -> Option<u128> {
    let ty = TensorType::from_id(tensor.type_id).filter(|ty| ty.has_layout())?;
    if tensor.dims.contains(&0) {
        return Some(0);
    }
    let row = tensor.dims.first().copied().unwrap_or(1);
    let rows = tensor.dims.iter().skip(1).fold(1u128, |product, &dim| product.saturating_mul(u128::from(dim)));
    Some((u128::from(row.div_ceil(ty.block)) * u128::from(ty.bytes)).saturating_mul(rows))
}
