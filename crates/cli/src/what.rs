//! What a file is: GGUF, cut off, or something else.

use gguf_spec::binary::Decoded;
use gguf_spec::limits::MAGIC;

use crate::facts::Facts;
use crate::foreign::{self, Foreign};
use crate::input::Head;
use crate::text::count;

/// What a file is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    /// GGUF, as far as its header goes.
    Gguf(Facts),
    /// It starts like GGUF and ends inside the header.
    Cut,
    /// Another format that is known here.
    Foreign(Foreign),
    /// Anything else.
    Unknown,
}

impl What {
    /// Tells what a file is from its head.
    #[must_use]
    pub fn of(head: &Head, decoded: &Decoded<'_>) -> Self {
        let start = head.from_base();
        if start.starts_with(&MAGIC) {
            let facts = if head.start_only() { Facts::of_start(decoded) } else { Facts::of(decoded) };
            return facts.map_or(Self::Cut, Self::Gguf);
        }
        // Where something else starts is told for the file on disk, not for a part of it.
        let right = |foreign: &Foreign| head.base == 0 || foreign.kind != "embedded";
        foreign::recognise(start, head.len - head.base).filter(right).map_or(Self::Unknown, Self::Foreign)
    }

    /// The facts, if it is GGUF.
    #[must_use]
    pub fn facts(&self) -> Option<&Facts> {
        match self {
            Self::Gguf(facts) => Some(facts),
            Self::Cut | Self::Foreign(_) | Self::Unknown => None,
        }
    }

    /// What it is instead, if that is known.
    #[must_use]
    pub fn foreign(&self) -> Option<&Foreign> {
        match self {
            Self::Foreign(foreign) => Some(foreign),
            Self::Gguf(_) | Self::Cut | Self::Unknown => None,
        }
    }

    /// A line about a file that starts at `base` in `len` bytes.
    #[must_use]
    pub fn line(&self, base: u64, len: u64) -> String {
        let mut size = count(len - base, "byte");
        if base > 0 {
            size.push_str(&format!(" from byte {base} on"));
        }
        match self {
            Self::Gguf(facts) => facts.line(&size),
            Self::Cut => format!("GGUF, cut off inside its header: {size}"),
            Self::Foreign(foreign) => format!("not GGUF: {}.", foreign.sentence),
            Self::Unknown => format!("not GGUF, and no format that is known here: {size}"),
        }
    }
}
