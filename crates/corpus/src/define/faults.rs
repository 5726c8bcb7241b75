//! Faults of published readers, each as the smallest file that shows it.
//!
//! References name a public issue, pull request or advisory: `owner/repository#number`. What the
//! right behaviour is follows from the rules, not from the reference.

use gguf_spec::generate::{Builder, array, fixed_array, nested, pair, scalar, string, string_array, tensor};
use gguf_spec::rules::{Rule, data, header, keys, layout, metadata, semantics, tensors};
use gguf_spec::syntax::{ByteOrder, Value};
use gguf_spec::types::ValueType;

use super::{Definition, Group, bytes, edited};

const F32: u32 = 0;
const I8: u32 = 24;

pub(super) fn define() -> Vec<Definition> {
    let mut group = Group::new("faults", "bug");
    sizes(&mut group);
    alignments(&mut group);
    counts(&mut group);
    extents(&mut group);
    names(&mut group);
    versions(&mut group);
    arrays(&mut group);
    tokenizers(&mut group);
    types(&mut group);
    models(&mut group);
    foreign(&mut group);
    group.list
}

fn one(type_id: u32, dims: &[u64]) -> Vec<u8> {
    bytes(Builder::new().add(tensor("t", type_id, dims)))
}

fn sizes(group: &mut Group) {
    let range = [&tensors::ELEMENTS_RANGE];
    group
        .push("fault-stride-wraps", "A second dimension of 2^42 + 1: times the stride, 64 bits wrap.", {
            bytes(Builder::new().add(tensor("a", F32, &[1 << 20, (1 << 42) + 1, 2])).add(tensor("b", F32, &[8])))
        })
        .breaks(&range)
        .flags(&["overflow"])
        .from("bug", "ggml-org/llama.cpp#18674, GHSA-vgg9-87g3-85w8");
    group
        .push("fault-total-wraps", "Tensor sizes whose sum wraps to a small number.", {
            let mut builder = Builder::new();
            for name in ["a", "b", "c"] {
                builder.add(tensor(name, I8, &[1 << 62]));
            }
            bytes(builder.add(tensor("d", I8, &[(1 << 62) + 64])))
        })
        .breaks(&[&layout::TOTAL_RANGE])
        .flags(&["overflow"])
        .from("cve", "CVE-2025-53630");
    group
        .push(
            "fault-total-wraps-bookkeeping",
            "Tensor sizes whose sum fits and wraps when the bookkeeping is added.",
            { bytes(Builder::new().add(tensor("a", 28, &[1 << 60])).add(tensor("b", 28, &[(1 << 60) - 8]))) },
        )
        .breaks(&[&data::CONTEXT_SIZE])
        .flags(&["overflow"])
        .from("cve", "CVE-2026-27940, GHSA-3p4r-fq3f-q74v");
    group
        .push("fault-pad-wraps", "A size near 2^64 that wraps to 0 when it is padded.", one(28, &[(1 << 61) - 1]))
        .breaks(&[&layout::PADDING_WRAPS])
        .flags(&["overflow"])
        .from("bug", "ggml-org/llama.cpp#26318");
    group
        .push(
            "fault-dim-zero-divides",
            "A shape of 4 by 0: an overflow check that divides by a dimension ends the process.",
            one(F32, &[4, 0]),
        )
        .flags(&["empty-tensor", "well-formed"])
        .from("bug", "ggml-org/llama.cpp#26366, ggml-org/llama.cpp#25596");
    group
        .push(
            "fault-dim-zero-becomes-one",
            "A shape of 0: read as 1, the next tensor is taken from the wrong place.",
            { bytes(Builder::new().add(tensor("a", F32, &[0])).add(tensor("b", F32, &[8]))) },
        )
        .flags(&["empty-tensor", "well-formed"])
        .from("bug", "1bit-MONSTER/1bit-MONSTER#688");
    for (name, n_dims) in [("million", 1_000_000u32), ("max", u32::MAX)] {
        group
            .push(
                format!("fault-n-dims-{name}"),
                format!("A declared number of dimensions of {n_dims}: gigabytes, if it is believed."),
                { edited(Builder::new().add(tensor("t", F32, &[8])), |tree| tree.tensors[0].n_dims = n_dims) },
            )
            .breaks(&[&tensors::DIMS_TRUNCATED])
            .flags(&["huge-count"])
            .from("bug", "ggml-org/llama.cpp#25378, ggml-org/llama.cpp#25401");
    }
    group
        .push(
            "fault-product-wraps-to-4",
            "Three dimensions whose product wraps to 4.",
            one(F32, &[4_194_305, 4_194_305, 211_106_198_978_564]),
        )
        .breaks(&range)
        .flags(&["overflow"])
        .from("bug", "ggml-org/llama.cpp#25378");
    group
        .push("fault-five-dims-index", "Five dimensions read into an array of four.", one(F32, &[2, 2, 2, 2, 2]))
        .breaks(&[&tensors::N_DIMS_MAX])
        .from("bug", "zackshen/gguf#15");
    group
        .push("fault-dims-minus-one-by-two", "A shape of 2^64 - 1 by 2 by 1 by 1.", one(F32, &[u64::MAX, 2, 1, 1]))
        .breaks(&[&tensors::DIM_SIGNED])
        .flags(&["overflow"])
        .from("bug", "zackshen/gguf#15");
    group
        .push(
            "fault-2-40-squared",
            "A shape of 2^40 by 2^40: a tiny buffer with a huge declared shape.",
            one(F32, &[1 << 40, 1 << 40]),
        )
        .breaks(&[&tensors::ELEMENTS_WRAP])
        .flags(&["overflow"])
        .from("bug", "huggingface/candle#3714");
    group
        .push(
            "fault-rank-0",
            "A tensor of rank 0, as a published model has it: refusing it refuses the model.",
            one(F32, &[]),
        )
        .flags(&["well-formed"])
        .from("bug", "ggml-org/whisper.cpp#3944");
    group
        .push(
            "fault-rank-5",
            "A tensor of rank 5: a stack buffer of four dimensions overflows.",
            one(F32, &[1, 1, 1, 1, 8]),
        )
        .breaks(&[&tensors::N_DIMS_MAX])
        .from("bug", "ggml-org/whisper.cpp#3787, ggml-org/whisper.cpp#3957");
}

