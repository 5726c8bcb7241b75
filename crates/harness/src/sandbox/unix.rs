//! Limits and signals, by system calls.
#![allow(unsafe_code)]

use std::io;
use std::mem::MaybeUninit;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};

#[cfg(target_os = "linux")]
pub(super) use super::linux::{forget_peak, has_children, usage};
#[cfg(not(target_os = "linux"))]
pub(super) use unmeasured::{forget_peak, has_children, usage};

use assay_providers::group;
pub(super) use assay_providers::group::{has_ended, kill};

use super::{Clock, Ending, Limits};

/// A resource and the most that a child may use of it: when it is told, and when it is ended.
struct Limit {
    resource: Resource,
    soft: libc::rlim_t,
    hard: libc::rlim_t,
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
type Resource = libc::__rlimit_resource_t;
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
type Resource = libc::c_int;

/// Makes the command start its child in a process group of its own, under the limits.
pub(super) fn prepare(command: &mut Command, limits: &Limits) {
    let mut list = vec![
        Limit { resource: libc::RLIMIT_CORE, soft: 0, hard: 0 },
        // A second between the signal that tells and the one that ends tells the two apart.
        Limit { resource: libc::RLIMIT_CPU, soft: limits.cpu_seconds, hard: limits.cpu_seconds.saturating_add(1) },
    ];
    if cfg!(target_os = "linux") {
        list.push(Limit { resource: libc::RLIMIT_AS, soft: limits.address_space, hard: limits.address_space });
    }
    for limit in &mut list {
        // A limit can be lowered, not raised.
        let most = hard_limit(limit.resource);
        limit.soft = limit.soft.min(most);
        limit.hard = limit.hard.min(most);
    }
    group::lead(command);
    let apply = move || {
        for limit in &list {
            let value = libc::rlimit { rlim_cur: limit.soft, rlim_max: limit.hard };
            // SAFETY: the pointer is to a value that lives during the call.
            if unsafe { libc::setrlimit(limit.resource, &raw const value) } != 0 {
                return Err(io::Error::last_os_error());
            }
        }
        // SAFETY: takes no pointers. The thread that starts the child waits for it, so the signal
        // does not come before its time.
        #[cfg(target_os = "linux")]
        unsafe {
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL)
        };
        Ok(())
    };
    // SAFETY: between fork and exec `apply` makes system calls only, on memory that was prepared
    // before: no allocation, no lock, nothing that another thread could have held at the fork.
    unsafe { command.pre_exec(apply) };
}

fn hard_limit(resource: Resource) -> libc::rlim_t {
    let mut value = MaybeUninit::<libc::rlimit>::zeroed();
    // SAFETY: the pointer is to memory of the right size and alignment; the call fills it or fails.
    let failed = unsafe { libc::getrlimit(resource, value.as_mut_ptr()) } != 0;
    if failed {
        return libc::RLIM_INFINITY;
    }
    // SAFETY: zeroes are a valid value, and the call has filled it.
    unsafe { value.assume_init() }.rlim_max
}

/// Waits for the child, which has ended or was killed, and tells how it ended.
pub(super) fn reap(child: &mut Child, limits: &Limits) -> io::Result<Ending> {
    let pid = libc::pid_t::try_from(child.id()).map_err(io::Error::other)?;
    let mut status = 0;
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: both pointers are to memory of the right size and alignment.
    while unsafe { libc::wait4(pid, &raw mut status, 0, usage.as_mut_ptr()) } < 0 {
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
    // SAFETY: zeroes are a valid value, and the call has filled it.
    let usage = unsafe { usage.assume_init() };
    let used = usage.ru_utime.tv_sec + usage.ru_stime.tv_sec;
    let spent = u64::try_from(used).is_ok_and(|used| used >= limits.cpu_seconds);
    Ok(match ending(status) {
        Ending::Signalled(libc::SIGKILL) if spent => Ending::TimedOut(Clock::Cpu),
        ending => ending,
    })
}

/// How a process ended, from what the system says of one it was waited for.
pub(super) fn ending(status: libc::c_int) -> Ending {
    if libc::WIFEXITED(status) {
        return Ending::Exited(libc::WEXITSTATUS(status));
    }
    match libc::WTERMSIG(status) {
        libc::SIGXCPU => Ending::TimedOut(Clock::Cpu),
        signal => Ending::Signalled(signal),
    }
}

/// The processor time of a process with all its threads, ended ones too; `None` if it is gone.
#[cfg(target_os = "linux")]
pub(super) fn processor_time(pid: u32) -> Option<std::time::Duration> {
    let mut clock = MaybeUninit::<libc::clockid_t>::zeroed();
    let pid = libc::pid_t::try_from(pid).ok()?;
    // SAFETY: the pointer is to memory of the right size and alignment.
    if unsafe { libc::clock_getcpuclockid(pid, clock.as_mut_ptr()) } != 0 {
        return None;
    }
    let mut time = MaybeUninit::<libc::timespec>::zeroed();
    // SAFETY: the call before has filled the clock; the pointer is to memory of the right size and
    // alignment. A process that has ended in between makes the call fail.
    if unsafe { libc::clock_gettime(clock.assume_init(), time.as_mut_ptr()) } != 0 {
        return None;
    }
    // SAFETY: zeroes are a valid value, and the call has filled it.
    let time = unsafe { time.assume_init() };
    Some(std::time::Duration::new(u64::try_from(time.tv_sec).ok()?, u32::try_from(time.tv_nsec).ok()?))
}

/// How many of the ticks in which the system counts processor time make a second.
#[cfg(target_os = "linux")]
pub(super) fn ticks_per_second() -> u64 {
    // SAFETY: takes no pointers.
    u64::try_from(unsafe { libc::sysconf(libc::_SC_CLK_TCK) }).ok().filter(|&ticks| ticks > 0).unwrap_or(100)
}

/// Unix without Linux's way of looking at another process.
#[cfg(not(target_os = "linux"))]
mod unmeasured {
    use super::super::Usage;
    use std::process::Child;

    /// Nothing is measured.
    pub(in super::super) fn usage(_child: &Child, _whole_group: bool) -> Usage {
        Usage::default()
    }

    /// Nobody tells.
    pub(in super::super) fn has_children(_child: &Child) -> bool {
        true
    }

    /// Nothing is measured, so there is no peak to forget.
    pub(in super::super) fn forget_peak(_child: &Child) {}
}
