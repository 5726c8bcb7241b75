//! Campaigns against adapters that behave well and badly: no deed stops one, each is found, confirmed, made
//! small and written down, and whoever behaves well is asked about every file.
//!
//! The program starts itself again as the adapter. A bad one does its deed when it is asked about a right file
//! with a tensor.

#[path = "../adapter/fake.rs"]
mod fake;

mod state;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use assay_harness::adapter::program::Program;
use assay_harness::adapter::session::Limits;
use assay_harness::adapter::verdict::Verdict;
use assay_harness::campaign::finding::Finding;
use assay_harness::campaign::{Bounds, Campaign, CampaignError, Progress, Reader, Watch, replay};
use assay_harness::sandbox::limits_enforced;
use gguf_spec::binary::decode;
use gguf_spec::judge::judge;
use gguf_spec::profile::Outcome;
use gguf_spec::rules::Checks;
use libtest_mimic::{Arguments, Failed, Trial};

/// No vector is asked about.
const TARGET: &str = "";

/// A test that is no row of a table.
type Test = fn() -> Result<(), Failed>;

const LIMITS: Limits = Limits {
    cpu: Duration::from_secs(1),
    start_cpu: Duration::from_secs(5),
    wall: Duration::from_secs(2),
    memory: 96 << 20,
    answer: 1 << 16,
    complaint: 1 << 12,
};

/// The largest file that is made.
const MOST: usize = 2048;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [first, deed, state] = arguments.as_slice()
        && first == fake::CHILD
    {
        return fake::main(deed, Path::new(state));
    }
    let ignored = !cfg!(unix);
    let mut trials = Vec::new();
    for (deed, verdict, files) in DEEDS {
        // What a system does not enforce or measure is not tested there.
        let ignored = ignored || ((deed.starts_with("compute") || deed.starts_with("eat")) && !limits_enforced());
        let name = format!("{deed}_is_found_to_be_{verdict}").replace('-', "_");
        trials.push(Trial::test(name, move || does(deed, verdict, files)).with_ignored_flag(ignored));
    }
    let mut other = |name: &str, test: Test| {
        trials.push(Trial::test(name, test).with_ignored_flag(ignored));
    };
    other("a_file_made_small_is_right_or_wrong_for_the_same_profiles", outcomes_stay);
    other("readers_that_are_right_have_no_failure", right);
    other("what_was_not_made_small_is_marked_and_goes_on", unfinished);
    other("one_that_cannot_be_started_again_is_put_aside", not_again);
    other("one_that_always_breaks_the_protocol_is_put_aside", always_breaks);
    other("a_campaign_without_readers_ends", nobody_left);
    other("a_crash_that_does_not_come_again_is_no_finding", flaky);
    other("one_that_starts_as_somebody_else_is_told", changes);
    other("readers_that_differ_on_disputed_files_are_counted", differ);
    for (name, test) in state::TESTS {
        other(name, test);
    }
    let mut arguments = Arguments::from_args();
    // Each runs processes that compute; the limits on time are short.
    arguments.test_threads.get_or_insert(2);
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// What an adapter does on a right file with a tensor, the verdict that it deserves, and how many files are
/// enough to see it: where each takes a second, a few.
const DEEDS: [(&str, Verdict, u64); 27] = [
    ("wrong-value", Verdict::WrongValue, 100),
    ("reject", Verdict::FalseReject, 100),
    ("abort", Verdict::Crash, 60),
    ("segfault", Verdict::Crash, 20),
    ("panic", Verdict::Crash, 60),
    ("exit-0", Verdict::Crash, 60),
    ("exit-0-with-a-child", Verdict::Crash, 10),
    ("compute", Verdict::Hang, 10),
    ("compute-in-a-child", Verdict::Hang, 10),
    ("sleep", Verdict::Hang, 10),
    ("eat", Verdict::OutOfMemory, 10),
    ("eat-in-children", Verdict::OutOfMemory, 10),
    ("flood", Verdict::ProtocolError, 60),
    ("flood-of-lines", Verdict::ProtocolError, 60),
    ("half-a-line", Verdict::ProtocolError, 60),
    ("half-a-line-and-sleep", Verdict::ProtocolError, 10),
    ("trickle", Verdict::ProtocolError, 10),
    ("empty-line", Verdict::ProtocolError, 60),
    ("wrong-seq", Verdict::ProtocolError, 60),
    ("old-seq", Verdict::ProtocolError, 60),
    ("twice", Verdict::ProtocolError, 60),
    ("twice-slowly", Verdict::ProtocolError, 20),
    ("not-json", Verdict::ProtocolError, 60),
    ("not-utf8", Verdict::ProtocolError, 60),
    ("unknown-member", Verdict::ProtocolError, 60),
    ("broken-document", Verdict::ProtocolError, 60),
    ("accept-always", Verdict::FalseAccept, 100),
];

