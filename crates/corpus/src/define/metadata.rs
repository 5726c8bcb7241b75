//! More about pairs: text, arrays, numbers, keys, the alignment, the vocabulary.

use gguf_spec::generate::{Builder, array, fixed_array, nested, pair, scalar, string, string_array, tensor};
use gguf_spec::rules::{Rule, data, keys, layout, metadata, semantics};
use gguf_spec::syntax::{Array, ByteOrder, Elements, RawString, Value};
use gguf_spec::types::ValueType;

use super::{Definition, Group, bytes, edited};

pub(super) fn define() -> Vec<Definition> {
    let mut group = Group::new("metadata", "rule");
    text(&mut group);
    arrays(&mut group);
    numbers(&mut group);
    bools(&mut group);
    odd_keys(&mut group);
    alignments(&mut group);
    c_lookup(&mut group);
    vocabulary(&mut group);
    nesting(&mut group);
    orders(&mut group);
    group.list
}

fn with(key: &str, value: (u32, Value)) -> Vec<u8> {
    bytes(Builder::new().set(pair(key, value)))
}

fn text(group: &mut Group) {
    let cases: [(&str, &str, &[u8], bool); 16] = [
        ("empty", "An empty string.", b"", true),
        (
            "ascii",
            "Every printable ASCII character.",
            b" !\"#$%&'()*+,-./0123456789:;<=>?@ABCXYZ[\\]^_`abcxyz{|}~",
            true,
        ),
        ("two-byte", "Two-byte letters.", "äöüß".as_bytes(), true),
        ("three-byte", "The three-byte word mark of SentencePiece, U+2581.", "▁the".as_bytes(), true),
        ("four-byte", "A four-byte letter, outside the basic plane.", "a😀b".as_bytes(), true),
        ("bom", "A byte order mark is part of the string.", "\u{FEFF}x".as_bytes(), true),
        ("controls", "Control characters: tab, newline, escape, delete.", b"\t\n\r\x1b\x7f", true),
        ("last-code-point", "The last code point, U+10FFFF.", "\u{10FFFF}".as_bytes(), true),
        (
            "combining",
            "A letter and a combining accent: two code points that must not be merged.",
            "e\u{301}".as_bytes(),
            true,
        ),
        ("overlong", "An overlong encoding of a slash.", b"\xC0\xAF", false),
        ("overlong-nul", "An overlong encoding of NUL, as in modified UTF-8.", b"\xC0\x80", false),
        ("surrogate", "An encoded surrogate half.", b"\xED\xA0\x80", false),
        ("surrogate-pair", "A pair of encoded surrogates, as in CESU-8.", b"\xED\xA0\xBD\xED\xB8\x80", false),
        ("beyond-unicode", "A code point beyond U+10FFFF.", b"\xF4\x90\x80\x80", false),
        ("cut-sequence", "A three-byte letter without its last byte.", b"x\xE2\x96", false),
        ("latin-1", "Latin-1 text.", b"na\xEFve", false),
    ];
    for (name, purpose, content, utf8) in cases {
        let definition = group.push(format!("text-{name}"), purpose, with("x.text", string(content)));
        if utf8 {
            definition.keeps(&[&metadata::STRING_UTF8]);
        } else {
            definition.breaks(&[&metadata::STRING_UTF8]).flags(&["non-utf8"]);
        }
    }
    group
        .push(
            "text-nul-inside",
            "A NUL inside a string: the string goes on after it.",
            with("x.text", string("before\0after")),
        )
        .keeps(&[&metadata::STRING_UTF8])
        .flags(&["c-string"]);
    group
        .push("text-nul-first", "A string that starts with a NUL.", with("x.text", string("\0after")))
        .flags(&["c-string"]);
    group
        .push("text-nul-last", "A string that ends with a NUL, which is counted.", with("x.text", string("before\0")))
        .flags(&["c-string"]);
    group
        .push(
            "text-array-nul",
            "An array of strings with NULs, which must not be joined or split.",
            with("x.texts", string_array(&["a\0", "\0b", "\0"])),
        )
        .flags(&["c-string"]);
    group
        .push(
            "text-array-one-bad",
            "An array of strings of which the second is not UTF-8.",
            with("x.texts", string_array(&[&b"fine"[..], b"\xFF", b"fine"])),
        )
        .breaks(&[&metadata::STRING_UTF8])
        .flags(&["non-utf8"]);
    group.push(
        "text-64k",
        "A string of 65,536 bytes, longer than a 16-bit length.",
        with("x.text", string("0123456789abcdef".repeat(4096))),
    );
}

