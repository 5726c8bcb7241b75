//! How a block is laid out: fields of whole bytes, and the small numbers packed into them.

use std::ops::Range;

use crate::types::{ScaleField, ScaleKind};

use super::Weight;
use super::numbers::low_u16;

/// A field of a block: some whole bytes with a name. The fields of a type follow one another without
/// a gap; multi-byte numbers are little-endian.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// The field's name in `ggml-common.h`.
    pub name: &'static str,
    /// Bytes from the start of the block.
    pub offset: usize,
    /// How many bytes.
    pub bytes: usize,
    /// Bits of the unit that the field repeats: one code, one sub-scale, or the word that several
    /// share, which `meaning` then takes apart.
    pub bits: u32,
    /// What it says.
    pub meaning: &'static str,
}

impl Field {
    /// The first field of a block.
    pub(super) const fn first(name: &'static str, bytes: usize, bits: u32, meaning: &'static str) -> Self {
        Self { name, offset: 0, bytes, bits, meaning }
    }

    /// The field that follows this one.
    pub(super) const fn then(self, name: &'static str, bytes: usize, bits: u32, meaning: &'static str) -> Self {
        Self { name, offset: self.offset + self.bytes, bytes, bits, meaning }
    }

    /// The place of the unit with this index.
    pub(super) const fn unit(self, index: usize) -> Place {
        self.at(index * self.bits as usize, self.bits)
    }

    /// The place of the code with this index where codes are `width` bits wide and strided: `stride` bytes
    /// hold a group of weights, the first `stride` of them in the lowest bits of the bytes, the next in
    /// the bits above, and so on.
    ///
    /// So it is everywhere but in Q1_0 and Q2_0: kernels load a vector of bytes, and one mask gives them
    /// a vector of consecutive weights.
    pub(super) const fn strided(self, stride: usize, width: u32, index: usize) -> Place {
        let group = stride * 8 / width as usize;
        let (base, rest) = (index / group * stride, index % group);
        self.at(8 * (base + rest % stride) + rest / stride * width as usize, width)
    }

    /// Some bits of the field: `width` of them from bit `start` on. Bit 0 is the lowest of the first
    /// byte, bit 8 the lowest of the second.
    pub(super) const fn at(self, start: usize, width: u32) -> Place {
        Place { runs: [(8 * self.offset + start, width), NO_RUN, NO_RUN, NO_RUN] }
    }
}

/// A first bit, counted through the bytes of the block from the lowest bit of each, and how many.
type Run = (usize, u32);

const NO_RUN: Run = (0, 0);

/// Where one number lies in a block: up to four runs of bits, its lowest bits first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    runs: [Run; 4],
}

impl Place {
    /// This number continued by higher bits elsewhere. At most four runs make a number.
    pub(super) fn and(mut self, higher: Self) -> Self {
        let mut more = higher.runs();
        for run in self.runs.iter_mut().filter(|run| run.1 == 0) {
            *run = more.next().unwrap_or(NO_RUN);
        }
        debug_assert!(more.next().is_none(), "a number of more than four runs");
        self
    }

    fn runs(self) -> impl Iterator<Item = Run> {
        self.runs.into_iter().filter(|&(_, width)| width > 0)
    }

    /// The bits of the block that make the number, as ranges, lowest bits first.
    pub fn bit_ranges(self) -> impl Iterator<Item = Range<usize>> {
        self.runs().map(|(start, width)| start..start + width as usize)
    }

    /// The width of the number in bits.
    #[must_use]
    pub fn bits(self) -> u32 {
        self.runs().map(|(_, width)| width).sum()
    }

    /// The number, as it is stored.
    ///
    /// # Panics
    ///
    /// If the block is shorter than those of the type are.
    #[must_use]
    pub fn read(self, block: &[u8]) -> u64 {
        let (mut number, mut shift) = (0, 0);
        for (start, width) in self.runs() {
            let bytes = &block[start / 8..(start + width as usize).div_ceil(8)];
            let word = bytes.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte));
            number |= (word >> (start % 8) & mask(width)) << shift;
            shift += width;
        }
        number
    }

    /// Stores a number; bits that it has beyond the width of the place are dropped.
    ///
    /// # Panics
    ///
    /// If the block is shorter than those of the type are.
    pub fn write(self, block: &mut [u8], mut number: u64) {
        for (start, width) in self.runs() {
            for bit in start..start + width as usize {
                let (byte, bit) = (&mut block[bit / 8], bit % 8);
                *byte = *byte & !(1 << bit) | u8::from(number & 1 == 1) << bit;
                number >>= 1;
            }
        }
    }

    /// The number as an unsigned integer; for places of at most 16 bits.
    pub(super) fn int(self, block: &[u8]) -> i32 {
        i32::from(low_u16(self.read(block)))
    }

    /// The number as a two's complement integer; for places of at most 16 bits.
    pub(super) fn signed(self, block: &[u8]) -> i32 {
        let number = self.int(block);
        if number >> (self.bits() - 1) == 1 { number - (1 << self.bits()) } else { number }
    }

    /// The number as a floating-point scale.
    pub(super) fn float(self, kind: ScaleKind, block: &[u8]) -> f64 {
        kind.value(self.read(block))
    }

    /// The number as a binary16.
    pub(super) fn f16(self, block: &[u8]) -> f64 {
        self.float(ScaleKind::F16, block)
    }

    /// Stores an integer in two's complement.
    pub(super) fn put(self, block: &mut [u8], number: i32) {
        self.write(block, i64::from(number).cast_unsigned());
    }
}

