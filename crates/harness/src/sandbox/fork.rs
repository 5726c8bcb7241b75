//! Work done in a fork of this process, so that it may crash: for a library that is loaded once and
//! shown many files, none of which may spoil the next.
//!
//! Starting a program and loading a library anew takes some milliseconds, a fork a tenth of that.
#![allow(unsafe_code)]

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::abort;

use super::unix::ending;
use super::{Clock, Ending};

/// What the work may use.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Times {
    /// Seconds of processor time.
    pub(crate) cpu_seconds: u32,
    /// Seconds on the clock.
    pub(crate) wall_seconds: u32,
}

/// Does the work in a fork of this process, and tells how that ended: with the number that the work
/// returns as the exit code, unless it did not survive.
///
/// # Errors
///
/// If this process has more than one thread, or the system gives no new process.
pub(crate) fn forked(times: Times, work: impl FnOnce() -> i32) -> io::Result<Ending> {
    let threads = std::fs::read_dir("/proc/self/task")?.count();
    if threads != 1 {
        return Err(io::Error::other(format!("a process of {threads} threads cannot be forked")));
    }
    // SAFETY: takes no pointers. There is one thread (above), so no lock is held by another one that
    // the fork would lack, and all of the memory the child sees is whole.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        0 => child(times, work),
        pid => wait(pid),
    }
}

/// The child: never returns to the code that both share.
fn child(times: Times, work: impl FnOnce() -> i32) -> ! {
    let cpu = libc::rlim_t::from(times.cpu_seconds);
    let limit = libc::rlimit { rlim_cur: cpu, rlim_max: cpu.saturating_add(1) };
    // SAFETY: the pointer is to a value that lives during the call; the others take none. SIGALRM has
    // its default action, which ends the process. The child dies with the process it was forked from.
    unsafe {
        libc::setrlimit(libc::RLIMIT_CPU, &raw const limit);
        libc::alarm(times.wall_seconds);
        #[cfg(target_os = "linux")]
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
    }
    let code = catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| abort());
    // SAFETY: takes no pointers. What the parent has buffered is not written twice: no destructor and
    // no handler of the end of a process runs.
    unsafe { libc::_exit(code) }
}

fn wait(pid: libc::pid_t) -> io::Result<Ending> {
    let mut status = 0;
    // SAFETY: the pointer is to a value that lives during the call.
    while unsafe { libc::waitpid(pid, &raw mut status, 0) } < 0 {
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
    Ok(match ending(status) {
        Ending::Signalled(libc::SIGALRM) => Ending::TimedOut(Clock::Wall),
        ending => ending,
    })
}
