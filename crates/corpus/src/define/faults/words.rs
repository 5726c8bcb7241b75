//! Arrays, vocabularies, types and shards that readers took for something else.

use gguf_spec::generate::{Builder, array, fixed_array, nested, pair, scalar, string, string_array, tensor};
use gguf_spec::rules::{Rule, keys, metadata, semantics, tensors};
use gguf_spec::syntax::Value;
use gguf_spec::types::ValueType;

use crate::define::type_ids::F32;
use crate::define::{Group, bytes};

use super::one;

pub(super) fn arrays(group: &mut Group) {
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
            bytes(Builder::new().set(pair("x.v", array(nested(2)))).set(pair("x.w", string("after")))),
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
            bytes(Builder::new().set(pair("tokenizer.chat_template", string("▁user▁ é 😀")))),
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

pub(super) fn tokenizers(group: &mut Group) {
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
                file(vec![(scores, array(fixed_array(ty, &[0, 1, 2])))]),
            )
            .breaks(&rule(scores))
            .from("bug", "ggml-org/llama.cpp#27075");
    }
    group
        .push(
            "fault-scalar-as-array",
            "The id of a special token as an array of one number.",
            file(vec![("tokenizer.ggml.bos_token_id", array(fixed_array(ValueType::U32, &[1])))]),
        )
        .breaks(&rule("tokenizer.ggml.bos_token_id"))
        .from("bug", "ggml-org/llama.cpp#27075");
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
            ("tokenizer.ggml.tokens", string_array(&["<unk>", "<0x-1>", "b"])),
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

pub(super) fn types(group: &mut Group) {
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

pub(super) fn models(group: &mut Group) {
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
        bytes(Builder::new().set(pair("split.count", string("2"))).add(tensor("t", F32, &[8]))),
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
