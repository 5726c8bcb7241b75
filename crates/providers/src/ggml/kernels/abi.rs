//! The C interface of ggml's kernels: tables of functions by type, and graphs of one node.
//!
//! What every argument below rests on: whoever names a directory vouches that the libraries in it are ggml of
//! the versions whose structures are written down here (`ggml.h` and `ggml-cpu.h` of ggml 0.25); the size of a
//! tensor is compared when a library is loaded. Enums are C `int`s.
#![allow(unsafe_code)]

use std::ffi::{c_char, c_int, c_void};
use std::path::{Path, PathBuf};
use std::ptr;

use gguf_spec::kernel::{KernelError, Matmul, MatmulId, Matrix, alignment, check, row_bytes};
use gguf_spec::types::TensorType;

use super::super::{Error, Release};
use super::words::{Aligned, copy_bytes, zeros};

/// `struct ggml_context`, seen through pointers only.
#[repr(C)]
struct Context {
    _opaque: [u8; 0],
}

/// `struct ggml_cgraph`, seen through pointers only.
#[repr(C)]
struct Graph {
    _opaque: [u8; 0],
}

/// `struct ggml_init_params`, passed by value.
#[repr(C)]
struct InitParams {
    mem_size: usize,
    mem_buffer: *mut c_void,
    no_alloc: bool,
}

/// `struct ggml_tensor`.
#[repr(C)]
struct Tensor {
    ty: c_int,
    buffer: *mut c_void,
    ne: [i64; 4],
    nb: [usize; 4],
    op: c_int,
    op_params: [i32; 16],
    flags: i32,
    src: [*mut Tensor; 10],
    view_src: *mut Tensor,
    view_offs: usize,
    data: *mut c_void,
    name: [c_char; 64],
    extra: *mut c_void,
    padding: [c_char; 8],
}

/// What `ggml_tensor_overhead` answers: a tensor, and the 32 bytes of a `struct ggml_object`.
const TENSOR_OVERHEAD: usize = size_of::<Tensor>() + 32;

type ToFloat = unsafe extern "C" fn(blocks: *const c_void, values: *mut f32, count: i64);
type FromFloat = unsafe extern "C" fn(values: *const f32, blocks: *mut c_void, count: i64);
type VecDot = unsafe extern "C" fn(
    n: c_int,
    result: *mut f32,
    result_stride: usize,
    x: *const c_void,
    x_stride: usize,
    y: *const c_void,
    y_stride: usize,
    rows: c_int,
);

/// `struct ggml_type_traits`.
#[repr(C)]
struct Traits {
    type_name: *const c_char,
    blck_size: i64,
    blck_size_interleave: i64,
    type_size: usize,
    is_quantized: bool,
    to_float: Option<ToFloat>,
    from_float_ref: Option<FromFloat>,
}

/// `struct ggml_type_traits_cpu`.
#[repr(C)]
struct CpuTraits {
    from_float: Option<FromFloat>,
    vec_dot: Option<VecDot>,
    vec_dot_type: c_int,
    nrows: i64,
}

functions! {
    /// What the base library has for kernels.
    #[expect(non_snake_case, reason = "the names are ggml's")]
    BaseFunctions:
    ggml_get_type_traits: fn(ty: c_int) -> *const Traits;
    ggml_validate_row_data: fn(ty: c_int, data: *const c_void, bytes: usize) -> bool;
    dequantize_row_q8_K: fn(blocks: *const c_void, values: *mut f32, count: i64);
    quantize_row_q8_K_ref: fn(values: *const f32, blocks: *mut c_void, count: i64);
    ggml_init: fn(params: InitParams) -> *mut Context;
    ggml_free: fn(ctx: *mut Context);
    ggml_tensor_overhead: fn() -> usize;
    ggml_graph_overhead: fn() -> usize;
    ggml_new_tensor_3d: fn(ctx: *mut Context, ty: c_int, ne0: i64, ne1: i64, ne2: i64) -> *mut Tensor;
    ggml_mul_mat: fn(ctx: *mut Context, a: *mut Tensor, b: *mut Tensor) -> *mut Tensor;
    ggml_mul_mat_id: fn(ctx: *mut Context, a: *mut Tensor, b: *mut Tensor, ids: *mut Tensor) -> *mut Tensor;
    ggml_get_rows: fn(ctx: *mut Context, a: *mut Tensor, ids: *mut Tensor) -> *mut Tensor;
    ggml_new_graph: fn(ctx: *mut Context) -> *mut Graph;
    ggml_build_forward_expand: fn(graph: *mut Graph, tensor: *mut Tensor);
}

