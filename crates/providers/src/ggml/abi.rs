//! The C interface of ggml's base library: the functions of `gguf.h` and the few of `ggml.h` that
//! are called here.
//!
//! What every argument below rests on: whoever names a directory
//! vouches that the library in it is ggml, so that each function has the signature of its header.
//! The signatures are those of `gguf.h` and `ggml.h` of ggml 0.25; enums are C `int`s.
#![allow(unsafe_code)]

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::marker::PhantomData;
use std::path::{Path, PathBuf};
use std::ptr;

use super::{Error, Mode, library_name, log};

/// `struct gguf_context`, seen through pointers only.
#[repr(C)]
struct GgufContext {
    _opaque: [u8; 0],
}

/// `struct ggml_context`, seen through pointers only.
#[repr(C)]
struct GgmlContext {
    _opaque: [u8; 0],
}

/// `struct gguf_init_params`, passed by value.
#[repr(C)]
struct InitParams {
    no_alloc: bool,
    ctx: *mut *mut GgmlContext,
}

type LogCallback = extern "C" fn(level: c_int, text: *const c_char, user_data: *mut c_void);

functions! {
    /// What opens a file. These have had the same signatures since GGUF version 3 was new, and every
    /// release since late 2024 has them in its base library.
    Opening:
    ggml_log_set: fn(callback: Option<LogCallback>, user_data: *mut c_void);
    ggml_free: fn(ctx: *mut GgmlContext);
    gguf_init_from_file: fn(path: *const c_char, params: InitParams) -> *mut GgufContext;
    gguf_free: fn(ctx: *mut GgufContext);
}

functions! {
    /// What names the release; older ones do not.
    Naming:
    ggml_version: fn() -> *const c_char;
}

functions! {
    /// What opens a file in memory; older releases do not.
    Buffers:
    gguf_init_from_buffer: fn(data: *const c_void, size: usize, params: InitParams) -> *mut GgufContext;
}

functions! {
    /// What shows a file and the table of types, in the signatures of ggml 0.25.
    Showing:
    ggml_type_name: fn(ty: c_int) -> *const c_char;
    ggml_blck_size: fn(ty: c_int) -> i64;
    ggml_type_size: fn(ty: c_int) -> usize;
    ggml_validate_row_data: fn(ty: c_int, data: *const c_void, bytes: usize) -> bool;
    gguf_get_version: fn(ctx: *const GgufContext) -> u32;
    gguf_get_alignment: fn(ctx: *const GgufContext) -> usize;
    gguf_get_data_offset: fn(ctx: *const GgufContext) -> usize;
    gguf_get_n_kv: fn(ctx: *const GgufContext) -> i64;
    gguf_get_key: fn(ctx: *const GgufContext, id: i64) -> *const c_char;
    gguf_get_kv_type: fn(ctx: *const GgufContext, id: i64) -> c_int;
    gguf_get_arr_type: fn(ctx: *const GgufContext, id: i64) -> c_int;
    gguf_get_arr_n: fn(ctx: *const GgufContext, id: i64) -> usize;
    gguf_get_arr_data: fn(ctx: *const GgufContext, id: i64) -> *const c_void;
    gguf_get_arr_str: fn(ctx: *const GgufContext, id: i64, i: usize) -> *const c_char;
    gguf_get_val_str: fn(ctx: *const GgufContext, id: i64) -> *const c_char;
    gguf_get_val_data: fn(ctx: *const GgufContext, id: i64) -> *const c_void;
    gguf_get_n_tensors: fn(ctx: *const GgufContext) -> i64;
    gguf_get_tensor_name: fn(ctx: *const GgufContext, id: i64) -> *const c_char;
    gguf_get_tensor_type: fn(ctx: *const GgufContext, id: i64) -> c_int;
    gguf_get_tensor_offset: fn(ctx: *const GgufContext, id: i64) -> usize;
    gguf_get_tensor_ne: fn(ctx: *const GgufContext, id: i64) -> *const i64;
}

/// The value type ids that decide which accessor may be called (`enum gguf_type`).
const TYPE_STRING: c_int = 8;
const TYPE_ARRAY: c_int = 9;

/// ggml's base library of any release since late 2024, loaded: it tells whether it reads a file. Its
/// log goes to this crate from then on.
pub struct Release {
    opening: Opening,
    naming: Option<Naming>,
    path: PathBuf,
    /// Last, so that the functions go before what they point into.
    library: libloading::Library,
}

