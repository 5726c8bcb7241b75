//! The first four bytes and the header.

use super::{QUIET_STOP, rules};

pub use magic::{MAGIC, RULES as MAGIC_RULES};

/// The rule of the magic stage.
mod magic {
    super::rules! { Magic:
        MAGIC "magic.bytes" {
            "The file starts with the four bytes 47 47 55 46, `GGUF`, whatever its byte order."
            why: "Without the magic a reader takes another format, or a damaged download, for a model."
            fix: "Check that this is a GGUF file and that the download is complete."
            source: "document: gguf_header_t.magic; ggml: `failed to read magic`, `invalid magic characters`"
            says: Refuses, Refuses, Refuses;
            fallback: "any four bytes are taken; missing ones read as zero";
        }
    }
}

rules! { Header:
    TRUNCATED "header.truncated" {
        "The header is complete: a 32-bit version, a tensor count and a pair count (64-bit; 32-bit in version 1)."
        why: "A reader that does not check a short read goes on with whatever its buffer held."
        fix: "Download or copy the file again: it ends inside its header."
        source: "document: gguf_header_t; ggml: `failed to read header`"
        says: Refuses, Refuses, Refuses;
        fallback: QUIET_STOP;
    }
    BYTE_ORDER "header.byte-order" {
        "The version word reads as a small number on a little-endian host; if its low 16 bits are zero, the file is big-endian."
        why: "Read in the wrong order, every count is astronomic and every weight is noise."
        fix: "Convert the file to little-endian, tensor data included, or use it on a big-endian host."
        source: "document: File Structure, byte order; ggml: `is there a mismatch between the host and model endianness?`"
        says: Accepts, Refuses, Refuses;
    }
    VERSION_ZERO "header.version.zero" {
        "The version is not 0."
        why: "There is no version 0; a zeroed header looks like one."
        fix: "Write version 3, or check whether the file was overwritten with zeros."
        source: "document: gguf_header_t.version; ggml: `bad GGUF version: 0`"
        says: Refuses, Refuses, Refuses;
        fallback: "read with the layout of version 3";
    }
    VERSION_1 "header.version.v1" {
        "The version is not 1."
        why: "Version 1 has 32-bit counts and lengths; a reader that takes them for 64-bit ones derails at the first string."
        fix: "Convert the file to version 3."
        source: "document: gguf_header_t.version, Version History; ggml: `GGUFv1 is no longer supported`"
        says: Refuses, Refuses, Refuses;
    }
    VERSION_2 "header.version.v2" {
        "The version is not 2: the document describes 3 alone."
        why: "Version 2 has the same layout as 3, and readers that insist on 3 refuse good old files."
        fix: "Rewrite the version as 3; nothing else differs in a little-endian file."
        source: "document: gguf_header_t.version; ggml 0.25.1 run on such a file: it reads it"
        says: Refuses, Accepts, Accepts;
    }
    VERSION_FUTURE "header.version.future" {
        "The version is at most 3."
        why: "A later version may have another layout; reading it as version 3 gives nonsense."
        fix: "Use a newer reader, or check that the header is not damaged."
        source: "document: gguf_header_t.version; ggml: `this software only supports up to version 3`"
        says: Refuses, Refuses, Refuses;
        fallback: "read with the layout of version 3";
    }
    TENSOR_COUNT_RANGE "header.tensor-count.range" {
        "The tensor count is at most 53,624,256,028,225,440, so that a table of that many entries has an address."
        why: "A count of 2^63 and up is negative to a signed loop, which then reads no tensor and reports success; others overflow the size of the table."
        fix: "The header is damaged: get the file again."
        source: "ggml: `number of tensors is .. but must be in [0, 53624256028225440]`; no file could hold the entries, so the document's own layout cannot be met"
        says: Refuses, Refuses, Refuses;
        fallback: "the count is taken for a negative number, and no tensor is read";
    }
    KV_COUNT_RANGE "header.kv-count.range" {
        "The pair count is at most 209,622,091,746,699,450, so that a table of that many pairs has an address."
        why: "A count of 2^63 and up is negative to a signed loop, which then reads no pair and reports success."
        fix: "The header is damaged: get the file again."
        source: "ggml: `number of key value pairs is .. but must be in [0, 209622091746699450]`; no file could hold the pairs, so the document's own layout cannot be met"
        says: Refuses, Refuses, Refuses;
        fallback: "the count is taken for a negative number, and no pair is read";
    }
}
