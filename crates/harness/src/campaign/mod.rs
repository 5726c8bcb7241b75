//! A campaign: generated and mutated files against readers, guided by what the specification and the readers
//! say of them; who disagrees, crashes, hangs, eats memory.
//!
//! - `make`: a file from a seed, a number and the pool; `pool`: files that showed something new;
//!   `coverage`: what has been seen;
//! - `reader`: processes of an adapter, asked about files; `shape`, `signature`: what makes two failures
//!   one; `groups`: failures by signature;
//! - `settle`: a failure confirmed in a fresh process and made small; [`finding`]: its reproducer;
//!   `replay`: the same file again;
//! - `state`: what is kept on disk; `desk`: the directory where readers find the files.
//!
//! What an answer is worth is judged where a run judges it, [`crate::adapter::judge`]: what is expected of a
//! generated file is what the specification says of it.

mod coverage;
mod desk;
pub mod finding;
mod groups;
mod make;
mod pool;
mod reader;
mod replay;
mod settle;
mod shape;
mod signature;
mod state;

pub use coverage::Coverage;
pub use groups::Group;
pub use make::How;
pub use reader::{Reader, Stop};
pub use replay::{Replayed, replay};
pub use signature::Signature;
pub use state::{CampaignError, Pair, Tally};

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use assay_corpus::build::entry_of;
use assay_corpus::store::Entry;
use gguf_spec::judge::Class;

use crate::parallel::side_by_side;
use coverage::combinations;
use desk::desk;
use finding::{adapter_line, said};
use groups::Waiting;
use make::{Made, Maker};
use pool::{Kept, Note, Pool};
use reader::Asked;
use state::{Room, State};

/// What a campaign may use, and when it ends.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// It ends after this many files.
    pub count: Option<u64>,
    /// It makes no file after this time.
    pub time: Option<Duration>,
    /// Bytes on disk, beside the state: the pool gets half of it, reproducers most of the rest.
    pub disk: u64,
    /// Questions to a reader while one file is made small.
    pub tries: usize,
}

impl Bounds {
    /// How long a file may be made small in a campaign whose time is bounded.
    fn patience(&self) -> Option<Duration> {
        self.time.map(|time| (time / 20).clamp(LEAST_PATIENCE, MOST_PATIENCE))
    }
}

/// How somebody watches a campaign, and helps it.
pub struct Watch<'a> {
    /// Whether to end now.
    pub stop: Stop,
    /// Told how far it is.
    pub told: &'a dyn Fn(&Progress),
    /// The annotated bytes of a file.
    pub hex: &'a dyn Fn(&[u8]) -> String,
}

/// How far a campaign is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Files made in this run of the program.
    pub files: u64,
    /// How many answers there were, and how many of them accept.
    pub answers: (u64, u64),
    /// How many rules were broken.
    pub rules: usize,
    /// How many groups were found.
    pub groups: usize,
    /// How many failures wait to be confirmed.
    pub waiting: usize,
    /// What is being made small.
    pub settling: Option<Signature>,
}

/// A campaign under way.
#[derive(Debug)]
pub struct Campaign {
    readers: Vec<Reader>,
    state: State,
    pool: Pool,
    room: Room,
    maker: Maker,
    /// Where files are put for readers.
    desk: tempfile::TempDir,
    bounds: Bounds,
    begun: u64,
    /// The groups that an earlier run of the program did not make small.
    again: Vec<usize>,
    /// What is being made small.
    settling: Option<Signature>,
    /// What happened that is no failure of a reader, as sentences.
    remarks: Vec<String>,
}

/// Files that are made from one state of the pool. Readers answer them side by side, and what they show is
/// looked at in the order of the files, so that the next ones do not depend on who was faster.
const ROUND: u64 = 64;

/// How often the state is written.
const SAVE: Duration = Duration::from_secs(10);

/// The least time in which what waits may be settled after the last file.
const LEAST_GRACE: Duration = Duration::from_secs(5);

/// Between these a file may be made small, if time is bounded.
const LEAST_PATIENCE: Duration = Duration::from_secs(2);
const MOST_PATIENCE: Duration = Duration::from_secs(60);

