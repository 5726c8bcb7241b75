//! A reader in a campaign: its processes, started again after they have died, and put aside when that does
//! not help.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use assay_corpus::store::Entry;
use serde_json::Value as Json;

use super::coverage::Said;
use super::shape::{Own, shape};
use super::signature::Signature;
use crate::adapter::again::{self, MOST_PROTOCOL_ERRORS};
use crate::adapter::judge::{Behaviour, Judged, judge};
use crate::adapter::message::{Request, Started, stated};
use crate::adapter::program::Program;
use crate::adapter::session::{Limits, Session, StartError};
use crate::adapter::verdict::Verdict;

/// How many files in a row may hang before a reader is put aside: each takes all the time there is for it.
const MOST_HANGS: usize = 20;

/// What many files are tried with is this part of the processor time that one may take. A file that needs more
/// is asked about again in a process of its own, with all of it: to wait for every hang takes most of a campaign.
const HASTE: u32 = 4;

/// Bytes of standard error that are kept of a reproducer, the last ones.
const MOST_COMPLAINT: usize = 16 << 10;

/// A reader behind an adapter.
#[derive(Debug)]
pub struct Reader {
    who: Arc<Who>,
    desks: Vec<Sender<Job>>,
    aside: Option<String>,
    problems: BTreeSet<String>,
    /// How many answers there were, as long as each broke the protocol.
    broken: Option<usize>,
    /// How many files it hung on, one after another.
    hung: usize,
}

/// Who a reader is, and how its processes are started.
#[derive(Clone, Debug)]
struct Who {
    name: String,
    program: Program,
    limits: Limits,
    /// Those of a process that is asked about many files.
    hasty: Limits,
    started: Started,
    answer: Json,
}

/// What came of asking about a file.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) judged: Judged,
    pub(crate) said: Said,
    pub(crate) signature: Option<Signature>,
    /// The end of what a process of its own wrote to its standard error, as it came.
    pub(crate) complaint: Vec<u8>,
}

/// Whether to end before the work is done.
pub type Stop = Arc<dyn Fn() -> bool + Send + Sync>;

impl Reader {
    /// Starts a first process; `jobs` will run side by side.
    ///
    /// # Errors
    ///
    /// [`StartError`] if the program cannot be started or does not answer `start` as it should.
    pub fn start(program: Program, limits: Limits, jobs: usize) -> Result<Self, StartError> {
        let hasty = Limits { cpu: limits.cpu / HASTE, ..limits };
        let (session, started, answer) = Session::start(&program, &hasty)?;
        let who = Arc::new(Who { name: started.name.clone(), program, limits, hasty, started, answer });
        let mut first = Some(session);
        let desks = (0..jobs.max(1)).map(|_| Desk { session: first.take(), last: None }.open()).collect();
        Ok(Self { who, desks, aside: None, problems: BTreeSet::new(), broken: Some(0), hung: 0 })
    }

