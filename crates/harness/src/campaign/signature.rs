//! What makes two failures one: the adapter, the verdict, the rules, and how or where.

use assay_corpus::store::{Entry, sha256};
use gguf_spec::binary::decode;
use gguf_spec::profile::Profile;
use gguf_spec::rules::{Rule, Says, find};
use gguf_spec::syntax::Value;
use gguf_spec::types::ValueType;
use serde::{Deserialize, Serialize};

use super::shape::{Own, shape};
use crate::adapter::judge::{Expected, Judged};
use crate::adapter::message::Started;
use crate::adapter::verdict::Verdict;

/// What makes two failures one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Signature {
    /// The adapter, by the name it gives itself.
    pub adapter: String,
    /// The verdict.
    pub verdict: String,
    /// The rules for which the compared profiles refuse the file; none where a process ended with a message.
    pub rules: Vec<String>,
    /// The place of a wrong value, without indices; the shape of what was said or of how the process ended.
    pub detail: String,
}

impl Signature {
    /// The signature of a failure; `None` of what is none.
    #[must_use]
    pub fn of(adapter: &str, path: &str, entry: &Entry, started: &Started, judged: &Judged) -> Option<Self> {
        if !judged.verdict.is_failure() {
            return None;
        }
        let expected = Expected::until(&entry.vector, started.claims.last_stage);
        if judged.verdict == Verdict::FalseAccept && is_mixture(&expected) {
            let verdict = judged.verdict.name().to_owned();
            return Some(Self { adapter: adapter.to_owned(), verdict, rules: Vec::new(), detail: MIXTURE.to_owned() });
        }
        let mut rules = expected.rules;
        rules.sort();
        let detail = match (&judged.difference, judged.verdict) {
            (Some(difference), _) => place(&difference.path, difference.actual.is_none(), entry),
            (None, Verdict::FalseAccept) => String::new(),
            (None, verdict) if verdict.ends_the_reader() => {
                let own = Own::of(path, &entry.bytes);
                let ended = judged.message.strip_prefix(AFTER).unwrap_or(&judged.message);
                let (how, words) = ended.split_once(": ").unwrap_or((ended, ""));
                let words = shape(words, &own);
                if !words.is_empty() {
                    // It says itself what it fails by, whatever else is wrong with the file.
                    rules.clear();
                }
                match judged.verdict {
                    // Which clock was first depends on how busy the machine is.
                    Verdict::Hang => words,
                    _ if words.is_empty() => shape(how, &own),
                    _ => format!("{}: {words}", shape(how, &own)),
                }
            }
            (None, _) => shape(&judged.message, &Own::of(path, &entry.bytes)),
        };
        Some(Self { adapter: adapter.to_owned(), verdict: judged.verdict.name().to_owned(), rules, detail })
    }

    /// The verdict.
    #[must_use]
    pub fn verdict(&self) -> Option<Verdict> {
        Verdict::from_name(&self.verdict)
    }

    /// What it is about, in a word or two: the rules, or else the place or the shape of what was said.
    #[must_use]
    pub fn subject(&self) -> String {
        if self.rules.is_empty() { self.detail.clone() } else { self.rules.join(", ") }
    }

    /// Whether no two profiles have a reason in common to refuse the file.
    pub(crate) fn is_mixture(&self) -> bool {
        self.detail == MIXTURE
    }

    /// Whether a process did not survive the file, or did not behave.
    pub(crate) fn is_of_a_process(&self) -> bool {
        let verdict = self.verdict();
        verdict.is_none_or(|v| !matches!(v, Verdict::FalseAccept | Verdict::FalseReject | Verdict::WrongValue))
    }

    /// Whether a simpler file with that signature shows the same failure as one with this.
    ///
    /// A file for which a reader overlooks two rules is as good as one for which it overlooks one of them, and an
    /// assertion that fails is the same one whatever the rules. Where a process says nothing there is little to
    /// go by: of a crash the rules have to be the very same, of anything else some of them have to be left.
    #[must_use]
    pub fn is_shown_by(&self, simpler: &Self) -> bool {
        let same = self.adapter == simpler.adapter && self.verdict == simpler.verdict && self.detail == simpler.detail;
        let wordless = self.is_of_a_process() && !self.detail.contains(": ");
        let rules = if wordless && self.verdict() == Some(Verdict::Crash) {
            self.rules == simpler.rules
        } else {
            let some_left = !wordless || self.rules.is_empty() || !simpler.rules.is_empty();
            some_left && simpler.rules.iter().all(|rule| self.rules.contains(rule))
        };
        same && rules
    }

    /// The name of the directory of its reproducer: the verdict, and a hash of everything.
    #[must_use]
    pub fn name(&self) -> String {
        let text = serde_json::to_string(self).unwrap_or_default();
        format!("{}-{}", self.verdict, &sha256(text.as_bytes())[..8])
    }
}

/// How the end of a process is told that came after its answer.
const AFTER: &str = "after its answer: ";

/// The detail of a file for which no two profiles have a reason in common to refuse it. A reader that sides with
/// one of them here and with another there accepts every such file: that is one failure, not one for each pair
/// of rules.
const MIXTURE: &str = "each rule is broken for some profile, and none for all";

fn is_mixture(expected: &Expected) -> bool {
    let refuses = |rule: &Rule, profile: Profile| matches!(rule.says(profile), Some(Says::Refuses | Says::Aborts));
    let all = |rule: &Rule| expected.profiles.iter().all(|(profile, _)| refuses(rule, *profile));
    expected.profiles.len() > 1 && !expected.rules.iter().filter_map(|id| find(id)).any(all)
}

