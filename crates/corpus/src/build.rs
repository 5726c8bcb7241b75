//! Writes the corpus: every vector, the index, and the specification's pages.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use gguf_spec::binary::Source;
use gguf_spec::judge::{Judgement, judge, judge_findings};
use gguf_spec::profile::{Outcome, Profile};
use gguf_spec::rules::{Checks, Says, catalogue};
use serde::{Deserialize, Serialize};

use crate::define::{self, Definition};
use crate::flags::{FLAGS, is_known};
use crate::pages;
use crate::store::{Entry, sha256};
use crate::vector::{Evidence, Expectation, FindingRecord, Origin, Rules, Vector};

/// Ids that were published and withdrawn, each with the reason in `corpus/CHANGES.md`.
pub const WITHDRAWN: &[&str] = &[];

/// What was built.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// How many vectors there are.
    pub vectors: usize,
    /// The sum of the sizes of all their files, in bytes.
    pub bytes: u64,
    /// Files written because they were new or differed.
    pub written: usize,
    /// Files removed because no definition makes them any more.
    pub removed: usize,
}

/// Why the corpus cannot be built.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// Definitions that the specification contradicts, or that break a rule of the corpus.
    #[error("{} faults in the definitions of the corpus:\n{}", .0.len(), .0.join("\n"))]
    Definitions(Vec<String>),
    /// A file cannot be read or written.
    #[error("{path}: {source}")]
    File {
        /// Which.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A file of the corpus is not of its form.
    #[error("{path}: {reason}")]
    Form {
        /// Which.
        path: PathBuf,
        /// Why.
        reason: String,
    },
}

/// One line of `corpus/index.json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IndexLine {
    /// The id.
    pub id: String,
    /// The directory below `vectors`.
    pub group: String,
    /// The class.
    pub class: String,
    /// The size of the file in bytes.
    pub size: u64,
}

/// `corpus/index.json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Index {
    /// The profiles, in the order of their columns.
    pub profiles: Vec<String>,
    /// Every vector, by id.
    pub vectors: Vec<IndexLine>,
}

/// One entry of `corpus/evidence.json`: who was seen to agree with a vector.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct EvidenceLine {
    sha256: String,
    outcome: String,
    #[serde(default)]
    document: Option<String>,
}

/// Makes every vector from its definition.
///
/// # Errors
///
/// All faults of the definitions together.
pub fn vectors(corpus: &Path) -> Result<Vec<(Definition, Vector)>, BuildError> {
    let evidence = read_evidence(corpus)?;
    let mut faults = Vec::new();
    let mut list = Vec::new();
    let mut ids = BTreeSet::new();
    for definition in define::all(corpus)? {
        if !ids.insert(definition.id.clone()) {
            faults.push(format!("{}: the id is taken", definition.id));
        }
        let judgement = judged(&definition);
        faults.extend(check(&definition, &judgement));
        let vector = vector(&definition, &judgement, evidence.get(&definition.id));
        list.push((definition, vector));
    }
    faults.extend(check_together(&list));
    if faults.is_empty() { Ok(list) } else { Err(BuildError::Definitions(faults)) }
}

/// Makes one vector and writes its two files below `corpus/vectors`.
pub(crate) fn put(corpus: &Path, definition: &Definition, report: &mut Report) -> Result<(), BuildError> {
    let judgement = judged(definition);
    let faults = check(definition, &judgement);
    if !faults.is_empty() {
        return Err(BuildError::Definitions(faults));
    }
    let vector = vector(definition, &judgement, None);
    let stem = corpus.join("vectors").join(definition.group).join(&definition.id);
    report.vectors += 1;
    report.bytes += vector.size;
    report.written += usize::from(write_if_changed(&stem.with_extension("json"), &json(&vector))?);
    report.written += usize::from(write_if_changed(&stem.with_extension("gguf"), &definition.bytes)?);
    Ok(())
}

/// A file that is no vector, with what the specification says of it, as if it were one: what a reader is
/// judged by. Its id is the name that is given, its group [`GENERATED`].
#[must_use]
pub fn entry_of(name: &str, bytes: Vec<u8>, path: PathBuf) -> Entry {
    let definition = Definition {
        group: GENERATED,
        id: name.to_owned(),
        purpose: String::new(),
        bytes,
        breaks: None,
        keeps: Vec::new(),
        flags: Vec::new(),
        origin: Origin { kind: "fuzz".to_owned(), reference: None },
    };
    let vector = vector(&definition, &judged(&definition), None);
    Entry { vector, group: GENERATED.to_owned(), path, bytes: definition.bytes }
}

/// The group of files that are no vectors.
pub const GENERATED: &str = "generated";

/// A file of more bytes than this has no document beside it.
pub const MOST_DOCUMENTED: usize = 64 << 20;

