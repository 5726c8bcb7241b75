use super::*;
use assay_oracles::cases::Cases;
use gguf_spec::judge::judge;
use gguf_spec::rules::Checks;
use serde_json::json;

/// A document with a value of every kind.
fn document() -> Json {
    json!({
        "version": 3, "byte_order": "little", "alignment": "32", "data_offset": "128",
        "metadata": [
            {"key": "s", "type": "string", "value": "a\u{0}b"},
            {"key": "n", "type": "u64", "value": "18446744073709551615"},
            {"key": "f", "type": "f32", "value": "0.1", "bits": "0x3dcccccd"},
            {"key": "b", "type": "bool", "value": true, "byte": 7},
            {"key": "fs", "type": "array", "items": "f64", "value": ["1", "NaN"],
             "bits": ["0x3ff0000000000000", "0x7ff8000000000001"]},
            {"key": "bs", "type": "array", "items": "bool", "value": [true, false], "byte": [2, 0]},
            {"key": "is", "type": "array", "items": "i8", "value": ["-1", "2"]},
            {"key": "deep", "type": "array", "items": "array", "value": [{"items": "u8", "value": ["1", "2"]}]},
            {"key": "s", "type": "u8", "value": "1"},
        ],
        "tensors": [
            {"name": "t", "type": "F32", "type_id": 0, "ne": ["4", "2"], "offset": "0"},
            {"name": "u", "type": null, "type_id": 99, "ne": ["4", "1", "1"], "offset": "32"},
            {"name": "t", "type": "F16", "type_id": 1, "ne": [], "offset": "64"},
        ],
    })
}

fn with(change: impl FnOnce(&mut Json)) -> Json {
    let mut changed = document();
    change(&mut changed);
    changed
}

fn omits(words: &[&str]) -> Omits {
    Omits::read(&words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>()).expect("words")
}

/// Where the changed document differs from the right one.
fn place(words: &[&str], change: impl FnOnce(&mut Json)) -> Option<String> {
    first_difference(&document(), &with(change), &omits(words)).map(|difference| difference.path)
}

fn take(json: &mut Json, member: &str) {
    json.as_object_mut().expect("an object").remove(member).expect("the member");
}

fn each(json: &mut Json, list: &str, mut change: impl FnMut(&mut Json)) {
    json[list].as_array_mut().expect("a list").iter_mut().for_each(&mut change);
}

#[test]
fn the_same_is_the_same_whatever_is_omitted() {
    assert_eq!(place(&[], |_| {}), None);
    for (_, word, _) in super::super::omit::OMITS {
        assert_eq!(place(&[word], |_| {}), None, "{word}");
    }
}

#[test]
fn the_first_place_that_differs_is_named() {
    type Change = fn(&mut Json);
    let cases: [(Change, &str); 22] = [
        (|d| d["version"] = json!(2), "version"),
        (|d| take(d, "alignment"), "alignment"),
        (|d| d["data_offset"] = json!(null), "data_offset"),
        (|d| take(d, "metadata"), "metadata"),
        (|d| d["metadata"] = json!({}), "metadata"),
        (|d| d["metadata"][1]["key"] = json!("m"), "metadata[1].key"),
        (|d| d["metadata"][0]["value"] = json!("a"), "metadata[0].value"),
        (|d| d["metadata"][1]["type"] = json!("i64"), "metadata[1].type"),
        (|d| d["metadata"][1]["value"] = json!(18_446_744_073_709_551_615_u64), "metadata[1].value"),
        (|d| d["metadata"][2]["bits"] = json!("0x3dcccccc"), "metadata[2].bits"),
        (|d| d["metadata"][2]["value"] = json!("0.2"), "metadata[2].value"),
        (|d| take(&mut d["metadata"][3], "byte"), "metadata[3].byte"),
        (|d| d["metadata"][4]["bits"][1] = json!("0x7ff8000000000000"), "metadata[4].bits[1]"),
        (|d| d["metadata"][6]["value"][1] = json!("3"), "metadata[6].value[1]"),
        (|d| d["metadata"][6]["value"] = json!(["-1"]), "metadata[6].value[1]"),
        (|d| d["metadata"][6]["items"] = json!("u8"), "metadata[6].items"),
        (|d| d["metadata"][7]["value"][0]["value"][1] = json!("3"), "metadata[7].value[0].value[1]"),
        (|d| d["metadata"][7]["value"][0]["size"] = json!(2), "metadata[7].value[0].size"),
        (|d| d["tensors"][1]["type_id"] = json!(98), "tensors[1].type_id"),
        (|d| d["tensors"][0]["ne"] = json!(["4", "2", "1"]), "tensors[0].ne"),
        (|d| drop(d["tensors"].as_array_mut().expect("a list").pop()), "tensors[2]"),
        (|d| d["metdata"] = json!([]), "metdata"),
    ];
    for (change, path) in cases {
        assert_eq!(place(&[], change).as_deref(), Some(path));
    }
}

