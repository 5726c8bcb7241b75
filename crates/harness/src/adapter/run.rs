//! All vectors through an adapter: processes side by side, started again after they have died; failures
//! confirmed in a process of their own.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use assay_corpus::store::Entry;
use serde_json::Value as Json;

use super::again::{self, MOST_PROTOCOL_ERRORS};
use super::judge::{Behaviour, Judged, judge};
use super::message::{Request, Started, stated};
use super::program::Program;
use super::session::{Limits, Session, StartError, Used};
use super::verdict::Verdict;

/// What came of one vector.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The place of the vector in the list that was given.
    pub index: usize,
    /// What the answer was worth.
    pub judged: Judged,
    /// What it was worth in a fresh process, if that was something else.
    pub unstable: Option<Judged>,
    /// What the request took.
    pub used: Used,
}

impl Outcome {
    /// Whether it is a failure: by its verdict, or because that was another one the second time.
    #[must_use]
    pub fn is_failure(&self) -> bool {
        self.unstable.is_some() || self.judged.verdict.is_failure()
    }
}

/// What came of all vectors.
#[derive(Clone, Debug)]
pub struct Run {
    /// One for each vector, in their order.
    pub outcomes: Vec<Outcome>,
    /// Faults of the adapter that belong to no vector, as sentences.
    pub problems: Vec<String>,
    /// Why some vectors were not run.
    pub gave_up: Option<String>,
    /// How many processes were started.
    pub processes: usize,
    /// How long it took.
    pub time: Duration,
}

/// An adapter whose first process has answered `start`.
#[derive(Debug)]
pub struct Adapter {
    program: Program,
    limits: Limits,
    started: Started,
    answer: Json,
    first: Session,
}

/// Told of each outcome, one at a time, in the order in which they come.
pub type Sink<'a> = dyn Fn(&Outcome) + Sync + 'a;

impl Adapter {
    /// Starts the first process.
    ///
    /// # Errors
    ///
    /// [`StartError`] if the program cannot be started or does not answer `start` as it should.
    pub fn start(program: Program, limits: Limits) -> Result<Self, StartError> {
        let (first, started, answer) = Session::start(&program, &limits)?;
        Ok(Self { program, limits, started, answer, first })
    }

    /// What the adapter says of itself.
    #[must_use]
    pub fn started(&self) -> &Started {
        &self.started
    }

    /// The whole answer to `start`.
    #[must_use]
    pub fn answer(&self) -> &Json {
        &self.answer
    }

    /// The program.
    #[must_use]
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// Asks about every vector, in `jobs` processes side by side.
    ///
    /// # Errors
    ///
    /// If the path of a vector cannot be told to an adapter.
    pub fn run(self, entries: &[Entry], jobs: usize, sink: &Sink<'_>) -> Result<Run, String> {
        let start = Instant::now();
        let paths = entries.iter().map(|entry| stated(&entry.path)).collect::<Result<Vec<_>, _>>()?;
        let shared = Shared {
            program: &self.program,
            limits: &self.limits,
            started: &self.started,
            answer: &self.answer,
            entries,
            paths: &paths,
            next: AtomicUsize::new(0),
            processes: AtomicUsize::new(1),
            over: AtomicBool::new(false),
            results: Mutex::new(Results { outcomes: Vec::new(), problems: Vec::new(), gave_up: None }),
            sink,
        };
        let mut first = Some(self.first);
        thread::scope(|scope| {
            for _ in 0..jobs.clamp(1, entries.len().max(1)) {
                let session = first.take();
                let shared = &shared;
                scope.spawn(move || Worker { shared, session, held: None }.work());
            }
        });
        shared.leave_out_the_rest();
        let processes = shared.processes.load(Ordering::Relaxed);
        let results = shared.results.into_inner().unwrap_or_else(PoisonError::into_inner);
        let Results { mut outcomes, mut problems, gave_up } = results;
        outcomes.sort_by_key(|outcome| outcome.index);
        problems.sort();
        problems.dedup();
        Ok(Run { outcomes, problems, gave_up, processes, time: start.elapsed() })
    }
}

/// What the workers of a run have in common.
struct Shared<'a> {
    program: &'a Program,
    limits: &'a Limits,
    started: &'a Started,
    answer: &'a Json,
    entries: &'a [Entry],
    paths: &'a [String],
    next: AtomicUsize,
    processes: AtomicUsize,
    over: AtomicBool,
    results: Mutex<Results>,
    sink: &'a Sink<'a>,
}

struct Results {
    outcomes: Vec<Outcome>,
    problems: Vec<String>,
    gave_up: Option<String>,
}

