//! A child as the parent sees it: asked under a limit on time, and told apart by how it ended.

use std::ffi::OsStr;
use std::fmt;
use std::io::{self, Write};
use std::path::Path;
use std::process::{self, Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use super::Host;
use super::frame::Frame;
use super::message::{Reply, Request};
use crate::complaint::{Complaint, last_lines};
use crate::group;

/// Bytes kept of the end of what it writes to standard error.
const LAST_WORDS: usize = 1 << 12;

/// How often it is looked whether it has ended: a process that it has started may hold its output open.
const LOOK: Duration = Duration::from_millis(50);

/// How long the end of its output is waited for when it is gone.
const AFTERMATH: Duration = Duration::from_secs(1);

/// Why a child gives no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Lost {
    /// It did not answer in time, and was ended.
    Hangs(Duration),
    /// It is gone.
    Ended {
        /// How, in words.
        how: String,
        /// What it last said, on one line; may be empty.
        words: String,
    },
    /// It answers what is no answer.
    Nonsense(String),
}

impl fmt::Display for Lost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Hangs(limit) => write!(f, "no answer within {} s: it was ended", limit.as_secs_f64()),
            Self::Ended { how, words } if words.is_empty() => write!(f, "the process ended by {how}"),
            Self::Ended { how, words } => write!(f, "the process ended by {how}: {words}"),
            Self::Nonsense(what) => write!(f, "the process answers what is no answer: {what}"),
        }
    }
}

/// A running child. It is ended when this is dropped, with all processes of its group.
pub(super) struct Process {
    /// Waited for when this is dropped or it has ended, never without ending its group before.
    child: Child,
    status: Option<ExitStatus>,
    requests: Sender<Vec<u8>>,
    replies: Receiver<io::Result<Option<Frame<Reply>>>>,
    complaint: Complaint,
}

impl Process {
    /// Starts a child for a library; the first answer is its own.
    pub(super) fn start(host: &Host, library: &Path, limit: Duration) -> io::Result<Self> {
        let seconds = limit.as_secs().max(1).to_string();
        let mut command = Command::new(&host.program);
        command.args(&host.arguments).args([library.as_os_str(), OsStr::new(&seconds)]).arg(process::id().to_string());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        group::lead(&mut command);
        let (requests, to_send) = mpsc::channel();
        let (answered, replies) = mpsc::channel();
        let (started, child) = mpsc::channel();
        // A thread of its own, because neither writing nor reading a pipe has a limit on time. It starts the child,
        // which on Linux is ended when the thread that has started it ends.
        thread::spawn(move || {
            let pipe = || io::Error::other("it has no standard input, output and error");
            let spawned = command.spawn().and_then(|mut child| {
                let pipes = child.stdin.take().zip(child.stdout.take()).ok_or_else(pipe)?;
                let complaint = Complaint::listen(child.stderr.take().ok_or_else(pipe)?, LAST_WORDS);
                Ok((pipes, (child, complaint)))
            });
            match spawned {
                Ok(((stdin, stdout), child)) => {
                    if started.send(Ok(child)).is_ok() {
                        talk(stdin, stdout, &to_send, &answered);
                    }
                }
                // Whoever waits for it is told.
                Err(error) => drop(started.send(Err(error))),
            }
        });
        let gone = |_| io::Error::other("the thread that starts it is gone");
        let (child, complaint) = child.recv().map_err(gone)??;
        Ok(Self { child, status: None, requests, replies, complaint })
    }

    /// Sends a request, and waits for the answer. After an error the process is of no use.
    pub(super) fn ask(
        &mut self,
        request: &Request,
        parts: Vec<Vec<u8>>,
        limit: Duration,
    ) -> Result<Frame<Reply>, Lost> {
        self.complaint.forget();
        let bytes = Frame { message: request, parts }.to_bytes().map_err(|error| Lost::Nonsense(error.to_string()))?;
        // If the thread is gone, so is the process, which the answer tells.
        let _ = self.requests.send(bytes);
        self.answer(limit)
    }

    /// Waits for the next answer.
    pub(super) fn answer(&mut self, limit: Duration) -> Result<Frame<Reply>, Lost> {
        match self.next(limit) {
            Ok(Ok(Some(frame))) => Ok(frame),
            Err(RecvTimeoutError::Timeout) if self.status.is_none() => {
                self.end();
                Err(Lost::Hangs(limit))
            }
            // It has ended, or closed its end, or a pipe has: in the middle of an answer.
            Ok(Ok(None)) | Err(_) => Err(self.ended()),
            Ok(Err(error)) if is_end(&error) => Err(self.ended()),
            Ok(Err(error)) => Err(Lost::Nonsense(error.to_string())),
        }
    }

    /// The next that comes of its output within a time. When it has ended, so do the processes that it has left,
    /// and with them its output.
    fn next(&mut self, limit: Duration) -> Result<io::Result<Option<Frame<Reply>>>, RecvTimeoutError> {
        let begun = Instant::now();
        loop {
            let left = limit.saturating_sub(begun.elapsed());
            match self.replies.recv_timeout(left.min(LOOK)) {
                Err(RecvTimeoutError::Timeout) if self.has_ended() => {
                    self.end();
                    return self.replies.recv_timeout(AFTERMATH);
                }
                Err(RecvTimeoutError::Timeout) if !left.is_zero() => {}
                other => return other,
            }
        }
    }

    fn has_ended(&mut self) -> bool {
        self.status.is_some() || group::has_ended(&mut self.child).unwrap_or(false)
    }

    /// Ends its group, and waits for it.
    fn end(&mut self) {
        if self.status.is_none() {
            group::kill(&mut self.child);
            self.status = self.child.wait().ok();
        }
    }

    fn ended(&mut self) -> Lost {
        let deadline = Instant::now() + AFTERMATH;
        while !self.has_ended() && Instant::now() < deadline {
            thread::sleep(Duration::from_millis(1));
        }
        // Else it was ended here, and had closed its output.
        let by_itself = self.has_ended();
        self.end();
        let how = self.status.filter(|_| by_itself).map_or_else(|| "closing its output".to_owned(), how);
        Lost::Ended { how, words: last_lines(&self.complaint.complete(AFTERMATH)) }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.end();
    }
}

fn is_end(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::UnexpectedEof | io::ErrorKind::BrokenPipe)
}

fn how(status: ExitStatus) -> String {
    #[cfg(unix)]
    if let Some(number) = std::os::unix::process::ExitStatusExt::signal(&status) {
        return crate::signal::describe(number);
    }
    status.code().map_or_else(|| status.to_string(), |code| format!("exit code {code}"))
}

/// Reads the first answer, then sends requests and reads theirs, until the process is of no more use: when it is gone,
/// how it ended is still to be seen, and this thread ends after that.
fn talk(
    mut stdin: ChildStdin,
    mut stdout: ChildStdout,
    to_send: &Receiver<Vec<u8>>,
    answered: &Sender<io::Result<Option<Frame<Reply>>>>,
) {
    let mut last = Ok(());
    loop {
        let answer = last.and_then(|()| Frame::read(&mut stdout));
        let over = !matches!(answer, Ok(Some(_)));
        if answered.send(answer).is_err() {
            return;
        }
        if over {
            return to_send.iter().for_each(drop);
        }
        let Ok(bytes) = to_send.recv() else { return };
        last = stdin.write_all(&bytes).and_then(|()| stdin.flush());
    }
}
