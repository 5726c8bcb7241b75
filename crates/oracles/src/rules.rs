//! Files made to break one rule.

use gguf_spec::generate::breaking;
use gguf_spec::judge::judge;
use gguf_spec::rules::{Checks, Rule};

use crate::Holds;

/// A file made to break a rule breaks that one and no other. Rules that no small file can break have
/// no such file.
///
/// # Errors
///
/// The other rules that it breaks, or that it breaks none.
pub fn breaks_exactly(rule: &Rule, seed: u64) -> Holds {
    match breaking(rule, seed) {
        Some(broken) => has_only(rule, &broken.bytes()),
        None => Ok(()),
    }
}

fn has_only(rule: &Rule, bytes: &[u8]) -> Holds {
    let findings = judge(bytes, &Checks::all()).findings;
    if let Some(other) = findings.iter().find(|finding| finding.rule != rule) {
        return Err(format!("a file made to break {} breaks another rule: {other}", rule.id));
    }
    if findings.is_empty() { Err(format!("a file made to break {} breaks no rule", rule.id)) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gguf_spec::binary::encode;
    use gguf_spec::generate::valid;
    use gguf_spec::rules::header;

    #[test]
    fn a_file_that_breaks_none_or_another_is_told() {
        assert!(has_only(&header::VERSION_1, &encode(&valid(1))).is_err());
        assert!(has_only(&header::VERSION_1, b"GGUF").is_err());
        assert_eq!(has_only(&header::TRUNCATED, b"GGUF"), Ok(()));
    }
}
