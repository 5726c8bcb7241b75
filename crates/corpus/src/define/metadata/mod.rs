//! More about pairs: text, arrays, numbers, keys, the alignment, the vocabulary.

mod names;
mod nesting;

use gguf_spec::generate::{Builder, array, fixed_array, pair, scalar, string, string_array};
use gguf_spec::rules::{keys, metadata, semantics};
use gguf_spec::syntax::{Array, Elements, Value};
use gguf_spec::types::ValueType;

use super::{Definition, Group, bytes};

pub(super) fn define() -> Vec<Definition> {
    let mut group = Group::new("metadata", "rule");
    text(&mut group);
    arrays(&mut group);
    numbers(&mut group);
    bools(&mut group);
    names::odd_keys(&mut group);
    names::alignments(&mut group);
    names::c_lookup(&mut group);
    vocabulary(&mut group);
    nesting::nesting(&mut group);
    nesting::orders(&mut group);
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
    group
        .push("array-empty-type-unknown", "An array of no elements of type 13, the first that is not assigned.", {
            with("x.v", array(Array { type_id: 13, len: 0, elements: Elements::Fixed(Vec::new()) }))
        })
        .breaks(&[&metadata::ARRAY_TYPE_KNOWN]);
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
