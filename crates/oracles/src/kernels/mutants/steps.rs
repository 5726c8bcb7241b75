//! What a planted fault does at each step of [`Generic`](crate::kernels::generic::Generic).

use gguf_spec::kernel::contract::Form;
use gguf_spec::kernel::{Columns, Matrix};
use gguf_spec::quant::{Role, Weight};
use gguf_spec::types::{ScaleKind, TensorType};

use super::Mutant;
use super::fault::{Bits, Fault, Of};
use crate::kernels::generic::{Column, Job, code};
use crate::kernels::numbers::{power, round_bf16, round_f16, round_f32, round_to};

/// Where the set is: the indices of what it works on, and how many there are.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::kernels) struct Place {
    pub(in crate::kernels) call: usize,
    pub(in crate::kernels) row: usize,
    pub(in crate::kernels) rows: usize,
    pub(in crate::kernels) block: usize,
    pub(in crate::kernels) blocks: usize,
    pub(in crate::kernels) per_block: usize,
    pub(in crate::kernels) column: usize,
    pub(in crate::kernels) columns: usize,
    pub(in crate::kernels) expert: usize,
    pub(in crate::kernels) threads: usize,
}

/// What a faulty set remembers from its first call.
#[derive(Debug, Default)]
pub(in crate::kernels) struct State {
    rows: Option<Vec<Vec<Vec<Weight>>>>,
    columns: Option<Vec<Column>>,
    results: Option<Vec<f32>>,
}

/// The steps. What the fault has nothing to do with is left as it is.
impl Mutant {
    /// The bytes of a block, before they are decoded.
    pub(in crate::kernels) fn block(&self, ty: &TensorType, bytes: &mut [u8], previous: Option<&[u8]>, place: &Place) {
        let Some(format) = ty.format.filter(|_| self.at.block(place)) else { return };
        let places = |of: Of| format.places(move |role| of.is(role)).collect::<Vec<_>>();
        match self.fault {
            Fault::Read(of, first, end, bits) => {
                let places = places(of);
                for &(role, at) in places.iter().take(end).skip(first) {
                    let stored = at.read(bytes);
                    let read = match bits {
                        Bits::Flip(mask) => stored ^ mask,
                        Bits::Keep(mask) => stored & mask,
                        Bits::KeepOfNormal(mask) if stored & 0x7C00 != 0 => stored & mask,
                        Bits::KeepOfNormal(_) => stored,
                        Bits::From(other) => places[other].1.read(bytes),
                        Bits::SwapBytes => stored >> 8 | stored << 8,
                        Bits::FlushSubnormal if role == Role::Scale(ScaleKind::F16) && stored & 0x7C00 == 0 => 0,
                        Bits::FlushSubnormal => stored,
                    };
                    at.write(bytes, read);
                }
            }
            Fault::CodesEarly(by) => {
                if let Some(field) = format.fields.iter().find(|field| field.name == "qs") {
                    bytes.copy_within(field.offset - by..field.offset - by + field.bytes, field.offset);
                }
            }
            Fault::Nibbles => {
                if let Some(field) = format.fields.iter().find(|field| field.name == "qs") {
                    bytes[field.offset..][..field.bytes].iter_mut().for_each(|byte| *byte = byte.rotate_left(4));
                }
            }
            Fault::ScalesOfPrevious => {
                if let Some(previous) = previous {
                    places(Of::Scale).iter().for_each(|(_, at)| at.write(bytes, at.read(previous)));
                }
            }
            _ => {}
        }
    }

