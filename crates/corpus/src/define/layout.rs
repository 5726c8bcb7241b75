//! Layouts: gaps, order, overlap, padding, trailing bytes, missing data.

use gguf_spec::generate::{Builder, pair, scalar, string, tensor};
use gguf_spec::rules::{Rule, data, layout};
use gguf_spec::types::ValueType;

use super::{Definition, Group, bytes, edited};
use crate::define::type_ids::F32;

pub(super) fn define() -> Vec<Definition> {
    let mut group = Group::new("layout", "rule");
    offsets(&mut group);
    ends(&mut group);
    padding(&mut group);
    many(&mut group);
    group.list
}

fn three() -> Builder {
    let mut builder = Builder::new();
    builder.add(tensor("a", F32, &[8])).add(tensor("b", F32, &[3])).add(tensor("c", F32, &[16]));
    builder
}

/// The three tensors at these offsets, in a data section of this size that is zero elsewhere. Where
/// they overlap, the bytes are those of the last.
fn placed(offsets: [u64; 3], size: usize) -> Vec<u8> {
    edited(&three(), |tree| {
        let old = tree.rest.to_mut();
        let data = [old[..32].to_vec(), old[32..44].to_vec(), old[64..128].to_vec()];
        old.clear();
        old.resize(size, 0);
        for ((tensor, offset), bytes) in tree.tensors.iter_mut().zip(offsets).zip(data) {
            tensor.offset = offset;
            let room = usize::try_from(offset)
                .ok()
                .and_then(|at| tree.rest.to_mut().get_mut(at..at.checked_add(bytes.len())?));
            if let Some(room) = room {
                room.copy_from_slice(&bytes);
            }
        }
    })
}

fn offsets(group: &mut Group) {
    let contiguous: &'static Rule = &layout::OFFSET_CONTIGUOUS;
    let aligned: &'static Rule = &layout::OFFSET_ALIGNED;
    group.push("offsets-contiguous", "Three tensors one after another.", bytes(&three())).keeps(&[contiguous, aligned]);
    group
        .push("offset-first-32", "The first tensor starts at 32: an unused block before it.", placed([32, 64, 96], 160))
        .breaks(&[contiguous]);
    group.push("offset-gap-first", "A gap after the first tensor.", placed([0, 64, 96], 160)).breaks(&[contiguous]);
    group.push("offset-gap-large", "A gap of 32 kB.", placed([0, 32, 32832], 32896)).breaks(&[contiguous]);
    group
        .push("offset-swapped", "The second and third tensors are stored in the other order.", placed([0, 96, 32], 160))
        .breaks(&[contiguous]);
    group
        .push("offset-reversed", "All tensors are stored in reverse order.", placed([96, 64, 0], 128))
        .breaks(&[contiguous]);
    group.push("offset-same", "Two tensors at the same place.", placed([0, 0, 64], 128)).breaks(&[contiguous]);
    group.push("offset-all-zero", "All tensors at 0.", placed([0, 0, 0], 128)).breaks(&[contiguous]);
    group
        .push("offset-overlap", "The third tensor starts inside the second.", placed([0, 32, 32], 128))
        .breaks(&[contiguous]);
    for by in [1u64, 4, 16, 31] {
        group
            .push(
                format!("offset-plus-{by}"),
                format!("The second tensor starts {by} bytes late."),
                placed([0, 32 + by, 64], 160),
            )
            .breaks(&[aligned]);
    }
    group
        .push(
            "offset-unaligned-all",
            "Tensors packed without padding: the third starts at 44.",
            placed([0, 32, 44], 108),
        )
        .breaks(&[aligned]);
    for (name, offset) in [("2-40", 1u64 << 40), ("2-63", 1 << 63), ("max", u64::MAX - 31)] {
        group
            .push(
                format!("offset-{name}"),
                format!("The third tensor starts at {offset}, far behind the end."),
                placed([0, 32, offset], 128),
            )
            .breaks(&[contiguous, &data::EXTENT]);
    }
    group
        .push("offset-max-unaligned", "The third tensor starts at 2^64 - 1.", placed([0, 32, u64::MAX], 128))
        .breaks(&[aligned, &data::EXTENT]);
    group
        .push("offset-wraps-back", "An offset that, added to the start of the data, wraps to the start of the file.", {
            let start = bytes(&three()).len() as u64 - 128;
            placed([0, 32, 0u64.wrapping_sub(start)], 128)
        })
        .breaks(&[contiguous, &data::EXTENT])
        .flags(&["overflow"]);
    group
        .push(
            "offset-size-wraps",
            "An offset that, added to the size, wraps past 2^64.",
            placed([0, 32, u64::MAX - 63], 128),
        )
        .breaks(&[contiguous, &data::EXTENT])
        .flags(&["overflow"]);
}