fn arrays(group: &mut Group) {
    group.push("array-empty-u32", "An array of no numbers.", with("x.v", array(fixed_array(ValueType::U32, &[]))));
    group.push("array-empty-strings", "An array of no strings.", with("x.v", string_array::<&str>(&[])));
    group.push("array-empty-first", "An empty array before other pairs: nothing of it is skipped.", {
        bytes(
            Builder::new().set(pair("x.v", array(fixed_array(ValueType::F64, &[])))).set(pair("x.w", string("after"))),
        )
    });
    group.push("array-of-empty-strings", "An array of three empty strings.", with("x.v", string_array(&["", "", ""])));
    group.push(
        "array-one",
        "An array of one element is not a scalar.",
        with("x.v", array(fixed_array(ValueType::U64, &[1]))),
    );
    group.push("array-257", "An array longer than a byte can count.", {
        let numbers: Vec<u64> = (0..257).map(|i| i % 256).collect();
        with("x.v", array(fixed_array(ValueType::U8, &numbers)))
    });
    group.push("array-strings-growing", "Strings of growing length: an offset error in one shows in the next.", {
        let strings: Vec<String> = (0..40).map(|i| "x".repeat(i)).collect();
        with("x.v", string_array(&strings))
    });
    group.push("array-u16-odd", "Three 16-bit numbers: what follows is misaligned.", {
        bytes(
            Builder::new()
                .set(pair("x.v", array(fixed_array(ValueType::U16, &[1, 2, 3]))))
                .set(pair("x.w", scalar(ValueType::U64, 4))),
        )
    });
}

fn numbers(group: &mut Group) {
    let float = |name: &str, purpose: &str, bits: u32, group: &mut Group| {
        group.push(format!("f32-{name}"), purpose, with("x.v", scalar(ValueType::F32, u64::from(bits))));
    };
    float("negative-zero", "Negative zero, which is not zero.", 0x8000_0000, group);
    float("quiet-nan", "A quiet NaN with a payload.", 0x7FC1_2345, group);
    float("signalling-nan", "A signalling NaN: moving it through a register may quiet it.", 0x7F80_0001, group);
    float("negative-nan", "A NaN with its sign set.", 0xFFC0_0000, group);
    float("infinity", "Infinity.", 0x7F80_0000, group);
    float("subnormal", "The smallest subnormal.", 1, group);
    float("tenth", "One tenth, whose double is another number.", 0x3DCC_CCCD, group);
    for (name, purpose, bits) in [
        ("negative-zero", "Negative zero as a double.", 0x8000_0000_0000_0000),
        ("signalling-nan", "A signalling NaN as a double.", 0x7FF0_0000_0000_0001),
        ("subnormal", "The smallest subnormal double.", 1),
        ("max", "The largest double.", 0x7FEF_FFFF_FFFF_FFFF),
    ] {
        group.push(format!("f64-{name}"), purpose, with("x.v", scalar(ValueType::F64, bits)));
    }
    group.push(
        "u64-above-2-53",
        "2^53 + 1, which a double cannot hold.",
        with("x.v", scalar(ValueType::U64, (1 << 53) + 1)),
    );
    group.push(
        "i64-below-2-53",
        "-(2^53 + 1), which a double cannot hold.",
        with("x.v", scalar(ValueType::I64, (-(1i64 << 53) - 1).cast_unsigned())),
    );
}

fn bools(group: &mut Group) {
    let breaks = [&metadata::BOOL_VALUE];
    group.push("bool-255", "A bool of 255.", with("x.v", scalar(ValueType::Bool, 255))).breaks(&breaks);
    group
        .push("bool-128", "A bool of 128: negative as a signed byte.", with("x.v", scalar(ValueType::Bool, 128)))
        .breaks(&breaks);
    group
        .push(
            "bool-array-one-bad",
            "An array of bools of which the third is 2.",
            with("x.v", array(fixed_array(ValueType::Bool, &[0, 1, 2, 1]))),
        )
        .breaks(&breaks);
    group
        .push(
            "bool-array-good",
            "An array of bools, all 0 or 1.",
            with("x.v", array(fixed_array(ValueType::Bool, &[0, 1, 0, 1]))),
        )
        .keeps(&breaks);
    group.push("bool-false", "A bool of 0.", with("x.v", scalar(ValueType::Bool, 0))).keeps(&breaks);
}