impl Shared<'_> {
    fn results(&self) -> MutexGuard<'_, Results> {
        self.results.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next vector, unless the run has been given up.
    fn take(&self) -> Option<usize> {
        let index = self.next.fetch_add(1, Ordering::Relaxed);
        (index < self.entries.len() && !self.over.load(Ordering::Relaxed)).then_some(index)
    }

    fn tell(&self, outcome: Outcome) {
        let mut results = self.results();
        (self.sink)(&outcome);
        results.outcomes.push(outcome);
        // One that does not speak the protocol has nothing to say about the other thousand either.
        let broken = |outcome: &Outcome| outcome.judged.verdict == Verdict::ProtocolError;
        if results.outcomes.len() == MOST_PROTOCOL_ERRORS && results.outcomes.iter().all(broken) {
            self.over.store(true, Ordering::Relaxed);
            results.gave_up.get_or_insert_with(again::breaks_the_protocol);
        }
    }

    fn judge(&self, index: usize, behaviour: &Behaviour) -> Judged {
        judge(&self.entries[index], self.started, behaviour)
    }

    /// A process more.
    fn start(&self) -> Result<Session, StartError> {
        self.processes.fetch_add(1, Ordering::Relaxed);
        let (session, _, answer) = Session::start(self.program, self.limits)?;
        if answer != *self.answer {
            let problem = "its processes answer `start` differently".to_owned();
            self.results().problems.push(problem);
        }
        Ok(session)
    }

    fn give_up(&self, why: String) {
        self.over.store(true, Ordering::Relaxed);
        self.results().gave_up.get_or_insert(why);
    }

    /// The vectors that nobody has been asked about.
    fn leave_out_the_rest(&self) {
        let mut left = vec![true; self.entries.len()];
        let how = {
            let results = self.results();
            for outcome in &results.outcomes {
                left[outcome.index] = false;
            }
            results.gave_up.clone().unwrap_or_default()
        };
        for (index, _) in left.iter().enumerate().filter(|(_, left)| **left) {
            let behaviour = Behaviour::Failed { verdict: Verdict::NotRun, how: how.clone() };
            let judged = self.judge(index, &behaviour);
            self.tell(Outcome { index, judged, unstable: None, used: Used::default() });
        }
    }

    /// Asks again in a fresh process, if this is a failure that may be the fault of another vector.
    fn settle(&self, outcome: Outcome) {
        if !outcome.judged.verdict.is_confirmed() {
            return self.tell(outcome);
        }
        let again = match self.ask_afresh(outcome.index) {
            Ok(behaviour) => self.judge(outcome.index, &behaviour),
            Err(StartError(why)) => {
                let how = format!("could not be confirmed: {why}");
                self.judge(outcome.index, &Behaviour::Failed { verdict: Verdict::NotRun, how })
            }
        };
        let same = again.verdict == outcome.judged.verdict && again.profiles == outcome.judged.profiles;
        self.tell(Outcome { unstable: (!same).then_some(again), ..outcome });
    }

    fn ask_afresh(&self, index: usize) -> Result<Behaviour, StartError> {
        Ok(again::ask_once(self.start()?, &Request::Parse(&self.paths[index])))
    }
}

/// One process at a time.
struct Worker<'a> {
    shared: &'a Shared<'a>,
    session: Option<Session>,
    /// The last outcome, until the next exchange shows that its answer was the only one.
    held: Option<Outcome>,
}

impl Worker<'_> {
    fn work(mut self) {
        while let Some(index) = self.shared.take() {
            // Again, if what came belonged to the request before.
            while !self.ask(index) {
                if self.shared.over.load(Ordering::Relaxed) {
                    return;
                }
            }
        }
        if let Some(Err(failure)) = self.session.take().map(Session::stop) {
            if failure.before {
                self.blame(failure.behaviour());
            } else {
                self.shared.results().problems.push(failure.how);
            }
        }
        self.release();
    }

    /// Asks about a vector; `false` if it has to be asked again.
    fn ask(&mut self, index: usize) -> bool {
        if self.session.is_none() {
            match again::start(|| self.shared.start()) {
                Ok(session) => self.session = Some(session),
                Err(StartError(why)) => {
                    self.shared.give_up(why);
                    return false;
                }
            }
        }
        let Some(session) = self.session.as_mut() else { return false };
        match session.ask(&Request::Parse(&self.shared.paths[index])) {
            Ok((behaviour, used)) => {
                self.release();
                let judged = self.shared.judge(index, &behaviour);
                let outcome = Outcome { index, judged, unstable: None, used };
                if outcome.judged.verdict.is_confirmed() {
                    self.shared.settle(outcome);
                } else {
                    self.held = Some(outcome);
                }
                true
            }
            Err(failure) => {
                self.session = None;
                if failure.before {
                    self.blame(failure.behaviour());
                    return false;
                }
                self.release();
                let judged = self.shared.judge(index, &failure.behaviour());
                self.shared.settle(Outcome { index, judged, unstable: None, used: failure.used });
                true
            }
        }
    }

    fn release(&mut self) {
        if let Some(outcome) = self.held.take() {
            self.shared.tell(outcome);
        }
    }

    /// The outcome that is held was not the end of its answer.
    fn blame(&mut self, behaviour: Behaviour) {
        if let Some(held) = self.held.take() {
            let judged = self.shared.judge(held.index, &behaviour);
            self.shared.settle(Outcome { judged, ..held });
        } else {
            let Behaviour::Failed { how, .. } = behaviour else { return };
            self.shared.results().problems.push(how);
        }
    }
}