fn judged(definition: &Definition) -> Judgement {
    let bytes = definition.bytes.as_slice();
    if bytes.len() <= MOST_DOCUMENTED {
        return judge(bytes, &Checks::all());
    }
    match judge_findings(Source::whole(bytes), &bytes, &Checks::all()) {
        Ok(judgement) => judgement,
        Err(_) => unreachable!("the head is the whole input"),
    }
}

fn read_evidence(corpus: &Path) -> Result<BTreeMap<String, EvidenceLine>, BuildError> {
    let path = corpus.join("evidence.json");
    match fs::read(&path) {
        Ok(bytes) => serde_json::from_slice(&bytes).map_err(|e| BuildError::Form { path, reason: e.to_string() }),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(BTreeMap::new()),
        Err(source) => Err(BuildError::File { path, source }),
    }
}

/// What a definition says against what the specification finds.
fn check(definition: &Definition, judgement: &Judgement) -> Vec<String> {
    let mut faults = Vec::new();
    let mut fault = |text: String| faults.push(format!("{}: {text}", definition.id));
    let found: BTreeSet<_> = judgement.findings.iter().map(|finding| finding.rule.id).collect();
    if let Some(breaks) = &definition.breaks {
        let declared: BTreeSet<_> = breaks.iter().map(|rule| rule.id).collect();
        if declared != found {
            fault(format!("declared to break {declared:?}, found to break {found:?}"));
        }
    }
    for rule in &definition.keeps {
        if found.contains(rule.id) {
            fault(format!("declared to keep {}, and breaks it", rule.id));
        }
    }
    if definition.id.is_empty()
        || !definition.id.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
    {
        fault("an id is made of lower-case letters, digits and hyphens".to_owned());
    }
    if !definition.purpose.ends_with('.') {
        fault("a purpose is a sentence".to_owned());
    }
    for flag in &definition.flags {
        if !is_known(flag) {
            fault(format!("{flag} is not on the list of flags"));
        }
    }
    faults
}

/// What holds of the corpus as a whole.
fn check_together(list: &[(Definition, Vector)]) -> Vec<String> {
    let mut faults = Vec::new();
    for rule in catalogue() {
        let objects = |p: &&Profile| matches!(rule.says(**p), Some(Says::Refuses | Says::Aborts));
        let profiles: Vec<_> = Profile::ALL.iter().filter(objects).copied().collect();
        let refused = list.iter().any(|(_, vector)| {
            vector.rules.breaks.iter().any(|id| id == rule.id)
                && profiles.iter().any(|&p| vector.outcome(p) != Outcome::Accept)
        });
        let kept = list.iter().any(|(_, vector)| {
            vector.rules.keeps.iter().any(|id| id == rule.id)
                && profiles.iter().any(|&p| vector.outcome(p) == Outcome::Accept)
        });
        let large = gguf_spec::generate::large(rule).is_some();
        if !refused && !large {
            faults.push(format!("{}: no vector breaks it and is refused", rule.id));
        }
        if !kept && !large {
            faults.push(format!("{}: no near miss keeps it and is accepted", rule.id));
        }
    }
    for flag in FLAGS {
        if !list.iter().any(|(_, vector)| vector.flags.iter().any(|f| f == flag.name)) {
            faults.push(format!("the flag {} is used by no vector", flag.name));
        }
    }
    faults
}

fn vector(definition: &Definition, judgement: &Judgement, evidence: Option<&EvidenceLine>) -> Vector {
    let expect = judgement.verdicts.iter().map(|verdict| (verdict.profile.id(), Expectation::from(verdict))).collect();
    let mut breaks: Vec<String> = Vec::new();
    for finding in &judgement.findings {
        if !breaks.iter().any(|id| id == finding.rule.id) {
            breaks.push(finding.rule.id.to_owned());
        }
    }
    let mut flags: Vec<String> = definition.flags.iter().map(|&flag| flag.to_owned()).collect();
    flags.sort();
    flags.dedup();
    let hash = sha256(&definition.bytes);
    let accepted = Profile::ALL.iter().any(|&p| judgement.accepts(p) && judgement.document_for(p).is_some());
    let evidence = match evidence.filter(|line| line.sha256 == hash) {
        Some(line) => Evidence { outcome: line.outcome.clone(), document: line.document.clone().filter(|_| accepted) },
        None => Evidence { outcome: "derived".to_owned(), document: accepted.then(|| "derived".to_owned()) },
    };
    Vector {
        id: definition.id.clone(),
        purpose: definition.purpose.clone(),
        class: judgement.class().name().to_owned(),
        rules: Rules { breaks, keeps: definition.keeps.iter().map(|rule| rule.id.to_owned()).collect() },
        flags,
        expect,
        findings: judgement.findings.iter().map(FindingRecord::from).collect(),
        origin: definition.origin.clone(),
        evidence,
        size: definition.bytes.len() as u64,
        sha256: hash,
        document: judgement.document.as_ref().filter(|_| accepted).map(gguf_spec::document::Document::to_json),
        document_ggml: judgement
            .ggml_document
            .as_ref()
            .filter(|ggml| accepted && judgement.document.as_ref() != Some(ggml))
            .map(gguf_spec::document::Document::to_json),
    }
}

