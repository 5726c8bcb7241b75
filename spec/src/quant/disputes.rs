//! Blocks that mean different things to different programs.

use crate::types::TensorType;

use super::formats::{q8_1, q8_k};

/// What one program makes of a disputed block.
#[derive(Clone, Copy, Debug)]
pub struct Side {
    /// The program or document.
    pub who: &'static str,
    /// What it says.
    pub says: &'static str,
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
    concerns: fn(&[u8]) -> bool,
}

const fn side(who: &'static str, says: &'static str) -> Side {
    Side { who, says }
}

const RUN: &str = "ggml 0.25.1, CPU (run)";

/// The disputes. What is marked as run was seen; the rest was not run.
pub const DISPUTES: [Dispute; 5] = [
    Dispute {
        ty: "MXFP4",
        blocks: "e = 0xFF",
        sides: &[
            side(RUN, "a power of two like the others, 2^128: code 1 is 2^127, what is larger infinite, code 0 zero"),
            side("OCP Microscaling Formats 1.0", "NaN"),
            side("ggml, CUDA, built with CUDA 12.8 or later", "NaN, by the conversion of E8M0 that CUDA has"),
            side("ggml, older CUDA, Vulkan and Metal", "an infinite scale: code 0 is NaN, all others are infinite"),
        ],
        concerns: |block| block[0] == 0xFF,
    },
    Dispute {
        ty: "NVFP4",
        blocks: "a scale of 0x7F",
        sides: &[
            side(RUN, "zero"),
            side("ggml, CUDA", "zero"),
            side("E4M3 of the OCP 8-bit floating point specification", "NaN"),
        ],
        concerns: |block| block[..4].contains(&0x7F),
    },
    Dispute {
        ty: "NVFP4",
        blocks: "a scale of 0x80 to 0xFF",
        sides: &[
            side(RUN, "the top bit means nothing; 0xFF is 480, since only 0x7F is looked for"),
            side("ggml, CUDA, with the 8-bit floats of the device", "signed E4M3: negative; 0xFF NaN or zero"),
            side("ggml, CUDA, without them", "the top bit means nothing, or 0xFF is zero, by version"),
        ],
        concerns: |block| block[..4].iter().any(|&scale| scale >= 0x80),
    },
    Dispute {
        ty: "Q8_1",
        blocks: "s is not d times the sum of the codes",
        sides: &[
            side("this project", "the codes count: there is no decoder in ggml 0.25.1"),
            side("ggml, kernels for Q4_1, Q5_1", "the minimum of the other side is multiplied with s"),
        ],
        concerns: q8_1::contradicts,
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
        concerns: q8_k::contradicts,
    },
];

/// The dispute that a block falls under; `None` too if the bytes are not one block of the type.
#[must_use]
pub fn disputed(ty: &TensorType, block: &[u8]) -> Option<&'static Dispute> {
    if block.len() as u64 != ty.bytes {
        return None;
    }
    DISPUTES.iter().find(|dispute| dispute.ty == ty.name && (dispute.concerns)(block))
}
