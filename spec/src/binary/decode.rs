//! Bytes to tree.

use std::borrow::Cow;

use super::places::{Places, Span};
use crate::field::{Field, Finding, KvPart, TensorPart, ValuePart};
use crate::limits::{GGML_MAX_PAIRS, GGML_MAX_TENSORS, MAGIC, MAX_NESTING, VERSION};
use crate::profile::KeyLookup;
use crate::rules::{Checks, Rule, header, metadata, tensors};
use crate::syntax::{Array, ByteOrder, Elements, Pair, RawString, TensorInfo, Tree, Value, length_width};
use crate::types::ValueType;
use crate::valid::layout::{alignment, pad};

/// The bytes to decode: the first part of an input, and how long the whole input is.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// The input from its first byte on, at least as far as it could be read.
    pub head: &'a [u8],
    /// The length of the whole input in bytes.
    pub len: u64,
    /// Where in the input the file starts.
    pub base: u64,
}

impl<'a> Source<'a> {
    /// A whole file in memory.
    #[must_use]
    pub fn whole(bytes: &'a [u8]) -> Self {
        Self { head: bytes, len: bytes.len() as u64, base: 0 }
    }

    /// A file that starts `base` bytes into `bytes` and reaches to their end.
    #[must_use]
    pub fn embedded(bytes: &'a [u8], base: u64) -> Self {
        Self { base, ..Self::whole(bytes) }
    }
}

/// How to decode.
#[derive(Clone, Debug)]
pub struct Options {
    /// Which rules are looked at.
    pub checks: Checks,
    /// How `general.alignment` is looked up, which tells where the tensor data starts.
    pub lookup: KeyLookup,
}

impl Default for Options {
    fn default() -> Self {
        Self { checks: Checks::all(), lookup: KeyLookup::Exact }
    }
}

/// What came out of decoding.
#[derive(Clone, Debug)]
pub struct Decoded<'a> {
    /// The tree; `None` if not even the header is there. Encoding it gives the head back, byte for byte.
    pub tree: Option<Tree<'a>>,
    /// Where its parts lie.
    pub places: Places,
    /// What stopped or disturbed decoding, in reading order.
    pub findings: Vec<Finding>,
    /// Whether everything that was declared up to the end of the tensor table was read.
    pub complete: bool,
}

/// The head ends before the header does, although the input goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NeedMore {
    /// The least number of bytes the head must have.
    pub at_least: u64,
}

/// Decodes a whole file, looking at every rule.
#[must_use]
pub fn decode(bytes: &[u8]) -> Decoded<'_> {
    decode_whole(Source::whole(bytes), &Options::default())
}

fn decode_whole<'a>(source: Source<'a>, options: &Options) -> Decoded<'a> {
    match decode_with(source, options) {
        Ok(decoded) => decoded,
        Err(NeedMore { .. }) => unreachable!("the head is the whole input"),
    }
}

/// Decodes with options.
///
/// # Errors
///
/// [`NeedMore`] if the head is not the whole input and the header goes on behind it.
pub fn decode_with<'a>(source: Source<'a>, options: &Options) -> Result<Decoded<'a>, NeedMore> {
    let mut decoder = Decoder {
        source,
        checks: &options.checks,
        order: ByteOrder::Little,
        wide: 8,
        at: source.base,
        keep_from: source.base,
        findings: Vec::new(),
        whole: None,
    };
    let mut tree = None;
    let complete = match decoder.file(&mut tree) {
        Ok(()) => true,
        Err(Halt::Stop) => false,
        Err(Halt::Need(at_least)) => return Err(NeedMore { at_least }),
    };
    let mut places = Places { base: source.base, ..Places::default() };
    if let Some(tree) = &mut tree {
        let mut from = decoder.keep_from;
        if complete {
            let start = pad(u128::from(from - source.base), alignment(tree, options.lookup)) + u128::from(source.base);
            let end = u64::try_from(start).unwrap_or(u64::MAX).min(source.head.len() as u64).max(from);
            tree.padding = slice(source.head, from, end).to_vec();
            from = end;
        }
        tree.rest = Cow::Borrowed(slice(source.head, from, source.head.len() as u64));
        places = Places::of(tree, source.base);
    }
    Ok(Decoded { tree, places, findings: decoder.findings, complete })
}

