//! The conformance tests: one for each vector, each rule, each round trip, and some for what holds of
//! any bytes. `cargo test conformance` runs these alone.
//!
//! `ASSAY_SEED` and `ASSAY_CASES` choose the generated files; a failure names the values to run it again.

#[path = "support/corpus.rs"]
mod corpus;
#[path = "support/seed.rs"]
mod seed;

use std::borrow::Cow;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Instant;

use assay_corpus::recipes::{RECIPES, Recipe};
use assay_corpus::store::Entry;
use assay_oracles::mutation::{self, Report, objects};
use assay_oracles::{Holds, any_file, cases, corpus::judge_entry, hostile, places, reader, round_trip, rules};
use gguf_spec::binary::{Source, encode};
use gguf_spec::generate::{Builder, breaking, large, tensor, valid};
use gguf_spec::judge::{Judgement, judge_findings};
use gguf_spec::profile::{Outcome, Profile};
use gguf_spec::rules::{Checks, Rule, catalogue};
use gguf_spec::syntax::Tree;
use libtest_mimic::{Arguments, Failed, Trial};

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let started = Instant::now();
    let entries = match corpus::entries() {
        Ok(entries) => entries,
        Err(error) => {
            eprintln!("{error}\nthere is nothing to conform to");
            return ExitCode::FAILURE;
        }
    };
    let loaded = started.elapsed();
    if !arguments.list {
        let started = Instant::now();
        let differences: usize = entries.iter().map(|entry| judge_entry(entry).len()).sum();
        eprintln!(
            "{} vectors loaded in {loaded:.0?}, judged and compared in {:.0?}, {differences} differences; seed {}",
            entries.len(),
            started.elapsed(),
            seed::first()
        );
    }
    let corpus = Arc::new(Corpus { entries, mutation: OnceLock::new() });
    let mut trials = Vec::new();
    for i in 0..corpus.entries.len() {
        let entry = &corpus.entries[i];
        let (group, id) = (&entry.group, &entry.vector.id);
        let run = |holds: fn(&Entry) -> Holds| {
            let corpus = Arc::clone(&corpus);
            move || answer(holds(&corpus.entries[i]))
        };
        trials.push(Trial::test(format!("conformance::corpus::{group}::{id}"), run(as_expected)));
        trials.push(Trial::test(format!("conformance::roundtrip::{id}"), run(comes_back)));
        trials.push(Trial::test(format!("conformance::reader::{id}"), run(is_read_as_specified)));
    }
    for rule in catalogue() {
        let corpus = Arc::clone(&corpus);
        let run = move || answer(is_tested(rule, &corpus));
        trials.push(Trial::test(format!("conformance::rules::{}", rule.id), run));
    }
    for (name, property) in PROPERTIES {
        trials.push(Trial::test(format!("conformance::properties::{name}"), move || answer(property())));
    }
    for recipe in RECIPES {
        // Files of over a gigabyte: `cargo test --release conformance::large -- --ignored`.
        let trial = Trial::test(format!("conformance::large::{}", recipe.id), move || answer(is_as_made(recipe)));
        trials.push(trial.with_ignored_flag(true));
    }
    libtest_mimic::run(&arguments, trials).exit_code()
}

fn answer(holds: Holds) -> Result<(), Failed> {
    holds.map_err(Failed::from)
}

/// The corpus, and how the readers without one rule fare on it, measured once.
struct Corpus {
    entries: Vec<Entry>,
    mutation: OnceLock<Result<Report, String>>,
}

impl Corpus {
    fn mutation(&self) -> Result<&Report, String> {
        self.mutation.get_or_init(|| mutation::score(&self.entries)).as_ref().map_err(Clone::clone)
    }
}

/// The specification says of a vector what the vector says.
fn as_expected(entry: &Entry) -> Holds {
    let differences = judge_entry(entry);
    if differences.is_empty() {
        return Ok(());
    }
    let lines: Vec<_> = differences.iter().map(|difference| format!("  {difference}")).collect();
    Err(format!("{}\n{}\n{}", entry.vector.purpose, entry.path.display(), lines.join("\n")))
}

/// A vector comes back from decoding and encoding, alone and behind other bytes; and whatever else
/// holds of any bytes.
fn comes_back(entry: &Entry) -> Holds {
    any_file(&entry.bytes)?;
    let mut input = b"something else first".to_vec();
    let base = input.len() as u64;
    input.extend(&entry.bytes);
    round_trip::decode_encode(&input, base, &Checks::all())?;
    places::tile(&input, base)
}

