//! How a run of libFuzzer ended that found something, from what it wrote to its standard error.

use std::fmt;

/// What a finding is seen as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Way {
    /// A panic: of a target whose statement does not hold, or of the reader itself.
    Panic,
    /// Another end of the process: a signal, an exit.
    Ended,
    /// One file took more than `-timeout`.
    Timeout,
    /// The process took more than `-rss_limit_mb`, one allocation more than `-malloc_limit_mb`, or one more than there
    /// is.
    Memory,
}

impl fmt::Display for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Panic => "panic",
            Self::Ended => "end of the process",
            Self::Timeout => "timeout",
            Self::Memory => "memory",
        })
    }
}

/// The last line of a run that found something; behind it, what.
const SUMMARY: &str = "SUMMARY: libFuzzer: ";

/// What did not hold, in words, and what it was seen as.
///
/// # Errors
///
/// If nothing was found: libFuzzer itself could not go on.
pub fn ended(said: &str) -> Result<(Way, String), String> {
    let Some((_, summary)) = said.split_once(SUMMARY) else {
        return Err(format!("libFuzzer did not run: {}", said.lines().last().unwrap_or("it says nothing")));
    };
    let way = match summary.lines().next().unwrap_or_default().trim() {
        "timeout" => Some(Way::Timeout),
        "out-of-memory" => Some(Way::Memory),
        _ => None,
    };
    let mut lines = said.lines();
    // A panic that was caught is not why a later file took too much.
    if way.is_none() && lines.by_ref().any(|line| line.contains("panicked at ")) {
        return Ok((Way::Panic, lines.next().unwrap_or_default().to_owned()));
    }
    // So Rust's allocator says it, and the process aborts.
    let refused = |line: &&str| line.starts_with("memory allocation of ") && line.contains(" bytes failed");
    if way.is_none()
        && let Some(line) = said.lines().find(refused)
    {
        return Ok((Way::Memory, line.to_owned()));
    }
    let error = said.lines().find(|line| line.contains("ERROR: libFuzzer: "));
    Ok((way.unwrap_or(Way::Ended), error.unwrap_or("it does not say why").to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    // The lines that are looked at, as FuzzerLoop.cpp of libfuzzer-sys 0.4.13 writes them.
    const PANIC: &str = "\
        thread '<unnamed>' panicked at fuzz/src/engine.rs:30:9:\n\
        mutate: gguf-v3: it accepts what should be refused\n\
        ==7== ERROR: libFuzzer: deadly signal\n\
        SUMMARY: libFuzzer: deadly signal\n";
    const TIMEOUT: &str = "\
        ALARM: working on the last Unit for 11 seconds\n\
        ==7== ERROR: libFuzzer: timeout after 11 seconds\n\
        SUMMARY: libFuzzer: timeout\n\
        stat::number_of_executed_units: 12\n";
    const MEMORY: &str = "\
        ==7== ERROR: libFuzzer: out-of-memory (used: 2101Mb; limit: 2048Mb)\n\
        SUMMARY: libFuzzer: out-of-memory\n";
    // The first line is that of Rust's `std::alloc::handle_alloc_error`.
    const REFUSED: &str = "\
        memory allocation of 281474976710656 bytes failed\n\
        ==7== ERROR: libFuzzer: deadly signal\n\
        SUMMARY: libFuzzer: deadly signal\n";
    const SIGNAL: &str = "==7== ERROR: libFuzzer: deadly signal\nSUMMARY: libFuzzer: deadly signal\n";

    #[test]
    fn a_finding_tells_what_it_was_seen_as() {
        let seen = |said: &str| ended(said).expect("a finding");
        assert_eq!(seen(PANIC), (Way::Panic, "mutate: gguf-v3: it accepts what should be refused".to_owned()));
        assert_eq!(seen(TIMEOUT), (Way::Timeout, "==7== ERROR: libFuzzer: timeout after 11 seconds".to_owned()));
        assert_eq!(seen(MEMORY).0, Way::Memory);
        assert_eq!(seen(REFUSED), (Way::Memory, "memory allocation of 281474976710656 bytes failed".to_owned()));
        assert_eq!(seen(SIGNAL).0, Way::Ended);
        assert_eq!(seen(&format!("thread 'x' panicked at a:1:1:\nwords\n{TIMEOUT}")).0, Way::Timeout);
    }

    #[test]
    fn what_found_nothing_is_an_error() {
        let told = ended("INFO: Seed: 1\nno such file\n").expect_err("no finding");
        assert_eq!(told, "libFuzzer did not run: no such file");
        assert!(ended("").is_err());
    }
}