fn alignments(group: &mut Group) {
    let file = |bits| {
        bytes(Builder::new().set(pair("general.alignment", scalar(ValueType::U32, bits))).add(tensor("t", F32, &[8])))
    };
    group
        .push("fault-alignment-zero-divides", "An alignment of 0, by which readers divide.", file(0))
        .breaks(&[&metadata::ALIGN_ZERO])
        .from("bug", "huggingface/candle#3876, antirez/gguf-tools#27");
    group
        .push("fault-alignment-zero-no-tensors", "An alignment of 0 in a file without tensors.", {
            bytes(Builder::new().set(pair("general.alignment", scalar(ValueType::U32, 0))))
        })
        .breaks(&[&metadata::ALIGN_ZERO])
        .flags(&["no-tensors"])
        .from("bug", "huggingface/candle#3876");
    for (name, bits) in [("2-31", 1u64 << 31), ("2-30", 1 << 30)] {
        group
            .push(
                format!("fault-alignment-{name}"),
                format!("An alignment of {bits}: 32-bit arithmetic gives a negative data offset."),
                {
                    let mut builder = Builder::new();
                    builder.set(pair("general.alignment", scalar(ValueType::U32, bits))).add(tensor("t", F32, &[8]));
                    edited(&builder, |tree| {
                        tree.padding = vec![0; 32];
                        tree.rest.to_mut().clear();
                    })
                },
            )
            .breaks(&[&layout::DATA_START])
            .flags(&["overflow"])
            .from("bug", "huggingface/huggingface.js#2201, ggml-org/llama.cpp#24997, GHSA-96jg-mvhq-q7q7");
    }
    group
        .push("fault-alignment-max", "An alignment of 2^32 - 1, which wraps when one is added.", {
            let mut builder = Builder::new();
            builder.set(pair("general.alignment", scalar(ValueType::U32, u64::from(u32::MAX))));
            edited(&builder, |tree| tree.padding.clear())
        })
        .breaks(&[&metadata::ALIGN_MULTIPLE, &metadata::ALIGN_POWER])
        .flags(&["no-tensors"])
        .from("bug", "huggingface/huggingface.js#2201");
    group
        .push("fault-alignment-24", "An alignment of 24, on which the document and its readers differ.", file(24))
        .breaks(&[&metadata::ALIGN_POWER])
        .from("bug", "ROCm/hrx-system#278, ggml-org/llama.cpp#19856");
    group
        .push("fault-alignment-13", "An alignment of 13: the bad one of ggml's own test.", file(13))
        .breaks(&[&metadata::ALIGN_MULTIPLE, &metadata::ALIGN_POWER])
        .from("bug", "ggml-org/llama.cpp#19856");
    group
        .push("fault-alignment-1", "An alignment of 1: the custom one of ggml's own test.", file(1))
        .breaks(&[&metadata::ALIGN_MULTIPLE])
        .from("bug", "ggml-org/llama.cpp#19856");
    group
        .push(
            "fault-alignment-hard-coded",
            "An alignment of 256: a reader that assumes 32 finds the wrong weights.",
            file(256),
        )
        .flags(&["well-formed"])
        .from("bug", "huggingface/huggingface.js#1076, cisco-ai-defense/defenseclaw#679");
}