impl Release {
    /// Loads the base library from a directory.
    ///
    /// The directory is trusted: code of the library runs in this process.
    ///
    /// # Errors
    ///
    /// [`Error::Load`] if it cannot be loaded, [`Error::Symbol`] if it lacks a function.
    pub fn load(directory: &Path) -> Result<Self, Error> {
        let path = directory.join(library_name());
        // SAFETY: loading runs the initialisers of the library; whoever names the directory vouches
        // for it, which the documentation of this function states.
        let library = unsafe { libloading::Library::new(&path) };
        let library = library.map_err(|error| Error::load(&path, &error))?;
        let opening = Opening::find(&library, &path)?;
        let naming = Naming::find(&library, &path).ok();
        // SAFETY: the callback is a static function, so it outlives the library, and it does not use
        // the user data, which is null.
        unsafe { (opening.ggml_log_set)(Some(on_log), ptr::null_mut()) };
        Ok(Self { opening, naming, path, library })
    }

    /// The file the library was loaded from.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The library itself, for functions of it that are called elsewhere.
    pub(super) fn library(&self) -> &libloading::Library {
        &self.library
    }

    /// The version of ggml, such as `0.25.1`; `None` from a release that has no such function, as
    /// those in llama.cpp b5640 and before.
    #[must_use]
    pub fn version(&self) -> Option<String> {
        let naming = self.naming.as_ref()?;
        // SAFETY: takes nothing and returns a string literal of the library.
        let version = unsafe { text((naming.ggml_version)()) };
        Some(String::from_utf8_lossy(&version).into_owned())
    }

    /// Whether the library reads a file in memory; an error from a release that cannot.
    ///
    /// # Errors
    ///
    /// [`Error::Symbol`] if the release has no such function.
    pub fn reads_bytes(&self, bytes: &[u8], mode: Mode) -> Result<bool, Error> {
        let buffers = Buffers::find(&self.library, &self.path)?;
        let mut tensors: *mut GgmlContext = ptr::null_mut();
        let params = InitParams { no_alloc: mode == Mode::Header, ctx: &raw mut tensors };
        // SAFETY: the library reads `bytes.len()` bytes at most, which live until after the call, and keeps
        // no pointer to them; `ctx` points to a place that the call may write and does not keep.
        let gguf = unsafe { (buffers.gguf_init_from_buffer)(bytes.as_ptr().cast(), bytes.len(), params) };
        let opened = Opened { opening: &self.opening, gguf, tensors, library: PhantomData };
        Ok(!opened.gguf.is_null())
    }

    /// Opens a file; `None` if the library refuses it.
    pub(super) fn open(&self, file: &Path, mode: Mode) -> Result<Option<Opened<'_>>, Error> {
        let path = c_path(file).ok_or_else(|| Error::Path { path: file.to_owned() })?;
        let mut tensors: *mut GgmlContext = ptr::null_mut();
        let params = InitParams { no_alloc: mode == Mode::Header, ctx: &raw mut tensors };
        // SAFETY: the path ends with a NUL and lives until after the call; `ctx` points to a place
        // that the call may write and does not keep.
        let gguf = unsafe { (self.opening.gguf_init_from_file)(path.as_ptr(), params) };
        if gguf.is_null() {
            return Ok(None);
        }
        Ok(Some(Opened { opening: &self.opening, gguf, tensors, library: PhantomData }))
    }
}

/// A file that the library has read; closed when dropped.
pub(super) struct Opened<'l> {
    opening: &'l Opening,
    gguf: *mut GgufContext,
    tensors: *mut GgmlContext,
    library: PhantomData<&'l Release>,
}

impl Drop for Opened<'_> {
    fn drop(&mut self) {
        // SAFETY: both came from a `gguf_init` and are freed once; each may be null, which `gguf_free` and
        // `ggml_free` take.
        unsafe {
            (self.opening.gguf_free)(self.gguf);
            (self.opening.ggml_free)(self.tensors);
        }
    }
}

/// ggml's base library, loaded, of a release whose interface shows what it has read: 0.25.
pub struct Library {
    functions: Showing,
    release: Release,
}

impl Library {
    /// Loads the base library from a directory, as [`Release::load`] does.
    ///
    /// # Errors
    ///
    /// [`Error::Load`] if it cannot be loaded, [`Error::Symbol`] if it lacks a function.
    pub fn load(directory: &Path) -> Result<Self, Error> {
        let release = Release::load(directory)?;
        let functions = Showing::find(&release.library, &release.path)?;
        if release.naming.is_none() {
            return Err(Error::Symbol { path: release.path, symbol: "ggml_version" });
        }
        Ok(Self { functions, release })
    }

