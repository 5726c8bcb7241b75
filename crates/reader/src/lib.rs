//! A fast, strict reader of GGUF headers.
//!
//! It checks every rule that counts, verifies all UTF-8, and copies nothing: strings and arrays borrow
//! from the input. It reports one finding, the first. Memory is a few words for each pair and tensor
//! that is in the file; nothing is allocated because a count says so.
//!
//! ```
//! use assay_reader::{Policy, read};
//!
//! # let bytes = assay_reader::example();
//! let file = read(&bytes, Policy::strict())?;
//! let name = file.get("general.architecture").and_then(|value| value.as_str());
//! let tokens = file.get("tokenizer.ggml.tokens").and_then(|value| value.strings());
//! assert_eq!(name, Some("llama"));
//! assert_eq!(tokens.map(|tokens| tokens.len()), Some(2));
//! for tensor in file.tensors() {
//!     let range = tensor.range().unwrap_or_default();
//!     println!("{:?} {:?}: bytes {range:?}", tensor.name_str(), tensor.dims());
//! }
//! # Ok::<(), assay_reader::Refused>(())
//! ```
//!
//! [`Policy`] says whose rules count: those of one profile (the format document, or ggml in one of two
//! modes), or, for engines that want files that everybody reads alike, all of them.
//!
//! # Files that are not in memory
//!
//! [`read_head`] reads the first bytes of a file of which the rest can be asked for. The rest is looked
//! at for padding alone, so that the header of a file of any size is read by touching little more than
//! the header:
//!
//! ```
//! use assay_reader::{Policy, Refused, Stop, grown, read_head};
//! use gguf_spec::input::Input;
//!
//! # let bytes = assay_reader::example();
//! # let file: &[u8] = &bytes;
//! let mut size = 16; // a megabyte, say
//! let tensors = loop {
//!     let head = &file[..size.min(file.len())]; // read from the file
//!     match read_head(head, &file, Policy::strict()) {
//!         Ok(file) => break file.tensors().len(),
//!         Err(Stop::NeedMore { at_least }) => size = usize::try_from(grown(size as u64, at_least)).unwrap(),
//!         Err(stop) => panic!("{stop}"),
//!     }
//! };
//! assert_eq!(tensors, 1);
//! ```
#![forbid(unsafe_code)]

mod array;
mod cursor;
mod data;
mod elements;
mod error;
mod file;
mod index;
mod layout;
mod metadata;
mod policy;
mod read;
mod semantics;
mod size;
mod tensors;
mod text;
mod value;

pub use array::{Array, Arrays, Element, Strings};
pub use cursor::ByteOrder;
pub use error::{Refused, Stop};
pub use file::{File, Tensor};
pub use policy::Policy;
pub use value::{Number, Pair, Value};

use error::Halt;
use gguf_spec::input::Input;

/// Reads a whole file in memory.
///
/// # Errors
///
/// The first finding that counts.
pub fn read(bytes: &[u8], policy: Policy) -> Result<File<'_>, Refused> {
    match read::read(bytes, &bytes, policy) {
        Ok(file) => Ok(file),
        Err(Halt::Found(finding)) => Err(Refused::new(finding, policy)),
        Err(Halt::NeedMore(_) | Halt::Unreadable(_)) => unreachable!("the whole file is in memory"),
    }
}

/// Reads a file of which the first bytes are in memory. `input` tells its length and gives the bytes of
/// padding, which may lie anywhere; no others are asked for.
///
/// Each call starts at the first byte. Who makes the head larger by doubling it, as [`grown`] does, has
/// all calls together take no more than about twice the work of the last one.
///
/// # Errors
///
/// The first finding that counts, or that more of the file is needed, or that the input does not give
/// what it has.
pub fn read_head<'a>(head: &'a [u8], input: &dyn Input, policy: Policy) -> Result<File<'a>, Stop> {
    read::read(head, input, policy).map_err(|halt| match halt {
        Halt::Found(finding) => Stop::Refused(Refused::new(finding, policy)),
        Halt::NeedMore(at_least) => Stop::NeedMore { at_least },
        Halt::Unreadable(range) => Stop::Unreadable(range),
    })
}

/// The next size of a head, in bytes: what is needed, and no less than twice what there was. It may be
/// more than the file has.
#[must_use]
pub fn grown(head: u64, at_least: u64) -> u64 {
    at_least.max(head.saturating_mul(2))
}

/// A small right file, for the examples of this documentation.
#[doc(hidden)]
#[must_use]
pub fn example() -> Vec<u8> {
    let mut file = b"GGUF\x03\0\0\0\x01\0\0\0\0\0\0\0\x03\0\0\0\0\0\0\0".to_vec();
    let string = |file: &mut Vec<u8>, text: &str| {
        file.extend((text.len() as u64).to_le_bytes());
        file.extend(text.as_bytes());
    };
    string(&mut file, "general.architecture");
    file.extend(8u32.to_le_bytes());
    string(&mut file, "llama");
    string(&mut file, "tokenizer.ggml.tokens");
    file.extend([9u32, 8, 2, 0].map(u32::to_le_bytes).as_flattened());
    string(&mut file, "▁a");
    string(&mut file, "▁b");
    string(&mut file, "tokenizer.ggml.scores");
    file.extend([9u32, 6, 2, 0].map(u32::to_le_bytes).as_flattened());
    file.extend([0.25f32, 0.5].map(f32::to_le_bytes).as_flattened());
    string(&mut file, "token_embd.weight");
    file.extend(2u32.to_le_bytes());
    file.extend([4u64, 2].map(u64::to_le_bytes).as_flattened());
    file.extend(0u32.to_le_bytes());
    file.extend(0u64.to_le_bytes());
    file.resize(file.len().next_multiple_of(32) + 32, 0);
    file
}
