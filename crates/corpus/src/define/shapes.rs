//! Shapes: dimensions of 0, none at all, products at the edge of 64 bits.

use gguf_spec::generate::{Builder, pair, scalar, tensor};
use gguf_spec::rules::{Rule, data, tensors};
use gguf_spec::types::ValueType;

use super::{Definition, Group, bytes, edited};
use crate::define::type_ids::{F32, I8};

const MAX: u64 = i64::MAX as u64;

pub(super) fn define() -> Vec<Definition> {
    let mut group = Group::new("shapes", "rule");
    empty(&mut group);
    small(&mut group);
    edges(&mut group);
    blocks(&mut group);
    names(&mut group);
    group.list
}

fn file(type_id: u32, dims: &[u64]) -> Vec<u8> {
    let mut builder = Builder::new();
    builder.set(pair("general.quantization_version", scalar(ValueType::U32, 2)));
    bytes(builder.add(tensor("t", type_id, dims)))
}

fn empty(group: &mut Group) {
    for (name, dims) in [
        ("0", &[0][..]),
        ("4-0", &[4, 0]),
        ("0-4", &[0, 4]),
        ("1-1-1-0", &[1, 1, 1, 0]),
        ("0-0-0-0", &[0, 0, 0, 0]),
        ("0-max", &[0, MAX]),
        ("max-0", &[MAX, 0]),
        ("0-max-max-max", &[0, MAX, MAX, MAX]),
        ("huge-huge-0", &[1 << 62, 1 << 62, 0]),
    ] {
        group
            .push(
                format!("empty-{name}"),
                format!("A tensor of shape {dims:?}: no elements, no bytes."),
                file(F32, dims),
            )
            .keeps(&[&tensors::ELEMENTS_RANGE])
            .flags(&["empty-tensor"]);
    }
    group
        .push("empty-then-full", "An empty tensor before a full one: both start at 0.", {
            bytes(Builder::new().add(tensor("a", F32, &[0])).add(tensor("b", F32, &[8])))
        })
        .flags(&["empty-tensor"]);
    group
        .push("empty-after-full", "An empty tensor after a full one: it starts at the end.", {
            bytes(Builder::new().add(tensor("a", F32, &[8])).add(tensor("b", F32, &[0])))
        })
        .flags(&["empty-tensor"]);
    group.push("empty-quantized", "An empty tensor of a block format.", file(12, &[256, 0])).flags(&["empty-tensor"]);
    group
        .push("empty-after-unpadded", "An empty tensor behind the missing padding of the one before it.", {
            let mut file = bytes(Builder::new().add(tensor("a", F32, &[3])).add(tensor("b", F32, &[0])));
            file.truncate(file.len() - 20);
            file
        })
        .breaks(&[&data::FINAL_PADDING])
        .flags(&["empty-tensor", "padding"]);
}

fn small(group: &mut Group) {
    group.push("dims-none", "A tensor without dimensions: one element.", file(F32, &[]));
    group
        .push(
            "dims-none-quantized",
            "A tensor without dimensions in blocks of 32: one element is no block.",
            file(2, &[]),
        )
        .breaks(&[&tensors::BLOCK_MULTIPLE]);
    group.push("dims-1", "One dimension.", file(F32, &[5]));
    group.push("dims-2", "Two dimensions: the first is the length of a row.", file(F32, &[5, 3]));
    group.push("dims-3", "Three dimensions.", file(F32, &[2, 3, 4]));
    group.push("dims-4", "Four dimensions.", file(F32, &[2, 3, 2, 2]));
    group.push("dims-4-ones", "Trailing dimensions of 1 are part of the shape.", file(F32, &[5, 1, 1, 1]));
    for n in [5u64, 6, 8, 255] {
        let dims = vec![1; usize::try_from(n).unwrap_or(0)];
        group
            .push(format!("dims-{n}"), format!("{n} dimensions, all 1."), file(F32, &dims))
            .breaks(&[&tensors::N_DIMS_MAX]);
    }
    group
        .push("dims-5-with-data", "Five dimensions, and the data of the one element is there.", {
            let mut file = file(F32, &[1; 5]);
            file.resize(file.len().next_multiple_of(32) + 32, 0);
            file
        })
        .breaks(&[&tensors::N_DIMS_MAX]);
    group
        .push("dims-5-empty", "Five dimensions, the last 0.", file(F32, &[1, 1, 1, 1, 0]))
        .breaks(&[&tensors::N_DIMS_MAX])
        .flags(&["empty-tensor"]);
}

