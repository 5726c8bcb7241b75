//! Where the tensors lie, from the table alone.

use super::rules;

rules! { Layout:
    OFFSET_ALIGNED "layout.offset.aligned" {
        "The offset of a tensor is a multiple of the alignment."
        why: "Mapped weights are misaligned, and vector loads of them fault or slow down."
        fix: "Write the file again with aligned offsets."
        source: "document: gguf_tensor_info_t.offset; ggml: `has offset .., expected ..`"
        says: Refuses, Refuses, Refuses;
    }
    OFFSET_CONTIGUOUS "layout.offset.contiguous" {
        "Each tensor starts where the padded one before it in the table ends, the first at 0."
        why: "The document allows gaps and any order, ggml neither, so such a file works with some readers only; overlapping tensors share bytes."
        fix: "Write the file again with the tensors in table order and no gaps."
        source: "ggml: `has offset .., expected ..`; document: gguf_tensor_info_t.offset allows any multiple"
        says: Accepts, Refuses, Refuses;
    }
    PADDING_WRAPS "layout.size.padding-wraps" {
        "The size of a tensor, rounded up to the alignment, fits an unsigned 64-bit number."
        why: "The rounded size wraps to 0: ggml 0.25.1 takes the tensor for an empty one and accepts the file, and whoever reads the tensor reads past the end of the data. Later versions of ggml refuse it."
        fix: "The tensor table is damaged or hostile: do not load the file."
        source: "ggml 0.25.1 run on such a file: it reads it in both modes; no file could hold such a tensor, so the document's data section cannot be met"
        says: Refuses, Accepts, Accepts;
        unusable: true;
    }
    TOTAL_RANGE "layout.size.total" {
        "The sum of the padded sizes of all tensors fits an unsigned 64-bit number."
        why: "A sum that wraps sizes a buffer that is far too small: the cause of two published vulnerabilities."
        fix: "The tensor table is damaged or hostile: do not load the file."
        source: "ggml: `size overflow, cannot accumulate size`; no file could hold the tensors, so the document's data section cannot be met"
        says: Refuses, Refuses, Refuses;
    }
    DATA_START "layout.data-start" {
        "If there are tensors, the file reaches the aligned start of the tensor data."
        why: "Subtracting that start from the size of the file underflows, and everything after seems to be in range."
        fix: "Get the file again: it ends before the tensor data."
        source: "document: gguf_file_t._padding; ggml: `failed to seek to beginning of data section`"
        says: Refuses, Refuses, Refuses;
    }
    PADDING_ZERO "layout.padding.zero" {
        "The bytes between the tensor table and the tensor data are zero."
        why: "Bytes that no reader looks at can carry anything, and two files that mean the same differ."
        fix: "Write zeros as padding."
        source: "document: File Structure, padding with 0x00; ggml 0.25.1 run on such a file: it ignores them"
        says: Refuses, Accepts, Accepts;
    }
}
