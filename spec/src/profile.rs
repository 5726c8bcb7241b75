//! Profiles: the authorities whose word is compared.

use std::fmt;

use crate::rules::Stage;

/// An authority in one mode: who says what a file is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Profile {
    /// The format document.
    Document,
    /// ggml reading the header only (`gguf_init_from_file`, `no_alloc = true`).
    GgmlHeader,
    /// ggml reading the tensor data too (`gguf_init_from_file`, `no_alloc = false`).
    GgmlData,
}

/// One row of the table of profiles.
#[derive(Clone, Copy, Debug)]
pub struct ProfileRow {
    /// The profile.
    pub profile: Profile,
    /// Its short name, as typed on the command line.
    pub name: &'static str,
    /// The exact version that speaks.
    pub version: &'static str,
    /// The last stage it judges.
    pub last_stage: Stage,
    /// What stands behind it.
    pub backing: &'static str,
}

/// The profiles, in the order of the columns of every table.
pub const PROFILES: [ProfileRow; 3] = [
    ProfileRow {
        profile: Profile::Document,
        name: "gguf-v3",
        version: "01f0d4da",
        last_stage: Stage::Semantics,
        backing: "`docs/gguf.md` of the ggml repository at commit 01f0d4da: read from the document, not run",
    },
    ProfileRow {
        profile: Profile::GgmlHeader,
        name: "ggml-header",
        version: "0.25.1",
        last_stage: Stage::Layout,
        backing: "the ggml 0.25.1 library, `gguf_init_from_file` with `no_alloc = true`: run, one process per file, \
                  4 GiB of address space, 64-bit little-endian host",
    },
    ProfileRow {
        profile: Profile::GgmlData,
        name: "ggml-data",
        version: "0.25.1",
        last_stage: Stage::Data,
        backing: "the ggml 0.25.1 library, `gguf_init_from_file` with `no_alloc = false`: run, one process per file, \
                  4 GiB of address space, 64-bit little-endian host; a file that holds more data than that is judged as if there were memory for it",
    },
];

impl Profile {
    /// Every profile, in table order.
    pub const ALL: [Self; 3] = [Self::Document, Self::GgmlHeader, Self::GgmlData];

    #[inline]
    fn row(self) -> &'static ProfileRow {
        &PROFILES[self as usize]
    }

    /// The short name: `gguf-v3`, `ggml-header`, `ggml-data`.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// The last stage this profile judges.
    #[must_use]
    #[inline]
    pub fn last_stage(self) -> Stage {
        self.row().last_stage
    }

    /// Name and version: `ggml-header@0.25.1`.
    #[must_use]
    pub fn id(self) -> String {
        format!("{}@{}", self.name(), self.row().version)
    }

    /// The profile with this short name or this `name@version`.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|p| p.name() == name || p.id() == name)
    }

    /// How this authority looks a key up.
    #[must_use]
    pub fn lookup(self) -> KeyLookup {
        match self {
            Self::Document => KeyLookup::Exact,
            Self::GgmlHeader | Self::GgmlData => KeyLookup::CString,
        }
    }
}

impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// How a key is compared with the one that is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyLookup {
    /// All bytes count.
    Exact,
    /// The key ends at its first NUL, as in ggml's `gguf_find_key`; the first such pair wins.
    CString,
}

impl KeyLookup {
    /// Whether `stored` is found when `wanted` is looked for.
    ///
    /// `wanted` holds no NUL.
    #[must_use]
    #[inline]
    pub fn matches(self, stored: &[u8], wanted: &str) -> bool {
        match (self, stored.strip_prefix(wanted.as_bytes())) {
            (_, Some([])) | (Self::CString, Some([0, ..])) => true,
            (Self::Exact | Self::CString, _) => false,
        }
    }
}

/// The bytes before the first NUL: what a C interface shows of a string.
#[must_use]
pub fn c_string(bytes: &[u8]) -> &[u8] {
    bytes.iter().position(|&b| b == 0).map_or(bytes, |end| &bytes[..end])
}

/// What an authority does with a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Outcome {
    /// It reads the file.
    Accept,
    /// It returns an error.
    Refuse,
    /// It ends the process.
    Abort,
}

impl Outcome {
    /// The word used in files and tables.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Accept => "accept",
            Self::Refuse => "refuse",
            Self::Abort => "abort",
        }
    }

    /// The outcome with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Accept, Self::Refuse, Self::Abort].into_iter().find(|o| o.name() == name)
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
