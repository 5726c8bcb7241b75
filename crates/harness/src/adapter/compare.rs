//! What a reader read against what is in the file, less what its library does not show.
//!
//! Both are documents in their JSON form. The expected one is well formed; of the reader's nothing is
//! taken for granted. Recursion follows the expected document, whose nesting is bounded.

use std::collections::BTreeMap;

use assay_oracles::difference::Difference;
use gguf_spec::types::ValueType;
use serde_json::Value as Json;

use super::omit::{Omit, Omits};
use super::scalar::{self, Parts};

/// The first place where a reader's document differs from the expected one, in the order header,
/// metadata, tensors; `None` if it says the same as far as it shows it.
///
/// Places are those of the expected document; a place of something that is only in the reader's document
/// is a place of that one.
#[must_use]
pub fn first_difference(expected: &Json, actual: &Json, omits: &Omits) -> Option<Difference> {
    Comparison { omits }.documents(expected, actual)
}

type Found = Option<Difference>;

struct Comparison<'a> {
    omits: &'a Omits,
}

/// An entry of a list: a pair or a tensor.
struct Item<'a> {
    index: usize,
    json: &'a Json,
    /// Its key or name, as far as the library shows it; `None` if it has none.
    name: Option<Vec<u8>>,
}

/// The same entry in both documents.
struct Entry<'a> {
    /// Its place in the expected document, which messages name.
    at: String,
    /// Its place in the document of the reader, which `omits` name.
    at_actual: String,
    expected: &'a Json,
    actual: &'a Json,
}

/// A list of entries, and how those of two documents find each other.
#[derive(Clone, Copy)]
struct Listing {
    list: &'static str,
    /// The member that names an entry.
    key: &'static str,
    /// The order is lost.
    unordered: bool,
    /// Of entries with the same name one is kept.
    one_of_many: bool,
}

impl Listing {
    /// The place of an entry in its own document.
    fn place(self, item: &Item<'_>) -> String {
        format!("{}[{}]", self.list, item.index)
    }
}

