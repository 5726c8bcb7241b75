//! What a process uses, as Linux tells it below `/proc`.

use std::fs;
use std::process::Child;
use std::time::Duration;

use super::Usage;
use super::unix::{processor_time, ticks_per_second};

/// What a child uses; with `whole_group`, together with the live processes of its group. Those that
/// the child has started and waited for are always in.
pub(super) fn usage(child: &Child, whole_group: bool) -> Usage {
    let pid = child.id();
    let memory = Memory::of(pid);
    let mut usage = Usage { cpu: processor_time(pid), resident: memory.resident, peak_resident: memory.peak };
    let waited_for = Stat::of(pid).map_or(Duration::ZERO, |stat| stat.waited_for);
    let mut others = (Duration::ZERO, 0);
    if whole_group {
        for other in processes().filter(|&other| other != pid) {
            let Some(stat) = Stat::of(other).filter(|stat| stat.group == pid) else { continue };
            others.0 += stat.own + stat.waited_for;
            others.1 += Memory::of(other).resident.unwrap_or(0);
        }
    }
    usage.cpu = usage.cpu.map(|own| own + waited_for + others.0);
    usage.resident = usage.resident.map(|own| own + others.1);
    usage.peak_resident = usage.peak_resident.max(usage.resident);
    usage
}

/// Whether a child has children of its own; true where the system does not tell.
pub(super) fn has_children(child: &Child) -> bool {
    let Ok(threads) = fs::read_dir(format!("/proc/{}/task", child.id())) else { return true };
    threads.flatten().any(|thread| fs::read(thread.path().join("children")).map_or(true, |list| !list.is_empty()))
}

/// Makes the peak of the memory start again at what is in use now. Where the system does not allow
/// it, the peak is that of the life of the process.
pub(super) fn forget_peak(child: &Child) {
    let _ = fs::write(format!("/proc/{}/clear_refs", child.id()), "5");
}

fn processes() -> impl Iterator<Item = u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// Bytes of memory that are backed by pages.
struct Memory {
    resident: Option<u64>,
    peak: Option<u64>,
}

impl Memory {
    fn of(pid: u32) -> Self {
        let text = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
        let line = |name: &str| {
            let rest = text.lines().find_map(|line| line.strip_prefix(name))?;
            rest.trim().strip_suffix(" kB")?.parse::<u64>().ok()?.checked_mul(1024)
        };
        Self { resident: line("VmRSS:"), peak: line("VmHWM:") }
    }
}

/// What is read of `/proc/PID/stat`.
#[derive(Debug, PartialEq, Eq)]
struct Stat {
    group: u32,
    own: Duration,
    waited_for: Duration,
}

impl Stat {
    fn of(pid: u32) -> Option<Self> {
        Self::parse(&fs::read_to_string(format!("/proc/{pid}/stat")).ok()?, ticks_per_second())
    }

    /// The second field is the name of the program, in parentheses, and may hold anything.
    fn parse(line: &str, ticks: u64) -> Option<Self> {
        let fields: Vec<&str> = line[line.rfind(')')? + 1..].split_whitespace().collect();
        let time = |user: usize| {
            let ticks_of = |at: usize| fields.get(at)?.parse::<u64>().ok();
            let sum = ticks_of(user)?.checked_add(ticks_of(user + 1)?)?;
            Some(Duration::from_micros(sum.checked_mul(1_000_000)? / ticks))
        };
        Some(Self { group: fields.get(2)?.parse().ok()?, own: time(11)?, waited_for: time(13)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_program_does_not_confuse_the_fields() {
        let line = "17 (a) b (c)) S 1 16 15 0 -1 4194560 9 0 0 0 150 50 3 2 20 0 1 0 99";
        let stat = Stat { group: 16, own: Duration::from_secs(2), waited_for: Duration::from_millis(50) };
        assert_eq!(Stat::parse(line, 100), Some(stat));
        assert_eq!(Stat::parse("17 (a", 100), None);
        assert_eq!(Stat::parse("17 (a) S 1", 100), None);
    }

    #[test]
    fn this_process_is_measured() {
        let memory = Memory::of(std::process::id());
        assert!(memory.resident > Some(1 << 20) && memory.peak >= memory.resident);
        assert!(processor_time(std::process::id()).is_some());
        assert!(Stat::of(std::process::id()).is_some());
        assert!(processes().any(|pid| pid == std::process::id()));
    }
}