/// The fast reader reads a vector, whole and in pieces, as the specification says.
fn is_read_as_specified(entry: &Entry) -> Holds {
    reader::any_file(&entry.bytes)
}

/// A rule has a vector that breaks it and is refused for it, a near miss that keeps it and is accepted,
/// and a reader that does not know it is caught. Rules in the shadow of another are on the list, and a
/// recipe makes a file that separates the two.
fn is_tested(rule: &'static Rule, corpus: &Corpus) -> Holds {
    let score = corpus.mutation()?.of(rule).ok_or("the rule was not measured")?;
    if let Some(shadow) = score.shadow {
        if let Some(catch) = score.caught_by.first() {
            return Err(format!("it is listed as shadowed, yet {} catches a reader without it", catch.id));
        }
        let behind: Vec<_> = shadow.behind.iter().map(|rule| rule.id).collect();
        return match (large(rule).is_some(), recipe_breaking(rule)) {
            (true, Some(_)) => Ok(()),
            _ => Err(format!("no recipe separates it from {behind:?}")),
        };
    }
    let has = |list: &[String]| list.iter().any(|id| id == rule.id);
    let judges: Vec<_> = Profile::ALL.into_iter().filter(|&profile| objects(rule, profile)).collect();
    let refused = |profile: Profile| {
        let refuses = |entry: &&Entry| {
            let because = entry.vector.expect.get(&profile.id()).and_then(|expectation| expectation.rule.as_deref());
            has(&entry.vector.rules.breaks)
                && entry.vector.outcome(profile) != Outcome::Accept
                && because == Some(rule.id)
        };
        corpus.entries.iter().find(refuses)
    };
    let kept = |profile: Profile| {
        let keeps = |entry: &&Entry| has(&entry.vector.rules.keeps) && entry.vector.outcome(profile) == Outcome::Accept;
        corpus.entries.iter().find(keeps)
    };
    let refusers: Vec<_> = judges.into_iter().filter(|&profile| refused(profile).is_some()).collect();
    if refusers.is_empty() {
        return Err("no vector that breaks it is refused for it".to_owned());
    }
    if !refusers.into_iter().any(|profile| kept(profile).is_some()) {
        return Err("no near miss is accepted by a profile that refuses what breaks it".to_owned());
    }
    if score.caught() { Ok(()) } else { Err("no vector catches a reader that does not know it".to_owned()) }
}

fn recipe_breaking(rule: &Rule) -> Option<&'static Recipe> {
    RECIPES.iter().find(|recipe| recipe.breaks.contains(&rule))
}

type Property = fn() -> Holds;

/// What holds of files drawn from a seed.
const PROPERTIES: [(&str, Property); 11] = [
    ("any_file", || seed::each_case(8_000, |case| any_file(&case.bytes))),
    ("embedded_files_come_back", || {
        seed::each_case(10_000, |case| {
            let base = case.seed % 71;
            let mut input = vec![0x47; usize::try_from(base).unwrap_or(0)];
            input.extend(&case.bytes);
            round_trip::decode_encode(&input, base, &Checks::all())?;
            places::tile(&input, base)
        })
    }),
    ("files_come_back_without_a_rule", || {
        let catalogue = catalogue();
        seed::each_case(10_000, |case| {
            let rule = catalogue[usize::try_from(case.seed).unwrap_or(0) % catalogue.len()];
            round_trip::decode_encode(&case.bytes, 0, &Checks::all().without(rule))
                .map_err(|reason| format!("without {}: {reason}", rule.id))
        })
    }),
    ("trees_come_back", || {
        seed::each(5_000, |seed| {
            round_trip::encode_decode(&valid(seed))?;
            round_trip::encode_decode(&cases::variant(seed))
        })
    }),
    ("broken_files_break_one_rule", || {
        let catalogue = catalogue();
        seed::each(10_000, |seed| {
            rules::breaks_exactly(catalogue[usize::try_from(seed).unwrap_or(0) % catalogue.len()], seed)
        })
    }),
    ("hostile_files", hostile_files),
    ("reader_does_as_specified", || seed::each_case(20_000, |case| reader::any_file(&case.bytes))),
    ("reader_of_files_cut_anywhere", files_cut_anywhere),
    ("reader_of_large_files", large_files),
    ("reader_of_extreme_shapes", || seed::each(20_000, |seed| reader::as_specified(&cases::extreme_shapes(seed)))),
    ("generated_files_catch_readers_without_a_rule", generated_files_catch),
];

