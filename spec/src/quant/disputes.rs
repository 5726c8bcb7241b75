//! Blocks that mean different things to different programs.

use crate::types::{ScaleKind, TensorType};

use super::formats::{mxfp4, nvfp4, q8_1, q8_k};
use super::numbers::{nearest_f32, power_of_two};

/// What one program makes of a disputed block.
#[derive(Clone, Copy, Debug)]
pub struct Side {
    /// The program or document.
    pub who: &'static str,
    /// What it says.
    pub says: &'static str,
    /// What a disputed scale stands for; `None` if the dispute is about something else.
    scale: Option<fn(u8) -> f64>,
}

/// Blocks on which programs differ.
#[derive(Clone, Copy, Debug)]
pub struct Dispute {
    /// The name of the type.
    pub ty: &'static str,
    /// Which blocks.
    pub blocks: &'static str,
    /// Who says what. The first side is the one that [`decode`](super::decode) takes.
    pub sides: &'static [Side],
    about: About,
}

/// A scale of one byte, and twice the value of the code that it scales.
type Parts = (u8, i32);

/// What a dispute is about.
#[derive(Clone, Copy, Debug)]
enum About {
    /// Scales of one byte: that of a weight of a block, if it is disputed.
    Scale(fn(&[u8], usize) -> Option<Parts>),
    /// Sums that are stored beside the codes they should be of. Decoders do not use them.
    Sums(fn(&[u8]) -> bool),
}

const fn side(who: &'static str, says: &'static str) -> Side {
    Side { who, says, scale: None }
}

impl Side {
    const fn reads(self, scale: fn(u8) -> f64) -> Self {
        Self { scale: Some(scale), ..self }
    }
}

const RUN: &str = "ggml 0.25.1, CPU (run)";

/// The disputes. What is marked as run was seen; the rest was read in sources.
pub const DISPUTES: [Dispute; 5] = [
    Dispute {
        ty: "MXFP4",
        blocks: "e = 0xFF",
        sides: &[
            side(RUN, "a power of two like the others, 2^128: code 1 is 2^127, what is larger infinite, code 0 zero")
                .reads(|_| power_of_two(128)),
            side("OCP Microscaling Formats 1.0, as E8M0 of ml_dtypes 0.5.4 (run)", "NaN").reads(|_| f64::NAN),
            side("ggml, CUDA, built with CUDA 12.8 or later", "NaN, by the conversion of E8M0 that CUDA has")
                .reads(|_| f64::NAN),
            side(
                "ggml, older CUDA, Vulkan, Metal and OpenCL",
                "an infinite scale: code 0 is NaN, all others are infinite",
            )
            .reads(|_| f64::INFINITY),
        ],
        about: About::Scale(|block, weight| scaled(mxfp4::parts(block, weight), |scale| scale == 0xFF)),
    },
    Dispute {
        ty: "NVFP4",
        blocks: "a scale of 0x7F",
        sides: &[
            side(RUN, "zero").reads(|_| 0.0),
            side("ggml, CUDA", "zero").reads(|_| 0.0),
            side("OCP 8-bit floating point, as E4M3 of ml_dtypes 0.5.4 (run)", "NaN").reads(|_| f64::NAN),
        ],
        about: About::Scale(|block, weight| scaled(nvfp4::parts(block, weight), |scale| scale == 0x7F)),
    },
    Dispute {
        ty: "NVFP4",
        blocks: "a scale of 0x80 to 0xFF",
        sides: &[
            side(RUN, "the top bit means nothing; 0xFF is 480, since only 0x7F is looked for")
                .reads(|scale| ScaleKind::Ue4M3.value(scale.into())),
            side("ggml, CUDA, with the 8-bit floats of the device", "signed E4M3: negative; 0xFF is zero")
                .reads(|scale| if scale == 0xFF { 0.0 } else { signed(scale) }),
            side("ggml, CUDA, without them", "the top bit means nothing; 0xFF is zero")
                .reads(|scale| ScaleKind::Ue4M3.value((scale & 0x7F).into())),
            side("OCP 8-bit floating point, as E4M3 of ml_dtypes 0.5.4 (run)", "signed: negative; 0xFF is NaN")
                .reads(|scale| if scale == 0xFF { f64::NAN } else { signed(scale) }),
        ],
        about: About::Scale(|block, weight| scaled(nvfp4::parts(block, weight), |scale| scale >= 0x80)),
    },
    Dispute {
        ty: "Q8_1",
        blocks: "s is not d times the sum of the codes",
        sides: &[
            side("this project", "the codes count: there is no decoder in ggml 0.25.1"),
            side("ggml, kernels for Q4_1, Q5_1", "the minimum of the other side is multiplied with s"),
        ],
        about: About::Sums(q8_1::contradicts),
    },
    Dispute {
        ty: "Q8_K",
        blocks: "bsums are not the sums of the codes",
        sides: &[
            side(RUN, "the codes count"),
            side(
                "ggml, kernels for Q2_K, Q4_K, Q5_K and others",
                "the minimum of the other side is multiplied with bsums",
            ),
        ],
        about: About::Sums(q8_k::contradicts),
    },
];

/// The scale and the code of a weight, if the scale is a disputed one.
fn scaled(parts: Parts, disputed: fn(u8) -> bool) -> Option<Parts> {
    Some(parts).filter(|&(scale, _)| disputed(scale))
}

/// The value of an E4M3 with its top bit set, as its sign; other than the NaN.
fn signed(scale: u8) -> f64 {
    -ScaleKind::Ue4M3.value((scale & 0x7F).into())
}

impl Dispute {
    fn concerns(&self, block: &[u8], weights: usize) -> bool {
        match self.about {
            About::Scale(parts) => (0..weights).any(|weight| parts(block, weight).is_some()),
            About::Sums(contradicts) => contradicts(block),
        }
    }
}

/// The dispute about the scale of a weight, and what each of its sides, in their order, makes of the weight; `None` if
/// the scale is not disputed.
///
/// # Panics
///
/// If the bytes are not a block of the type, or it has fewer weights.
#[must_use]
pub fn readings(ty: &TensorType, block: &[u8], weight: usize) -> Option<(&'static Dispute, Vec<f32>)> {
    DISPUTES.iter().filter(|dispute| dispute.ty == ty.name).find_map(|dispute| {
        let About::Scale(parts) = dispute.about else { return None };
        let (scale, code) = parts(block, weight)?;
        let sides = dispute.sides.iter().filter_map(|side| side.scale);
        Some((dispute, sides.map(|reads| nearest_f32(reads(scale) / 2.0 * f64::from(code))).collect()))
    })
}

/// The dispute that a block falls under; `None` too if the bytes are not one block of the type.
#[must_use]
pub fn disputed(ty: &TensorType, block: &[u8]) -> Option<&'static Dispute> {
    if block.len() as u64 != ty.bytes {
        return None;
    }
    let weights = usize::try_from(ty.block).unwrap_or_default();
    DISPUTES.iter().find(|dispute| dispute.ty == ty.name && dispute.concerns(block, weights))
}
