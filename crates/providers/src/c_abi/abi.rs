//! The calls. Layouts and signatures are those of `include/assay_kernels.h`.
//!
//! What every argument below rests on: whoever names a library vouches that it is a provider, so that each
//! function has the signature of the header. That a function keeps the promises of the header about memory is what
//! is tested: a provider that does not is undefined behaviour in the process that has loaded it, which is a child
//! made for that.
#![allow(unsafe_code)]

use std::ffi::{CStr, c_char, c_void};
use std::path::Path;

use super::LoadError;

/// `struct assay_terms`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Terms {
    pub(super) weights: u32,
    pub(super) activations: u32,
    pub(super) accumulator: u32,
    pub(super) chunk: u32,
    pub(super) flags: u32,
    pub(super) reserved: u32,
    pub(super) reads_past: u64,
}

/// `struct assay_matmul_args`.
#[repr(C)]
struct MatmulArgs {
    ty: u32,
    threads: u32,
    rows: u64,
    k: u64,
    row_stride: u64,
    columns: u64,
    x_stride: u64,
    y_stride: u64,
    weights: *const c_void,
    x: *const f32,
    y: *mut f32,
}

/// `struct assay_matmul_id_args`.
#[repr(C)]
struct MatmulIdArgs {
    ty: u32,
    threads: u32,
    rows: u64,
    k: u64,
    row_stride: u64,
    experts: u64,
    expert_stride: u64,
    pairs: u64,
    used: u64,
    columns: u64,
    x_stride: u64,
    y_stride: u64,
    weights: *const c_void,
    ids: *const u32,
    x: *const f32,
    y: *mut f32,
}

/// `struct assay_get_rows_args`.
#[repr(C)]
struct GetRowsArgs {
    ty: u32,
    reserved: u32,
    rows: u64,
    k: u64,
    row_stride: u64,
    count: u64,
    weights: *const c_void,
    ids: *const u32,
    y: *mut f32,
}

// The header states the same sizes.
#[cfg(target_pointer_width = "64")]
const _: () = {
    assert!(size_of::<Terms>() == 32);
    assert!(size_of::<MatmulArgs>() == 80);
    assert!(size_of::<MatmulIdArgs>() == 120);
    assert!(size_of::<GetRowsArgs>() == 64);
};

type ContractFn = unsafe extern "C" fn(u32, u32, u64, *mut Terms) -> i32;
type DequantizeFn = unsafe extern "C" fn(u32, *const c_void, u64, *mut f32) -> i32;
type QuantizeRowFn = unsafe extern "C" fn(u32, *const f32, u64, *mut c_void) -> i32;
type DotFn = unsafe extern "C" fn(u32, *const c_void, *const f32, u64, *mut f32) -> i32;
type MatmulFn = unsafe extern "C" fn(*const MatmulArgs) -> i32;
type MatmulIdFn = unsafe extern "C" fn(*const MatmulIdArgs) -> i32;
type GetRowsFn = unsafe extern "C" fn(*const GetRowsArgs) -> i32;

/// A loaded provider.
pub(super) struct Library {
    contract: ContractFn,
    dequantize: DequantizeFn,
    quantize_row: QuantizeRowFn,
    dot: DotFn,
    matmul: MatmulFn,
    matmul_id: Option<MatmulIdFn>,
    get_rows: Option<GetRowsFn>,
    name: String,
    /// Last: the functions are gone when it is.
    _library: libloading::Library,
}

/// A function of a library, by its name without the final zero.
///
/// # Safety
///
/// The library's symbol of this name, if there is one, is a function of type `F`, a function pointer.
unsafe fn find<F: Copy>(library: &libloading::Library, symbol: &str) -> Option<F> {
    // SAFETY: the caller's.
    unsafe { library.get::<F>(symbol) }.ok().map(|found| *found)
}

