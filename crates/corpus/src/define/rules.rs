//! For every rule a file that breaks it and a near miss that keeps it, one field apart.

use gguf_spec::binary::{Places, encode};
use gguf_spec::field::{Field, KvPart, TensorPart, ValuePart};
use gguf_spec::generate::{Builder, array, fixed_array, nested, pair, scalar, string, string_array, tensor};
use gguf_spec::limits::{GGML_MAX_PAIRS, GGML_MAX_TENSORS, MAX_NESTING};
use gguf_spec::rules::keys::{KEYS, KeyType};
use gguf_spec::rules::{Rule, data, header, layout, metadata, semantics, tensors};
use gguf_spec::syntax::{Array, ByteOrder, Elements, RawString, Value};
use gguf_spec::types::ValueType;

use super::{Definition, Group, bytes, edited, start_of};

const F32: u32 = 0;
const Q4_0: u32 = 2;
const I8: u32 = 24;
const F64: u32 = 28;

pub(super) fn define() -> Vec<Definition> {
    let mut group = Group::new("rules", "rule");
    magic_and_header(&mut group);
    cut_metadata(&mut group);
    keys_and_values(&mut group);
    alignment(&mut group);
    cut_tensors(&mut group);
    tensor_infos(&mut group);
    layouts(&mut group);
    data_stage(&mut group);
    key_types(&mut group);
    meaning(&mut group);
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
    let cases: [(&'static Rule, (u32, Value), Field, usize, &str); 6] = [
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

fn cut_tensors(group: &mut Group) {
    let cases: [(&'static Rule, TensorPart, usize, &str); 5] = [
        (&tensors::NAME_TRUNCATED, TensorPart::Name, 2, "in the middle of a tensor name"),
        (&tensors::N_DIMS_TRUNCATED, TensorPart::NDims, 3, "inside the number of dimensions"),
        (&tensors::DIMS_TRUNCATED, TensorPart::Dim(1), 0, "between two dimensions"),
        (&tensors::TYPE_TRUNCATED, TensorPart::Type, 2, "inside the type of a tensor"),
        (&tensors::OFFSET_TRUNCATED, TensorPart::Offset, 7, "one byte before the end of an offset"),
    ];
    for (rule, part, into, place) in cases {
        let builder = tensor_builder("weight", F32, &[4, 2]);
        let tree = builder.finish();
        let whole = encode(&tree);
        let at = start_of(&tree, &Field::Tensor(0, part)) + into;
        twins(
            group,
            rule,
            (&format!("The file ends {place}."), cut(whole.clone(), at)),
            (&format!("The same file, not cut ({}).", rule.id), whole),
        );
        before_last(group).flags(&["truncated"]);
    }
}

fn tensor_infos(group: &mut Group) {
    let named = |name: &[u8]| {
        let mut builder = Builder::new();
        builder.add(tensor(name, F32, &[8]));
        bytes(&builder)
    };
    group
        .push("tensor-name-length-broken", "A tensor name of 65 bytes.", named(&[b'n'; 65]))
        .breaks(&[&tensors::NAME_LENGTH]);
    group
        .push(
            "tensor-name-length-kept",
            "A tensor name of 64 bytes, the longest the document allows; ggml refuses it.",
            named(&[b'n'; 64]),
        )
        .breaks(&[&tensors::NAME_TERMINATOR])
        .keeps(&[&tensors::NAME_LENGTH]);
    group
        .push(
            "tensor-name-terminator-broken",
            "A tensor name of 64 bytes, 21 of them three-byte letters.",
            named(format!("{}n", "▁".repeat(21)).as_bytes()),
        )
        .breaks(&[&tensors::NAME_TERMINATOR]);
    group
        .push(
            "tensor-name-terminator-kept",
            "A tensor name of 63 bytes, the longest that works everywhere.",
            named(&[b'n'; 63]),
        )
        .keeps(&[&tensors::NAME_TERMINATOR]);
    twins(
        group,
        &tensors::NAME_UTF8,
        ("A tensor name with the byte FF.", named(b"we\xFFght")),
        ("A tensor name with letters outside ASCII.", named("gewicht-größe".as_bytes())),
    );
    before_last(group).flags(&["non-utf8"]);
    let two = |second: &str| bytes(Builder::new().add(tensor("a", F32, &[8])).add(tensor(second, F32, &[8])));
    twins(
        group,
        &tensors::NAME_DUPLICATE,
        ("Two tensors of one name.", two("a")),
        ("Two tensors whose names differ in case.", two("A")),
    );
    before_last(group).flags(&["duplicate"]);
    twins(
        group,
        &tensors::N_DIMS_MAX,
        ("Five dimensions, all 1.", with_tensor(F32, &[1, 1, 1, 1, 1])),
        ("Four dimensions, all 1.", with_tensor(F32, &[1, 1, 1, 1])),
    );
    twins(
        group,
        &tensors::DIM_SIGNED,
        ("A dimension of 2^63 in a tensor that is empty all the same.", with_tensor(F32, &[1 << 63, 0])),
        ("A dimension of 2^63 - 1 in a tensor that is empty all the same.", with_tensor(F32, &[i64::MAX as u64, 0])),
    );
    before_last(group).flags(&["empty-tensor"]);
    last(group).flags(&["empty-tensor"]);
    twins(
        group,
        &tensors::ELEMENTS_RANGE,
        ("A shape whose product wraps to 2^33 + 1.", with_tensor(I8, &[(1 << 32) + 1, (1 << 32) + 1])),
        (
            "The same shape with a last dimension of 0: there are no elements to count.",
            with_tensor(I8, &[(1 << 32) + 1, (1 << 32) + 1, 0]),
        ),
    );
    before_last(group).flags(&["overflow"]);
    last(group).flags(&["empty-tensor"]);
    twins(
        group,
        &tensors::ELEMENTS_WRAP,
        ("A shape of 2^32 by 2^32: the product wraps to 0.", with_tensor(I8, &[1 << 32, 1 << 32])),
        ("A shape of 2^32 by 2^32 by 0: there are no elements to count.", with_tensor(I8, &[1 << 32, 1 << 32, 0])),
    );
    before_last(group).flags(&["overflow"]);
    last(group).flags(&["empty-tensor"]);
    twins(
        group,
        &tensors::BYTES_WRAP,
        ("2^62 weights of Q8_1: their number times 36 wraps to 0.", with_tensor(9, &[1 << 62])),
        ("2^62 by 0 weights of Q8_1: none.", with_tensor(9, &[1 << 62, 0])),
    );
    before_last(group).flags(&["overflow"]);
    last(group).flags(&["empty-tensor"]);
    twins(
        group,
        &tensors::BYTES_RANGE,
        ("2^61 doubles: 2^64 bytes.", with_tensor(F64, &[1 << 61])),
        ("2^61 by 0 doubles: none.", with_tensor(F64, &[1 << 61, 0])),
    );
    before_last(group).flags(&["overflow"]);
    last(group).flags(&["empty-tensor"]);
    let typed = |id| edited(&tensor_builder("t", I8, &[256]), |tree| tree.tensors[0].type_id = id);
    twins(
        group,
        &tensors::TYPE_KNOWN,
        ("Tensor type 43, the first that is not assigned.", typed(43)),
        ("Tensor type 30 (BF16), whose size the file cannot mistake.", with_tensor(30, &[128])),
    );
    twins(
        group,
        &tensors::TYPE_REMOVED,
        ("Tensor type 4 (Q4_2), removed.", typed(4)),
        ("Tensor type 3 (Q4_1), its neighbour.", with_tensor(3, &[256])),
    );
    twins(
        group,
        &tensors::TYPE_DOCUMENT,
        ("Tensor type 40 (NVFP4), newer than the document.", with_tensor(40, &[256])),
        ("Tensor type 39 (MXFP4), the last one the document lists.", with_tensor(39, &[256])),
    );
    before_last(group).flags(&["newer-type"]);
    twins(
        group,
        &tensors::BLOCK_MULTIPLE,
        ("A row of 31 weights in blocks of 32.", with_tensor(Q4_0, &[31])),
        ("A row of 32 weights in blocks of 32.", with_tensor(Q4_0, &[32])),
    );
}

/// Two tensors of 32 bytes.
fn pair_of_tensors() -> Builder {
    let mut builder = Builder::new();
    builder.add(tensor("a", F32, &[8])).add(tensor("b", F32, &[8]));
    builder
}

fn layouts(group: &mut Group) {
    let moved = |by: u64| {
        edited(&pair_of_tensors(), |tree| {
            tree.tensors[1].offset += by;
            tree.rest.to_mut().extend(vec![0; usize::try_from(by).unwrap_or(0)]);
        })
    };
    twins(
        group,
        &layout::OFFSET_ALIGNED,
        ("The second tensor starts 8 bytes after a multiple of the alignment of 32.", moved(8)),
        ("The second tensor starts at the next multiple of 32.", moved(0)),
    );
    twins(
        group,
        &layout::OFFSET_CONTIGUOUS,
        ("A gap of 32 bytes between two tensors.", moved(32)),
        ("No gap between two tensors.", bytes(&pair_of_tensors())),
    );
    let wide = |dims: &[u64]| with_tensor(F64, dims);
    twins(
        group,
        &layout::PADDING_WRAPS,
        ("2^61 - 1 doubles: the size fits 64 bits, rounded up to 32 it does not.", wide(&[(1 << 61) - 1])),
        ("2^61 - 1 by 0 doubles: none.", wide(&[(1 << 61) - 1, 0])),
    );
    before_last(group).flags(&["overflow"]);
    last(group).flags(&["empty-tensor"]);
    let four = |last: u64| {
        let mut builder = Builder::new();
        for name in ["a", "b", "c"] {
            builder.add(tensor(name, I8, &[1 << 62]));
        }
        builder.add(tensor("d", I8, &[last]));
        builder
    };
    group
        .push("layout-size-total-broken", "Four tensors of 2^62 bytes: together 2^64.", bytes(&four(1 << 62)))
        .breaks(&[&layout::TOTAL_RANGE])
        .flags(&["overflow"]);
    group
        .push(
            "layout-size-total-kept",
            "Three tensors of 2^62 bytes and one of 32: the sum fits, the data is missing.",
            bytes(&four(32)),
        )
        .breaks(&[&data::MEMORY])
        .keeps(&[&layout::TOTAL_RANGE])
        .flags(&["overflow", "memory"]);

    let padded = tensor_builder("tt", F32, &[0]);
    let tree = padded.finish();
    let places = Places::of(&tree, 0);
    assert!(places.table_end < places.padding_end, "the near miss needs padding");
    let whole = encode(&tree);
    let at = usize::try_from(places.padding_end - 1).unwrap_or(0);
    twins(
        group,
        &layout::DATA_START,
        (
            "The file ends one byte before the tensor data would start; the only tensor is empty.",
            cut(whole.clone(), at),
        ),
        ("The file ends where the tensor data would start; the only tensor is empty.", whole),
    );
    before_last(group).flags(&["truncated", "empty-tensor"]);
    last(group).flags(&["empty-tensor"]);
    let builder = tensor_builder("t", F32, &[8]);
    twins(
        group,
        &layout::PADDING_ZERO,
        (
            "A byte of 1 in the padding between the tensor table and the data.",
            edited(&builder, |tree| {
                let at = tree.padding.len() - 1;
                tree.padding[at] = 1;
            }),
        ),
        ("Zeros in the padding between the tensor table and the data.", bytes(&builder)),
    );
    before_last(group).flags(&["padding"]);
    last(group).flags(&["padding"]);
}

fn data_stage(group: &mut Group) {
    let builder = pair_of_tensors();
    let whole = bytes(&builder);
    let end = whole.len();
    twins(
        group,
        &data::EXTENT,
        ("The last byte of the last tensor is missing.", cut(whole.clone(), end - 1)),
        ("All bytes of the last tensor are there.", whole),
    );
    before_last(group).flags(&["truncated"]);
    let declared = |dims: &[u64]| with_tensor(I8, dims);
    group
        .push(
            "data-memory-broken",
            "2^40 bytes declared, none there: ggml asks for the memory first, and aborts.",
            declared(&[1 << 40]),
        )
        .breaks(&[&data::MEMORY])
        .flags(&["memory"]);
    group
        .push("data-memory-kept", "The same tensor with 32 bytes declared, all there.", declared(&[32]))
        .keeps(&[&data::MEMORY]);
    group
        .push(
            "data-memory-refused",
            "2^30 bytes declared, none there: ggml gets the memory, and refuses.",
            declared(&[1 << 30]),
        )
        .breaks(&[&data::EXTENT])
        .keeps(&[&data::MEMORY])
        .flags(&["memory"]);
    let two = |second: u64| bytes(Builder::new().add(tensor("a", F64, &[1 << 60])).add(tensor("b", F64, &[second])));
    group
        .push(
            "data-context-size-broken",
            "2^64 - 32 bytes of data: with ggml's bookkeeping the sum wraps.",
            two((1 << 60) - 4),
        )
        .breaks(&[&data::CONTEXT_SIZE])
        .flags(&["overflow"]);
    let empty = bytes(Builder::new().add(tensor("a", F64, &[1 << 60, 0])).add(tensor("b", F64, &[(1 << 60) - 4, 0])));
    group
        .push("data-context-size-kept", "The same two tensors, with a last dimension of 0.", empty)
        .keeps(&[&data::CONTEXT_SIZE])
        .flags(&["empty-tensor"]);
    group
        .push(
            "data-context-size-aborts",
            "2^64 - 4096 bytes of data: the sum fits, the memory does not.",
            two((1 << 60) - 512),
        )
        .breaks(&[&data::MEMORY])
        .keeps(&[&data::CONTEXT_SIZE])
        .flags(&["overflow", "memory"]);
    let short = tensor_builder("t", F32, &[3]);
    let whole = bytes(&short);
    let end = whole.len();
    twins(
        group,
        &data::FINAL_PADDING,
        ("The last byte of the padding after the last tensor is missing.", cut(whole.clone(), end - 1)),
        ("The padding after the last tensor is complete.", whole),
    );
    before_last(group).flags(&["padding"]);
    last(group).flags(&["padding"]);
    twins(
        group,
        &data::PADDING_ZERO,
        (
            "A byte of 1 in the padding after the last tensor.",
            edited(&short, |tree| {
                let bytes = tree.rest.to_mut();
                let at = bytes.len() - 1;
                bytes[at] = 1;
            }),
        ),
        ("Zeros in the padding after the last tensor.", bytes(&short)),
    );
    before_last(group).flags(&["padding"]);
    last(group).flags(&["padding"]);
}

/// The type of each General and Tokenizer key: a near type, and the right one.
fn key_types(group: &mut Group) {
    for row in KEYS {
        let Some(rule) = row.own_rule() else { continue };
        let key = row.example();
        let (wrong, right) = match row.ty {
            KeyType::Scalar(ValueType::String) => (array(string_value("llama")), string("llama")),
            KeyType::Scalar(_) => (scalar(ValueType::U64, 2), scalar(ValueType::U32, 2)),
            KeyType::Array(ValueType::String) => (string("en"), string_array(&["en"])),
            KeyType::Array(ValueType::F32) => {
                (array(fixed_array(ValueType::F64, &[0])), array(fixed_array(ValueType::F32, &[0])))
            }
            KeyType::Array(_) => (array(fixed_array(ValueType::U32, &[1])), array(fixed_array(ValueType::I32, &[1]))),
        };
        let described = match row.ty {
            KeyType::Scalar(ValueType::String) => "an array of one string",
            KeyType::Scalar(_) => "a u64",
            KeyType::Array(ValueType::String) => "a string",
            KeyType::Array(ValueType::F32) => "an array of f64",
            KeyType::Array(_) => "an array of u32",
        };
        twins(
            group,
            rule,
            (&format!("`{key}` is {described}."), with_pair(&key, wrong)),
            (&format!("`{key}` is of the documented type, {}.", row.ty.describe()), with_pair(&key, right)),
        );
    }
}

fn string_value(text: &str) -> Array {
    Array { type_id: ValueType::String.id(), len: 1, elements: Elements::Strings(vec![RawString::new(text)]) }
}

fn meaning(group: &mut Group) {
    let without = Builder { metadata: vec![pair("general.name", string("n"))], ..Builder::default() };
    twins(
        group,
        &semantics::ARCHITECTURE_REQUIRED,
        ("No `general.architecture`.", bytes(&without)),
        ("`general.architecture` beside a name.", with_pair("general.name", string("n"))),
    );
    twins(
        group,
        &semantics::ARCHITECTURE_CHARSET,
        (
            "An architecture with a hyphen, as published models have it.",
            with_pair("general.architecture", string("command-r")),
        ),
        ("The same architecture without the hyphen.", with_pair("general.architecture", string("commandr"))),
    );
    let quantized = bytes(Builder::new().add(tensor("t", Q4_0, &[32])));
    twins(
        group,
        &semantics::QUANTIZATION_VERSION_REQUIRED,
        ("A Q4_0 tensor without `general.quantization_version`.", quantized),
        ("A Q4_0 tensor with it.", with_tensor(Q4_0, &[32])),
    );
    twins(
        group,
        &semantics::LANGUAGES_ISO639,
        ("A language of three letters.", with_pair("general.languages", string_array(&["en", "deu"]))),
        ("Two languages of two letters.", with_pair("general.languages", string_array(&["en", "de"]))),
    );
    let vocabulary = |key: &str, value: (u32, Value)| {
        bytes(Builder::new().set(pair("tokenizer.ggml.tokens", string_array(&["a", "b", "c"]))).set(pair(key, value)))
    };
    let scores = |n: usize| vocabulary("tokenizer.ggml.scores", array(fixed_array(ValueType::F32, &vec![0; n])));
    let types = |bits: &[u64]| vocabulary("tokenizer.ggml.token_type", array(fixed_array(ValueType::I32, bits)));
    twins(
        group,
        &semantics::SCORES_LENGTH,
        ("Three tokens and two scores.", scores(2)),
        ("Three tokens and three scores.", scores(3)),
    );
    twins(
        group,
        &semantics::TOKEN_TYPE_LENGTH,
        ("Three tokens and four token types.", types(&[1, 1, 1, 1])),
        ("Three tokens and three token types.", types(&[1, 1, 1])),
    );
    twins(
        group,
        &semantics::TOKEN_TYPE_VALUES,
        ("A token type of 7.", types(&[1, 7, 6])),
        ("Token types 1, 2 and 6.", types(&[1, 2, 6])),
    );
}
