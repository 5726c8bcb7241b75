//! One process of an adapter, under limits: a request goes in, an answer comes out, or it is told how that
//! failed.

use std::io::{self, Read, Write};
use std::process::ChildStdin;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use assay_providers::complaint::Complaint;
use assay_providers::signal;
use serde_json::Value as Json;

use super::complaint::telling;
use super::judge::Behaviour;
use super::message::{Request, Started, is_object, read_answer, read_started, read_stopped, seq_of, start_of};
use super::program::Program;
use super::verdict::Verdict;
use crate::sandbox::{self, Ending, Running};

/// What an adapter may use.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Processor time for one request, which decides what hangs.
    pub cpu: Duration,
    /// Processor time to start.
    pub start_cpu: Duration,
    /// Time on the clock for one request: a backstop for what waits for ever without computing.
    pub wall: Duration,
    /// Bytes of address space, and of memory in use.
    pub memory: u64,
    /// Bytes of the longest answer.
    pub answer: usize,
    /// Bytes of standard error that are kept, the last ones.
    pub complaint: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            cpu: Duration::from_secs(2),
            start_cpu: Duration::from_secs(10),
            wall: Duration::from_secs(30),
            memory: 4 << 30,
            answer: 16 << 20,
            complaint: 64 << 10,
        }
    }
}

/// What one request took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Used {
    /// Processor time, as far as the system tells.
    pub cpu: Option<Duration>,
    /// The most bytes of memory in use, as far as the system tells.
    pub peak: Option<u64>,
}

/// How an exchange failed. The process has been ended.
#[derive(Clone, Debug)]
pub struct Failure {
    /// One of the verdicts of processes.
    pub verdict: Verdict,
    /// How, in words.
    pub how: String,
    /// Whether it was the request before: it had been answered, and then more came, or the end.
    pub before: bool,
    /// What the request took until then.
    pub used: Used,
}

impl Failure {
    /// The same as what came of the request.
    #[must_use]
    pub fn behaviour(&self) -> Behaviour {
        Behaviour::Failed { verdict: self.verdict, how: self.how.clone() }
    }
}

/// Why an adapter did not start.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{0}")]
pub struct StartError(pub String);

/// A process that has answered `start`.
#[derive(Debug)]
pub struct Session {
    running: Running,
    /// What is to be written to its input; until it has been told to stop.
    stdin: Option<Sender<Vec<u8>>>,
    stdout: Receiver<Vec<u8>>,
    stderr: Complaint,
    /// What has come since the last whole line.
    rest: Vec<u8>,
    seq: u64,
    limits: Limits,
    /// Whether other processes of its group have to be looked at to know what it uses.
    in_company: bool,
}

/// How often a waiting exchange looks at the process, at the least.
const GLANCE: Duration = Duration::from_millis(10);

/// How often it looks at the whole group, which takes some milliseconds, while the process has children.
const LOOK_AROUND: Duration = Duration::from_millis(100);

/// How often it does so while the process has none: one whose parent has ended belongs to nobody.
const LOOK_FOR_ORPHANS: Duration = Duration::from_secs(1);

/// How long a process may take to end when it is told to, or after it has closed its output.
const FAREWELL: Duration = Duration::from_secs(5);

/// How long the output of a process that has ended may take to come.
const LAST_WORDS: Duration = Duration::from_millis(500);

impl Session {
    /// Starts a process and asks it who it is.
    ///
    /// # Errors
    ///
    /// Why it did not start, in a sentence that names the program.
    pub fn start(program: &Program, limits: &Limits) -> Result<(Self, Started, Json), StartError> {
        let allowed = sandbox::Limits {
            address_space: limits.memory,
            // Over the whole life of the process there is no limit; that of each request is kept here.
            cpu_seconds: u64::MAX,
            wall: limits.wall,
            output: limits.answer,
        };
        let mut running =
            sandbox::spawn(program.command(), &allowed).map_err(|error| StartError(program.why(&error)))?;
        let name = program.words().join(" ");
        let (Some(stdin), Some(stdout), Some(stderr)) = (running.stdin(), running.stdout(), running.stderr()) else {
            return Err(StartError(format!("{name}: it has no standard input, output and error")));
        };
        let mut session = Self {
            running,
            stdin: Some(writer(stdin)),
            stdout: pieces(stdout),
            stderr: Complaint::listen(stderr, limits.complaint),
            rest: Vec::new(),
            seq: 0,
            limits: *limits,
            in_company: false,
        };
        let failed = |what: String| StartError(format!("{name}: did not start: {what}"));
        let (line, _) = session
            .exchange(&Request::Start, limits.start_cpu)
            .map_err(|failure| failed(format!("{}: {}", failure.verdict, failure.how)))?;
        let (started, json) = read_started(&line, 0).map_err(|what| failed(session.with_complaint(what)))?;
        session.in_company = session.running.usage(true).cpu > session.running.usage(false).cpu;
        Ok((session, started, json))
    }

