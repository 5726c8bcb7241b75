//! What a campaign keeps on disk, so that it can go on after it has ended, however it did.
//!
//! `state.json` is replaced as a whole; the files it speaks of are written before it and removed after it.
//! A directory is of one campaign at a time: whoever works in it holds the lock on `lock`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use assay_corpus::store::sha256;
use serde::{Deserialize, Serialize};

use super::coverage::Coverage;
use super::groups::Groups;
use super::pool::{Kept, Note};
use crate::record::AdapterLine;

/// The version of the form of the state.
const FORMAT: u32 = 1;

/// Why a campaign cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum CampaignError {
    /// What is asked for makes no sense.
    #[error("{0}")]
    Usage(String),
    /// A file cannot be read or written.
    #[error("{path}: {source}")]
    File {
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The directory, or something in it, is not what it should be.
    #[error("{path}: {reason}")]
    Form {
        /// Which.
        path: PathBuf,
        /// Why.
        reason: String,
    },
}

/// What one reader did so far.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tally {
    /// How many files it was asked about.
    pub files: u64,
    /// How many it accepted.
    pub accepted: u64,
    /// How many got each verdict; those that none has are left out. What repeats a failure is not confirmed
    /// each time.
    pub verdicts: BTreeMap<String, u64>,
}

/// Two readers of which one accepts what the other refuses, and what that is worth.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pair {
    /// Who accepts.
    pub accepts: String,
    /// Who refuses.
    pub refuses: String,
    /// The verdict of the first, with the profiles it sides with.
    pub accepting: String,
    /// The verdict of the second.
    pub refusing: String,
}

/// How many files there were of such a pair.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PairLine {
    pub(crate) pair: Pair,
    pub(crate) files: u64,
}

/// Everything but the files.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct State {
    format: u32,
    pub(crate) seed: u64,
    /// Files have at most this many bytes.
    pub(crate) most: usize,
    /// How many files were made.
    pub(crate) made: u64,
    /// How many bytes the reproducers have.
    pub(crate) findings_bytes: u64,
    /// How long it took so far.
    pub(crate) seconds: f64,
    pub(crate) readers: Vec<AdapterLine>,
    pub(crate) tallies: Vec<Tally>,
    pub(crate) pairs: Vec<PairLine>,
    pub(crate) coverage: Coverage,
    pub(crate) groups: Groups,
    pool: Vec<Note>,
}

impl State {
    /// That of a campaign that begins.
    pub(crate) fn new(seed: u64, most: usize, readers: Vec<AdapterLine>) -> Self {
        let tallies = vec![Tally::default(); readers.len()];
        Self {
            format: FORMAT,
            seed,
            most,
            made: 0,
            findings_bytes: 0,
            seconds: 0.0,
            readers,
            tallies,
            pairs: Vec::new(),
            coverage: Coverage::default(),
            groups: Groups::default(),
            pool: Vec::new(),
        }
    }

    /// Counts a file on which two readers differ.
    pub(crate) fn differ(&mut self, pair: Pair) {
        if let Some(line) = self.pairs.iter_mut().find(|line| line.pair == pair) {
            line.files += 1;
        } else if self.pairs.len() < MOST_PAIRS {
            self.pairs.push(PairLine { pair, files: 1 });
        }
    }
}

/// More pairs than this are not told apart; there are fewer for any readers that one machine can run.
const MOST_PAIRS: usize = 4096;

/// More files are made by no campaign, and larger ones by none.
const MOST_MADE: u64 = 1 << 48;
const LARGEST: usize = 1 << 30;

impl State {
    /// Why no campaign has written this, if none has: names of files are made of hashes, and numbers counted on.
    fn is_not_ours(&self) -> Option<String> {
        let is_hash = |hash: &str| hash.len() == 64 && hash.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
        let hashes = self.pool.iter().map(|note| &note.sha256).chain(self.groups.waiting().map(|w| &w.sha256));
        if let Some(hash) = hashes.into_iter().find(|hash| !is_hash(hash)) {
            let shown: String = hash.chars().take(80).collect();
            return Some(format!("names a file by {shown:?}, which is no SHA-256"));
        }
        if self.made > MOST_MADE || self.most > LARGEST {
            return Some(format!("says that {} files of up to {} bytes were made", self.made, self.most));
        }
        None
    }
}