/// The fields of the pair or tensor info in which decoding stopped, as far as they are whole, in file order, end
/// to end; none if it stopped elsewhere. `len` is the length of the whole input in bytes.
#[must_use]
pub fn spans_of_unfinished(decoded: &Decoded<'_>, len: u64) -> Vec<Span> {
    let (Some(tree), Some(last)) = (&decoded.tree, decoded.findings.last()) else { return Vec::new() };
    let start = decoded.places.padding_end;
    let checks = Checks::all();
    let mut decoder = Decoder {
        source: Source { head: &tree.rest, len: len.saturating_sub(start), base: 0 },
        checks: &checks,
        order: tree.byte_order,
        wide: tree.length_width(),
        at: 0,
        keep_from: 0,
        findings: Vec::new(),
        whole: Some(Vec::new()),
    };
    // It stops where it stopped: what it reads is here for its places alone.
    match last.field {
        Field::Kv(i, _) if !decoded.complete && i == tree.metadata.len() => drop(decoder.pair(i)),
        Field::Tensor(i, _) if !decoded.complete && i == tree.tensors.len() => drop(decoder.tensor(i)),
        _ => {}
    }
    let shifted = |span: Span| Span { range: span.range.start + start..span.range.end + start, ..span };
    decoder.whole.into_iter().flatten().map(shifted).collect()
}

/// Bytes of the head; offsets that came from the head fit `usize`.
fn slice(head: &[u8], start: u64, end: u64) -> &[u8] {
    let index = |at: u64| usize::try_from(at).unwrap_or(usize::MAX).min(head.len());
    &head[index(start)..index(end)]
}

/// Why decoding does not go on.
enum Halt {
    /// A fault, or the stated fallback of a rule that is off.
    Stop,
    /// The head is too short; it must have at least this many bytes.
    Need(u64),
}

struct Decoder<'a, 'c> {
    source: Source<'a>,
    checks: &'c Checks,
    order: ByteOrder,
    wide: usize,
    at: u64,
    /// Where the first byte lies that is not in the tree yet.
    keep_from: u64,
    findings: Vec<Finding>,
    /// The fields that were read, if anybody wants them: there may be millions.
    whole: Option<Vec<Span>>,
}

