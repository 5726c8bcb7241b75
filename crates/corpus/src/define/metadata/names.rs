//! Odd keys, and the one key that moves the data.

use gguf_spec::generate::{Builder, array, fixed_array, pair, scalar, string, tensor};
use gguf_spec::rules::{Rule, metadata};
use gguf_spec::syntax::Value;
use gguf_spec::types::ValueType;

use crate::define::{Group, bytes, edited};

use super::with;

pub(super) fn odd_keys(group: &mut Group) {
    let seven = || scalar(ValueType::U8, 7);
    let snake = [&metadata::KEY_SNAKE_CASE];
    for (name, purpose, key) in [
        ("upper", "A key with an upper-case letter.", "x.Upper"),
        ("space", "A key with a space.", "x.a b"),
        ("double-dot", "A key with an empty segment.", "x..y"),
        ("leading-dot", "A key that starts with a dot.", ".x"),
        ("trailing-dot", "A key that ends with a dot.", "x."),
        ("slash", "A key with a slash.", "x/y"),
        ("only-dot", "A key that is one dot.", "."),
        ("newline", "A key with a newline.", "x\ny"),
    ] {
        group.push(format!("key-{name}"), purpose, with(key, seven())).breaks(&snake);
    }
    group
        .push("key-nul", "A key with a NUL: ggml shows only what comes before it.", with("x.a\0b", seven()))
        .breaks(&snake)
        .flags(&["c-string"]);
    group
        .push(
            "key-nul-twins",
            "Two keys that differ only after a NUL: ggml keeps both, and shows the same name twice.",
            bytes(Builder::new().set(pair("x.a\0b", seven())).set(pair("x.a\0c", seven()))),
        )
        .breaks(&snake)
        .flags(&["c-string"]);
    let ascii = [&metadata::KEY_ASCII];
    group
        .push("key-latin-1", "A key in Latin-1.", bytes(Builder::new().set(pair(b"x.\xE9", seven()))))
        .breaks(&ascii)
        .flags(&["non-utf8"]);
    group.push("key-cjk", "A key of three-byte letters.", with("模型.名", seven())).breaks(&ascii);
    group.push("key-digit-first", "A segment that starts with a digit.", with("x.0.name", seven())).keeps(&snake);
    group.push("key-underscores", "A segment of underscores.", with("x.__", seven())).keeps(&snake);
    group.push("key-one-letter", "A key of one letter.", with("k", seven())).keeps(&snake);
    let duplicate = |second: (u32, Value)| {
        let mut builder = Builder::new();
        builder.metadata.push(pair("x.a", seven()));
        builder.metadata.push(pair("x.b", seven()));
        builder.metadata.push(pair("x.a", second));
        bytes(&builder)
    };
    group
        .push("key-duplicate-other-type", "One key twice, as a number and as a string.", duplicate(string("7")))
        .breaks(&[&metadata::KEY_DUPLICATE])
        .flags(&["duplicate"]);
    group
        .push("key-duplicate-apart", "One key twice with another between.", duplicate(seven()))
        .breaks(&[&metadata::KEY_DUPLICATE])
        .flags(&["duplicate"]);
    let mut three = Builder::new();
    for _ in 0..3 {
        three.metadata.push(pair("x.a", seven()));
    }
    group
        .push("key-triplicate", "One key three times.", bytes(&three))
        .breaks(&[&metadata::KEY_DUPLICATE])
        .flags(&["duplicate"]);
}

