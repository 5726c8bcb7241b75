//! Where two JSON values differ.

use std::fmt;

use serde_json::Value as Json;

/// A place where two values differ. A value that is not there is `None`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The place, such as `findings[2].start`.
    pub path: String,
    /// What should be there.
    pub expected: Option<Json>,
    /// What is there.
    pub actual: Option<Json>,
}

impl Difference {
    /// What should be there, cut where it is long.
    #[must_use]
    pub fn expected_text(&self) -> String {
        shown(self.expected.as_ref())
    }

    /// What is there, cut where it is long.
    #[must_use]
    pub fn actual_text(&self) -> String {
        shown(self.actual.as_ref())
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: expected {}, found {}", self.path, self.expected_text(), self.actual_text())
    }
}

/// A value for a message: cut where it is long.
fn shown(value: Option<&Json>) -> String {
    const LONGEST: usize = 200;
    let Some(value) = value else { return "nothing".to_owned() };
    let text = value.to_string();
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}… ({} characters)", &text[..end], text.chars().count()),
        None => text,
    }
}

/// The first place where two values differ, or `None` if they are equal. Objects are compared key by
/// key, lists element by element; `path` is the place of the values themselves.
#[must_use]
pub fn first(path: &str, expected: &Json, actual: &Json) -> Option<Difference> {
    let mut list = Vec::new();
    collect(path, Some(expected), Some(actual), 1, &mut list);
    list.pop()
}

/// Every place where two values differ, in the order of keys and elements.
#[must_use]
pub fn all(path: &str, expected: &Json, actual: &Json) -> Vec<Difference> {
    let mut list = Vec::new();
    collect(path, Some(expected), Some(actual), usize::MAX, &mut list);
    list
}

/// Recursion is as deep as the values; both come from parsers or makers that bound it.
fn collect(path: &str, expected: Option<&Json>, actual: Option<&Json>, most: usize, list: &mut Vec<Difference>) {
    if list.len() >= most || expected == actual {
        return;
    }
    match (expected, actual) {
        (Some(Json::Object(a)), Some(Json::Object(b))) => {
            let keys: std::collections::BTreeSet<_> = a.keys().chain(b.keys()).collect();
            for key in keys {
                let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                collect(&path, a.get(key), b.get(key), most, list);
            }
        }
        (Some(Json::Array(a)), Some(Json::Array(b))) => {
            for i in 0..a.len().max(b.len()) {
                collect(&format!("{path}[{i}]"), a.get(i), b.get(i), most, list);
            }
        }
        _ => list.push(Difference { path: path.to_owned(), expected: expected.cloned(), actual: actual.cloned() }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_first_difference_is_named() {
        let a = json!({"a": [1, 2, {"b": "x"}], "z": 0});
        assert_eq!(first("", &a, &a), None);
        let b = json!({"a": [1, 2, {"b": "y"}], "z": 1});
        assert_eq!(
            first("doc", &a, &b).map(|d| d.to_string()).as_deref(),
            Some(r#"doc.a[2].b: expected "x", found "y""#)
        );
        assert_eq!(all("", &a, &b).len(), 2);
    }

    #[test]
    fn what_is_missing_is_a_difference() {
        let found = all("", &json!({"a": [1]}), &json!({"a": [1, 2], "b": null}));
        assert_eq!(
            found.iter().map(ToString::to_string).collect::<Vec<_>>(),
            ["a[1]: expected nothing, found 2", "b: expected nothing, found null"]
        );
    }
}
