//! The child processes that load ggml: this program again.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use gguf_spec::limits::GGML_ADDRESS_SPACE;

use crate::probe::About;
use crate::sandbox::{self, Clock, Ended, Ending, Limits};

/// How to start the child that loads ggml.
#[derive(Clone, Debug)]
pub struct Probe {
    /// The program.
    pub program: PathBuf,
    /// What comes before `--ggml DIR --mode MODE FILE`.
    pub arguments: Vec<OsString>,
}

impl Probe {
    /// Starts a child that loads the library of a directory and reads the files, and waits for its end.
    pub(crate) fn start(&self, ggml: &Path, arguments: &[&str], files: &[&Path], limits: &Limits) -> io::Result<Ended> {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).arg("--ggml").arg(ggml).args(arguments).args(files);
        // Else an abort starts a debugger, which takes a second and a hundred megabytes. Releases
        // that do not know the variable look for one in the path.
        command.env("GGML_NO_BACKTRACE", "1").env("PATH", "/dev/null");
        // Where the C library is that of GNU, large blocks get large pages: a release that fills 2 GiB
        // does so in half the time.
        command.env("GLIBC_TUNABLES", "glibc.malloc.hugetlb=1");
        sandbox::run(command, limits)
    }

    /// What the library of a directory says of itself.
    pub(crate) fn about(&self, ggml: &Path, arguments: &[&str]) -> Result<About, String> {
        let ended = self
            .start(ggml, &[&["--mode", "about"], arguments].concat(), &[], &limits(0))
            .map_err(|error| error.to_string())?;
        About::parse(&ended.stdout.text()).map_err(|reason| match (ended.ending, ended.stderr.text().trim()) {
            (Ending::Exited(_), "") => reason,
            (Ending::Exited(_), complaint) => format!("{reason} ({complaint})"),
            (ending, complaint) => format!("{reason} ({}; {complaint})", describe(ending)),
        })
    }
}

/// What a child that reads a file of this many bytes may use. The address space is part of what the
/// profiles state; the times are far above what a reader needs, which takes arrays one element at a
/// time.
pub(crate) fn limits(size: u64) -> Limits {
    let cpu_seconds = 20 + (size >> 22);
    Limits {
        address_space: GGML_ADDRESS_SPACE,
        cpu_seconds,
        wall: Duration::from_secs(6 * cpu_seconds),
        output: 512 << 20,
    }
}

/// How a child ended, in words.
pub(crate) fn describe(ending: Ending) -> String {
    match ending {
        Ending::Exited(code) => format!("exit code {code}"),
        Ending::Signalled(signal) => format!("signal {signal}"),
        Ending::TimedOut(Clock::Cpu) => "out of processor time".to_owned(),
        Ending::TimedOut(Clock::Wall) => "out of time".to_owned(),
    }
}
