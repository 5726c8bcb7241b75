//! What is kept on disk: the same files from the same seed, a campaign that goes on, bounds that hold.

use std::fs;
use std::path::Path;

use serde_json::Value as Json;

use super::*;

/// The tests of this file.
pub(super) const TESTS: [(&str, Test); 8] = [
    ("the_same_seed_makes_the_same_files", same),
    ("a_campaign_goes_on_where_it_ended", resumed),
    ("a_directory_is_of_one_campaign", one_directory),
    ("bounds_of_size_and_disk_hold", bounded),
    ("a_campaign_that_is_stopped_ends_at_once", stopped),
    ("what_was_found_stays_when_nothing_can_be_written", unwritable),
    ("what_is_made_small_is_told", told),
    ("a_replay_tells_what_it_cannot_read", unreadable),
];

/// The state without what differs from run to run.
fn state(out: &Path) -> Result<Json, Failed> {
    let mut state: Json = serde_json::from_slice(&fs::read(out.join("state.json"))?)?;
    state["seconds"] = Json::Null;
    state["readers"] = Json::Null;
    Ok(state)
}

/// The names and sizes of the files of a campaign, in the pool and elsewhere.
fn files(directory: &Path) -> Result<Vec<(String, u64)>, Failed> {
    let mut list = Vec::new();
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            list.extend(files(&entry.path())?);
        } else {
            list.push((entry.path().display().to_string(), entry.metadata()?.len()));
        }
    }
    list.sort();
    Ok(list)
}

fn same() -> Result<(), Failed> {
    let room = tempfile::tempdir()?;
    let mut states = Vec::new();
    for (name, jobs) in [("a", 1), ("b", 3)] {
        let out = room.path().join(name);
        campaign(&out, vec![reader("reject", room.path(), jobs)?], bounds(300))?;
        states.push(state(&out)?);
    }
    assert_eq!(states[0], states[1]);
    let other = room.path().join("other");
    let mut campaign = Campaign::begin(&other, vec![reader("reject", room.path(), 1)?], &[], 8, MOST, bounds(300))?;
    campaign.run(&watch())?;
    assert_ne!(states[0]["coverage"], state(&other)?["coverage"]);
    Ok(())
}

fn resumed() -> Result<(), Failed> {
    let room = tempfile::tempdir()?;
    let out = room.path().join("out");
    let first = campaign(&out, vec![reader("reject", room.path(), 1)?], bounds(100))?;
    let (groups, rules) = (first.groups().len(), first.coverage().rules.len());
    assert!(groups > 0);
    drop(first);
    // What a crash of this program leaves behind does no harm.
    fs::write(out.join("state.json.part"), "half of a st")?;
    fs::create_dir(out.join(".crash-01234567.part"))?;
    let mut again = Campaign::resume(&out, vec![reader("reject", room.path(), 1)?], &[], bounds(100))?;
    assert_eq!((again.made(), again.seed(), again.groups().len()), (100, 7, groups));
    assert!(again.pool() > 0);
    again.run(&watch())?;
    assert_eq!((again.made(), again.progress().files, again.tallies()[0].files), (200, 100, 200));
    assert!(again.groups().len() >= groups && again.coverage().rules.len() >= rules);
    Ok(())
}

fn one_directory() -> Result<(), Failed> {
    let room = tempfile::tempdir()?;
    let out = room.path().join("out");
    let right = || reader("right", room.path(), 1);
    let begin = |out: &Path| Ok::<_, Failed>(Campaign::begin(out, vec![right()?], &[], 7, MOST, bounds(10)));
    let resume = |readers: Vec<Reader>| Campaign::resume(&out, readers, &[], bounds(10));
    refused(resume(vec![right()?]), "no campaign to go on with")?;
    let first = begin(&out)??;
    refused(begin(&out)?, "--resume")?;
    refused(resume(vec![right()?]), "another campaign works here")?;
    drop(first);
    refused(resume(vec![right()?, right()?]), "fake 1, and the adapters are fake 1, fake 1")?;
    drop(resume(vec![right()?])?);
    fs::write(out.join("state.json"), "{\"format\": 1")?;
    refused(resume(vec![right()?]), "not the state of a campaign")?;
    let other = room.path().join("other");
    fs::create_dir(&other)?;
    fs::write(other.join("thesis.txt"), "")?;
    refused(begin(&other)?, "is not empty, and holds no campaign")?;
    assert_eq!(files(&other)?.len(), 1);
    Ok(())
}

