//! A fork server: ggml's library, loaded once, reading file after file for a fuzzer.
//!
//! The program that fuzzes starts the server as a process of its own, under the limits that the profiles
//! state. The server loads the library and forks a worker, which reads one file after another; when one
//! ends the worker, the server says so in its place and forks the next. So most files take a fraction of
//! what a process each would take, and none of them reaches the fuzzer.
//!
//! A request is a line, the word of the mode and the path of a file. An answer is a line, too: a
//! [`Reply`], or `{"ended": ".."}` with how the worker ended.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{ChildStdin, ChildStdout, Command};
use std::thread;
use std::time::Duration;

use assay_providers::ggml::{Answer, Library, Mode};
use gguf_spec::limits::GGML_ADDRESS_SPACE;
use serde_json::{Value as Json, json};

use crate::child::describe;
use crate::probe::Reply;
use crate::sandbox::fork::{Times, forked};
use crate::sandbox::{self, Ending, Limits, Running};

/// Files that one worker reads before the next one takes over, with memory as it was at the start.
const FILES_OF_A_WORKER: usize = 500;

/// Seconds of processor time of a worker. A file takes well under a millisecond.
const CPU_SECONDS: u32 = 20;

/// Seconds on the clock of a worker, the time between requests included.
const WALL_SECONDS: u32 = 600;

/// What a worker that has done its work exits with, and one that has seen the end of the requests.
const NEXT: i32 = 0;
const END: i32 = 1;

/// What came of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Seen {
    /// The library answered.
    Reply(Reply),
    /// The worker ended: an abort of the library, if that is how.
    Ended {
        /// How, in words.
        how: String,
        /// Whether the library aborted.
        aborted: bool,
    },
}

/// A running server.
#[derive(Debug)]
pub struct Server {
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    /// Ended when this is dropped.
    _running: Running,
}

impl Server {
    /// Starts a server: a command of which the program calls [`serve`].
    ///
    /// # Errors
    ///
    /// If it cannot be started.
    pub fn start(mut command: Command) -> io::Result<Self> {
        // Else an abort starts a debugger.
        command.env("GGML_NO_BACKTRACE", "1").env("PATH", "/dev/null");
        let limits = Limits {
            address_space: GGML_ADDRESS_SPACE,
            // That of a worker is kept by the server.
            cpu_seconds: u64::MAX,
            wall: Duration::MAX,
            output: usize::MAX,
        };
        let mut running = sandbox::spawn(command, &limits)?;
        let pipe = || io::Error::other("it has no standard input, output and error");
        let stdin = running.stdin().ok_or_else(pipe)?;
        let stdout = running.stdout().ok_or_else(pipe)?;
        let mut stderr = running.stderr().ok_or_else(pipe)?;
        // What an abort says goes nowhere; unread, it would stop the worker.
        thread::spawn(move || {
            let mut piece = [0; 4096];
            while stderr.read(&mut piece).is_ok_and(|n| n > 0) {}
        });
        Ok(Self { stdin, stdout: BufReader::new(stdout), _running: running })
    }

    /// Lets the library read a file.
    ///
    /// # Errors
    ///
    /// If the server is gone or says what it should not.
    pub fn ask(&mut self, mode: Mode, path: &Path) -> io::Result<Seen> {
        let path = path.to_str().filter(|path| !path.contains('\n'));
        let path = path.ok_or_else(|| io::Error::other("a path that is no line of text"))?;
        writeln!(self.stdin, "{} {path}", mode.name())?;
        let mut line = String::new();
        if self.stdout.read_line(&mut line)? == 0 {
            return Err(io::Error::other("the server of ggml is gone"));
        }
        let json: Json = serde_json::from_str(&line)?;
        if let Some(how) = json["ended"].as_str() {
            return Ok(Seen::Ended { how: how.to_owned(), aborted: json["aborted"] == json!(true) });
        }
        match Reply::parse(&line) {
            Ok(Some(reply)) => Ok(Seen::Reply(reply)),
            Ok(None) => Err(io::Error::other("an empty answer")),
            Err(reason) => Err(io::Error::other(reason)),
        }
    }
}

/// Reads what standard input names with the library of a directory, until it ends. Runs in the server.
///
/// # Errors
///
/// If the library cannot be loaded, or no worker can be forked.
pub fn serve(directory: &Path) -> io::Result<()> {
    let library = Library::load(directory).map_err(io::Error::other)?;
    let times = Times { cpu_seconds: CPU_SECONDS, wall_seconds: WALL_SECONDS };
    loop {
        match forked(times, || work(&library))? {
            Ending::Exited(NEXT) => {}
            Ending::Exited(END) => return Ok(()),
            ending => {
                let aborted = ending == Ending::Signalled(libc::SIGABRT);
                let mut out = io::stdout().lock();
                writeln!(out, "{}", json!({"ended": describe(ending), "aborted": aborted}))?;
                out.flush()?;
            }
        }
    }
}

/// Reads some files. Runs in the worker, which the library may end at any time.
fn work(library: &Library) -> i32 {
    for _ in 0..FILES_OF_A_WORKER {
        // One request is on its way at a time: none is lost in the buffer of a worker that ends.
        let mut line = String::new();
        match io::stdin().read_line(&mut line) {
            Ok(0) | Err(_) => return END,
            Ok(_) => {}
        }
        let reply = read(library, line.trim_end()).unwrap_or_else(|message| Reply::Error { message });
        let mut out = io::stdout().lock();
        if writeln!(out, "{}", reply.to_json()).and_then(|()| out.flush()).is_err() {
            return END;
        }
    }
    NEXT
}

fn read(library: &Library, request: &str) -> Result<Reply, String> {
    let (mode, path) = request.split_once(' ').ok_or("not a request")?;
    let mode = Mode::from_name(mode).ok_or("not a mode")?;
    match library.read(Path::new(path), mode).map_err(|error| error.to_string())? {
        Answer::Refuse(message) => Ok(Reply::Refuse { message }),
        Answer::Accept(file) => {
            let document = file.document().map_err(|error| error.to_string())?;
            Ok(Reply::Accept { document, unseen: Vec::new() })
        }
    }
}
