//! Blocks to start from: of every type, its edges and drawn ones. Functions of the tables alone.

use gguf_spec::quant::blocks::{Edge, Scales, edges, random};
use gguf_spec::quant::{self, QuantError};
use gguf_spec::types::TensorType;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::Seed;
use crate::Kind;
use crate::operands::{Shape, block_bytes, choice};

/// The blocks of a seed have at most so many bytes, but for a single one that is larger.
const MOST_BLOCKS: usize = 1024;

/// Activations of a seed: a prime, so that no two columns are alike.
const ACTIVATIONS: u8 = 61;

/// Inputs of one of the kinds that are made of blocks.
pub(super) fn all(kind: Kind) -> Vec<Seed> {
    let of_type = |ty: &'static TensorType| match named(ty) {
        Ok(named) => named,
        Err(error) => panic!("{}: {error}", ty.name),
    };
    let types = TensorType::live().map(|ty| (ty, of_type(ty)));
    let seeds = types.flat_map(|(ty, named)| {
        named.into_iter().enumerate().map(move |(number, (what, blocks))| {
            let blocks = thinned(blocks, (MOST_BLOCKS / block_bytes(ty)).max(1));
            (format!("{}-{what}", ty.name.to_lowercase()), input(kind, ty, number, &blocks))
        })
    });
    seeds.filter(|(_, bytes)| !bytes.is_empty()).collect()
}

/// Blocks with a name that says what they are.
type Named = (&'static str, Vec<Vec<u8>>);

/// The kinds of blocks of a type.
fn named(ty: &TensorType) -> Result<Vec<Named>, QuantError> {
    let mut named = Vec::new();
    for edge in Edge::ALL {
        let name = match edge {
            Edge::Scales => "scales",
            Edge::SubScales => "sub-scales",
            Edge::Codes => "codes",
            Edge::Grid => "grid",
            Edge::Signs => "signs",
        };
        named.push((name, edges(ty, edge)?));
    }
    let mut rng = ChaCha8Rng::seed_from_u64(u64::from(ty.id));
    for (name, scales) in [("usual", Scales::Exponents(-8..=-3)), ("wide", Scales::Exponents(-24..=2))] {
        let blocks: Result<Vec<_>, _> = (0..40).map(|_| random(ty, &mut rng, &scales)).collect();
        named.push((name, blocks?));
    }
    named.retain(|(_, blocks)| !blocks.is_empty());
    Ok(named)
}

/// So many of some blocks, evenly, with the first and the last.
fn thinned(blocks: Vec<Vec<u8>>, most: usize) -> Vec<Vec<u8>> {
    let count = blocks.len();
    if count <= most {
        return blocks;
    }
    let last = most.saturating_sub(1).max(1);
    (0..most).map(|i| blocks[i * (count - 1) / last].clone()).collect()
}

/// The input that holds these blocks; empty if that says nothing.
fn input(kind: Kind, ty: &TensorType, number: usize, blocks: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = vec![choice(ty)];
    if kind == Kind::Blocks {
        bytes.extend(blocks.concat());
        return bytes;
    }
    // Rows with weights that are not finite are not judged.
    let blocks: Vec<_> = blocks.iter().filter(|block| is_finite(ty, block)).cloned().collect();
    if blocks.is_empty() {
        return Vec::new();
    }
    let shapes = [
        Shape { rows: 3, blocks: 2, columns: 5, row_padding: 1, column_padding: 3, result_padding: 2, threads: 1 },
        Shape { rows: 1, blocks: 1, columns: 1, row_padding: 0, column_padding: 0, result_padding: 0, threads: 1 },
        Shape { rows: 8, blocks: 5, columns: 4, row_padding: 0, column_padding: 0, result_padding: 0, threads: 2 },
        Shape { rows: 5, blocks: 3, columns: 9, row_padding: 0, column_padding: 1, result_padding: 0, threads: 4 },
    ];
    let mut shape = shapes[number % shapes.len()];
    if !ty.quantized {
        // Longer than any vector, and with a rest.
        shape.blocks *= 11;
    }
    bytes.extend(shape.bytes());
    bytes.push(ACTIVATIONS - 1);
    let mut rng = ChaCha8Rng::seed_from_u64(u64::from(ty.id) << 8 | number as u64);
    for _ in 0..ACTIVATIONS {
        // Between an eighth and eight, of either sign, with all bits.
        let bits = rng.random_range(124..130_u32) << 23 | rng.random::<u32>() & 0x807F_FFFF;
        bytes.extend(bits.to_le_bytes());
    }
    bytes.extend(blocks.concat());
    bytes
}

fn is_finite(ty: &TensorType, block: &[u8]) -> bool {
    let mut values = vec![0.0; usize::try_from(ty.block).unwrap_or(0)];
    quant::decode(ty, block, &mut values).is_ok() && values.iter().all(|value| value.is_finite())
}
