//! Inputs of which there is one right result, in whatever order it is added up.
//!
//! A sum in binary floating point is exact while every partial sum is a multiple of one power of two and less
//! than 2^p of them, p the bits of the significand. So weights and activations are made of small integers times
//! powers of two, and the sum of the magnitudes of all parts that a kernel may add is kept below that: see
//! [`Component::partial`]. What the activations are held in changes none of them, and none is zero, so that no
//! weight goes unseen.
//!
//! Scales differ from block to block, in weights and in activations: a kernel that takes the wrong one is seen.

use gguf_spec::kernel::contract::{Accumulator, Contract, Form};
use gguf_spec::quant::blocks::{Scales, random};
use gguf_spec::quant::{self, Place, QuantError, Role, Weight};
use gguf_spec::types::{ScaleKind, TensorType};
use rand::seq::IndexedRandom;
use rand::{Rng, RngExt};

use super::cases::{Case, ScaleClass, block};
use super::components::{Component, components};
use super::draw::{codes, exponents, kind, mirror_row, mirrored};
use super::inputs::NoRoom;
use super::numbers::{form_block, lowest_bit, nonzero, power, round_f32};

/// How often the weights may be made smaller to fit.
const LEVELS: u32 = 8;

/// Weights whose sums are exact, and what activations they leave room for.
pub(super) struct Room {
    /// The rows of all experts.
    pub(super) rows: Vec<Vec<u8>>,
    /// The largest integer that an activation may be made of.
    amplitude: i32,
    /// Activations are multiplied with two to the power of 0 to this, block by block.
    spread: i32,
}

impl Room {
    /// Without any weights.
    pub(super) fn unlimited() -> Self {
        Self { rows: Vec::new(), amplitude: 127, spread: 2 }
    }
}

/// Draws rows, smaller and smaller ones, until their sums fit.
pub(super) fn rows(case: &Case, contract: &Contract, rng: &mut impl Rng) -> Result<Room, NoRoom> {
    if contract.flushes_subnormals && matches!(case.scales, ScaleClass::Smallest | ScaleClass::Subnormal) {
        return Err(NoRoom("the contract lets subnormal numbers become zero".to_owned()));
    }
    let no_room = |e: QuantError| NoRoom(e.to_string());
    let choices = multipliers(case.ty).map_err(no_room)?;
    let mirrored = mirrored(case, contract.activations);
    'levels: for level in 0..=LEVELS {
        let (mut rows, mut parts) = (Vec::new(), Vec::new());
        for _ in 0..case.rows * case.experts.max(1) {
            let mut row = row(case, level, &choices, rng).map_err(no_room)?;
            mirror_row(case.ty, &mut row, mirrored);
            let row_parts = components(case.ty, &row);
            // One row that does not fit is enough; what follows need not be drawn.
            if room(std::slice::from_ref(&row_parts), contract).is_none() {
                continue 'levels;
            }
            rows.push(row);
            parts.push(row_parts);
        }
        if let Some((amplitude, spread)) = room(&parts, contract) {
            return Ok(Room { rows, amplitude, spread });
        }
    }
    Err(NoRoom(format!(
        "no sum of {} products of {} is exact with weights as {}, activations as {} and {:?}",
        case.k,
        case.ty.name,
        contract.weights.name(),
        contract.activations.name(),
        contract.accumulator
    )))
}

/// A column for those rows.
pub(super) fn column(case: &Case, form: Form, room: &Room, rng: &mut impl Rng) -> Vec<f32> {
    // Nothing small is made smaller still.
    let base = if matches!(case.scales, ScaleClass::Smallest | ScaleClass::Subnormal) { 0 } else { -2 };
    let length = form_block(form).unwrap_or(32);
    let mirrored = mirrored(case, form);
    let mut values: Vec<f32> = Vec::with_capacity(case.k);
    while values.len() < case.k {
        let start = values.len();
        let length = length.min(case.k - start);
        if (mirrored..2 * mirrored).contains(&start) {
            let taken_back: Vec<f32> = values[start - mirrored..][..length].iter().map(|value| -value).collect();
            values.extend(taken_back);
            continue;
        }
        let scale = round_f32(power(base + rng.random_range(0..=room.spread)));
        let draw = |amplitude| move |rng: &mut _| i8::try_from(nonzero(rng, amplitude)).unwrap_or(1);
        let codes: Vec<i8> = match form_block(form) {
            Some(_) => codes(length, rng, draw(room.amplitude)),
            None => (0..length).map(|_| draw(room.amplitude)(rng)).collect(),
        };
        values.extend(codes.into_iter().map(|code| f32::from(code) * scale));
    }
    values
}

