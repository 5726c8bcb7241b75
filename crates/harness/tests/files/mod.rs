//! Small files by hand: every way in which ggml 0.25.1 was seen to accept, refuse or abort.

use gguf_spec::binary::encode;
use gguf_spec::generate::{Builder, array, fixed_array, pair, scalar, string, string_array, tensor};
use gguf_spec::syntax::{Array, ByteOrder, Elements, Pair, RawString, TensorInfo, Tree, Value};
use gguf_spec::types::ValueType;

const F32: u32 = 0;
const Q4_0: u32 = 2;
const Q8_1: u32 = 9;
const I8: u32 = 24;
const F64: u32 = 28;
const MAX: u64 = i64::MAX as u64;

/// All files, by ids that say what they are.
pub(crate) fn all() -> Vec<(String, Vec<u8>)> {
    let mut files = Files(Vec::new());
    files.whole();
    files.headers();
    files.pairs();
    files.alignments();
    files.shapes();
    files.names();
    files.layouts();
    files.types();
    files.0
}

struct Files(Vec<(String, Vec<u8>)>);

fn with(pairs: &[Pair], tensors: &[TensorInfo]) -> Tree<'static> {
    Builder { metadata: pairs.to_vec(), tensors: tensors.to_vec(), ..Builder::default() }.finish()
}

fn one() -> Tree<'static> {
    with(&[], &[tensor("t", F32, &[8])])
}

/// The one key without which the format document does not accept a file.
fn architecture() -> Pair {
    pair("general.architecture", string("llama"))
}

/// The key that it wants beside a quantized tensor.
fn quantization() -> Pair {
    pair("general.quantization_version", scalar(ValueType::U32, 2))
}

fn number(key: &str) -> Pair {
    pair(key, scalar(ValueType::U32, 1))
}

fn alignment(value: u64) -> Pair {
    pair("general.alignment", scalar(ValueType::U32, value))
}

impl Files {
    fn add(&mut self, id: &str, tree: &Tree<'_>) {
        self.bytes(id, encode(tree));
    }

    fn bytes(&mut self, id: &str, bytes: Vec<u8>) {
        self.0.push((id.to_owned(), bytes));
    }

