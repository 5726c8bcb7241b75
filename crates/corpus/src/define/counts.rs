//! Every count and length of a file at 0, one off, and at the powers where arithmetic breaks.

use gguf_spec::binary::encode;
use gguf_spec::field::{Field, KvPart, TensorPart, ValuePart};
use gguf_spec::generate::{Builder, array, fixed_array, nested, pair, scalar, string, string_array, tensor};
use gguf_spec::types::ValueType;

use super::{Definition, Group, start_of};

pub(super) fn define() -> Vec<Definition> {
    let mut group = Group::new("counts", "sweep");
    let mut builder = Builder::new();
    builder
        .set(pair("x.flag", scalar(ValueType::Bool, 1)))
        .set(pair("x.text", string("text")))
        .set(pair("x.bytes", array(fixed_array(ValueType::U8, &[1, 2, 3]))))
        .set(pair("x.longs", array(fixed_array(ValueType::U64, &[1, 2, 3]))))
        .set(pair("x.texts", string_array(&["a", "bc"])))
        .add(tensor("t", 0, &[8, 2]))
        .add(tensor("u", 0, &[8]));
    let value = |pair, part| Field::Kv(pair, KvPart::Value(Vec::new(), part));
    let element = |pair, part| Field::Kv(pair, KvPart::Value(vec![1], part));
    let part = |tensor, part| Field::Tensor(tensor, part);
    sweep(&mut group, &builder, "tensor-count", "tensor count", &Field::TensorCount, 8);
    sweep(&mut group, &builder, "pair-count", "pair count", &Field::KvCount, 8);
    sweep(&mut group, &builder, "key-length", "length of a key", &Field::Kv(1, KvPart::KeyLen), 8);
    sweep(&mut group, &builder, "string-length", "length of a string", &value(2, ValuePart::Len), 8);
    sweep(&mut group, &builder, "bytes-length", "length of an array of u8", &value(3, ValuePart::Len), 8);
    sweep(&mut group, &builder, "longs-length", "length of an array of u64", &value(4, ValuePart::Len), 8);
    sweep(&mut group, &builder, "strings-length", "length of an array of strings", &value(5, ValuePart::Len), 8);
    sweep(&mut group, &builder, "element-length", "length of a string in an array", &element(5, ValuePart::Len), 8);
    sweep(&mut group, &builder, "name-length", "length of a tensor name", &part(0, TensorPart::NameLen), 8);
    sweep(&mut group, &builder, "n-dims", "number of dimensions", &part(0, TensorPart::NDims), 4);
    sweep(&mut group, &builder, "dim-first", "first dimension", &part(0, TensorPart::Dim(0)), 8);
    sweep(&mut group, &builder, "dim-second", "second dimension", &part(0, TensorPart::Dim(1)), 8);
    sweep(&mut group, &builder, "tensor-offset", "offset of the second tensor", &part(1, TensorPart::Offset), 8);

    let mut deep = Builder::new();
    deep.set(pair("x.nested", array(nested(2))));
    sweep(&mut group, &deep, "nested-length", "length of an array of arrays", &value(1, ValuePart::Len), 8);
    let mut old = builder.clone();
    old.version = 1;
    sweep(&mut group, &old, "v1-pair-count", "pair count of version 1", &Field::KvCount, 4);
    sweep(&mut group, &old, "v1-string-length", "length of a string in version 1", &value(2, ValuePart::Len), 4);
    group.list
}

fn sweep(group: &mut Group, builder: &Builder, name: &str, what: &str, field: &Field, width: usize) {
    let tree = builder.finish();
    let good = encode(&tree);
    let at = start_of(&tree, field);
    let mut word = [0; 8];
    word[..width].copy_from_slice(&good[at..at + width]);
    let true_value = u64::from_le_bytes(word);
    let mask = u64::MAX >> (64 - 8 * width);

    let values: [(&str, &str, u64); 11] = [
        ("0", "0", 0),
        ("less-1", "one less than it is", true_value.wrapping_sub(1)),
        ("plus-1", "one more than it is", true_value.wrapping_add(1)),
        ("2-31", "2^31", 1 << 31),
        ("2-32", "2^32", 1 << 32),
        ("2-40", "2^40", 1 << 40),
        ("2-61", "2^61", 1 << 61),
        ("2-62", "2^62", 1 << 62),
        ("2-63", "2^63", 1 << 63),
        ("max-less-15", "2^64 - 16", u64::MAX - 15),
        ("max", "all bits set", mask),
    ];
    let mut seen = vec![true_value];
    for (suffix, described, number) in values {
        let number = if suffix == "less-1" || suffix == "plus-1" { number & mask } else { number };
        if number > mask || seen.contains(&number) {
            continue;
        }
        seen.push(number);
        let mut file = good.clone();
        file[at..at + width].copy_from_slice(&number.to_le_bytes()[..width]);
        let definition = group.push(format!("{name}-{suffix}"), format!("The {what} is {described}."), file).swept();
        if number >= 1 << 31 {
            definition.flags(&["huge-count"]);
        }
        if builder.version == 1 {
            definition.flags(&["version-1"]);
        }
        if name.starts_with("nested") {
            definition.flags(&["nested-array"]);
        }
    }
}
