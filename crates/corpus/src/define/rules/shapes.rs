//! The rules about tensor infos, layout and data.

use gguf_spec::binary::{Places, encode};
use gguf_spec::field::{Field, TensorPart};
use gguf_spec::generate::{Builder, tensor};
use gguf_spec::rules::{Rule, data, layout, tensors};

use crate::define::type_ids::{F32, F64, I8, Q4_0};
use crate::define::{Group, bytes, edited, start_of};

use super::{before_last, cut, last, tensor_builder, twins, with_tensor};

pub(super) fn cut_tensors(group: &mut Group) {
    let cases: [(&'static Rule, TensorPart, usize, &str); 5] = [
        (&tensors::NAME_TRUNCATED, TensorPart::Name, 2, "in the middle of a tensor name"),
        (&tensors::N_DIMS_TRUNCATED, TensorPart::NDims, 3, "inside the number of dimensions"),
        (&tensors::DIMS_TRUNCATED, TensorPart::Dim(1), 0, "between two dimensions"),
        (&tensors::TYPE_TRUNCATED, TensorPart::Type, 2, "inside the type of a tensor"),
        (&tensors::OFFSET_TRUNCATED, TensorPart::Offset, 7, "one byte before the end of an offset"),
    ];
    for (rule, part, into, place) in cases {
        let builder = tensor_builder("weight", F32, &[4, 2]);
        let tree = builder.finish();
        let whole = encode(&tree);
        let at = start_of(&tree, &Field::Tensor(0, part)) + into;
        twins(
            group,
            rule,
            (&format!("The file ends {place}."), cut(whole.clone(), at)),
            (&format!("The same file, not cut ({}).", rule.id), whole),
        );
        before_last(group).flags(&["truncated"]);
    }
}

pub(super) fn tensor_infos(group: &mut Group) {
    let named = |name: &[u8]| {
        let mut builder = Builder::new();
        builder.add(tensor(name, F32, &[8]));
        bytes(&builder)
    };
    group
        .push("tensor-name-length-broken", "A tensor name of 65 bytes.", named(&[b'n'; 65]))
        .breaks(&[&tensors::NAME_LENGTH]);
    group
        .push(
            "tensor-name-length-kept",
            "A tensor name of 64 bytes, the longest the document allows; ggml refuses it.",
            named(&[b'n'; 64]),
        )
        .breaks(&[&tensors::NAME_TERMINATOR])
        .keeps(&[&tensors::NAME_LENGTH]);
    group
        .push(
            "tensor-name-terminator-broken",
            "A tensor name of 64 bytes, 21 of them three-byte letters.",
            named(format!("{}n", "▁".repeat(21)).as_bytes()),
        )
        .breaks(&[&tensors::NAME_TERMINATOR]);
    group
        .push(
            "tensor-name-terminator-kept",
            "A tensor name of 63 bytes, the longest that works everywhere.",
            named(&[b'n'; 63]),
        )
        .keeps(&[&tensors::NAME_TERMINATOR]);
    twins(
        group,
        &tensors::NAME_UTF8,
        ("A tensor name with the byte FF.", named(b"we\xFFght")),
        ("A tensor name with letters outside ASCII.", named("gewicht-größe".as_bytes())),
    );
    before_last(group).flags(&["non-utf8"]);
    let two = |second: &str| bytes(Builder::new().add(tensor("a", F32, &[8])).add(tensor(second, F32, &[8])));
    twins(
        group,
        &tensors::NAME_DUPLICATE,
        ("Two tensors of one name.", two("a")),
        ("Two tensors whose names differ in case.", two("A")),
    );
    before_last(group).flags(&["duplicate"]);
    twins(
        group,
        &tensors::N_DIMS_MAX,
        ("Five dimensions, all 1.", with_tensor(F32, &[1, 1, 1, 1, 1])),
        ("Four dimensions, all 1.", with_tensor(F32, &[1, 1, 1, 1])),
    );
    twins(
        group,
        &tensors::DIM_SIGNED,
        ("A dimension of 2^63 in a tensor that is empty all the same.", with_tensor(F32, &[1 << 63, 0])),
        ("A dimension of 2^63 - 1 in a tensor that is empty all the same.", with_tensor(F32, &[i64::MAX as u64, 0])),
    );
    before_last(group).flags(&["empty-tensor"]);
    last(group).flags(&["empty-tensor"]);
    twins(
        group,
        &tensors::ELEMENTS_RANGE,
        ("A shape whose product wraps to 2^33 + 1.", with_tensor(I8, &[(1 << 32) + 1, (1 << 32) + 1])),
        (
            "The same shape with a last dimension of 0: there are no elements to count.",
            with_tensor(I8, &[(1 << 32) + 1, (1 << 32) + 1, 0]),
        ),
    );
    before_last(group).flags(&["overflow"]);
    last(group).flags(&["empty-tensor"]);
    twins(
        group,
        &tensors::ELEMENTS_WRAP,
        ("A shape of 2^32 by 2^32: the product wraps to 0.", with_tensor(I8, &[1 << 32, 1 << 32])),
        ("A shape of 2^32 by 2^32 by 0: there are no elements to count.", with_tensor(I8, &[1 << 32, 1 << 32, 0])),
    );
    before_last(group).flags(&["overflow"]);
    last(group).flags(&["empty-tensor"]);
    twins(
        group,
        &tensors::BYTES_WRAP,
        ("2^62 weights of Q8_1: their number times 36 wraps to 0.", with_tensor(9, &[1 << 62])),
        ("2^62 by 0 weights of Q8_1: none.", with_tensor(9, &[1 << 62, 0])),
    );
    before_last(group).flags(&["overflow"]);
    last(group).flags(&["empty-tensor"]);
    twins(
        group,
        &tensors::BYTES_RANGE,
        ("2^61 doubles: 2^64 bytes.", with_tensor(F64, &[1 << 61])),
        ("2^61 by 0 doubles: none.", with_tensor(F64, &[1 << 61, 0])),
    );
    before_last(group).flags(&["overflow"]);
    last(group).flags(&["empty-tensor"]);
    let typed = |id| edited(&tensor_builder("t", I8, &[256]), |tree| tree.tensors[0].type_id = id);
    twins(
        group,
        &tensors::TYPE_KNOWN,
        ("Tensor type 43, the first that is not assigned.", typed(43)),
        ("Tensor type 30 (BF16), whose size the file cannot mistake.", with_tensor(30, &[128])),
    );
    twins(
        group,
        &tensors::TYPE_REMOVED,
        ("Tensor type 4 (Q4_2), removed.", typed(4)),
        ("Tensor type 3 (Q4_1), its neighbour.", with_tensor(3, &[256])),
    );
    twins(
        group,
        &tensors::TYPE_DOCUMENT,
        ("Tensor type 40 (NVFP4), newer than the document.", with_tensor(40, &[256])),
        ("Tensor type 39 (MXFP4), the last one the document lists.", with_tensor(39, &[256])),
    );
    before_last(group).flags(&["newer-type"]);
    twins(
        group,
        &tensors::BLOCK_MULTIPLE,
        ("A row of 31 weights in blocks of 32.", with_tensor(Q4_0, &[31])),
        ("A row of 32 weights in blocks of 32.", with_tensor(Q4_0, &[32])),
    );
}

/// Two tensors of 32 bytes.
fn pair_of_tensors() -> Builder {
    let mut builder = Builder::new();
    builder.add(tensor("a", F32, &[8])).add(tensor("b", F32, &[8]));
    builder
}

pub(super) fn layouts(group: &mut Group) {
    let moved = |by: u64| {
        edited(&pair_of_tensors(), |tree| {
            tree.tensors[1].offset += by;
            tree.rest.to_mut().extend(vec![0; usize::try_from(by).unwrap_or(0)]);
        })
    };
    twins(
        group,
        &layout::OFFSET_ALIGNED,
        ("The second tensor starts 8 bytes after a multiple of the alignment of 32.", moved(8)),
        ("The second tensor starts at the next multiple of 32.", moved(0)),
    );
    twins(
        group,
        &layout::OFFSET_CONTIGUOUS,
        ("A gap of 32 bytes between two tensors.", moved(32)),
        ("No gap between two tensors.", bytes(&pair_of_tensors())),
    );
    let wide = |dims: &[u64]| with_tensor(F64, dims);
    twins(
        group,
        &layout::PADDING_WRAPS,
        ("2^61 - 1 doubles: the size fits 64 bits, rounded up to 32 it does not.", wide(&[(1 << 61) - 1])),
        ("2^61 - 1 by 0 doubles: none.", wide(&[(1 << 61) - 1, 0])),
    );
    before_last(group).flags(&["overflow"]);
    last(group).flags(&["empty-tensor"]);
    let four = |last: u64| {
        let mut builder = Builder::new();
        for name in ["a", "b", "c"] {
            builder.add(tensor(name, I8, &[1 << 62]));
        }
        builder.add(tensor("d", I8, &[last]));
        builder
    };
    group
        .push("layout-size-total-broken", "Four tensors of 2^62 bytes: together 2^64.", bytes(&four(1 << 62)))
        .breaks(&[&layout::TOTAL_RANGE])
        .flags(&["overflow"]);
    group
        .push(
            "layout-size-total-kept",
            "Three tensors of 2^62 bytes and one of 32: the sum fits, the data is missing.",
            bytes(&four(32)),
        )
        .breaks(&[&data::MEMORY])
        .keeps(&[&layout::TOTAL_RANGE])
        .flags(&["overflow", "memory"]);

    let padded = tensor_builder("tt", F32, &[0]);
    let tree = padded.finish();
    let places = Places::of(&tree, 0);
    assert!(places.table_end < places.padding_end, "the near miss needs padding");
    let whole = encode(&tree);
    let at = usize::try_from(places.padding_end - 1).unwrap_or(0);
    twins(
        group,
        &layout::DATA_START,
        (
            "The file ends one byte before the tensor data would start; the only tensor is empty.",
            cut(whole.clone(), at),
        ),
        ("The file ends where the tensor data would start; the only tensor is empty.", whole),
    );
    before_last(group).flags(&["truncated", "empty-tensor"]);
    last(group).flags(&["empty-tensor"]);
    let builder = tensor_builder("t", F32, &[8]);
    twins(
        group,
        &layout::PADDING_ZERO,
        (
            "A byte of 1 in the padding between the tensor table and the data.",
            edited(&builder, |tree| {
                let at = tree.padding.len() - 1;
                tree.padding[at] = 1;
            }),
        ),
        ("Zeros in the padding between the tensor table and the data.", bytes(&builder)),
    );
    before_last(group).flags(&["padding"]);
    last(group).flags(&["padding"]);
}

pub(super) fn data_stage(group: &mut Group) {
    let builder = pair_of_tensors();
    let whole = bytes(&builder);
    let end = whole.len();
    twins(
        group,
        &data::EXTENT,
        ("The last byte of the last tensor is missing.", cut(whole.clone(), end - 1)),
        ("All bytes of the last tensor are there.", whole),
    );
    before_last(group).flags(&["truncated"]);
    let declared = |dims: &[u64]| with_tensor(I8, dims);
    group
        .push(
            "data-memory-broken",
            "2^40 bytes declared, none there: ggml asks for the memory first, and aborts.",
            declared(&[1 << 40]),
        )
        .breaks(&[&data::MEMORY])
        .flags(&["memory"]);
    group
        .push("data-memory-kept", "The same tensor with 32 bytes declared, all there.", declared(&[32]))
        .keeps(&[&data::MEMORY]);
    group
        .push(
            "data-memory-refused",
            "2^30 bytes declared, none there: ggml gets the memory, and refuses.",
            declared(&[1 << 30]),
        )
        .breaks(&[&data::EXTENT])
        .keeps(&[&data::MEMORY])
        .flags(&["memory"]);
    let two = |second: u64| bytes(Builder::new().add(tensor("a", F64, &[1 << 60])).add(tensor("b", F64, &[second])));
    group
        .push(
            "data-context-size-broken",
            "2^64 - 32 bytes of data: with ggml's bookkeeping the sum wraps.",
            two((1 << 60) - 4),
        )
        .breaks(&[&data::CONTEXT_SIZE])
        .flags(&["overflow"]);
    let empty = bytes(Builder::new().add(tensor("a", F64, &[1 << 60, 0])).add(tensor("b", F64, &[(1 << 60) - 4, 0])));
    group
        .push("data-context-size-kept", "The same two tensors, with a last dimension of 0.", empty)
        .keeps(&[&data::CONTEXT_SIZE])
        .flags(&["empty-tensor"]);
    group
        .push(
            "data-context-size-aborts",
            "2^64 - 4096 bytes of data: the sum fits, the memory does not.",
            two((1 << 60) - 512),
        )
        .breaks(&[&data::MEMORY])
        .keeps(&[&data::CONTEXT_SIZE])
        .flags(&["overflow", "memory"]);
    let short = tensor_builder("t", F32, &[3]);
    let whole = bytes(&short);
    let end = whole.len();
    twins(
        group,
        &data::FINAL_PADDING,
        ("The last byte of the padding after the last tensor is missing.", cut(whole.clone(), end - 1)),
        ("The padding after the last tensor is complete.", whole),
    );
    before_last(group).flags(&["padding"]);
    last(group).flags(&["padding"]);
    let mut two = tensor_builder("t", F32, &[3]);
    two.add(tensor("u", F32, &[8]));
    twins(
        group,
        &data::PADDING_ZERO,
        ("A byte of 1 in the padding between two tensors.", edited(&two, |tree| tree.rest.to_mut()[31] = 1)),
        ("Zeros in the padding between two tensors.", bytes(&two)),
    );
    before_last(group).flags(&["padding"]);
    last(group).flags(&["padding"]);
}