/// The directory of a campaign.
#[derive(Debug)]
pub(crate) struct Room {
    root: PathBuf,
    /// The SHA-256 of the files that are stored.
    stored: BTreeSet<String>,
    /// Held as long as the campaign works here.
    _lock: File,
}

/// The name of the state.
const STATE: &str = "state.json";

/// The name of the folder of files that may be needed again.
const FILES: &str = "files";

impl Room {
    /// Makes a directory for a new campaign.
    ///
    /// # Errors
    ///
    /// If there is something in it, or it cannot be made.
    pub(crate) fn new(root: &Path) -> Result<Self, CampaignError> {
        if root.join(STATE).exists() {
            let why = "holds a campaign: go on with it with --resume, or name another directory with --out";
            return Err(CampaignError::Usage(format!("{}: {why}", root.display())));
        }
        let entries = match fs::read_dir(root) {
            Ok(entries) => {
                entries.flatten().filter(|entry| entry.file_name() != "lock" && entry.file_name() != FILES).count()
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => 0,
            Err(source) => return Err(CampaignError::File { path: root.to_owned(), source }),
        };
        if entries > 0 {
            let why = "is not empty, and holds no campaign: name another directory with --out";
            return Err(CampaignError::Usage(format!("{}: {why}", root.display())));
        }
        Self::open(root)
    }

    /// Takes over the directory of a campaign.
    ///
    /// # Errors
    ///
    /// If there is none, another one works in it, or it is damaged.
    pub(crate) fn resume(root: &Path) -> Result<(Self, State, Vec<Kept>), CampaignError> {
        let path = root.join(STATE);
        let bytes = match fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let why = "holds no campaign to go on with: leave --resume out to begin one";
                return Err(CampaignError::Form { path: root.to_owned(), reason: why.to_owned() });
            }
            Err(source) => return Err(CampaignError::File { path, source }),
        };
        let mut state: State = serde_json::from_slice(&bytes).map_err(|error| CampaignError::Form {
            path: path.clone(),
            reason: format!("not the state of a campaign: {error}"),
        })?;
        if state.format != FORMAT {
            let reason = format!("is of the form {}; this program reads {FORMAT}", state.format);
            return Err(CampaignError::Form { path, reason });
        }
        if state.tallies.len() != state.readers.len() {
            let reason = "has not one tally for each adapter".to_owned();
            return Err(CampaignError::Form { path, reason });
        }
        if let Some(reason) = state.is_not_ours() {
            return Err(CampaignError::Form { path, reason });
        }
        let mut room = Self::open(root)?;
        let pool = std::mem::take(&mut state.pool);
        // A file that is gone is one file less to mutate.
        let pool = pool.into_iter().filter_map(|note| {
            let bytes = room.read(&note.sha256)?;
            room.stored.insert(note.sha256.clone());
            Some(Kept { note, bytes })
        });
        let pool = pool.collect();
        room.stored.extend(state.groups.waiting().map(|waiting| waiting.sha256.clone()));
        Ok((room, state, pool))
    }

    fn open(root: &Path) -> Result<Self, CampaignError> {
        let error = |path: &Path, source| CampaignError::File { path: path.to_owned(), source };
        let files = root.join(FILES);
        fs::create_dir_all(&files).map_err(|source| error(&files, source))?;
        let path = root.join("lock");
        // Not emptied: what is there may be a link to something else.
        let lock = File::options().write(true).create(true).truncate(false).open(&path);
        let lock = lock.map_err(|source| error(&path, source))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let reason = "another campaign works here".to_owned();
                return Err(CampaignError::Form { path: root.to_owned(), reason });
            }
            Err(TryLockError::Error(source)) => return Err(error(&path, source)),
        }
        Ok(Self { root: root.to_owned(), stored: BTreeSet::new(), _lock: lock })
    }

    /// The directory.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    fn file(&self, sha256: &str) -> PathBuf {
        self.root.join(FILES).join(format!("{}.gguf", &sha256[..sha256.floor_char_boundary(16)]))
    }

    /// A file that is stored; nothing if it is not there or is another one.
    pub(crate) fn read(&self, hash: &str) -> Option<Vec<u8>> {
        let safe = !hash.is_empty() && hash.bytes().all(|b| b.is_ascii_hexdigit());
        let bytes = if safe { fs::read(self.file(hash)).ok()? } else { return None };
        (sha256(&bytes) == hash).then_some(bytes)
    }

    /// Stores a file.
    pub(crate) fn store(&mut self, hash: &str, bytes: &[u8]) -> Result<(), CampaignError> {
        if self.stored.insert(hash.to_owned()) {
            let path = self.file(hash);
            fs::write(&path, bytes).map_err(|source| CampaignError::File { path, source })?;
        }
        Ok(())
    }

    /// Writes the state, and removes the files that it does not speak of.
    pub(crate) fn save(&mut self, state: &mut State, pool: &[Kept]) -> Result<(), CampaignError> {
        for kept in pool {
            self.store(&kept.note.sha256, &kept.bytes)?;
        }
        state.pool = pool.iter().map(|kept| kept.note.clone()).collect();
        let text = serde_json::to_vec(&*state).map_err(io::Error::from);
        state.pool.clear();
        let path = self.root.join(STATE);
        let part = self.root.join("state.json.part");
        let written = text.and_then(|text| {
            // A new file, and not whatever a link of that name leads to.
            match fs::remove_file(&part) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
            let mut file = File::create_new(&part)?;
            file.write_all(&text)?;
            file.sync_all()?;
            fs::rename(&part, &path)
        });
        written.map_err(|source| CampaignError::File { path, source })?;
        let needed: BTreeSet<_> = pool
            .iter()
            .map(|kept| &kept.note.sha256)
            .chain(state.groups.waiting().map(|w| &w.sha256))
            .cloned()
            .collect();
        let names: BTreeSet<_> = needed.iter().map(|hash| self.file(hash)).collect();
        for hash in self.stored.difference(&needed) {
            if !names.contains(&self.file(hash)) {
                // One that stays takes room and does no harm.
                let _ = fs::remove_file(self.file(hash));
            }
        }
        self.stored = needed;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::campaign::make::How;
    use serde_json::{Value as Json, json};

    /// What is said of a state with one member changed.
    fn resumed(change: impl FnOnce(&mut Json)) -> Result<(), String> {
        let folder = tempfile::tempdir().expect("a directory");
        let (mut state, mut room) = (State::new(1, 64, Vec::new()), Room::new(folder.path()).expect("a room"));
        room.save(&mut state, &[]).expect("saved");
        drop(room);
        let path = folder.path().join(STATE);
        let mut json: Json = serde_json::from_slice(&fs::read(&path).expect("the state")).expect("JSON");
        change(&mut json);
        fs::write(&path, json.to_string()).expect("written");
        Room::resume(folder.path()).map(drop).map_err(|error| error.to_string())
    }

    #[test]
    fn what_no_campaign_wrote_is_refused() {
        assert_eq!(resumed(|_| {}), Ok(()));
        for hash in ["/etc/passwd", "../x", "", "ABC", &"a".repeat(63)] {
            let sha256 = hash.to_owned();
            let note = Note { sha256, combinations: Vec::new(), made: How::default(), chosen: 0, heavy: false };
            let told = resumed(|json| json["pool"] = json!([note])).expect_err("no hash");
            assert!(told.contains("which is no SHA-256"), "{hash:?}: {told}");
        }
        for (member, number) in [("made", json!(u64::MAX)), ("most", json!(1u64 << 62))] {
            let told = resumed(|json| json[member] = number).expect_err("too many");
            assert!(told.contains("were made"), "{member}: {told}");
        }
    }

    #[test]
    fn a_lock_that_is_a_link_empties_nothing() {
        let folder = tempfile::tempdir().expect("a directory");
        let precious = folder.path().join("precious");
        fs::write(&precious, "words").expect("written");
        #[cfg(unix)]
        {
            let root = folder.path().join("room");
            fs::create_dir(&root).expect("a folder");
            std::os::unix::fs::symlink(&precious, root.join("lock")).expect("a link");
            drop(Room::new(&root));
        }
        assert_eq!(fs::read(&precious).expect("there"), b"words");
    }
}
