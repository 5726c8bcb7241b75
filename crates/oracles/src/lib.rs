//! Oracles: each says whether something is right, in a sentence. They are free of any test engine,
//! so that tests, commands and fuzzers share them.
//!
//! Judgements on any bytes at all ([`any_file`] is all of them):
//!
//! - [`round_trip`]: encoding what was decoded gives the file back, and the other way round;
//! - [`places`]: the spans of the fields tile the file;
//! - [`findings`]: findings are ordered, inside the file, few, and in the field they name;
//! - [`profiles`]: profiles differ only where a rule says so;
//! - [`heads`]: a file read piece by piece is judged like the whole;
//! - [`documents`]: the JSON form of a document loses nothing.
//!
//! Judgements on files of which more is known:
//!
//! - [`rules`]: a file made to break one rule breaks that one alone;
//! - [`corpus`]: the specification says of every vector what the vector says;
//! - [`mutation`]: a reader that does not know a rule is caught by a vector.
//!
//! Judgements on readers:
//!
//! - [`mod@reader`]: the fast reader does what the specification says of any bytes;
//! - [`ggml`]: ggml's library does what its profiles say, but for a recorded list.
//!
//! Judgements on kernels: [`kernels`].
//!
//! And what they are applied to, and held to:
//!
//! - [`cases`]: files drawn from a number; [`hostile`]: files made to exhaust a reader;
//! - [`budget`]: how much memory a judgement may take;
//! - [`difference`]: the first place where two JSON values differ.
#![forbid(unsafe_code)]

pub mod budget;
pub mod cases;
pub mod corpus;
pub mod difference;
pub mod documents;
pub mod findings;
pub mod ggml;
pub mod heads;
pub mod hostile;
pub mod kernels;
pub mod mutation;
pub mod places;
pub mod profiles;
pub mod reader;
pub mod round_trip;
pub mod rules;

use gguf_spec::rules::Checks;

/// What an oracle answers: its statement holds, or a sentence on where it does not.
pub type Holds = Result<(), String>;

/// Everything that holds of any bytes at all, whether or not they are a file of the format.
///
/// # Errors
///
/// The first statement that does not hold, with its name.
pub fn any_file(bytes: &[u8]) -> Holds {
    let all = Checks::all();
    let named = |name: &str, holds: Holds| holds.map_err(|reason| format!("{name}: {reason}"));
    named("decode, then encode", round_trip::decode_encode(bytes, 0, &all))?;
    named("spans", places::tile(bytes, 0))?;
    named("findings", findings::sound(bytes))?;
    named("profiles", profiles::differ_only_by_rules(bytes))?;
    named("head or whole", heads::head_or_whole(bytes))?;
    named("document", documents::survive_json(bytes))
}
