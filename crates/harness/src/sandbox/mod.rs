//! A child process under limits, and how it ended: run to its end ([`run`]), or talked with
//! ([`spawn`]).

#[cfg(target_os = "linux")]
pub(crate) mod fork;
#[cfg(target_os = "linux")]
mod linux;
#[cfg(not(unix))]
mod other;
mod running;
#[cfg(unix)]
mod unix;

#[cfg(not(unix))]
use other as system;
#[cfg(unix)]
use unix as system;

pub use running::{Running, Usage, spawn};

use std::io::{self, Read};
use std::process::{Command, Stdio};
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// What a child may use.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Bytes of address space; what is asked for beyond is refused to the child. Enforced on Linux.
    pub address_space: u64,
    /// Seconds of processor time, which decide whether a child hangs. Enforced on Unix.
    pub cpu_seconds: u64,
    /// Time on the clock: a backstop for a child that waits for ever without computing.
    pub wall: Duration,
    /// Bytes kept of standard output and of standard error, each; what comes after is dropped.
    pub output: usize,
}

/// Whether this system enforces all of [`Limits`]; where it does not, only the wall clock is sure.
#[must_use]
pub fn limits_enforced() -> bool {
    cfg!(target_os = "linux")
}

/// Which limit ended a child.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    /// The processor time.
    Cpu,
    /// The time on the clock.
    Wall,
}

/// How a child ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// It ended by itself, with this code.
    Exited(i32),
    /// A signal of this number ended it: 6 is an abort, 11 a segmentation fault.
    Signalled(i32),
    /// It was ended because a limit on time was reached.
    TimedOut(Clock),
}

/// What was kept of one output stream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Captured {
    /// The first bytes, as many as the limit allows.
    pub bytes: Vec<u8>,
    /// How many more there were.
    pub dropped: u64,
}

impl Captured {
    /// The text, with whatever is not UTF-8 replaced.
    #[must_use]
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }
}

/// A child that has ended.
#[derive(Clone, Debug)]
pub struct Ended {
    /// How.
    pub ending: Ending,
    /// Its standard output.
    pub stdout: Captured,
    /// Its standard error.
    pub stderr: Captured,
    /// How long it ran, on the clock.
    pub wall: Duration,
}

/// Runs a command to its end under limits.
///
/// Its standard input is empty. It starts no core dump, and whatever processes it has started are
/// ended with it. If this process dies, so does the child, on Linux at once, elsewhere when its
/// processor time is used up.
///
/// # Errors
///
/// If the program cannot be started or waited for. However the child ends is not an error.
pub fn run(mut command: Command, limits: &Limits) -> io::Result<Ended> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    system::prepare(&mut command, limits);
    let start = Instant::now();
    let mut child = command.spawn()?;
    let (sender, closed) = mpsc::channel();
    let stdout = child.stdout.take().map(|pipe| capture(pipe, limits.output, sender.clone()));
    let stderr = child.stderr.take().map(|pipe| capture(pipe, limits.output, sender));

    // A child that ends closes its pipes, which wakes this loop at once; one that has closed them
    // early, or has given them to a process of its own, is found by looking now and then.
    let mut nap = Duration::from_micros(100);
    let over = loop {
        if system::has_ended(&mut child)? {
            break false;
        }
        let left = limits.wall.saturating_sub(start.elapsed());
        if left.is_zero() {
            break true;
        }
        match closed.recv_timeout(nap.min(left)) {
            Ok(()) => {}
            Err(mpsc::RecvTimeoutError::Timeout) => nap = (2 * nap).min(Duration::from_millis(10)),
            Err(mpsc::RecvTimeoutError::Disconnected) => {
                thread::sleep(nap.min(left));
                nap = (2 * nap).min(Duration::from_millis(10));
            }
        }
    };
    system::kill(&mut child);
    let ending = system::reap(&mut child, limits)?;
    let wall = start.elapsed();
    let ending = if over { Ending::TimedOut(Clock::Wall) } else { ending };

    // With everything that the child started gone, the pipes close; a process that has left the
    // group of the child could keep them open, and is not waited for.
    while closed.recv_timeout(Duration::from_secs(1)).is_ok() {}
    let kept = |captured: Option<Arc<Mutex<Captured>>>| {
        captured.map(|kept| std::mem::take(&mut *lock(&kept))).unwrap_or_default()
    };
    Ok(Ended { ending, stdout: kept(stdout), stderr: kept(stderr), wall })
}

fn lock(kept: &Mutex<Captured>) -> std::sync::MutexGuard<'_, Captured> {
    kept.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Reads a pipe to its end on a thread of its own, keeping the first `limit` bytes.
fn capture(mut pipe: impl Read + Send + 'static, limit: usize, closed: Sender<()>) -> Arc<Mutex<Captured>> {
    let kept = Arc::new(Mutex::new(Captured::default()));
    let shared = Arc::clone(&kept);
    thread::spawn(move || {
        let mut chunk = [0; 1 << 14];
        loop {
            let n = match pipe.read(&mut chunk) {
                Ok(0) => break,
                Ok(n) => n,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(_) => break,
            };
            let mut kept = lock(&shared);
            let room = limit.saturating_sub(kept.bytes.len()).min(n);
            kept.bytes.extend_from_slice(&chunk[..room]);
            kept.dropped += (n - room) as u64;
        }
        // Nobody listens any more if the wait was given up.
        let _ = closed.send(());
    });
    kept
}

#[cfg(all(test, unix))]
mod tests;