    /// The file the library was loaded from.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.release.path()
    }

    /// The version of ggml, such as `0.25.1`.
    #[must_use]
    pub fn version(&self) -> String {
        // `load` has seen that it is there.
        self.release.version().unwrap_or_default()
    }

    /// Whether ggml's check of tensor data takes these blocks.
    ///
    /// `id` must be one the library knows, or below the number of types of its release: the bound is
    /// checked by the library itself.
    pub(super) fn validate(&self, id: u16, blocks: &[u8]) -> bool {
        // ggml reads floats of up to eight bytes through the pointer: words are aligned for all.
        let words = blocks.chunks(8).map(|chunk| {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            u64::from_ne_bytes(word)
        });
        let words: Vec<u64> = words.collect();
        // SAFETY: the library reads no more than `blocks.len()` bytes, which the words hold, writes
        // none, and keeps no pointer; the pointer is aligned for every number it reads; a type that
        // it does not know, or a length that is no whole number of blocks, is refused without a read.
        unsafe { (self.functions.ggml_validate_row_data)(c_int::from(id), words.as_ptr().cast(), blocks.len()) }
    }

    /// ggml's own row for a tensor type: name, block size in elements, block size in bytes.
    ///
    /// `id` must be one the library knows; the bound is not in its interface.
    pub(super) fn tensor_type(&self, id: u16) -> (Vec<u8>, i64, usize) {
        let id = c_int::from(id);
        let f = &self.functions;
        // SAFETY: the three look `id` up in a table. The one caller asks for 0..=42 and only after
        // it has seen a version that has 43 types; the name is a string literal or null.
        unsafe { (text((f.ggml_type_name)(id)), (f.ggml_blck_size)(id), (f.ggml_type_size)(id)) }
    }

    /// Opens a file; `None` if the library refuses it.
    pub(super) fn open(&self, file: &Path, mode: Mode) -> Result<Option<Context<'_>>, Error> {
        let opened = self.release.open(file, mode)?;
        Ok(opened.map(|opened| Context { functions: &self.functions, gguf: opened.gguf, _opened: opened }))
    }
}

/// A file that the library has read, and the functions that show it.
pub(super) struct Context<'l> {
    functions: &'l Showing,
    /// That of `_opened`, which keeps it alive.
    gguf: *mut GgufContext,
    _opened: Opened<'l>,
}

