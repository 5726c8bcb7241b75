//! The streams and the limits of a child.
#![allow(unsafe_code)]

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, RawFd};
use std::time::Duration;

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

/// A crash leaves no core: it is expected, and told by its signal.
pub(super) fn no_core() {
    let limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the pointer is to a value that lives during the call. If it fails, a core is left.
    unsafe { libc::setrlimit(libc::RLIMIT_CORE, &raw const limit) };
}

/// Ends this process after some time, until the next call: for a parent that is gone when the library hangs.
pub(super) fn end_after(time: Option<Duration>) {
    let seconds = time.map_or(0, |time| u32::try_from(time.as_secs()).unwrap_or(u32::MAX).max(1));
    // SAFETY: takes no pointers. The signal has its default action, which ends the process; 0 calls it off.
    unsafe { libc::alarm(seconds) };
}