fn counts(group: &mut Group) {
    let patched = |at: usize, number: u64| {
        let mut file = bytes(Builder::new().set(pair("x.v", scalar(ValueType::U8, 7))).add(tensor("t", F32, &[8])));
        file[at..at + 8].copy_from_slice(&number.to_le_bytes());
        file
    };
    group
        .push(
            "fault-key-length-48-bit",
            "A key length of 2^48 - 1 in a file of a hundred bytes.",
            patched(24, 0xFFFF_FFFF_FFFF),
        )
        .breaks(&[&metadata::KEY_TRUNCATED])
        .flags(&["huge-count"])
        .from("bug", "leejet/stable-diffusion.cpp#1397");
    for (name, at, number, rule) in [
        ("tensors-2-40", 8usize, 1u64 << 40, None),
        ("tensors-2-63", 8, 1 << 63, Some(&header::TENSOR_COUNT_RANGE)),
        ("pairs-2-40", 16, 1 << 40, None),
        ("pairs-2-63", 16, 1 << 63, Some(&header::KV_COUNT_RANGE)),
    ] {
        let definition = group.push(
            format!("fault-count-{name}"),
            "A count in the header for which memory is reserved at once.",
            patched(at, number),
        );
        match rule {
            Some(rule) => definition.breaks(&[rule]),
            None => definition.swept(),
        };
        definition.flags(&["huge-count"]).from("bug", "ollama/ollama#17042, ollama/ollama#17062, CVE-2025-66960");
    }
    let declared = |len: u64| {
        edited(Builder::new().set(pair("x.text", string("text"))), |tree| {
            if let Value::String(string) = &mut tree.metadata[1].value {
                string.len = len;
            }
        })
    };
    group
        .push(
            "fault-string-skips-backwards",
            "A string length above 2^63: skipping it seeks backwards.",
            declared(u64::MAX - 100),
        )
        .breaks(&[&metadata::STRING_TRUNCATED])
        .flags(&["huge-count", "overflow"])
        .from("bug", "gpustack/gguf-parser-go#20");
    group
        .push(
            "fault-string-minus-one",
            "A string length of 2^64 - 1: with a terminator it wraps to 0.",
            declared(u64::MAX),
        )
        .breaks(&[&metadata::STRING_TRUNCATED])
        .flags(&["huge-count", "overflow"])
        .from("bug", "ollama/ollama#16494");
    let long = |type_id: u32, len: u64| {
        edited(Builder::new().set(pair("x.v", array(fixed_array(ValueType::U32, &[1])))), |tree| {
            if let Value::Array(array) = &mut tree.metadata[1].value {
                array.type_id = type_id;
                array.len = len;
            }
        })
    };
    group
        .push("fault-array-times-4-wraps", "2^62 elements of 4 bytes: the product wraps to 0.", long(4, 1 << 62))
        .breaks(&[&metadata::ELEMENTS_TRUNCATED])
        .flags(&["huge-count", "overflow"])
        .from("bug", "gpustack/gguf-parser-go#20");
    group
        .push("fault-array-times-8-wraps", "2^61 elements of 8 bytes: the product wraps to 0.", long(10, 1 << 61))
        .breaks(&[&metadata::ELEMENTS_TRUNCATED])
        .flags(&["huge-count", "overflow"])
        .from("bug", "gpustack/gguf-parser-go#20");
    group
        .push(
            "fault-array-million",
            "A million elements in a hundred bytes: memory for all is reserved first.",
            long(8, 1_000_000),
        )
        .breaks(&[&metadata::ELEMENTS_TRUNCATED])
        .flags(&["huge-count"])
        .from("bug", "huggingface/huggingface.js#2020");
    group
        .push("fault-array-billion-bools", "10^9 bools in a hundred bytes.", long(7, 1_000_000_000))
        .breaks(&[&metadata::ELEMENTS_TRUNCATED])
        .flags(&["huge-count"])
        .from("bug", "ollama/ollama#16494");
    group
        .push("fault-token-length-32-bit", "A token of length 2^32 - 1.", {
            edited(Builder::new().set(pair("tokenizer.ggml.tokens", string_array(&["a", "b"]))), |tree| {
                if let Value::Array(array) = &mut tree.metadata[1].value
                    && let gguf_spec::syntax::Elements::Strings(strings) = &mut array.elements
                {
                    strings[1].len = u64::from(u32::MAX);
                }
            })
        })
        .breaks(&[&metadata::ELEMENTS_TRUNCATED])
        .flags(&["huge-count"])
        .from("bug", "ggml-org/whisper.cpp#3674, ggml-org/whisper.cpp#4059");
    group
        .push(
            "fault-short-string-read",
            "A string that ends with the file, two bytes short: the rest must not be old memory.",
            {
                let mut file = edited(Builder::new().set(pair("x.text", string("text"))), |tree| tree.padding.clear());
                file.truncate(file.len() - 2);
                file
            },
        )
        .breaks(&[&metadata::STRING_TRUNCATED])
        .flags(&["truncated"])
        .from("bug", "1bit-MONSTER/1bit-MONSTER#752");
    group
        .push("fault-name-read-fails", "The second tensor name cannot be read, then is compared with the first.", {
            let builder = {
                let mut builder = Builder::new();
                builder.add(tensor("a", F32, &[8])).add(tensor("b", F32, &[8]));
                builder
            };
            edited(&builder, |tree| tree.tensors[1].name.len = 1 << 40)
        })
        .breaks(&[&tensors::NAME_TRUNCATED])
        .flags(&["huge-count"])
        .from("bug", "ggml-org/llama.cpp#8583");
}

