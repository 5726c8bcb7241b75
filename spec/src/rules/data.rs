//! The tensor data: whether it is there, and the padding around it.

use super::rules;

rules! { Data:
    EXTENT "data.extent" {
        "All bytes of every tensor are in the file."
        why: "Weights past the end of the file are read out of bounds, or stay whatever the memory held: the cause of published leaks of process memory."
        fix: "Get the file again: it is incomplete, or an offset or shape in the tensor table is damaged."
        source: "document: gguf_file_t.tensor_data; ggml: `failed to read tensor data binary blob`"
        says: Refuses, Silent, Refuses;
    }
    MEMORY "data.memory" {
        "The declared data of tensors end to end is not over 4 GiB in a file that does not hold it."
        why: "ggml asks for the declared size before it looks whether the bytes are there; when the memory is refused it ends the process (stated for 4 GiB of address space)."
        fix: "Get the file again: it is incomplete, or a shape in the tensor table is damaged."
        source: "ggml: `insufficient memory (attempted to allocate ..)`, then an assertion; document: gguf_file_t.tensor_data"
        says: Refuses, Silent, Aborts;
    }
    CONTEXT_SIZE "data.context-size" {
        "The size of the tensor data and of ggml's bookkeeping (368 bytes for each tensor and for the whole) together fit an unsigned 64-bit number."
        why: "A sum that wraps sizes a buffer that is far too small."
        fix: "The tensor table is damaged or hostile: do not load the file."
        source: "ggml: `memory size overflow while allocating ggml context`; no file could hold the tensors, so the document's data section cannot be met"
        says: Refuses, Silent, Refuses;
    }
    FINAL_PADDING "data.final-padding" {
        "The padding after the last tensor is in the file."
        why: "All weights are there, yet a loader that reads whole padded tensors fails; one that maps the file does not."
        fix: "Append zero bytes up to the alignment."
        source: "ggml: `failed to read tensor data binary blob`; the document does not say whether the last tensor is padded"
        says: Silent, Silent, Refuses;
    }
    PADDING_ZERO "data.padding.zero" {
        "The bytes that pad a tensor to the alignment, before the next one in the file, are zero, unless they are data of another; wider gaps, and what follows the last tensor, may be anything."
        why: "Bytes that no reader looks at can carry anything, and two files that mean the same differ; a kernel that reads past a row may use them."
        fix: "Write zeros as padding."
        source: "document: File Structure, padding with 0x00; ggml 0.25.1 run on such a file: it ignores them"
        says: Refuses, Silent, Accepts;
    }
}