    /// The weights of a block, after.
    pub(in crate::kernels) fn weights(&self, ty: &TensorType, bytes: &[u8], weights: &mut [Weight], place: &Place) {
        if !self.at.block(place) {
            return;
        }
        let each = |weights: &mut [Weight], change: &dyn Fn(&mut Weight)| weights.iter_mut().for_each(change);
        let end = |end: usize| end.min(weights.len());
        match self.fault {
            Fault::Lost(first, last) => {
                let range = first..end(last);
                each(&mut weights[range], &|w| *w = Weight::default());
            }
            Fault::NoMinimum(first, last) => {
                let range = first..end(last);
                each(&mut weights[range], &|w| w.offset = 0.0);
            }
            Fault::MinimumAdded => each(weights, &|w| w.offset = -w.offset),
            Fault::NanOnZero if scales(ty, bytes).any(|(kind, code)| kind.value(code) == 0.0) => {
                each(weights, &|w| w.product = f64::NAN);
            }
            Fault::WeightsTo(form) => {
                each(weights, &|w| *w = Weight { product: f64::from(round_to(form, w.rounded())), offset: 0.0 });
            }
            Fault::WeightsTimes(factor) => {
                let factor = f64::from(factor) / 1024.0;
                each(weights, &|w| w.product *= factor);
            }
            Fault::RawScale => {
                if let Some((ScaleKind::E8M0, code)) = scales(ty, bytes).next() {
                    let factor = f64::from(u8::try_from(code).unwrap_or(0)) / ScaleKind::E8M0.value(code);
                    each(weights, &|w| w.product *= factor);
                }
            }
            Fault::SmallestIsZero if scales(ty, bytes).any(|scale| scale == (ScaleKind::E8M0, 0)) => {
                each(weights, &|w| w.product = 0.0);
            }
            Fault::SubnormalAsNormal => {
                let groups = scales(ty, bytes).count().max(1);
                let length = weights.len() / groups;
                for ((kind, code), weights) in scales(ty, bytes).zip(weights.chunks_mut(length)) {
                    if kind == ScaleKind::Ue4M3 && code & 0x78 == 0 && code != 0 {
                        // With the leading bit that a subnormal has not, and its exponent one lower.
                        let mantissa = kind.value(code) * 512.0;
                        let factor = (8.0 + mantissa) * power(-10) / kind.value(code);
                        each(weights, &|w| w.product *= factor);
                    }
                }
            }
            Fault::OtherFormat(name) => {
                if let Some(other) = TensorType::from_name(name) {
                    // Both have blocks of one size; a failure leaves the weights as they are.
                    let _ = gguf_spec::quant::weights(other, bytes, weights);
                }
            }
            _ => {}
        }
    }

    /// The bytes of a row; `None` if they are the right ones.
    pub(in crate::kernels) fn row_bytes(&self, matrix: &Matrix<'_>, row: usize, place: &Place) -> Option<Vec<u8>> {
        if !self.at.call(place) || !self.at.rows.takes(row, matrix.rows) {
            return None;
        }
        let length = matrix.row_bytes();
        let start = match self.fault {
            Fault::RowsPacked => row * length,
            Fault::NextRow => (row + 1).min(matrix.rows - 1) * matrix.row_stride,
            Fault::ExpertStride(eighths) if place.expert > 0 => {
                // The others begin where they would if they were so far apart, inside of what there is.
                let far = place.expert * matrix.row_stride * matrix.rows * eighths / 8;
                let back = place.expert * matrix.row_stride * matrix.rows - far;
                // What lies before the expert is not here: the row is taken from further behind instead.
                (row * matrix.row_stride + back) % (matrix.bytes.len() - length + 1)
            }
            _ => return None,
        };
        matrix.bytes.get(start..start + length).map(<[u8]>::to_vec)
    }

    /// A column as it is read.
    pub(in crate::kernels) fn column_of(&self, columns: &Columns<'_>, x: &mut Vec<f32>, place: &Place) {
        if !self.at.column(place) {
            return;
        }
        match self.fault {
            Fault::ColumnsPacked => {
                if let Some(packed) = columns.values.get(place.column * columns.k..(place.column + 1) * columns.k) {
                    *x = packed.to_vec();
                }
            }
            Fault::WrongElement(to, from) => {
                x.chunks_mut(32).filter(|run| run.len() > to.max(from)).for_each(|run| run[to] = run[from]);
            }
            Fault::ActivationsTo(form) => x.iter_mut().for_each(|x| *x = round_to(form, *x)),
            _ => {}
        }
    }