/// The largest amplitude and spread of activations with which every sum is exact; `None` if there are none.
fn room(rows: &[Vec<Component>], contract: &Contract) -> Option<(i32, i32)> {
    let parts = || rows.iter().flatten();
    let unit = parts()
        .flat_map(|c| [c.product, c.offset, c.implied, c.value()])
        .filter(|part| *part != 0.0)
        .map(lowest_bit)
        .fold(f64::INFINITY, f64::min);
    if unit.is_infinite() {
        // Nothing but zeros.
        return Some((127, 2));
    }
    let held = parts().all(|c| {
        c.magnitude().is_finite()
            && [c.product, c.offset, c.implied, c.raw(), c.value()]
                .iter()
                .all(|&part| unchanged(contract.weights, part))
    });
    if !held {
        return None;
    }
    // A code of 127 in every block, for forms that scale by blocks.
    let block = form_block(contract.activations);
    let (mark, most) = if block.is_some() { (127.0, 127) } else { (0.0, 127) };
    (0..=2).rev().find_map(|spread| {
        let amplitude = rows
            .iter()
            .map(|row| {
                let all: f64 = row.iter().map(Component::partial).sum::<f64>() / unit;
                let marked: f64 = row.chunks(block.unwrap_or(row.len())).map(largest).sum::<f64>() / unit * mark;
                let mut amplitude = (limit(24) / power(spread) - marked) / all;
                if let Accumulator::F16 { chunk } = contract.accumulator {
                    let chunk = chunk_sum(row, chunk) / unit;
                    // A block has one mark; a chunk, which may be made of any elements, as many as blocks have.
                    let room = power(11) / power(spread) / chunk;
                    amplitude = amplitude.min(if block.is_some() && room < mark { 0.0 } else { room });
                }
                amplitude
            })
            .fold(f64::from(most), f64::min);
        (amplitude >= 1.0).then(|| (floor(amplitude), spread))
    })
}

/// Half of two to this power: whoever takes codes from a middle that differs a little from ours fits too.
fn limit(bits: i32) -> f64 {
    power(bits - 1)
}

fn largest(parts: &[Component]) -> f64 {
    parts.iter().map(Component::partial).fold(0.0, f64::max)
}

/// The most that so many of the parts come to.
fn chunk_sum(row: &[Component], chunk: u32) -> f64 {
    let mut parts: Vec<f64> = row.iter().map(Component::partial).collect();
    parts.sort_by(|a, b| b.total_cmp(a));
    parts.iter().take(usize::try_from(chunk).unwrap_or(usize::MAX)).sum()
}

#[expect(clippy::cast_possible_truncation, reason = "between 1 and 127")]
fn floor(amplitude: f64) -> i32 {
    amplitude as i32
}

/// Whether a form of weights holds a number as it is.
fn unchanged(form: Form, value: f64) -> bool {
    let bits = match form {
        Form::F16 => 11,
        Form::Bf16 => 8,
        Form::Exact | Form::Q8_0 | Form::Q8_1 | Form::Q8K => 24,
    };
    let in_range = match form {
        Form::F16 => value.abs() < 65536.0 && (value == 0.0 || lowest_bit(value) >= power(-24)),
        _ => value == 0.0 || lowest_bit(value) >= power(-149),
    };
    in_range && (value == 0.0 || value.abs() / lowest_bit(value) < power(bits))
}