fn odd_keys(group: &mut Group) {
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
            { bytes(Builder::new().set(pair("x.a\0b", seven())).set(pair("x.a\0c", seven()))) },
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

fn alignments(group: &mut Group) {
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
                tree.padding.clear()
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
fn c_lookup(group: &mut Group) {
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

fn vocabulary(group: &mut Group) {
    let file = |extra: &[(&str, (u32, Value))]| {
        let mut builder = Builder::new();
        builder.set(pair("tokenizer.ggml.model", string("llama")));
        builder.set(pair("tokenizer.ggml.tokens", string_array(&["<unk>", "<s>", "</s>", "▁a", ""])));
        for (key, value) in extra {
            builder.set(pair(key, value.clone()));
        }
        bytes(&builder)
    };
    let scores = |n: usize| ("tokenizer.ggml.scores", array(fixed_array(ValueType::F32, &vec![0xC000_0000; n])));
    let types = |bits: &[u64]| ("tokenizer.ggml.token_type", array(fixed_array(ValueType::I32, bits)));
    group.push("vocabulary-complete", "A vocabulary with scores, types and special tokens.", {
        file(&[
            scores(5),
            types(&[2, 3, 3, 1, 6]),
            ("tokenizer.ggml.bos_token_id", scalar(ValueType::U32, 1)),
            ("tokenizer.ggml.eos_token_id", scalar(ValueType::U32, 2)),
            ("tokenizer.ggml.unknown_token_id", scalar(ValueType::U32, 0)),
            ("tokenizer.ggml.merges", string_array(&["▁ a"])),
        ])
    });
    group.push(
        "vocabulary-no-scores",
        "A vocabulary without scores: all tokens are equally likely.",
        file(&[types(&[2, 3, 3, 1, 6])]),
    );
    group
        .push("vocabulary-scores-empty", "Five tokens and no score.", file(&[scores(0)]))
        .breaks(&[&semantics::SCORES_LENGTH]);
    group
        .push("vocabulary-scores-longer", "Five tokens and six scores.", file(&[scores(6)]))
        .breaks(&[&semantics::SCORES_LENGTH]);
    group
        .push("vocabulary-types-shorter", "Five tokens and one type.", file(&[types(&[1])]))
        .breaks(&[&semantics::TOKEN_TYPE_LENGTH]);
    group
        .push("vocabulary-type-zero", "A token type of 0.", file(&[types(&[0, 1, 1, 1, 1])]))
        .breaks(&[&semantics::TOKEN_TYPE_VALUES]);
    group
        .push("vocabulary-type-negative", "A token type of -1.", file(&[types(&[1, 1, 1, 1, 0xFFFF_FFFF])]))
        .breaks(&[&semantics::TOKEN_TYPE_VALUES]);
    group.push("vocabulary-scores-alone", "Scores without tokens: there is nothing to compare them with.", {
        bytes(Builder::new().set(pair("tokenizer.ggml.scores", scores(2).1)))
    });
    group.push("chat-template", "A chat template with braces, quotes and newlines.", {
        file(&[(
            "tokenizer.chat_template",
            string("{% for m in messages %}{{ '<|' + m['role'] + '|>\n' }}{% endfor %}"),
        )])
    });
    let base_model = |id: &str| with(&format!("general.base_model.{id}.name"), scalar(ValueType::U32, 1));
    let rule = keys::find(b"general.base_model.0.name").map(keys::KeyRow::rule);
    let broken = group.push("base-model-10", "The name of parent model 10 is a number.", base_model("10"));
    broken.breaks(&rule.into_iter().collect::<Vec<_>>());
    group.push(
        "base-model-x",
        "`general.base_model.x.name` is no key of the document: its type is free.",
        base_model("x"),
    );
}

fn nesting(group: &mut Group) {
    let nested_rule = [&metadata::ARRAY_NESTED];
    let flags = ["nested-array"];
    let of = |elements: Vec<Array>| {
        array(Array {
            type_id: ValueType::Array.id(),
            len: elements.len() as u64,
            elements: Elements::Arrays(elements),
        })
    };
    let strings = |texts: &[&str]| Array {
        type_id: ValueType::String.id(),
        len: texts.len() as u64,
        elements: Elements::Strings(texts.iter().map(|t| RawString::from(*t)).collect()),
    };
    group.push("nested-empty", "An array of no arrays.", with("x.v", of(vec![]))).breaks(&nested_rule).flags(&flags);
    group
        .push("nested-mixed", "An array of three arrays of different types and lengths.", {
            with(
                "x.v",
                of(vec![fixed_array(ValueType::U8, &[1]), strings(&["a", "bc"]), fixed_array(ValueType::F32, &[])]),
            )
        })
        .breaks(&nested_rule)
        .flags(&flags);
    group.push("nested-three", "Arrays three deep.", with("x.v", array(nested(3)))).breaks(&nested_rule).flags(&flags);
    group
        .push("nested-then-pair", "A nested array before another pair, which must still be found.", {
            bytes(
                Builder::new()
                    .set(pair("x.v", of(vec![strings(&["a"]), strings(&[])])))
                    .set(pair("x.w", string("found"))),
            )
        })
        .breaks(&nested_rule)
        .flags(&flags);
    group
        .push(
            "nested-deep",
            "Arrays 1,000 deep in 12 kB: a recursive reader runs out of stack.",
            with("x.v", array(nested(1000))),
        )
        .breaks(&[&metadata::ARRAY_DEPTH])
        .flags(&["nested-array", "limit"]);
    group
        .push("nested-unknown-inside", "An array of arrays of elements of type 13.", {
            with("x.v", of(vec![Array { type_id: 13, len: 1, elements: Elements::Fixed(vec![0; 4]) }]))
        })
        .breaks(&[&metadata::ARRAY_TYPE_KNOWN])
        .flags(&flags);
    group
        .push(
            "nested-bool-bad",
            "A bool of 2 inside a nested array.",
            with("x.v", of(vec![fixed_array(ValueType::Bool, &[1, 2])])),
        )
        .breaks(&[&metadata::ARRAY_NESTED, &metadata::BOOL_VALUE])
        .flags(&flags);
    group
        .push("nested-text-bad", "A string that is not UTF-8 inside a nested array.", {
            with(
                "x.v",
                of(vec![Array { type_id: 8, len: 1, elements: Elements::Strings(vec![RawString::new(&b"\xFF"[..])]) }]),
            )
        })
        .breaks(&[&metadata::ARRAY_NESTED, &metadata::STRING_UTF8])
        .flags(&["nested-array", "non-utf8"]);
}

/// Version and byte order combined with everything that depends on them.
fn orders(group: &mut Group) {
    let rich = |version, byte_order| {
        let mut builder = Builder { version, byte_order, ..Builder::new() };
        builder
            .set(pair("general.alignment", scalar(ValueType::U32, 64)))
            .set(pair("x.u16", scalar(ValueType::U16, 0x0102)))
            .set(pair("x.f64", scalar(ValueType::F64, 0x3FF8_0000_0000_0000)))
            .set(pair("x.text", string("text")))
            .set(pair("x.texts", string_array(&["a", "bc", ""])))
            .set(pair("x.numbers", array(fixed_array(ValueType::I32, &[1, 0xFFFF_FFFF]))))
            .add(tensor("a", 0, &[3, 2]))
            .add(tensor("b", 1, &[5]));
        builder
    };
    use gguf_spec::rules::header;
    let little = ByteOrder::Little;
    let big = ByteOrder::Big;
    group.push("order-v3-little", "Every kind of value in version 3, little-endian.", bytes(&rich(3, little)));
    group
        .push("order-v2-little", "Every kind of value in version 2.", bytes(&rich(2, little)))
        .breaks(&[&header::VERSION_2])
        .flags(&["version-2"]);
    group
        .push("order-v1-little", "Every kind of value in version 1.", bytes(&rich(1, little)))
        .breaks(&[&header::VERSION_1])
        .flags(&["version-1"]);
    group
        .push("order-v3-big", "Every kind of value, big-endian.", bytes(&rich(3, big)))
        .breaks(&[&header::BYTE_ORDER])
        .flags(&["big-endian"]);
    group
        .push("order-v2-big", "Every kind of value in version 2, big-endian.", bytes(&rich(2, big)))
        .breaks(&[&header::BYTE_ORDER, &header::VERSION_2])
        .flags(&["big-endian", "version-2"]);
    group
        .push("order-v1-big", "Every kind of value in version 1, big-endian.", bytes(&rich(1, big)))
        .breaks(&[&header::BYTE_ORDER, &header::VERSION_1])
        .flags(&["big-endian", "version-1"]);
    group
        .push(
            "order-magic-swapped-too",
            "A big-endian file whose magic is swapped as well.",
            edited(&rich(3, big), |tree| tree.magic = *b"FUGG"),
        )
        .breaks(&[&header::MAGIC])
        .flags(&["big-endian"]);
    group
        .push(
            "order-version-65536",
            "A version word of 65,536: its low half is zero, so it reads as big-endian version 256.",
            {
                let mut file = bytes(&rich(3, little));
                file[4..8].copy_from_slice(&[0, 0, 1, 0]);
                file
            },
        )
        .breaks(&[&header::BYTE_ORDER, &header::VERSION_FUTURE])
        .flags(&["big-endian"]);
    group
        .push("order-v1-tensor-data-missing", "Version 1 with the data of its last tensor cut off.", {
            let mut file = bytes(&rich(1, little));
            file.truncate(file.len() - 64);
            file
        })
        .breaks(&[&header::VERSION_1, &data::EXTENT])
        .flags(&["version-1", "truncated"]);
    group
        .push("order-big-padding", "A big-endian file with a byte of 1 in its padding.", {
            edited(&rich(3, big), |tree| {
                let at = tree.padding.len() - 1;
                tree.padding[at] = 1;
            })
        })
        .breaks(&[&header::BYTE_ORDER, &layout::PADDING_ZERO])
        .flags(&["big-endian", "padding"]);
}