impl Campaign {
    /// Begins a campaign in a directory that is empty or not there. Files have at most `most` bytes;
    /// `vectors` are seeds beside what is generated.
    ///
    /// # Errors
    ///
    /// If the directory holds something, or cannot be written.
    pub fn begin(
        out: &Path,
        mut readers: Vec<Reader>,
        vectors: &[Entry],
        seed: u64,
        most: usize,
        bounds: Bounds,
    ) -> Result<Self, CampaignError> {
        tell_apart(&mut readers);
        let room = Room::new(out)?;
        let state = State::new(seed, most, readers.iter().map(adapter_line).collect());
        Self::with(room, state, Pool::default(), readers, vectors, bounds)
    }

    /// Goes on with the campaign of a directory.
    ///
    /// # Errors
    ///
    /// If there is none, or it is of other readers, or it cannot be read or written.
    pub fn resume(
        out: &Path,
        mut readers: Vec<Reader>,
        vectors: &[Entry],
        bounds: Bounds,
    ) -> Result<Self, CampaignError> {
        tell_apart(&mut readers);
        let (room, state, files) = Room::resume(out)?;
        let names = |started: &serde_json::Value| format!("{} {}", said(started, "name"), said(started, "version"));
        let then: Vec<_> = state.readers.iter().map(|line| names(&line.started)).collect();
        let now: Vec<_> = readers.iter().map(|reader| names(reader.answer())).collect();
        if then != now {
            return Err(CampaignError::Usage(format!(
                "{}: holds a campaign of {}, and the adapters are {}: begin another one with another --out",
                out.display(),
                then.join(", "),
                now.join(", "),
            )));
        }
        let mut pool = Pool::default();
        for kept in files {
            pool.keep(kept, &state.coverage, bounds.disk / 2);
        }
        Self::with(room, state, pool, readers, vectors, bounds)
    }

    fn with(
        room: Room,
        state: State,
        pool: Pool,
        readers: Vec<Reader>,
        vectors: &[Entry],
        bounds: Bounds,
    ) -> Result<Self, CampaignError> {
        let maker = Maker::new(state.seed, state.most, vectors);
        let begun = state.made;
        let again = state.groups.unfinished();
        let mut campaign = Self {
            readers,
            state,
            pool,
            room,
            maker,
            desk: desk()?,
            bounds,
            begun,
            again,
            settling: None,
            remarks: Vec::new(),
        };
        campaign.save()?;
        Ok(campaign)
    }

    /// Makes files and asks about them until it is over, then settles what waits.
    ///
    /// # Errors
    ///
    /// If something cannot be written. What was found until then is there to be asked for.
    pub fn run(&mut self, watch: &Watch<'_>) -> Result<(), CampaignError> {
        let start = Instant::now();
        let before = self.state.seconds;
        let worked = self.work(watch, start);
        for reader in &mut self.readers {
            reader.stop();
        }
        self.state.seconds = before + start.elapsed().as_secs_f64();
        // What could not be written may not be written now either; the first error tells why.
        worked.and(self.save())
    }

    fn work(&mut self, watch: &Watch<'_>, start: Instant) -> Result<(), CampaignError> {
        let before = self.state.seconds;
        let until = |time: Option<Duration>| -> Stop {
            let stop = Arc::clone(&watch.stop);
            Arc::new(move || stop() || time.is_some_and(|time| start.elapsed() >= time))
        };
        let over = until(self.bounds.time);
        let settled_enough = until(self.bounds.time.map(|time| time + (time / 4).max(LEAST_GRACE)));
        let mut settling = Duration::ZERO;
        let mut saved = Instant::now();
        while !over() && self.readers.iter().any(|reader| reader.aside().is_none()) {
            let left = self.bounds.count.map_or(ROUND, |count| count.saturating_sub(self.state.made - self.begun));
            if left == 0 {
                break;
            }
            self.round(left.min(ROUND), watch, &over)?;
            // Most of the time is for what is to be found.
            while !over() && settling < start.elapsed() / 3 {
                let began = Instant::now();
                if !self.settle_next(watch, &over)? {
                    break;
                }
                settling += began.elapsed();
            }
            self.state.seconds = before + start.elapsed().as_secs_f64();
            (watch.told)(&self.progress());
            if saved.elapsed() >= SAVE {
                self.save()?;
                saved = Instant::now();
            }
        }
        while !settled_enough() && self.settle_next(watch, &settled_enough)? {
            (watch.told)(&self.progress());
        }
        Ok(())
    }