impl Comparison<'_> {
    fn documents(&self, expected: &Json, actual: &Json) -> Found {
        let header = [
            (Omit::Version, "version"),
            (Omit::ByteOrder, "byte_order"),
            (Omit::Alignment, "alignment"),
            (Omit::DataOffset, "data_offset"),
        ];
        let shown = header.into_iter().filter(|(omit, _)| !self.omits.has(*omit));
        let metadata = Listing {
            list: "metadata",
            key: "key",
            unordered: self.omits.has(Omit::MetadataOrder),
            one_of_many: self.omits.has(Omit::MetadataDuplicates),
        };
        let tensors = Listing {
            list: "tensors",
            key: "name",
            unordered: self.omits.has(Omit::TensorsOrder),
            one_of_many: self.omits.has(Omit::TensorsDuplicates),
        };
        let members = ["version", "byte_order", "alignment", "data_offset", "metadata", "tensors"];
        shown
            .into_iter()
            .find_map(|(_, member)| same(member, expected.get(member), actual.get(member)))
            .or_else(|| {
                if self.omits.has(Omit::Metadata) { None } else { self.lists(metadata, expected, actual, Self::pair) }
            })
            .or_else(|| {
                if self.omits.has(Omit::Tensors) { None } else { self.lists(tensors, expected, actual, Self::tensor) }
            })
            .or_else(|| no_more_than("", actual, &members))
    }

    fn lists(&self, listing: Listing, expected: &Json, actual: &Json, each: fn(&Self, &Entry<'_>) -> Found) -> Found {
        let list = listing.list;
        let (Some(Json::Array(expected)), Some(Json::Array(actual))) = (expected.get(list), actual.get(list)) else {
            return differs(list, expected.get(list), actual.get(list));
        };
        let nested = |item: &Item<'_>| {
            self.omits.has(Omit::MetadataNested) && item.json.get("items").is_some_and(|items| items == "array")
        };
        let expected = self.items(listing, expected);
        let hidden: Vec<_> = expected.iter().filter(|item| nested(item)).map(|item| item.name.clone()).collect();
        let expected: Vec<_> = expected.into_iter().filter(|item| !nested(item)).collect();
        let mut actual = self.items(listing, actual);
        actual.retain(|item| !hidden.contains(&item.name));
        if listing.unordered || listing.one_of_many {
            self.by_name(listing, &expected, &actual, each)
        } else {
            self.in_order(listing, &expected, &actual, each)
        }
    }

    fn items<'j>(&self, listing: Listing, list: &'j [Json]) -> Vec<Item<'j>> {
        let cut = self.omits.has(Omit::TextAfterNul);
        let name = |json: &Json| json.get(listing.key).and_then(|name| scalar::text(name, cut));
        list.iter().enumerate().map(|(index, json)| Item { index, json, name: name(json) }).collect()
    }

    fn in_order(
        &self,
        listing: Listing,
        expected: &[Item<'_>],
        actual: &[Item<'_>],
        each: fn(&Self, &Entry<'_>) -> Found,
    ) -> Found {
        let place = |item: &Item<'_>| listing.place(item);
        for (e, a) in expected.iter().zip(actual) {
            if e.name != a.name {
                let at = format!("{}.{}", place(e), listing.key);
                return differs(at, e.json.get(listing.key), a.json.get(listing.key));
            }
            let found = each(self, &entry(listing, e, a));
            if found.is_some() {
                return found;
            }
        }
        if let Some(missing) = expected.get(actual.len()) {
            return differs(place(missing), Some(missing.json), None);
        }
        actual.get(expected.len()).and_then(|extra| differs(place(extra), None, Some(extra.json)))
    }

    fn by_name(
        &self,
        listing: Listing,
        expected: &[Item<'_>],
        actual: &[Item<'_>],
        each: fn(&Self, &Entry<'_>) -> Found,
    ) -> Found {
        let place = |item: &Item<'_>| listing.place(item);
        let mut theirs: BTreeMap<_, Vec<&Item<'_>>> = BTreeMap::new();
        for item in actual {
            theirs.entry(&item.name).or_default().push(item);
        }
        let mut ours: BTreeMap<_, Vec<&Item<'_>>> = BTreeMap::new();
        for item in expected {
            ours.entry(&item.name).or_default().push(item);
        }
        for item in expected {
            // Each name once, where it comes first.
            let Some(group) = ours.remove(&item.name) else { continue };
            let found = theirs.remove(&item.name).unwrap_or_default();
            let (least, most) = if listing.one_of_many { (1, group.len()) } else { (group.len(), group.len()) };
            if found.len() < least {
                let missing = group[found.len()];
                return differs(place(missing), Some(missing.json), None);
            }
            if let Some(extra) = found.get(most) {
                return differs(place(extra), None, Some(extra.json));
            }
            for (i, a) in found.iter().enumerate() {
                let candidates = if listing.one_of_many { &group[..] } else { &group[i..=i] };
                let mut differences = candidates.iter().map(|e| each(self, &entry(listing, e, a)));
                if let Some(Some(first)) = differences.next()
                    && differences.all(|difference| difference.is_some())
                {
                    return Some(first);
                }
            }
        }
        if let Some(extra) = theirs.into_values().flatten().min_by_key(|item| item.index) {
            return differs(place(extra), None, Some(extra.json));
        }
        if listing.unordered {
            return None;
        }
        // The names that are left come in the order of the file.
        let mut rest = expected.iter();
        let astray = actual.iter().find(|a| !rest.any(|e| e.name == a.name));
        astray.and_then(|a| differs(format!("{} (its place)", place(a)), None, a.json.get(listing.key)))
    }

    fn pair(&self, entry: &Entry<'_>) -> Found {
        let Entry { at, at_actual, expected, actual } = entry;
        if self.omits.has_path(at_actual) {
            return None;
        }
        let no_type = self.omits.has(Omit::MetadataType) || self.omits.has_path(&format!("{at_actual}.type"));
        if !no_type {
            let found = same(format!("{at}.type"), expected.get("type"), actual.get("type"));
            if found.is_some() {
                return found;
            }
        }
        if !self.omits.has_path(&format!("{at_actual}.value")) {
            let found = match expected.get("type").and_then(Json::as_str).and_then(ValueType::from_name) {
                Some(ValueType::Array) => self.array(at, expected, actual, no_type),
                Some(ty) => self.scalar(ty, at, &Parts::of(expected), &Parts::of(actual), no_type),
                None => differs(format!("{at}.type"), None, actual.get("type")),
            };
            if found.is_some() {
                return found;
            }
        }
        no_more_than(at, actual, &["key", "type", "value", "bits", "byte", "items"])
    }

    /// An array; `no_type` if its elements have no type in the reader's document, where an inner array is
    /// a plain list.
    fn array(&self, at: &str, expected: &Json, actual: &Json, no_type: bool) -> Found {
        if !no_type {
            let found = same(format!("{at}.items"), expected.get("items"), actual.get("items"));
            if found.is_some() {
                return found;
            }
        }
        let list = |json: &Json| json.get("value").and_then(Json::as_array).map(Vec::len);
        let (Some(ours), Some(theirs)) = (list(expected), list(actual)) else {
            return differs(format!("{at}.value"), expected.get("value"), actual.get("value"));
        };
        let ty = expected.get("items").and_then(Json::as_str).and_then(ValueType::from_name)?;
        for i in 0..ours.min(theirs) {
            let at = format!("{at}.value[{i}]");
            let (e, a) = (Parts::element(expected, i), Parts::element(actual, i));
            let found = match (ty, e.value, a.value) {
                (ValueType::Array, Some(e), Some(a)) if no_type && a.is_array() => {
                    self.array(&at, e, &serde_json::json!({ "value": a }), no_type)
                }
                (ValueType::Array, Some(e), Some(a)) => {
                    self.array(&at, e, a, no_type).or_else(|| no_more_than(&at, a, &["items", "value", "bits", "byte"]))
                }
                _ => self.scalar(ty, &at, &e, &a, no_type),
            };
            if found.is_some() {
                return found;
            }
        }
        let i = ours.min(theirs);
        if ours == theirs {
            return None;
        }
        differs(format!("{at}.value[{i}]"), Parts::element(expected, i).value, Parts::element(actual, i).value)
    }

    fn scalar(&self, ty: ValueType, at: &str, expected: &Parts<'_>, actual: &Parts<'_>, no_type: bool) -> Found {
        // In an array, `value[3]` is the value, and its bits are `bits[3]`.
        let beside = |member: &str| match at.rsplit_once(".value[") {
            Some((array, index)) => format!("{array}.{member}[{index}"),
            None => format!("{at}.{member}"),
        };
        let value = || if at.ends_with(']') && at.contains(".value[") { at.to_owned() } else { format!("{at}.value") };
        let right = match ty {
            ValueType::String => scalar::same_text(expected, actual, self.omits.has(Omit::TextAfterNul)),
            ValueType::Bool => {
                if !no_type && !self.omits.has(Omit::MetadataByte) && !scalar::same_byte(expected, actual) {
                    return differs(beside("byte"), expected.byte, actual.byte);
                }
                expected.value == actual.value
            }
            ValueType::F32 | ValueType::F64 => {
                if !no_type && !self.omits.has(Omit::MetadataBits) && !scalar::same_bits(expected, actual) {
                    return differs(beside("bits"), expected.bits, actual.bits);
                }
                scalar::same_float(ty, expected, actual)
            }
            _ if no_type => scalar::same_integer(expected, actual),
            _ => expected.value == actual.value,
        };
        if right { None } else { differs(value(), expected.value, actual.value) }
    }

    fn tensor(&self, entry: &Entry<'_>) -> Found {
        let Entry { at, at_actual, expected, actual } = entry;
        let hidden =
            |omit: Omit, member: &str| self.omits.has(omit) || self.omits.has_path(&format!("{at_actual}.{member}"));
        if self.omits.has_path(at_actual) {
            return None;
        }
        let member = |name: &str| same(format!("{at}.{name}"), expected.get(name), actual.get(name));
        if !hidden(Omit::TensorsType, "type") {
            // One of the two is enough.
            let shown: Vec<_> = ["type", "type_id"].into_iter().filter(|name| actual.get(name).is_some()).collect();
            let found = if shown.is_empty() { member("type") } else { shown.into_iter().find_map(member) };
            if found.is_some() {
                return found;
            }
        }
        if !hidden(Omit::TensorsNe, "ne") {
            let found = if self.omits.has(Omit::TensorsNePadded) {
                let unpadded = |json: &Json| {
                    let mut ne = json.get("ne")?.as_array()?.clone();
                    ne.truncate(ne.iter().rposition(|n| n != "1").map_or(0, |last| last + 1));
                    Some(Json::Array(ne))
                };
                same(format!("{at}.ne"), unpadded(expected).as_ref(), unpadded(actual).as_ref())
            } else {
                member("ne")
            };
            if found.is_some() {
                return found;
            }
        }
        let found = if hidden(Omit::TensorsOffset, "offset") { None } else { member("offset") };
        found.or_else(|| no_more_than(at, actual, &["name", "type", "type_id", "ne", "offset"]))
    }
}

fn entry<'a>(listing: Listing, expected: &Item<'a>, actual: &Item<'a>) -> Entry<'a> {
    Entry {
        at: listing.place(expected),
        at_actual: listing.place(actual),
        expected: expected.json,
        actual: actual.json,
    }
}

fn differs(path: impl Into<String>, expected: Option<&Json>, actual: Option<&Json>) -> Found {
    Some(Difference { path: path.into(), expected: expected.cloned(), actual: actual.cloned() })
}

fn same(path: impl Into<String>, expected: Option<&Json>, actual: Option<&Json>) -> Found {
    if expected == actual { None } else { differs(path, expected, actual) }
}

/// The first member that a documented object does not have: a misspelling shows.
fn no_more_than(at: &str, actual: &Json, members: &[&str]) -> Found {
    let (name, value) = actual.as_object()?.iter().find(|(name, _)| !members.contains(&name.as_str()))?;
    let dot = if at.is_empty() { "" } else { "." };
    differs(format!("{at}{dot}{name}"), None, Some(value))
}

#[cfg(test)]
mod tests;
