//! Blocks and activations for the tiers in which something may be rounded.

use gguf_spec::kernel::contract::Form;
use gguf_spec::quant::blocks::{Edge, Scales, edges, random};
use gguf_spec::quant::{self, QuantError, Role};
use gguf_spec::types::{ScaleKind, TensorType};
use rand::{Rng, RngExt};

use super::cases::{ActivationClass, Case, ScaleClass, Tier, block, block_bytes};
use super::numbers::{form_block, nonzero, normal, power, round_f32, round_to};

/// The kind of number that scales a block; of plain types, the kind nearest to the type itself.
pub(super) fn kind(ty: &TensorType) -> ScaleKind {
    ty.scales()
        .next()
        .map_or_else(|| if ty.name == "F16" { ScaleKind::F16 } else { ScaleKind::F32 }, |field| field.kind)
}

/// The powers of two between which the scales of a class lie, for a kind of scale. `Normal` is the same for
/// every kind; so are zero and mixed ones, which are made of it.
pub(super) fn exponents(class: ScaleClass, kind: ScaleKind) -> (i32, i32) {
    match (class, kind) {
        (ScaleClass::Smallest, ScaleKind::F16 | ScaleKind::SplitF16) => (-14, -14),
        (ScaleClass::Smallest, ScaleKind::Ue4M3) => (-6, -6),
        (ScaleClass::Smallest, ScaleKind::F32 | ScaleKind::E8M0) => (-126, -126),
        (ScaleClass::Subnormal, ScaleKind::F16 | ScaleKind::SplitF16) => (-24, -15),
        (ScaleClass::Subnormal, ScaleKind::Ue4M3) => (-9, -7),
        (ScaleClass::Subnormal, ScaleKind::F32) => (-140, -127),
        (ScaleClass::Subnormal, ScaleKind::E8M0) => (-127, -127),
        (ScaleClass::Largest, ScaleKind::F16 | ScaleKind::SplitF16) => (15, 15),
        (ScaleClass::Largest, ScaleKind::Ue4M3) => (8, 8),
        // Far enough below the end of the range that a sum of products is in it.
        (ScaleClass::Largest, ScaleKind::F32 | ScaleKind::E8M0) => (98, 100),
        _ => (-6, -3),
    }
}

/// The blocks of one row, `index` blocks into the case.
pub(super) fn row(case: &Case, rng: &mut impl Rng) -> Result<Vec<u8>, QuantError> {
    let ty = case.ty;
    let count = case.k / block(ty);
    if case.scales == ScaleClass::Edges {
        return all_edges(ty).map(|edges| edges.into_iter().cycle().take(count).flatten().collect());
    }
    let plain = case.scales == ScaleClass::Normal && (!ty.quantized || case.tier == Tier::Ordinary);
    if plain && ty.format.is_some_and(quant::Format::has_encoder) {
        let values: Vec<f32> = (0..case.k).map(|_| normal(rng)).collect();
        let mut bytes = vec![0; count * block_bytes(ty)];
        quant::encode(ty, &values, &mut bytes)?;
        return Ok(bytes);
    }
    let end = (case.scales == ScaleClass::Ends).then(|| if rng.random() { u64::MAX } else { 0 });
    let mut bytes = Vec::with_capacity(count * block_bytes(ty));
    for index in 0..count {
        let scales = scales(case.scales, kind(ty), index, rng);
        let mut block = random(ty, rng, &scales)?;
        let codes = ty.format.into_iter().flat_map(|format| format.places(|role| role == Role::Code));
        if let Some(end) = end {
            codes.for_each(|(_, place)| place.write(&mut block, end & ((1 << place.bits()) - 1)));
        }
        bytes.extend(block);
    }
    Ok(bytes)
}

/// Every edge block of a type, kind after kind.
pub(super) fn all_edges(ty: &TensorType) -> Result<Vec<Vec<u8>>, QuantError> {
    let mut blocks = Vec::new();
    for kind in Edge::ALL {
        blocks.extend(edges(ty, kind)?);
    }
    Ok(blocks)
}

fn scales(class: ScaleClass, kind: ScaleKind, index: usize, rng: &mut impl Rng) -> Scales {
    let (low, high) = exponents(class, kind);
    let sign = if rng.random() { 1.0 } else { -1.0 };
    match class {
        ScaleClass::Any => Scales::Any,
        ScaleClass::Zero if rng.random() => Scales::exact(0.0),
        // Larger numbers than the kind has become its largest.
        ScaleClass::Largest if matches!(kind, ScaleKind::F16 | ScaleKind::SplitF16) => Scales::exact(sign * 65504.0),
        ScaleClass::Smallest => Scales::exact(sign * round_f32(power(low))),
        ScaleClass::Mixed if index.is_multiple_of(2) => Scales::Exponents(-12..=-10),
        ScaleClass::Mixed => Scales::Exponents(2..=4),
        _ => Scales::Exponents(low..=high),
    }
}

