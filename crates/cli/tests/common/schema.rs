//! As much of JSON Schema as the schemas of the corpus need. A keyword that is not known here is an error, so
//! that nothing goes unchecked; patterns are looked at by `.ci/check-corpus.py`.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::Value as Json;

/// The schemas of the corpus, by the names of their files.
pub(crate) struct Schemas(BTreeMap<String, Json>);

impl Schemas {
    /// Reads them.
    pub(crate) fn load() -> Self {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join("..").join("corpus").join("schemas");
        let files = fs::read_dir(root).expect("the schemas").map(|entry| entry.expect("a schema").path());
        let one = |path: std::path::PathBuf| {
            let name = path.file_name().expect("a name").to_string_lossy().into_owned();
            (name, serde_json::from_slice(&fs::read(&path).expect("a schema")).expect("JSON"))
        };
        Self(files.map(one).collect())
    }

    /// What is wrong with a value by the schema of this name; nothing if it is right.
    pub(crate) fn fault(&self, name: &str, value: &Json) -> Option<String> {
        self.check(name, &self.0[name], value, "$").err()
    }

    fn check(&self, file: &str, schema: &Json, value: &Json, at: &str) -> Result<(), String> {
        let object = schema.as_object().expect("a schema is an object");
        for (keyword, wanted) in object {
            let right = match keyword.as_str() {
                "$schema"
                | "$comment"
                | "$defs"
                | "title"
                | "description"
                | "pattern"
                | "uniqueItems"
                | "additionalProperties" => true,
                "$ref" => {
                    let text = wanted.as_str().expect("a reference");
                    let (other, pointer) = text.split_once('#').unwrap_or((text, ""));
                    let other = if other.is_empty() { file } else { other };
                    let target = self.0[other].pointer(pointer).unwrap_or_else(|| panic!("{text} leads nowhere"));
                    self.check(other, target, value, at)?;
                    true
                }
                "const" => value == wanted,
                "enum" => wanted.as_array().expect("a list").contains(value),
                "type" => {
                    let is = |name: &Json| match name.as_str().expect("a type") {
                        "object" => value.is_object(),
                        "array" => value.is_array(),
                        "string" => value.is_string(),
                        "integer" => value.is_i64() || value.is_u64(),
                        "number" => value.is_number(),
                        "boolean" => value.is_boolean(),
                        "null" => value.is_null(),
                        other => panic!("no type is called {other}"),
                    };
                    wanted.as_array().map_or_else(|| is(wanted), |list| list.iter().any(is))
                }
                "minimum" => value.as_f64().is_none_or(|number| number >= wanted.as_f64().expect("a number")),
                "minLength" => {
                    value.as_str().is_none_or(|text| text.len() as u64 >= wanted.as_u64().expect("a number"))
                }
                "minItems" => {
                    value.as_array().is_none_or(|list| list.len() as u64 >= wanted.as_u64().expect("a number"))
                }
                "contains" => value
                    .as_array()
                    .is_none_or(|list| list.iter().any(|inner| self.check(file, wanted, inner, at).is_ok())),
                "required" => wanted.as_array().expect("a list").iter().all(|name| {
                    value.as_object().is_none_or(|object| object.contains_key(name.as_str().expect("a name")))
                }),
                "properties" => {
                    let known = wanted.as_object().expect("an object");
                    for (name, inner) in value.as_object().into_iter().flatten() {
                        match known.get(name) {
                            Some(schema) => self.check(file, schema, inner, &format!("{at}.{name}"))?,
                            None if object.get("additionalProperties") == Some(&Json::Bool(false)) => {
                                return Err(format!("{at}.{name}: is not described"));
                            }
                            None => {}
                        }
                    }
                    true
                }
                "items" => {
                    for (i, inner) in value.as_array().into_iter().flatten().enumerate() {
                        self.check(file, wanted, inner, &format!("{at}[{i}]"))?;
                    }
                    true
                }
                "oneOf" | "anyOf" => {
                    let list = wanted.as_array().expect("a list");
                    let fitting = list.iter().filter(|schema| self.check(file, schema, value, at).is_ok()).count();
                    if keyword == "oneOf" { fitting == 1 } else { fitting > 0 }
                }
                other => panic!("{file}: the keyword {other} is not known here"),
            };
            if !right {
                return Err(format!("{at}: {keyword} is {wanted}, and there is {value}"));
            }
        }
        Ok(())
    }
}