/// Writes the corpus below `root` (the root of the repository): `corpus/vectors`, `corpus/index.json`,
/// `spec/SPEC.md` and `spec/grids`. Files that no definition makes any more are removed.
///
/// # Errors
///
/// Faults in the definitions, an id that was published and is gone, or a file that cannot be written.
pub fn write(root: &Path) -> Result<Report, BuildError> {
    let corpus = root.join("corpus");
    let list = vectors(&corpus)?;
    check_permanence(&corpus, &list)?;
    let mut files: BTreeMap<PathBuf, Vec<u8>> = BTreeMap::new();
    let mut report = Report { vectors: list.len(), ..Report::default() };
    for (definition, vector) in &list {
        let stem = corpus.join("vectors").join(definition.group).join(&definition.id);
        files.insert(stem.with_extension("gguf"), definition.bytes.clone());
        files.insert(stem.with_extension("json"), json(vector));
    }
    report.bytes = files.values().map(|bytes| bytes.len() as u64).sum();
    report.removed = remove_others(&corpus.join("vectors"), &files)?;
    for (name, points) in pages::grids() {
        files.insert(root.join("spec").join("grids").join(name), points.into_bytes());
    }
    // What lists the vectors comes last: an index never names one that is not there.
    let last = [
        (root.join("spec").join("SPEC.md"), pages::specification(&list).into_bytes()),
        (corpus.join("index.json"), json(&index(&list))),
    ];
    for (path, bytes) in files.iter().chain(last.iter().map(|(path, bytes)| (path, bytes))) {
        report.written += usize::from(write_if_changed(path, bytes)?);
    }
    Ok(report)
}

/// An id that was published stays, or is on the list of those withdrawn.
fn check_permanence(corpus: &Path, list: &[(Definition, Vector)]) -> Result<(), BuildError> {
    let path = corpus.join("index.json");
    let Ok(bytes) = fs::read(&path) else { return Ok(()) };
    let old: Index = serde_json::from_slice(&bytes).map_err(|e| BuildError::Form { path, reason: e.to_string() })?;
    let gone: Vec<_> = old
        .vectors
        .iter()
        .filter(|line| !WITHDRAWN.contains(&line.id.as_str()) && !list.iter().any(|(_, vector)| vector.id == line.id))
        .map(|line| format!("{}: the id was published and no definition has it; ids are permanent", line.id))
        .collect();
    if gone.is_empty() { Ok(()) } else { Err(BuildError::Definitions(gone)) }
}

fn index(list: &[(Definition, Vector)]) -> Index {
    let mut vectors: Vec<_> = list
        .iter()
        .map(|(definition, vector)| IndexLine {
            id: vector.id.clone(),
            group: definition.group.to_owned(),
            class: vector.class.clone(),
            size: vector.size,
        })
        .collect();
    vectors.sort_by(|a, b| a.id.cmp(&b.id));
    Index { profiles: Profile::ALL.into_iter().map(Profile::id).collect(), vectors }
}

/// A file of the corpus: indented, with a newline at the end.
pub(crate) fn json(value: &impl Serialize) -> Vec<u8> {
    let mut bytes = serde_json::to_vec_pretty(value).unwrap_or_default();
    bytes.push(b'\n');
    bytes
}

fn remove_others(vectors: &Path, files: &BTreeMap<PathBuf, Vec<u8>>) -> Result<usize, BuildError> {
    let mut removed = 0;
    let Ok(groups) = fs::read_dir(vectors) else { return Ok(0) };
    for group in groups.flatten() {
        let Ok(entries) = fs::read_dir(group.path()) else { continue };
        for path in entries.flatten().map(|entry| entry.path()) {
            if !files.contains_key(&path) {
                fs::remove_file(&path).map_err(|source| BuildError::File { path, source })?;
                removed += 1;
            }
        }
    }
    Ok(removed)
}

fn write_if_changed(path: &Path, bytes: &[u8]) -> Result<bool, BuildError> {
    if fs::read(path).is_ok_and(|old| old == bytes) {
        return Ok(false);
    }
    let error = |source| BuildError::File { path: path.to_owned(), source };
    if let Some(directory) = path.parent() {
        fs::create_dir_all(directory).map_err(error)?;
    }
    fs::write(path, bytes).map_err(error)?;
    Ok(true)
}