/// How many elements at the start are taken back by as many that follow them, and the rest behind. Whole blocks
/// on both sides, and at least one block is left, so that the result is not nothing.
pub(super) fn mirrored(case: &Case, form: Form) -> usize {
    let unit = block(case.ty).max(form_block(form).unwrap_or(1));
    match case.activations {
        ActivationClass::Cancelling => (case.k / unit).saturating_sub(1) / 2 * unit,
        _ => 0,
    }
}

/// Makes the second part of a row the same as the first.
pub(super) fn mirror_row(ty: &TensorType, row: &mut [u8], mirrored: usize) {
    let bytes = mirrored / block(ty) * block_bytes(ty);
    row.copy_within(..bytes, bytes);
}

/// One column of activations.
pub(super) fn column(case: &Case, form: Form, index: usize, rng: &mut impl Rng) -> Vec<f32> {
    let mirrored = mirrored(case, form);
    let mut values: Vec<f32> = match case.tier {
        Tier::Lossless => lossless(case.k, form, rng),
        _ => (0..case.k).map(|_| ordinary(case.activations, index, rng)).collect(),
    };
    if case.activations == ActivationClass::Zero {
        values.chunks_mut(32).filter(|_| index == 0 || rng.random()).for_each(|run| run.fill(0.0));
    }
    if mirrored > 0 {
        let (first, rest) = values.split_at_mut(mirrored);
        let (second, rest) = rest.split_at_mut(mirrored);
        for (a, b) in first.iter().zip(second) {
            *b = -a;
        }
        // By a power of two, so that what was lossless is.
        rest.iter_mut().for_each(|value| *value /= 64.0);
    }
    values
}

fn ordinary(class: ActivationClass, column: usize, rng: &mut impl Rng) -> f32 {
    let value = normal(rng);
    match (class, column) {
        (ActivationClass::Large, 0) => 4096.0 + 512.0 * value.clamp(-4.0, 4.0),
        (ActivationClass::Huge, 0) => (131_072.0 + 16_384.0 * value.abs().min(4.0)).copysign(value),
        (ActivationClass::Tiny, _) => value * round_f32(power(-18)),
        (ActivationClass::Ends, column) => {
            if column.is_multiple_of(2) {
                1.0
            } else {
                -1.0
            }
        }
        _ => value,
    }
}

/// Ordinary numbers among those that the form holds unchanged.
fn lossless(k: usize, form: Form, rng: &mut impl Rng) -> Vec<f32> {
    let Some(block) = form_block(form) else {
        return (0..k).map(|_| round_to(form, normal(rng))).collect();
    };
    let mut values = Vec::with_capacity(k);
    while values.len() < k {
        let length = block.min(k - values.len());
        let scale = round_f32(power(rng.random_range(-8..=-5)));
        let codes = codes(length, rng, |rng| round_code(40.0 * normal(rng)));
        values.extend(codes.into_iter().map(|code| f32::from(code) * scale));
    }
    values
}

#[expect(clippy::cast_possible_truncation, reason = "clamped to the range of a code")]
fn round_code(value: f32) -> i8 {
    value.round().clamp(-127.0, 127.0) as i8
}

/// The codes of one block that every way of quantizing gives back: one of them is 127 or -127, so that the
/// scale, its inverse and every quotient are exact; the sum fits the eleven bits of a binary16.
pub(super) fn codes<R: Rng>(length: usize, rng: &mut R, mut draw: impl FnMut(&mut R) -> i8) -> Vec<i8> {
    // At the ends more often than elsewhere: a loop that leaves one out is as likely to be wrong there.
    let mark = match rng.random_range(0..4) {
        0 => 0,
        1 => length - 1,
        _ => rng.random_range(0..length),
    };
    let mut sums = [0_i32; 8];
    (0..length)
        .map(|i| {
            let code = if i == mark { nonzero(rng, 1).signum() * 127 } else { i32::from(draw(rng)) };
            // The sum of 32 codes is what Q8_1 stores.
            let sum = &mut sums[i / 32];
            let code = if (*sum + code).abs() > 1900 { -code } else { code };
            *sum += code;
            i8::try_from(code).unwrap_or(i8::MAX)
        })
        .collect()
}
