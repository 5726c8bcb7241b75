//! For every rule, files that break exactly that rule.

use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::build::{Builder, array, fixed_array, pair, scalar, string, string_array, tensor};
use super::config::Config;
use crate::binary::{Places, encode, spans};
use crate::field::{Field, KvPart, TensorPart, ValuePart};
use crate::limits::{GGML_MAX_PAIRS, GGML_MAX_TENSORS, MAX_NESTING};
use crate::rules::keys::{KEYS, KeyType};
use crate::rules::{Rule, data, header, layout, metadata, semantics, tensors};
use crate::syntax::{Array, ByteOrder, Elements, Pair, RawString, TensorInfo, Tree, Value};
use crate::types::{TENSOR_TYPES, TypeStatus, ValueType};

/// A file that breaks a rule: a tree, and where its bytes are cut off, if they are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken {
    /// The tree.
    pub tree: Tree<'static>,
    /// Only this many bytes of the encoded tree make the file.
    pub cut: Option<u64>,
}

impl Broken {
    /// The bytes of the file.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        let mut bytes = encode(&self.tree);
        if let Some(cut) = self.cut {
            bytes.truncate(usize::try_from(cut).unwrap_or(usize::MAX));
        }
        bytes
    }
}

/// A file that breaks exactly this rule, drawn from a seed; `None` for the rules that only a file of
/// over a gigabyte can break (see [`super::large`]).
#[must_use]
pub fn breaking(rule: &Rule, seed: u64) -> Option<Broken> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let config = Config::draw(&mut rng);
    let builder = config.builder(&mut rng);
    let mut maker = Maker { builder, rng };
    maker
        .truncated(rule)
        .or_else(|| maker.broken_header(rule))
        .or_else(|| maker.broken_metadata(rule))
        .or_else(|| maker.broken_tensors(rule))
        .or_else(|| maker.broken_data(rule))
        .or_else(|| maker.broken_semantics(rule))
}

struct Maker {
    builder: Builder,
    rng: ChaCha8Rng,
}

/// Plain types, which need no quantization version.
const F32: u32 = 0;
const Q4_0: u32 = 2;
const Q8_1: u32 = 9;
const I8: u32 = 24;
const F64: u32 = 28;