impl<'a> Decoder<'a, '_> {
    fn file(&mut self, tree: &mut Option<Tree<'a>>) -> Result<(), Halt> {
        let (header, version_at) = self.header()?;
        let tree = tree.insert(header);
        self.keep_from = self.at;
        self.judge_header(tree, version_at)?;

        if tree.kv_count <= GGML_MAX_PAIRS {
            for i in 0..tree.kv_count {
                let pair = self.pair(index(i))?;
                tree.metadata.push(pair);
                self.keep_from = self.at;
            }
        }
        if tree.tensor_count <= GGML_MAX_TENSORS {
            for i in 0..tree.tensor_count {
                let tensor = self.tensor(index(i))?;
                tree.tensors.push(tensor);
                self.keep_from = self.at;
            }
        }
        Ok(())
    }

    fn header(&mut self) -> Result<(Tree<'a>, u64), Halt> {
        let start = self.at;
        let magic = match self.take(4) {
            Ok(magic) => magic,
            Err(missing) => {
                if let Missing::InHead(at_least) = missing {
                    return Err(Halt::Need(at_least));
                }
                if (self.source.head.len() as u64) < self.source.len {
                    // What is there is told, so it has to be seen.
                    return Err(Halt::Need(self.source.len));
                }
                let found = slice(self.source.head, start, self.source.len);
                self.magic_fault(found)?;
                let end = self.source.len.max(start);
                return Err(self.stop(&header::TRUNCATED, end..end, Field::Version, count_bytes(4), "nothing".into()));
            }
        };
        // Of a short file that starts wrong, the start is what is wrong.
        const REST_OF_HEADER: u64 = 20;
        if magic != MAGIC && self.left() < REST_OF_HEADER {
            self.magic_fault(magic)?;
        }
        let version_at = self.at;
        let word = self.fixed(&header::TRUNCATED, 4, || Field::Version)?;
        let little = u32::try_from(ByteOrder::Little.number(word)).unwrap_or(0);
        if little != 0 && little & 0xFFFF == 0 {
            self.order = ByteOrder::Big;
        }
        let version = u32::try_from(self.order.number(word)).unwrap_or(0);
        self.wide = length_width(version);
        let tensor_count = self.count(&header::TRUNCATED, || Field::TensorCount)?;
        let kv_count = self.count(&header::TRUNCATED, || Field::KvCount)?;
        let tree = Tree {
            byte_order: self.order,
            magic: [magic[0], magic[1], magic[2], magic[3]],
            version,
            tensor_count,
            kv_count,
            ..Tree::default()
        };
        Ok((tree, version_at))
    }

    /// The rules of the magic and header stages that need no more than the header.
    fn judge_header(&mut self, tree: &Tree<'_>, version_at: u64) -> Result<(), Halt> {
        if tree.magic != MAGIC {
            self.magic_fault(&tree.magic)?;
        }
        let version = version_at..version_at + 4;
        if tree.byte_order == ByteOrder::Big {
            let word = u64::from(tree.version.swap_bytes());
            self.note(&header::BYTE_ORDER, version.clone(), Field::Version, "a little-endian version".into(), || {
                format!("0x{word:08X}, which is version {} in big-endian order", tree.version)
            });
        }
        let expected = || format!("version {VERSION}");
        let actual = || format!("version {}", tree.version);
        match tree.version {
            0 => self.fault(&header::VERSION_ZERO, version, Field::Version, expected(), actual)?,
            1 => self.note(&header::VERSION_1, version, Field::Version, expected(), actual),
            2 => self.note(&header::VERSION_2, version, Field::Version, expected(), actual),
            VERSION => {}
            _ => self.fault(&header::VERSION_FUTURE, version, Field::Version, expected(), actual)?,
        }
        let tensor_count = version_at + 4..version_at + 4 + self.wide as u64;
        let kv_count = tensor_count.end..tensor_count.end + self.wide as u64;
        for (rule, count, max, span, field) in [
            (&header::TENSOR_COUNT_RANGE, tree.tensor_count, GGML_MAX_TENSORS, tensor_count, Field::TensorCount),
            (&header::KV_COUNT_RANGE, tree.kv_count, GGML_MAX_PAIRS, kv_count, Field::KvCount),
        ] {
            if count > max {
                self.fault(rule, span, field, format!("at most {max}"), || count.to_string())?;
            }
        }
        Ok(())
    }

    fn magic_fault(&mut self, found: &[u8]) -> Result<(), Halt> {
        let base = self.source.base;
        self.fault(&header::MAGIC, base..base + found.len() as u64, Field::Magic, hex(&MAGIC), || {
            if found.is_empty() { "nothing: the input is empty".to_owned() } else { hex(found) }
        })
    }

    fn pair(&mut self, i: usize) -> Result<Pair, Halt> {
        let kv = |part: fn() -> KvPart| move || Field::Kv(i, part());
        let key = self.string(&metadata::KEY_TRUNCATED, kv(|| KvPart::KeyLen), kv(|| KvPart::Key))?;
        let type_at = self.at;
        let type_id = self.word(&metadata::TYPE_TRUNCATED, kv(|| KvPart::Type))?;
        let here = |part: ValuePart| move || value_field(i, &[], part);
        let value = match ValueType::from_id(type_id) {
            None => {
                self.type_fault(&metadata::TYPE_KNOWN, type_at, kv(|| KvPart::Type), type_id)?;
                Value::Fixed(Vec::new())
            }
            Some(ValueType::String) => {
                Value::String(self.string(&metadata::STRING_TRUNCATED, here(ValuePart::Len), here(ValuePart::Whole))?)
            }
            Some(ValueType::Array) => Value::Array(self.array(i, &mut Vec::new())?),
            Some(fixed) => {
                let size = fixed.size().unwrap_or(0) as u64;
                Value::Fixed(self.fixed(&metadata::VALUE_TRUNCATED, size, here(ValuePart::Whole))?.to_vec())
            }
        };
        Ok(Pair { key, type_id, value })
    }

    /// Recursion ends at [`MAX_NESTING`] levels.
    fn array(&mut self, pair: usize, path: &mut Vec<usize>) -> Result<Array, Halt> {
        let type_at = self.at;
        let type_id = self.word(&metadata::ARRAY_TRUNCATED, || value_field(pair, path, ValuePart::ElementType))?;
        let len_at = self.at;
        let len = self.count(&metadata::ARRAY_TRUNCATED, || value_field(pair, path, ValuePart::Len))?;
        let len_field = || value_field(pair, path, ValuePart::Len);

        let Some(ty) = ValueType::from_id(type_id) else {
            let field = || value_field(pair, path, ValuePart::ElementType);
            self.type_fault(&metadata::ARRAY_TYPE_KNOWN, type_at, field, type_id)?;
            return Ok(Array { type_id, len, elements: Elements::Fixed(Vec::new()) });
        };
        // The least each element takes bounds the count before anything is read or reserved.
        let least = match ty {
            ValueType::String => self.wide as u64,
            ValueType::Array => 4 + self.wide as u64,
            fixed => fixed.size().unwrap_or(1) as u64,
        };
        let left = self.left();
        if u128::from(len) * u128::from(least) > u128::from(left) {
            return Err(self.stop(
                &metadata::ELEMENTS_TRUNCATED,
                len_at..self.at,
                len_field(),
                format!("at most {}, with {} left", left / least, count_bytes(left)),
                len.to_string(),
            ));
        }
        let elements = match ty {
            ValueType::String => {
                let mut strings = Vec::new();
                for j in 0..len {
                    path.push(index(j));
                    let len = || value_field(pair, path, ValuePart::Len);
                    let bytes = || value_field(pair, path, ValuePart::Whole);
                    let string = self.string(&metadata::ELEMENTS_TRUNCATED, len, bytes)?;
                    path.pop();
                    strings.push(string);
                }
                Elements::Strings(strings)
            }
            ValueType::Array if len > 0 && path.len() + 1 >= MAX_NESTING => {
                return Err(self.stop(
                    &metadata::ARRAY_DEPTH,
                    type_at..type_at + 4,
                    value_field(pair, path, ValuePart::ElementType),
                    format!("arrays at most {MAX_NESTING} deep"),
                    "another level".to_owned(),
                ));
            }
            ValueType::Array => {
                let mut arrays = Vec::new();
                for j in 0..len {
                    path.push(index(j));
                    let inner = self.array(pair, path)?;
                    path.pop();
                    arrays.push(inner);
                }
                Elements::Arrays(arrays)
            }
            _ => {
                let field = || value_field(pair, path, ValuePart::Elements);
                Elements::Fixed(self.fixed(&metadata::ELEMENTS_TRUNCATED, len * least, field)?.to_vec())
            }
        };
        Ok(Array { type_id, len, elements })
    }

    fn tensor(&mut self, i: usize) -> Result<TensorInfo, Halt> {
        let part = |part: TensorPart| move || Field::Tensor(i, part);
        let name = self.string(&tensors::NAME_TRUNCATED, part(TensorPart::NameLen), part(TensorPart::Name))?;
        let n_dims_at = self.at;
        let n_dims = self.word(&tensors::N_DIMS_TRUNCATED, part(TensorPart::NDims))?;
        let left = self.left();
        if u64::from(n_dims) * self.wide as u64 > left {
            return Err(self.stop(
                &tensors::DIMS_TRUNCATED,
                n_dims_at..self.at,
                Field::Tensor(i, TensorPart::NDims),
                format!("at most {}, with {} left", left / self.wide as u64, count_bytes(left)),
                n_dims.to_string(),
            ));
        }
        let mut dims = Vec::new();
        for j in 0..n_dims {
            dims.push(self.count(&tensors::DIMS_TRUNCATED, part(TensorPart::Dim(index(u64::from(j)))))?);
        }
        let type_id = self.word(&tensors::TYPE_TRUNCATED, part(TensorPart::Type))?;
        let offset = self.fixed(&tensors::OFFSET_TRUNCATED, 8, part(TensorPart::Offset))?;
        Ok(TensorInfo { name, n_dims, dims, type_id, offset: self.order.number(offset) })
    }

    fn string(
        &mut self,
        rule: &'static Rule,
        len_field: impl FnOnce() -> Field + Copy,
        field: impl FnOnce() -> Field,
    ) -> Result<RawString, Halt> {
        let len_at = self.at;
        let len = self.count(rule, len_field)?;
        let left = self.left();
        if len > left {
            let expected = format!("at most {left}, the bytes left");
            return Err(self.stop(rule, len_at..self.at, len_field(), expected, len.to_string()));
        }
        let bytes = self.fixed(rule, len, field)?.to_vec();
        Ok(RawString { len, bytes })
    }

    /// A count or length.
    fn count(&mut self, rule: &'static Rule, field: impl FnOnce() -> Field) -> Result<u64, Halt> {
        let order = self.order;
        Ok(order.number(self.fixed(rule, self.wide as u64, field)?))
    }

    /// A 32-bit number.
    fn word(&mut self, rule: &'static Rule, field: impl FnOnce() -> Field) -> Result<u32, Halt> {
        let order = self.order;
        Ok(u32::try_from(order.number(self.fixed(rule, 4, field)?)).unwrap_or(0))
    }

    /// `size` bytes, or the fault that they are missing.
    fn fixed(&mut self, rule: &'static Rule, size: u64, field: impl FnOnce() -> Field) -> Result<&'a [u8], Halt> {
        match self.take(size) {
            Ok(bytes) => {
                if let Some(whole) = self.whole.as_mut().filter(|_| size > 0) {
                    whole.push(Span { field: field(), range: self.at - size..self.at });
                }
                Ok(bytes)
            }
            Err(Missing::InHead(at_least)) => Err(Halt::Need(at_least)),
            Err(Missing::InInput) => {
                let left = self.left();
                let span = self.at..self.at + left;
                Err(self.stop(rule, span, field(), count_bytes(size), format!("{} left", count_bytes(left))))
            }
        }
    }

    /// Bytes of the input that are not read yet.
    fn left(&self) -> u64 {
        self.source.len.saturating_sub(self.at)
    }

    fn take(&mut self, size: u64) -> Result<&'a [u8], Missing> {
        if size > self.left() {
            return Err(Missing::InInput);
        }
        let end = self.at + size;
        if end > self.source.head.len() as u64 {
            return Err(Missing::InHead(end));
        }
        let bytes = slice(self.source.head, self.at, end);
        self.at = end;
        Ok(bytes)
    }

    fn type_fault(
        &mut self,
        rule: &'static Rule,
        at: u64,
        field: impl FnOnce() -> Field,
        type_id: u32,
    ) -> Result<(), Halt> {
        self.fault(rule, at..at + 4, field(), "a value type, 0 to 12".to_owned(), || type_id.to_string())
    }

    /// Decoding ends, with a finding if the rule is looked at.
    fn stop(
        &mut self,
        rule: &'static Rule,
        span: std::ops::Range<u64>,
        field: Field,
        expected: String,
        actual: String,
    ) -> Halt {
        self.note(rule, span, field, expected, || actual);
        Halt::Stop
    }

    /// A fault that decoding does not survive, unless the rule is off.
    fn fault(
        &mut self,
        rule: &'static Rule,
        span: std::ops::Range<u64>,
        field: Field,
        expected: String,
        actual: impl FnOnce() -> String,
    ) -> Result<(), Halt> {
        let stop = self.checks.has(rule);
        self.note(rule, span, field, expected, actual);
        if stop { Err(Halt::Stop) } else { Ok(()) }
    }

    /// A finding, if the rule is looked at.
    fn note(
        &mut self,
        rule: &'static Rule,
        span: std::ops::Range<u64>,
        field: Field,
        expected: String,
        actual: impl FnOnce() -> String,
    ) {
        if self.checks.has(rule) {
            self.findings.push(Finding { rule, span, field, expected, actual: actual() });
        }
    }
}

enum Missing {
    /// The input ends.
    InInput,
    /// The head ends; it would have to have this many bytes.
    InHead(u64),
}

fn value_field(pair: usize, path: &[usize], part: ValuePart) -> Field {
    Field::Kv(pair, KvPart::Value(path.to_vec(), part))
}

/// An index for a name; on a host with small addresses a larger one could not be reached anyway.
fn index(i: u64) -> usize {
    usize::try_from(i).unwrap_or(usize::MAX)
}

fn count_bytes(n: u64) -> String {
    if n == 1 { "1 byte".to_owned() } else { format!("{n} bytes") }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect::<Vec<_>>().join(" ")
}