#[test]
fn what_is_declared_is_not_compared() {
    assert_eq!(place(&["version"], |d| take(d, "version")), None);
    assert_eq!(place(&["version"], |d| d["version"] = json!(9)), None);
    assert_eq!(place(&["metadata", "tensors"], |d| ["metadata", "tensors"].iter().for_each(|l| take(d, l))), None);
    assert_eq!(place(&["metadata.byte"], |d| take(&mut d["metadata"][3], "byte")), None);
    assert_eq!(
        place(&["metadata.byte"], |d| d["metadata"][5]["value"] = json!([true, true])).as_deref(),
        Some("metadata[5].value[1]")
    );
    assert_eq!(
        place(&["metadata.bits"], |d| ["2", "4"].iter().for_each(|i| {
            take(&mut d["metadata"][i.parse::<usize>().expect("a number")], "bits");
        })),
        None
    );
    assert_eq!(place(&["text.after-nul"], |d| d["metadata"][0]["value"] = json!("a")), None);
    assert_eq!(
        place(&["text.after-nul"], |d| d["metadata"][0]["value"] = json!("b")).as_deref(),
        Some("metadata[0].value")
    );
    assert_eq!(place(&["tensors.offset"], |d| each(d, "tensors", |t| take(t, "offset"))), None);
    assert_eq!(
        place(&["tensors.ne.padded"], |d| {
            d["tensors"][0]["ne"] = json!(["4", "2", "1", "1"]);
            d["tensors"][1]["ne"] = json!(["4"]);
            d["tensors"][2]["ne"] = json!(["1", "1"]);
        }),
        None
    );
    assert_eq!(
        place(&["tensors.ne.padded"], |d| d["tensors"][0]["ne"] = json!(["4"])).as_deref(),
        Some("tensors[0].ne")
    );
    // Of the two members that tell a type one is enough, and none is not.
    assert_eq!(place(&[], |d| each(d, "tensors", |t| take(t, "type"))), None);
    assert_eq!(place(&[], |d| each(d, "tensors", |t| take(t, "type_id"))), None);
    let neither = |d: &mut Json| each(d, "tensors", |t| ["type", "type_id"].iter().for_each(|member| take(t, member)));
    assert_eq!(place(&[], neither).as_deref(), Some("tensors[0].type"));
    assert_eq!(place(&["tensors.type"], neither), None);
}

#[test]
fn nested_arrays_may_be_absent_or_empty_handed() {
    let omitted = ["metadata.nested"];
    assert_eq!(place(&omitted, |d| drop(d["metadata"].as_array_mut().expect("a list").remove(7))), None);
    assert_eq!(place(&omitted, |d| take(&mut d["metadata"][7], "value")), None);
    let another = |d: &mut Json| drop(d["metadata"].as_array_mut().expect("a list").remove(6));
    assert!(place(&omitted, another).is_some());
}

#[test]
fn a_map_loses_order_and_duplicates() {
    let reversed = |d: &mut Json| d["metadata"].as_array_mut().expect("a list").reverse();
    assert!(place(&[], reversed).is_some());
    // With all pairs there, those of the same key come in the order of the file.
    let swapped = |d: &mut Json| d["metadata"].as_array_mut().expect("a list").swap(1, 2);
    assert_eq!(place(&["metadata.order"], swapped), None);
    assert!(place(&["metadata.order"], reversed).is_some());
    assert_eq!(place(&["metadata.order", "metadata.duplicates"], reversed), None);
    for gone in [0, 8] {
        let one = |d: &mut Json| drop(d["metadata"].as_array_mut().expect("a list").remove(gone));
        assert_eq!(place(&["metadata.duplicates"], one), None, "{gone}");
        assert!(place(&["metadata.order"], one).is_some(), "{gone}");
    }
    assert!(place(&["metadata.duplicates"], swapped).is_some_and(|path| path.ends_with("(its place)")));
    let neither = |d: &mut Json| {
        d["metadata"].as_array_mut().expect("a list").retain(|pair| pair["key"] != "s");
    };
    assert_eq!(place(&["metadata.order", "metadata.duplicates"], neither).as_deref(), Some("metadata[0]"));
    let extra = |d: &mut Json| d["tensors"].as_array_mut().expect("a list").push(json!({"name": "v"}));
    assert_eq!(place(&["tensors.order"], extra).as_deref(), Some("tensors[3]"));
    // Keys that are the same once they are cut are duplicates too.
    let cut = |d: &mut Json| {
        d["metadata"][1]["key"] = json!("n");
    };
    assert_eq!(place(&["text.after-nul", "metadata.order"], cut), None);
}

