//! What a scan of the tensor data notices beyond the rules of the format.
//!
//! No profile judges these: the document says nothing of the values of weights, and ggml's reader
//! does not look at them. They are told like rules, so that messages, ids and explanations work
//! alike, but they are not part of the catalogue: no reader is compared by them.
//!
//! For the finiteness of scales and values the authority is `ggml_validate_row_data`, which ggml's
//! own tools run when they are asked to check tensors. Severities: what makes weights useless is an
//! error; bytes that nobody uses are a warning.

use super::Rule;

/// Where the tensors lie.
pub mod layout {
    use crate::rules::rules;

    rules! { Layout:
        OVERLAP "scan.overlap" {
            "No byte belongs to the data of two tensors."
            why: "What is written to one tensor changes the other, and of two tensors that share a part of their bytes at least one is wrong. The data of the one that starts inside the other is not scanned."
            fix: "Write the file again from its source: an offset or a shape in the tensor table is damaged."
            source: "this project: the document does not say that tensors may not overlap; ggml refuses such files because it wants them contiguous (`layout.offset.contiguous`)"
            says: Silent, Silent, Silent;
            unusable: true;
        }
        GAP "scan.gap" {
            "All bytes of the tensor data up to the last tensor are data or padding."
            why: "Bytes that no reader looks at can carry anything, and make the file larger than it needs to be."
            fix: "Write the file again without gaps."
            source: "this project: the document allows gaps; ggml refuses such files because it wants tensors contiguous (`layout.offset.contiguous`)"
            says: Silent, Silent, Silent;
        }
    }
}

/// What the tensors hold.
pub mod data {
    use crate::rules::rules;

    rules! { Data:
        SCALE_FINITE "scan.scale.finite" {
            "The floating-point scales that are stored in the blocks of a quantized tensor are finite."
            why: "A scale that is NaN or infinite makes every weight of its block so, and one such weight every output of the layer."
            fix: "Quantize the model again from its source: the file is damaged, or the weights overflowed when it was made."
            source: "ggml 0.25.1: `ggml_validate_row_data` run on blocks of every type, which refuses all of these but the NaN of NVFP4's scales (it does not look at them)"
            says: Silent, Silent, Silent;
            unusable: true;
        }
        VALUE_FINITE "scan.value.finite" {
            "The values of tensors of the types F16, BF16, F32 and F64 are finite."
            why: "One weight that is NaN or infinite makes every output of its layer so."
            fix: "Convert the model again from its source: the file is damaged, or a value overflowed when it was made, as those over 65,504 do in F16."
            source: "ggml 0.25.1: `ggml_validate_row_data` run on values of every kind"
            says: Silent, Silent, Silent;
            unusable: true;
        }
        SHRUNK "scan.shrunk" {
            "The file does not get shorter while it is read."
            why: "Somebody writes the file at this moment: what was read belongs to two states of it, and a reader that maps it ends with a bus error."
            fix: "Wait until whoever writes the file is done, and check it again."
            source: "this project: no rule of the format, but of the file system"
            says: Silent, Silent, Silent;
            unusable: true;
        }
    }
}

/// What a scan judges by, by stage, then in reading order.
pub fn rules() -> impl Iterator<Item = &'static Rule> {
    layout::RULES.iter().chain(data::RULES).copied()
}
