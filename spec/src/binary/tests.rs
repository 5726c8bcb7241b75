//! Files written by hand, byte for byte: nothing here is made by the encoder that is tested.

use super::{NeedMore, Options, Source, Span, decode, decode_with, encode, spans, spans_of_data, spans_of_unfinished};
use crate::field::{Field, TensorPart};
use crate::generate::{Builder, array, nested, pair};
use crate::limits::MAX_NESTING;
use crate::profile::KeyLookup;
use crate::rules::{Checks, Rule, header, metadata, tensors};
use crate::syntax::{Array, ByteOrder, Elements, Pair, RawString, TensorInfo, Tree, Value};
use crate::valid::layout::{DataLayout, Placed};

/// A small file of version 3 with one value of each kind and one tensor.
const SMALL: &[u8] = b"GGUF\x03\0\0\0\x01\0\0\0\0\0\0\0\x03\0\0\0\0\0\0\0\
    \x01\0\0\0\0\0\0\0a\x06\0\0\0\x01\0\xC0\x7F\
    \x01\0\0\0\0\0\0\0b\x08\0\0\0\x02\0\0\0\0\0\0\0hi\
    \x01\0\0\0\0\0\0\0c\x09\0\0\0\x07\0\0\0\x03\0\0\0\0\0\0\0\x01\x02\0\
    \x01\0\0\0\0\0\0\0t\x02\0\0\0\x02\0\0\0\0\0\0\0\x03\0\0\0\0\0\0\0\x18\0\0\0\0\0\0\0\0\0\0\0\
    \0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\
    \x01\x02\x03\x04\x05\x06past the end";

/// Where its tensor table ends, and where its data starts.
const TABLE_END: usize = 133;
const DATA: usize = 160;

fn small() -> Tree<'static> {
    let pair = |key: &str, type_id, value| Pair { key: key.into(), type_id, value };
    let bools = Array { type_id: 7, len: 3, elements: Elements::Fixed(vec![1, 2, 0]) };
    Tree {
        byte_order: ByteOrder::Little,
        magic: *b"GGUF",
        version: 3,
        tensor_count: 1,
        kv_count: 3,
        metadata: vec![
            // A NaN with a payload and a bool of 2 are kept as they are.
            pair("a", 6, Value::Fixed(vec![0x01, 0x00, 0xC0, 0x7F])),
            pair("b", 8, Value::String("hi".into())),
            pair("c", 9, Value::Array(bools)),
        ],
        tensors: vec![TensorInfo { name: "t".into(), n_dims: 2, dims: vec![2, 3], type_id: 24, offset: 0 }],
        padding: vec![0; 27],
        rest: (&b"\x01\x02\x03\x04\x05\x06past the end"[..]).into(),
    }
}

fn decoded<'a>(source: Source<'a>, without: &[&Rule]) -> super::Decoded<'a> {
    let checks = without.iter().fold(Checks::all(), |checks, rule| checks.without(rule));
    match decode_with(source, &Options { checks, lookup: KeyLookup::Exact }) {
        Ok(decoded) => decoded,
        Err(need) => panic!("{need:?}"),
    }
}

