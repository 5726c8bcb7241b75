//! One rich file, cut at the boundary of every field.

use gguf_spec::binary::{encode, spans};
use gguf_spec::generate::{Builder, array, fixed_array, pair, scalar, string, string_array, tensor};
use gguf_spec::types::ValueType;

use super::{Definition, Group};

pub(super) fn define() -> Vec<Definition> {
    let mut group = Group::new("truncation", "sweep");
    let tree = rich().finish();
    let whole = encode(&tree);
    group.push("cut-none", "The rich file of the truncation sweep, whole.", whole.clone());
    let mut fields = spans(&tree, 0);
    fields.sort_by_key(|span| span.range.start);
    for (i, span) in fields.iter().enumerate() {
        let at = usize::try_from(span.range.start).unwrap_or(usize::MAX);
        let purpose = format!("The rich file, cut before `{}`.", span.field);
        group.push(format!("cut-{i:03}"), purpose, whole[..at].to_vec()).swept().flags(&["truncated"]);
    }
    let data = whole.len() - tree.rest.len();
    for (name, at, what) in [
        ("data-start", data, "where the tensor data starts"),
        ("data-1", data + 1, "after the first byte of tensor data"),
        ("data-last", whole.len() - 33, "in the last tensor"),
    ] {
        group
            .push(format!("cut-{name}"), format!("The rich file, cut {what}."), whole[..at].to_vec())
            .swept()
            .flags(&["truncated"]);
    }
    group.list
}

/// A small file with every kind of field.
fn rich() -> Builder {
    let mut builder = Builder::new();
    builder
        .set(pair("general.quantization_version", scalar(ValueType::U32, 2)))
        .set(pair("general.alignment", scalar(ValueType::U32, 32)))
        .set(pair("x.u8", scalar(ValueType::U8, 1)))
        .set(pair("x.i8", scalar(ValueType::I8, 2)))
        .set(pair("x.u16", scalar(ValueType::U16, 3)))
        .set(pair("x.i16", scalar(ValueType::I16, 4)))
        .set(pair("x.i32", scalar(ValueType::I32, 5)))
        .set(pair("x.f32", scalar(ValueType::F32, 0x3F80_0000)))
        .set(pair("x.bool", scalar(ValueType::Bool, 1)))
        .set(pair("x.u64", scalar(ValueType::U64, 6)))
        .set(pair("x.i64", scalar(ValueType::I64, 7)))
        .set(pair("x.f64", scalar(ValueType::F64, 0x3FF0_0000_0000_0000)))
        .set(pair("x.text", string("text")))
        .set(pair("x.empty", string("")))
        .set(pair("x.shorts", array(fixed_array(ValueType::I16, &[1, 2]))))
        .set(pair("x.none", array(fixed_array(ValueType::U32, &[]))))
        .set(pair("x.texts", string_array(&["a", "", "bc"])))
        .add(tensor("one", 0, &[8]))
        .add(tensor("two", 2, &[32, 2]))
        .add(tensor("three", 1, &[2, 2, 2, 2]));
    builder
}