fn ends(group: &mut Group) {
    let whole = bytes(&three());
    let end = whole.len();
    let cut = |by: usize| whole[..end - by].to_vec();
    for (name, by, what) in [
        ("one-byte", 1usize, "the last byte of the last tensor"),
        ("last-tensor", 64, "the last tensor"),
        ("half", 100, "the last tensor and a part of the second"),
        ("all", 128, "all tensor data"),
    ] {
        group
            .push(format!("data-missing-{name}"), format!("The file ends early: {what} is missing."), cut(by))
            .breaks(&[&data::EXTENT])
            .flags(&["truncated"]);
    }
    group
        .push("data-start-missing", "The file ends with the tensor table.", {
            edited(&three(), |tree| {
                tree.padding.clear();
                tree.rest.to_mut().clear();
            })
        })
        .breaks(&[&layout::DATA_START])
        .flags(&["truncated"]);
    let unpadded = bytes(Builder::new().add(tensor("a", F32, &[8])).add(tensor("b", F32, &[3])));
    for by in [1usize, 19, 20] {
        group
            .push(
                format!("final-padding-short-{by}"),
                format!("{by} of the 20 bytes that pad the last tensor are missing."),
                unpadded[..unpadded.len() - by].to_vec(),
            )
            .breaks(&[&data::FINAL_PADDING])
            .flags(&["padding"]);
    }
    for (name, tail) in [("one", 1usize), ("32", 32), ("100", 100), ("4096", 4096)] {
        group
            .push(format!("trailing-{name}"), format!("{tail} bytes after the last tensor, which nobody needs."), {
                let mut file = whole.clone();
                file.extend(std::iter::repeat_n(0xAA, tail));
                file
            })
            .keeps(&[&data::EXTENT])
            .flags(&["trailing-bytes"]);
    }
    group
        .push(
            "trailing-second-file",
            "A second GGUF file after the first: only the first counts.",
            [whole.clone(), whole.clone()].concat(),
        )
        .flags(&["trailing-bytes"]);
    group
        .push("trailing-no-tensors", "Bytes after the metadata of a file without tensors.", {
            let mut file = bytes(Builder::new().set(pair("x.v", string("v"))));
            file.extend([0xAA; 64]);
            file
        })
        .flags(&["trailing-bytes", "no-tensors"]);
}

