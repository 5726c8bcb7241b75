//! For every rule a file that breaks it and a near miss that keeps it, one field apart.

mod meaning;
mod shapes;

use gguf_spec::binary::encode;
use gguf_spec::field::{Field, KvPart, ValuePart};
use gguf_spec::generate::{Builder, array, fixed_array, nested, pair, scalar, string, tensor};
use gguf_spec::limits::{GGML_MAX_PAIRS, GGML_MAX_TENSORS, MAX_NESTING};
use gguf_spec::rules::{Rule, header, metadata, semantics};
use gguf_spec::syntax::{Array, ByteOrder, Elements, Value};
use gguf_spec::types::ValueType;

use super::{Definition, Group, bytes, edited, start_of};
use crate::define::type_ids::F32;

pub(super) fn define() -> Vec<Definition> {
    let mut group = Group::new("rules", "rule");
    magic_and_header(&mut group);
    cut_metadata(&mut group);
    keys_and_values(&mut group);
    alignment(&mut group);
    shapes::cut_tensors(&mut group);
    shapes::tensor_infos(&mut group);
    shapes::layouts(&mut group);
    shapes::data_stage(&mut group);
    meaning::key_types(&mut group);
    meaning::meaning(&mut group);
    group.list
}

/// A pair of vectors for one rule: the one that breaks it and the one that keeps it.
fn twins(group: &mut Group, rule: &'static Rule, breaks: (&str, Vec<u8>), keeps: (&str, Vec<u8>)) {
    let id = rule.id.replace(['.', '_'], "-").to_lowercase();
    group.push(format!("{id}-broken"), breaks.0, breaks.1).breaks(&[rule]);
    group.push(format!("{id}-kept"), keeps.0, keeps.1).keeps(&[rule]);
}

fn last(group: &mut Group) -> &mut Definition {
    let at = group.list.len() - 1;
    &mut group.list[at]
}

fn before_last(group: &mut Group) -> &mut Definition {
    let at = group.list.len() - 2;
    &mut group.list[at]
}

fn with_pair(key: &str, value: (u32, Value)) -> Vec<u8> {
    bytes(Builder::new().set(pair(key, value)))
}

fn with_tensor(type_id: u32, dims: &[u64]) -> Vec<u8> {
    bytes(&tensor_builder("t", type_id, dims))
}

fn tensor_builder(name: &str, type_id: u32, dims: &[u64]) -> Builder {
    let mut builder = Builder::new();
    builder.set(pair("general.quantization_version", scalar(ValueType::U32, 2)));
    builder.add(tensor(name, type_id, dims));
    builder
}

fn cut(mut bytes: Vec<u8>, at: usize) -> Vec<u8> {
    bytes.truncate(at);
    bytes
}

fn magic_and_header(group: &mut Group) {
    let good = bytes(&Builder::new());
    let mut lower = good.clone();
    lower[3] = b'f';
    twins(
        group,
        &header::MAGIC,
        ("The last letter of the magic is lower case.", lower),
        ("The smallest file with the one required key.", good.clone()),
    );
    last(group).flags(&["no-tensors"]);

    let bare = encode(&gguf_spec::syntax::Tree { metadata: Vec::new(), kv_count: 0, ..Builder::new().finish() });
    let header_only = bare[..24].to_vec();
    group
        .push(
            "header-truncated-broken",
            "The file ends one byte before the end of the header.",
            cut(header_only.clone(), 23),
        )
        .breaks(&[&header::TRUNCATED])
        .flags(&["truncated"]);
    group
        .push(
            "header-truncated-kept",
            "A header without pairs and tensors is all there is: ggml reads 24 bytes.",
            header_only,
        )
        .breaks(&[&semantics::ARCHITECTURE_REQUIRED])
        .keeps(&[&header::TRUNCATED])
        .flags(&["no-tensors"]);

    let version = |version| bytes(&Builder { version, ..tensor_builder("t", F32, &[8]) });
    twins(
        group,
        &header::BYTE_ORDER,
        (
            "A right file in big-endian byte order.",
            bytes(&Builder { byte_order: ByteOrder::Big, ..tensor_builder("t", F32, &[8]) }),
        ),
        ("The same file in little-endian byte order.", version(3)),
    );
    before_last(group).flags(&["big-endian"]);
    twins(group, &header::VERSION_ZERO, ("Version 0.", version(0)), ("Version 3, otherwise the same.", version(3)));
    twins(
        group,
        &header::VERSION_1,
        ("A right version 1 file: 32-bit counts and lengths.", version(1)),
        ("The same content as version 3.", version(3)),
    );
    before_last(group).flags(&["version-1"]);
    twins(
        group,
        &header::VERSION_2,
        ("A right version 2 file, which ggml reads and the document does not describe.", version(2)),
        ("The same file with version 3.", version(3)),
    );
    before_last(group).flags(&["version-2"]);
    twins(group, &header::VERSION_FUTURE, ("Version 4.", version(4)), ("Version 3, otherwise the same.", version(3)));

    let counts = |tensors, pairs| {
        edited(&Builder::new(), |tree| {
            tree.padding.clear();
            tree.tensor_count = tensors;
            tree.kv_count = pairs;
        })
    };
    twins(
        group,
        &header::TENSOR_COUNT_RANGE,
        ("A tensor count one over what ggml's table could hold.", counts(GGML_MAX_TENSORS + 1, 1)),
        ("A tensor count of 0.", counts(0, 1)),
    );
    before_last(group).flags(&["huge-count"]);
    twins(
        group,
        &header::KV_COUNT_RANGE,
        ("A pair count one over what ggml's table could hold.", counts(0, GGML_MAX_PAIRS + 1)),
        ("A pair count of 1, which is true.", counts(0, 1)),
    );
    before_last(group).flags(&["huge-count"]);
}