    /// Asks about a file.
    ///
    /// # Errors
    ///
    /// [`Failure`]; the session is over then.
    pub fn ask(&mut self, request: &Request<'_>) -> Result<(Behaviour, Used), Failure> {
        let (line, used) = self.exchange(request, self.limits.cpu)?;
        match read_answer(&line, self.seq, request) {
            Ok(answer) => Ok((Behaviour::Answered(answer), used)),
            Err(how) => Err(self.misread(&line, how, used)),
        }
    }

    /// Tells, also after the session is over, the end of what it wrote to its standard error about the last
    /// file: at most so many bytes.
    pub(crate) fn complaint(&self, most: usize) -> impl FnOnce() -> Vec<u8> + use<> {
        self.stderr.end(most)
    }

    /// A line that is not the answer to the request: it may be one more in answer to the request before.
    fn misread(&mut self, line: &[u8], how: String, used: Used) -> Failure {
        if self.seq > 1 && seq_of(line) == Some(self.seq - 1) {
            let how = format!("more than one line in answer to one request: {}", start_of(line));
            return Failure { before: true, ..self.failed(Verdict::ProtocolError, how, used) };
        }
        self.failed(Verdict::ProtocolError, how, used)
    }

    /// Tells it to end.
    ///
    /// # Errors
    ///
    /// [`Failure`] if it does not, or did not deserve its last verdict.
    pub fn stop(mut self) -> Result<(), Failure> {
        self.limits.wall = self.limits.wall.min(FAREWELL);
        let (line, used) = self.exchange(&Request::Stop, self.limits.cpu).map_err(|mut failure| {
            if !failure.before {
                failure.how = format!("told to stop: {}", failure.how);
            }
            failure
        })?;
        read_stopped(&line, self.seq).map_err(|how| self.misread(&line, how, used))?;
        // Who reads requests to the end of the input ends with it.
        self.stdin = None;
        if !self.ends_within(self.limits.wall) {
            let how = format!("still runs {} s after it said that it stopped", self.limits.wall.as_secs_f64());
            return Err(self.failed(Verdict::ProtocolError, how, used));
        }
        match self.running.end() {
            Ok(Ending::Exited(0)) => Ok(()),
            Ok(ending) => {
                let how = format!("said that it stopped, then {}", described(ending));
                Err(self.failed(Verdict::ProtocolError, how, used))
            }
            Err(error) => Err(self.failed(Verdict::ProtocolError, format!("cannot be waited for: {error}"), used)),
        }
    }

    /// Sends a request and waits for one line.
    fn exchange(&mut self, request: &Request<'_>, cpu: Duration) -> Result<(Vec<u8>, Used), Failure> {
        if !matches!(request, Request::Start) {
            self.seq += 1;
            self.nothing_more()?;
            // What it says while it starts, it may say before it is asked; what it says of a file is not forgotten
            // before the next one.
            if !matches!(request, Request::Stop) {
                self.stderr.forget();
            }
        }
        self.running.forget_peak();
        let before = self.running.usage(self.in_company).cpu;
        let mut clock = Clock { start: Instant::now(), before, looked_around: Instant::now(), used: Used::default() };
        let mut line = request.line(self.seq).into_bytes();
        line.push(b'\n');
        // A process that has ended does not take it, which is found below.
        if let Some(stdin) = &self.stdin {
            let _ = stdin.send(line);
        }
        let mut nap = Duration::from_millis(1);
        let mut looked = Instant::now();
        // How much of the rest is known to have no newline.
        let mut searched = 0;
        loop {
            match self.stdout.recv_timeout(nap) {
                Ok(piece) => {
                    self.rest.extend(piece);
                    // Who writes a little all the time is looked at like one who waits.
                    if looked.elapsed() >= GLANCE && !self.rest[searched..].contains(&b'\n') {
                        looked = Instant::now();
                        self.glance(&mut clock, cpu)?;
                    }
                }
                Err(RecvTimeoutError::Timeout) => {
                    nap = (2 * nap).min(GLANCE);
                    self.glance(&mut clock, cpu)?;
                }
                Err(RecvTimeoutError::Disconnected) => {
                    clock.used = self.used(&clock, false);
                    return Err(self.output_closed(clock.used));
                }
            }
            let newline = self.rest[searched..].iter().position(|&byte| byte == b'\n').map(|at| searched + at);
            searched = self.rest.len();
            if let Some(end) = newline {
                let used = self.used(&clock, self.in_company);
                if used.cpu.is_some_and(|used| used > cpu) {
                    return Err(self.hung(cpu, used));
                }
                let mut line = std::mem::take(&mut self.rest);
                let more = line.split_off(end + 1);
                // A first line that is no answer is told as such.
                if !more.is_empty() && is_object(&line) {
                    let how = format!("more than one line in answer to one request: {}", start_of(&more));
                    return Err(self.failed(Verdict::ProtocolError, how, used));
                }
                line.pop();
                return Ok((line, used));
            }
            if self.rest.len() > self.limits.answer {
                let how = format!("a line of over {} bytes: {}", self.limits.answer, start_of(&self.rest));
                return Err(self.failed(Verdict::ProtocolError, how, self.used(&clock, false)));
            }
        }
    }

