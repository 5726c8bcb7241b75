//! What is looked at in the blocks of a type, derived from the type table: the values of a plain
//! floating-point type, the stored scales of a block format. Integers have nothing to look at.
//!
//! A number of these formats is NaN or infinite when some bits of it are all set, so one mask tells,
//! in either byte order and without turning anything into a float. Blocks are first looked at as a
//! whole, in loops that compilers turn into vector code; where something is wrong they are gone
//! through again, number by number.

use gguf_spec::syntax::ByteOrder;
use gguf_spec::types::{ScaleField, ScaleKind, TensorType};

/// What a number that is not finite is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NonFinite {
    /// Not a number.
    Nan,
    /// Infinite, of either sign.
    Infinite,
}

impl NonFinite {
    /// `NaN` or `infinite`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Nan => "NaN",
            Self::Infinite => "infinite",
        }
    }
}

/// A binary format of numbers, by the bits that are all set in those that are not finite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    F16,
    Bf16,
    F32,
    F64,
    E8M0,
    Ue4M3,
    SplitF16,
}

impl Format {
    /// Bytes of a number.
    const fn size(self) -> usize {
        match self {
            Self::E8M0 | Self::Ue4M3 => 1,
            Self::F16 | Self::Bf16 => 2,
            Self::F32 => 4,
            Self::F64 | Self::SplitF16 => 8,
        }
    }

    /// The exponent bits, in a number of `size` bytes. Of the one-byte formats the whole is NaN when
    /// all these are set: `E8M0` is nothing but an exponent, and in `UE4M3`, where the top bit means
    /// nothing, the largest mantissa under the largest exponent is the one NaN. Of the binary16 that is
    /// spread over four words, only the top nibbles count.
    const fn mask(self) -> u64 {
        match self {
            Self::E8M0 => 0xFF,
            Self::Ue4M3 => 0x7F,
            Self::F16 => 0x7C00,
            Self::Bf16 => 0x7F80,
            Self::F32 => 0x7F80_0000,
            Self::F64 => 0x7FF0_0000_0000_0000,
            Self::SplitF16 => 0x7000_C000_0000_0000,
        }
    }

    /// The bits that make a number NaN rather than infinite.
    const fn mantissa(self) -> u64 {
        match self {
            Self::E8M0 | Self::Ue4M3 => 0,
            Self::F16 => 0x03FF,
            Self::Bf16 => 0x007F,
            Self::F32 => 0x007F_FFFF,
            Self::F64 => 0x000F_FFFF_FFFF_FFFF,
            Self::SplitF16 => 0x0000_3000_F000_F000,
        }
    }
}

/// One kind of number in a block: `count` of them from `offset` bytes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Numbers {
    name: &'static str,
    offset: usize,
    count: usize,
    format: Format,
}

/// What is looked at in the blocks of one type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kernel {
    bytes: usize,
    block: u64,
    /// Plain values, and not the scales of blocks.
    values: bool,
    order: ByteOrder,
    numbers: Vec<Numbers>,
}

/// A number that is not finite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The block, counted from the first one that was looked at.
    pub block: u64,
    /// The name of the scale; empty for plain values.
    pub name: &'static str,
    /// Bytes from the start of the first block.
    pub offset: u64,
    /// Bytes of the number.
    pub size: u64,
    /// What it is.
    pub what: NonFinite,
}

/// What was found in some blocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Numbers that are NaN.
    pub nan: u64,
    /// Numbers that are infinite.
    pub infinite: u64,
    /// The first of either.
    pub first: Option<Place>,
}

impl Tally {
    /// How many numbers are not finite.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.nan + self.infinite
    }
}

impl Kernel {
    /// The kernel of a type; `None` if there is nothing to look at in its data, or it has none.
    #[must_use]
    pub fn of(ty: &TensorType, order: ByteOrder) -> Option<Self> {
        let numbers: Vec<Numbers> =
            if ty.quantized { ty.scales().map(scale).collect() } else { value(ty).into_iter().collect() };
        if numbers.is_empty() || !ty.has_layout() {
            return None;
        }
        let bytes = usize::try_from(ty.bytes).ok()?;
        Some(Self { bytes, block: ty.block, values: !ty.quantized, order, numbers })
    }

    /// Bytes of a block.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Elements of a block.
    #[must_use]
    pub fn block(&self) -> u64 {
        self.block
    }

    /// Whether plain values are looked at; else it is the scales of blocks.
    #[must_use]
    pub fn values(&self) -> bool {
        self.values
    }

    /// How many numbers are looked at in a block.
    #[must_use]
    pub fn per_block(&self) -> u64 {
        self.numbers.iter().map(|numbers| numbers.count as u64).sum()
    }

    /// Looks at some blocks. Bytes of an incomplete one at the end are left out.
    #[must_use]
    pub fn look(&self, blocks: &[u8]) -> Tally {
        if self.is_clean(blocks) { Tally::default() } else { self.count(blocks) }
    }

    /// Whether all numbers are finite.
    fn is_clean(&self, blocks: &[u8]) -> bool {
        match self.numbers.as_slice() {
            [one] if self.values => self.values_are_clean(blocks, one.format),
            // One pass for both: the blocks of these types are the smallest.
            &[
                Numbers { offset: a, count: 1, format: Format::F16, .. },
                Numbers { offset: b, count: 1, format: Format::F16, .. },
            ] => !any_u16(blocks, self.bytes, [a, b], self.mask16(Format::F16)),
            several => several.iter().all(|numbers| self.scales_are_clean(blocks, *numbers)),
        }
    }

