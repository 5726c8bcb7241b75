//! Where readers looked for data, and names they could not tell apart.

use gguf_spec::generate::{Builder, pair, scalar, string, string_array, tensor};
use gguf_spec::rules::{data, header, layout, metadata, semantics, tensors};
use gguf_spec::syntax::ByteOrder;
use gguf_spec::types::ValueType;

use crate::define::type_ids::{F32, I8};
use crate::define::{Group, bytes, edited};

use super::one;

pub(super) fn extents(group: &mut Group) {
    let two = || {
        let mut builder = Builder::new();
        builder.add(tensor("a", F32, &[8])).add(tensor("b", F32, &[8]));
        builder
    };
    group
        .push(
            "fault-data-behind-end",
            "A tensor larger than the file: reading it copies memory that is not its own.",
            edited(Builder::new().add(tensor("t", F32, &[1 << 20])), |tree| tree.rest.to_mut().truncate(64)),
        )
        .breaks(&[&data::EXTENT])
        .flags(&["truncated"])
        .from("cve", "CVE-2026-7482");
    group
        .push(
            "fault-two-tensors-short",
            "The second of two tensors ends behind the file by four bytes: its offset is fine, its size is not.",
            edited(&two(), |tree| tree.rest.to_mut().truncate(60)),
        )
        .breaks(&[&data::EXTENT])
        .flags(&["truncated"])
        .from("bug", "gittensor-ai-lab/sparkinfer#25");
    group
        .push(
            "fault-offset-2-40",
            "An offset of 2^40 in a mapped file.",
            edited(&two(), |tree| tree.tensors[1].offset = 1 << 40),
        )
        .breaks(&[&layout::OFFSET_CONTIGUOUS, &data::EXTENT])
        .from("bug", "ml-explore/mlx#4136, ml-explore/mlx#4179");
    group
        .push(
            "fault-offset-wraps-into-file",
            "An offset that wraps back into the file: the wrong bytes are read without a word.",
            edited(&two(), |tree| tree.tensors[1].offset = 0u64.wrapping_sub(64)),
        )
        .breaks(&[&layout::OFFSET_CONTIGUOUS, &data::EXTENT])
        .flags(&["overflow"])
        .from("bug", "antirez/gguf-tools#33");
    group
        .push("fault-data-pointer-null", "A tensor whose data is all missing, so that its pointer may be null.", {
            edited(Builder::new().add(tensor("t", F32, &[8])), |tree| tree.rest.to_mut().clear())
        })
        .breaks(&[&data::EXTENT])
        .flags(&["truncated"])
        .from("cve", "CVE-2025-62608, CVE-2025-62609");
    group
        .push(
            "fault-ends-in-padding",
            "The file ends between the tensor table and the data: a subtraction underflows.",
            {
                edited(Builder::new().add(tensor("t", F32, &[8])), |tree| {
                    tree.padding.truncate(1);
                    tree.rest.to_mut().clear();
                })
            },
        )
        .breaks(&[&layout::DATA_START])
        .flags(&["truncated"])
        .from("bug", "ROCm/hrx-system#278");
    group
        .push(
            "fault-region-too-short",
            "The second tensor starts before the first ends: the tail of one is read from the other.",
            {
                edited(Builder::new().add(tensor("a", F32, &[16])).add(tensor("b", F32, &[8])), |tree| {
                    tree.tensors[1].offset = 32;
                })
            },
        )
        .breaks(&[&layout::OFFSET_CONTIGUOUS])
        .from("bug", "ikawrakow/ik_llama.cpp#2437");
    group
        .push("fault-trailing-taken-for-file", "Zeros after the last tensor, which a reader took for a second file.", {
            let mut file = bytes(&two());
            file.extend([0; 32]);
            file
        })
        .flags(&["trailing-bytes", "well-formed"])
        .from("bug", "ollama/ollama#10201");
    group
        .push("fault-final-padding-missing", "All weights are there and the padding of the last is not.", {
            edited(Builder::new().add(tensor("t", F32, &[3])), |tree| tree.rest.to_mut().truncate(12))
        })
        .breaks(&[&data::FINAL_PADDING])
        .flags(&["padding"])
        .from("bug", "BrianNguyen29/SafeGGUF README");
    group
        .push("fault-gap-aligned", "An aligned gap between two tensors, on which readers differ.", {
            edited(&two(), |tree| {
                tree.tensors[1].offset = 64;
                tree.rest.to_mut().resize(96, 0);
            })
        })
        .breaks(&[&layout::OFFSET_CONTIGUOUS])
        .from("bug", "coderredlab/runNburn v0.6.1, ggml-org/llama.cpp#18674");
    group
        .push("fault-out-of-order", "Tensors stored in another order than listed, on which readers differ.", {
            edited(&two(), |tree| {
                tree.tensors[0].offset = 32;
                tree.tensors[1].offset = 0;
            })
        })
        .breaks(&[&layout::OFFSET_CONTIGUOUS])
        .from("bug", "coderredlab/runNburn v0.6.1");
    group
        .push("fault-layer-order", "Layers listed out of order: 1, 0, output.", {
            let mut builder = Builder::new();
            for name in ["blk.1.attn_q.weight", "blk.0.attn_q.weight", "output.weight"] {
                builder.add(tensor(name, F32, &[8]));
            }
            bytes(&builder)
        })
        .flags(&["well-formed"])
        .from("bug", "ollama/ollama#5422");
    group
        .push(
            "fault-offset-zero-is-data",
            "The first tensor starts at 0, which a reader took for no data.",
            bytes(&two()),
        )
        .flags(&["well-formed"])
        .from("bug", "Scottcjn/ram-coffers#708");
    group
        .push(
            "fault-huge-declared",
            "A terabyte declared in a hundred bytes: ggml aborts, where it could refuse.",
            one(I8, &[1 << 40]),
        )
        .breaks(&[&data::MEMORY])
        .flags(&["memory"])
        .from("bug", "ggml-org/llama.cpp#19856");
    group
        .push(
            "fault-rows-and-columns",
            "A matrix of 3 by 2: the first dimension is the length of a row.",
            one(F32, &[3, 2]),
        )
        .flags(&["well-formed"])
        .from("bug", "chrishayuk/larql#16");
}

