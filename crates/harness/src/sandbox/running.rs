//! A child process that is talked with while it runs.

use std::io;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use super::{Ending, Limits, system};

/// What a child has used, as far as the system tells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Processor time since its start.
    pub cpu: Option<Duration>,
    /// Bytes of memory in use.
    pub resident: Option<u64>,
    /// The most bytes of memory in use since its start, or since [`Running::forget_peak`].
    pub peak_resident: Option<u64>,
}

/// A child that runs. It is ended, with all processes of its group, when this value is dropped.
#[derive(Debug)]
pub struct Running {
    child: Child,
    limits: Limits,
    ended: Option<Ending>,
}

/// Starts a command under limits, with pipes for its standard input, output and error. The wall clock
/// and the size of the output are for the caller to watch.
///
/// On Linux the child is ended when the thread that calls this ends.
///
/// # Errors
///
/// If the program cannot be started.
pub fn spawn(mut command: Command, limits: &Limits) -> io::Result<Running> {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    system::prepare(&mut command, limits);
    Ok(Running { child: command.spawn()?, limits: *limits, ended: None })
}

impl Running {
    /// Its standard input; `None` once taken.
    pub fn stdin(&mut self) -> Option<ChildStdin> {
        self.child.stdin.take()
    }

    /// Its standard output; `None` once taken.
    pub fn stdout(&mut self) -> Option<ChildStdout> {
        self.child.stdout.take()
    }

    /// Its standard error; `None` once taken.
    pub fn stderr(&mut self) -> Option<ChildStderr> {
        self.child.stderr.take()
    }

    /// Whether it has ended by itself. Processes that it has started may still run.
    ///
    /// # Errors
    ///
    /// If the system does not say.
    pub fn has_ended(&mut self) -> io::Result<bool> {
        Ok(self.ended.is_some() || system::has_ended(&mut self.child)?)
    }

    /// What it has used. Of the processes that it has started, those count that it has waited for, and,
    /// with `whole_group`, which takes longer to find out, those of its group that still run.
    #[must_use]
    pub fn usage(&self, whole_group: bool) -> Usage {
        if self.ended.is_some() { Usage::default() } else { system::usage(&self.child, whole_group) }
    }

    /// Whether it has started processes of its own that are still its children; true where the system
    /// does not tell.
    #[must_use]
    pub fn has_children(&self) -> bool {
        self.ended.is_none() && system::has_children(&self.child)
    }

    /// Starts a new peak of memory.
    pub fn forget_peak(&self) {
        if self.ended.is_none() {
            system::forget_peak(&self.child);
        }
    }

    /// Ends it, and all processes of its group, and tells how it had ended before that, if it had.
    ///
    /// # Errors
    ///
    /// If the system does not say.
    pub fn end(&mut self) -> io::Result<Ending> {
        if let Some(ending) = self.ended {
            return Ok(ending);
        }
        system::kill(&mut self.child);
        let ending = system::reap(&mut self.child, &self.limits)?;
        self.ended = Some(ending);
        Ok(ending)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Whoever wants to know how it ended has asked before.
        let _ = self.end();
    }
}
