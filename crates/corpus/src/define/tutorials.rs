//! Mistakes that widely read tutorials teach, as files that show whether a reader learnt them.

use gguf_spec::binary::{Places, encode};
use gguf_spec::generate::{Builder, array, fixed_array, pair, scalar, string, string_array, tensor};
use gguf_spec::limits::MAGIC;
use gguf_spec::rules::{header, metadata};
use gguf_spec::types::ValueType;

use super::{Definition, Group, bytes, edited};

pub(super) fn define() -> Vec<Definition> {
    let mut group = Group::new("tutorials", "tutorial");
    let sample = || {
        let mut builder = Builder::new();
        builder.set(pair("general.name", string("sample"))).add(tensor("t", 0, &[8]));
        builder
    };

    group
        .push("tutorial-string-as-6", "A string tagged with type 6, as a tutorial's list of types has it: 6 is f32.", {
            edited(Builder::new().set(pair("general.name", string("sample"))), |tree| tree.metadata[1].type_id = 6)
        })
        .swept();
    group
        .push("tutorial-table-first", "The tensor table before the metadata, as a tutorial draws it.", {
            let tree = sample().finish();
            let places = Places::of(&tree, 0);
            let file = encode(&tree);
            let index = |at: u64| usize::try_from(at).unwrap_or(0);
            let (pairs, table, end) = (index(places.pairs[0]), index(places.metadata_end), index(places.table_end));
            [&file[..pairs], &file[table..end], &file[pairs..table], &file[end..]].concat()
        })
        .swept();
    group
        .push(
            "tutorial-magic-number",
            "The magic written as the number 0x47475546 by a little-endian program: the bytes come out as FUGG.",
            edited(&sample(), |tree| tree.magic = *b"FUGG"),
        )
        .breaks(&[&header::MAGIC])
        .flags(&["foreign"]);
    group
        .push(
            "tutorial-types-end-at-11",
            "A value of type 12 (f64): the thirteenth type, for readers that know twelve.",
            {
                bytes(
                    Builder::new()
                        .set(pair("x.v", scalar(ValueType::F64, 0x3FF8_0000_0000_0000)))
                        .set(pair("x.after", string("after"))),
                )
            },
        )
        .keeps(&[&metadata::TYPE_KNOWN])
        .flags(&["well-formed"]);
    group
        .push("tutorial-skip-unconsumed", "A u32, a string, a bool and a string: a parser that skips a value without consuming it derails at the second.", {
            bytes(
                Builder::new()
                    .set(pair("x.a", scalar(ValueType::U32, 8)))
                    .set(pair("x.b", string("general.architecture")))
                    .set(pair("x.c", scalar(ValueType::Bool, 1)))
                    .set(pair("x.d", string("end"))),
            )
        })
        .flags(&["well-formed"]);
    group
        .push(
            "tutorial-asserts-version-3",
            "A version 2 file with everything else right, for readers that assert version 3.",
            bytes(&Builder { version: 2, ..sample() }),
        )
        .breaks(&[&header::VERSION_2])
        .flags(&["version-2"]);
    group
        .push("tutorial-32-bit-counts", "A version 3 file with the 32-bit counts and lengths of version 1.", {
            let mut file = bytes(&Builder { version: 1, ..sample() });
            file[4] = 3;
            file
        })
        .swept();
    group
        .push(
            "tutorial-nul-terminated",
            "Strings written with a terminating NUL that the length does not count: the next field starts a byte late.",
            {
                let mut file = bytes(&Builder {
                    metadata: vec![pair("general.architecture", string("llama"))],
                    ..Builder::default()
                });
                file.insert(24 + 8 + 20, 0);
                file
            },
        )
        .swept();
    group
        .push("tutorial-bool-as-u32", "A bool written as four bytes: three too many.", {
            let mut file = bytes(
                Builder::new().set(pair("x.flag", scalar(ValueType::Bool, 1))).set(pair("x.after", string("after"))),
            );
            let at = file.windows(7).position(|w| w == b"x.after").unwrap_or(0) - 8;
            for _ in 0..3 {
                file.insert(at, 0);
            }
            file
        })
        .swept();
    group
        .push("tutorial-array-length-in-bytes", "An array length counted in bytes instead of elements.", {
            edited(Builder::new().set(pair("x.v", array(fixed_array(ValueType::U32, &[1, 2, 3])))), |tree| {
                if let gguf_spec::syntax::Value::Array(array) = &mut tree.metadata[1].value {
                    array.len = 12;
                }
            })
        })
        .swept();
    group
        .push("tutorial-array-length-first", "An array whose length comes before its element type.", {
            let mut file = bytes(Builder::new().set(pair("x.v", array(fixed_array(ValueType::U32, &[1, 2, 3])))));
            let at = file.windows(3).position(|w| w == b"x.v").unwrap_or(0) + 3 + 4;
            file[at..at + 12].rotate_left(4);
            file
        })
        .swept();
    group
        .push(
            "tutorial-absolute-offsets",
            "Tensor offsets counted from the start of the file instead of the start of the data.",
            {
                let start = {
                    let tree = sample().finish();
                    Places::of(&tree, 0).padding_end
                };
                edited(&sample(), |tree| tree.tensors[0].offset = start)
            },
        )
        .swept();
    group
        .push(
            "tutorial-no-padding",
            "The tensor data directly behind the table, without padding.",
            edited(&sample(), |tree| tree.padding.clear()),
        )
        .swept();
    group
        .push(
            "tutorial-dims-outermost-first",
            "A shape whose first dimension is the length of a row: 2 in a row, 16 rows, not the other way round.",
            bytes(Builder::new().add(tensor("t", 0, &[2, 16]))),
        )
        .flags(&["well-formed"]);
    group
        .push(
            "tutorial-minimal-writer",
            "What the shortest writer produces: no alignment key, one string, one array, one tensor.",
            {
                bytes(
                    Builder::new()
                        .set(pair("general.name", string("tiny")))
                        .set(pair("tokenizer.ggml.tokens", string_array(&["a", "b"])))
                        .add(tensor("token_embd.weight", 0, &[4, 2])),
                )
            },
        )
        .flags(&["well-formed"]);
    group
        .push("tutorial-magic-only", "The magic and nothing else.", MAGIC.to_vec())
        .breaks(&[&header::TRUNCATED])
        .flags(&["truncated"]);
    group
        .push(
            "tutorial-magic-reversed-word",
            "The magic reversed, as a big-endian reader of words would write it, before a big-endian header.",
            {
                edited(&Builder { byte_order: gguf_spec::syntax::ByteOrder::Big, ..sample() }, |tree| {
                    tree.magic = *b"FUGG";
                })
            },
        )
        .breaks(&[&header::MAGIC])
        .flags(&["big-endian", "foreign"]);
    for definition in &mut group.list {
        definition.from("tutorial", "published introductions to the format, described in our words");
    }
    group.list
}