    fn scales_are_clean(&self, blocks: &[u8], numbers: Numbers) -> bool {
        let Numbers { offset, count, format, .. } = numbers;
        match (format, count) {
            (Format::F16, 1) => !any_u16(blocks, self.bytes, [offset], self.mask16(format)),
            (Format::E8M0 | Format::Ue4M3, _) => {
                let [mask] = self.mask_bytes(format);
                !blocks.chunks_exact(self.bytes).fold(false, |any, block| {
                    block[offset..offset + count].iter().fold(any, |any, scale| any | (scale & mask == mask))
                })
            }
            // Large blocks, few scales: no loop to be fast in.
            _ => blocks.chunks_exact(self.bytes).all(|block| {
                block[offset..][..count * format.size()].chunks_exact(format.size()).all(|bytes| {
                    let mask = format.mask();
                    self.number(bytes, format) & mask != mask
                })
            }),
        }
    }

    fn values_are_clean(&self, values: &[u8], format: Format) -> bool {
        match format.size() {
            2 => {
                let mask = self.mask16(format);
                let (words, _) = values.as_chunks();
                !words.iter().fold(false, |any, &bytes| any | (u16::from_ne_bytes(bytes) & mask == mask))
            }
            4 => {
                // The mask as it lies in the file, seen as this machine sees the numbers.
                let mask = u32::from_ne_bytes(self.mask_bytes(format));
                let (words, _) = values.as_chunks();
                !words.iter().fold(false, |any, &bytes| any | (u32::from_ne_bytes(bytes) & mask == mask))
            }
            _ => {
                let mask = u64::from_ne_bytes(self.mask_bytes(format));
                let (words, _) = values.as_chunks();
                !words.iter().fold(false, |any, &bytes| any | (u64::from_ne_bytes(bytes) & mask == mask))
            }
        }
    }

    fn mask16(&self, format: Format) -> u16 {
        u16::from_ne_bytes(self.mask_bytes(format))
    }

    /// The mask in the order of the file.
    fn mask_bytes<const N: usize>(&self, format: Format) -> [u8; N] {
        let mask = format.mask();
        std::array::from_fn(|i| match self.order {
            ByteOrder::Little => mask.to_le_bytes()[i],
            ByteOrder::Big => mask.to_be_bytes()[8 - N + i],
        })
    }

    /// The bits of a number.
    fn number(&self, bytes: &[u8], format: Format) -> u64 {
        if format != Format::SplitF16 {
            return self.order.number(bytes);
        }
        // Four words, the first lowest, whatever the order of the bytes in each.
        (0..4).fold(0, |number, i| number | self.order.number(&bytes[2 * i..2 * i + 2]) << (16 * i))
    }

    /// Looks at every number.
    #[cold]
    fn count(&self, blocks: &[u8]) -> Tally {
        let mut tally = Tally::default();
        for (i, block) in blocks.chunks_exact(self.bytes).enumerate() {
            for numbers in &self.numbers {
                let size = numbers.format.size();
                for at in (0..numbers.count).map(|j| numbers.offset + j * size) {
                    let number = self.number(&block[at..at + size], numbers.format);
                    if number & numbers.format.mask() != numbers.format.mask() {
                        continue;
                    }
                    let is_nan = numbers.format.size() == 1 || number & numbers.format.mantissa() != 0;
                    let what = if is_nan { NonFinite::Nan } else { NonFinite::Infinite };
                    match what {
                        NonFinite::Nan => tally.nan += 1,
                        NonFinite::Infinite => tally.infinite += 1,
                    }
                    tally.first.get_or_insert(Place {
                        block: i as u64,
                        name: numbers.name,
                        offset: (i * self.bytes + at) as u64,
                        size: size as u64,
                        what,
                    });
                }
            }
        }
        tally
    }
}

/// Whether a 16-bit word at one of these offsets in a block has all bits of the mask set.
fn any_u16<const N: usize>(blocks: &[u8], bytes: usize, offsets: [usize; N], mask: u16) -> bool {
    match bytes {
        // The smallest blocks, where the loop takes half as long when its step is known.
        18 => any_u16_sized::<18, N>(blocks, offsets, mask),
        34 => any_u16_sized::<34, N>(blocks, offsets, mask),
        _ => blocks.chunks_exact(bytes).fold(false, |any, block| any | any_of(block, offsets, mask)),
    }
}

fn any_u16_sized<const BYTES: usize, const N: usize>(blocks: &[u8], offsets: [usize; N], mask: u16) -> bool {
    let (blocks, _) = blocks.as_chunks::<BYTES>();
    blocks.iter().fold(false, |any, block| any | any_of(block, offsets, mask))
}

#[inline]
fn any_of<const N: usize>(block: &[u8], offsets: [usize; N], mask: u16) -> bool {
    offsets.iter().fold(false, |any, &at| any | (u16::from_ne_bytes([block[at], block[at + 1]]) & mask == mask))
}

fn scale(field: ScaleField) -> Numbers {
    let format = match field.kind {
        ScaleKind::F16 => Format::F16,
        ScaleKind::F32 => Format::F32,
        ScaleKind::E8M0 => Format::E8M0,
        ScaleKind::Ue4M3 => Format::Ue4M3,
        ScaleKind::SplitF16 => Format::SplitF16,
    };
    Numbers { name: field.name, offset: field.offset, count: field.count, format }
}

/// The number that a plain type is; `None` for integers.
fn value(ty: &TensorType) -> Option<Numbers> {
    let format = match ty.name {
        "F16" => Format::F16,
        "BF16" => Format::Bf16,
        "F32" => Format::F32,
        "F64" => Format::F64,
        _ => return None,
    };
    Some(Numbers { name: "", offset: 0, count: 1, format })
}