fn rules_of(decoded: &super::Decoded<'_>) -> Vec<&'static str> {
    decoded.findings.iter().map(|finding| finding.rule.id).collect()
}

#[test]
fn a_small_file() {
    let decoded = decode(SMALL);
    assert_eq!(decoded.tree, Some(small()));
    assert!(decoded.complete);
    assert_eq!(decoded.findings, []);
    assert_eq!(decoded.places.table_end, TABLE_END as u64);
    assert_eq!(decoded.places.padding_end, DATA as u64);
    assert_eq!(encode(&small()), SMALL);
}

/// Wherever a file is cut, what is left of the entry that is cut has the names and places of the whole file.
#[test]
fn the_fields_of_a_cut_entry_are_those_of_the_whole_one() {
    let all = spans(&small(), 0);
    let is_entry = |span: &&Span| matches!(span.field, Field::Kv(..) | Field::Tensor(..));
    for len in 24..TABLE_END {
        let cut = &SMALL[..len];
        let decoded = decode(cut);
        let mut found = spans(decoded.tree.as_ref().expect("a header"), 0);
        found.retain(|span| is_entry(&span));
        found.extend(spans_of_unfinished(&decoded, len as u64));
        // Sizes of dimensions are read if all of them are there.
        let is_dim = |span: &Span| matches!(span.field, Field::Tensor(_, TensorPart::Dim(_)));
        let dims_end = all.iter().filter(|span| is_dim(span)).map(|span| span.range.end).max().expect("dimensions");
        let is_there = |span: &&Span| span.range.end.max(if is_dim(span) { dims_end } else { 0 }) <= len as u64;
        let expected: Vec<_> = all.iter().filter(is_entry).filter(is_there).collect();
        assert_eq!(found.iter().collect::<Vec<_>>(), expected, "cut at {len}");
    }
}

#[test]
fn what_stopped_in_no_entry_has_no_unfinished_one() {
    assert_eq!(spans_of_unfinished(&decode(SMALL), SMALL.len() as u64), []);
    let mut future = SMALL.to_vec();
    future[4] = 77;
    for file in [&future[..], &SMALL[..23], &SMALL[..24], b"GGUF", b""] {
        let found = spans_of_unfinished(&decode(file), file.len() as u64);
        assert_eq!(found, [], "{file:?}");
    }
}

#[test]
fn every_byte_of_a_small_file_has_a_name() {
    let tree = small();
    let mut list = spans(&tree, 0);
    let decoded = decode(SMALL);
    let layout = DataLayout::of(&tree, &decoded.places, KeyLookup::Exact);
    list.extend(spans_of_data(&layout, SMALL.len() as u64));
    let named: Vec<_> =
        list.iter().map(|span| format!("{} {} {}", span.range.start, span.range.end, span.field)).collect();
    let expected = [
        "0 4 magic",
        "4 8 version",
        "8 16 tensor_count",
        "16 24 metadata_kv_count",
        "24 32 metadata[0].key.len",
        "32 33 metadata[0].key",
        "33 37 metadata[0].type",
        "37 41 metadata[0].value",
        "41 49 metadata[1].key.len",
        "49 50 metadata[1].key",
        "50 54 metadata[1].type",
        "54 62 metadata[1].value.len",
        "62 64 metadata[1].value",
        "64 72 metadata[2].key.len",
        "72 73 metadata[2].key",
        "73 77 metadata[2].type",
        "77 81 metadata[2].value.type",
        "81 89 metadata[2].value.len",
        "89 92 metadata[2].value[..]",
        "92 100 tensors[0].name.len",
        "100 101 tensors[0].name",
        "101 105 tensors[0].n_dims",
        "105 113 tensors[0].dims[0]",
        "113 121 tensors[0].dims[1]",
        "121 125 tensors[0].type",
        "125 133 tensors[0].offset",
        "133 160 padding",
        "160 166 data[0]",
        "166 178 data[0].padding",
    ];
    assert_eq!(named, expected);
}

#[test]
fn version_1_has_32_bit_counts_and_lengths_but_64_bit_offsets() {
    let file = b"GGUF\x01\0\0\0\x01\0\0\0\x01\0\0\0\
        \x01\0\0\0k\x09\0\0\0\x08\0\0\0\x01\0\0\0\x02\0\0\0hi\
        \x01\0\0\0t\x01\0\0\0\x05\0\0\0\0\0\0\0\x40\0\0\0\0\0\0\0";
    let decoded = decode(file);
    let Some(tree) = &decoded.tree else { panic!("{decoded:?}") };
    assert!(decoded.complete);
    assert_eq!(rules_of(&decoded), [header::VERSION_1.id]);
    let strings = Array { type_id: 8, len: 1, elements: Elements::Strings(vec!["hi".into()]) };
    assert_eq!(tree.metadata[0].value, Value::Array(strings));
    assert_eq!(tree.tensors[0].dims, [5]);
    assert_eq!(tree.tensors[0].offset, 64);
    assert_eq!(encode(tree), file);
}

#[test]
fn a_swapped_version_word_makes_every_number_big_endian() {
    let file = b"GGUF\0\0\0\x03\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x01\
        \0\0\0\0\0\0\0\x01k\0\0\0\x02\x12\x34";
    let decoded = decode(file);
    let Some(tree) = &decoded.tree else { panic!("{decoded:?}") };
    assert_eq!((tree.byte_order, tree.version, tree.kv_count), (ByteOrder::Big, 3, 1));
    assert_eq!(tree.metadata[0], Pair { key: "k".into(), type_id: 2, value: Value::Fixed(vec![0x12, 0x34]) });
    assert_eq!(tree.byte_order.number(&[0x12, 0x34]), 0x1234);
    assert_eq!(rules_of(&decoded), [header::BYTE_ORDER.id]);
    assert_eq!(encode(tree), file);
}

#[test]
fn a_file_cut_anywhere_keeps_what_was_read_and_comes_back() {
    for end in 0..TABLE_END {
        let decoded = decode(&SMALL[..end]);
        assert!(!decoded.complete, "cut at {end}");
        assert_eq!(decoded.findings.len(), 1, "cut at {end}: {:?}", decoded.findings);
        let Some(tree) = &decoded.tree else {
            assert!(end < 24, "cut at {end}: no tree");
            continue;
        };
        // Whole pairs and tensors are kept, whatever is cut is in the rest.
        let whole = [41, 64, 92].iter().filter(|&&at| at <= end).count();
        assert_eq!(tree.metadata.len(), whole, "cut at {end}");
        assert_eq!(tree.metadata, small().metadata[..whole], "cut at {end}");
        assert_eq!(tree.tensors, [], "cut at {end}");
        assert_eq!(encode(tree), SMALL[..end], "cut at {end}");
    }
}

#[test]
fn a_count_that_is_not_there_is_told_at_the_count() {
    let mut file = SMALL.to_vec();
    file[81..89].copy_from_slice(&(1u64 << 40).to_le_bytes());
    let decoded = decode(&file);
    assert_eq!(rules_of(&decoded), [metadata::ELEMENTS_TRUNCATED.id]);
    assert_eq!(decoded.findings[0].span, 81..89);
    assert_eq!(decoded.findings[0].field.to_string(), "metadata[2].value.len");

    let mut file = SMALL.to_vec();
    file[101..105].copy_from_slice(&u32::MAX.to_le_bytes());
    let decoded = decode(&file);
    assert_eq!(rules_of(&decoded), [tensors::DIMS_TRUNCATED.id]);
    assert_eq!(decoded.findings[0].span, 101..105);
}

#[test]
fn a_short_head_asks_for_what_comes_next() {
    let need = |head: usize, len: usize| {
        let source = Source { head: &SMALL[..head], len: len as u64, base: 0 };
        decode_with(source, &Options::default()).map(|decoded| decoded.complete)
    };
    let at_least = |at_least| Err(NeedMore { at_least });
    assert_eq!(need(0, SMALL.len()), at_least(4));
    assert_eq!(need(4, SMALL.len()), at_least(8));
    assert_eq!(need(33, SMALL.len()), at_least(37));
    assert_eq!(need(63, SMALL.len()), at_least(64));
    assert_eq!(need(TABLE_END, SMALL.len()), Ok(true));
    // An input too short for its magic is told byte for byte, so all of it is wanted.
    assert_eq!(need(0, 3), at_least(3));
    assert_eq!(need(2, 3), at_least(3));
    assert_eq!(need(3, 3), Ok(false));
}

#[test]
fn an_embedded_file_is_aligned_from_its_own_start() {
    let mut input = b"0123456".to_vec();
    input.extend(SMALL);
    let decoded = decoded(Source::embedded(&input, 7), &[]);
    assert_eq!(decoded.tree, Some(small()));
    assert_eq!(decoded.places.padding_end, 7 + DATA as u64);
    let Some(tree) = &decoded.tree else { return };
    assert_eq!(spans(tree, 7)[0].range, 7..11);
    let layout = DataLayout::of(tree, &decoded.places, KeyLookup::Exact);
    assert_eq!(layout.tensors, [Placed { index: 0, start: 7 + DATA as u128, size: Some(6) }]);
}

#[test]
fn a_start_behind_the_end_is_an_empty_file() {
    for base in [SMALL.len() as u64, SMALL.len() as u64 + 1, u64::MAX] {
        let decoded = decoded(Source::embedded(SMALL, base), &[]);
        assert_eq!(decoded.tree, None);
        assert_eq!(rules_of(&decoded), [header::MAGIC.id]);
    }
}

#[test]
fn arrays_nest_to_the_limit_and_no_further() {
    for (depth, complete) in [(MAX_NESTING, true), (MAX_NESTING + 1, false), (3000, false)] {
        let bytes = encode(&Builder::new().set(pair("x.nested", array(nested(depth)))).finish());
        let decoded = decode(&bytes);
        assert_eq!(decoded.complete, complete, "{depth} deep");
        let Some(tree) = &decoded.tree else { panic!("{depth} deep: no tree") };
        assert_eq!(encode(tree), bytes, "{depth} deep");
        if !complete {
            assert_eq!(rules_of(&decoded), [metadata::ARRAY_DEPTH.id], "{depth} deep");
            // Without the rule, reading ends at the same place without a word.
            let silent = self::decoded(Source::whole(&bytes), &[&metadata::ARRAY_DEPTH]);
            assert_eq!((silent.complete, silent.findings.as_slice()), (false, &[][..]));
        }
    }
}

#[test]
fn without_a_rule_the_stated_fallback_is_taken_and_the_file_comes_back() {
    let mut unknown = SMALL.to_vec();
    unknown[33] = 99;
    let decoded = decoded(Source::whole(&unknown), &[&metadata::TYPE_KNOWN]);
    let Some(tree) = &decoded.tree else { panic!("no tree") };
    assert_eq!(tree.metadata[0], Pair { key: "a".into(), type_id: 99, value: Value::Fixed(Vec::new()) });
    assert_eq!(encode(tree), unknown);

    let mut negative = SMALL.to_vec();
    negative[8..16].copy_from_slice(&u64::MAX.to_le_bytes());
    let decoded = self::decoded(Source::whole(&negative), &[&header::TENSOR_COUNT_RANGE]);
    let Some(tree) = &decoded.tree else { panic!("no tree") };
    assert_eq!((tree.metadata.len(), tree.tensors.len(), decoded.complete), (3, 0, true));
    assert_eq!(encode(tree), negative);
}

#[test]
fn declared_lengths_are_written_as_declared() {
    let tree = Tree {
        magic: *b"GGUF",
        version: 1,
        kv_count: 0x1_0000_0002,
        metadata: vec![Pair {
            key: RawString { len: 9, bytes: b"k".to_vec() },
            type_id: 0,
            value: Value::Fixed(vec![7]),
        }],
        ..Tree::default()
    };
    // Of a count too large for version 1, the low bytes are written.
    assert_eq!(encode(&tree), b"GGUF\x01\0\0\0\0\0\0\0\x02\0\0\0\x09\0\0\0k\0\0\0\0\x07");
}

#[test]
fn data_spans_name_gaps_padding_overlaps_and_what_comes_last() {
    let placed = |index, start, size| Placed { index, start, size };
    let list = |tensors: Vec<Placed>, end| {
        let layout = DataLayout { alignment: 32, start: 100, tensors };
        spans_of_data(&layout, end)
            .into_iter()
            .map(|span| (span.range.start, span.range.end, span.field))
            .collect::<Vec<_>>()
    };
    assert_eq!(
        list(vec![placed(0, 196, Some(10)), placed(1, 100, Some(40))], 300),
        [
            (100, 140, Field::Data(1)),
            (140, 164, Field::DataPadding(1)),
            (164, 196, Field::Gap),
            (196, 206, Field::Data(0)),
            (206, 228, Field::DataPadding(0)),
            (228, 300, Field::Trailing),
        ]
    );
    // Shared bytes belong to the first; an empty tensor has none; the end of the file cuts.
    assert_eq!(
        list(vec![placed(0, 100, Some(64)), placed(1, 132, Some(64)), placed(2, 132, Some(0))], 180),
        [(100, 164, Field::Data(0)), (164, 180, Field::Data(1))]
    );
    // What lies behind a tensor of unknown size cannot be named.
    assert_eq!(
        list(vec![placed(0, 100, Some(32)), placed(1, 132, None)], 200),
        [(100, 132, Field::Data(0)), (132, 200, Field::Unread)]
    );
    assert_eq!(list(Vec::new(), 90), []);
    assert_eq!(list(vec![placed(0, u128::from(u64::MAX) + 100, Some(1))], 120), [(100, 120, Field::Gap)]);
}
