//! Adapters that behave well and badly, in every way that is known: each gets the verdict that it deserves,
//! and the run goes on with the next vector.
//!
//! The program starts itself again as the adapter. A bad one does its deed when it is asked about one
//! vector, [`TARGET`], and answers rightly about all others.

mod fake;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use assay_corpus::store::{Entry, load};
use assay_harness::adapter::program::Program;
use assay_harness::adapter::run::{Adapter, Outcome, Run};
use assay_harness::adapter::session::{Limits, StartError};
use assay_harness::adapter::verdict::Verdict;
use assay_harness::sandbox::limits_enforced;
use libtest_mimic::{Arguments, Failed, Trial};

/// The vector on which a bad adapter does its deed.
const TARGET: &str = "type-00-f32";

/// The vectors that the adapters are asked about.
const VECTORS: [&str; 5] = ["align-zero-broken", "alignment-1", TARGET, "type-02-q4-0", "value-u8-big"];

/// Far less than in earnest, so that the tests are fast.
const LIMITS: Limits = Limits {
    cpu: Duration::from_millis(100),
    start_cpu: Duration::from_secs(5),
    wall: Duration::from_millis(2_500),
    memory: 96 << 20,
    answer: 1 << 16,
    complaint: 1 << 12,
};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [first, deed, state] = arguments.as_slice()
        && first == fake::CHILD
    {
        return fake::main(deed, Path::new(state));
    }
    let ignored = !cfg!(unix);
    let mut trials = Vec::new();
    for (deed, verdict, how) in DEEDS {
        // What a system does not enforce or measure is not tested there.
        let ignored = ignored || (needs_measures(deed) && !limits_enforced());
        let name = format!("{deed}_is_{verdict}").replace('-', "_");
        trials.push(Trial::test(name, move || does(deed, verdict, how)).with_ignored_flag(ignored));
    }
    let mut other = |name: &str, test: fn() -> Result<(), Failed>| {
        trials.push(Trial::test(name, test).with_ignored_flag(ignored));
    };
    other("a_right_adapter_is_right", right);
    other("one_that_always_accepts_is_found_out", always_accepts);
    other("one_that_always_rejects_is_found_out", always_rejects);
    other("one_that_does_not_start_is_told", start_errors);
    other("one_that_does_not_stop_is_told", stop_problems);
    other("a_crash_that_does_not_come_again_is_unstable", flaky);
    other("a_crash_for_another_vectors_sake_is_unstable", second_only);
    other("one_that_cannot_be_started_again_is_given_up", not_again);
    other("one_that_starts_as_somebody_else_is_told", changes);
    let mut arguments = Arguments::from_args();
    // Each runs processes that compute; the limits on time are short.
    arguments.test_threads.get_or_insert(2);
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// What an adapter does on the target, the verdict that it deserves, and words of the message.
const DEEDS: [(&str, Verdict, &str); 28] = [
    ("wrong-value", Verdict::WrongValue, ""),
    ("reject", Verdict::FalseReject, "no reason"),
    ("skip", Verdict::Unsupported, "not today"),
    ("abort", Verdict::Crash, "signal 6 (abort): last words"),
    ("segfault", Verdict::Crash, "signal 11 (segmentation fault)"),
    ("panic", Verdict::Crash, "exit code 101: panicked at "),
    ("exit-0", Verdict::Crash, "exit code 0"),
    ("exit-0-with-a-child", Verdict::Crash, "exit code 0"),
    ("compute", Verdict::Hang, "over 0.1 s of processor time"),
    ("compute-in-a-child", Verdict::Hang, "over 0.1 s of processor time"),
    ("sleep", Verdict::Hang, "no answer in 2.5 s on the clock"),
    ("eat", Verdict::OutOfMemory, "memory allocation of"),
    ("eat-in-children", Verdict::OutOfMemory, "over 96 MiB of memory in use"),
    ("flood", Verdict::ProtocolError, "a line of over 65536 bytes: \"aaaa"),
    ("flood-of-lines", Verdict::ProtocolError, ""),
    ("half-a-line", Verdict::ProtocolError, "part of a line, then exit code 0: \"{\\\"seq\\\":"),
    ("half-a-line-and-sleep", Verdict::ProtocolError, "part of a line in 2.5 s on the clock"),
    ("trickle", Verdict::ProtocolError, "part of a line in 2.5 s on the clock"),
    ("empty-line", Verdict::ProtocolError, "not a JSON object: \"\""),
    ("wrong-seq", Verdict::ProtocolError, "`seq` is 1000, in the answer to"),
    ("old-seq", Verdict::ProtocolError, "`seq` is 0, in the answer to"),
    ("twice", Verdict::ProtocolError, "more than one line in answer to one request"),
    ("twice-slowly", Verdict::ProtocolError, "more than one line in answer to one request"),
    ("not-json", Verdict::ProtocolError, "not a JSON object: \"Loading model\""),
    ("not-utf8", Verdict::ProtocolError, "not UTF-8"),
    ("unknown-member", Verdict::ProtocolError, "`documnet` is no member of an answer with the result `accepted`"),
    ("broken-document", Verdict::ProtocolError, "`document`: "),
    ("close", Verdict::ProtocolError, "closed its standard output, and runs on"),
];