/// A place in a document without its indices, with the type of the value that is there.
fn place(path: &str, missing: bool, entry: &Entry) -> String {
    let mut out = String::with_capacity(path.len());
    let mut inside = false;
    for c in path.chars() {
        inside = match c {
            '[' => true,
            ']' => false,
            _ => inside,
        };
        if !inside || c == '[' {
            out.push(c);
        }
    }
    let index = path.strip_prefix("metadata[").and_then(|rest| rest.split(']').next()).and_then(|i| i.parse().ok());
    // Of the file itself: it has no document where every profile refuses it.
    let tree = decode(&entry.bytes).tree;
    let pair = index.and_then(|i: usize| tree.as_ref()?.metadata.get(i));
    let name = |id: u32| ValueType::from_id(id).map_or("of no type", ValueType::name);
    match pair.map(|pair| (pair.type_id, &pair.value)) {
        Some((_, Value::Array(array))) => out.push_str(&format!(" (array of {})", name(array.type_id))),
        Some((id, _)) => out.push_str(&format!(" ({})", name(id))),
        None => {}
    }
    if missing {
        out.push_str(", missing");
    }
    out
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(in crate::campaign) fn signature(verdict: Verdict, rules: &[&str], detail: &str) -> Signature {
        Signature {
            adapter: "x".to_owned(),
            verdict: verdict.name().to_owned(),
            rules: rules.iter().map(|&rule| rule.to_owned()).collect(),
            detail: detail.to_owned(),
        }
    }

    #[test]
    fn one_overlooked_rule_stands_for_two_but_a_crash_without_a_word_for_itself_alone() {
        let two = signature(Verdict::FalseAccept, &["a", "b"], "");
        assert!(two.is_shown_by(&signature(Verdict::FalseAccept, &["b"], "")));
        assert!(!signature(Verdict::FalseAccept, &["b"], "").is_shown_by(&two));
        assert!(!two.is_shown_by(&signature(Verdict::FalseReject, &["b"], "")));
        let crash = signature(Verdict::Crash, &["a", "b"], "signal #");
        assert!(crash.is_shown_by(&crash));
        assert!(!crash.is_shown_by(&signature(Verdict::Crash, &["b"], "signal #")));
        assert!(!crash.is_shown_by(&signature(Verdict::Crash, &["a", "b"], "exit code #")));
        let assertion = signature(Verdict::Crash, &["a", "b"], "signal #: assertion");
        assert!(assertion.is_shown_by(&signature(Verdict::Crash, &["b"], "signal #: assertion")));
        assert!(!assertion.is_shown_by(&signature(Verdict::Crash, &[], "signal #: another")));
        let hang = signature(Verdict::Hang, &["a", "b"], "");
        assert!(hang.is_shown_by(&signature(Verdict::Hang, &["a"], "")));
        assert!(!hang.is_shown_by(&signature(Verdict::Hang, &[], "")));
    }

    #[test]
    fn names_tell_signatures_apart() {
        let names = [
            signature(Verdict::Crash, &["a"], "b").name(),
            signature(Verdict::Crash, &["b"], "a").name(),
            signature(Verdict::Crash, &["a", "b"], "").name(),
            signature(Verdict::Hang, &["a"], "b").name(),
        ];
        let unique: std::collections::BTreeSet<_> = names.iter().collect();
        assert_eq!(unique.len(), names.len());
        assert!(names[0].starts_with("crash-") && names[0].len() == "crash-".len() + 8, "{}", names[0]);
    }

    #[test]
    fn a_mixture_of_profiles_is_one_failure_whatever_the_rules() {
        use crate::adapter::judge::{Behaviour, judge};
        use crate::adapter::message::Answer;
        use crate::adapter::omit::Omits;
        use gguf_spec::generate::{Builder, pair, scalar};
        use gguf_spec::types::ValueType::{U8, U32};
        let started = super::super::reader::tests::started();
        let accepted = || Behaviour::Answered(Answer::Accepted { document: None, omits: Omits::default() });
        let of = |builder: &Builder| {
            let bytes = gguf_spec::binary::encode(&builder.finish());
            let entry = assay_corpus::build::entry_of("x", bytes, std::path::PathBuf::new());
            Signature::of("x", "", &entry, &started, &judge(&entry, &started, &accepted()))
        };
        // The document refuses the key, ggml the alignment.
        let mut both = Builder::new();
        both.set(pair("Upper", scalar(U8, 1))).set(pair("general.alignment", scalar(U32, 24)));
        let signature = of(&both).expect("a failure");
        assert_eq!((signature.rules.len(), signature.detail.as_str()), (0, MIXTURE));
        // Everybody refuses the type.
        let mut wrong = Builder::new();
        wrong.set(pair("Upper", scalar(U8, 1))).set(pair("general.alignment", scalar(U8, 24)));
        let signature = of(&wrong).expect("a failure");
        assert!(
            signature.rules.iter().any(|rule| rule == "align.type") && signature.detail.is_empty(),
            "{signature:?}"
        );
    }

    #[test]
    fn a_place_has_no_indices_and_the_type_of_its_value() {
        let bytes = gguf_spec::binary::encode(&gguf_spec::generate::valid(0));
        let entry = assay_corpus::build::entry_of("x", bytes, std::path::PathBuf::new());
        let ty = &entry.vector.document.as_ref().expect("a document")["metadata"][0]["type"];
        let ty = ty.as_str().expect("a type");
        assert_eq!(place("metadata[0].value", false, &entry), format!("metadata[].value ({ty})"));
        assert_eq!(place("tensors[12].ne", true, &entry), "tensors[].ne, missing");
        assert_eq!(place("metadata[99999].value[3]", false, &entry), "metadata[].value[]");
    }
}