functions! {
    /// What tells whether a build runs here; it may be called before that is known.
    Score:
    ggml_backend_score: fn() -> c_int;
}

functions! {
    /// What a build for one kind of processor has.
    CpuFunctions:
    ggml_cpu_init: fn();
    ggml_cpu_has_avx512_bf16: fn() -> c_int;
    ggml_get_type_traits_cpu: fn(ty: c_int) -> *const CpuTraits;
    ggml_graph_compute_with_ctx: fn(ctx: *mut Context, graph: *mut Graph, threads: c_int) -> c_int;
}

/// ggml's number for a type.
fn number(ty: &TensorType) -> c_int {
    c_int::try_from(ty.id).unwrap_or(c_int::MAX)
}

fn count(n: usize) -> Result<i64, KernelError> {
    i64::try_from(n).map_err(|_| KernelError::Arguments(format!("size: {n} is more than ggml counts")))
}

/// ggml's base library, with what it has for kernels.
pub(super) struct Base {
    functions: BaseFunctions,
    /// The ids of the types that it knows.
    known: Vec<u32>,
    /// Last, so that the functions go before what they point into.
    release: Release,
}

impl Base {
    /// Loads the base library from a directory.
    pub(super) fn load(directory: &Path) -> Result<Self, Error> {
        let release = Release::load(directory)?;
        let functions = BaseFunctions::find(release.library(), release.path())?;
        // SAFETY: takes nothing and returns a number.
        let actual = unsafe { (functions.ggml_tensor_overhead)() };
        if actual != TENSOR_OVERHEAD {
            return Err(Error::Layout { path: release.path().to_owned(), expected: TENSOR_OVERHEAD, actual });
        }
        // ggml's other functions do not ask whether there is such a type.
        let knows = |ty: &&TensorType| {
            // SAFETY: the library checks the number of the type, and reads nothing of no bytes.
            unsafe { (functions.ggml_validate_row_data)(number(ty), ptr::null(), 0) }
        };
        // It refuses Q8_1 and Q8_K, types of activations that it always had.
        let known = TensorType::live().filter(|ty| matches!(ty.name, "Q8_1" | "Q8_K") || knows(ty));
        let known = known.map(|ty| ty.id).collect();
        Ok(Self { functions, known, release })
    }

    /// The version of ggml; empty if the release does not tell.
    pub(super) fn version(&self) -> String {
        self.release.version().unwrap_or_default()
    }

    fn traits(&self, ty: &TensorType) -> Option<&Traits> {
        if !self.known.contains(&ty.id) {
            return None;
        }
        // SAFETY: the type is one that the library knows, so this is a row of a table that it holds as long as
        // it is loaded, and never changes.
        let traits = unsafe { (self.functions.ggml_get_type_traits)(number(ty)).as_ref() }?;
        // A type that is stored in another way is not this type.
        let same = u64::try_from(traits.type_size) == Ok(ty.bytes) && u64::try_from(traits.blck_size) == Ok(ty.block);
        same.then_some(traits)
    }

    fn decoder(&self, ty: &TensorType) -> Option<ToFloat> {
        let traits = self.traits(ty)?;
        traits.to_float.or((ty.name == "Q8_K").then_some(self.functions.dequantize_row_q8_K))
    }

