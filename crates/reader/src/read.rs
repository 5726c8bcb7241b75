//! From the first byte to the last stage.

use gguf_spec::field::Field;
use gguf_spec::input::Input;
use gguf_spec::limits::{DEFAULT_ALIGNMENT, GGML_MAX_PAIRS, GGML_MAX_TENSORS, MAGIC, VERSION};
use gguf_spec::rules::{Stage, header, metadata, tensors};

use crate::cursor::{ByteOrder, Cursor};
use crate::elements::shown;
use crate::error::{First, Halt, end};
use crate::file::File;
use crate::index::Index;
use crate::metadata::{Alignment, pair};
use crate::policy::Policy;
use crate::tensors::{compared, tensor};
use crate::{data, layout, semantics};

/// Room for this many pairs or tensors is made at once, if so many are declared. Later room is made as
/// they come: a count is believed no further.
const AT_ONCE: u64 = 1024;

/// Reads as far as the policy says.
pub(crate) fn read<'a>(head: &'a [u8], input: &dyn Input, policy: Policy) -> Result<File<'a>, Halt> {
    let len = input.len().max(head.len() as u64);
    let mut cursor = Cursor { head, len, at: 0, order: ByteOrder::Little };
    let mut first = First::new(policy);
    let mut file = File { head, len, alignment: DEFAULT_ALIGNMENT, ..File::default() };

    magic(&mut cursor)?;
    if !policy.reaches(Stage::Header) {
        return Ok(file);
    }
    read_header(&mut cursor, &mut file, &mut first)?;
    if !policy.reaches(Stage::Metadata) {
        return Ok(file);
    }
    read_metadata(&mut cursor, &mut file, policy, &mut first)?;
    if !policy.reaches(Stage::TensorTable) {
        return Ok(file);
    }
    read_tensors(&mut cursor, &mut file, &mut first)?;
    if !policy.reaches(Stage::Layout) {
        return Ok(file);
    }
    let place = layout::check(&cursor, &file.tensors, file.alignment, input, &mut first)?;
    file.data = Some(place);
    if policy.reaches(Stage::Data) {
        data::check(&cursor, &file.tensors, &place, input, &mut first)?;
    }
    if policy.reaches(Stage::Semantics) {
        semantics::check(&file, &mut first)?;
    }
    Ok(file)
}

fn magic(cursor: &mut Cursor<'_>) -> Result<(), Halt> {
    let rule = &header::MAGIC;
    let found: [u8; 4] = cursor.field(rule, || Field::Magic)?;
    if found == MAGIC {
        return Ok(());
    }
    Err(end(rule, 0..4, Field::Magic, shown(&MAGIC, 4), shown(&found, 4)))
}

fn read_header(cursor: &mut Cursor<'_>, file: &mut File<'_>, first: &mut First) -> Result<(), Halt> {
    let truncated = &header::TRUNCATED;
    let word: [u8; 4] = cursor.field(truncated, || Field::Version)?;
    let little = u32::from_le_bytes(word);
    if little != 0 && little & 0xFFFF == 0 {
        cursor.order = ByteOrder::Big;
    }
    file.order = cursor.order;
    file.version = cursor.order.u32(word);
    // A header that is cut is judged by that alone, so that all of it is read before any of it is judged.
    let mut count = |field| {
        if file.version == 1 {
            cursor.u32_field(truncated, || field).map(u64::from)
        } else {
            cursor.u64_field(truncated, || field)
        }
    };
    file.tensor_count = count(Field::TensorCount)?;
    file.kv_count = count(Field::KvCount)?;
    check_header(cursor, file, first);
    // Other versions than 2 and 3 count for everybody: lengths have 64 bits from here on.
    first.settle()
}