fn bounded() -> Result<(), Failed> {
    let room = tempfile::tempdir()?;
    let out = room.path().join("out");
    let bounds = Bounds { disk: 40_000, ..bounds(400) };
    let campaign = campaign(&out, vec![reader("accept-always", room.path(), 1)?], bounds)?;
    let all = files(&out)?;
    let kept = all.iter().filter(|(name, _)| !name.ends_with("state.json"));
    let size: u64 = kept.map(|(_, size)| size).sum();
    assert!(size <= bounds.disk, "{size} bytes");
    assert!(all.iter().all(|(name, size)| !name.ends_with(".gguf") || *size <= MOST as u64), "{all:?}");
    // What has no room is told.
    let without = campaign.groups().iter().filter(|(group, _)| group.directory.is_none()).count();
    assert!(without > 0 && campaign.remarks().iter().any(|remark| remark.contains("--max-disk")));
    Ok(())
}

fn stopped() -> Result<(), Failed> {
    let room = tempfile::tempdir()?;
    let out = room.path().join("out");
    let mut campaign = Campaign::begin(&out, vec![reader("reject", room.path(), 1)?], &[], 7, MOST, bounds(1000))?;
    let asked = Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let stop = Arc::new(move || count.fetch_add(1, std::sync::atomic::Ordering::Relaxed) > 100);
    campaign.run(&Watch { stop, ..watch() })?;
    assert!(campaign.made() < 200, "{}", campaign.made());
    assert_eq!(state(&out)?["made"], campaign.made());
    let waiting = campaign.progress().waiting;
    drop(campaign);
    // What waited is settled by who goes on.
    let mut again = Campaign::resume(&out, vec![reader("reject", room.path(), 1)?], &[], bounds(1))?;
    assert_eq!(again.progress().waiting, waiting);
    again.run(&watch())?;
    assert_eq!(again.progress().waiting, 0);
    assert!(!again.groups().is_empty());
    Ok(())
}

fn unwritable() -> Result<(), Failed> {
    let room = tempfile::tempdir()?;
    let out = room.path().join("out");
    let mut campaign = Campaign::begin(&out, vec![reader("reject", room.path(), 1)?], &[], 7, MOST, bounds(1000))?;
    // In the middle of it a file is where the directory was.
    let break_it = |how: &Progress| {
        if how.groups > 0 && out.is_dir() {
            fs::rename(&out, room.path().join("gone")).and_then(|()| fs::write(&out, "")).expect("moved");
        }
    };
    let ran = campaign.run(&Watch { told: &break_it, ..watch() });
    assert!(matches!(&ran, Err(CampaignError::File { path, .. }) if path.starts_with(&out)), "{ran:?}");
    assert!(campaign.made() > 0 && !campaign.groups().is_empty() && campaign.seconds() > 0.0);
    // What was written before is whole.
    let gone = room.path().join("gone");
    drop(campaign);
    drop(Campaign::resume(&gone, vec![reader("reject", room.path(), 1)?], &[], bounds(1))?);
    Ok(())
}

fn told() -> Result<(), Failed> {
    let room = tempfile::tempdir()?;
    let out = room.path().join("out");
    let mut campaign = Campaign::begin(&out, vec![reader("reject", room.path(), 1)?], &[], 7, MOST, bounds(100))?;
    let seen = std::cell::RefCell::new(Vec::new());
    campaign.run(&Watch { told: &|how| seen.borrow_mut().push(how.settling.clone()), ..watch() })?;
    let seen = seen.into_inner();
    let made_small = seen.iter().flatten().filter(|s| s.adapter == "fake" && s.verdict == "false-reject").count();
    assert!(made_small > 10 && seen.last() == Some(&None), "{seen:?}");
    assert_eq!(campaign.progress().settling, None);
    Ok(())
}

fn unreadable() -> Result<(), Failed> {
    let room = tempfile::tempdir()?;
    let readers = [reader("right", room.path(), 1)?];
    let told = |path: &Path, words: &str| match replay(path, &readers) {
        Err(why) if why.contains(words) => Ok(()),
        other => Err(Failed::from(format!("{other:?}: {words}"))),
    };
    told(&room.path().join("no-file"), "cannot be read")?;
    told(room.path(), "finding.json: cannot be read")?;
    fs::write(room.path().join("finding.json"), "{}")?;
    told(room.path(), "not a finding")?;
    Ok(())
}
