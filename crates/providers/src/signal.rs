//! The names of signals that end programs which are wrong.

/// What a signal of this number says. The numbers are those of every Unix that is supported, but for the bus error.
#[must_use]
pub fn name(signal: i32) -> Option<&'static str> {
    const BUS_ERROR: i32 = if cfg!(any(target_os = "linux", target_os = "android")) { 7 } else { 10 };
    Some(match signal {
        4 => "illegal instruction",
        5 => "trap",
        6 => "abort",
        8 => "arithmetic fault",
        9 => "killed",
        11 => "segmentation fault",
        15 => "terminated",
        BUS_ERROR => "bus error",
        _ => return None,
    })
}

/// A signal in words: its number, and its name if it has one here.
#[must_use]
pub fn describe(signal: i32) -> String {
    match name(signal) {
        Some(name) => format!("signal {signal} ({name})"),
        None => format!("signal {signal}"),
    }
}