/// Truncation inside each kind of field of a pair; the near miss is the file that ends right after it.
fn cut_metadata(group: &mut Group) {
    let fixed = |ty, bits| scalar(ty, bits);
    let value = |part| Field::Kv(1, KvPart::Value(Vec::new(), part));
    let numbers = array(fixed_array(ValueType::U16, &[1, 2, 3]));
    type Case<'a> = (&'static Rule, (u32, Value), Field, usize, &'a str);
    let cases: [Case<'_>; 6] = [
        (&metadata::KEY_TRUNCATED, fixed(ValueType::U8, 7), Field::Kv(1, KvPart::Key), 2, "in the middle of a key"),
        (
            &metadata::TYPE_TRUNCATED,
            fixed(ValueType::U8, 7),
            Field::Kv(1, KvPart::Type),
            3,
            "inside the type of a value",
        ),
        (
            &metadata::VALUE_TRUNCATED,
            fixed(ValueType::U64, 7),
            value(ValuePart::Whole),
            7,
            "one byte before the end of a u64",
        ),
        (
            &metadata::STRING_TRUNCATED,
            string("text"),
            value(ValuePart::Whole),
            3,
            "one byte before the end of a string",
        ),
        (
            &metadata::ARRAY_TRUNCATED,
            numbers.clone(),
            value(ValuePart::Len),
            0,
            "between the element type and the length of an array",
        ),
        (&metadata::ELEMENTS_TRUNCATED, numbers, value(ValuePart::Elements), 5, "one byte before the end of an array"),
    ];
    for (rule, content, field, into, place) in cases {
        let mut builder = Builder::new();
        builder.set(pair("x.last", content));
        let mut tree = builder.finish();
        tree.padding.clear();
        let whole = encode(&tree);
        let at = start_of(&tree, &field) + into;
        twins(
            group,
            rule,
            (&format!("The file ends {place}."), cut(whole.clone(), at)),
            (&format!("The same file, not cut: it ends right after its last pair ({}).", rule.id), whole),
        );
        before_last(group).flags(&["truncated"]);
        last(group).flags(&["no-tensors"]);
    }
}