    /// Whether the last answer was the only one, and the process is still there.
    fn nothing_more(&mut self) -> Result<(), Failure> {
        let failure = match self.stdout.try_recv() {
            Err(mpsc::TryRecvError::Empty) if !matches!(self.running.has_ended(), Ok(true)) => return Ok(()),
            Ok(more) => {
                let how = format!("more than one line in answer to one request: {}", start_of(&more));
                self.failed(Verdict::ProtocolError, how, Used::default())
            }
            Err(_) => {
                let mut failure = self.output_closed(Used::default());
                failure.how = format!("after its answer: {}", failure.how);
                failure
            }
        };
        // After `start` nobody else is there to blame.
        Err(Failure { before: self.seq > 1, ..failure })
    }

    /// Looks at a process that has not answered yet.
    fn glance(&mut self, clock: &mut Clock, cpu: Duration) -> Result<(), Failure> {
        if matches!(self.running.has_ended(), Ok(true)) {
            // What it wrote at the end may still be on its way.
            let until = Instant::now() + LAST_WORDS;
            while let Ok(piece) = self.stdout.recv_timeout(until.saturating_duration_since(Instant::now())) {
                self.rest.extend(piece);
                if self.rest.contains(&b'\n') || self.rest.len() > self.limits.answer {
                    return Ok(());
                }
            }
            return Err(self.died(clock.used));
        }
        let since = clock.looked_around.elapsed();
        let due = since >= LOOK_FOR_ORPHANS || (since >= LOOK_AROUND && self.running.has_children());
        let around = self.in_company || due;
        if around {
            clock.looked_around = Instant::now();
        }
        let resident = self.running.usage(around).resident;
        clock.used = self.used(clock, around);
        if clock.used.cpu.is_some_and(|used| used > cpu) {
            return Err(self.hung(cpu, clock.used));
        }
        if resident.is_some_and(|resident| resident > self.limits.memory) {
            let how = format!("over {} MiB of memory in use", self.limits.memory >> 20);
            return Err(self.failed(Verdict::OutOfMemory, how, clock.used));
        }
        if clock.start.elapsed() >= self.limits.wall {
            let seconds = self.limits.wall.as_secs_f64();
            return Err(if self.rest.is_empty() {
                let how = self.with_complaint(format!("no answer in {seconds} s on the clock"));
                self.failed(Verdict::Hang, how, clock.used)
            } else {
                let how = format!("part of a line in {seconds} s on the clock: {}", start_of(&self.rest));
                self.failed(Verdict::ProtocolError, how, clock.used)
            });
        }
        Ok(())
    }

    fn used(&self, clock: &Clock, around: bool) -> Used {
        let now = self.running.usage(around);
        let cpu = now.cpu.zip(clock.before).map(|(now, before)| now.saturating_sub(before));
        Used { cpu: cpu.max(clock.used.cpu), peak: now.peak_resident.max(clock.used.peak) }
    }

    /// Nothing more can come from the process: it has ended, or has closed its output.
    fn output_closed(&mut self, used: Used) -> Failure {
        if self.ends_within(self.limits.wall.min(FAREWELL)) {
            self.died(used)
        } else {
            let how = "closed its standard output, and runs on".to_owned();
            self.failed(Verdict::ProtocolError, how, used)
        }
    }

    fn ends_within(&mut self, time: Duration) -> bool {
        let until = Instant::now() + time;
        loop {
            match self.running.has_ended() {
                Ok(false) if Instant::now() < until => thread::sleep(Duration::from_millis(1)),
                Ok(ended) => return ended,
                Err(_) => return false,
            }
        }
    }