    fn edited(&mut self, id: &str, mut tree: Tree<'static>, edit: impl FnOnce(&mut Tree<'static>)) {
        edit(&mut tree);
        self.add(id, &tree);
    }

    fn pair(&mut self, id: &str, pair: Pair) {
        self.add(id, &with(&[pair], &[]));
    }

    fn shape(&mut self, id: &str, type_id: u32, dims: &[u64]) {
        self.add(id, &with(&[], &[tensor("t", type_id, dims)]));
    }

    fn whole(&mut self) {
        self.add("one-tensor", &one());
        self.add("no-tensors", &with(&[], &[]));
        self.bytes("empty", Vec::new());
        self.bytes("three-bytes", b"GGU".to_vec());
        self.bytes("other-magic", b"GGML\x03\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0".to_vec());
        let values = [
            (ValueType::U8, 0xFF),
            (ValueType::I8, 0x80),
            (ValueType::U16, 0xFF01),
            (ValueType::I16, 0xFF01),
            (ValueType::U32, 0xFFFF_FFFE),
            (ValueType::I32, 0x8000_0000),
            (ValueType::F32, 0x7F80_0001),
            (ValueType::Bool, 1),
            (ValueType::U64, u64::MAX),
            (ValueType::I64, 1 << 63),
            (ValueType::F64, 0x7FF0_0000_0000_0001),
        ];
        let scalars: Vec<Pair> = values.iter().map(|&(ty, bits)| pair(format!("a.{ty}"), scalar(ty, bits))).collect();
        let arrays: Vec<Pair> = values
            .iter()
            .map(|&(ty, bits)| pair(format!("a.{ty}"), array(fixed_array(ty, &[bits, 0, 1, bits]))))
            .chain([pair("a.string", string_array(&[&b""[..], b"xyz", b"\xFF\xE2\x96\x81"]))])
            .collect();
        self.add("every-scalar", &with(&scalars, &[]));
        self.add("every-array", &with(&arrays, &[]));
        let tensors = [tensor("a", F32, &[3]), tensor("b", Q4_0, &[64, 2]), tensor("c", I8, &[4, 2, 3, 1])];
        self.add(
            "all-of-it",
            &with(&[scalars, vec![pair("a.text", string("text")), alignment(64)]].concat(), &tensors),
        );
        // Without the text that is not UTF-8, for which the format document refuses the file.
        let text = pair("a.string", string_array(&["", "xyz"]));
        let metadata = [&[architecture(), quantization(), text], &arrays[..arrays.len() - 1]].concat();
        let big = Builder { byte_order: ByteOrder::Big, metadata, tensors: tensors.to_vec(), ..Builder::default() };
        self.add("big-endian", &big.finish());
        let whole = encode(&with(&[pair("a.text", string("text"))], &tensors));
        for end in (0..whole.len()).step_by(7) {
            self.bytes(&format!("cut-{end}"), whole[..end].to_vec());
        }
    }

    fn headers(&mut self) {
        for version in [0, 1, 2, 4, 0x0300_0000, 0x1_0000] {
            self.edited(&format!("version-{version}"), one(), |tree| tree.version = version);
        }
        for (name, count) in [("1", 1), ("2-55", 1 << 55), ("2-62", 1 << 62), ("2-63", 1 << 63), ("max", u64::MAX)] {
            self.edited(&format!("tensors-{name}"), with(&[], &[]), |tree| tree.tensor_count = count);
            self.edited(&format!("pairs-{name}"), with(&[], &[]), |tree| tree.kv_count = count);
        }
    }

    fn pairs(&mut self) {
        self.pair("key-empty", number(""));
        self.pair("key-nul", number("a\0b"));
        self.pair("key-nul-first", number("\0b"));
        self.add("keys-up-to-nul", &with(&[number("a\0b"), number("a\0c")], &[]));
        self.add("keys-twice", &with(&[number("a"), number("a")], &[]));
        for type_id in [13, u32::MAX] {
            self.pair(&format!("value-type-{type_id}"), Pair { type_id, ..number("a") });
            let items = Array { type_id, len: 0, elements: Elements::default() };
            self.pair(&format!("array-type-{type_id}"), pair("a", array(items)));
        }
        let inner = |bits: &[u64]| fixed_array(ValueType::U32, bits);
        let nested = Array {
            type_id: ValueType::Array.id(),
            len: 3,
            elements: Elements::Arrays(vec![inner(&[1, 2]), inner(&[3]), inner(&[])]),
        };
        self.add("nested", &with(&[architecture(), pair("a", array(nested))], &[]));
        let nothing = Array { type_id: ValueType::Array.id(), len: 0, elements: Elements::Arrays(Vec::new()) };
        self.pair("nested-empty", pair("a", array(nothing)));
        self.pair("array-empty", pair("a", array(inner(&[]))));
        self.pair("array-empty-strings", pair("a", string_array::<&str>(&[])));
        let long = Array { type_id: 0, len: (1 << 30) + 1, elements: Elements::default() };
        self.pair("array-over-2-30", pair("a", array(long)));
        self.add("value-empty", &with(&[pair("a", string("")), number("b")], &[]));
        self.pair("value-nul", pair("a", string("x\0y")));
        self.pair("value-length", pair("a", (8, Value::String(RawString { len: 1 << 40, bytes: b"x".to_vec() }))));
        self.pair("bool-2", pair("a", scalar(ValueType::Bool, 2)));
        self.pair("bools", pair("a", array(fixed_array(ValueType::Bool, &[0, 1, 2, 255]))));
    }

    fn alignments(&mut self) {
        for value in [0, 1, 2, 3, 8, 24, 1 << 16, 1 << 20, 1 << 31] {
            self.add(&format!("alignment-{value}"), &with(&[architecture(), alignment(value)], &[]));
            self.add(&format!("alignment-{value}-tensor"), &with(&[alignment(value)], &[tensor("t", F32, &[8])]));
        }
        let wrong = |value| pair("general.alignment", value);
        self.pair("alignment-i32", wrong(scalar(ValueType::I32, 32)));
        self.pair("alignment-u64", wrong(scalar(ValueType::U64, 32)));
        self.pair("alignment-array", wrong(array(fixed_array(ValueType::U32, &[64]))));
        self.pair("alignment-array-empty", wrong(array(fixed_array(ValueType::U32, &[]))));
        let nul = pair("general.alignment\0x", scalar(ValueType::U32, 64));
        self.add("alignment-nul", &with(std::slice::from_ref(&nul), &[tensor("t", F32, &[8])]));
        self.add("alignment-nul-and-real", &with(&[nul, alignment(16)], &[tensor("t", F32, &[8])]));
    }

    fn shapes(&mut self) {
        let shapes: [(&str, u32, &[u64]); 40] = [
            ("no-dims", F32, &[]),
            ("no-dims-q4", Q4_0, &[]),
            ("zero", F32, &[0]),
            ("zero-last", F32, &[4, 0]),
            ("zero-fourth", I8, &[1, 1, 1, 0]),
            ("zero-first-of-huge", F32, &[0, MAX, 3]),
            ("zero-behind-huge", F32, &[1 << 62, 1 << 62, 0]),
            ("zero-and-max", F32, &[3, 0, MAX, 5]),
            ("five-dims", F32, &[1, 1, 1, 1, 1]),
            ("many-dims", F32, &[1; 9]),
            ("q4-31", Q4_0, &[31]),
            ("bytes-2-31", I8, &[1 << 31]),
            ("bytes-3-gib", I8, &[3 << 30]),
            ("bytes-2-40", I8, &[1 << 40]),
            ("bytes-2-61", I8, &[1 << 61]),
            ("bytes-2-62", I8, &[1 << 62]),
            ("i8-max", I8, &[MAX]),
            ("i8-max-1", I8, &[MAX - 1]),
            ("i8-2-63", I8, &[1 << 63]),
            ("f32-2-62", F32, &[1 << 62]),
            ("f64-2-60", F64, &[1 << 60]),
            ("f64-2-61", F64, &[1 << 61]),
            ("f64-2-61-1", F64, &[(1 << 61) - 1]),
            ("q4-2-62", Q4_0, &[1 << 62]),
            ("one-by-max", I8, &[1, MAX]),
            ("one-by-max-1", I8, &[1, MAX - 1]),
            ("max-by-2", I8, &[MAX, 2]),
            ("max-by-3", I8, &[MAX, 3]),
            ("half-by-2", I8, &[(1 << 62) - 1, 2]),
            ("half-by-2-less", I8, &[(1 << 62) - 2, 2]),
            ("sevenths", I8, &[MAX / 7, 7]),
            ("sevenths-less", I8, &[MAX / 7 - 1, 7]),
            ("product-2-63", I8, &[1 << 32, 1 << 31]),
            ("product-2-63-f32", F32, &[1 << 32, 1 << 31]),
            ("product-2-64", I8, &[1 << 32, 1 << 32]),
            ("product-2-64-f32", F32, &[1 << 62, 4]),
            ("product-2-248", I8, &[1 << 62, 1 << 62, 1 << 62, 1 << 62]),
            ("product-wraps-to-4", F32, &[4_194_305, 4_194_305, 211_106_198_978_564]),
            ("row-2-62-q8-1", Q8_1, &[1 << 62]),
            ("row-2-62-256-q8-1", Q8_1, &[(1 << 62) + 256]),
        ];
        for (id, type_id, dims) in shapes {
            self.shape(id, type_id, dims);
        }
        let four: Vec<_> = ["a", "b", "c", "d"].iter().map(|name| tensor(name, I8, &[1 << 62])).collect();
        self.add("sum-2-64", &with(&[], &four));
        self.add("sum-2-64-32", &with(&[], &[tensor("a", F64, &[1 << 60]), tensor("b", F64, &[(1 << 60) - 4])]));
        self.add("sum-2-64-4096", &with(&[], &[tensor("a", F64, &[1 << 60]), tensor("b", F64, &[(1 << 60) - 512])]));
    }

    fn names(&mut self) {
        let names: [(&str, &[&str]); 8] = [
            ("name-empty", &[""]),
            ("names-empty", &["", ""]),
            ("name-63", &["n23456789012345678901234567890123456789012345678901234567890123"]),
            ("name-64", &["n234567890123456789012345678901234567890123456789012345678901234"]),
            ("name-nul", &["a\0b"]),
            ("names-up-to-nul", &["a\0b", "a\0c"]),
            ("name-nul-70", &["n\0xyz678901234567890123456789012345678901234567890123456789012345678901"]),
            ("names-twice", &["a", "a"]),
        ];
        for (id, names) in names {
            let tensors: Vec<_> = names.iter().map(|name| tensor(name, F32, &[8])).collect();
            self.add(id, &with(&[], &tensors));
        }
    }

    fn layouts(&mut self) {
        let two = || with(&[], &[tensor("a", F32, &[8]), tensor("b", F32, &[8])]);
        self.edited("offset-first", two(), |tree| tree.tensors[0].offset = 32);
        self.edited("offset-gap", two(), |tree| tree.tensors[1].offset = 64);
        self.edited("offset-unaligned", two(), |tree| tree.tensors[1].offset = 33);
        self.edited("offset-same", two(), |tree| tree.tensors[1].offset = 0);
        self.edited("padding-missing", one(), |tree| {
            tree.padding.clear();
            tree.rest.to_mut().clear();
        });
        self.edited("padding-part", one(), |tree| {
            tree.padding.truncate(1);
            tree.rest.to_mut().clear();
        });
        self.edited("padding-not-zero", one(), |tree| tree.padding.fill(7));
        self.edited("data-missing", one(), |tree| tree.rest.to_mut().clear());
        self.edited("data-short", one(), |tree| tree.rest.to_mut().truncate(31));
        self.edited("data-padding-missing", with(&[], &[tensor("t", F32, &[1])]), |tree| {
            tree.rest.to_mut().truncate(4);
        });
        self.edited("trailing", one(), |tree| tree.rest.to_mut().extend(b"xxx"));
        self.edited("zero-no-padding", with(&[], &[tensor("t", F32, &[0])]), |tree| tree.padding.clear());
        self.add("zero-then-one", &with(&[], &[tensor("a", F32, &[0]), tensor("b", F32, &[8])]));
    }

    fn types(&mut self) {
        for type_id in (0..=44).chain([107, 0x7FFF_FFFF, u32::MAX]) {
            self.shape(&format!("type-{type_id}"), type_id, &[1024]);
        }
    }
}