/// One row at a level: scales that are powers of two, sub-scales among the smallest, codes of every kind.
fn row(case: &Case, level: u32, choices: &[u64], rng: &mut impl Rng) -> Result<Vec<u8>, QuantError> {
    let ty = case.ty;
    let kind = kind(ty);
    let (low, high) = exponents(case.scales, kind);
    let spread = [2, 2, 2, 1, 1].get(usize::try_from(level).unwrap_or(usize::MAX)).copied().unwrap_or(0);
    let mut bytes = Vec::new();
    let Some(format) = ty.format else { return Err(QuantError::Removed { ty: ty.name }) };
    for _ in 0..case.k / block(ty) {
        let zero = case.scales == ScaleClass::Zero && rng.random();
        let mut block = random(ty, rng, &Scales::exact(0.0))?;
        for (role, place) in format.places(|_| true) {
            match role {
                Role::Scale(kind) if zero && kind != ScaleKind::E8M0 => place.write(&mut block, 0),
                Role::Scale(kind) => {
                    let exponent = (low + rng.random_range(0..=spread)).min(high.max(low));
                    place.write(&mut block, kind.nearest(round_f32(power(exponent))));
                }
                // In the end, only the lower half of all codes.
                Role::Code if level >= 7 && place.bits() > 1 => {
                    let code = place.read(&block);
                    place.write(&mut block, code & !(1 << (place.bits() - 1)));
                }
                Role::SubScale => place.write(&mut block, pick(choices, level, rng)),
                Role::SubMin => place.write(&mut block, rng.random_range(0..1_u64 << place.bits()) >> level),
                // Five bits below the largest power of two there is room for the integer.
                Role::Value => write_value(ty, &mut block, level, power(low.min(high - 5)), zero, rng)?,
                _ => {}
            }
        }
        settle(ty, &mut block);
        bytes.extend(block);
    }
    Ok(bytes)
}

/// A plain number: a small integer times a power of two.
fn write_value(
    ty: &TensorType,
    block: &mut [u8],
    level: u32,
    scale: f64,
    zero: bool,
    rng: &mut impl Rng,
) -> Result<(), QuantError> {
    let integer = nonzero(rng, (31 >> level).max(1));
    quant::encode(ty, &[if zero { 0.0 } else { round_f32(f64::from(integer) * scale) }], block)
}

/// Stored sums that agree with the codes and the new scale.
fn settle(ty: &TensorType, block: &mut [u8]) {
    let Some(format) = ty.format else { return };
    let places = |role| format.places(move |r| r == role).map(|(_, place)| place);
    if let Some(sum) = places(Role::FloatSum(ScaleKind::F16)).next() {
        let mut weights = vec![Weight::default(); super::cases::block(ty)];
        if quant::weights(ty, block, &mut weights).is_ok() {
            let total: f64 = weights.iter().map(|w| w.product).sum();
            sum.write(block, ScaleKind::F16.nearest(round_f32(total)));
        }
    }
}

fn pick(choices: &[u64], level: u32, rng: &mut impl Rng) -> u64 {
    // In the end, all of them the smallest.
    let least = if level < 6 { 2 } else { 1 };
    let count = (choices.len() >> level).max(least).min(choices.len());
    choices[..count].choose(rng).copied().unwrap_or(0)
}

/// The values of a stored sub-scale, those first by which weights are multiplied least.
fn multipliers(ty: &TensorType) -> Result<Vec<u64>, QuantError> {
    let Some(format) = ty.format else { return Err(QuantError::Removed { ty: ty.name }) };
    let places: Vec<Place> = format.places(|role| role == Role::SubScale).map(|(_, place)| place).collect();
    let Some(first) = places.first() else { return Ok(Vec::new()) };
    let mut rng = super::numbers::rng(ty.name, "multipliers");
    let mut block = random(ty, &mut rng, &Scales::exact(1.0))?;
    let mut weights = vec![Weight::default(); super::cases::block(ty)];
    let mut sized = Vec::new();
    for value in 0..1_u64 << first.bits() {
        places.iter().for_each(|place| place.write(&mut block, value));
        quant::weights(ty, &block, &mut weights)?;
        sized.push((weights.iter().map(|w| w.product.abs()).sum::<f64>(), value));
    }
    sized.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    Ok(sized.into_iter().map(|(_, value)| value).collect())
}
