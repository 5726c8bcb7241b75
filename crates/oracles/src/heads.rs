//! Files read piece by piece.

use gguf_spec::binary::{NeedMore, Source};
use gguf_spec::judge::{Judgement, judge, judge_source};
use gguf_spec::rules::Checks;

use crate::Holds;

/// Judging with a head of any size, which grows as it is asked for, gives the same judgement as the whole
/// file; and what is asked for is more than there was and no more than there is.
///
/// # Errors
///
/// What differs, and for which head.
pub fn head_or_whole(bytes: &[u8]) -> Holds {
    let whole = judge(bytes, &Checks::all());
    let len = bytes.len();
    // By no more than is asked for, or generously: small files afford the former.
    let growths: &[fn(usize, usize) -> usize] = match len {
        0..=512 => &[|_, least| least, |head, least| least.max(2 * head)],
        _ => &[|head, least| least.max(2 * head)],
    };
    // From nothing, and from somewhere: who asks for everything at once has to know that it is needed.
    let starts = [0, len / 4, len / 2, len - len / 4, len.saturating_sub(1)];
    for (grow, start) in growths.iter().flat_map(|grow| starts.map(|start| (grow, start))) {
        let mut head = start;
        let judgement = loop {
            let source = Source { head: &bytes[..head], len: len as u64, base: 0 };
            match judge_source(source, &bytes, &Checks::all()) {
                Ok(judgement) => break judgement,
                Err(NeedMore { at_least }) => {
                    let least = usize::try_from(at_least).unwrap_or(usize::MAX);
                    if least <= head || least > len {
                        return Err(format!("a head of {head} of {len} bytes asks for {at_least}"));
                    }
                    head = grow(head, least).min(len);
                }
            }
        };
        same(&whole, &judgement)
            .map_err(|reason| format!("with a head of {start} bytes, then {head} of {len}, {reason}"))?;
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
