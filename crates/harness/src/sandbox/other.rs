//! Systems without the limits of Unix: the wall clock alone.

use std::io;
use std::process::{Child, Command};

use super::{Ending, Limits};

pub(super) fn prepare(_command: &mut Command, _limits: &Limits) {}

/// Whether the child has ended.
pub(super) fn has_ended(child: &mut Child) -> io::Result<bool> {
    Ok(child.try_wait()?.is_some())
}

/// Ends the child; that it has ended already is no fault.
pub(super) fn kill(child: &mut Child) {
    let _ = child.kill();
}

/// Waits for the child, which has ended or was killed, and tells how it ended.
pub(super) fn reap(child: &mut Child, _limits: &Limits) -> io::Result<Ending> {
    Ok(Ending::Exited(child.wait()?.code().unwrap_or(-1)))
}
