//! Sizes, alignments and counts that readers trusted.

use gguf_spec::generate::{Builder, array, fixed_array, pair, scalar, string, string_array, tensor};
use gguf_spec::rules::{data, header, layout, metadata, tensors};
use gguf_spec::syntax::Value;
use gguf_spec::types::ValueType;

use crate::define::type_ids::{F32, I8};
use crate::define::{Group, bytes, edited};

use super::one;

pub(super) fn sizes(group: &mut Group) {
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
            bytes(Builder::new().add(tensor("a", 28, &[1 << 60])).add(tensor("b", 28, &[(1 << 60) - 8]))),
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
            bytes(Builder::new().add(tensor("a", F32, &[0])).add(tensor("b", F32, &[8]))),
        )
        .flags(&["empty-tensor", "well-formed"])
        .from("bug", "1bit-MONSTER/1bit-MONSTER#688");
    for (name, n_dims) in [("million", 1_000_000u32), ("max", u32::MAX)] {
        group
            .push(
                format!("fault-n-dims-{name}"),
                format!("A declared number of dimensions of {n_dims}: gigabytes, if it is believed."),
                edited(Builder::new().add(tensor("t", F32, &[8])), |tree| tree.tensors[0].n_dims = n_dims),
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
        .breaks(&[&tensors::ELEMENTS_RANGE])
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

pub(super) fn alignments(group: &mut Group) {
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

pub(super) fn counts(group: &mut Group) {
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
