//! Files made to exhaust a reader: small files that declare much, and large ones of which every few
//! bytes cost as much as possible.
//!
//! They are written byte by byte, not with the specification's encoder, which would build the tree
//! that they are made to make expensive.

use gguf_spec::syntax::{ByteOrder, length_width};
use gguf_spec::types::ValueType;

/// Files of one kind and of any size.
#[derive(Clone, Copy)]
pub struct Family {
    /// Its name.
    pub name: &'static str,
    /// What in it is expensive.
    pub cost: &'static str,
    make: fn(usize) -> Vec<u8>,
}

impl Family {
    /// A file of about `size` bytes, never more.
    #[must_use]
    pub fn file(&self, size: usize) -> Vec<u8> {
        (self.make)(size)
    }
}

/// The families.
pub const FAMILIES: &[Family] = &[
    Family { name: "empty strings", cost: "an object for every 8 bytes", make: |n| strings(3, b"", n) },
    Family { name: "empty strings, version 1", cost: "an object for every 4 bytes", make: |n| strings(1, b"", n) },
    Family { name: "short strings", cost: "an allocation for every 9 bytes", make: |n| strings(3, b"x", n) },
    Family { name: "short strings, version 1", cost: "an allocation for every 5 bytes", make: |n| strings(1, b"x", n) },
    Family { name: "strings that are not UTF-8", cost: "a scan of each", make: |n| strings(1, b"\xFF", n) },
    Family { name: "empty arrays", cost: "an object for every 12 bytes", make: |n| arrays(3, 1, n) },
    Family { name: "empty arrays, version 1", cost: "an object for every 8 bytes", make: |n| arrays(1, 1, n) },
    Family { name: "empty arrays, deep", cost: "a long path to each", make: |n| arrays(1, 30, n) },
    Family { name: "ladders", cost: "recursion in every pair", make: ladders },
    Family { name: "numbers", cost: "a 64-bit number for every byte", make: |n| numbers(ValueType::U8, 200, n) },
    Family { name: "bools of 2", cost: "a violation in every byte", make: |n| numbers(ValueType::Bool, 2, n) },
    Family { name: "one key", cost: "its length", make: |n| one_key(b"", b'k', n) },
    Family { name: "one key of digits", cost: "patterns", make: |n| one_key(b"general.base_model.", b'0', n) },
    Family { name: "one key of no text", cost: "a message", make: |n| one_key(b"", b'\xFF', n) },
    Family { name: "one string of no text", cost: "a message", make: |n| one_string(b'\xFF', n) },
    Family { name: "one tensor name", cost: "its length", make: |n| one_tensor(true, n) },
    Family {
        name: "one tensor of many dimensions",
        cost: "a number for every 4 bytes",
        make: |n| one_tensor(false, n),
    },
    Family { name: "duplicate keys", cost: "a message for each", make: |n| pairs(3, b"k", 1, false, n) },
    Family {
        name: "alignments",
        cost: "long keys, all found",
        make: |n| pairs(3, b"general.alignment\0", 2, false, n),
    },
    Family { name: "the worst pairs", cost: "three messages for every 9 bytes", make: |n| pairs(1, b"", 2, false, n) },
    Family { name: "the worst pairs, twice", cost: "two readings of the file", make: |n| pairs(1, b"", 2, true, n) },
    Family { name: "keys of their own", cost: "an entry of a map for each", make: own_keys },
    Family { name: "right pairs", cost: "an entry of every list for each", make: right_pairs },
    Family { name: "right tensors", cost: "an entry of every list for each", make: right_tensors },
    Family { name: "zeros", cost: "pairs until the end of the file", make: |n| zeros(3, n) },
    Family { name: "zeros, version 1", cost: "pairs until the end of the file", make: |n| zeros(1, n) },
    Family { name: "unnamed tensors", cost: "two messages for each", make: |n| tensors(3, 0, 0, false, n) },
    Family { name: "the worst tensors", cost: "five messages for every 20 bytes", make: |n| worst_tensors(false, n) },
    Family { name: "the worst tensors, twice", cost: "two readings of the file", make: |n| worst_tensors(true, n) },
    Family { name: "scattered tensors", cost: "sorting", make: |n| scattered(1, n) },
    Family { name: "scattered tensors, version 3", cost: "sorting", make: |n| scattered(3, n) },
    Family { name: "tensors without data", cost: "a message for each", make: |n| packed(1, false, n) },
    Family { name: "tensors with dirty padding", cost: "a scan after each", make: |n| packed(1, true, n) },
    Family { name: "tensors with padding", cost: "a look after each", make: |n| packed(3, true, n) },
];