    fn encoder(&self, ty: &TensorType) -> Option<FromFloat> {
        let traits = self.traits(ty)?;
        traits.from_float_ref.or((ty.name == "Q8_K").then_some(self.functions.quantize_row_q8_K_ref))
    }

    /// Whether the library decodes the type.
    pub(super) fn decodes(&self, ty: &TensorType) -> bool {
        self.decoder(ty).is_some()
    }

    /// Whether the library encodes the type.
    pub(super) fn encodes(&self, ty: &TensorType) -> bool {
        self.encoder(ty).is_some()
    }

    /// Decodes whole blocks.
    pub(super) fn dequantize(
        &self,
        ty: &'static TensorType,
        blocks: &[u8],
        out: &mut [f32],
    ) -> Result<(), KernelError> {
        let to_float = self.decoder(ty).ok_or(KernelError::Unsupported)?;
        check::dequantize(ty, blocks.len(), out.len())?;
        let count = count(out.len())?;
        let blocks = Aligned::new(blocks, alignment(ty));
        // SAFETY: the function is that of the type, whose blocks have the size that was compared; there are
        // whole blocks of `count` weights, aligned for the numbers in them, and as many elements to be written.
        unsafe { to_float(blocks.as_ptr().cast(), out.as_mut_ptr(), count) };
        Ok(())
    }

    /// Encodes a row by the reference function of the type.
    pub(super) fn quantize(&self, ty: &'static TensorType, values: &[f32], out: &mut [u8]) -> Result<(), KernelError> {
        quantize(self.encoder(ty).ok_or(KernelError::Unsupported)?, ty, values, out)
    }
}

/// Encodes a row by a function that is that of the type.
fn quantize(from_float: FromFloat, ty: &'static TensorType, values: &[f32], out: &mut [u8]) -> Result<(), KernelError> {
    check::quantize_row(ty, values.len(), out.len())?;
    let count = count(values.len())?;
    // The structure of Q8_1 in C begins with a pair of scales, read as one number.
    if out.as_ptr().addr().is_multiple_of(alignment(ty).max(4)) {
        // SAFETY: there are `count` values, whole blocks of the type, and as many bytes to be written as these
        // blocks have, aligned for the numbers in them.
        unsafe { from_float(values.as_ptr(), out.as_mut_ptr().cast(), count) };
    } else {
        let mut words = zeros(out.len());
        // SAFETY: as above; the words are aligned for all numbers.
        unsafe { from_float(values.as_ptr(), words.as_mut_ptr().cast(), count) };
        copy_bytes(&words, out);
    }
    Ok(())
}

/// A build of ggml's kernels for one kind of processor.
pub(super) struct Cpu {
    functions: CpuFunctions,
    base: Base,
    /// Last, so that the functions go before what they point into.
    _library: libloading::Library,
}

/// The library of a build, and whether this processor runs it.
fn open(path: &PathBuf) -> Result<(libloading::Library, bool), Error> {
    // SAFETY: loading runs the initialisers of the library; whoever names the directory vouches for it. ggml
    // itself loads every build to ask it for its score, so they run on any processor.
    let library = unsafe { libloading::Library::new(path) }.map_err(|error| Error::load(path, &error))?;
    let score = Score::find(&library, path)?;
    // SAFETY: takes nothing, and is built for any processor.
    let runs = unsafe { (score.ggml_backend_score)() } > 0;
    Ok((library, runs))
}

/// Whether this processor runs the build in a file.
pub(super) fn runs(path: &PathBuf) -> Result<bool, Error> {
    open(path).map(|(_, runs)| runs)
}

impl Cpu {
    /// Loads the base library, and a build from a file beside it.
    pub(super) fn load(directory: &Path, path: &PathBuf) -> Result<Self, Error> {
        // The build names the base library by its file name, and finds it beside itself or loaded already.
        let base = Base::load(directory)?;
        let (library, runs) = open(path)?;
        if !runs {
            return Err(Error::Processor { path: path.clone() });
        }
        let functions = CpuFunctions::find(&library, path)?;
        // SAFETY: takes nothing; fills the tables that the kernels look numbers up in.
        unsafe { (functions.ggml_cpu_init)() };
        Ok(Self { functions, base, _library: library })
    }