    fn save(&mut self) -> Result<(), CampaignError> {
        self.room.save(&mut self.state, &self.pool.list)
    }

    /// Makes so many files, asks every reader about each, and looks at what they say.
    fn round(&mut self, files: u64, watch: &Watch<'_>, stop: &Stop) -> Result<(), CampaignError> {
        let first = self.state.made;
        let made: Vec<Made> = (first..first + files)
            .map(|number| self.maker.make(number, &mut self.pool, &self.state.coverage))
            .collect();
        let workers = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let entries = side_by_side(workers, &made, |made| {
            let path = self.desk.path().join(format!("{}.gguf", made.number));
            let error = |source| CampaignError::File { path: path.clone(), source };
            fs::write(&path, &made.bytes).map_err(error)?;
            Ok(entry_of("generated", made.bytes.clone(), path.clone()))
        });
        let entries = Arc::new(entries.into_iter().collect::<Result<Vec<Entry>, CampaignError>>()?);
        let answers: Vec<Vec<Option<Asked>>> = std::thread::scope(|scope| {
            let entries = &entries;
            let asking: Vec<_> =
                self.readers.iter_mut().map(|reader| scope.spawn(move || reader.ask(entries, stop))).collect();
            asking.into_iter().map(|asked| asked.join().unwrap_or_else(|_| vec![None; entries.len()])).collect()
        });
        for (i, (made, entry)) in made.into_iter().zip(entries.iter()).enumerate() {
            let asked: Vec<Option<&Asked>> = answers.iter().map(|answers| answers[i].as_ref()).collect();
            // Who is not there is not waited for; what was broken off is made again, if there is another time.
            let complete = self.readers.iter().zip(&asked).all(|(reader, a)| a.is_some() || reader.aside().is_some());
            if !complete || asked.iter().all(Option::is_none) {
                break;
            }
            self.look(made, entry, &asked)?;
            self.state.made += 1;
            // What waits takes room, too.
            while self.state.groups.waiting().map(|waiting| waiting.size).sum::<u64>() > self.bounds.disk / 8 {
                if !self.settle_next(watch, stop)? {
                    break;
                }
            }
        }
        for entry in entries.iter() {
            // One that stays takes room until the end, and no longer.
            let _ = fs::remove_file(&entry.path);
        }
        Ok(())
    }

    /// What a file shows.
    fn look(&mut self, made: Made, entry: &Entry, asked: &[Option<&Asked>]) -> Result<(), CampaignError> {
        for (tally, asked) in self.state.tallies.iter_mut().zip(asked) {
            let Some(asked) = asked else { continue };
            tally.files += 1;
            tally.accepted += u64::from(asked.judged.got == "accepted");
            *tally.verdicts.entry(asked.judged.verdict.name().to_owned()).or_default() += 1;
        }
        self.compare(entry, asked);
        let mut waits = false;
        for signature in asked.iter().flatten().filter_map(|asked| asked.signature.as_ref()) {
            waits |= self.state.groups.count(signature, || Waiting {
                sha256: entry.vector.sha256.clone(),
                size: entry.vector.size,
                number: made.number,
                made: made.how.clone(),
            });
        }
        if waits {
            self.room.store(&entry.vector.sha256, &entry.bytes)?;
        }
        let said: Vec<_> = asked.iter().map(|asked| asked.map(|asked| asked.said.clone())).collect();
        let shows = combinations(entry, &said);
        if self.state.coverage.see(entry, &shows) {
            let mut signatures = asked.iter().flatten().filter_map(|asked| asked.signature.as_ref());
            let note = Note {
                sha256: entry.vector.sha256.clone(),
                combinations: shows,
                made: made.how,
                chosen: 0,
                heavy: signatures.any(Signature::is_of_a_process),
            };
            self.pool.keep(Kept { note, bytes: made.bytes }, &self.state.coverage, self.bounds.disk / 2);
        }
        Ok(())
    }