/// The command of an adapter.
fn program(deed: &str, state: &Path) -> Program {
    let program = std::env::current_exe().expect("the path of the test program");
    let words = [program, PathBuf::from(fake::CHILD), PathBuf::from(deed), state.to_owned()];
    Program::new(words.map(|word| word.into_os_string().into_string().expect("UTF-8")).to_vec())
}

fn reader(deed: &str, state: &Path, jobs: usize) -> Result<Reader, Failed> {
    // To fill the memory takes time too, and a machine that is busy gives little of its processor.
    let eats = deed.starts_with("eat");
    let limits = if eats { Limits { cpu: 4 * LIMITS.start_cpu, wall: 4 * LIMITS.start_cpu, ..LIMITS } } else { LIMITS };
    Ok(Reader::start(program(deed, state), limits, jobs)?)
}

fn bounds(count: u64) -> Bounds {
    Bounds { count: Some(count), time: None, disk: 64 << 20, tries: 200 }
}

fn watch<'a>() -> Watch<'a> {
    Watch { stop: Arc::new(|| false), told: &|_| {}, hex: &|bytes| format!("{} bytes\n", bytes.len()) }
}

/// A campaign of so many files, run to its end.
fn campaign(out: &Path, readers: Vec<Reader>, bounds: Bounds) -> Result<Campaign, Failed> {
    let mut campaign = Campaign::begin(out, readers, &[], 7, MOST, bounds)?;
    campaign.run(&watch())?;
    Ok(campaign)
}

fn only(verdicts: &[Verdict], campaign: &Campaign, reader: usize) -> Result<(), Failed> {
    let tally = &campaign.tallies()[reader];
    let known = |name: &String| verdicts.iter().any(|verdict| verdict.name() == name);
    if tally.files == 0 || !tally.verdicts.keys().all(known) {
        return Err(format!("{}: {tally:?}", campaign.readers()[reader].name()).into());
    }
    Ok(())
}

const FINE: [Verdict; 3] = [Verdict::Agree, Verdict::SidesWith, Verdict::OutOfScope];

/// One that behaves badly and one that behaves well.
fn does(deed: &str, verdict: Verdict, files: u64) -> Result<(), Failed> {
    let room = tempfile::tempdir()?;
    let out = room.path().join("findings");
    let slow = files < 60;
    let readers = vec![reader(deed, room.path(), 1)?, reader("right", room.path(), 1)?];
    let bounds = Bounds { tries: if slow { 0 } else { 200 }, ..bounds(files) };
    let campaign = campaign(&out, readers, bounds)?;
    // Who behaves well is asked about everything, whatever the other does.
    only(&FINE, &campaign, 1)?;
    assert_eq!((campaign.made(), campaign.tallies()[1].files), (files, files));
    let groups = campaign.groups();
    let name = campaign.readers()[0].name();
    let found = groups.iter().find(|(group, _)| group.signature.verdict == verdict.name());
    let Some((group, files)) = found else {
        return Err(format!("no {verdict}: {groups:?}, {:?}, {:?}", campaign.tallies(), campaign.remarks()).into());
    };
    assert!(groups.iter().all(|(group, _)| group.signature.adapter == name), "{groups:?}");
    assert!(*files > 0 && group.size <= group.size_before && campaign.progress().waiting == 0);

    let directory = out.join(group.directory.as_ref().expect("a reproducer"));
    for name in ["file.gguf", "finding.json", "annotated.hex", "README.md"] {
        assert!(directory.join(name).is_file(), "{name}");
    }
    let finding = Finding::load(&directory)?;
    assert_eq!((&finding.signature, finding.size), (&group.signature, group.size));
    assert_eq!(finding.answers.len(), 2, "{:?}", finding.answers);
    // What a flood is told by depends on where it was cut, so that a smaller file may seem to do another thing.
    if !slow && !["accept-always", "flood-of-lines"].contains(&deed) {
        // A tensor is all it takes, and what a right file needs besides.
        let bytes = std::fs::read(directory.join("file.gguf"))?;
        let tree = decode(&bytes).tree.expect("a file with a header");
        assert_eq!(tree.tensors.len(), 1, "{tree:?}");
        assert!(tree.metadata.len() <= 2, "{tree:?}");
    }
    // It holds for the one and not for the other.
    let again = replay(&directory, campaign.readers())?;
    let holds: Vec<bool> = again.answers.iter().map(|(_, holds)| *holds).collect();
    assert_eq!(holds, [true, false], "{again:?}");
    let again = replay(&directory.join("file.gguf"), campaign.readers())?;
    assert!(again.holds() && again.finding.is_none());
    Ok(())
}

