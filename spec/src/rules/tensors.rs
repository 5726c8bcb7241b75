//! The tensor infos, one by one.

use super::{QUIET_STOP, rules};

rules! { TensorTable:
    NAME_TRUNCATED "tensor.name.truncated" {
        "The length of a tensor name and all its bytes are in the file."
        why: "A name taken on trust is read past the buffer or from uninitialised memory."
        fix: "Get the file again: it ends inside a tensor name, or the tensor count is too large."
        source: "document: gguf_tensor_info_t.name; ggml: `failed to read tensor info`"
        says: Refuses, Refuses, Refuses;
        fallback: QUIET_STOP;
    }
    N_DIMS_TRUNCATED "tensor.n_dims.truncated" {
        "The 32-bit number of dimensions is in the file."
        why: "A reader that misses the short read takes a stale number of dimensions."
        fix: "Get the file again: it ends inside the tensor table."
        source: "document: gguf_tensor_info_t.n_dimensions; ggml: `failed to read tensor info`"
        says: Refuses, Refuses, Refuses;
        fallback: QUIET_STOP;
    }
    DIMS_TRUNCATED "tensor.dims.truncated" {
        "All dimensions of a tensor are in the file."
        why: "A reader that sizes a buffer by the declared number allocates gigabytes, or writes past a fixed one."
        fix: "Get the file again: it ends inside the tensor table, or the number of dimensions is damaged."
        source: "document: gguf_tensor_info_t.dimensions; ggml: `failed to read tensor info`"
        says: Refuses, Refuses, Refuses;
        fallback: QUIET_STOP;
    }
    TYPE_TRUNCATED "tensor.type.truncated" {
        "The 32-bit type of a tensor is in the file."
        why: "A reader that misses the short read decodes the weights with a stale type."
        fix: "Get the file again: it ends inside the tensor table."
        source: "document: gguf_tensor_info_t.type; ggml: `failed to read tensor info`"
        says: Refuses, Refuses, Refuses;
        fallback: QUIET_STOP;
    }
    OFFSET_TRUNCATED "tensor.offset.truncated" {
        "The 64-bit offset of a tensor is in the file."
        why: "A reader that misses the short read finds the weights at a stale place."
        fix: "Get the file again: it ends inside the tensor table."
        source: "document: gguf_tensor_info_t.offset; ggml: `failed to read tensor info`"
        says: Refuses, Refuses, Refuses;
        fallback: QUIET_STOP;
    }
    NAME_LENGTH "tensor.name.length" {
        "A tensor name has at most 64 bytes."
        why: "Readers cut longer names, and then do not find the tensor."
        fix: "Shorten the name; 63 bytes work everywhere."
        source: "document: gguf_tensor_info_t.name; ggml: `tensor name 0 is too long`"
        says: Refuses, Refuses, Refuses;
    }
    NAME_TERMINATOR "tensor.name.terminator" {
        "A tensor name does not have exactly 64 bytes: ggml keeps one for a terminating NUL."
        why: "The document allows 64 bytes and ggml at most 63, so the longest legal name does not load."
        fix: "Shorten the name to 63 bytes."
        source: "ggml: `tensor name 0 is too long: 64 >= 64`; document: gguf_tensor_info_t.name allows it"
        says: Accepts, Refuses, Refuses;
    }
    NAME_UTF8 "tensor.name.utf8" {
        "A tensor name is UTF-8."
        why: "Readers replace or drop the bytes and then do not find the tensor, or find two."
        fix: "Rename the tensor."
        source: "document: gguf_tensor_info_t.name, gguf_string_t; ggml 0.25.1 run on such a file: it reads any bytes"
        says: Refuses, Accepts, Accepts;
    }
    NAME_DUPLICATE "tensor.name.duplicate" {
        "No two tensors have the same name, as far as their first NUL."
        why: "Readers that keep tensors in a map lose one of the two without a word."
        fix: "Rename or remove one of the two tensors."
        source: "ggml: `duplicate tensor name`, observed to compare up to a NUL; the document says nothing"
        says: Silent, Refuses, Refuses;
    }
    N_DIMS_MAX "tensor.n_dims.max" {
        "A tensor has at most 4 dimensions."
        why: "Readers hold the shape in an array of four: a fifth dimension has been written past its end."
        fix: "Merge dimensions."
        source: "document: gguf_tensor_info_t.n_dimensions; ggml: `has invalid number of dimensions`"
        says: Refuses, Refuses, Refuses;
    }
    DIM_SIGNED "tensor.dim.signed" {
        "A dimension is less than 2^63, also in a tensor without elements."
        why: "Dimensions are signed in ggml and most readers: 2^63 becomes negative, and its product passes checks it should not. With elements, such a tensor breaks `tensor.elements.range`."
        fix: "The tensor table is damaged: get the file again."
        source: "ggml: `has invalid number of elements: .. < 0`; the document's dimensions are unsigned"
        says: Silent, Refuses, Refuses;
    }
    ELEMENTS_RANGE "tensor.elements.range" {
        "The number of elements fits a signed 64-bit number: if no dimension is 0, the product of the dimensions before the second, third and fourth one is less than 2^63-1 divided by that one, rounded down, and a single dimension is less than 2^63-1 (shapes that ggml takes all the same break `tensor.elements.wrap` instead)."
        why: "A product that wraps looks small: the buffer is then too small for the tensor. ggml's test refuses a few products just below 2^63 too; no file can hold any of them."
        fix: "The tensor table is damaged: get the file again."
        source: "ggml: `total number of elements in tensor .. is >= ..`; no file could hold such a tensor, so the document's data section cannot be met"
        says: Refuses, Refuses, Refuses;
    }
    ELEMENTS_WRAP "tensor.elements.wrap" {
        "The number of elements does not wrap to 0 or a negative number in a signed 64-bit product that then passes ggml's tests, that of the size in bytes included."
        why: "ggml 0.25.1 tests only products that are positive after they have wrapped, so `[2^32, 2^31]` gets through; whoever trusts the shape reads far past the data."
        fix: "The tensor table is damaged or hostile: do not load the file."
        source: "ggml 0.25.1 run on such a file: it reads the header; no file could hold such a tensor, so the document's data section cannot be met"
        says: Refuses, Accepts, Accepts;
        unusable: true;
    }
    TYPE_KNOWN "tensor.type.known" {
        "The type of a tensor is an assigned number, at most 42."
        why: "The size of the tensor is unknown; readers that fall back to 32-bit floats load noise."
        fix: "Use a reader that knows this type (some forks assign numbers of their own), or convert the tensor."
        source: "document: ggml_type; ggml: `has invalid ggml type`"
        says: Refuses, Refuses, Refuses;
        fallback: "the tensor is taken to be zero bytes long";
    }
    TYPE_REMOVED "tensor.type.removed" {
        "The type of a tensor is not a removed one: 4, 5, 31 to 33, 36 to 38."
        why: "No layout is defined for these numbers any more; old readers and forks disagree about them."
        fix: "Convert the tensor with a tool of the time, for example to Q4_0 or IQ4_NL."
        source: "document: ggml_type, `support has been removed`; ggml: block size 0, `not a multiple of block size`"
        says: Refuses, Refuses, Refuses;
        fallback: "the tensor is taken to be zero bytes long";
    }
    TYPE_DOCUMENT "tensor.type.document" {
        "The type of a tensor is one the document lists: at most 39."
        why: "NVFP4, Q1_0 and Q2_0 are newer than the document, and readers written from it refuse them."
        fix: "Nothing for ggml; convert the tensor for readers that follow the document."
        source: "document: ggml_type ends at 39; ggml 0.25.1 reads 40 to 42"
        says: Refuses, Accepts, Accepts;
    }
    BLOCK_MULTIPLE "tensor.block.multiple" {
        "The first dimension is a multiple of the block size of the type (a tensor without dimensions has one element)."
        why: "A row that ends inside a block has no defined size; readers round up, round down or read the next row."
        fix: "Pad the rows, or store the tensor in a type whose block divides them."
        source: "ggml: `not a multiple of block size`; the document says nothing"
        says: Silent, Refuses, Refuses;
    }
    BYTES_RANGE "tensor.bytes.range" {
        "The size of a tensor in bytes, its rows in whole blocks, fits an unsigned 64-bit number."
        why: "A size that wraps passes every later comparison with the size of the file."
        fix: "The tensor table is damaged: get the file again."
        source: "ggml: `has a size in bytes > 18446744073709551615`; no file could hold such a tensor, so the document's data section cannot be met"
        says: Refuses, Refuses, Refuses;
    }
    BYTES_WRAP "tensor.bytes.wrap" {
        "The elements of a row times the bytes of a block fit an unsigned 64-bit number."
        why: "A reader that multiplies before it divides by the block size gets a size that has nothing to do with the shape, and a check of the data against that size passes."
        fix: "The tensor table is damaged or hostile: do not load the file."
        source: "ggml 0.25.1 run on such a file: it reads it in both modes, under valgrind without an invalid access; no file could hold such a tensor, so the document's data section cannot be met"
        says: Refuses, Accepts, Accepts;
        unusable: true;
    }
}