impl Maker {
    fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.rng.random_range(0..choices.len())]
    }

    fn finish(&self) -> Broken {
        Broken { tree: self.builder.finish(), cut: None }
    }

    fn with(&mut self, pair: Pair) -> Broken {
        self.builder.set(pair);
        self.finish()
    }

    /// Adds a last tensor of its own name.
    fn with_tensor(&mut self, type_id: u32, dims: &[u64]) -> Broken {
        if TENSOR_TYPES.get(type_id as usize).is_some_and(|ty| ty.quantized) {
            self.builder.set(pair("general.quantization_version", scalar(ValueType::U32, 2)));
        }
        self.builder.add(tensor("last", type_id, dims));
        self.finish()
    }

    /// Changes the last tensor, which is added first.
    fn edit_last(&mut self, edit: impl FnOnce(&mut TensorInfo, &mut ChaCha8Rng)) -> Broken {
        let mut last = tensor("last", F32, &[8]);
        edit(&mut last, &mut self.rng);
        self.builder.add(last);
        self.finish()
    }

    /// Makes sure that there is a pair whose value is a number, a string, an array of numbers and one
    /// of strings, and a tensor with dimensions, so that every field can be cut.
    fn one_of_each(&mut self) {
        self.builder.set(pair("cut.number", scalar(ValueType::U64, 7)));
        self.builder.set(pair("cut.string", string("text")));
        self.builder.set(pair("cut.numbers", array(fixed_array(ValueType::U16, &[1, 2, 3]))));
        self.builder.set(pair("cut.strings", string_array(&["a", "bc"])));
        self.builder.add(tensor("cut", F32, &[4, 2]));
    }

    /// Cuts a file inside a field.
    fn truncated(&mut self, rule: &Rule) -> Option<Broken> {
        let inside: fn(&Field) -> bool = match rule {
            r if *r == header::MAGIC => {
                if self.rng.random_bool(0.5) {
                    return None; // a wrong byte instead
                }
                |field| matches!(field, Field::Magic)
            }
            r if *r == header::TRUNCATED => {
                |field| matches!(field, Field::Version | Field::TensorCount | Field::KvCount)
            }
            r if *r == metadata::KEY_TRUNCATED => |field| matches!(field, Field::Kv(_, KvPart::KeyLen | KvPart::Key)),
            r if *r == metadata::TYPE_TRUNCATED => |field| matches!(field, Field::Kv(_, KvPart::Type)),
            r if *r == metadata::VALUE_TRUNCATED => {
                self.builder.metadata.retain(|pair| matches!(pair.value, Value::Fixed(_)));
                |field| matches!(field, Field::Kv(_, KvPart::Value(_, ValuePart::Whole)))
            }
            r if *r == metadata::STRING_TRUNCATED => {
                self.builder.metadata.retain(|pair| matches!(pair.value, Value::String(_)));
                |field| matches!(field, Field::Kv(_, KvPart::Value(path, _)) if path.is_empty())
            }
            r if *r == metadata::ARRAY_TRUNCATED || *r == metadata::ELEMENTS_TRUNCATED => {
                self.builder.metadata.retain(|pair| matches!(pair.value, Value::Array(_)));
                if *r == metadata::ARRAY_TRUNCATED {
                    |field| matches!(field, Field::Kv(_, KvPart::Value(p, ValuePart::ElementType | ValuePart::Len)) if p.is_empty())
                } else {
                    |field| match field {
                        Field::Kv(_, KvPart::Value(path, part)) => !path.is_empty() || *part == ValuePart::Elements,
                        _ => false,
                    }
                }
            }
            r if *r == tensors::NAME_TRUNCATED => {
                |field| matches!(field, Field::Tensor(_, TensorPart::NameLen | TensorPart::Name))
            }
            r if *r == tensors::N_DIMS_TRUNCATED => |field| matches!(field, Field::Tensor(_, TensorPart::NDims)),
            r if *r == tensors::DIMS_TRUNCATED => |field| matches!(field, Field::Tensor(_, TensorPart::Dim(_))),
            r if *r == tensors::TYPE_TRUNCATED => |field| matches!(field, Field::Tensor(_, TensorPart::Type)),
            r if *r == tensors::OFFSET_TRUNCATED => |field| matches!(field, Field::Tensor(_, TensorPart::Offset)),
            _ => return None,
        };
        let only = [
            &metadata::VALUE_TRUNCATED,
            &metadata::STRING_TRUNCATED,
            &metadata::ARRAY_TRUNCATED,
            &metadata::ELEMENTS_TRUNCATED,
        ];
        if only.contains(&rule) {
            // Keep the kind of value the rule is about, and nothing behind it.
            let wanted = match rule {
                r if *r == metadata::VALUE_TRUNCATED => pair("cut", scalar(ValueType::U64, 7)),
                r if *r == metadata::STRING_TRUNCATED => pair("cut", string("text")),
                _ => pair("cut", array(fixed_array(ValueType::U16, &[1, 2, 3]))),
            };
            self.builder.set(wanted);
            if *rule == metadata::ELEMENTS_TRUNCATED {
                self.builder.set(pair("cut.strings", string_array(&["a", "bc"])));
            }
        } else {
            self.one_of_each();
        }
        let tree = self.builder.finish();
        let spans: Vec<_> = spans(&tree, 0).into_iter().filter(|span| inside(&span.field)).collect();
        let span = &spans[self.rng.random_range(0..spans.len())];
        Some(Broken { tree, cut: Some(self.rng.random_range(span.range.clone())) })
    }

    fn broken_header(&mut self, rule: &Rule) -> Option<Broken> {
        Some(match rule {
            r if *r == header::MAGIC => {
                let mut broken = self.finish();
                let at = self.rng.random_range(0..4);
                broken.tree.magic[at] ^= self.rng.random_range(1..=255);
                broken
            }
            r if *r == header::BYTE_ORDER => {
                self.builder.byte_order = ByteOrder::Big;
                self.finish()
            }
            r if *r == header::VERSION_ZERO => self.with_version(0),
            r if *r == header::VERSION_1 => self.with_version(1),
            r if *r == header::VERSION_2 => self.with_version(2),
            r if *r == header::VERSION_FUTURE => {
                let version = self.pick(&[4, 5, 255, 256, 0x2_0003, 0xFFFF_FFFF]);
                self.with_version(version)
            }
            r if *r == header::TENSOR_COUNT_RANGE => {
                let mut broken = self.finish();
                broken.tree.tensor_count = self.pick(&[GGML_MAX_TENSORS + 1, 1 << 61, 1 << 63, u64::MAX]);
                broken
            }
            r if *r == header::KV_COUNT_RANGE => {
                let mut broken = self.finish();
                broken.tree.kv_count = self.pick(&[GGML_MAX_PAIRS + 1, 1 << 61, 1 << 63, u64::MAX]);
                broken
            }
            _ => return None,
        })
    }

    fn with_version(&mut self, version: u32) -> Broken {
        self.builder.version = version;
        self.finish()
    }

    fn broken_metadata(&mut self, rule: &Rule) -> Option<Broken> {
        let alignment = |ty, bits| pair("general.alignment", scalar(ty, bits));
        let seven = || scalar(ValueType::U8, 7);
        Some(match rule {
            r if *r == metadata::KEY_EMPTY => self.with(pair("", seven())),
            r if *r == metadata::KEY_ASCII => {
                let key = self.pick(&["naïve.key", "x.é", "模型"]);
                self.with(pair(key, seven()))
            }
            r if *r == metadata::KEY_SNAKE_CASE => {
                let key = self.pick(&["Upper", "x.with-hyphen", "x..y", ".x", "x.", "a b", "x.nul\0"]);
                self.with(pair(key, seven()))
            }
            r if *r == metadata::KEY_LENGTH => self.with(pair("k".repeat(65_536), seven())),
            r if *r == metadata::KEY_DUPLICATE => {
                let at = self.rng.random_range(1..=self.builder.metadata.len());
                self.builder.metadata.insert(at, pair("x.twice", seven()));
                self.builder.metadata.push(pair("x.twice", string("again")));
                self.finish()
            }
            r if *r == metadata::TYPE_KNOWN => {
                let type_id = self.pick(&[13, 14, 255, 0x8000_0000, 0xFFFF_FFFF]);
                self.with(pair("x.odd", (type_id, Value::Fixed(vec![0; 8]))))
            }
            r if *r == metadata::ARRAY_TYPE_KNOWN => {
                let type_id = self.pick(&[13, 14, 255, 0x8000_0000, 0xFFFF_FFFF]);
                let odd = Array { type_id, len: 1, elements: Elements::Fixed(vec![0; 8]) };
                self.with(pair("x.odd", array(odd)))
            }
            r if *r == metadata::ARRAY_NESTED => {
                let depth = self.rng.random_range(2..=4);
                self.with(pair("x.nested", array(nested(depth))))
            }
            r if *r == metadata::ARRAY_DEPTH => {
                let depth = MAX_NESTING + self.rng.random_range(1..=20usize);
                self.with(pair("x.nested", array(nested(depth))))
            }
            r if *r == metadata::BOOL_VALUE => {
                let byte = u64::from(self.rng.random_range(2..=255u8));
                if self.rng.random_bool(0.5) {
                    self.with(pair("x.flag", scalar(ValueType::Bool, byte)))
                } else {
                    self.with(pair("x.flags", array(fixed_array(ValueType::Bool, &[1, 0, byte]))))
                }
            }
            r if *r == metadata::STRING_UTF8 => {
                let text = self.pick(&[&b"\xFF"[..], b"a\xC0\x80", b"\xED\xA0\x80", b"cut \xE2\x96"]);
                if self.rng.random_bool(0.5) {
                    self.with(pair("x.text", string(text)))
                } else {
                    self.with(pair("x.texts", string_array(&[b"fine", text])))
                }
            }
            r if *r == metadata::ALIGN_TYPE => {
                let new = match self.rng.random_range(0..4) {
                    0 => alignment(ValueType::U64, 32),
                    1 => alignment(ValueType::I32, 32),
                    2 => pair("general.alignment", string("32")),
                    _ => pair("general.alignment", array(fixed_array(ValueType::U32, &[32]))),
                };
                self.with(new)
            }
            r if *r == metadata::ALIGN_ZERO => self.with(alignment(ValueType::U32, 0)),
            r if *r == metadata::ALIGN_MULTIPLE => {
                let value = self.pick(&[1, 2, 4]);
                self.with(alignment(ValueType::U32, value))
            }
            r if *r == metadata::ALIGN_POWER => {
                let value = self.pick(&[24, 40, 48, 96, 1000]);
                self.with(alignment(ValueType::U32, value))
            }
            _ => return None,
        })
    }

    fn broken_tensors(&mut self, rule: &Rule) -> Option<Broken> {
        Some(match rule {
            r if *r == tensors::NAME_LENGTH => self.edit_last(|last, rng| {
                last.name = RawString::new(vec![b'n'; rng.random_range(65..200)]);
            }),
            r if *r == tensors::NAME_TERMINATOR => self.edit_last(|last, _| last.name = RawString::new(vec![b'n'; 64])),
            r if *r == tensors::NAME_UTF8 => self.edit_last(|last, _| last.name = RawString::new(&b"w\xFFight"[..])),
            r if *r == tensors::NAME_DUPLICATE => {
                self.builder.add(tensor("twice", F32, &[4]));
                self.edit_last(|last, rng| {
                    last.name = RawString::new(if rng.random_bool(0.5) { &b"twice"[..] } else { b"twice\0x" });
                })
            }
            r if *r == tensors::N_DIMS_MAX => {
                let n = self.rng.random_range(5..9);
                self.with_tensor(F32, &vec![1; n])
            }
            r if *r == tensors::DIM_SIGNED => {
                let dim = self.pick(&[1 << 63, u64::MAX]);
                self.with_tensor(F32, &[dim, 0])
            }
            r if *r == tensors::ELEMENTS_RANGE => {
                const MAX: u64 = i64::MAX as u64;
                let dims = self.pick(&[
                    &[MAX][..],
                    &[1, MAX],
                    &[(1 << 62) - 1, 2],
                    &[MAX, 3],
                    &[4_194_305, 4_194_305, 211_106_198_978_564],
                ]);
                self.with_tensor(I8, dims)
            }
            r if *r == tensors::ELEMENTS_WRAP => {
                // Products of exactly 2^64 or a multiple: they count as nothing, so no data is missing.
                let dims = self.pick(&[&[1 << 32, 1 << 32][..], &[1 << 62, 4], &[1 << 62, 1 << 62, 1 << 62, 1 << 62]]);
                let type_id = self.pick(&[I8, F32]);
                self.with_tensor(type_id, dims)
            }
            r if *r == tensors::TYPE_KNOWN => {
                let type_id = self.pick(&[43, 44, 107, 0x7FFF_FFFF, 0xFFFF_FFFF]);
                self.with_tensor(type_id, &[256])
            }
            r if *r == tensors::TYPE_REMOVED => {
                let gone: Vec<u32> = TENSOR_TYPES.iter().filter(|ty| !ty.has_layout()).map(|ty| ty.id).collect();
                let type_id = self.pick(&gone);
                self.with_tensor(type_id, &[256])
            }
            r if *r == tensors::TYPE_DOCUMENT => {
                let newer: Vec<u32> =
                    TENSOR_TYPES.iter().filter(|ty| ty.status == TypeStatus::Newer).map(|ty| ty.id).collect();
                let type_id = self.pick(&newer);
                self.with_tensor(type_id, &[256])
            }
            r if *r == tensors::BLOCK_MULTIPLE => {
                let dims = self.pick(&[&[31][..], &[33], &[1], &[]]);
                self.with_tensor(Q4_0, dims)
            }
            r if *r == tensors::BYTES_RANGE => self.with_tensor(F64, &[1 << 61]),
            r if *r == tensors::BYTES_WRAP => self.with_tensor(Q8_1, &[1 << 62]),
            _ => return None,
        })
    }

    fn broken_data(&mut self, rule: &Rule) -> Option<Broken> {
        let most = self.builder.tensors.len();
        Some(match rule {
            r if *r == layout::OFFSET_ALIGNED => {
                let mut broken = self.with_tensor(F32, &[8]);
                broken.tree.tensors[most].offset += self.rng.random_range(1..8u64);
                broken.tree.rest.to_mut().extend([0; 8]);
                broken
            }
            r if *r == layout::OFFSET_CONTIGUOUS => {
                let gap = 512 * self.rng.random_range(1..4u64);
                let mut broken = self.with_tensor(F32, &[8]);
                broken.tree.tensors[most].offset += gap;
                broken.tree.rest.to_mut().extend(std::iter::repeat_n(0, usize::try_from(gap).unwrap_or(0)));
                broken
            }
            r if *r == layout::PADDING_WRAPS => {
                self.builder.set(pair("general.alignment", scalar(ValueType::U32, 32)));
                self.with_tensor(F64, &[(1 << 61) - 1])
            }
            r if *r == layout::TOTAL_RANGE => {
                for name in ["a", "b", "c"] {
                    self.builder.add(tensor(name, I8, &[1 << 62]));
                }
                self.with_tensor(I8, &[1 << 62])
            }
            r if *r == layout::DATA_START => {
                let tree = self.with_header_padding().tree;
                let places = Places::of(&tree, 0);
                Broken { cut: Some(self.rng.random_range(places.table_end..places.padding_end)), tree }
            }
            r if *r == layout::PADDING_ZERO => {
                let mut broken = self.with_header_padding();
                let at = self.rng.random_range(0..broken.tree.padding.len());
                broken.tree.padding[at] = self.rng.random_range(1..=255);
                broken
            }
            r if *r == data::EXTENT => {
                let tree = self.with_tensor(F32, &[8]).tree;
                let end = encode(&tree).len() as u64;
                let data = end - tree.rest.len() as u64 + tree.tensors[most].offset;
                Broken { cut: Some(self.rng.random_range(data..data + 32)), tree }
            }
            r if *r == data::MEMORY => {
                let dim = self.pick(&[1 << 33, 1 << 40, 1 << 61, 1 << 62]);
                self.with_tensor(I8, &[dim])
            }
            r if *r == data::CONTEXT_SIZE => {
                self.builder.tensors.clear();
                self.builder.set(pair("general.alignment", scalar(ValueType::U32, 32)));
                self.builder.add(tensor("first", F64, &[1 << 60]));
                self.with_tensor(F64, &[(1 << 60) - 4])
            }
            r if *r == data::FINAL_PADDING => {
                self.builder.set(pair("general.alignment", scalar(ValueType::U32, 32)));
                let tree = self.with_tensor(F32, &[3]).tree;
                let end = encode(&tree).len() as u64;
                Broken { cut: Some(self.rng.random_range(end - 20..end)), tree }
            }
            r if *r == data::PADDING_ZERO => {
                self.builder.set(pair("general.alignment", scalar(ValueType::U32, 32)));
                self.builder.add(tensor("padded", F32, &[3]));
                let mut broken = self.with_tensor(F32, &[8]);
                let data = usize::try_from(broken.tree.tensors[most].offset).unwrap_or(0) + 12;
                let at = data + self.rng.random_range(0..20usize);
                broken.tree.rest.to_mut()[at] = self.rng.random_range(1..=255);
                broken
            }
            _ => return None,
        })
    }

    /// A file with a tensor and at least one byte of padding before the data.
    fn with_header_padding(&mut self) -> Broken {
        let mut name = "last".to_owned();
        loop {
            self.builder.add(tensor(&name, F32, &[8]));
            let broken = self.finish();
            if !broken.tree.padding.is_empty() {
                return broken;
            }
            self.builder.tensors.pop();
            name.push('x');
        }
    }

    fn broken_semantics(&mut self, rule: &Rule) -> Option<Broken> {
        let tokens = || pair("tokenizer.ggml.tokens", string_array(&["a", "b", "c"]));
        let remove =
            |builder: &mut Builder, key: &str| builder.metadata.retain(|pair| pair.key.bytes != key.as_bytes());
        Some(match rule {
            r if *r == semantics::ARCHITECTURE_REQUIRED => {
                remove(&mut self.builder, "general.architecture");
                self.finish()
            }
            r if *r == semantics::ARCHITECTURE_CHARSET => {
                let name = self.pick(&["command-r", "gemma3n_text", "Llama", ""]);
                self.with(pair("general.architecture", string(name)))
            }
            r if *r == semantics::QUANTIZATION_VERSION_REQUIRED => {
                self.builder.add(tensor("last", Q4_0, &[32]));
                remove(&mut self.builder, "general.quantization_version");
                self.finish()
            }
            r if *r == semantics::LANGUAGES_ISO639 => {
                let code = self.pick(&["eng", "English", "e", "EN"]);
                self.with(pair("general.languages", string_array(&["de", code])))
            }
            r if *r == semantics::SCORES_LENGTH => {
                self.clear_tokenizer();
                self.builder.set(tokens());
                let scores = self.pick(&[&[0, 0][..], &[0; 4], &[]]);
                self.with(pair("tokenizer.ggml.scores", array(fixed_array(ValueType::F32, scores))))
            }
            r if *r == semantics::TOKEN_TYPE_LENGTH => {
                self.clear_tokenizer();
                self.builder.set(tokens());
                let types = self.pick(&[&[1, 1][..], &[1; 4], &[]]);
                self.with(pair("tokenizer.ggml.token_type", array(fixed_array(ValueType::I32, types))))
            }
            r if *r == semantics::TOKEN_TYPE_VALUES => {
                self.clear_tokenizer();
                self.builder.set(tokens());
                let odd = self.pick(&[0, 7, 0xFFFF_FFFF]);
                self.with(pair("tokenizer.ggml.token_type", array(fixed_array(ValueType::I32, &[1, odd, 3]))))
            }
            _ => {
                let row = KEYS.iter().find(|row| row.own_rule() == Some(rule))?;
                if row.name.starts_with("tokenizer.") {
                    self.clear_tokenizer();
                }
                let value = self.wrong_type(row.ty);
                self.with(pair(row.example(), value))
            }
        })
    }

    fn clear_tokenizer(&mut self) {
        self.builder.metadata.retain(|pair| !pair.key.bytes.starts_with(b"tokenizer."));
    }

    /// A value of another type than the documented one: of a near one, where there is one.
    fn wrong_type(&mut self, ty: KeyType) -> (u32, Value) {
        let bits = self.rng.next_u64() % 100;
        match ty {
            KeyType::Scalar(ValueType::String) => {
                if self.rng.random_bool(0.5) {
                    scalar(ValueType::U32, bits)
                } else {
                    string_array(&["x"])
                }
            }
            KeyType::Scalar(_) => {
                let near = self.pick(&[ValueType::U64, ValueType::I32, ValueType::U16, ValueType::F32]);
                scalar(near, bits)
            }
            KeyType::Array(ValueType::String) => {
                if self.rng.random_bool(0.5) {
                    string("x")
                } else {
                    array(fixed_array(ValueType::U8, &[1]))
                }
            }
            KeyType::Array(ValueType::F32) => array(fixed_array(ValueType::F64, &[0, 0])),
            KeyType::Array(_) => array(fixed_array(ValueType::U32, &[1, 1])),
        }
    }
}

/// An array in an array in an array .., `depth` of them, the innermost with one byte.
#[must_use]
pub fn nested(depth: usize) -> Array {
    (1..depth).fold(fixed_array(ValueType::U8, &[7]), |inner, _| Array {
        type_id: ValueType::Array.id(),
        len: 1,
        elements: Elements::Arrays(vec![inner]),
    })
}