/// Whoever was right about the file that was made is right about the small one.
fn outcomes_stay() -> Result<(), Failed> {
    let mut fine = 0;
    for (deed, seed) in ["abort", "wrong-value", "reject"].into_iter().flat_map(|deed| (0..4).map(move |i| (deed, i))) {
        let room = tempfile::tempdir()?;
        let out = room.path().join("out");
        let reader = reader(deed, room.path(), 1)?;
        let mut campaign = Campaign::begin(&out, vec![reader], &[], seed, MOST, bounds(60))?;
        campaign.run(&watch())?;
        let outcomes = |path: &Path| -> Result<Vec<Outcome>, Failed> {
            Ok(judge(&std::fs::read(path)?, &Checks::all()).verdicts.iter().map(|verdict| verdict.outcome).collect())
        };
        for (group, _) in campaign.groups() {
            let made = outcomes(&room.path().join(format!("{}.gguf", group.first)))?;
            let small = outcomes(&out.join(group.directory.as_ref().expect("a reproducer")).join("file.gguf"))?;
            assert_eq!(small, made, "{deed}, seed {seed}: {group:?}");
            assert!(group.size < group.size_before, "{deed}, seed {seed}: {group:?}");
            fine += usize::from(made.iter().all(|outcome| *outcome == Outcome::Accept));
        }
    }
    // Without the last pair of such a file the document refuses it, and the failure is the same.
    assert!(fine > 3, "{fine}");
    Ok(())
}

fn right() -> Result<(), Failed> {
    for jobs in [1, 3] {
        let room = tempfile::tempdir()?;
        let readers = vec![reader("right", room.path(), jobs)?, reader("right", room.path(), 1)?];
        let campaign = campaign(&room.path().join("out"), readers, bounds(300))?;
        for i in 0..2 {
            only(&FINE, &campaign, i)?;
            assert_eq!(campaign.tallies()[i].files, 300);
            assert!(campaign.readers()[i].problems().is_empty(), "{:?}", campaign.readers()[i].problems());
        }
        assert!(campaign.groups().is_empty() && campaign.pairs().is_empty());
        assert!(campaign.pool() > 20 && campaign.coverage().len() > 20 && campaign.coverage().rules.len() > 20);
        let names: Vec<_> = campaign.readers().iter().map(Reader::name).collect();
        assert_eq!(names, ["fake", "fake#2"]);
    }
    Ok(())
}