fn check_header(cursor: &Cursor<'_>, file: &File<'_>, first: &mut First) {
    if file.order == ByteOrder::Big {
        let texts = || ("little-endian".to_owned(), "big-endian".to_owned());
        first.offer(&header::BYTE_ORDER, 4..8, || Field::Version, texts);
    }
    let rule = match file.version {
        0 => Some(&header::VERSION_ZERO),
        1 => Some(&header::VERSION_1),
        2 => Some(&header::VERSION_2),
        VERSION => None,
        _ => Some(&header::VERSION_FUTURE),
    };
    if let Some(rule) = rule {
        first.offer(rule, 4..8, || Field::Version, || (VERSION.to_string(), file.version.to_string()));
    }
    let most = |most: u64, count: u64| move || (format!("at most {most}"), count.to_string());
    let second = cursor.before(8);
    if file.tensor_count > GGML_MAX_TENSORS {
        let texts = most(GGML_MAX_TENSORS, file.tensor_count);
        first.offer(&header::TENSOR_COUNT_RANGE, second.start - 8..second.start, || Field::TensorCount, texts);
    }
    if file.kv_count > GGML_MAX_PAIRS {
        let texts = most(GGML_MAX_PAIRS, file.kv_count);
        first.offer(&header::KV_COUNT_RANGE, second, || Field::KvCount, texts);
    }
}

/// Room for some of `count` things.
fn room<T>(count: u64) -> Vec<T> {
    Vec::with_capacity(usize::try_from(count.min(AT_ONCE)).unwrap_or(0))
}

fn read_metadata(cursor: &mut Cursor<'_>, file: &mut File<'_>, policy: Policy, first: &mut First) -> Result<(), Halt> {
    let head = file.head;
    let mut alignment = Alignment::new(policy.lookup());
    file.pairs = room(file.kv_count);
    let mut ended = Ok(());
    while ended.is_ok() && !first.any() && (file.pairs.len() as u64) < file.kv_count {
        match pair(cursor, file.pairs.len(), &mut alignment, first) {
            Ok(place) => file.pairs.push(place),
            Err(halt) => ended = Err(halt),
        }
    }
    if matches!(ended, Err(Halt::NeedMore(_))) {
        return ended;
    }
    let ended = ended.map_err(|halt| unfinished(halt, first));
    file.metadata_end = cursor.at;
    file.alignment = alignment.value;
    file.keys = Index::new(file.pairs.len(), |i| file.pairs[i].key(head));
    if first.wants(&metadata::KEY_DUPLICATE)
        && let Some(i) = file.keys.first_twice(|i| file.pairs[i].key(head))
    {
        let (start, end) = (file.pairs[i].at as u64 + 8, file.pairs[i].ty as u64);
        let key = file.pairs[i].key(head);
        let texts = || ("another key".to_owned(), shown(key, end - start));
        let field = || Field::Kv(i, gguf_spec::field::KvPart::Key);
        first.offer(&metadata::KEY_DUPLICATE, start..end, field, texts);
    }
    first.settle()?;
    ended
}

/// A fault that ends reading inside an entry: what was found in that entry does not count, since the
/// entry is none. Entries before it have no findings, or reading would have ended there.
fn unfinished(halt: Halt, first: &mut First) -> Halt {
    drop(first.settle());
    halt
}

fn read_tensors(cursor: &mut Cursor<'_>, file: &mut File<'_>, first: &mut First) -> Result<(), Halt> {
    let head = file.head;
    file.tensors = room(file.tensor_count);
    let mut ended = Ok(());
    while ended.is_ok() && !first.any() && (file.tensors.len() as u64) < file.tensor_count {
        match tensor(cursor, file.tensors.len(), first) {
            Ok(place) => file.tensors.push(place),
            Err(halt) => ended = Err(halt),
        }
    }
    if matches!(ended, Err(Halt::NeedMore(_))) {
        return ended;
    }
    let ended = ended.map_err(|halt| unfinished(halt, first));
    let name = |i: usize| compared(file.tensors[i].name(head));
    file.names = Index::new(file.tensors.len(), name);
    if first.wants(&tensors::NAME_DUPLICATE)
        && let Some(i) = file.names.first_twice(name)
    {
        let (start, end) = (file.tensors[i].at as u64 + 8, file.tensors[i].dims as u64);
        let texts = || ("another name".to_owned(), shown(file.tensors[i].name(head), end - start));
        let field = || Field::Tensor(i, gguf_spec::field::TensorPart::Name);
        first.offer(&tensors::NAME_DUPLICATE, start..end, field, texts);
    }
    first.settle()?;
    ended
}