const fn mask(width: u32) -> u64 {
    if width == 64 { u64::MAX } else { (1 << width) - 1 }
}

/// What a number in a block is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The number itself, of a plain type.
    Value,
    /// A floating-point scale or minimum.
    Scale(ScaleKind),
    /// An integer that multiplies the scale, for some weights of the block.
    SubScale,
    /// An integer that multiplies the minimum, for some weights of the block.
    SubMin,
    /// The code of one weight, or the byte that several share.
    Code,
    /// An index into a grid, for four or eight weights.
    Grid,
    /// The signs of eight weights: a byte, or an index into the even ones.
    Signs,
    /// The sign of the eighth that is added to grid values.
    Shift,
    /// A float that repeats what the codes say: a sum.
    FloatSum(ScaleKind),
    /// An integer that repeats what the codes say: a sum.
    IntSum,
}

/// The numbers of one role: how many, and where each lies. Together, the parts of a type hold every bit
/// of a block once.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    /// What they are for.
    pub role: Role,
    /// How many there are.
    pub count: usize,
    place: fn(usize) -> Place,
}

impl Part {
    pub(super) const fn new(role: Role, count: usize, place: fn(usize) -> Place) -> Self {
        Self { role, count, place }
    }

    /// Where the number with this index lies; the index is less than the count.
    #[must_use]
    pub fn place(&self, index: usize) -> Place {
        (self.place)(index)
    }
}

/// Writes the values of one block.
type Encode = fn(&[f32], &mut [u8]);

/// All there is to say about the blocks of a type.
#[derive(Clone, Copy, Debug)]
pub struct Format {
    /// What a weight is, in terms of the fields.
    pub formula: &'static str,
    /// The fields, in file order.
    pub fields: &'static [Field],
    /// The numbers in them.
    pub parts: &'static [Part],
    /// The weight with this index, of a whole block.
    pub(super) weight: fn(&[u8], usize) -> Weight,
    /// How values become a block, for types of which that has a closed form.
    pub(super) encode: Option<Encode>,
    /// Makes stored sums agree with the codes.
    pub(super) settle: fn(&mut [u8]),
}

impl Format {
    pub(super) const fn new(
        formula: &'static str,
        fields: &'static [Field],
        parts: &'static [Part],
        weight: fn(&[u8], usize) -> Weight,
    ) -> Self {
        Self { formula, fields, parts, weight, encode: None, settle: |_| {} }
    }

    pub(super) const fn encoded_by(self, encode: Encode) -> Self {
        Self { encode: Some(encode), ..self }
    }

    pub(super) const fn settled_by(self, settle: fn(&mut [u8])) -> Self {
        Self { settle, ..self }
    }

    /// Whether [`encode`](super::encode) can write blocks of the type.
    #[must_use]
    pub fn has_encoder(&self) -> bool {
        self.encode.is_some()
    }

    /// The places of all numbers of some role, in order.
    pub fn places(&self, is: impl Fn(Role) -> bool) -> impl Iterator<Item = (Role, Place)> {
        self.parts
            .iter()
            .filter(move |part| is(part.role))
            .flat_map(|part| (0..part.count).map(|index| (part.role, part.place(index))))
    }

    /// The stored floating-point numbers, in file order; those of plain types are not among them.
    pub(crate) fn scales(&self) -> impl Iterator<Item = ScaleField> {
        self.parts.iter().filter_map(|part| {
            let (Role::Scale(kind) | Role::FloatSum(kind)) = part.role else { return None };
            let bit = part.place(0).bit_ranges().next()?.start;
            let field = self.fields.iter().rfind(|field| 8 * field.offset <= bit)?;
            Some(ScaleField { name: field.name, offset: field.offset, count: part.count, kind })
        })
    }
}
