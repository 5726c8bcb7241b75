//! A child that leads a process group of its own, so that what it has started ends with it.
//!
//! The number of a group is that of its leader, and is theirs until the leader is waited for: whoever ends the group
//! does so before.
#![allow(unsafe_code)]

use std::io;
use std::process::{Child, Command};

/// Makes the command start its child as the leader of a group; where there are none, nothing changes.
pub fn lead(command: &mut Command) {
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(command, 0);
    #[cfg(not(unix))]
    let _ = command;
}

/// Whether the child has ended. On Unix it is not waited for, so that its number stays taken.
///
/// # Errors
///
/// If the system does not say.
#[cfg(unix)]
pub fn has_ended(child: &mut Child) -> io::Result<bool> {
    let mut info = std::mem::MaybeUninit::<libc::siginfo_t>::zeroed();
    let flags = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
    // SAFETY: the pointer is to memory of the right size and alignment.
    if unsafe { libc::waitid(libc::P_PID, child.id(), info.as_mut_ptr(), flags) } != 0 {
        let error = io::Error::last_os_error();
        return if error.kind() == io::ErrorKind::Interrupted { Ok(false) } else { Err(error) };
    }
    // SAFETY: zeroes are a valid value; the call leaves the signal number zero if nothing has ended.
    Ok(unsafe { info.assume_init() }.si_signo != 0)
}

/// Ends the child, which leads a group, and all processes of it. The child has not been waited for.
#[cfg(unix)]
pub fn kill(child: &mut Child) {
    if let Ok(group) = libc::pid_t::try_from(child.id()) {
        // SAFETY: takes no pointers. The group was made for the child, which is not reaped yet. That
        // nobody is left in it is no fault.
        unsafe { libc::kill(-group, libc::SIGKILL) };
    }
}

/// Whether the child has ended.
///
/// # Errors
///
/// If the system does not say.
#[cfg(not(unix))]
pub fn has_ended(child: &mut Child) -> io::Result<bool> {
    Ok(child.try_wait()?.is_some())
}

/// Ends the child; that it has ended already is no fault.
#[cfg(not(unix))]
pub fn kill(child: &mut Child) {
    let _ = child.kill();
}