/// The values that counts, lengths, types, dimensions and offsets are given in [`declared`].
pub const NUMBERS: [u64; 12] = [
    1 << 30,
    (1 << 31) - 1,
    1 << 31,
    u32::MAX as u64,
    1 << 32,
    1 << 40,
    1 << 60,
    1 << 61,
    (1 << 63) - 1,
    1 << 63,
    u64::MAX - 1,
    u64::MAX,
];

/// Small files in which one number declares far more than is there, in every version and byte order,
/// followed by nothing or by 4096 zero bytes, which are pairs and tensors to whoever believes the
/// number. With each, what the number is.
#[must_use]
pub fn declared() -> Vec<(String, Vec<u8>)> {
    let mut list = Vec::new();
    for (version, order) in [(1, ByteOrder::Little), (2, ByteOrder::Big), (3, ByteOrder::Little), (3, ByteOrder::Big)] {
        for number in NUMBERS {
            for (place, tail) in PLACES.iter().flat_map(|place| [(place, 0), (place, 4096)]) {
                let mut file = Writer::new(version, order);
                (place.write)(&mut file, number);
                file.bytes.resize(file.bytes.len() + tail, 0);
                let name =
                    format!("{} of {number}, version {version}, {}-endian, {tail} zeros", place.name, order.name());
                list.push((name, file.bytes));
            }
        }
    }
    list
}

/// Arrays nested this deep in one pair.
#[must_use]
pub fn nested(version: u32, depth: usize) -> Vec<u8> {
    let mut file = Writer::new(version, ByteOrder::Little);
    file.header(0, 1);
    file.pair_start(b"k", ValueType::Array.id());
    for _ in 1..depth {
        file.array(ValueType::Array.id(), 1);
    }
    file.array(ValueType::U8.id(), 0);
    file.bytes
}

/// Where a number can declare more than is there.
struct Place {
    name: &'static str,
    write: fn(&mut Writer, u64),
}

const PLACES: [Place; 12] = [
    Place { name: "tensor count", write: |file, n| file.header(n, 0) },
    Place { name: "pair count", write: |file, n| file.header(0, n) },
    Place { name: "both counts", write: |file, n| file.header(n, n) },
    Place {
        name: "key length",
        write: |file, n| {
            file.header(0, 1);
            file.count(n);
        },
    },
    Place {
        name: "string length",
        write: |file, n| {
            file.header(0, 1);
            file.pair_start(b"k", ValueType::String.id());
            file.count(n);
        },
    },
    Place { name: "length of an array of numbers", write: |file, n| array_of(file, ValueType::F64, n) },
    Place { name: "length of an array of bools", write: |file, n| array_of(file, ValueType::Bool, n) },
    Place { name: "length of an array of strings", write: |file, n| array_of(file, ValueType::String, n) },
    Place { name: "length of an array of arrays", write: |file, n| array_of(file, ValueType::Array, n) },
    Place {
        name: "length of an inner array",
        write: |file, n| {
            array_of(file, ValueType::Array, 1);
            file.array(ValueType::String.id(), n);
        },
    },
    Place {
        name: "tensor name length",
        write: |file, n| {
            file.header(1, 0);
            file.count(n);
        },
    },
    Place {
        name: "dimensions, their number, the offset and the type",
        write: |file, n| {
            file.header(2, 0);
            for dims in [4, u32::try_from(n).unwrap_or(u32::MAX)] {
                file.string(b"t");
                file.word(dims);
                for _ in 0..4 {
                    file.count(n);
                }
                file.word(u32::try_from(n & 0xFFFF_FFFF).unwrap_or(0));
                file.wide(n);
            }
        },
    },
];

fn array_of(file: &mut Writer, ty: ValueType, n: u64) {
    file.header(0, 1);
    file.pair_start(b"k", ValueType::Array.id());
    file.array(ty.id(), n);
}

/// Writes fields.
struct Writer {
    bytes: Vec<u8>,
    version: u32,
    order: ByteOrder,
}

impl Writer {
    fn new(version: u32, order: ByteOrder) -> Self {
        Self { bytes: Vec::new(), version, order }
    }

    fn number(&mut self, n: u64, width: usize) {
        self.bytes.extend(self.order.bytes(n, width));
    }

    fn count(&mut self, n: u64) {
        self.number(n, length_width(self.version));
    }

    fn word(&mut self, n: u32) {
        self.number(u64::from(n), 4);
    }

    fn wide(&mut self, n: u64) {
        self.number(n, 8);
    }

    fn header(&mut self, tensors: u64, pairs: u64) {
        self.bytes.extend(b"GGUF");
        self.word(self.version);
        self.count(tensors);
        self.count(pairs);
    }

    fn string(&mut self, bytes: &[u8]) {
        self.count(bytes.len() as u64);
        self.bytes.extend(bytes);
    }

