//! The JSON form of a document.

use gguf_spec::document::Document;
use gguf_spec::judge::judge;
use gguf_spec::rules::Checks;

use crate::{Holds, difference};

/// The documents of any bytes come back from their JSON form, and from its text, as they were.
///
/// # Errors
///
/// The first value that is lost on the way.
pub fn survive_json(bytes: &[u8]) -> Holds {
    let judgement = judge(bytes, &Checks::all());
    for document in judgement.document.iter().chain(&judgement.ggml_document) {
        survives_json(document)?;
        survives_json(&document.through_c())?;
    }
    Ok(())
}

/// A document comes back from its JSON form, and from its text, as it was.
///
/// # Errors
///
/// The first value that is lost on the way.
pub fn survives_json(document: &Document) -> Holds {
    let json = document.to_json();
    same(document, &Document::from_json(&json)?)?;
    let text = serde_json::from_str(&json.to_string()).map_err(|e| format!("its text is not JSON: {e}"))?;
    same(document, &Document::from_json(&text)?)
}

fn same(expected: &Document, actual: &Document) -> Holds {
    if expected == actual {
        return Ok(());
    }
    Err(match difference::first("", &expected.to_json(), &actual.to_json()) {
        Some(difference) => difference.to_string(),
        None => "two documents have the same JSON form".to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use gguf_spec::binary::encode;
    use gguf_spec::generate::valid;

    #[test]
    fn a_lost_value_is_told() {
        let document = judge(&encode(&valid(5)), &Checks::all()).document;
        let Some(right) = document else { panic!("a valid file has a document") };
        assert_eq!(same(&right, &right), Ok(()));
        let mut wrong = right.clone();
        wrong.metadata[0].0.push(b'x');
        assert!(same(&right, &wrong).is_err_and(|reason| reason.starts_with("metadata[0].key")));
        assert_eq!(survives_json(&right), Ok(()));
    }
}
