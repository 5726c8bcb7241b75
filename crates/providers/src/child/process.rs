//! A child as the parent sees it: asked under a limit on time, and told apart by how it ended.

use std::ffi::OsStr;
use std::fmt;
use std::io::{self, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

use super::Host;
use super::frame::Frame;
use super::message::{Reply, Request};
use crate::complaint::{Complaint, last_lines};

/// Bytes kept of the end of what it writes to standard error.
const LAST_WORDS: usize = 1 << 12;

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

/// A running child. It is ended when this is dropped.
pub(super) struct Process {
    child: Child,
    requests: Sender<Vec<u8>>,
    replies: Receiver<io::Result<Option<Frame<Reply>>>>,
    complaint: Complaint,
}

impl Process {
    /// Starts a child for a library; the first answer is its own.
    pub(super) fn start(host: &Host, library: &Path, limit: Duration) -> io::Result<Self> {
        let seconds = limit.as_secs().max(1).to_string();
        let mut child = Command::new(&host.program)
            .args(&host.arguments)
            .args([library.as_os_str(), OsStr::new(&seconds)])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        let pipe = || io::Error::other("it has no standard input, output and error");
        let (stdin, stdout) = (child.stdin.take().ok_or_else(pipe)?, child.stdout.take().ok_or_else(pipe)?);
        let complaint = Complaint::listen(child.stderr.take().ok_or_else(pipe)?, LAST_WORDS);
        let (requests, to_send) = mpsc::channel();
        let (answered, replies) = mpsc::channel();
        // A thread of its own, because neither writing nor reading a pipe has a limit on time.
        thread::spawn(move || talk(stdin, stdout, &to_send, &answered));
        Ok(Self { child, requests, replies, complaint })
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
        match self.replies.recv_timeout(limit) {
            Ok(Ok(Some(frame))) => Ok(frame),
            Err(RecvTimeoutError::Timeout) => {
                let _ = self.child.kill();
                Err(Lost::Hangs(limit))
            }
            // It has closed its end, or a pipe has: by ending, or in the middle of an answer.
            Ok(Ok(None)) | Err(RecvTimeoutError::Disconnected) => Err(self.ended()),
            Ok(Err(error)) if is_end(&error) => Err(self.ended()),
            Ok(Err(error)) => Err(Lost::Nonsense(error.to_string())),
        }
    }

    fn ended(&mut self) -> Lost {
        let deadline = std::time::Instant::now() + AFTERMATH;
        let status = loop {
            match self.child.try_wait() {
                Ok(None) if std::time::Instant::now() < deadline => thread::sleep(Duration::from_millis(1)),
                Ok(status) => break status,
                Err(_) => break None,
            }
        };
        let how = status.map_or_else(|| "closing its output".to_owned(), how);
        Lost::Ended { how, words: last_lines(&self.complaint.complete(AFTERMATH)) }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
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

/// Reads the first answer, then sends requests and reads theirs, until either side is gone.
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
        if answered.send(answer).is_err() || over {
            return;
        }
        let Ok(bytes) = to_send.recv() else { return };
        last = stdin.write_all(&bytes).and_then(|()| stdin.flush());
    }
}
