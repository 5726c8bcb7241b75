//! Arrays of arrays; versions and byte orders.

use gguf_spec::generate::{Builder, array, fixed_array, nested, pair, scalar, string, string_array, tensor};
use gguf_spec::rules::{data, layout, metadata};
use gguf_spec::syntax::{Array, ByteOrder, Elements, RawString};
use gguf_spec::types::ValueType;

use crate::define::{Group, bytes, edited};

use super::with;

pub(super) fn nesting(group: &mut Group) {
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
pub(super) fn orders(group: &mut Group) {
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