    pub(super) fn base(&self) -> &Base {
        &self.base
    }

    fn traits(&self, ty: &TensorType) -> Option<&CpuTraits> {
        self.base.traits(ty)?;
        // SAFETY: the type is one that the base library knows, and the build is of the same release; the row
        // lives as long as the library is loaded, and does not change after `ggml_cpu_init`.
        unsafe { (self.functions.ggml_get_type_traits_cpu)(number(ty)).as_ref() }
    }

    /// The type that activations are held in when weights of this one are multiplied; `None` if they are not.
    pub(super) fn vec_dot_type(&self, ty: &TensorType) -> Option<&'static TensorType> {
        let traits = self.traits(ty)?;
        traits.vec_dot?;
        TensorType::from_id(u32::try_from(traits.vec_dot_type).ok()?)
    }

    /// Whether the build multiplies bfloat16 by the instruction of AVX-512 for it.
    pub(super) fn multiplies_bf16(&self) -> bool {
        // SAFETY: takes nothing and returns a number.
        unsafe { (self.functions.ggml_cpu_has_avx512_bf16)() != 0 }
    }

    /// Whether the build encodes the type.
    pub(super) fn encodes(&self, ty: &TensorType) -> bool {
        self.traits(ty).is_some_and(|traits| traits.from_float.is_some())
    }

    /// Encodes a row.
    pub(super) fn quantize(&self, ty: &'static TensorType, values: &[f32], out: &mut [u8]) -> Result<(), KernelError> {
        let from_float = self.traits(ty).and_then(|traits| traits.from_float).ok_or(KernelError::Unsupported)?;
        quantize(from_float, ty, values, out)
    }

    /// One row of weights with one row of activations, brought into [`Cpu::vec_dot_type`] first.
    pub(super) fn dot(&self, ty: &'static TensorType, weights: &[u8], values: &[f32]) -> Result<f32, KernelError> {
        let vec_dot = self.traits(ty).and_then(|traits| traits.vec_dot).ok_or(KernelError::Unsupported)?;
        let form = self.vec_dot_type(ty).ok_or(KernelError::Unsupported)?;
        check::dot(ty, weights.len(), values.len())?;
        let n = c_int::try_from(values.len())
            .map_err(|_| KernelError::Arguments(format!("row: {} weights are more than ggml counts", values.len())))?;
        let mut blocks;
        let activations: *const c_void = if form.name == "F32" {
            values.as_ptr().cast()
        } else {
            let from_float = self.traits(form).and_then(|traits| traits.from_float).ok_or(KernelError::Unsupported)?;
            blocks = zeros(row_bytes(form, values.len())?);
            // SAFETY: the function is that of the type, and the words hold the blocks of as many values.
            unsafe { from_float(values.as_ptr(), blocks.as_mut_ptr().cast(), count(values.len())?) };
            blocks.as_ptr().cast()
        };
        let weights = Aligned::new(weights, alignment(ty));
        let mut result = f32::NAN;
        // SAFETY: both rows are whole blocks of `n` weights, aligned for the numbers in them, of the types that
        // the function is for, and live until it returns; one result is asked for, so the strides mean nothing.
        unsafe {
            vec_dot(n, &raw mut result, 0, weights.as_ptr().cast(), 0, activations, 0, 1);
        }
        Ok(result)
    }

    /// A product whose rows are whole blocks apart, and whose result has no gaps.
    pub(super) fn mul_mat(&self, product: &Matmul<'_>, y: &mut [f32]) -> Result<(), KernelError> {
        check::matmul(product, y.len())?;
        let Matmul { weights, columns, threads, .. } = product;
        let context = GraphContext::new(self, scratch(columns.values.len(), weights.k, *threads))?;
        let bytes = aligned(weights);
        let a = context.weights(weights, 1, 0, &bytes)?;
        let b = context.activations(columns.values, weights.k, columns.count, 1, columns.stride, 0)?;
        // SAFETY: both are live tensors of the context, with as many elements a row.
        let node = unsafe { (self.base.functions.ggml_mul_mat)(context.ctx, a, b) };
        context.compute(node, y, weights.rows * columns.count, *threads)
    }

    /// Products with experts, all of whose rows are whole blocks apart; the result has no gaps.
    pub(super) fn mul_mat_id(&self, product: &MatmulId<'_>, y: &mut [f32]) -> Result<(), KernelError> {
        check::matmul_id(product, y.len())?;
        let MatmulId { weights, columns, threads, ids, used, experts, expert_stride, .. } = product;
        // For each expert, eight bytes an id, and counters.
        let work = scratch(columns.values.len(), weights.k, *threads) + 64 * ids.len() * experts + 1024 * experts;
        let context = GraphContext::new(self, work)?;
        let bytes = aligned(weights);
        let a = context.weights(weights, *experts, *expert_stride, &bytes)?;
        let tokens = ids.len() / used;
        let a_token = if columns.count == tokens { 1 } else { *used };
        let stride = columns.stride;
        let b = context.activations(columns.values, weights.k, a_token, tokens, stride, stride * a_token)?;
        let numbers = signed(ids);
        let chosen = context.ids(&numbers, *used, tokens)?;
        // SAFETY: all are live tensors of the context; the shapes are those that the check above has seen, and
        // every id is that of an expert.
        let node = unsafe { (self.base.functions.ggml_mul_mat_id)(context.ctx, a, b, chosen) };
        context.compute(node, y, weights.rows * ids.len(), *threads)
    }

    /// The chosen rows, decoded.
    pub(super) fn get_rows(&self, weights: &Matrix<'_>, ids: &[u32], y: &mut [f32]) -> Result<(), KernelError> {
        check::get_rows(weights, ids, y.len())?;
        let context = GraphContext::new(self, scratch(0, weights.k, 1))?;
        let bytes = aligned(weights);
        let a = context.weights(weights, 1, 0, &bytes)?;
        let numbers = signed(ids);
        let chosen = context.ids(&numbers, ids.len(), 1)?;
        // SAFETY: both are live tensors of the context, and every id is that of a row.
        let node = unsafe { (self.base.functions.ggml_get_rows)(context.ctx, a, chosen) };
        context.compute(node, y, weights.k * ids.len(), 1)
    }
}