/// Products at the edge of what a signed 64-bit number holds, as ggml tests them.
fn edges(group: &mut Group) {
    let range: &'static Rule = &tensors::ELEMENTS_RANGE;
    for (name, dims, why) in [
        ("max", &[MAX][..], "2^63 - 1 elements in one dimension: one too many for ggml's test"),
        ("1-max", &[1, MAX], "1 by 2^63 - 1"),
        ("1-max-less-1", &[1, MAX - 1], "1 by 2^63 - 2: refused by ggml's test although the product fits"),
        ("half-2", &[(1 << 62) - 1, 2], "2^62 - 1 by 2: refused by ggml's test although the product fits"),
        ("seventh-7", &[MAX / 7, 7], "(2^63 - 1) / 7 by 7: exactly 2^63 - 1"),
        ("max-3", &[MAX, 3], "2^63 - 1 by 3, which wraps to 2^63 - 3"),
        ("wrap-to-4", &[4_194_305, 4_194_305, 211_106_198_978_564], "a product that wraps to a small number"),
        ("wrap-positive", &[(1 << 32) + 1, (1 << 32) + 1], "the square of 2^32 + 1, which wraps to 2^33 + 1"),
    ] {
        group
            .push(format!("elements-{name}"), format!("A shape of {why}."), file(I8, dims))
            .breaks(&[range])
            .flags(&["overflow"]);
    }
    // What wraps to 0 or below gets past ggml's test; what wraps below 0 then counts as huge.
    let wrap: &'static Rule = &tensors::ELEMENTS_WRAP;
    for (name, dims, why, negative) in [
        ("sqrt", &[3_037_000_500, 3_037_000_500][..], "the square of 3,037,000,500, just over 2^63", true),
        ("2-63", &[1 << 32, 1 << 31], "2^32 by 2^31: 2^63, negative as a signed number", true),
        ("2-64", &[1 << 32, 1 << 32], "2^32 by 2^32: 2^64, which wraps to 0", false),
        ("2-66", &[1 << 33, 1 << 33], "2^33 by 2^33: 2^66, which wraps to 0", false),
        ("four-huge", &[1 << 62, 1 << 62, 1 << 62, 1 << 62], "2^62 in all four dimensions", false),
        ("third", &[1 << 30, 1 << 30, 1 << 30], "2^90 in three steps, of which the third wraps", false),
        ("fourth", &[1 << 20, 1 << 20, 1 << 20, 1 << 20], "2^80 in four steps, of which the fourth wraps", false),
    ] {
        let breaks: &[&'static Rule] = if negative { &[wrap, &data::MEMORY] } else { &[wrap] };
        group
            .push(format!("elements-{name}"), format!("A shape of {why}."), file(I8, dims))
            .breaks(breaks)
            .flags(&["overflow"]);
    }
    group
        .push(
            "elements-wrap-f32",
            "2^62 by 4 floats: no bytes to ggml, which reads the file in both modes.",
            file(F32, &[1 << 62, 4]),
        )
        .breaks(&[wrap])
        .flags(&["overflow"]);
    group
        .push(
            "elements-wrap-f32-refused",
            "2^32 by 2^31 floats: the size in bytes stops ggml where the number of elements does not.",
            file(F32, &[1 << 32, 1 << 31]),
        )
        .breaks(&[range])
        .flags(&["overflow"]);
    group
        .push("bytes-wrap-288", "2^62 + 256 weights of Q8_1: 288 bytes to ggml.", file(9, &[(1 << 62) + 256]))
        .breaks(&[&tensors::BYTES_WRAP])
        .flags(&["overflow"]);
    for (name, dims, why) in [
        ("max-less-1", &[MAX - 1][..], "2^63 - 2 elements in one dimension, the most ggml's test lets through"),
        ("half-less-1-2", &[(1 << 62) - 2, 2], "2^62 - 2 by 2"),
        ("seventh-less-1-7", &[MAX / 7 - 1, 7], "one less than (2^63 - 1) / 7 by 7"),
    ] {
        group
            .push(
                format!("elements-{name}"),
                format!("A shape of {why}: the header is read, the data is missing."),
                file(I8, dims),
            )
            .breaks(&[&data::MEMORY])
            .keeps(&[range])
            .flags(&["overflow", "memory"]);
    }
    for (name, dims) in [
        ("2-63", &[1 << 63][..]),
        ("minus-1", &[u64::MAX]),
        ("second", &[1, u64::MAX]),
        ("fourth", &[1, 1, 1, 1 << 63]),
        ("two-negative", &[u64::MAX, u64::MAX]),
    ] {
        group
            .push(
                format!("negative-{name}"),
                format!("A shape of {dims:?}: negative as signed numbers."),
                file(F32, dims),
            )
            .breaks(&[range])
            .flags(&["overflow"]);
    }
    group
        .push(
            "negative-by-zero",
            "A shape of 0 by 2^64 - 1: negative as a signed number, and empty all the same.",
            file(F32, &[0, u64::MAX]),
        )
        .breaks(&[&tensors::DIM_SIGNED])
        .flags(&["empty-tensor"]);
    group
        .push("bytes-f32", "2^62 floats: 2^64 bytes.", file(F32, &[1 << 62]))
        .breaks(&[&tensors::BYTES_RANGE])
        .flags(&["overflow"]);
    group
        .push("bytes-f16", "2^62 halves: 2^63 bytes, which fit.", file(1, &[1 << 62]))
        .breaks(&[&data::MEMORY])
        .keeps(&[&tensors::BYTES_RANGE])
        .flags(&["overflow", "memory"]);
    group
        .push("bytes-q8-0", "2^62 weights of Q8_0: times 34 they wrap, and count as 2^58 bytes.", file(8, &[1 << 62]))
        .breaks(&[&tensors::BYTES_WRAP, &data::MEMORY])
        .flags(&["overflow", "memory"]);
    for power in [31u32, 32, 33, 40, 48, 56] {
        let breaks: [&'static Rule; 1] = [if power <= 31 { &data::EXTENT } else { &data::MEMORY }];
        group
            .push(
                format!("declared-2-{power}"),
                format!("2^{power} bytes declared and none there."),
                file(I8, &[1 << power]),
            )
            .breaks(&breaks)
            .flags(&["memory"]);
    }
}

fn blocks(group: &mut Group) {
    let block = [&tensors::BLOCK_MULTIPLE];
    for (name, type_id, dims) in [
        ("q4-0-33", 2, &[33][..]),
        ("q4-k-128", 12, &[128]),
        ("q4-k-255", 12, &[255]),
        ("q6-k-1", 14, &[1]),
        ("mxfp4-16", 39, &[16]),
        ("nvfp4-32", 40, &[32]),
        ("q1-0-64", 41, &[64]),
        ("q4-0-transposed", 2, &[3, 32]),
    ] {
        let definition = group.push(
            format!("block-{name}"),
            format!("A shape of {dims:?} in a type whose blocks do not divide the row."),
            file(type_id, dims),
        );
        if type_id >= 40 {
            definition.breaks(&[&tensors::BLOCK_MULTIPLE, &tensors::TYPE_DOCUMENT]).flags(&["newer-type"]);
        } else {
            definition.breaks(&block);
        }
    }
    group.push("block-odd-count", "Three blocks in a row: an odd number.", file(2, &[96])).keeps(&block);
    group.push("block-odd-rows", "Rows of one block, three of them.", file(12, &[256, 3])).keeps(&block);
}

fn names(group: &mut Group) {
    let two = |a: &[u8], b: &[u8]| bytes(Builder::new().add(tensor(a, F32, &[8])).add(tensor(b, F32, &[8])));
    let one = |name: &[u8]| bytes(Builder::new().add(tensor(name, F32, &[8])));
    group.push("name-empty", "A tensor name of no bytes, which all accept.", one(b""));
    group
        .push("name-empty-twice", "Two tensors of no name.", two(b"", b""))
        .breaks(&[&tensors::NAME_DUPLICATE])
        .flags(&["duplicate"]);
    group
        .push("name-nul", "A tensor name with a NUL: ggml shows only what comes before it.", one(b"a\0b"))
        .flags(&["c-string"]);
    group
        .push(
            "name-nul-twins",
            "Two tensor names that differ only after a NUL: one name to ggml.",
            two(b"a\0b", b"a\0c"),
        )
        .breaks(&[&tensors::NAME_DUPLICATE])
        .flags(&["c-string", "duplicate"]);
    group
        .push(
            "name-nul-63",
            "A tensor name of 63 bytes that is one letter to a C interface.",
            one(&[&b"a\0"[..], &[b'x'; 61]].concat()),
        )
        .flags(&["c-string"]);
    group
        .push(
            "name-nul-64",
            "A tensor name of 64 bytes that is one letter to a C interface: the length counts all of it.",
            one(&[&b"a\0"[..], &[b'x'; 62]].concat()),
        )
        .breaks(&[&tensors::NAME_TERMINATOR])
        .flags(&["c-string"]);
    for n in [100usize, 1000] {
        group
            .push(format!("name-{n}"), format!("A tensor name of {n} bytes."), one(&vec![b'n'; n]))
            .breaks(&[&tensors::NAME_LENGTH]);
    }
    group.push("name-space", "A tensor name of spaces and quotes.", one(b" 'a\" b "));
    group
        .push("name-invalid-both", "Two faults in one name: too long and not UTF-8.", one(&[0xFF; 65]))
        .breaks(&[&tensors::NAME_LENGTH, &tensors::NAME_UTF8])
        .flags(&["non-utf8"]);
    group.push("name-order", "Tensors in no alphabetical order.", two(b"z", b"a"));
    group
        .push(
            "type-count-wrong",
            "A declared number of dimensions of 1 where two follow: what comes next is misread.",
            edited(Builder::new().add(tensor("t", F32, &[8, 1])), |tree| tree.tensors[0].n_dims = 1),
        )
        .swept();
}
