//! Blocks of tensor data on the command line, so that any program can be compared with the
//! specification: raw bytes in, raw bytes out.
//!
//! ```sh
//! quant decode TYPE < blocks > f32          # weights, little-endian
//! quant encode TYPE < f32 > blocks
//! quant random TYPE COUNT SEED > blocks     # drawn blocks, any bits
//! quant edges TYPE > blocks                 # every edge of the type
//! ```

use std::error::Error;
use std::io::{Read, Write};

use gguf_spec::quant::blocks::{Edge, Scales, edges, random};
use gguf_spec::quant::{decode, encode};
use gguf_spec::types::TensorType;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

const USAGE: &str = "usage: quant decode|encode|edges TYPE, or quant random TYPE COUNT SEED";

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [command, name, more @ ..] = args.as_slice() else { return Err(USAGE.into()) };
    let ty = TensorType::from_name(name).ok_or_else(|| format!("{name} is not a tensor type; SPEC.md lists them"))?;
    let out = match (command.as_str(), more) {
        ("decode", []) => {
            let bytes = input()?;
            let blocks = bytes.len() as u64 / ty.bytes.max(1);
            let mut values = vec![0.0; usize::try_from(blocks * ty.block)?];
            decode(ty, &bytes, &mut values)?;
            values.iter().flat_map(|value| value.to_le_bytes()).collect()
        }
        ("encode", []) => {
            let bytes = input()?;
            let values: Vec<f32> = bytes.as_chunks().0.iter().map(|&bytes| f32::from_le_bytes(bytes)).collect();
            let blocks = values.len() as u64 / ty.block.max(1);
            let mut out = vec![0; usize::try_from(blocks * ty.bytes)?];
            encode(ty, &values, &mut out)?;
            out
        }
        ("edges", []) => {
            let each = Edge::ALL.iter().map(|&edge| edges(ty, edge)).collect::<Result<Vec<_>, _>>()?;
            each.into_iter().flatten().flatten().collect()
        }
        ("random", [count, seed]) => {
            let mut rng = ChaCha8Rng::seed_from_u64(seed.parse()?);
            let blocks = (0..count.parse()?).map(|_: u64| random(ty, &mut rng, &Scales::Any));
            blocks.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect()
        }
        _ => return Err(USAGE.into()),
    };
    Ok(std::io::stdout().write_all(&out)?)
}

fn input() -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    std::io::stdin().read_to_end(&mut bytes)?;
    Ok(bytes)
}
