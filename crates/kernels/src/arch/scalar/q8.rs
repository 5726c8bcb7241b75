//! Q8_0 (`d`, `qs`), Q8_1 (`d`, `s`, `qs`) and Q8_K (`d`, `qs`, `bsums`): as weights, and as the forms in which
//! activations are held.

use gguf_spec::kernel::contract::Form;

use super::blocks;
use super::numbers::{float, half, signed, to_bf16, to_f16, word};

/// Bytes of a block of Q8_0.
pub(super) const BYTES_0: usize = 34;
/// Bytes of a block of Q8_1.
pub(super) const BYTES_1: usize = 36;
/// Bytes of a block of Q8_K.
pub(super) const BYTES_K: usize = 292;

pub(super) fn d_0(block: &[u8]) -> f32 {
    half(block, 0)
}

pub(super) fn codes_0(block: &[u8]) -> &[u8] {
    &block[2..BYTES_0]
}

pub(super) fn d_1(block: &[u8; BYTES_1]) -> f32 {
    half(block, 0)
}

/// The scale times the sum of the codes.
pub(super) fn s_1(block: &[u8; BYTES_1]) -> f32 {
    half(block, 2)
}

pub(super) fn codes_1(block: &[u8; BYTES_1]) -> &[u8] {
    &block[4..]
}

pub(super) fn d_k(block: &[u8; BYTES_K]) -> f32 {
    f32::from_le_bytes([block[0], block[1], block[2], block[3]])
}

pub(super) fn codes_k(block: &[u8; BYTES_K]) -> &[u8] {
    &block[4..260]
}

/// The sum of the 16 codes of a group.
pub(super) fn bsum_k(block: &[u8; BYTES_K], group: usize) -> i32 {
    i32::from(word(block, 260 + 2 * group).cast_signed())
}

fn scale(d: f32, codes: &[u8], out: &mut [f32]) {
    for (out, &q) in out.iter_mut().zip(codes) {
        *out = d * float(signed(q));
    }
}

/// Rows of Q8_0.
pub(super) fn decode_0(row: &[u8], out: &mut [f32]) {
    blocks::decode::<BYTES_0, 32>(row, out, |b, out| scale(d_0(b), codes_0(b), out));
}

/// Rows of Q8_1.
pub(super) fn decode_1(row: &[u8], out: &mut [f32]) {
    blocks::decode::<BYTES_1, 32>(row, out, |b, out| scale(d_1(b), codes_1(b), out));
}

/// Rows of Q8_K.
pub(super) fn decode_k(row: &[u8], out: &mut [f32]) {
    blocks::decode::<BYTES_K, 256>(row, out, |b, out| scale(d_k(b), codes_k(b), out));
}

/// Q8_0 with Q8_0.
pub(super) fn dot_0(row: &[u8], activations: &[u8]) -> f32 {
    blocks::dot::<BYTES_0, BYTES_0>(row, activations, |b, y| {
        let sum: i32 = codes_0(b).iter().zip(codes_0(y)).map(|(&q, &y)| signed(q) * signed(y)).sum();
        d_0(b) * d_0(y) * float(sum)
    })
}

/// Appends activations in a form; nothing for the exact one, which needs none.
pub(super) fn hold(form: Form, values: &[f32], out: &mut Vec<u8>) {
    match form {
        Form::Exact => {}
        Form::F16 => out.extend(values.iter().flat_map(|&value| to_f16(value).to_le_bytes())),
        Form::Bf16 => out.extend(values.iter().flat_map(|&value| to_bf16(value).to_le_bytes())),
        Form::Q8_0 => values.as_chunks::<32>().0.iter().for_each(|values| hold_0(values, out)),
        Form::Q8_1 => values.as_chunks::<32>().0.iter().for_each(|values| hold_1(values, out)),
        Form::Q8K => values.as_chunks::<256>().0.iter().for_each(|values| hold_k(values, out)),
    }
}

/// A code: rounded, held in range; a NaN is 0.
#[expect(clippy::cast_possible_truncation, reason = "it saturates")]
fn code(rounded: f32) -> i8 {
    rounded as i8
}

/// The scale that makes the largest magnitude 127, and the codes under it, halves rounded away from zero.
fn codes_of(values: &[f32; 32]) -> (f32, [i8; 32]) {
    let largest = values.iter().fold(0.0_f32, |largest, value| largest.max(value.abs()));
    let d = largest / 127.0;
    let inverse = if d == 0.0 { 0.0 } else { 1.0 / d };
    (d, values.map(|value| code((value * inverse).round())))
}

fn push(codes: &[i8], out: &mut Vec<u8>) {
    out.extend(codes.iter().map(|code| code.cast_unsigned()));
}

fn hold_0(values: &[f32; 32], out: &mut Vec<u8>) {
    let (d, codes) = codes_of(values);
    out.extend(to_f16(d).to_le_bytes());
    push(&codes, out);
}

/// The sum is that of the codes, times the scale before it became a binary16.
fn hold_1(values: &[f32; 32], out: &mut Vec<u8>) {
    let (d, codes) = codes_of(values);
    let sum: i32 = codes.iter().map(|&code| i32::from(code)).sum();
    out.extend(to_f16(d).to_le_bytes());
    out.extend(to_f16(float(sum) * d).to_le_bytes());
    push(&codes, out);
}

/// The value of the largest magnitude, the first of equals, becomes -127.
fn hold_k(values: &[f32; 256], out: &mut Vec<u8>) {
    let largest = values.iter().fold(0.0_f32, |largest, &v| if v.abs() > largest.abs() { v } else { largest });
    if largest == 0.0 {
        out.resize(out.len() + BYTES_K, 0);
        return;
    }
    let inverse = -127.0 / largest;
    let codes = values.map(|value| code((inverse * value).round_ties_even()));
    out.extend((1.0 / inverse).to_le_bytes());
    push(&codes, out);
    for group in codes.chunks_exact(16) {
        let sum: i16 = group.iter().map(|&code| i16::from(code)).sum();
        out.extend(sum.to_le_bytes());
    }
}
