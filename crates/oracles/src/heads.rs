//! Files read piece by piece.

use gguf_spec::binary::{NeedMore, Source};
use gguf_spec::judge::{Judgement, judge, judge_source};
use gguf_spec::rules::Checks;

use crate::Holds;

/// Judging with a short head that grows as it is asked for gives the same judgement as the whole file,
/// and what is asked for is more than there was and no more than there is.
///
/// # Errors
///
/// What differs, and for which head.
pub fn head_or_whole(bytes: &[u8]) -> Holds {
    let whole = judge(bytes, &Checks::all());
    // The exact size that is asked for, and generous ones: small files afford the former.
    let growths: &[fn(usize, usize) -> usize] = if bytes.len() <= 512 {
        &[|_, least| least, |head, least| least.max(2 * head)]
    } else {
        &[|head, least| least.max(2 * head)]
    };
    for grow in growths {
        let mut head = 0;
        let judgement = loop {
            let source = Source { head: &bytes[..head], len: bytes.len() as u64, base: 0 };
            match judge_source(source, &bytes, &Checks::all()) {
                Ok(judgement) => break judgement,
                Err(NeedMore { at_least }) => {
                    let least = usize::try_from(at_least).unwrap_or(usize::MAX);
                    if least <= head || least > bytes.len() {
                        return Err(format!("a head of {head} of {} bytes asks for {at_least}", bytes.len()));
                    }
                    head = grow(head, least).min(bytes.len());
                }
            }
        };
        same(&whole, &judgement).map_err(|reason| format!("with a head of {head} bytes, {reason}"))?;
    }
    Ok(())
}

fn same(whole: &Judgement, judgement: &Judgement) -> Holds {
    let different = |what: &str| Err(format!("{what} differ from those of the whole file"));
    if whole.findings != judgement.findings {
        return different("the findings");
    }
    if whole.verdicts != judgement.verdicts {
        return different("the verdicts");
    }
    if whole.document != judgement.document || whole.ggml_document != judgement.ggml_document {
        return different("the documents");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use gguf_spec::binary::encode;
    use gguf_spec::generate::valid;

    #[test]
    fn another_judgement_is_told() {
        let right = judge(&encode(&valid(5)), &Checks::all());
        assert_eq!(same(&right, &right), Ok(()));
        let other = judge(b"GGUF", &Checks::all());
        assert!(same(&right, &other).is_err());
        let mut other = right.clone();
        other.document = None;
        assert!(same(&right, &other).is_err());
    }
}
