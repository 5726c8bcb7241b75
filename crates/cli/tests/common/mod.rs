//! Files and a corpus for the tests, made by code.
#![allow(dead_code, reason = "each test uses some of it")]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use assay_corpus::store::sha256;
use assay_corpus::vector::{Evidence, Expectation, FindingRecord, Origin, Rules, Vector};
use gguf_spec::binary::encode;
use gguf_spec::generate::{Builder, array, fixed_array, pair, scalar, string, string_array, tensor};
use gguf_spec::judge::judge;
use gguf_spec::rules::Checks;
use gguf_spec::syntax::{Array, ByteOrder, Elements};
use gguf_spec::types::ValueType;

/// The file with this name.
///
/// # Panics
///
/// If there is none.
pub(crate) fn fixture(name: &str) -> Vec<u8> {
    match name {
        "small" => encode(&small().finish()),
        "big-endian" => encode(&Builder { byte_order: ByteOrder::Big, ..small() }.finish()),
        "types" => encode(&types().finish()),
        "quantized" => encode(&quantized().finish()),
        "empty" => encode(&Builder::new().finish()),
        // A warning: ggml reads the key, the document does not allow it.
        "warned" => encode(&small().set(pair("x.with-hyphen", scalar(ValueType::U8, 7))).finish()),
        "many-warnings" => {
            let mut builder = small();
            for i in 0..30 {
                builder.set(pair(format!("Upper.{i}"), scalar(ValueType::U8, i)));
            }
            builder.set(pair("", string("the one error, behind all warnings")));
            encode(&builder.finish())
        }
        // An error: every profile wants a u32.
        "broken" => encode(&small().set(pair("general.alignment", scalar(ValueType::U64, 32))).finish()),
        // The file ends inside the value of its second pair.
        "cut" => fixture("small")[..120].to_vec(),
        // The data of the last tensor is not all there.
        "no-data" => {
            let mut bytes = fixture("quantized");
            bytes.truncate(bytes.len() - 100);
            bytes
        }
        "overlap" => {
            let mut tree = quantized().finish();
            tree.tensors[2].offset = 0;
            encode(&tree)
        }
        // The sixth value of the norm is NaN, the last infinite; so is a scale of the output.
        "not-finite" => {
            let mut bytes = fixture("quantized");
            let (norm, output) = (bytes.len() - 96 - 256, bytes.len() - 96);
            bytes[norm + 20..norm + 24].copy_from_slice(&f32::NAN.to_le_bytes());
            bytes[norm + 252..norm + 256].copy_from_slice(&f32::NEG_INFINITY.to_le_bytes());
            bytes[output + 18..output + 20].copy_from_slice(&[0x00, 0x7C]);
            bytes
        }
        // A hundred tensors, of which the first two are there.
        "many-missing" => {
            let mut builder = small();
            for i in 0..100 {
                builder.add(tensor(format!("blk.{i}"), 0, &[16]));
            }
            let mut bytes = encode(&builder.finish());
            bytes.truncate(bytes.len() - 99 * 64);
            bytes
        }
        "embedded" => [&[0xEE; 100][..], &fixture("small")].concat(),
        "vocabulary" => {
            let tokens: Vec<String> = (0..100).map(|i| format!("token {i}")).collect();
            let mut builder = Builder::new();
            builder.set(pair("tokenizer.ggml.tokens", string_array(&tokens)));
            builder.set(pair("tokenizer.ggml.scores", array(fixed_array(ValueType::F32, &[0x3F80_0000; 100]))));
            encode(&builder.finish())
        }
        other => panic!("no fixture is called {other:?}"),
    }
}

fn small() -> Builder {
    let mut builder = Builder::new();
    builder.set(pair("x.text", string("größe, \x1b[31mred\x1b[0m and \u{202e}turned")));
    builder.set(pair("x.flag", scalar(ValueType::Bool, 1)));
    builder.add(tensor("weight", 0, &[4, 2]));
    builder
}

/// One value of each type, and what is hard to show.
fn types() -> Builder {
    let mut builder = Builder::new();
    for (ty, bits) in [
        (ValueType::U8, 200),
        (ValueType::I8, 0x80),
        (ValueType::U16, 0xFFFF),
        (ValueType::I16, 0xFFFE),
        (ValueType::U32, 0xFFFF_FFFF),
        (ValueType::I32, 0xFFFF_FFFF),
        (ValueType::F32, 0x7F7F_FFFF),
        (ValueType::Bool, 2),
        (ValueType::U64, u64::MAX),
        (ValueType::I64, 1 << 63),
        (ValueType::F64, 0x7FF8_0000_0000_0001),
    ] {
        builder.set(pair(format!("x.{ty}"), scalar(ty, bits)));
    }
    builder.set(pair("x.bytes", string(b"not UTF-8: \xFF\xFE")));
    builder.set(pair("x.long", string("abcdefghij".repeat(30))));
    builder.set(pair("x.numbers", array(fixed_array(ValueType::I16, &[1, 0xFFFF, 3, 4, 5, 6, 7, 8]))));
    builder.set(pair("x.strings", string_array(&["a", "", "c"])));
    let inner = |n: u64| fixed_array(ValueType::U8, &(0..n).collect::<Vec<_>>());
    let nested = Array { type_id: ValueType::Array.id(), len: 2, elements: Elements::Arrays(vec![inner(2), inner(0)]) };
    builder.set(pair("x.nested", array(nested)));
    builder.set(pair("general.alignment", scalar(ValueType::U32, 8)));
    builder.add(tensor("scalar", 0, &[]));
    builder.add(tensor("none", 1, &[4, 0]));
    builder.add(tensor("a tensor\twith a name that is odd", 24, &[3]));
    builder
}