/// What holds of any bytes holds of files made to exhaust a reader.
fn hostile_files() -> Holds {
    let large = hostile::FAMILIES.iter().map(|family| (family.name.to_owned(), family.file(20_000)));
    let deep = [32, 33, 4000].map(|depth| (format!("{depth} arrays in one another"), hostile::nested(3, depth)));
    for (name, bytes) in hostile::declared().into_iter().chain(large).chain(deep) {
        any_file(&bytes).and_then(|()| reader::any_file(&bytes)).map_err(|reason| format!("{name}: {reason}"))?;
    }
    Ok(())
}

/// Small files of every kind, cut at every length.
fn files_cut_anywhere() -> Holds {
    seed::each_case(60, |case| {
        (0..case.bytes.len().min(2_000)).try_for_each(|len| {
            reader::as_specified(&case.bytes[..len]).map_err(|reason| format!("the first {len} bytes: {reason}"))
        })
    })
}

/// Files of gigabytes, of which only the header is there: around the sizes at which ggml asks for more
/// memory than there is, and at which data, padding or both are missing.
fn large_files() -> Holds {
    const GIB: u64 = 1 << 30;
    for (rows, two) in (0..12).flat_map(|i| [(GIB / 2 * i + 3, false), (GIB / 2 * i, true), (GIB / 2 * i + 31, true)]) {
        for dims in [[rows, 1], [1, rows], [rows / 7 + 1, 7]] {
            let mut builder = Builder::new();
            builder.tensors.push(tensor("a", 24, &dims));
            if two {
                builder.tensors.push(tensor("b", 24, &[5]));
            }
            let head = encode(&Tree { rest: Cow::default(), ..builder.finish() });
            let size = dims[0] * dims[1];
            let start = head.len() as u64;
            let end = start + size.next_multiple_of(32) + if two { 5 } else { 0 };
            let lengths = [start, start + 1, end / 2, start + size, end, end.next_multiple_of(32), end + 100];
            for len in lengths.into_iter().flat_map(|len| [len.saturating_sub(1), len]) {
                reader::with_a_hole(&head, len)?;
            }
        }
    }
    Ok(())
}

/// Files made to break each rule catch readers without one, like the vectors.
fn generated_files_catch() -> Holds {
    // A file cut inside its magic is no file to a reader that does not look at it either: of each rule
    // enough files are drawn that not all are of such a kind.
    const EACH: u64 = 32;
    let files: Vec<_> = catalogue()
        .into_iter()
        .flat_map(|rule| (0..EACH).map(move |i| (rule, seed::first().wrapping_add(i))))
        .filter_map(|(rule, seed)| Some((format!("{} {seed}", rule.id), breaking(rule, seed)?.bytes())))
        .collect();
    let expected: Vec<_> = files.iter().map(|(id, bytes)| mutation::Expected::of_file(id.as_str(), bytes)).collect();
    let report = mutation::score_files(&expected);
    let right = report.survivors().next().is_none() && report.idle_shadows().next().is_none();
    if right { Ok(()) } else { Err(format!("seed {}: {report}", seed::first())) }
}

/// A large file breaks and keeps what its recipe says, and a reader that does not know a rule that no
/// small file separates from another is caught by it.
fn is_as_made(recipe: &Recipe) -> Holds {
    // One at a time: each takes some gigabytes.
    static ONE: Mutex<()> = Mutex::new(());
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let file = recipe.definition().bytes;
    let judged = |checks: &Checks| -> Result<Judgement, String> {
        judge_findings(Source::whole(&file), &file.as_slice(), checks).map_err(|need| format!("{need:?}"))
    };
    let whole = judged(&Checks::all())?;
    let found: Vec<_> = whole.findings.iter().map(|finding| finding.rule).collect();
    if found != recipe.breaks {
        return Err(format!("findings: {:#?}", whole.findings));
    }
    for rule in recipe.breaks {
        let mutant = judged(&Checks::all().without(rule))?;
        let caught = |&profile: &Profile| {
            objects(rule, profile) && mutant.verdict(profile).outcome != whole.verdict(profile).outcome
        };
        if !Profile::ALL.iter().any(caught) {
            return Err(format!("a reader that does not know {} is not caught", rule.id));
        }
    }
    for rule in recipe.keeps {
        let accepted = |&profile: &Profile| objects(rule, profile) && whole.accepts(profile);
        if !Profile::ALL.iter().any(accepted) {
            return Err(format!("no profile that knows {} accepts it", rule.id));
        }
    }
    Ok(())
}
