//! A child whose parent is killed while the library spins with every signal blocked.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use libtest_mimic::Failed;

use crate::compiler::{Compiler, package};
use crate::{LIMIT, bad, start};

/// The word that makes the parent of this program.
pub(crate) const PARENT: &str = "__parent";

/// Tells the number of the child, and asks it for what never comes.
pub(crate) fn parent(library: &Path) -> ExitCode {
    // Of a thread that ends while the child is asked: that is not the end of the child.
    let started = thread::scope(|scope| scope.spawn(|| start(library, LIMIT)).join());
    let Ok(Ok(mut set)) = started else { return ExitCode::FAILURE };
    let mut out = std::io::stdout();
    if bad::dequantize(&mut set).is_err() || writeln!(out, "{}", gguf_spec::kernel::KernelSet::name(&set)).is_err() {
        return ExitCode::FAILURE;
    }
    let _ = bad::matmul(&mut set);
    ExitCode::FAILURE
}

/// The state of a process as Linux tells it, after the name of the program; `None` if it is gone.
fn state(pid: u32) -> Option<char> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat[stat.rfind(')')? + 1..].trim_start().chars().next()
}

/// Whether a process has every signal blocked that can be: the call has begun.
fn blocks(pid: u32) -> bool {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigBlk:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_some_and(|mask| mask & 0x2000 != 0)
}

fn within(what: &str, holds: impl Fn() -> bool) -> Result<(), Failed> {
    let begun = Instant::now();
    while !holds() {
        if begun.elapsed() > Duration::from_secs(20) {
            return Err(format!("not within 20 s: {what}").into());
        }
        thread::sleep(Duration::from_millis(5));
    }
    Ok(())
}

pub(crate) fn ends(compiler: &Compiler) -> Result<(), Failed> {
    let library = compiler.library(&package("tests/spins.c"))?;
    let mut parent = Command::new(std::env::current_exe()?).arg(PARENT).arg(&library).stdout(Stdio::piped()).spawn()?;
    let mut line = String::new();
    BufReader::new(parent.stdout.take().ok_or("no output")?).read_line(&mut line)?;
    let child: u32 = line.trim().parse()?;
    let spins = within("the library spins with SIGALRM blocked", || blocks(child));
    parent.kill()?;
    parent.wait()?;
    spins?;
    within("the child is gone", || state(child).is_none_or(|state| state == 'Z'))
}