impl Library {
    pub(super) fn load(path: &Path) -> Result<Self, LoadError> {
        // SAFETY: the library is a provider (see the head of this file): its initialisers may run here.
        let library = unsafe { libloading::Library::new(path) }
            .map_err(|error| LoadError::Load { path: path.to_owned(), reason: crate::reason(&error) })?;
        let absent = |symbol: &str| LoadError::Symbol { path: path.to_owned(), symbol: symbol.to_owned() };
        macro_rules! required {
            ($symbol:literal: $signature:ty) => {
                // SAFETY: the signature is that of the header (see the head of this file).
                unsafe { find::<$signature>(&library, $symbol) }.ok_or_else(|| absent($symbol))?
            };
        }
        let abi = required!("assay_kernels_abi": unsafe extern "C" fn() -> u32);
        // SAFETY: takes nothing; every version of the interface has this function.
        let found = unsafe { abi() };
        if found != super::ABI {
            return Err(LoadError::Abi { path: path.to_owned(), found });
        }
        let name = required!("assay_kernels_name": unsafe extern "C" fn() -> *const c_char);
        // SAFETY: takes nothing.
        let name = unsafe { name() };
        let name = if name.is_null() {
            Err("a null pointer".to_owned())
        } else {
            // SAFETY: the header promises a string that ends with a zero and lives as long as the library.
            let name = unsafe { CStr::from_ptr(name) };
            let line = |name: &&str| !name.is_empty() && !name.contains(char::is_control);
            match name.to_bytes().len() {
                length if length > super::LONGEST_NAME => Err(format!("{length} bytes")),
                _ => name.to_str().ok().filter(line).map(ToOwned::to_owned).ok_or_else(|| format!("{name:?}")),
            }
        };
        let name = name.map_err(|found| LoadError::Name { path: path.to_owned(), found })?;
        Ok(Self {
            contract: required!("assay_contract": ContractFn),
            dequantize: required!("assay_dequantize": DequantizeFn),
            quantize_row: required!("assay_quantize_row": QuantizeRowFn),
            dot: required!("assay_dot": DotFn),
            matmul: required!("assay_matmul": MatmulFn),
            // SAFETY: the signatures are those of the header (see the head of this file).
            matmul_id: unsafe { find(&library, "assay_matmul_id") },
            // SAFETY: as above.
            get_rows: unsafe { find(&library, "assay_get_rows") },
            name,
            _library: library,
        })
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn has_matmul_id(&self) -> bool {
        self.matmul_id.is_some()
    }

    pub(super) fn has_get_rows(&self) -> bool {
        self.get_rows.is_some()
    }

    /// The code that was returned, and the terms, which are looked at if it is 0.
    pub(super) fn contract(&self, operation: u32, ty: u32, columns: u64) -> (i32, Terms) {
        let mut terms = Terms::default();
        // SAFETY: the pointer is to terms that live during the call.
        let code = unsafe { (self.contract)(operation, ty, columns, &raw mut terms) };
        (code, terms)
    }

    /// `blocks` are those of as many weights as `out` has elements.
    pub(super) fn dequantize(&self, ty: u32, blocks: &[u8], out: &mut [f32]) -> i32 {
        // SAFETY: the pointers are to as much as the count says, by the contract of this function, and live during
        // the call; `out` is borrowed mutably.
        unsafe { (self.dequantize)(ty, blocks.as_ptr().cast(), out.len() as u64, out.as_mut_ptr()) }
    }

    /// `out` has the bytes of as many weights as there are `values`.
    pub(super) fn quantize_row(&self, ty: u32, values: &[f32], out: &mut [u8]) -> i32 {
        // SAFETY: as for `dequantize`.
        unsafe { (self.quantize_row)(ty, values.as_ptr(), values.len() as u64, out.as_mut_ptr().cast()) }
    }

    /// `weights` are the blocks of as many weights as there are `activations`; `result` has one element.
    pub(super) fn dot(&self, ty: u32, weights: &[u8], activations: &[f32], result: &mut [f32]) -> i32 {
        assert_eq!(result.len(), 1, "a dot product has one result");
        let count = activations.len() as u64;
        // SAFETY: as for `dequantize`.
        unsafe { (self.dot)(ty, weights.as_ptr().cast(), activations.as_ptr(), count, result.as_mut_ptr()) }
    }

    /// A product that [`check::matmul`](gguf_spec::kernel::check::matmul) finds right.
    pub(super) fn matmul(&self, product: &gguf_spec::kernel::Matmul<'_>, y: &mut [f32]) -> i32 {
        let (weights, columns) = (&product.weights, &product.columns);
        let args = MatmulArgs {
            ty: weights.ty.id,
            threads: u32::try_from(product.threads).unwrap_or(u32::MAX),
            rows: weights.rows as u64,
            k: weights.k as u64,
            row_stride: weights.row_stride as u64,
            columns: columns.count as u64,
            x_stride: columns.stride as u64,
            y_stride: product.y_stride as u64,
            weights: weights.bytes.as_ptr().cast(),
            x: columns.values.as_ptr(),
            y: y.as_mut_ptr(),
        };
        // SAFETY: the operands and the result are as large as the counts and strides say, which the caller has
        // checked, and live during the call; `y` is borrowed mutably.
        unsafe { (self.matmul)(&raw const args) }
    }

    /// A product that [`check::matmul_id`](gguf_spec::kernel::check::matmul_id) finds right; `None` if there is no
    /// such function.
    pub(super) fn matmul_id(&self, product: &gguf_spec::kernel::MatmulId<'_>, y: &mut [f32]) -> Option<i32> {
        let (weights, columns) = (&product.weights, &product.columns);
        let args = MatmulIdArgs {
            ty: weights.ty.id,
            threads: u32::try_from(product.threads).unwrap_or(u32::MAX),
            rows: weights.rows as u64,
            k: weights.k as u64,
            row_stride: weights.row_stride as u64,
            experts: product.experts as u64,
            expert_stride: product.expert_stride as u64,
            pairs: product.ids.len() as u64,
            used: product.used as u64,
            columns: columns.count as u64,
            x_stride: columns.stride as u64,
            y_stride: product.y_stride as u64,
            weights: weights.bytes.as_ptr().cast(),
            ids: product.ids.as_ptr(),
            x: columns.values.as_ptr(),
            y: y.as_mut_ptr(),
        };
        // SAFETY: as for `matmul`.
        self.matmul_id.map(|matmul_id| unsafe { matmul_id(&raw const args) })
    }

    /// Rows that [`check::get_rows`](gguf_spec::kernel::check::get_rows) finds right; `None` if there is no such
    /// function.
    pub(super) fn get_rows(&self, weights: &gguf_spec::kernel::Matrix<'_>, ids: &[u32], y: &mut [f32]) -> Option<i32> {
        let args = GetRowsArgs {
            ty: weights.ty.id,
            reserved: 0,
            rows: weights.rows as u64,
            k: weights.k as u64,
            row_stride: weights.row_stride as u64,
            count: ids.len() as u64,
            weights: weights.bytes.as_ptr().cast(),
            ids: ids.as_ptr(),
            y: y.as_mut_ptr(),
        };
        // SAFETY: as for `matmul`.
        self.get_rows.map(|get_rows| unsafe { get_rows(&raw const args) })
    }
}