    fn pair_start(&mut self, key: &[u8], type_id: u32) {
        self.string(key);
        self.word(type_id);
    }

    fn array(&mut self, type_id: u32, len: u64) {
        self.word(type_id);
        self.count(len);
    }

    fn tensor(&mut self, name: &[u8], dims: &[u64], type_id: u32, offset: u64) {
        self.string(name);
        self.word(u32::try_from(dims.len()).unwrap_or(u32::MAX));
        for &dim in dims {
            self.count(dim);
        }
        self.word(type_id);
        self.wide(offset);
    }

    /// A pair that only ggml takes for the alignment: whoever judges for both reads the file twice.
    fn other_alignment(&mut self) {
        self.pair_start(b"general.alignment\0x", ValueType::U32.id());
        self.word(64);
    }

    /// The bytes that writing these fields gives.
    fn piece(version: u32, write: impl FnOnce(&mut Self)) -> Vec<u8> {
        let mut writer = Self::new(version, ByteOrder::Little);
        write(&mut writer);
        writer.bytes
    }
}

/// A head made for the number of pieces that fit behind it, and those pieces.
fn filled(version: u32, size: usize, head: impl Fn(&mut Writer, u64), piece: &[u8]) -> Vec<u8> {
    let overhead = Writer::piece(version, |file| head(file, 0)).len();
    let n = size.saturating_sub(overhead) / piece.len();
    let mut bytes = Writer::piece(version, |file| head(file, n as u64));
    for _ in 0..n {
        bytes.extend(piece);
    }
    bytes
}

/// One array of equal strings.
fn strings(version: u32, string: &[u8], size: usize) -> Vec<u8> {
    let piece = Writer::piece(version, |file| file.string(string));
    filled(version, size, |file, n| array_of(file, ValueType::String, n), &piece)
}

/// Empty arrays in an array, `depth` arrays around them.
fn arrays(version: u32, depth: usize, size: usize) -> Vec<u8> {
    let head = |file: &mut Writer, n| {
        file.header(0, 1);
        file.pair_start(b"k", ValueType::Array.id());
        for _ in 1..depth {
            file.array(ValueType::Array.id(), 1);
        }
        file.array(ValueType::Array.id(), n);
    };
    filled(version, size, head, &Writer::piece(version, |file| file.array(ValueType::U8.id(), 0)))
}

/// Pairs of one key, each with arrays as deep as they may be.
fn ladders(size: usize) -> Vec<u8> {
    let ladder = &nested(1, 32)[Writer::piece(1, |file| file.header(0, 1)).len()..];
    filled(1, size, |file, n| file.header(0, n), ladder)
}

/// One array of equal bytes.
fn numbers(ty: ValueType, byte: u8, size: usize) -> Vec<u8> {
    filled(3, size, |file, n| array_of(file, ty, n), &[byte])
}

fn one_key(start: &[u8], byte: u8, size: usize) -> Vec<u8> {
    let n = size.saturating_sub(40);
    let mut key = start.to_vec();
    key.resize(n, byte);
    Writer::piece(3, |file| {
        file.header(0, 1);
        file.pair_start(&key, ValueType::U8.id());
        file.bytes.push(1);
    })
}

fn one_string(byte: u8, size: usize) -> Vec<u8> {
    let text = vec![byte; size.saturating_sub(60)];
    Writer::piece(3, |file| {
        file.header(0, 1);
        file.pair_start(b"k", ValueType::String.id());
        file.string(&text);
    })
}

/// One tensor whose name, or else whose list of dimensions, fills the file.
fn one_tensor(name: bool, size: usize) -> Vec<u8> {
    let n = size.saturating_sub(60);
    Writer::piece(1, |file| {
        file.header(1, 0);
        if name {
            file.tensor(&vec![b'\xFF'; n], &[], 0, 0);
        } else {
            file.tensor(b"t", &vec![0x7FFF_FFFF; n / 4], 0, 0);
        }
    })
}

/// Pairs of one key and a bool each; with `twice`, behind a key that only ggml takes for the alignment.
fn pairs(version: u32, key: &[u8], byte: u8, twice: bool, size: usize) -> Vec<u8> {
    let head = |file: &mut Writer, n| {
        file.header(0, n + u64::from(twice));
        if twice {
            file.other_alignment();
        }
    };
    let piece = Writer::piece(version, |file| {
        file.pair_start(key, ValueType::Bool.id());
        file.bytes.push(byte);
    });
    filled(version, size, head, &piece)
}

/// Pairs of keys of their own, none of them as the document wants it.
fn own_keys(size: usize) -> Vec<u8> {
    let each = 4 + 4 + 4 + 1;
    let n = u32::try_from(size.saturating_sub(16) / each).unwrap_or(u32::MAX);
    Writer::piece(1, |file| {
        file.header(0, u64::from(n));
        for i in 0..n {
            file.pair_start(&i.to_be_bytes(), ValueType::Bool.id());
            file.bytes.push(3);
        }
    })
}