pub(super) fn names(group: &mut Group) {
    let named = |name: &str| bytes(Builder::new().add(tensor(name, F32, &[8])));
    group
        .push("fault-tensor-twice", "Two tensors of one name: one of them is loaded.", {
            bytes(Builder::new().add(tensor("blk.0.attn_q.weight", F32, &[8])).add(tensor(
                "blk.0.attn_q.weight",
                F32,
                &[8],
            )))
        })
        .breaks(&[&tensors::NAME_DUPLICATE])
        .flags(&["duplicate"])
        .from("bug", "ggml-org/llama.cpp#6836, ggml-org/llama.cpp#6905, ggml-org/llama.cpp#6490");
    group
        .push("fault-key-twice", "Two pairs of one key with two values: readers keep the first, the last, or fail.", {
            let mut builder = Builder::new();
            builder.metadata.push(pair("llama.context_length", scalar(ValueType::U32, 2048)));
            builder.metadata.push(pair("llama.context_length", scalar(ValueType::U32, 4096)));
            bytes(&builder)
        })
        .breaks(&[&metadata::KEY_DUPLICATE])
        .flags(&["duplicate"])
        .from("bug", "ggml-org/llama.cpp#4062, ggml-org/llama.cpp#19856");
    group
        .push(
            "fault-name-64",
            "A tensor name of 64 bytes, legal by the document, cut to 63 by old readers.",
            named(&"w".repeat(64)),
        )
        .breaks(&[&tensors::NAME_TERMINATOR])
        .from("bug", "ggml-org/llama.cpp#10100, ggml-org/llama.cpp#13947, ggml-org/llama.cpp#21776");
    group
        .push(
            "fault-name-70",
            "A tensor name of 70 bytes, as builds with a larger limit write it.",
            named(&"w".repeat(70)),
        )
        .breaks(&[&tensors::NAME_LENGTH])
        .from("bug", "leejet/stable-diffusion.cpp#1949");
    group
        .push(
            "fault-name-nul",
            "A tensor name with a NUL: what follows is invisible to a C interface.",
            named("output\0hidden.weight"),
        )
        .flags(&["c-string"])
        .from("bug", "BrianNguyen29/SafeGGUF 0.1.0");
    group
        .push("fault-key-empty-37-bytes", "An empty key in a file of 37 bytes: an assertion ends the process.", {
            let builder = Builder { metadata: vec![pair("", scalar(ValueType::Bool, 0))], ..Builder::default() };
            let mut file = bytes(&builder);
            file.truncate(37);
            file
        })
        .breaks(&[&metadata::KEY_EMPTY, &semantics::ARCHITECTURE_REQUIRED])
        .flags(&["no-tensors"])
        .from("bug", "ggml-org/llama.cpp#24884, ggml-org/llama.cpp#24917");
    group
        .push(
            "fault-architecture-unknown",
            "An architecture nobody knows: a loader must say so, a reader need not care.",
            bytes(Builder::new().set(pair("general.architecture", string("nosuchmodel")))),
        )
        .flags(&["well-formed"])
        .from("bug", "EricLBuehler/mistral.rs#2098");
    group
        .push("fault-architecture-absent", "No architecture at all, as in adapters and vocabularies.", {
            bytes(Builder { metadata: Vec::new(), ..Builder::default() }.set(pair("general.type", string("vocab"))))
        })
        .breaks(&[&semantics::ARCHITECTURE_REQUIRED])
        .from("bug", "EricLBuehler/mistral.rs#2425");
}

