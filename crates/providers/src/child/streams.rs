//! The streams and the limits of a child.
#![allow(unsafe_code)]

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, RawFd};
use std::time::Duration;

use super::fault::memory_in_use;

/// Takes standard input and output for the two processes to talk through. What the library writes to standard
/// output goes to standard error from now on, and its standard input is empty.
///
/// # Errors
///
/// If the system gives no more descriptors.
pub(super) fn take() -> io::Result<(File, File)> {
    let input = io::stdin().as_fd().try_clone_to_owned()?;
    let output = io::stdout().as_fd().try_clone_to_owned()?;
    let nothing = File::open("/dev/null")?;
    replace(nothing.as_raw_fd(), libc::STDIN_FILENO)?;
    replace(libc::STDERR_FILENO, libc::STDOUT_FILENO)?;
    Ok((input.into(), output.into()))
}

fn replace(by: RawFd, which: RawFd) -> io::Result<()> {
    // SAFETY: takes no pointers. The standard streams are used by number, and owned by nobody.
    if unsafe { libc::dup2(by, which) } < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Bytes of memory that a library may write. It is not the address space that is limited: drivers of GPUs reserve
/// far more of it than they use. Enforced on Linux.
pub(super) const MEMORY: libc::rlim_t = 8 << 30;

/// Bytes to which a file may grow. Some threading libraries keep a small one in `/dev/shm`.
const FILE: libc::rlim_t = 64 << 20;

/// Sets the limits of this process. A crash leaves no core: it is expected, and told by its signal. Memory and
/// growth of files beyond the limits are refused to the library.
///
/// # Errors
///
/// If the system does not take a limit.
pub(super) fn limit() -> io::Result<()> {
    // A sanitizer that was loaded before has reserved far more already: under a limit below that, nothing works.
    let memory = if memory_in_use() > MEMORY { libc::RLIM_INFINITY } else { MEMORY };
    for (resource, most) in [(libc::RLIMIT_CORE, 0), (libc::RLIMIT_DATA, memory), (libc::RLIMIT_FSIZE, FILE)] {
        let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        // SAFETY: the pointer is to a value that lives during the call.
        if unsafe { libc::getrlimit(resource, &raw mut limit) } != 0 {
            return Err(io::Error::last_os_error());
        }
        // A limit can be lowered, not raised.
        let most = most.min(limit.rlim_max);
        let limit = libc::rlimit { rlim_cur: most, rlim_max: most };
        // SAFETY: the pointer is to a value that lives during the call.
        if unsafe { libc::setrlimit(resource, &raw const limit) } != 0 {
            return Err(io::Error::last_os_error());
        }
    }
    // Writing beyond is an error that the library gets, and no signal.
    // SAFETY: no handler of ours is installed.
    unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
    Ok(())
}

/// Ends this process after some time, until the next call: for a parent that is gone when the library hangs.
pub(super) fn end_after(time: Option<Duration>) {
    let seconds = time.map_or(0, |time| u32::try_from(time.as_secs()).unwrap_or(u32::MAX).max(1));
    // SAFETY: takes no pointers. The signal has its default action, which ends the process; 0 calls it off.
    unsafe { libc::alarm(seconds) };
}

/// Ends this process as soon as the parent is gone, whatever the library does about signals; on Linux alone.
///
/// The alarm of [`end_after`] is a signal that a library may block. A limit on processor time would not do instead: it
/// counts all calls together, and a library that sleeps for ever uses none. The signal of Linux comes when the
/// *thread* that has started this process ends, which is made for it and lives as long as the conversation.
///
/// # Errors
///
/// If the parent, whose number is given where it is known, was gone before.
pub(super) fn end_with_parent(parent: Option<u32>) -> io::Result<()> {
    // SAFETY: takes no pointers.
    #[cfg(target_os = "linux")]
    if unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) } != 0 {
        return Err(io::Error::last_os_error());
    }
    match parent {
        Some(parent) if parent != std::os::unix::process::parent_id() => Err(io::ErrorKind::BrokenPipe.into()),
        _ => Ok(()),
    }
}