fn aligned<'a>(weights: &Matrix<'a>) -> Aligned<'a> {
    Aligned::new(weights.bytes, alignment(weights.ty))
}

fn signed(ids: &[u32]) -> Vec<i32> {
    ids.iter().map(|&id| id.cast_signed()).collect()
}

/// More than ggml needs for a product: activations in another form take at most 4 bytes each, a panel of eight
/// decoded rows for each thread about 12 bytes a weight of one row, and counters a line of the cache.
fn scratch(activations: usize, k: usize, threads: usize) -> usize {
    (1 << 20) + 8 * activations + threads * (64 * k + (1 << 16))
}

/// A context whose tensors have their data elsewhere, and memory for a graph of one node and its work.
struct GraphContext<'l> {
    cpu: &'l Cpu,
    ctx: *mut Context,
}

impl Drop for GraphContext<'_> {
    fn drop(&mut self) {
        // SAFETY: the context came from `ggml_init`, is not null, and is freed once.
        unsafe { (self.cpu.base.functions.ggml_free)(self.ctx) };
    }
}

/// The safety argument shared by the blocks below: `self.ctx` is a live context without data of its own, with
/// room for eight tensors, a graph and the work; tensors that come back point into it.
impl<'l> GraphContext<'l> {
    fn new(cpu: &'l Cpu, work: usize) -> Result<Self, KernelError> {
        let functions = &cpu.base.functions;
        // SAFETY: takes nothing and returns a number.
        let graph = unsafe { (functions.ggml_graph_overhead)() };
        let mem_size = 8 * TENSOR_OVERHEAD + graph + work;
        let params = InitParams { mem_size, mem_buffer: ptr::null_mut(), no_alloc: true };
        // SAFETY: the library allocates the memory itself.
        let ctx = unsafe { (functions.ggml_init)(params) };
        if ctx.is_null() {
            return Err(KernelError::Failed(format!("ggml_init: no context of {mem_size} bytes")));
        }
        Ok(Self { cpu, ctx })
    }