    /// The name that the adapter gives.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.who.name
    }

    /// Names it differently, if another reader has the name.
    pub(crate) fn rename(&mut self, name: String) {
        Arc::make_mut(&mut self.who).name = name;
    }

    /// What the adapter says of itself.
    #[must_use]
    pub fn started(&self) -> &Started {
        &self.who.started
    }

    /// The whole answer to `start`.
    #[must_use]
    pub fn answer(&self) -> &Json {
        &self.who.answer
    }

    /// The program.
    #[must_use]
    pub fn program(&self) -> &Program {
        &self.who.program
    }

    /// Why it is not asked any more.
    #[must_use]
    pub fn aside(&self) -> Option<&str> {
        self.aside.as_deref()
    }

    /// Faults of the adapter that belong to no file, as sentences.
    #[must_use]
    pub fn problems(&self) -> Vec<String> {
        self.problems.iter().cloned().collect()
    }

    /// Asks about files, side by side; nothing of those that were not asked about, because it was time to
    /// stop or the reader was put aside.
    pub(crate) fn ask(&mut self, files: &Arc<Vec<Entry>>, stop: &Stop) -> Vec<Option<Asked>> {
        let asked = self.put(files, stop);
        for asked in asked.iter().flatten() {
            self.count(asked.judged.verdict, &asked.judged.message);
        }
        asked
    }

    fn put(&mut self, files: &Arc<Vec<Entry>>, stop: &Stop) -> Vec<Option<Asked>> {
        let nothing = vec![None; files.len()];
        if self.aside.is_some() {
            return nothing;
        }
        let round = Arc::new(Round {
            who: Arc::clone(&self.who),
            files: Arc::clone(files),
            stop: Arc::clone(stop),
            next: AtomicUsize::new(0),
            over: AtomicBool::new(false),
            found: Mutex::new(Found { asked: nothing, problems: Vec::new(), aside: None }),
        });
        let (done, ended) = mpsc::channel();
        for desk in self.desks.iter().take(files.len()) {
            // A thread that is gone answers nothing, which is seen below.
            let _ = desk.send(Job::Ask(Arc::clone(&round), done.clone()));
        }
        drop(done);
        // Until the last desk has dropped its end.
        while ended.recv().is_ok() {}
        let mut found = round.found();
        let Found { asked, problems, aside } =
            std::mem::replace(&mut *found, Found { asked: Vec::new(), problems: Vec::new(), aside: None });
        drop(found);
        self.problems.extend(problems);
        if let Some(why) = aside {
            self.put_aside(why);
        }
        asked
    }

    /// Asks about one file, whatever it comes to: what a failure is made small by is meant to fail. Nothing if
    /// the reader is put aside.
    pub(crate) fn ask_one(&mut self, file: &Entry) -> Option<Asked> {
        let never: Stop = Arc::new(|| false);
        self.put(&Arc::new(vec![file.clone()]), &never).pop().flatten()
    }

    /// Asks a process of its own about a file.
    ///
    /// # Errors
    ///
    /// If it does not start, or cannot be told the path.
    pub(crate) fn ask_afresh(&self, file: &Entry) -> Result<Asked, StartError> {
        let path = stated(&file.path).map_err(StartError)?;
        let (session, _) = again::start(|| self.who.process(&self.who.limits))?;
        let complaint = session.complaint(MOST_COMPLAINT);
        let asked = self.who.judged(file, &path, &again::ask_once(session, &Request::Parse(&path)));
        Ok(Asked { complaint: complaint(), ..asked })
    }

    /// Puts a reader aside that does nothing but hang or break the protocol.
    fn count(&mut self, verdict: Verdict, how: &str) {
        self.broken = self.broken.filter(|_| verdict == Verdict::ProtocolError).map(|broken| broken + 1);
        self.hung = if verdict == Verdict::Hang { self.hung + 1 } else { 0 };
        if self.broken.is_some_and(|broken| broken >= MOST_PROTOCOL_ERRORS) {
            self.put_aside(format!("{}. The last one: {how}", again::breaks_the_protocol()));
        } else if self.hung >= MOST_HANGS {
            self.put_aside(format!("hung on {MOST_HANGS} files in a row, and is not asked further"));
        }
    }

    fn put_aside(&mut self, why: String) {
        self.aside.get_or_insert(why);
        // Each ends its process.
        self.desks.clear();
    }

    /// Ends all processes.
    pub(crate) fn stop(&mut self) {
        for desk in self.desks.drain(..) {
            let (done, ended) = mpsc::channel();
            if desk.send(Job::Stop(done)).is_ok() {
                self.problems.extend(ended.recv().ok().flatten());
            }
        }
    }
}

impl Who {
    /// A process, and whether it answers `start` as the first one did.
    fn process(&self, limits: &Limits) -> Result<(Session, bool), StartError> {
        Session::start(&self.program, limits).map(|(session, _, answer)| (session, answer == self.answer))
    }

    fn judged(&self, file: &Entry, path: &str, behaviour: &Behaviour) -> Asked {
        let judged = judge(file, &self.started, behaviour);
        let signature = Signature::of(&self.name, path, file, &self.started, &judged);
        let shape = match &signature {
            Some(signature) => signature.detail.clone(),
            None if judged.message.is_empty() => String::new(),
            None => shape(&judged.message, &Own::of(path, &file.bytes)),
        };
        let verdict = [judged.verdict.name()].into_iter().chain(judged.profiles.iter().map(|profile| profile.name()));
        let said = Said { verdict: verdict.collect::<Vec<_>>().join(" "), shape };
        Asked { judged, said, signature, complaint: Vec::new() }
    }
}