fn keys_and_values(group: &mut Group) {
    let seven = || scalar(ValueType::U8, 7);
    let key = |key: &str| with_pair(key, seven());
    twins(group, &metadata::KEY_EMPTY, ("A key of no bytes.", key("")), ("A key of one byte.", key("k")));
    twins(
        group,
        &metadata::KEY_ASCII,
        ("A key with a letter outside ASCII.", key("x.naïve")),
        ("The same key in ASCII.", key("x.naive")),
    );
    twins(
        group,
        &metadata::KEY_SNAKE_CASE,
        ("A key with a hyphen, as in published models.", key("command-r.block_count")),
        ("The same key with an underscore.", key("command_r.block_count")),
    );
    twins(
        group,
        &metadata::KEY_LENGTH,
        ("A key of 65,536 bytes.", key(&"k".repeat(65_536))),
        ("A key of 65,535 bytes, the longest the document allows.", key(&"k".repeat(65_535))),
    );
    let two = |second: &str| bytes(Builder::new().set(pair("x.a", seven())).set(pair(second, seven())));
    let mut doubled = Builder::new();
    doubled.metadata.push(pair("x.a", seven()));
    doubled.metadata.push(pair("x.a", seven()));
    twins(
        group,
        &metadata::KEY_DUPLICATE,
        ("Two pairs with one key and one value.", bytes(&doubled)),
        ("Two pairs whose keys differ in one letter.", two("x.b")),
    );
    before_last(group).flags(&["duplicate"]);

    let odd = |type_id| {
        edited(Builder::new().set(pair("x.v", (type_id, Value::Fixed(vec![7, 0, 0, 0, 0, 0, 0, 0])))), |_| {})
    };
    twins(
        group,
        &metadata::TYPE_KNOWN,
        ("A value of type 13, the first that is not assigned.", odd(13)),
        ("A value of type 12, the last that is.", odd(12)),
    );
    let odd_array = |type_id| {
        let elements = Elements::Fixed(vec![7, 0, 0, 0, 0, 0, 0, 0]);
        with_pair("x.v", array(Array { type_id, len: 1, elements }))
    };
    twins(
        group,
        &metadata::ARRAY_TYPE_KNOWN,
        ("An array of elements of type 13, the first that is not assigned.", odd_array(13)),
        ("An array of elements of type 12, the last that is.", odd_array(12)),
    );
    twins(
        group,
        &metadata::ARRAY_NESTED,
        ("An array that holds one array of one byte.", with_pair("x.v", array(nested(2)))),
        ("An array of one byte.", with_pair("x.v", array(nested(1)))),
    );
    before_last(group).flags(&["nested-array"]);
    last(group).keeps(&[&metadata::ARRAY_DEPTH]);
    group
        .push(
            "kv-array-depth-broken",
            "Arrays nested one deeper than this specification reads.",
            with_pair("x.v", array(nested(MAX_NESTING + 1))),
        )
        .breaks(&[&metadata::ARRAY_DEPTH])
        .flags(&["nested-array", "limit"]);
    group
        .push(
            "kv-array-depth-kept",
            "Arrays nested as deep as this specification reads.",
            with_pair("x.v", array(nested(MAX_NESTING))),
        )
        .breaks(&[&metadata::ARRAY_NESTED])
        .keeps(&[&metadata::ARRAY_DEPTH])
        .flags(&["nested-array", "limit"]);
    twins(
        group,
        &metadata::BOOL_VALUE,
        ("A bool of 2.", with_pair("x.v", scalar(ValueType::Bool, 2))),
        ("A bool of 1.", with_pair("x.v", scalar(ValueType::Bool, 1))),
    );
    twins(
        group,
        &metadata::STRING_UTF8,
        ("A string value with the byte FF, which UTF-8 never has.", with_pair("x.v", string(b"a\xFFb"))),
        ("A string value whose middle is a two-byte letter.", with_pair("x.v", string("aéb"))),
    );
    before_last(group).flags(&["non-utf8"]);
}

fn alignment(group: &mut Group) {
    let file = |value: (u32, Value)| {
        let mut builder = tensor_builder("t", F32, &[8]);
        builder.set(pair("general.alignment", value));
        bytes(&builder)
    };
    let stated = |bits| file(scalar(ValueType::U32, bits));
    twins(
        group,
        &metadata::ALIGN_TYPE,
        ("The alignment is a u64 of 32.", file(scalar(ValueType::U64, 32))),
        ("The alignment is a u32 of 32.", stated(32)),
    );
    twins(
        group,
        &metadata::ALIGN_ZERO,
        ("An alignment of 0.", stated(0)),
        ("An alignment of 8, the smallest that all allow.", stated(8)),
    );
    twins(
        group,
        &metadata::ALIGN_MULTIPLE,
        ("An alignment of 4: a power of two, but not a multiple of 8.", stated(4)),
        ("An alignment of 16: both.", stated(16)),
    );
    twins(
        group,
        &metadata::ALIGN_POWER,
        ("An alignment of 24: a multiple of 8, but not a power of two.", stated(24)),
        ("An alignment of 64: both.", stated(64)),
    );
}
