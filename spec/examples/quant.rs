//! Blocks of tensor data on the command line, so that any program can be compared with the
//! specification: raw bytes in, raw bytes out. [`USAGE`] says how.

use std::io::{self, ErrorKind, Read, Write};
use std::process::ExitCode;
use std::str::FromStr;

use gguf_spec::quant::blocks::{Edge, Scales, edges, random};
use gguf_spec::quant::{decode, encode};
use gguf_spec::types::TensorType;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

const USAGE: &str = "\
usage:
  quant decode TYPE < blocks > f32          weights, little-endian; any NaN is 0x7fc00000, as in the golden decodes;
                                            zeros may have another sign than there
  quant encode TYPE < f32 > blocks          for types whose encoder has a closed form
  quant random TYPE COUNT SEED > blocks     drawn blocks, any bits
  quant edges TYPE > blocks                 every edge of the type

Exit codes: 0 all of it was written; 1 the input does not fit the type, or something could not be read or written;
2 the command line is wrong. Who closes the output early is told nothing, and the exit code is 1.";

/// Why nothing, or not all, was written.
enum Failure {
    /// The command line makes no sense.
    Usage(String),
    /// The input or the type is not for this command.
    Data(String),
    /// Standard input or output failed.
    Stream(&'static str, io::Error),
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let ended = match args.as_slice() {
        [only] if only == "--help" || only == "-h" => write(format!("{USAGE}\n").as_bytes()),
        args => output(args).and_then(|bytes| write(&bytes)),
    };
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure::Usage(message)) => told(&format!("{message}\n{USAGE}"), 2),
        Err(Failure::Data(message)) => told(&message, 1),
        Err(Failure::Stream(_, error)) if error.kind() == ErrorKind::BrokenPipe => ExitCode::from(1),
        Err(Failure::Stream(stream, error)) => told(&format!("{stream}: {error}"), 1),
    }
}

fn told(message: &str, code: u8) -> ExitCode {
    eprintln!("error: {message}");
    ExitCode::from(code)
}

/// What a command writes.
fn output(args: &[String]) -> Result<Vec<u8>, Failure> {
    let [command, name, more @ ..] = args else {
        return Err(Failure::Usage("expected a command and a tensor type".to_owned()));
    };
    let ty = TensorType::from_name(name)
        .ok_or_else(|| Failure::Usage(format!("{name} is not a tensor type; spec/SPEC.md lists them")))?;
    match (command.as_str(), more) {
        ("decode", []) => decoded(ty, &input()?),
        ("encode", []) => encoded(ty, &input()?),
        ("edges", []) => {
            let each = Edge::ALL.iter().map(|&edge| edges(ty, edge)).collect::<Result<Vec<_>, _>>().map_err(data)?;
            Ok(each.into_iter().flatten().flatten().collect())
        }
        ("random", [count, seed]) => {
            let mut rng = ChaCha8Rng::seed_from_u64(number("SEED", seed)?);
            let blocks = (0..number("COUNT", count)?).map(|_: u64| random(ty, &mut rng, &Scales::Any));
            Ok(blocks.collect::<Result<Vec<_>, _>>().map_err(data)?.into_iter().flatten().collect())
        }
        ("decode" | "encode" | "edges", _) => Err(Failure::Usage(format!("{command}: expected nothing behind {name}"))),
        ("random", _) => Err(Failure::Usage(format!("random: expected COUNT and SEED behind {name}"))),
        _ => Err(Failure::Usage(format!("there is no command {command}"))),
    }
}

fn decoded(ty: &TensorType, bytes: &[u8]) -> Result<Vec<u8>, Failure> {
    let mut values = vec![0.0; output_length(bytes.len(), ty.bytes, ty.block)?];
    decode(ty, bytes, &mut values).map_err(data)?;
    // Which NaN comes out of a sum depends on the machine; the golden decodes have one.
    let canonical = |value: &f32| if value.is_nan() { f32::from_bits(0x7fc0_0000) } else { *value };
    Ok(values.iter().flat_map(|value| canonical(value).to_le_bytes()).collect())
}

fn encoded(ty: &TensorType, bytes: &[u8]) -> Result<Vec<u8>, Failure> {
    let (values, rest) = bytes.as_chunks();
    if !rest.is_empty() {
        let length = bytes.len();
        return Err(Failure::Data(format!("input: expected binary32 numbers of 4 bytes each, found {length} bytes")));
    }
    let values: Vec<f32> = values.iter().map(|&bytes| f32::from_le_bytes(bytes)).collect();
    let mut out = vec![0; output_length(values.len(), ty.block, ty.bytes)?];
    encode(ty, &values, &mut out).map_err(data)?;
    Ok(out)
}

/// How long the output is where each `from` units of the input become `to`; what is over is for the library to refuse.
fn output_length(input: usize, from: u64, to: u64) -> Result<usize, Failure> {
    let length = (input as u64 / from.max(1)).checked_mul(to).and_then(|length| usize::try_from(length).ok());
    length.ok_or_else(|| Failure::Data(format!("input: expected less of it, found {input} bytes or numbers")))
}

fn data(error: impl std::fmt::Display) -> Failure {
    Failure::Data(error.to_string())
}

fn number<T: FromStr>(name: &str, text: &str) -> Result<T, Failure> {
    text.parse().map_err(|_| Failure::Usage(format!("{name}: expected a number, found {text}")))
}

fn input() -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    io::stdin().read_to_end(&mut bytes).map_err(|error| Failure::Stream("standard input", error))?;
    Ok(bytes)
}

fn write(bytes: &[u8]) -> Result<(), Failure> {
    let mut out = io::stdout();
    out.write_all(bytes).and_then(|()| out.flush()).map_err(|error| Failure::Stream("standard output", error))
}