/// What a desk is told to do.
#[derive(Debug)]
enum Job {
    /// Work on this until nothing is left of it, then drop the sender.
    Ask(Arc<Round>, Sender<()>),
    /// End the process, and say what was wrong with that.
    Stop(Sender<Option<String>>),
}

/// A place where one process at a time answers. It is a thread as long as the reader is asked: a process dies
/// with the thread that started it.
#[derive(Debug)]
struct Desk {
    session: Option<Session>,
    /// The file that was answered last, until the next exchange shows that its answer was the only one.
    last: Option<usize>,
}

impl Desk {
    fn open(mut self) -> Sender<Job> {
        let (sender, jobs) = mpsc::channel();
        thread::spawn(move || {
            for job in jobs {
                match job {
                    Job::Ask(round, _done) => round.work(&mut self),
                    Job::Stop(done) => {
                        let stopped = self.session.take().map(Session::stop);
                        // Whoever asked may have gone.
                        let _ = done.send(stopped.and_then(Result::err).map(|failure| failure.how));
                    }
                }
            }
        });
        sender
    }
}

/// Files that one reader is asked about.
struct Round {
    who: Arc<Who>,
    files: Arc<Vec<Entry>>,
    stop: Stop,
    next: AtomicUsize,
    over: AtomicBool,
    found: Mutex<Found>,
}

impl fmt::Debug for Round {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Round").field("files", &self.files.len()).finish_non_exhaustive()
    }
}

struct Found {
    asked: Vec<Option<Asked>>,
    problems: Vec<String>,
    aside: Option<String>,
}

impl Round {
    fn found(&self) -> MutexGuard<'_, Found> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn work(&self, desk: &mut Desk) {
        while !self.over.load(Ordering::Relaxed) && !(self.stop)() {
            let index = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(file) = self.files.get(index) else { break };
            match stated(&file.path) {
                // Again, if what came belonged to the file before.
                Ok(path) => while !self.ask(desk, index, file, &path) {},
                Err(why) => self.found().problems.push(why),
            }
        }
        // The next files are others.
        desk.last = None;
    }

    /// Asks about a file; `false` if it has to be asked again.
    fn ask(&self, desk: &mut Desk, index: usize, file: &Entry, path: &str) -> bool {
        if desk.session.is_none() {
            match again::start(|| self.who.process(&self.who.hasty)) {
                Ok((session, same)) => {
                    desk.session = Some(session);
                    if !same {
                        self.found().problems.push("its processes answer `start` differently".to_owned());
                    }
                }
                Err(StartError(why)) => {
                    self.over.store(true, Ordering::Relaxed);
                    self.found().aside.get_or_insert(why);
                    return true;
                }
            }
        }
        let Some(session) = desk.session.as_mut() else { return true };
        let behaviour = match session.ask(&Request::Parse(path)) {
            Ok((behaviour, _)) => behaviour,
            Err(failure) => {
                desk.session = None;
                if failure.before {
                    self.blame(desk.last.take(), &failure.behaviour());
                    return false;
                }
                failure.behaviour()
            }
        };
        desk.last = desk.session.is_some().then_some(index);
        let asked = self.who.judged(file, path, &behaviour);
        self.found().asked[index] = Some(asked);
        true
    }

    /// The answer about this file was not the end of what it brought.
    fn blame(&self, index: Option<usize>, behaviour: &Behaviour) {
        let file = index.and_then(|index| Some((index, self.files.get(index)?)));
        match (file, behaviour) {
            (Some((index, file)), _) => {
                let path = stated(&file.path).unwrap_or_default();
                let asked = self.who.judged(file, &path, behaviour);
                self.found().asked[index] = Some(asked);
            }
            (None, Behaviour::Failed { how, .. }) => self.found().problems.push(how.clone()),
            (None, Behaviour::Answered(_)) => {}
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::adapter::message::read_started;

    /// What a reader of everything says of itself.
    pub(in super::super) fn started() -> Started {
        let line = br#"{"seq":0,"result":"started","protocol":1,"name":"x","version":"1","capabilities":["parse"],"last_stage":"data"}"#;
        read_started(line, 0).map(|(started, _)| started).expect("an answer to `start`")
    }
}
