//! Every number that bounds something, with its origin.

/// `GGUF`, the first four bytes of a file in either byte order (document, `gguf_header_t`).
pub const MAGIC: [u8; 4] = *b"GGUF";

/// The newest version of the format (document, `gguf_header_t`).
pub const VERSION: u32 = 3;

/// The alignment of a file that does not state one, in bytes (document, `general.alignment`).
pub const DEFAULT_ALIGNMENT: u64 = 32;

/// The document wants alignments that are a multiple of this many bytes (`general.alignment`).
pub const ALIGNMENT_MULTIPLE: u64 = 8;

/// Longest key in bytes (document, `gguf_metadata_kv_t`).
pub const MAX_KEY_LENGTH: u64 = 65_535;

/// Longest tensor name in bytes (document, `gguf_tensor_info_t`); ggml keeps one of them for a terminator.
pub const MAX_TENSOR_NAME_LENGTH: u64 = 64;

/// Most dimensions of a tensor (document, `gguf_tensor_info_t`, "currently"; ggml's `GGML_MAX_DIMS`).
pub const MAX_DIMS: u32 = 4;

/// Longest string ggml reads, in bytes: `GGUF_MAX_STRING_LENGTH`.
pub const GGML_MAX_STRING_LENGTH: u64 = 1 << 30;

/// Longest array ggml reads, in elements: `GGUF_MAX_ARRAY_ELEMENTS`.
pub const GGML_MAX_ARRAY_LENGTH: u64 = 1 << 30;

/// Most tensors ggml 0.25.1 accepts in a header: `SIZE_MAX / sizeof(gguf_tensor_info)`, as it prints it.
pub const GGML_MAX_TENSORS: u64 = 53_624_256_028_225_440;

/// Most key-value pairs ggml 0.25.1 accepts in a header: `SIZE_MAX / sizeof(gguf_kv)`, as it prints it.
pub const GGML_MAX_PAIRS: u64 = 209_622_091_746_699_450;

/// Bytes ggml 0.25.1 adds for each tensor, and once more for the data blob, when it sizes the memory
/// of a model: `ggml_tensor_overhead()`.
pub const GGML_TENSOR_OVERHEAD: u64 = 368;

/// The address space, in bytes, under which ggml's outcomes are stated. Above it, `ggml-data` aborts
/// when it asks for the declared size of the data.
pub const GGML_ADDRESS_SPACE: u64 = 4 << 30;

/// Deepest nesting of arrays this specification reads. The document sets no limit; published readers
/// that nest stop between 16 and 64. Found in real files: none.
pub const MAX_NESTING: usize = 32;

/// Most findings of one rule that are listed for one file. A hostile file of a few megabytes can break
/// one rule a million times; what follows adds nothing but memory.
pub const MAX_FINDINGS_PER_RULE: usize = 1000;
