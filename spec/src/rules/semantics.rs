//! What the metadata means. The types of single keys are in [`super::keys`].

use super::rules;

rules! { Semantics:
    ARCHITECTURE_REQUIRED "key.general.architecture.required" {
        "`general.architecture` is there."
        why: "A loader does not know which model to build: some panic on the missing key."
        fix: "Add the key, unless the file is meant to carry no model (a vocabulary, an adapter, raw data)."
        source: "document: General, Required"
        says: Refuses, Silent, Silent;
    }
    ARCHITECTURE_CHARSET "key.general.architecture.charset" {
        "`general.architecture` is made of lower-case ASCII letters and digits, one or more."
        why: "Real names have hyphens and underscores (`command-r`, `gemma3n_text`), which makes strict readers refuse them; the name is also the first segment of other keys."
        fix: "Nothing, if this is the architecture's usual name."
        source: "document: General, Required"
        says: Refuses, Silent, Silent;
    }
    QUANTIZATION_VERSION_REQUIRED "key.general.quantization_version.required" {
        "`general.quantization_version` is there if any tensor has a block format."
        why: "Formats have changed under one name before; without the version a reader cannot tell."
        fix: "Add the key; ggml writes 2 today."
        source: "document: General, Required"
        says: Refuses, Silent, Silent;
    }
    LANGUAGES_ISO639 "key.general.languages.iso639" {
        "Every entry of `general.languages` is a two-letter code."
        why: "Hubs filter by these codes; a name in full is not found."
        fix: "Write ISO 639 two-letter codes such as `en`."
        source: "document: General metadata, general.languages"
        says: Refuses, Silent, Silent;
    }
    SCORES_LENGTH "tokenizer.scores.length" {
        "`tokenizer.ggml.scores` has as many elements as `tokenizer.ggml.tokens`."
        why: "A shorter array is read past its end, or cuts the vocabulary without a word."
        fix: "Write one score for each token."
        source: "document: Tokenizer, GGML, tokenizer.ggml.scores"
        says: Refuses, Silent, Silent;
    }
    TOKEN_TYPE_LENGTH "tokenizer.token_type.length" {
        "`tokenizer.ggml.token_type` has as many elements as `tokenizer.ggml.tokens`."
        why: "A shorter array is read past its end, or cuts the vocabulary without a word."
        fix: "Write one type for each token."
        source: "document: Tokenizer, GGML, tokenizer.ggml.token_type"
        says: Refuses, Silent, Silent;
    }
    TOKEN_TYPE_VALUES "tokenizer.token_type.values" {
        "Every element of `tokenizer.ggml.token_type` is 1 to 6."
        why: "Readers turn the number into an enumeration; another one is undefined behaviour in some languages and an unknown token in others."
        fix: "Write 1 normal, 2 unknown, 3 control, 4 user defined, 5 unused or 6 byte."
        source: "document: Tokenizer, GGML, tokenizer.ggml.token_type"
        says: Refuses, Silent, Silent;
    }
}