/// The safety argument shared by all blocks below: `self.gguf` is the live, non-null context that
/// the library returned; ids are checked against the count the library reports; pointers that come
/// back point into the context, which is not changed while `self` is borrowed.
impl Context<'_> {
    pub(super) fn version(&self) -> u32 {
        // SAFETY: shared argument.
        unsafe { (self.functions.gguf_get_version)(self.gguf) }
    }

    pub(super) fn alignment(&self) -> usize {
        // SAFETY: shared argument.
        unsafe { (self.functions.gguf_get_alignment)(self.gguf) }
    }

    pub(super) fn data_offset(&self) -> usize {
        // SAFETY: shared argument.
        unsafe { (self.functions.gguf_get_data_offset)(self.gguf) }
    }

    pub(super) fn pairs(&self) -> i64 {
        // SAFETY: shared argument.
        unsafe { (self.functions.gguf_get_n_kv)(self.gguf) }
    }

    pub(super) fn tensors(&self) -> i64 {
        // SAFETY: shared argument.
        unsafe { (self.functions.gguf_get_n_tensors)(self.gguf) }
    }

    /// The key of a pair, as far as its first NUL.
    pub(super) fn key(&self, id: i64) -> Vec<u8> {
        self.check_pair(id);
        // SAFETY: shared argument.
        unsafe { text((self.functions.gguf_get_key)(self.gguf, id)) }
    }

    /// The number of the type of a value.
    pub(super) fn value_type(&self, id: i64) -> c_int {
        self.check_pair(id);
        // SAFETY: shared argument.
        unsafe { (self.functions.gguf_get_kv_type)(self.gguf, id) }
    }

    /// The number of the type of the elements; `None` if the value is not an array.
    pub(super) fn element_type(&self, id: i64) -> Option<c_int> {
        if self.value_type(id) != TYPE_ARRAY {
            return None;
        }
        // SAFETY: shared argument; the value is an array, which the accessor asserts.
        Some(unsafe { (self.functions.gguf_get_arr_type)(self.gguf, id) })
    }

    /// The string, as far as its first NUL; `None` if the value is not a string.
    pub(super) fn string(&self, id: i64) -> Option<Vec<u8>> {
        if self.value_type(id) != TYPE_STRING {
            return None;
        }
        // SAFETY: shared argument; the value is a string, which the accessor asserts.
        Some(unsafe { text((self.functions.gguf_get_val_str)(self.gguf, id)) })
    }

    /// The bytes of a number or bool of `size` bytes; `None` if the value is none.
    pub(super) fn number(&self, id: i64, size: usize) -> Option<Vec<u8>> {
        if matches!(self.value_type(id), TYPE_STRING | TYPE_ARRAY) {
            return None;
        }
        // SAFETY: shared argument; the value is a single number, which the accessor asserts, and
        // `size`, the size of its type, is how much the library stores for it.
        unsafe {
            let data = (self.functions.gguf_get_val_data)(self.gguf, id).cast::<u8>();
            Some(std::slice::from_raw_parts(data, size).to_vec())
        }
    }

    /// The bytes of the elements of an array of numbers or bools, `size` bytes each; `None` if the
    /// value is no such array.
    pub(super) fn numbers(&self, id: i64, size: usize) -> Option<Vec<u8>> {
        if matches!(self.element_type(id)?, TYPE_STRING | TYPE_ARRAY) {
            return None;
        }
        // SAFETY: shared argument; the value is an array, which the accessor asserts.
        let n = unsafe { (self.functions.gguf_get_arr_n)(self.gguf, id) };
        if n == 0 {
            // The pointer to no elements may be null, of which no slice can be made.
            return Some(Vec::new());
        }
        // SAFETY: shared argument; the array is not of strings, which the accessor asserts, and
        // holds `n` elements of `size` bytes end to end (bools are stored in one byte each), so the
        // product is the size of an allocation and does not overflow.
        unsafe {
            let data = (self.functions.gguf_get_arr_data)(self.gguf, id).cast::<u8>();
            Some(std::slice::from_raw_parts(data, n * size).to_vec())
        }
    }

    /// The elements of an array of strings, each as far as its first NUL; `None` if the value is
    /// none.
    pub(super) fn strings(&self, id: i64) -> Option<Vec<Vec<u8>>> {
        if self.element_type(id)? != TYPE_STRING {
            return None;
        }
        // SAFETY: shared argument; the value is an array, which the accessor asserts.
        let n = unsafe { (self.functions.gguf_get_arr_n)(self.gguf, id) };
        // SAFETY: shared argument; the elements are strings, which the accessor asserts, and `i` is
        // less than their number.
        Some((0..n).map(|i| unsafe { text((self.functions.gguf_get_arr_str)(self.gguf, id, i)) }).collect())
    }

    /// The name of a tensor, as far as its first NUL.
    pub(super) fn tensor_name(&self, id: i64) -> Vec<u8> {
        self.check_tensor(id);
        // SAFETY: shared argument.
        unsafe { text((self.functions.gguf_get_tensor_name)(self.gguf, id)) }
    }

    /// The number of the type of a tensor.
    pub(super) fn tensor_type(&self, id: i64) -> c_int {
        self.check_tensor(id);
        // SAFETY: shared argument.
        unsafe { (self.functions.gguf_get_tensor_type)(self.gguf, id) }
    }

    /// Where the data of a tensor starts, from the start of the tensor data.
    pub(super) fn tensor_offset(&self, id: i64) -> usize {
        self.check_tensor(id);
        // SAFETY: shared argument.
        unsafe { (self.functions.gguf_get_tensor_offset)(self.gguf, id) }
    }

    /// The four dimensions of a tensor.
    pub(super) fn tensor_ne(&self, id: i64) -> [i64; 4] {
        self.check_tensor(id);
        // SAFETY: shared argument; the pointer is to the four dimensions of the tensor.
        unsafe { *(self.functions.gguf_get_tensor_ne)(self.gguf, id).cast::<[i64; 4]>() }
    }

    fn check_pair(&self, id: i64) {
        assert!((0..self.pairs()).contains(&id), "pair {id} of {}", self.pairs());
    }

    fn check_tensor(&self, id: i64) {
        assert!((0..self.tensors()).contains(&id), "tensor {id} of {}", self.tensors());
    }
}

/// A copy of a C string; empty if the pointer is null.
///
/// # Safety
///
/// `string` is null or points to bytes that end with a NUL and stay as they are during the call.
unsafe fn text(string: *const c_char) -> Vec<u8> {
    if string.is_null() {
        return Vec::new();
    }
    // SAFETY: not null, so what the caller promises holds.
    unsafe { CStr::from_ptr(string) }.to_bytes().to_vec()
}

/// Takes what ggml logs.
extern "C" fn on_log(_level: c_int, line: *const c_char, _user_data: *mut c_void) {
    // SAFETY: ggml calls this with a formatted C string that lives during the call.
    let line = unsafe { text(line) };
    log::append(&String::from_utf8_lossy(&line));
}

/// A path as ggml takes it: the bytes of the file system on Unix, UTF-8 on Windows.
fn c_path(path: &Path) -> Option<CString> {
    #[cfg(unix)]
    let bytes = {
        use std::os::unix::ffi::OsStrExt;
        path.as_os_str().as_bytes()
    };
    #[cfg(not(unix))]
    let bytes = path.to_str()?.as_bytes();
    CString::new(bytes).ok()
}