fn needs_measures(deed: &str) -> bool {
    deed.starts_with("compute") || deed.starts_with("eat")
}

fn entries() -> Vec<Entry> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join("..").join("corpus");
    let all = load(&root).expect("the committed corpus");
    let chosen: Vec<_> = all.into_iter().filter(|entry| VECTORS.contains(&entry.vector.id.as_str())).collect();
    assert_eq!(chosen.len(), VECTORS.len());
    chosen
}

fn start(deed: &str, state: &Path) -> Result<Adapter, StartError> {
    let program = std::env::current_exe().expect("the path of the test program");
    let words = [program, PathBuf::from(fake::CHILD), PathBuf::from(deed), state.to_owned()];
    let words = words.map(|word| word.into_os_string().into_string().expect("UTF-8"));
    // To fill the memory takes time too, and a machine that is busy gives little of its processor.
    let cpu = if deed.starts_with("eat") { LIMITS.start_cpu } else { LIMITS.cpu };
    let wall = if needs_measures(deed) { 4 * LIMITS.start_cpu } else { LIMITS.wall };
    Adapter::start(Program::new(words.to_vec()), Limits { cpu, wall, ..LIMITS })
}

/// Runs an adapter over the vectors; one process, so that their order is known.
fn run(deed: &str) -> Result<Run, Failed> {
    let state = tempfile::tempdir()?;
    Ok(start(deed, state.path())?.run(&entries(), 1, &|_| {})?)
}

fn of<'a>(run: &'a Run, id: &str) -> &'a Outcome {
    let index = VECTORS.iter().position(|vector| *vector == id).expect("a vector");
    &run.outcomes[index]
}

/// The verdicts of an adapter that is right.
fn expected(id: &str) -> Verdict {
    if id == "alignment-1" || id == "value-u8-big" { Verdict::SidesWith } else { Verdict::Agree }
}

fn others_are_right(run: &Run) -> Result<(), Failed> {
    for id in VECTORS.into_iter().filter(|id| *id != TARGET) {
        let outcome = of(run, id);
        if outcome.judged.verdict != expected(id) || outcome.unstable.is_some() {
            return Err(format!("{id}: {outcome:?}").into());
        }
    }
    Ok(())
}

fn does(deed: &str, verdict: Verdict, how: &str) -> Result<(), Failed> {
    let start = Instant::now();
    let run = run(deed)?;
    let outcome = of(&run, TARGET);
    let judged = &outcome.judged;
    if judged.verdict != verdict || !judged.message.contains(how) || outcome.unstable.is_some() {
        return Err(format!("expected {verdict} ({how}), got {outcome:?}").into());
    }
    if verdict == Verdict::WrongValue && judged.difference.as_ref().is_none_or(|d| d.path != "tensors[0].name") {
        return Err(format!("{judged:?}").into());
    }
    others_are_right(&run)?;
    if !run.problems.is_empty() || run.gave_up.is_some() {
        return Err(format!("{:?}, {:?}", run.problems, run.gave_up).into());
    }
    // Twice the clock, and time to start; a machine that is busy takes longer.
    if start.elapsed() > Duration::from_secs(40) {
        return Err(format!("took {:?}", start.elapsed()).into());
    }
    Ok(())
}