fn quantized() -> Builder {
    let mut builder = Builder::new();
    builder.set(pair("general.quantization_version", scalar(ValueType::U32, 2)));
    builder.add(tensor("token_embd.weight", 8, &[64, 3]));
    builder.add(tensor("blk.0.attn_q.weight", 2, &[64, 2]));
    builder.add(tensor("blk.0.attn_norm.weight", 0, &[64]));
    builder.add(tensor("output.weight", 2, &[64, 2]));
    builder
}

/// Writes a corpus of four vectors below `corpus`.
pub(crate) fn write_corpus(corpus: &Path) {
    write_vector(corpus, "rules", "alignment-u64", "The alignment is a u64.", "broken", &["align.type"], |_| {});
    write_vector(corpus, "rules", "key-hyphen", "A key with a hyphen.", "warned", &["kv.key.snake-case"], |_| {});
    write_vector(corpus, "types", "all-types", "A value of every type.", "types", &["kv.string.utf8"], |_| {});
    write_vector(corpus, "types", "quantized", "Two quantized types.", "quantized", &[], |vector| {
        vector.rules.keeps = vec!["key.general.quantization_version.required".to_owned()];
    });
}

/// Writes the same corpus with a mistake of each kind.
pub(crate) fn write_wrong_corpus(corpus: &Path) {
    write_corpus(corpus);
    write_vector(corpus, "wrong", "wrong-class", "Its class is wrong.", "small", &[], |vector| {
        vector.class = "disputed".to_owned();
    });
    write_vector(corpus, "wrong", "wrong-document", "A value in its document is wrong.", "small", &[], |vector| {
        if let Some(document) = &mut vector.document {
            document["metadata"][0]["value"] = "falcon".into();
        }
    });
    write_vector(
        corpus,
        "wrong",
        "wrong-finding",
        "A finding is two bytes off.",
        "broken",
        &["align.type"],
        |vector| {
            vector.findings[0].start -= 2;
        },
    );
    write_vector(corpus, "wrong", "wrong-outcome", "ggml is said to refuse it.", "warned", &[], |vector| {
        if let Some(expectation) = vector.expect.get_mut("ggml-data@0.25.1") {
            *expectation = Expectation {
                outcome: "refuse".to_owned(),
                stage: Some("data".to_owned()),
                rule: Some("data.extent".to_owned()),
            };
        }
    });
}

/// Writes a vector that says of its file what the specification says, and is then edited.
pub(crate) fn write_vector(
    corpus: &Path,
    group: &str,
    id: &str,
    purpose: &str,
    file: &str,
    breaks: &[&str],
    edit: impl FnOnce(&mut Vector),
) {
    let bytes = fixture(file);
    let judgement = judge(&bytes, &Checks::all());
    let expect: BTreeMap<_, _> =
        judgement.verdicts.iter().map(|verdict| (verdict.profile.id(), Expectation::from(verdict))).collect();
    let accepted = expect.values().any(|expectation| expectation.outcome == "accept");
    let mut vector = Vector {
        id: id.to_owned(),
        purpose: purpose.to_owned(),
        class: judgement.class().name().to_owned(),
        rules: Rules { breaks: breaks.iter().map(|&rule| rule.to_owned()).collect(), keeps: Vec::new() },
        flags: Vec::new(),
        expect,
        findings: judgement.findings.iter().map(FindingRecord::from).collect(),
        origin: Origin { kind: "rule".to_owned(), reference: None },
        evidence: Evidence { outcome: "derived".to_owned(), document: accepted.then(|| "derived".to_owned()) },
        size: bytes.len() as u64,
        sha256: sha256(&bytes),
        document: judgement.document.filter(|_| accepted).map(|document| document.to_json()),
        document_ggml: None,
    };
    edit(&mut vector);
    let directory = corpus.join("vectors").join(group);
    fs::create_dir_all(&directory).expect("a directory for the vector");
    let stem = directory.join(id);
    fs::write(stem.with_extension("gguf"), bytes).expect("the file of the vector");
    let json = serde_json::to_vec_pretty(&vector).expect("the vector as JSON");
    fs::write(stem.with_extension("json"), json).expect("the vector");
}

/// A copy of the committed corpus in memory.
pub(crate) fn committed_corpus() -> Vec<assay_corpus::store::Entry> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join("..").join("corpus");
    assay_corpus::store::load(&root).expect("the committed corpus")
}