fn padding(group: &mut Group) {
    let rules: [&'static Rule; 2] = [&layout::PADDING_ZERO, &data::PADDING_ZERO];
    group
        .push(
            "padding-header-ff",
            "The padding before the data is filled with FF.",
            edited(&three(), |tree| tree.padding.fill(0xFF)),
        )
        .breaks(&[rules[0]])
        .flags(&["padding"]);
    group
        .push(
            "padding-between-ff",
            "The padding between two tensors is filled with FF.",
            edited(&three(), |tree| tree.rest.to_mut()[44..64].fill(0xFF)),
        )
        .breaks(&[rules[1]])
        .flags(&["padding"]);
    group
        .push("padding-both", "One byte of padding before the data and one between tensors are not zero.", {
            edited(&three(), |tree| {
                tree.padding[0] = 1;
                tree.rest.to_mut()[63] = 1;
            })
        })
        .breaks(&rules)
        .flags(&["padding"]);
    group
        .push(
            "padding-last-ff",
            "What follows the last tensor up to the alignment is filled with FF: it is not between tensors.",
            edited(&tail(), |tree| tree.rest.to_mut()[44..64].fill(0xFF)),
        )
        .keeps(&[rules[1]])
        .flags(&["padding"]);
    group
        .push(
            "padding-swapped-ff",
            "Two tensors stored in the other order, with FF in the padding between them.",
            edited(&tail(), |tree| {
                tree.tensors[0].offset = 32;
                tree.tensors[1].offset = 0;
                tree.rest.to_mut()[12..32].fill(0xFF);
            }),
        )
        .breaks(&[&layout::OFFSET_CONTIGUOUS, rules[1]])
        .flags(&["padding"]);
    group
        .push(
            "padding-gap-ff",
            "A gap of two blocks after a tensor that needs no padding, filled with FF: nothing is said of gaps.",
            edited(&three(), |tree| {
                tree.tensors[1].offset = 96;
                tree.tensors[2].offset = 128;
                let data = tree.rest.to_mut();
                data.splice(32..32, [0xFF; 64]);
            }),
        )
        .breaks(&[&layout::OFFSET_CONTIGUOUS])
        .flags(&["padding"]);
    group
        .push("padding-no-tensors", "Padding that is not zero in a file without tensors.", {
            edited(Builder::new().set(pair("x.v", string("v"))), |tree| tree.padding.fill(7))
        })
        .breaks(&[rules[0]])
        .flags(&["padding", "no-tensors"]);
    group
        .push("padding-none-needed", "Tensors that need no padding, in a header that needs none either.", {
            let mut builder = Builder::new();
            builder.add(tensor("a", F32, &[8])).add(tensor("b", F32, &[16]));
            let short = builder.finish().padding.len();
            let name = format!("b{}", "x".repeat(short));
            bytes(Builder::new().add(tensor("a", F32, &[8])).add(tensor(name, F32, &[16])))
        })
        .keeps(&rules);
    group
        .push("padding-not-written", "A file without tensors that ends with its last pair, unpadded.", {
            edited(Builder::new().set(pair("x.v", string("v"))), |tree| tree.padding.clear())
        })
        .flags(&["padding", "no-tensors"]);
}

/// Two tensors, of which the last needs padding.
fn tail() -> Builder {
    let mut builder = Builder::new();
    builder.add(tensor("a", F32, &[8])).add(tensor("b", F32, &[3]));
    builder
}

fn many(group: &mut Group) {
    group.push("tensors-100", "A hundred small tensors.", {
        let mut builder = Builder::new();
        for i in 0..100 {
            builder.add(tensor(format!("blk.{i}.attn_norm.weight"), F32, &[1 + i % 9]));
        }
        bytes(&builder)
    });
    group.push("tensors-mixed", "Plain and block formats side by side.", {
        let mut builder = Builder::new();
        builder.set(pair("general.quantization_version", scalar(ValueType::U32, 2)));
        builder.set(pair("general.file_type", scalar(ValueType::U32, 15)));
        for (name, type_id, dims) in [
            ("token_embd.weight", 12, &[256, 2][..]),
            ("output_norm.weight", 0, &[256]),
            ("blk.0.ffn_down.weight", 14, &[256, 2]),
            ("blk.0.bias", 1, &[7]),
        ] {
            builder.add(tensor(name, type_id, dims));
        }
        bytes(&builder)
    });
    group.push("pairs-200", "Two hundred pairs.", {
        let mut builder = Builder::new();
        for i in 0..200u64 {
            builder.set(pair(format!("x.k{i}"), scalar(ValueType::U16, i)));
        }
        bytes(&builder)
    });
}