fn right() -> Result<(), Failed> {
    let state = tempfile::tempdir()?;
    for jobs in [1, 3, 100] {
        let run = start("right", state.path())?.run(&entries(), jobs, &|_| {})?;
        others_are_right(&run)?;
        let target = of(&run, TARGET);
        if target.judged.verdict != Verdict::Agree || !target.judged.compared || !run.problems.is_empty() {
            return Err(format!("{target:?}, {:?}", run.problems).into());
        }
        if limits_enforced() && target.used.peak.is_none_or(|peak| peak < 1 << 16) {
            return Err(format!("nothing was measured: {:?}", target.used).into());
        }
    }
    Ok(())
}

fn verdicts(deed: &str) -> Result<Vec<Verdict>, Failed> {
    Ok(run(deed)?.outcomes.iter().map(|outcome| outcome.judged.verdict).collect())
}

fn always_accepts() -> Result<(), Failed> {
    let wrong = Verdict::WrongValue;
    assert_eq!(verdicts("accept-always")?, [Verdict::FalseAccept, wrong, wrong, wrong, wrong]);
    Ok(())
}

fn always_rejects() -> Result<(), Failed> {
    let (side, wrong) = (Verdict::SidesWith, Verdict::FalseReject);
    assert_eq!(verdicts("reject-always")?, [Verdict::Agree, side, wrong, wrong, side]);
    Ok(())
}

fn start_errors() -> Result<(), Failed> {
    let state = tempfile::tempdir()?;
    for (deed, words) in [
        ("no-start", "did not start: crash: exit code 9: no library"),
        ("start-sleeps", "did not start: hang: no answer in 2.5 s"),
        ("start-talks", "did not start: not a JSON object: \"Welcome!\""),
        ("start-2", "did not start: `protocol` is 2; this program speaks 1"),
    ] {
        match start(deed, state.path()) {
            Ok(_) => return Err(format!("{deed}: it started").into()),
            Err(error) if error.to_string().contains(words) => {}
            Err(error) => return Err(format!("{deed}: {error}").into()),
        }
    }
    Ok(())
}

fn stop_problems() -> Result<(), Failed> {
    for (deed, words) in [
        ("no-stop", "told to stop: no answer in 2.5 s on the clock"),
        ("stop-goes-on", "still runs 2.5 s after it said that it stopped"),
        ("stop-exit-4", "said that it stopped, then exit code 4"),
    ] {
        let run = run(deed)?;
        others_are_right(&run)?;
        if run.problems.len() != 1 || !run.problems[0].contains(words) {
            return Err(format!("{deed}: {:?}", run.problems).into());
        }
    }
    Ok(())
}

fn flaky() -> Result<(), Failed> {
    let run = run("crash-once")?;
    others_are_right(&run)?;
    let outcome = of(&run, TARGET);
    let second = outcome.unstable.as_ref().map(|judged| judged.verdict);
    assert_eq!((outcome.judged.verdict, second), (Verdict::Crash, Some(Verdict::Agree)));
    assert!(outcome.is_failure());
    Ok(())
}

fn second_only() -> Result<(), Failed> {
    let run = run("crash-on-second")?;
    for outcome in &run.outcomes {
        // Each process answers once and dies at the second question, which is put to the next, alone.
        let unstable = outcome.unstable.as_ref().map(|judged| judged.verdict);
        let expected = expected(VECTORS[outcome.index]);
        if outcome.index % 2 == 0 {
            assert_eq!((outcome.judged.verdict, unstable), (expected, None));
        } else {
            assert_eq!((outcome.judged.verdict, unstable), (Verdict::Crash, Some(expected)));
        }
    }
    Ok(())
}

fn not_again() -> Result<(), Failed> {
    let run = run("start-once-and-crash")?;
    let outcomes: Vec<_> = run.outcomes.iter().map(|outcome| outcome.judged.verdict).collect();
    let (side, not_run) = (Verdict::SidesWith, Verdict::NotRun);
    assert_eq!(outcomes, [Verdict::Agree, side, Verdict::Crash, not_run, not_run]);
    // The crash could not be confirmed either.
    assert_eq!(of(&run, TARGET).unstable.as_ref().map(|judged| judged.verdict), Some(not_run));
    assert!(run.gave_up.is_some_and(|why| why.contains("did not start")));
    Ok(())
}

fn changes() -> Result<(), Failed> {
    let run = run("changes-and-crash")?;
    others_are_right(&run)?;
    assert_eq!(run.problems, ["its processes answer `start` differently"]);
    Ok(())
}
