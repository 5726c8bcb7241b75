//! The key-value pairs.

use super::{QUIET_STOP, rules};

rules! { Metadata:
    KEY_TRUNCATED "kv.key.truncated" {
        "The length of a key and all its bytes are in the file."
        why: "A length taken on trust makes a reader allocate exabytes, read past its buffer, or seek backwards."
        fix: "Get the file again: it ends inside a key, or the length of the key is damaged."
        source: "document: gguf_string_t; ggml: `failed to read key-value pairs`"
        says: Refuses, Refuses, Refuses;
        fallback: QUIET_STOP;
    }
    TYPE_TRUNCATED "kv.type.truncated" {
        "The 32-bit type of a value is in the file."
        why: "A reader that misses the short read decodes the value with a stale type."
        fix: "Get the file again: it ends before the type of a value."
        source: "document: gguf_metadata_kv_t.value_type; ggml: `failed to read key-value pairs`"
        says: Refuses, Refuses, Refuses;
        fallback: QUIET_STOP;
    }
    VALUE_TRUNCATED "kv.value.truncated" {
        "All bytes of a number or bool are in the file."
        why: "A reader that misses the short read reports a number that is not in the file."
        fix: "Get the file again: it ends inside a value."
        source: "document: gguf_metadata_value_t; ggml: `failed to read key-value pairs`"
        says: Refuses, Refuses, Refuses;
        fallback: QUIET_STOP;
    }
    STRING_TRUNCATED "kv.string.truncated" {
        "The length of a string value and all its bytes are in the file."
        why: "A length taken on trust makes a reader allocate exabytes or read past its buffer."
        fix: "Get the file again: it ends inside a string, or the length of the string is damaged."
        source: "document: gguf_string_t; ggml: `failed to read key-value pairs`"
        says: Refuses, Refuses, Refuses;
        fallback: QUIET_STOP;
    }
    ARRAY_TRUNCATED "kv.array.truncated" {
        "The element type and the length of an array are in the file."
        why: "A reader that misses the short read loops over a stale count."
        fix: "Get the file again: it ends at the start of an array."
        source: "document: gguf_metadata_value_t.array; ggml: `failed to read key-value pairs`"
        says: Refuses, Refuses, Refuses;
        fallback: QUIET_STOP;
    }
    ELEMENTS_TRUNCATED "kv.elements.truncated" {
        "All elements of an array are in the file."
        why: "An allocation sized by the declared count is the most common way to take a reader down with a file of a hundred bytes."
        fix: "Get the file again: it ends inside an array, or the length of the array is damaged."
        source: "document: gguf_metadata_value_t.array; ggml: `failed to read key-value pairs`"
        says: Refuses, Refuses, Refuses;
        fallback: QUIET_STOP;
    }
    KEY_EMPTY "kv.key.empty" {
        "A key has at least one byte."
        why: "An empty key has ended the host process through an assertion in the constructor of a pair."
        fix: "Give the pair a name, or drop it."
        source: "document: gguf_metadata_kv_t.key (segments); ggml: `key 0 is empty`"
        says: Refuses, Refuses, Refuses;
    }
    KEY_ASCII "kv.key.ascii" {
        "A key is ASCII."
        why: "Readers that map keys to identifiers, or compare them after normalising, disagree on anything else."
        fix: "Rename the key with ASCII letters."
        source: "document: gguf_metadata_kv_t.key; ggml 0.25.1 run on such a file: it reads it"
        says: Refuses, Accepts, Accepts;
    }
    KEY_SNAKE_CASE "kv.key.snake-case" {
        "A key is made of segments of lower-case letters, digits and underscores, joined by dots."
        why: "Real models break this (`command-r.block_count`), and strict readers refuse them."
        fix: "Nothing, if the key follows the architecture's name; else rename it."
        source: "document: gguf_metadata_kv_t.key; ggml 0.25.1 run on such a file: it reads it"
        says: Refuses, Accepts, Accepts;
    }
    KEY_LENGTH "kv.key.length" {
        "A key has at most 65,535 bytes (over 2^30 it breaks `kv.key.limit` instead)."
        why: "A reader that keeps key lengths in 16 bits cuts a longer one."
        fix: "Shorten the key."
        source: "document: gguf_metadata_kv_t.key; ggml 0.25.1 run on such a file: it reads it"
        says: Refuses, Accepts, Accepts;
    }
    KEY_LIMIT "kv.key.limit" {
        "A key has at most 2^30 bytes."
        why: "ggml refuses to read longer ones."
        fix: "Shorten the key."
        source: "ggml: GGUF_MAX_STRING_LENGTH, `string length .. exceeds maximum`; document: gguf_metadata_kv_t.key allows far less"
        says: Refuses, Refuses, Refuses;
    }
    KEY_DUPLICATE "kv.key.duplicate" {
        "No two pairs have the same key."
        why: "Readers keep the first, keep the last, or fail: two readers of one file see two models."
        fix: "Remove one of the two pairs."
        source: "ggml: `duplicate key`; the document says nothing"
        says: Silent, Refuses, Refuses;
    }
    TYPE_KNOWN "kv.type.known" {
        "The type of a value is one of the 13 value types, 0 to 12."
        why: "The length of a value of another type is unknown, so nothing after it can be found; a reader that skips the value without consuming it derails."
        fix: "Write the value with one of the 13 types."
        source: "document: gguf_metadata_kv_t.value_type; ggml: `has invalid GGUF type`"
        says: Refuses, Refuses, Refuses;
        fallback: "the value is taken to be zero bytes long";
    }
    ARRAY_TYPE_KNOWN "kv.array.type.known" {
        "The element type of an array is one of the 13 value types, 0 to 12."
        why: "The length of the elements is unknown, so nothing after them can be found."
        fix: "Write the array with one of the 13 types."
        source: "document: gguf_metadata_value_t.array.type; ggml: `has invalid GGUF type`"
        says: Refuses, Refuses, Refuses;
        fallback: "the elements are taken to be zero bytes long";
    }
    ARRAY_NESTED "kv.array.nested" {
        "The elements of an array are not arrays (over 32 deep they break `kv.array.depth` instead)."
        why: "The document allows nesting and most readers refuse it, so such a file works with some and not with others."
        fix: "Flatten the array and store the shape beside it."
        source: "ggml: `has invalid GGUF type 9`; document: gguf_metadata_value_t.array allows it"
        says: Accepts, Refuses, Refuses;
    }
    ARRAY_DEPTH "kv.array.depth" {
        "Arrays nest at most 32 deep."
        why: "Each level costs twelve bytes: a file of a few kilobytes overflows the stack of a recursive reader. The document sets no limit; this one is Assay's, which reads no further, so that such a file has no document here."
        fix: "Flatten the array."
        source: "limit of this specification; readers that nest stop between 16 and 64; ggml refuses any nesting"
        says: Silent, Refuses, Refuses;
        fallback: QUIET_STOP;
    }
    BOOL_VALUE "kv.bool.value" {
        "A bool is 0 or 1."
        why: "Read straight into a language's bool, another value is undefined behaviour; readers that test for non-zero and for one disagree."
        fix: "Write 0 or 1."
        source: "document: GGUF_METADATA_VALUE_TYPE_BOOL; ggml 0.25.1 run on such a file: it reads true"
        says: Refuses, Accepts, Accepts;
    }
    STRING_UTF8 "kv.string.utf8" {
        "A string value is UTF-8."
        why: "Readers panic, replace bytes or decode byte by byte, so a token or template changes on the way."
        fix: "Re-encode the string as UTF-8."
        source: "document: gguf_string_t; ggml 0.25.1 run on such a file: it reads any bytes"
        says: Refuses, Accepts, Accepts;
    }
    STRING_LIMIT "kv.string.limit" {
        "A string value has at most 2^30 bytes."
        why: "ggml refuses to read longer ones."
        fix: "Store the text outside the metadata."
        source: "ggml: GGUF_MAX_STRING_LENGTH, `string length .. exceeds maximum`"
        says: Silent, Refuses, Refuses;
    }
    ARRAY_LIMIT "kv.array.limit" {
        "An array has at most 2^30 elements."
        why: "ggml refuses to read longer ones."
        fix: "Store the data as a tensor."
        source: "ggml: GGUF_MAX_ARRAY_ELEMENTS"
        says: Silent, Refuses, Refuses;
    }
    ALIGN_TYPE "align.type" {
        "`general.alignment` is a u32."
        why: "A reader that asks for a u32 fails or falls back to 32, and then reads the weights from the wrong place."
        fix: "Write the alignment as a u32."
        source: "document: general.alignment; ggml: `must be of type u32`"
        says: Refuses, Refuses, Refuses;
        fallback: "the default of 32 is used";
    }
    ALIGN_ZERO "align.zero" {
        "`general.alignment` is not 0."
        why: "Readers divide by it: a fault that has crashed several."
        fix: "Write a power of two of at least 8; 32 is usual."
        source: "document: general.alignment; ggml: `alignment 0 is not a power of 2`"
        says: Refuses, Refuses, Refuses;
        fallback: "the default of 32 is used";
    }
    ALIGN_MULTIPLE "align.multiple-of-8" {
        "`general.alignment` is a multiple of 8."
        why: "Readers that follow the document refuse 1, 2 and 4, and 64-bit weights would be misaligned."
        fix: "Write a power of two of at least 8; 32 is usual."
        source: "document: general.alignment; ggml 0.25.1 run on such a file: it reads it"
        says: Refuses, Accepts, Accepts;
    }
    ALIGN_POWER "align.power-of-two" {
        "`general.alignment` is a power of two."
        why: "ggml rounds with a bit mask, which is wrong for anything else, and so refuses it; the document would allow 24."
        fix: "Write a power of two of at least 8; 32 is usual."
        source: "ggml: `is not a power of 2`; the document asks for a multiple of 8 only"
        says: Accepts, Refuses, Refuses;
    }
}