/// A name of four letters and digits for each number below 36^4.
fn short_name(mut i: u32) -> [u8; 4] {
    std::array::from_fn(|_| {
        let digit = b"abcdefghijklmnopqrstuvwxyz0123456789"[i as usize % 36];
        i /= 36;
        digit
    })
}

/// Pairs that nobody objects to, as short as they can be.
fn right_pairs(size: usize) -> Vec<u8> {
    let each = 8 + 4 + 4 + 1;
    let n = u32::try_from(size.saturating_sub(24) / each).unwrap_or(u32::MAX);
    Writer::piece(3, |file| {
        file.header(0, u64::from(n));
        for i in 0..n {
            file.pair_start(&short_name(i), ValueType::Bool.id());
            file.bytes.push(1);
        }
    })
}

/// Tensor infos that nobody objects to who does not look for their data, as short as they can be.
fn right_tensors(size: usize) -> Vec<u8> {
    let each = 8 + 4 + 4 + 4 + 8;
    let n = u32::try_from(size.saturating_sub(24 + 31) / each).unwrap_or(u32::MAX);
    let mut bytes = Writer::piece(3, |file| {
        file.header(u64::from(n), 0);
        for i in 0..n {
            file.tensor(&short_name(i), &[], 24, u64::from(i) * 32);
        }
    });
    bytes.resize(bytes.len().next_multiple_of(32), 0);
    bytes
}

/// A header that promises pairs, and zeros: empty keys and numbers of one byte.
fn zeros(version: u32, size: usize) -> Vec<u8> {
    let mut bytes = Writer::piece(version, |file| file.header(1 << 30, 1 << 30));
    bytes.resize(size.max(bytes.len()), 0);
    bytes
}

/// Equal tensors without a name or dimensions; with `twice`, behind a key that only ggml takes for the
/// alignment.
fn tensors(version: u32, type_id: u32, offset: u64, twice: bool, size: usize) -> Vec<u8> {
    let head = |file: &mut Writer, n| {
        file.header(n, u64::from(twice));
        if twice {
            file.other_alignment();
        }
    };
    filled(version, size, head, &Writer::piece(version, |file| file.tensor(b"", &[], type_id, offset)))
}

/// Tensors that are duplicates, of a type newer than the document, of part of a block, misaligned, and
/// without data.
fn worst_tensors(twice: bool, size: usize) -> Vec<u8> {
    const NVFP4: u32 = 40;
    tensors(1, NVFP4, (1 << 62) + 1, twice, size)
}

/// Tensors in no order, overlapping one another.
fn scattered(version: u32, size: usize) -> Vec<u8> {
    let each = Writer::piece(version, |file| file.tensor(b"name", &[1], 24, 0)).len();
    let n = u32::try_from(size.saturating_sub(16) / (each + 8)).unwrap_or(u32::MAX);
    let mut bytes = Writer::piece(version, |file| {
        file.header(u64::from(n), 0);
        for i in 0..n {
            // Multiples of the alignment, spread over the file and over the tensors.
            let offset = u64::from(i.wrapping_mul(2_654_435_761) % (n / 4 + 1)) * 32;
            file.tensor(&short_name(i), &[u64::from(i % 64)], 24, offset);
        }
    });
    bytes.resize(size, 0);
    bytes
}

/// Tensors of one byte, one after another, with padding (in version 1 it is not zero), or without any data.
fn packed(version: u32, data: bool, size: usize) -> Vec<u8> {
    let each = Writer::piece(version, |file| file.tensor(b"name", &[1], 24, 0)).len();
    let room = if data { each + 32 } else { each };
    let n = u32::try_from(size.saturating_sub(64) / room).unwrap_or(u32::MAX);
    let mut bytes = Writer::piece(version, |file| {
        file.header(u64::from(n), 0);
        for i in 0..n {
            file.tensor(&short_name(i), &[1], 24, u64::from(i) * 32);
        }
    });
    if data {
        bytes.resize(size, if version == 1 { 0xA5 } else { 0 });
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families_fill_their_size_and_no_more() {
        for family in FAMILIES {
            for size in [1 << 12, 1 << 16] {
                let len = family.file(size).len();
                assert!(len <= size && len > size - size / 8, "{}: {len} of {size}", family.name);
            }
        }
    }

    #[test]
    fn every_number_is_declared_everywhere() {
        let files = declared();
        assert_eq!(files.len(), 4 * NUMBERS.len() * PLACES.len() * 2);
        assert!(files.iter().all(|(_, bytes)| bytes.len() < 5000));
    }
}