pub(super) fn versions(group: &mut Group) {
    let sample = |version, byte_order| {
        let mut builder = Builder { version, byte_order, ..Builder::new() };
        builder
            .set(pair("llama.context_length", scalar(ValueType::U32, 2048)))
            .set(pair("tokenizer.ggml.tokens", string_array(&["<s>", "a"])))
            .add(tensor("token_embd.weight", F32, &[4, 2]));
        bytes(&builder)
    };
    let little = ByteOrder::Little;
    group
        .push(
            "fault-v1-crash",
            "A version 1 file: some readers crash, some read its lengths as 64-bit, some read it right.",
            sample(1, little),
        )
        .breaks(&[&header::VERSION_1])
        .flags(&["version-1"])
        .from("bug", "ggml-org/llama.cpp#3901, ggml-org/llama.cpp#3908, huggingface/huggingface.js#568");
    group
        .push(
            "fault-v2-refused",
            "A version 2 file: the same layout as 3, refused by readers that insist.",
            sample(2, little),
        )
        .breaks(&[&header::VERSION_2])
        .flags(&["version-2"])
        .from("bug", "paiml/aprender#310, containers/ramalama#1663, ollama/ollama#11119");
    group
        .push(
            "fault-big-endian",
            "A big-endian file: panics, garbage, or weights left unswapped.",
            sample(3, ByteOrder::Big),
        )
        .breaks(&[&header::BYTE_ORDER])
        .flags(&["big-endian"])
        .from("bug", "ollama/ollama#4938, ggml-org/llama.cpp#12081, huggingface/huggingface.js#545");
    group
        .push("fault-fugg", "The magic FUGG, proposed for big-endian files and rejected.", {
            let mut file = sample(3, ByteOrder::Big);
            file[..4].copy_from_slice(b"FUGG");
            file
        })
        .breaks(&[&header::MAGIC])
        .flags(&["big-endian", "foreign"])
        .from("bug", "ggml-org/llama.cpp#20019, ggml-org/llama.cpp#3957, ggml-org/llama.cpp#3552");
}