pub(super) fn alignments(group: &mut Group) {
    let file = |value: (u32, Value)| {
        bytes(Builder::new().set(pair("general.alignment", value)).add(tensor("a", 0, &[3])).add(tensor("b", 0, &[5])))
    };
    let stated = |bits| file(scalar(ValueType::U32, bits));
    for bits in [8u64, 16, 64, 128, 4096] {
        group
            .push(
                format!("alignment-{bits}"),
                format!("An alignment of {bits}: the data starts and is padded accordingly."),
                stated(bits),
            )
            .keeps(&[&metadata::ALIGN_POWER, &metadata::ALIGN_MULTIPLE]);
    }
    for bits in [1u64, 2] {
        group
            .push(
                format!("alignment-{bits}"),
                format!("An alignment of {bits}: a power of two that ggml takes and the document does not."),
                stated(bits),
            )
            .breaks(&[&metadata::ALIGN_MULTIPLE]);
    }
    for bits in [40u64, 96] {
        group
            .push(
                format!("alignment-{bits}"),
                format!("An alignment of {bits}: a multiple of 8 and no power of two."),
                stated(bits),
            )
            .breaks(&[&metadata::ALIGN_POWER]);
    }
    for bits in [3u64, 12, 33] {
        group
            .push(
                format!("alignment-{bits}"),
                format!("An alignment of {bits}: neither a multiple of 8 nor a power of two."),
                stated(bits),
            )
            .breaks(&[&metadata::ALIGN_MULTIPLE, &metadata::ALIGN_POWER]);
    }
    let wrong = [&metadata::ALIGN_TYPE];
    for (name, value) in [
        ("i32", scalar(ValueType::I32, 32)),
        ("u16", scalar(ValueType::U16, 32)),
        ("u8", scalar(ValueType::U8, 32)),
        ("f32", scalar(ValueType::F32, 0x4200_0000)),
        ("string", string("32")),
        ("array", array(fixed_array(ValueType::U32, &[32]))),
        ("empty-array", array(fixed_array(ValueType::U32, &[]))),
    ] {
        group
            .push(format!("alignment-as-{name}"), format!("The alignment is stored as {name}."), file(value))
            .breaks(&wrong);
    }
    group.push("alignment-last", "The alignment is the last pair, after others of odd length.", {
        bytes(
            Builder::new()
                .set(pair("x.odd", string("odd")))
                .set(pair("general.alignment", scalar(ValueType::U32, 64)))
                .add(tensor("a", 0, &[3])),
        )
    });
    group
        .push("alignment-no-tensors", "An alignment of 2^31 in a file without tensors: nothing is aligned.", {
            edited(Builder::new().set(pair("general.alignment", scalar(ValueType::U32, 1 << 31))), |tree| {
                tree.padding.clear();
            })
        })
        .flags(&["no-tensors"]);
    group.push(
        "alignment-default",
        "No stated alignment: it is 32.",
        bytes(Builder::new().add(tensor("a", 0, &[3])).add(tensor("b", 0, &[5]))),
    );
}

/// ggml finds `general.alignment` in a key that goes on after a NUL.
pub(super) fn c_lookup(group: &mut Group) {
    let snake: &'static Rule = &metadata::KEY_SNAKE_CASE;
    let file = |pairs: &[(&str, u64)]| {
        let mut builder = Builder::new();
        for &(key, bits) in pairs {
            builder.metadata.push(pair(key, scalar(ValueType::U32, bits)));
        }
        builder.add(tensor("a", 0, &[3])).add(tensor("b", 0, &[5]));
        bytes(&builder)
    };
    group
        .push(
            "alignment-nul-key",
            "A key `general.alignment` and more after a NUL: ggml takes its 64, the document's alignment stays 32.",
            file(&[("general.alignment\0x", 64)]),
        )
        .swept()
        .flags(&["c-string"]);
    group
        .push(
            "alignment-nul-key-first",
            "Such a key of 64 before the real one of 32: ggml takes the first.",
            file(&[("general.alignment\0x", 64), ("general.alignment", 32)]),
        )
        .swept()
        .flags(&["c-string"]);
    group
        .push(
            "alignment-nul-key-second",
            "Such a key of 64 after the real one of 32: ggml takes the first.",
            file(&[("general.alignment", 32), ("general.alignment\0x", 64)]),
        )
        .breaks(&[snake])
        .flags(&["c-string"]);
    group
        .push(
            "alignment-nul-key-zero",
            "Such a key of 0: ggml refuses it, the document does not know it for the alignment.",
            file(&[("general.alignment\0x", 0)]),
        )
        .swept()
        .flags(&["c-string"]);
}