fn unfinished() -> Result<(), Failed> {
    let room = tempfile::tempdir()?;
    let out = room.path().join("out");
    let begun = campaign(&out, vec![reader("reject", room.path(), 1)?], Bounds { tries: 2, ..bounds(100) })?;
    let (group, _) = begun.groups()[0];
    let (before, directory) = (group.clone(), out.join(group.directory.as_ref().expect("a reproducer")));
    assert!(before.unfinished && Finding::load(&directory)?.unfinished, "{before:?}");
    drop(begun);
    let mut resumed =
        Campaign::resume(&out, vec![reader("reject", room.path(), 1)?], &[], Bounds { tries: 5000, ..bounds(1) })?;
    resumed.run(&watch())?;
    let found = resumed.groups().into_iter().find(|(group, _)| group.signature == before.signature);
    let (group, _) = found.expect("the group");
    assert!(!group.unfinished && group.size < before.size, "{group:?}");
    let finding = Finding::load(&directory)?;
    assert_eq!((finding.unfinished, finding.size, finding.number), (false, group.size, before.first));
    Ok(())
}

fn not_again() -> Result<(), Failed> {
    let room = tempfile::tempdir()?;
    let readers = vec![reader("start-once-and-crash", room.path(), 1)?, reader("right", room.path(), 1)?];
    let campaign = campaign(&room.path().join("out"), readers, bounds(200))?;
    assert!(campaign.readers()[0].aside().is_some_and(|why| why.contains("did not start")));
    assert_eq!((campaign.made(), campaign.tallies()[1].files), (200, 200));
    assert!(campaign.tallies()[0].files < 200);
    Ok(())
}

fn always_breaks() -> Result<(), Failed> {
    let room = tempfile::tempdir()?;
    for deed in ["not-json-always", "half-a-line-always", "flood-always"] {
        let readers = vec![reader(deed, room.path(), 1)?, reader("right", room.path(), 1)?];
        let campaign = campaign(&room.path().join(deed), readers, bounds(200))?;
        assert!(campaign.readers()[0].aside().is_some_and(|why| why.contains("breaks the protocol")), "{deed}");
        assert_eq!(campaign.tallies()[1].files, 200);
    }
    Ok(())
}

fn nobody_left() -> Result<(), Failed> {
    let room = tempfile::tempdir()?;
    let readers = vec![reader("not-json-always", room.path(), 1)?];
    let campaign = campaign(&room.path().join("out"), readers, bounds(10_000))?;
    assert!(campaign.readers()[0].aside().is_some() && campaign.made() < 100, "{}", campaign.made());
    Ok(())
}

fn flaky() -> Result<(), Failed> {
    for deed in ["crash-once", "crash-on-second"] {
        let room = tempfile::tempdir()?;
        let campaign = campaign(&room.path().join("out"), vec![reader(deed, room.path(), 1)?], bounds(60))?;
        assert!(campaign.groups().is_empty(), "{deed}: {:?}", campaign.groups());
        assert!(campaign.unstable_of("fake") > 0, "{deed}: {:?}", campaign.tallies());
    }
    Ok(())
}

fn changes() -> Result<(), Failed> {
    let room = tempfile::tempdir()?;
    let readers = vec![reader("changes-and-crash", room.path(), 1)?];
    let campaign = campaign(&room.path().join("out"), readers, bounds(60))?;
    assert_eq!(campaign.readers()[0].problems(), ["its processes answer `start` differently"]);
    Ok(())
}

fn differ() -> Result<(), Failed> {
    let room = tempfile::tempdir()?;
    let readers = vec![reader("right", room.path(), 1)?, reader("reject-always", room.path(), 1)?];
    let campaign = campaign(&room.path().join("out"), readers, bounds(300))?;
    let pairs = campaign.pairs();
    assert!(!pairs.is_empty());
    for (pair, files) in pairs {
        assert!(files > 0 && pair.accepts == "fake" && pair.refuses == "fake#2", "{pair:?}");
        assert!(pair.accepting.starts_with("sides-with ggml-data"), "{pair:?}");
        assert!(pair.refusing.starts_with("sides-with gguf-v3"), "{pair:?}");
    }
    Ok(())
}

/// A usage error with these words.
fn refused(campaign: Result<Campaign, CampaignError>, words: &str) -> Result<(), Failed> {
    match campaign {
        Ok(_) => Err(format!("it was begun: {words}").into()),
        Err(error) if error.to_string().contains(words) => Ok(()),
        Err(error) => Err(format!("{error}: {words}").into()),
    }
}