    /// A column in its form.
    pub(in crate::kernels) fn held(&self, x: &[f32], form: Form, column: &mut Column, place: &Place) {
        let Column::Blocks { block, codes, scales, sums } = column else { return };
        if !self.at.column(place) {
            return;
        }
        let again = |largest: &dyn Fn(&[f32]) -> f32,
                     most: f32,
                     make: &dyn Fn(f32) -> i8,
                     codes: &mut Vec<i8>,
                     scales: &mut Vec<f32>| {
            for (index, x) in x.chunks(*block).enumerate() {
                let d = largest(x) / most;
                let inverse = if d == 0.0 { 0.0 } else { 1.0 / d };
                scales[index] = if form == Form::Q8K { d } else { round_f16(d) };
                codes[index * *block..][..x.len()].iter_mut().zip(x).for_each(|(code, x)| *code = make(x * inverse));
            }
        };
        let magnitude = |x: &[f32]| x.iter().fold(0.0, |largest: f32, x| largest.max(x.abs()));
        let blocks = scales.len();
        match self.fault {
            Fault::Truncated => again(&magnitude, 127.0, &|quotient| code(quotient.trunc()), codes, scales),
            Fault::CoarseCodes(most) => again(&magnitude, f32::from(most), &code, codes, scales),
            Fault::LargestWithSign => {
                again(&|x| x.iter().fold(0.0, |largest: f32, &x| largest.max(x)), 127.0, &code, codes, scales);
            }
            Fault::NoSum => sums
                .iter_mut()
                .enumerate()
                .filter(|(i, _)| self.at.blocks.takes(*i, blocks))
                .for_each(|(_, sum)| *sum = 0.0),
            Fault::SumOfPrevious => {
                for index in (1..blocks).rev().filter(|&i| self.at.blocks.takes(i, blocks)) {
                    if !sums.is_empty() {
                        sums[index] = sums[index - 1];
                    }
                }
            }
            Fault::SumClamped => sums.iter_mut().for_each(|sum| *sum = sum.clamp(-65504.0, 65504.0)),
            Fault::SumUnscaled => {
                sums.iter_mut()
                    .zip(codes.chunks(*block))
                    .for_each(|(sum, codes)| *sum = codes.iter().map(|&c| f32::from(c)).sum());
            }
            Fault::ScaleOfFirst => {
                let first = scales[0];
                scales
                    .iter_mut()
                    .enumerate()
                    .filter(|(i, _)| self.at.blocks.takes(*i, blocks))
                    .for_each(|(_, scale)| *scale = first);
            }
            Fault::TinyScaleFlushed => {
                scales.iter_mut().filter(|scale| scale.abs() < round_f32(power(-14))).for_each(|scale| *scale = 0.0);
            }
            Fault::ZerosMakeNan => scales.iter_mut().filter(|scale| **scale == 0.0).for_each(|scale| *scale = f32::NAN),
            _ => {}
        }
    }

    /// Everything that the product needs, before it is computed.
    pub(in crate::kernels) fn remembered(
        &self,
        state: &mut State,
        rows: &mut Vec<Vec<Vec<Weight>>>,
        columns: &mut Vec<Column>,
        place: &Place,
    ) {
        let (first_rows, first_columns) =
            (state.rows.get_or_insert_with(|| rows.clone()), state.columns.get_or_insert_with(|| columns.clone()));
        let alike = first_rows.len() == rows.len()
            && first_rows.iter().flatten().map(Vec::len).eq(rows.iter().flatten().map(Vec::len))
            && first_columns.len() == columns.len();
        if !alike || !self.at.call(place) {
            return;
        }
        match self.fault {
            Fault::KeepsWeights => rows.clone_from(first_rows),
            Fault::KeepsRow(row) => {
                for (rows, first) in rows.iter_mut().zip(first_rows) {
                    if let (Some(now), Some(then)) = (rows.get_mut(row), first.get(row)) {
                        now.clone_from(then);
                    }
                }
            }
            Fault::KeepsActivations => columns.clone_from(first_columns),
            Fault::KeepsScales => {
                for (column, first) in columns.iter_mut().zip(first_columns) {
                    if let (Column::Blocks { scales, .. }, Column::Blocks { scales: then, .. }) = (column, first) {
                        scales.clone_from(then);
                    }
                }
            }
            _ => {}
        }
    }

    /// The expert and the column that are used.
    pub(in crate::kernels) fn source(
        &self,
        expert: usize,
        column: usize,
        job: &Job<'_>,
        place: &Place,
    ) -> (usize, usize) {
        if !self.at.column(place) {
            return (expert, column);
        }
        match self.fault {
            Fault::ColumnBefore(by) => (expert, column.saturating_sub(by)),
            Fault::ExpertsOfFirst => {
                let used = (job.sources.len() / job.columns.count.max(1)).max(1);
                (job.sources[place.column % used].0, column)
            }
            Fault::ColumnOfToken if job.columns.count == job.sources.len() => (expert, column / 2),
            _ => (expert, column),
        }
    }