#[test]
fn without_types_numbers_are_numbers() {
    let omitted = ["metadata.type", "metadata.bits"];
    let plain = |d: &mut Json| {
        d["metadata"] = json!([
            {"key": "s", "value": "a\u{0}b"},
            {"key": "n", "value": 18_446_744_073_709_551_615_u64},
            {"key": "f", "value": 0.1},
            {"key": "b", "value": true},
            {"key": "fs", "value": [1.0, "NaN"]},
            {"key": "bs", "value": [true, false]},
            {"key": "is", "value": [-1, "2"]},
            {"key": "deep", "value": [[1, 2]]},
            {"key": "s", "value": 1},
        ]);
    };
    assert_eq!(place(&omitted, plain), None);
    let change = |at: usize, value: Json| {
        place(&omitted, |d| {
            plain(d);
            d["metadata"][at]["value"] = value;
        })
    };
    assert_eq!(change(1, json!(1.844_674_407_370_955_2e19)).as_deref(), Some("metadata[1].value"));
    assert_eq!(change(7, json!([[1, 3]])).as_deref(), Some("metadata[7].value[0].value[1]"));
    assert_eq!(change(3, json!("true")).as_deref(), Some("metadata[3].value"));
    assert_eq!(change(5, json!([true])).as_deref(), Some("metadata[5].value[1]"));
}

#[test]
fn single_places_are_those_of_the_readers_document() {
    assert_eq!(place(&["metadata[1].value"], |d| take(&mut d["metadata"][1], "value")), None);
    assert_eq!(
        place(&["metadata[1].value"], |d| d["metadata"][1]["type"] = json!("u8")).as_deref(),
        Some("metadata[1].type")
    );
    assert!(place(&["metadata[0].value"], |d| take(&mut d["metadata"][1], "value")).is_some());
    // In a map the pair is elsewhere.
    let moved = |d: &mut Json| {
        d["metadata"].as_array_mut().expect("a list").swap(1, 2);
        take(&mut d["metadata"][2], "value");
    };
    assert_eq!(place(&["metadata.order", "metadata[2].value"], moved), None);
    assert_eq!(place(&["metadata.order"], moved).as_deref(), Some("metadata[1].value"));
    assert_eq!(place(&["tensors[0].offset"], |d| take(&mut d["tensors"][0], "offset")), None);
}

/// All leaves of a value, with how to get there.
fn leaves(json: &Json, path: &str, list: &mut Vec<String>) {
    match json {
        Json::Object(object) => object.iter().for_each(|(name, value)| leaves(value, &format!("{path}/{name}"), list)),
        Json::Array(values) => {
            values.iter().enumerate().for_each(|(i, value)| leaves(value, &format!("{path}/{i}"), list));
        }
        _ => list.push(path.to_owned()),
    }
}

#[test]
fn any_change_of_a_drawn_document_is_found() {
    let cases = Cases::new();
    let mut changed = 0;
    for seed in 0..1_500 {
        let file = cases.draw(seed);
        let Some(document) = judge(&file.bytes, &Checks::all()).document else { continue };
        let right = document.to_json();
        assert_eq!(first_difference(&right, &right, &Omits::default()), None, "seed {seed}");
        let mut list = Vec::new();
        leaves(&right, "", &mut list);
        // Each in turn would take minutes: every seventh, from another place for each file.
        for pointer in list.iter().skip(usize::try_from(seed % 7).expect("small")).step_by(7) {
            let mut wrong = right.clone();
            let leaf = wrong.pointer_mut(pointer).expect("a leaf");
            *leaf = match leaf.take() {
                Json::String(text) if pointer.contains("/bits") => {
                    json!(if text.ends_with('0') {
                        text[..text.len() - 1].to_owned() + "1"
                    } else {
                        text[..text.len() - 1].to_owned() + "0"
                    })
                }
                // In front, for a digit more behind a float may round away.
                Json::String(text) => json!(format!("1{text}")),
                Json::Bool(bit) => json!(!bit),
                Json::Number(_) => json!(4_000_000_000_u32 - 7),
                _ => json!("null"),
            };
            let found = first_difference(&right, &wrong, &Omits::default());
            assert!(found.is_some(), "seed {seed}: {pointer} of {right}");
            changed += 1;
        }
    }
    assert!(changed > 1_000, "only {changed} changes were tried");
}