    /// A tensor over memory of the caller, `nb` bytes from element to element in each dimension.
    ///
    /// The memory lives until the graph has been computed, and holds all elements; it is not written, unless
    /// the tensor is that of a node.
    fn tensor(
        &self,
        ty: &TensorType,
        ne: [usize; 3],
        nb: [usize; 2],
        data: *const c_void,
    ) -> Result<*mut Tensor, KernelError> {
        let [ne0, ne1, ne2] = [count(ne[0])?, count(ne[1])?, count(ne[2])?];
        // SAFETY: shared argument; the type is one that the library knows.
        unsafe {
            let tensor = (self.cpu.base.functions.ggml_new_tensor_3d)(self.ctx, number(ty), ne0, ne1, ne2);
            (*tensor).nb[1] = nb[0];
            (*tensor).nb[2] = nb[1];
            (*tensor).nb[3] = nb[1] * ne[2];
            (*tensor).data = data.cast_mut();
            Ok(tensor)
        }
    }

    fn weights(
        &self,
        weights: &Matrix<'_>,
        experts: usize,
        stride: usize,
        bytes: &Aligned<'_>,
    ) -> Result<*mut Tensor, KernelError> {
        let Matrix { ty, rows, k, row_stride, .. } = *weights;
        let stride = if experts == 1 { row_stride * rows } else { stride };
        self.tensor(ty, [k, rows, experts], [row_stride, stride], bytes.as_ptr().cast())
    }

    fn activations(
        &self,
        values: &[f32],
        k: usize,
        columns: usize,
        groups: usize,
        stride: usize,
        group_stride: usize,
    ) -> Result<*mut Tensor, KernelError> {
        let group_stride = if groups == 1 { stride * columns } else { group_stride };
        self.tensor(plain("F32")?, [k, columns, groups], [4 * stride, 4 * group_stride], values.as_ptr().cast())
    }

    fn ids(&self, ids: &[i32], first: usize, second: usize) -> Result<*mut Tensor, KernelError> {
        let row = 4 * first;
        self.tensor(plain("I32")?, [first, second, 1], [row, row * second], ids.as_ptr().cast())
    }

    /// Computes the node into the first `len` elements of `y`.
    fn compute(&self, node: *mut Tensor, y: &mut [f32], len: usize, threads: usize) -> Result<(), KernelError> {
        let y = &mut y[..len];
        let functions = &self.cpu.base.functions;
        // More threads than ggml takes would end the process; it takes 512.
        let threads = c_int::try_from(threads.min(512)).unwrap_or(1);
        // SAFETY: shared argument. The node is of f32 without gaps, and has the elements that the caller says
        // its operands give, as many as `y`; the operands live and hold their elements until the return. The
        // work is taken from the context.
        let status = unsafe {
            let elements: i64 = (*node).ne.iter().product();
            assert_eq!(usize::try_from(elements), Ok(len), "elements of the node");
            (*node).data = y.as_mut_ptr().cast();
            let graph = (functions.ggml_new_graph)(self.ctx);
            (functions.ggml_build_forward_expand)(graph, node);
            (self.cpu.functions.ggml_graph_compute_with_ctx)(self.ctx, graph, threads)
        };
        if status == 0 { Ok(()) } else { Err(KernelError::Failed(format!("ggml_graph_compute: status {status}"))) }
    }
}

fn plain(name: &str) -> Result<&'static TensorType, KernelError> {
    TensorType::from_name(name).ok_or(KernelError::Unsupported)
}