    fn hung(&mut self, cpu: Duration, used: Used) -> Failure {
        let how = format!("over {} s of processor time", cpu.as_secs_f64());
        let how = self.with_complaint(how);
        self.failed(Verdict::Hang, how, used)
    }

    /// The process has ended by itself, without an answer.
    fn died(&mut self, used: Used) -> Failure {
        let ending = match self.running.end() {
            Ok(ending) => described(ending),
            Err(error) => format!("cannot be waited for: {error}"),
        };
        let complaint = self.stderr.complete(LAST_WORDS);
        let half = !self.rest.is_empty() && ending.starts_with("exit");
        let (verdict, how) = if half {
            (Verdict::ProtocolError, format!("part of a line, then {ending}: {}", start_of(&self.rest)))
        } else if says_out_of_memory(&complaint) {
            (Verdict::OutOfMemory, ending)
        } else {
            (Verdict::Crash, ending)
        };
        let how = self.with_complaint(how);
        Failure { verdict, how, before: false, used }
    }

    /// Ends the process for a failure.
    fn failed(&mut self, verdict: Verdict, how: String, used: Used) -> Failure {
        // Whatever it does after this is not looked at.
        let _ = self.running.end();
        Failure { verdict, how, before: false, used }
    }

    /// What was said, with the end of what the process complained about.
    fn with_complaint(&self, what: String) -> String {
        match telling(&self.stderr.text()) {
            complaint if complaint.is_empty() => what,
            complaint => format!("{what}: {complaint}"),
        }
    }
}

/// What is known of a request under way.
struct Clock {
    start: Instant,
    before: Option<Duration>,
    looked_around: Instant,
    used: Used,
}

/// Writes to an input on a thread of its own: who does not read it must not make the clock wait. The
/// input is closed when the sender is dropped.
fn writer(mut pipe: ChildStdin) -> Sender<Vec<u8>> {
    let (sender, receiver) = mpsc::channel::<Vec<u8>>();
    thread::spawn(move || {
        for line in receiver {
            if pipe.write_all(&line).and_then(|()| pipe.flush()).is_err() {
                return;
            }
        }
    });
    sender
}

/// Reads an output on a thread of its own. Few pieces wait: who floods is made to wait too.
fn pieces(mut pipe: impl Read + Send + 'static) -> Receiver<Vec<u8>> {
    let (sender, receiver) = mpsc::sync_channel(4);
    thread::spawn(move || {
        let mut piece = vec![0; 1 << 16];
        loop {
            match pipe.read(&mut piece) {
                Ok(0) => return,
                Ok(n) if sender.send(piece[..n].to_vec()).is_err() => return,
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return,
            }
        }
    });
    receiver
}

/// The words with which runtimes tell that memory was refused to them, in lower case.
pub const OUT_OF_MEMORY_WORDS: [&str; 8] = [
    "out of memory",
    "outofmemory",
    "memory allocation of",
    "bad_alloc",
    "memoryerror",
    "cannot allocate memory",
    "insufficient memory",
    "failed to allocate",
];

fn says_out_of_memory(complaint: &str) -> bool {
    let complaint = complaint.to_lowercase();
    OUT_OF_MEMORY_WORDS.iter().any(|words| complaint.contains(words))
}

/// How a process ended, in words.
fn described(ending: Ending) -> String {
    match ending {
        Ending::Exited(code) => format!("exit code {code}"),
        Ending::Signalled(signal) => signal::describe(signal),
        Ending::TimedOut(_) => "a signal that tells of a limit on time".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_runtimes_whose_memory_was_refused_are_known() {
        for complaint in [
            "memory allocation of 1099511627776 bytes failed",
            "terminate called after throwing an instance of 'std::bad_alloc'",
            "Traceback (most recent call last):\nMemoryError",
            "FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory",
            "Exception in thread \"main\" java.lang.OutOfMemoryError: Java heap space",
            "fatal error: runtime: out of memory",
            "ggml_aligned_malloc: insufficient memory (attempted to allocate 1048576.00 MB)",
        ] {
            assert!(says_out_of_memory(complaint), "{complaint}");
        }
        assert!(!says_out_of_memory("thread 'main' panicked: index out of bounds"));
        let page = include_str!("../../../../docs/adapter-protocol.md").to_lowercase();
        for words in OUT_OF_MEMORY_WORDS {
            assert!(page.contains(&format!("`{words}`")), "docs/adapter-protocol.md lacks {words}");
        }
    }
}