    /// Counts the pairs of readers of which one accepts what the other refuses.
    fn compare(&mut self, entry: &Entry, asked: &[Option<&Asked>]) {
        if entry.vector.class() != Some(Class::Disputed) {
            return;
        }
        let answered = |got: &'static str| {
            let all = self.readers.iter().zip(asked);
            let those =
                all.filter_map(move |(reader, a)| a.filter(|a| a.judged.got == got).map(|a| (reader.name(), a)));
            those.collect::<Vec<_>>()
        };
        let mut pairs = Vec::new();
        for (accepts, one) in answered("accepted") {
            for (refuses, other) in answered("rejected") {
                pairs.push(Pair {
                    accepts: accepts.to_owned(),
                    refuses: refuses.to_owned(),
                    accepting: one.said.verdict.clone(),
                    refusing: other.said.verdict.clone(),
                });
            }
        }
        for pair in pairs {
            self.state.differ(pair);
        }
    }

    /// How far it is.
    #[must_use]
    pub fn progress(&self) -> Progress {
        let sum = |of: fn(&Tally) -> u64| self.state.tallies.iter().map(of).sum();
        Progress {
            files: self.state.made - self.begun,
            answers: (sum(|tally| tally.files), sum(|tally| tally.accepted)),
            rules: self.state.coverage.rules.len(),
            groups: self.state.groups.len(),
            waiting: self.state.groups.waiting().count(),
            settling: self.settling.clone(),
        }
    }

    /// The readers.
    #[must_use]
    pub fn readers(&self) -> &[Reader] {
        &self.readers
    }

    /// What each reader did, in their order.
    #[must_use]
    pub fn tallies(&self) -> &[Tally] {
        &self.state.tallies
    }

    /// The pairs of readers that differ on disputed files, the most frequent first.
    #[must_use]
    pub fn pairs(&self) -> Vec<(&Pair, u64)> {
        let mut list: Vec<_> = self.state.pairs.iter().map(|line| (&line.pair, line.files)).collect();
        list.sort_by_key(|(pair, files)| (u64::MAX - files, *pair));
        list
    }

    /// The groups with the number of files that had them, what ends processes first.
    #[must_use]
    pub fn groups(&self) -> Vec<(&Group, u64)> {
        self.state.groups.all()
    }

    /// How many files of a reader had a failure that was another one in a fresh process.
    #[must_use]
    pub fn unstable_of(&self, reader: &str) -> u64 {
        self.state.groups.unstable_of(reader)
    }

    /// How many files of a reader had failures that were not looked at, because there are too many kinds.
    #[must_use]
    pub fn left_out_of(&self, reader: &str) -> u64 {
        self.state.groups.left_out_of(reader)
    }

    /// What has been seen.
    #[must_use]
    pub fn coverage(&self) -> &Coverage {
        &self.state.coverage
    }

    /// How many files are in the pool.
    #[must_use]
    pub fn pool(&self) -> usize {
        self.pool.len()
    }

    /// The seed.
    #[must_use]
    pub fn seed(&self) -> u64 {
        self.state.seed
    }

    /// How many files were made, in all runs of the program.
    #[must_use]
    pub fn made(&self) -> u64 {
        self.state.made
    }

    /// How long it took, in all runs of the program, in seconds.
    #[must_use]
    pub fn seconds(&self) -> f64 {
        self.state.seconds
    }

    /// What happened that is no failure of a reader, as sentences.
    #[must_use]
    pub fn remarks(&self) -> &[String] {
        &self.remarks
    }
}

/// Readers of the same name get numbers.
fn tell_apart(readers: &mut [Reader]) {
    for i in 1..readers.len() {
        let (before, rest) = readers.split_at_mut(i);
        let name = rest[0].name().to_owned();
        let same = before.iter().filter(|reader| reader.started().name == name).count();
        if same > 0 {
            rest[0].rename(format!("{name}#{}", same + 1));
        }
    }
}