    /// Which row is looked up.
    pub(in crate::kernels) fn looked_up(&self, row: usize, place: &Place) -> usize {
        match self.fault {
            Fault::ColumnBefore(by) if self.at.column(place) => row.saturating_sub(by),
            _ => row,
        }
    }

    /// The sum of products of codes of a group, if it goes wrong.
    pub(in crate::kernels) fn integer_part(&self, row: &[Weight], codes: &[i8], place: &Place) -> Option<f64> {
        if self.fault != Fault::SaturatedPairs || !self.at.element(place) {
            return None;
        }
        // The largest level of a group with 16 levels up to 127: its unit is near enough the 127th part.
        let largest = row.iter().map(|w| w.product.abs()).fold(0.0, f64::max);
        let unit = largest / 113.0;
        if unit == 0.0 {
            return Some(0.0);
        }
        // Levels as unsigned bytes, 128 more than they are; what is too much is taken off again without saturation.
        let pair = |w: &[Weight], codes: &[i8]| {
            let sum: f64 = w.iter().zip(codes).map(|(w, &code)| (w.product / unit + 128.0) * f64::from(code)).sum();
            let more: f64 = codes.iter().map(|&code| 128.0 * f64::from(code)).sum();
            (sum.clamp(-32768.0, 32767.0) - more) * unit
        };
        let pairs = row.chunks(2).zip(codes.chunks(2));
        let saturated = |w: &[Weight], codes: &[i8]| {
            w.iter().zip(codes).map(|(w, &code)| (w.product / unit + 128.0) * f64::from(code)).sum::<f64>().abs()
                > 32767.0
        };
        let exact =
            |w: &[Weight], codes: &[i8]| w.iter().zip(codes).map(|(w, &code)| w.product * f64::from(code)).sum::<f64>();
        Some(pairs.map(|(w, codes)| if saturated(w, codes) { pair(w, codes) } else { exact(w, codes) }).sum())
    }

    /// A sum, after each addition.
    pub(in crate::kernels) fn partial_sum(&self, sum: f32, place: &Place) -> f32 {
        if !self.at.element(place) {
            return sum;
        }
        match self.fault {
            Fault::SumsTo(Form::Bf16) => round_bf16(sum),
            Fault::SumsTo(_) => round_f16(sum),
            Fault::IntegerSums => sum.trunc(),
            _ => sum,
        }
    }

    /// Whether products are added up from the last to the first.
    pub(in crate::kernels) fn reversed(&self, place: &Place) -> bool {
        self.fault == Fault::OtherOrder && self.at.element(place)
    }

    /// A result and where it is written; `None` if it is not.
    pub(in crate::kernels) fn written(
        &self,
        value: f32,
        at: usize,
        y_stride: usize,
        place: &Place,
    ) -> Option<(f32, usize)> {
        if !self.at.element(place) {
            return Some((value, at));
        }
        match self.fault {
            Fault::NotWritten => None,
            Fault::Zeros => Some((0.0, at)),
            Fault::ResultsPacked => Some((value, at / y_stride * place.rows + place.row)),
            Fault::LastPlace => Some((f32::from_bits(value.to_bits().wrapping_add(1)), at)),
            _ => Some((value, at)),
        }
    }

    /// The results, when all are written.
    pub(in crate::kernels) fn finished(&self, state: &mut State, y: &mut [f32], y_stride: usize, place: &Place) {
        let first = state.results.get_or_insert_with(|| y.to_vec());
        if !self.at.call(place) {
            return;
        }
        match self.fault {
            Fault::AddsResults if first.len() == y.len() && place.call > 0 => {
                for column in 0..place.columns {
                    for row in (0..place.rows).filter(|&row| self.at.rows.takes(row, place.rows)) {
                        y[column * y_stride + row] += first[column * y_stride + row];
                    }
                }
            }
            Fault::WrittenBeyond => {
                if let Some(beyond) = y.get_mut((place.columns - 1) * y_stride + place.rows) {
                    *beyond = 0.0;
                }
            }
            _ => {}
        }
    }
}

/// The floating-point scales of a block.
fn scales<'a>(ty: &TensorType, bytes: &'a [u8]) -> impl Iterator<Item = (ScaleKind, u64)> + 'a {
    ty.format.into_iter().flat_map(|format| format.places(|role| matches!(role, Role::Scale(_)))).filter_map(
        |(role, at)| {
            let Role::Scale(kind) = role else { return None };
            Some((kind, at.read(bytes)))
        },
    )
}
