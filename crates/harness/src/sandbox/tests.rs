use super::*;

const LIMITS: Limits =
    Limits { address_space: 4 << 30, cpu_seconds: 20, wall: Duration::from_secs(60), output: 1 << 16 };

fn shell(script: &str) -> Command {
    let mut command = Command::new("/bin/sh");
    command.args(["-c", script]);
    command
}

fn ended(script: &str, limits: &Limits) -> Ended {
    run(shell(script), limits).unwrap_or_else(|error| panic!("{script}: {error}"))
}

/// This test program again, to do one of the things below.
fn again(deed: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("the path of the test program"));
    command.args(["--exact", "sandbox::tests::the_child", "--nocapture"]).env("ASSAY_SANDBOX_DEED", deed);
    command
}

/// Not a test of its own: what the children of the tests below do.
#[test]
fn the_child() {
    match std::env::var("ASSAY_SANDBOX_DEED").as_deref() {
        Ok("reserve 1 GiB") => reserve(1 << 30),
        Ok("reserve 8 GiB") => reserve(8 << 30),
        Ok("abort") => std::process::abort(),
        _ => {}
    }
}

fn reserve(size: usize) {
    match Vec::<u8>::new().try_reserve_exact(size) {
        Ok(()) => println!("reserved"),
        Err(_) => println!("refused"),
    }
}

#[test]
fn exit_codes_and_both_streams_come_back() {
    let ended = ended("echo out; echo err >&2; exit 7", &LIMITS);
    assert_eq!(ended.ending, Ending::Exited(7));
    assert_eq!((ended.stdout.text().as_str(), ended.stderr.text().as_str()), ("out\n", "err\n"));
    assert_eq!((ended.stdout.dropped, ended.stderr.dropped), (0, 0));
}

#[test]
fn standard_input_is_empty() {
    let ended = ended("read line || echo nothing", &LIMITS);
    assert_eq!(ended.stdout.text(), "nothing\n");
}

#[test]
fn signals_are_told_by_number() {
    assert_eq!(ended("kill -SEGV $$", &LIMITS).ending, Ending::Signalled(libc::SIGSEGV));
    assert_eq!(run(again("abort"), &LIMITS).expect("started").ending, Ending::Signalled(libc::SIGABRT));
}

#[test]
fn a_program_that_is_not_there_is_an_error() {
    let error = run(Command::new("/nonexistent/program"), &LIMITS).expect_err("it cannot be started");
    assert_eq!(error.kind(), io::ErrorKind::NotFound);
}

#[test]
fn a_child_that_waits_for_ever_is_ended_by_the_wall_clock() {
    let limits = Limits { wall: Duration::from_millis(300), ..LIMITS };
    let ended = ended("echo before; sleep 1000", &limits);
    assert_eq!(ended.ending, Ending::TimedOut(Clock::Wall));
    assert_eq!(ended.stdout.text(), "before\n");
    assert!(ended.wall < Duration::from_secs(20), "{:?}", ended.wall);
}

#[test]
fn a_child_that_computes_for_ever_is_ended_by_its_processor_time() {
    let limits = Limits { cpu_seconds: 1, ..LIMITS };
    assert_eq!(ended("while :; do :; done", &limits).ending, Ending::TimedOut(Clock::Cpu));
}

#[test]
fn a_child_that_ignores_the_signal_is_ended_too() {
    let limits = Limits { cpu_seconds: 1, ..LIMITS };
    assert_eq!(ended("trap '' XCPU; while :; do :; done", &limits).ending, Ending::TimedOut(Clock::Cpu));
}

#[test]
fn a_flood_of_output_is_read_and_dropped() {
    let limits = Limits { output: 1000, ..LIMITS };
    let script = "i=0; while [ $i -lt 4000 ]; do echo 0123456789012345678901234567890123456789; i=$((i+1)); done";
    let ended = ended(script, &limits);
    assert_eq!(ended.ending, Ending::Exited(0));
    assert_eq!(ended.stdout.bytes.len(), 1000);
    assert_eq!(ended.stdout.dropped, 4000 * 41 - 1000);
}

#[test]
fn processes_that_are_left_behind_are_ended() {
    let start = Instant::now();
    let ended = ended("sleep 1000 & echo $!", &LIMITS);
    assert_eq!(ended.ending, Ending::Exited(0));
    assert!(start.elapsed() < Duration::from_secs(30), "the pipe of the one left behind was waited for");
    if !cfg!(target_os = "linux") {
        return; // nothing else says whether a process is there that is not a child
    }
    let pid: libc::pid_t = ended.stdout.text().trim().parse().expect("a process number");
    // Gone, or dead and not yet collected by whoever inherited it. It closes its pipes, which `run`
    // waits for, a moment before that.
    let stat = || std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let dead = |stat: &str| stat.is_empty() || stat.contains(") Z ") || stat.contains(") X ");
    while !dead(&stat()) {
        assert!(start.elapsed() < Duration::from_secs(30), "{}", stat());
        thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn no_core_is_dumped() {
    assert_eq!(ended("ulimit -c", &LIMITS).stdout.text(), "0\n");
}

#[test]
fn address_space_beyond_the_limit_is_refused() {
    if !limits_enforced() {
        eprintln!("not run: this system does not enforce a limit on address space");
        return;
    }
    for (deed, answer) in [("reserve 1 GiB", "reserved"), ("reserve 8 GiB", "refused")] {
        let ended = run(again(deed), &LIMITS).expect("started");
        assert_eq!(ended.ending, Ending::Exited(0), "{deed}: {}", ended.stderr.text());
        assert!(ended.stdout.text().contains(answer), "{deed}: {}", ended.stdout.text());
    }
}
