//! ggml does what its profiles say.
//!
//! Whoever runs the library tells here what it did; nothing is loaded.

use gguf_spec::document::Document;
use gguf_spec::judge::Judgement;
use gguf_spec::limits::GGML_ADDRESS_SPACE;
use gguf_spec::profile::{Outcome, Profile};

use crate::{Holds, difference};

/// A difference between the library and its profile that is known, and looked into.
#[derive(Clone, Copy, Debug)]
pub struct Known {
    /// What is different, as a sentence.
    pub says: &'static str,
    /// Whether it explains that the library did this with a file.
    explains: fn(&Judgement, Profile, Outcome) -> bool,
}

/// The recorded list: what is on it is no finding.
pub const KNOWN: &[Known] = &[Known {
    says: "Whether there is memory for data of nearly 4 GiB depends on what else the process holds: it aborts or not.",
    explains: near_the_address_space,
}];

/// Data whose size is within this many bytes of the address space may be refused or not.
const MARGIN: u64 = 1 << 30;

fn near_the_address_space(judgement: &Judgement, profile: Profile, outcome: Outcome) -> bool {
    // An abort where a refusal is expected, for data that is not there, or the other way round.
    let expected = judgement.verdict(profile).outcome;
    let memory = [(Outcome::Abort, Outcome::Refuse), (Outcome::Refuse, Outcome::Abort)].contains(&(expected, outcome));
    let near = |size: u128| size.abs_diff(u128::from(GGML_ADDRESS_SPACE)) <= u128::from(MARGIN);
    profile == Profile::GgmlData
        && memory
        && judgement.document_for(profile).is_some_and(|document| near(declared(document)))
}

/// How many bytes the tensors of a document declare, as far as their types tell.
fn declared(document: &Document) -> u128 {
    let size = |tensor: &gguf_spec::document::Tensor| {
        let elements = tensor.ne.iter().fold(1u128, |n, &dim| n.saturating_mul(u128::from(dim)));
        let ty = gguf_spec::types::TensorType::from_id(tensor.type_id);
        ty.map_or(0, |ty| elements.saturating_mul(u128::from(ty.bytes)) / u128::from(ty.block.max(1)))
    };
    document.tensors.iter().fold(0, |sum, tensor| sum.saturating_add(size(tensor)))
}

/// The library did with a file what the profile says, and read the same document.
///
/// # Errors
///
/// What differs, unless it is on the recorded list.
pub fn agrees(judgement: &Judgement, profile: Profile, outcome: Outcome, document: Option<&Document>) -> Holds {
    let found = differs(judgement, profile, outcome, document);
    if found.is_err() && KNOWN.iter().any(|known| (known.explains)(judgement, profile, outcome)) {
        Ok(())
    } else {
        found
    }
}

fn differs(judgement: &Judgement, profile: Profile, outcome: Outcome, document: Option<&Document>) -> Holds {
    let verdict = judgement.verdict(profile);
    if verdict.outcome != outcome {
        let because = verdict.because.as_ref().map_or_else(String::new, |finding| format!(" ({finding})"));
        return Err(format!("{profile} {}s{because}; the library {}s", verdict.outcome.name(), outcome.name()));
    }
    let (Some(read), Some(stated)) = (document, judgement.document_for(profile)) else { return Ok(()) };
    let stated = stated.through_c();
    if stated == *read {
        return Ok(());
    }
    let first = difference::first("", &stated.to_json(), &read.to_json());
    Err(match first {
        Some(first) => format!("{profile}: the library reads {first}"),
        None => format!("{profile}: the library reads another document of the same JSON"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use gguf_spec::binary::encode;
    use gguf_spec::generate::{breaking, valid};
    use gguf_spec::judge::judge;
    use gguf_spec::rules::{Checks, layout};

    #[test]
    fn what_the_library_does_otherwise_is_told() {
        let file = encode(&valid(5));
        let judgement = judge(&file, &Checks::all());
        let profile = Profile::GgmlHeader;
        let read = judgement.document_for(profile).map(Document::through_c);
        assert_eq!(agrees(&judgement, profile, Outcome::Accept, read.as_ref()), Ok(()));
        assert!(agrees(&judgement, profile, Outcome::Refuse, None).is_err());
        let mut other = read.clone();
        if let Some(document) = &mut other {
            document.version = 2;
        }
        assert!(agrees(&judgement, profile, Outcome::Accept, other.as_ref()).is_err());

        let Some(broken) = breaking(&layout::OFFSET_CONTIGUOUS, 3) else { panic!("it can be broken") };
        let judgement = judge(&broken.bytes(), &Checks::all());
        assert_eq!(agrees(&judgement, profile, Outcome::Refuse, None), Ok(()));
        assert!(agrees(&judgement, profile, Outcome::Accept, None).is_err());
        assert!(agrees(&judgement, profile, Outcome::Abort, None).is_err());
    }
}
