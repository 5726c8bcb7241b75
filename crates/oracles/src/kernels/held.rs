//! What a form makes of a column of activations: how far each may be moved, and how far it is likely to be.

use gguf_spec::kernel::contract::Form;
use gguf_spec::types::ScaleKind;

use super::numbers::{form_block, power, real, round_f32};

/// From here on, a number is infinite in binary16: the largest finite one and half a unit more.
const F16_OVERFLOW: f64 = 65_520.0;

/// The smallest normal number of binary16.
const F16_NORMAL: i32 = -14;

/// A column, and what may happen to it.
#[derive(Clone, Debug)]
pub(super) struct Held {
    /// The activations.
    pub(super) x: Vec<f64>,
    /// How far each may be moved.
    pub(super) error: Vec<f64>,
    /// The variance of that, if roundings are uniform and independent.
    pub(super) variance: Vec<f64>,
    /// Elements of a block; of forms without blocks, all.
    pub(super) block: usize,
    /// The blocks.
    pub(super) blocks: Vec<Block>,
    /// Whether the form can hold the column at all. If not, a result that is not finite is right too.
    pub(super) holds: bool,
    /// The largest magnitude.
    pub(super) largest: f64,
}

/// A block of a column.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Block {
    /// By how much of itself the block as a whole may be moved: the stored scale is not the exact one.
    pub(super) drift: f64,
    /// How far the stored sum may be from the sum of what is stored.
    pub(super) sum_error: f64,
}

impl Held {
    /// A column that its form holds as it is.
    pub(super) fn unchanged(column: &[f32]) -> Self {
        Self::new(column, Form::Exact, false)
    }

    /// A column in a form; `flushes` says whether subnormal numbers may become zero.
    pub(super) fn new(column: &[f32], form: Form, flushes: bool) -> Self {
        let x: Vec<f64> = column.iter().map(|&x| f64::from(x)).collect();
        let largest = x.iter().fold(0.0, |largest: f64, x| largest.max(x.abs()));
        let mut held = Self {
            error: vec![0.0; x.len()],
            variance: vec![0.0; x.len()],
            block: form_block(form).unwrap_or(x.len()).max(1),
            blocks: Vec::new(),
            holds: true,
            largest,
            x,
        };
        match form {
            Form::Exact => held.blocks.push(Block::default()),
            Form::F16 | Form::Bf16 => held.one_by_one(form, flushes),
            Form::Q8_0 | Form::Q8_1 | Form::Q8K => held.by_blocks(form, flushes),
        }
        held
    }

    /// Rounding to nearest moves a number by at most half a unit of its last place: relative to the number
    /// while it is normal, and by 2^-25 below that in binary16. Uniform errors have a third of the square of
    /// their limit as variance.
    fn one_by_one(&mut self, form: Form, flushes: bool) {
        // The bfloat16 has the exponents of the binary32.
        let normal = power(if form == Form::F16 { F16_NORMAL } else { -126 });
        let least = power(if form == Form::F16 { -25 } else { -134 });
        for ((x, error), variance) in self.x.iter().zip(&mut self.error).zip(&mut self.variance) {
            let magnitude = x.abs();
            *error = if form.relative_error() * magnitude < least {
                least.min(magnitude)
            } else {
                form.relative_error() * magnitude
            };
            if flushes && magnitude < normal {
                *error = magnitude;
            }
            *variance = *error * *error / 3.0;
        }
        self.holds = form != Form::F16 || self.largest < F16_OVERFLOW;
        self.blocks.push(Block::default());
    }

    /// Codes of eight bits times a scale `d`, the largest magnitude over 127.
    ///
    /// The code is the quotient to the nearest integer: off by half a scale, and by a little more, since three
    /// roundings to binary32 (of the scale, of its inverse, of the quotient) move a quotient of up to 127 by at
    /// most 127 * 3 * 2^-24 < 2^-15. The stored scale is `d` rounded to binary16 (of Q8_K, to binary32, in three
    /// steps): that moves a code of up to 127 by 127 times the difference. If the codes are made with the stored
    /// scale instead, the two errors are the same but for the sign.
    fn by_blocks(&mut self, form: Form, flushes: bool) {
        for start in (0..self.x.len()).step_by(self.block) {
            let end = (start + self.block).min(self.x.len());
            let x = &self.x[start..end];
            let largest = x.iter().fold(0.0, |largest: f64, x| largest.max(x.abs()));
            let d = largest / 127.0;
            let sum: f64 = x.iter().sum();
            let (stored, difference) = match form {
                Form::Q8K => (d, d * power(-22)),
                _ => {
                    let stored = ScaleKind::F16.value(ScaleKind::F16.nearest(round_f32(d)));
                    let lost = flushes && d < power(F16_NORMAL);
                    (stored, if lost { d } else { (d - stored).abs() })
                }
            };
            // From binary32's own subnormal numbers on, d has few bits, or none.
            let difference = difference + power(-149);
            let unit = d.max(stored.min(2.0 * d));
            let step = unit / 2.0 * (1.0 + power(-14));
            self.error[start..end].fill(step + 127.0 * difference);
            // Uniform between minus and plus half a scale.
            self.variance[start..end].fill(unit * unit / 12.0);
            // Rounding a sum to binary16: relative to it, or 2^-25. It is that of the activations, or of what
            // the codes say, which is at most half a scale away for each of them; made with the scale before or
            // after it was rounded.
            let reach = sum.abs() + real(x.len()) * unit / 2.0;
            let sum_error = match form {
                Form::Q8_1 => reach * power(-11) + power(-25) + difference / d.max(power(-149)) * reach,
                _ => 0.0,
            };
            let drift = if d > 0.0 { difference / d } else { 0.0 };
            self.blocks.push(Block { drift, sum_error });
            self.holds &= match form {
                Form::Q8K => true,
                Form::Q8_1 => d < F16_OVERFLOW && reach < 65_504.0,
                _ => d < F16_OVERFLOW,
            };
        }
    }
}