fn extents(group: &mut Group) {
    let two = || {
        let mut builder = Builder::new();
        builder.add(tensor("a", F32, &[8])).add(tensor("b", F32, &[8]));
        builder
    };
    group
        .push(
            "fault-data-behind-end",
            "A tensor larger than the file: reading it copies memory that is not its own.",
            { edited(Builder::new().add(tensor("t", F32, &[1 << 20])), |tree| tree.rest.to_mut().truncate(64)) },
        )
        .breaks(&[&data::EXTENT])
        .flags(&["truncated"])
        .from("cve", "CVE-2026-7482");
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
            { edited(&two(), |tree| tree.tensors[1].offset = 0u64.wrapping_sub(64)) },
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
                    tree.tensors[1].offset = 32
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

fn names(group: &mut Group) {
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
            { bytes(Builder::new().set(pair("general.architecture", string("nosuchmodel")))) },
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

fn versions(group: &mut Group) {
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

fn arrays(group: &mut Group) {
    group
        .push("fault-nested-3000", "Arrays 3,000 deep in 36 kB: a recursive reader overflows its stack.", {
            bytes(Builder::new().set(pair("x.v", array(nested(3000)))))
        })
        .breaks(&[&metadata::ARRAY_DEPTH])
        .flags(&["nested-array", "limit"])
        .from("bug", "ggml-org/llama.cpp#28880");
    group
        .push(
            "fault-nested-legal",
            "An array of arrays, legal by the document: most readers do not know element type 9.",
            { bytes(Builder::new().set(pair("x.v", array(nested(2)))).set(pair("x.w", string("after")))) },
        )
        .breaks(&[&metadata::ARRAY_NESTED])
        .flags(&["nested-array"])
        .from("bug", "ooples/AiDotNet.Tensors#208, ggml-org/llama.cpp#28880");
    for (name, value) in [("numbers", array(fixed_array(ValueType::I32, &[]))), ("strings", string_array::<&str>(&[]))]
    {
        group
            .push(format!("fault-array-empty-{name}"), "An empty array, which writers produce and readers choke on.", {
                bytes(Builder::new().set(pair("x.deepstack", value)).set(pair("x.w", string("after"))))
            })
            .flags(&["well-formed"])
            .from("bug", "ggml-org/llama.cpp#22189, ggml-org/llama.cpp#8774");
    }
    group
        .push("fault-per-layer-arrays", "A per-layer array where a single number is usual.", {
            let heads = array(fixed_array(ValueType::U32, &[8; 88]));
            bytes(Builder::new().set(pair("llama.attention.head_count_kv", heads)))
        })
        .flags(&["well-formed"])
        .from("bug", "Osmantic/ODS#5508");
    group
        .push(
            "fault-mojibake",
            "A word mark of three bytes in a string: decoded byte by byte it becomes three letters.",
            { bytes(Builder::new().set(pair("tokenizer.chat_template", string("▁user▁ é 😀")))) },
        )
        .flags(&["well-formed"])
        .from("bug", "withcatai/node-llama-cpp#418");
    for byte in [2u64, 255] {
        group
            .push(format!("fault-bool-{byte}"), format!("A bool of {byte}, on which readers differ."), {
                bytes(Builder::new().set(pair("tokenizer.ggml.add_bos_token", scalar(ValueType::Bool, byte))))
            })
            .breaks(&[&metadata::BOOL_VALUE])
            .from("bug", "coderredlab/runNburn v0.6.1, BrianNguyen29/SafeGGUF");
    }
    group
        .push("fault-misaligned-scalar", "A u64 at an odd place: reading it as a pointer is undefined behaviour.", {
            bytes(
                Builder::new()
                    .set(pair("x.odd", string("abc")))
                    .set(pair("x.v", scalar(ValueType::U64, 0x0102_0304_0506_0708))),
            )
        })
        .flags(&["well-formed"])
        .from("bug", "ml-explore/mlx#3892");
}

fn tokenizers(group: &mut Group) {
    let file = |extra: Vec<(&str, (u32, Value))>| {
        let mut builder = Builder::new();
        builder.set(pair("tokenizer.ggml.model", string("llama")));
        builder.set(pair("tokenizer.ggml.tokens", string_array(&["<unk>", "a", "b"])));
        for (key, value) in extra {
            builder.set(pair(key, value));
        }
        bytes(&builder)
    };
    let rule =
        |key: &str| -> Vec<&'static Rule> { keys::find(key.as_bytes()).map(keys::KeyRow::rule).into_iter().collect() };
    let scores = "tokenizer.ggml.scores";
    let types = "tokenizer.ggml.token_type";
    for (name, ty) in [("i8", ValueType::I8), ("f64", ValueType::F64), ("i32", ValueType::I32)] {
        group
            .push(
                format!("fault-scores-as-{name}"),
                format!("Scores as an array of {name}, read as floats of four bytes."),
                { file(vec![(scores, array(fixed_array(ty, &[0, 1, 2])))]) },
            )
            .breaks(&rule(scores))
            .from("bug", "ggml-org/llama.cpp#27075");
    }
    group
        .push("fault-scores-scalar", "Scores as a single float.", file(vec![(scores, scalar(ValueType::F32, 0))]))
        .breaks(&rule(scores))
        .from("bug", "ggml-org/llama.cpp#3346, LostRuins/koboldcpp#2404");
    group
        .push("fault-scores-shorter", "Two scores for three tokens: the vocabulary is cut without a word.", {
            file(vec![(scores, array(fixed_array(ValueType::F32, &[0, 0])))])
        })
        .breaks(&[&semantics::SCORES_LENGTH])
        .from("bug", "EricLBuehler/mistral.rs#2215");
    for (name, ty) in [("u32", ValueType::U32), ("i64", ValueType::I64), ("i8", ValueType::I8)] {
        group
            .push(format!("fault-token-type-as-{name}"), format!("Token types as an array of {name}."), {
                file(vec![(types, array(fixed_array(ty, &[2, 1, 1])))])
            })
            .breaks(&rule(types))
            .from("bug", "EricLBuehler/mistral.rs#2307, ggml-org/llama.cpp#27075");
    }
    for (name, value, purpose) in [
        (
            "merge-without-space",
            ("tokenizer.ggml.merges", string_array(&["ab"])),
            "A merge without a space between its halves.",
        ),
        (
            "token-id-out-of-range",
            ("tokenizer.ggml.bos_token_id", scalar(ValueType::U32, 99)),
            "A special token behind the end of the vocabulary.",
        ),
        (
            "add-bos-without-bos",
            ("tokenizer.ggml.add_bos_token", scalar(ValueType::Bool, 1)),
            "A beginning to be added, and no token for it.",
        ),
        (
            "token-hex-negative",
            ("tokenizer.ggml.added_tokens", string_array(&["<0x-1>"])),
            "A byte token with a negative number.",
        ),
    ] {
        let reference = match name {
            "add-bos-without-bos" => "ggml-org/llama.cpp#24885",
            "token-hex-negative" => "lmstudio-ai/lmstudio-bug-tracker#2289, ggml-org/llama.cpp#26511",
            _ => "EricLBuehler/mistral.rs#2215",
        };
        group
            .push(
                format!("fault-{name}"),
                format!("{purpose} The document does not forbid it; a tokenizer must survive it."),
                file(vec![value]),
            )
            .flags(&["well-formed"])
            .from("bug", reference);
    }
    group
        .push("fault-token-empty", "A token of no bytes: a tokenizer that takes it never advances.", {
            bytes(Builder::new().set(pair("tokenizer.ggml.tokens", string_array(&["<unk>", "", "a"]))))
        })
        .flags(&["well-formed"])
        .from("bug", "coderredlab/runNburn v0.6.1");
    group
        .push(
            "fault-context-length-missing",
            "An architecture without its context length: a loader must name the key.",
            file(vec![]),
        )
        .flags(&["well-formed"])
        .from("bug", "EricLBuehler/mistral.rs#2215, shimmy-ai/airframe#163");
    group
        .push("fault-vocabulary-only", "Keys of a projector and none of a language model.", {
            bytes(
                Builder::new()
                    .set(pair("general.architecture", string("clip")))
                    .set(pair("clip.has_vision_encoder", scalar(ValueType::Bool, 1))),
            )
        })
        .flags(&["well-formed"])
        .from("bug", "gpustack/gguf-parser-go#19, gpustack/gpustack#2535");
}

fn types(group: &mut Group) {
    group
        .push("fault-unknown-type-as-f32", "A type nobody assigned, which a reader decoded as floats.", one(99, &[8]))
        .breaks(&[&tensors::TYPE_KNOWN])
        .from("bug", "gittensor-ai-lab/sparkinfer#16");
    group
        .push("fault-bf16-unknown", "A BF16 tensor, missing from a reader's table.", one(30, &[8]))
        .flags(&["well-formed"])
        .from("bug", "promptfoo/modelaudit#1632");
    group
        .push("fault-type-107", "Type 107, which two forks use for two layouts of one size.", one(107, &[32]))
        .breaks(&[&tensors::TYPE_KNOWN])
        .from("bug", "ROCmFPX/ROCmFPX#8");
    group
        .push("fault-mxfp4-unknown", "An MXFP4 tensor, newer than many tables.", {
            bytes(Builder::new().set(pair("general.quantization_version", scalar(ValueType::U32, 2))).add(tensor(
                "t",
                39,
                &[32],
            )))
        })
        .flags(&["well-formed"])
        .from("bug", "ggml-org/llama.cpp#29058");
    group
        .push(
            "fault-file-type-is-not-type",
            "A file type of 30, which as a tensor type would be BF16: the two lists differ.",
            {
                bytes(Builder::new().set(pair("general.file_type", scalar(ValueType::U32, 30))).add(tensor(
                    "t",
                    F32,
                    &[8],
                )))
            },
        )
        .flags(&["well-formed"])
        .from("bug", "huggingface/huggingface.js#794, ggml-org/llama.cpp#23085");
}

fn models(group: &mut Group) {
    let split = |no: (u32, Value), count: u64, total: u64, with_tensor: bool| {
        let mut builder = Builder::new();
        builder
            .set(pair("split.no", no))
            .set(pair("split.count", scalar(ValueType::U16, count)))
            .set(pair("split.tensors.count", scalar(ValueType::I32, total)));
        if with_tensor {
            builder.add(tensor("t", F32, &[8]));
        }
        bytes(&builder)
    };
    let first = || scalar(ValueType::U16, 0);
    let mut push = |name: &str, purpose: &str, file: Vec<u8>, reference: &str, flags: &[&'static str]| {
        group.push(format!("fault-{name}"), purpose, file).flags(flags).from("bug", reference);
    };
    push(
        "split-first-of-two",
        "The first of two shards: `split.no` counts from 0, file names from 1.",
        split(first(), 2, 2, true),
        "FlashML-org/FreeToken#154",
        &["split", "well-formed"],
    );
    push(
        "split-count-disagrees",
        "A shard of a set whose tensor counts do not add up.",
        split(first(), 2, 99, true),
        "anthony-chaudhary/fak#13110, eullm/eullm#394",
        &["split", "well-formed"],
    );
    push(
        "split-no-tensors",
        "A first shard without tensors, as a splitter writes on request.",
        split(first(), 2, 1, false),
        "ggml-org/llama.cpp#7072, LostRuins/koboldcpp#2239",
        &["split", "no-tensors", "well-formed"],
    );
    push(
        "split-count-string",
        "A shard count stored as text.",
        { bytes(Builder::new().set(pair("split.count", string("2"))).add(tensor("t", F32, &[8]))) },
        "EricLBuehler/mistral.rs#2215",
        &["split", "well-formed"],
    );
    push(
        "split-second-alone",
        "The second shard alone, for a loader that knows no shards.",
        split(scalar(ValueType::U16, 1), 2, 2, true),
        "vllm-project/vllm#9558",
        &["split", "well-formed"],
    );
}

fn foreign(group: &mut Group) {
    for (name, purpose, content, reference) in [
        (
            "ggjt",
            "An old GGJT file with a negative tensor length: not a GGUF file, and a converter loops on it.",
            b"tjgg\x03\0\0\0\0\0\0\0\0\0\0\0\xFF\xFF\xFF\xFF".to_vec(),
            "the converter for legacy files of ggml-org/llama.cpp",
        ),
        (
            "zero-bytes",
            "A file of no bytes, as an interrupted merge leaves it.",
            Vec::new(),
            "ggml-org/llama.cpp#8264, ggml-org/llama.cpp#9498",
        ),
        (
            "lfs-pointer",
            "A pointer of a large-file store instead of the file.",
            b"version https://git-lfs.github.com/spec/v1\noid sha256:0000\nsize 98362432\n".to_vec(),
            "a frequent download mistake",
        ),
        (
            "html",
            "A page that says the file was not found.",
            b"<!DOCTYPE html><html><body>404: Not Found</body></html>".to_vec(),
            "a frequent download mistake",
        ),
        (
            "zip",
            "The start of a zip archive, as other frameworks store weights.",
            b"PK\x03\x04\x14\0\0\0\0\0\0\0".to_vec(),
            "a frequent mix-up",
        ),
        ("zeros", "A block of zeros, as a sparse download leaves it.", vec![0; 64], "janhq/jan#3521"),
    ] {
        group
            .push(format!("fault-{name}"), purpose, content)
            .breaks(&[&header::MAGIC])
            .flags(&["foreign"])
            .from("bug", reference);
    }
}
