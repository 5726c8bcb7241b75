//! Where a kernel was that read or wrote what it should not: said in the moment the system ends the process.
//!
//! The operands of the call are written down before it. A handler of SIGSEGV and SIGBUS finds the operand next to
//! the address, writes a line to standard error, and lets the signal end the process. A library that has nearly all
//! of the memory that it may have is told so too: a null pointer is what it gets when it asks for more.
#![allow(unsafe_code)]

use std::mem::MaybeUninit;
use std::ptr;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use super::streams::MEMORY;

/// What a call touches, for the handler.
pub(super) const NAMES: [&str; 4] = ["weights", "activations", "ids", "result"];

/// Start and end of each, by the places of the names; both 0 if the call has none.
static PLACES: [[AtomicUsize; 2]; NAMES.len()] = [const { [const { AtomicUsize::new(0) }; 2] }; NAMES.len()];

/// How far from an operand an address is told in bytes of it: as far as nothing else lies there.
const NEAR: usize = 1 << 16;

/// Writes down an operand; `which` is a place of [`NAMES`].
pub(super) fn note(which: usize, bytes: &[u8]) {
    let range = bytes.as_ptr_range();
    PLACES[which][0].store(range.start.addr(), SeqCst);
    PLACES[which][1].store(range.end.addr(), SeqCst);
}

/// Forgets all operands.
pub(super) fn forget() {
    PLACES.iter().flatten().for_each(|place| place.store(0, SeqCst));
}

/// Installs the handler. Where that fails, a crash is told by its signal alone.
pub(super) fn watch() {
    let mut action = MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: zeroes are a valid value of every field; the pointers are to values that live during the calls. The
    // handler has the signature that SA_SIGINFO asks for, and does what may be done in a handler (see there).
    unsafe {
        let action = action.assume_init_mut();
        action.sa_sigaction = handle as extern "C" fn(_, _, _) as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_RESETHAND;
        libc::sigemptyset(&raw mut action.sa_mask);
        libc::sigaction(libc::SIGSEGV, action, ptr::null_mut());
        libc::sigaction(libc::SIGBUS, action, ptr::null_mut());
    }
}

/// Runs in the middle of anything: takes no lock, no memory, and calls `open`, `read`, `close`, `sysconf` and `write`
/// alone. It returns to the instruction that failed, which fails again, now without a handler (SA_RESETHAND).
extern "C" fn handle(_signal: libc::c_int, info: *mut libc::siginfo_t, _context: *mut libc::c_void) {
    // SAFETY: the system gives a valid pointer; of both signals the address is a field.
    let address = unsafe { (*info).si_addr() }.addr();
    let mut line = Line::EMPTY;
    tell(address, &mut line);
    tell_memory(memory_in_use(), &mut line);
    line.push("\n");
    // SAFETY: the pointer is to as many bytes. If nobody reads them, that is no fault.
    unsafe { libc::write(libc::STDERR_FILENO, line.bytes.as_ptr().cast(), line.len) };
}

/// A line without memory of the heap; what does not fit is cut.
struct Line {
    bytes: [u8; 192],
    len: usize,
}

impl Line {
    const EMPTY: Self = Self { bytes: [0; 192], len: 0 };

    fn push(&mut self, text: &str) {
        for &byte in text.as_bytes() {
            if let Some(place) = self.bytes.get_mut(self.len) {
                *place = byte;
                self.len += 1;
            }
        }
    }

    fn number(&mut self, number: usize) {
        if number >= 10 {
            self.number(number / 10);
        }
        self.push(["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"][number % 10]);
    }
}

fn tell(address: usize, line: &mut Line) {
    let mut nearest: Option<(usize, usize, usize, &str)> = None;
    for (place, name) in PLACES.iter().zip(NAMES) {
        let [start, end] = [place[0].load(SeqCst), place[1].load(SeqCst)];
        // How far before it, or past it; one of them is 0.
        let (before, past) = (start.saturating_sub(address), address.saturating_add(1).saturating_sub(end));
        let distance = before.max(past);
        if end != 0 && distance <= NEAR && nearest.is_none_or(|(least, ..)| distance < least) {
            nearest = Some((distance, start, end, name));
        }
    }
    let Some((_, start, end, name)) = nearest else {
        line.push("touched an address far from every operand");
        return;
    };
    line.push("touched ");
    if address < start {
        line.number(start - address);
        line.push(" bytes before the start of the ");
    } else if address >= end {
        line.number(address - end);
        line.push(" bytes past the end of the ");
    } else {
        line.number(address - start);
        line.push(" bytes into the ");
    }
    line.push(name);
    if (start..end).contains(&address) {
        line.push(", which may only be read");
    }
}

/// Tells of the memory in use, if that is nearly all that there may be; of more than that, there is no limit.
fn tell_memory(bytes: u64, line: &mut Line) {
    if bytes > MEMORY / 8 * 7 && bytes <= MEMORY {
        let mib = |bytes: u64| usize::try_from(bytes >> 20).unwrap_or(usize::MAX);
        line.push(", with ");
        line.number(mib(bytes));
        line.push(" MiB of memory in use, of at most ");
        line.number(mib(MEMORY));
        line.push(" MiB");
    }
}

/// Bytes of memory that this process may write, as Linux tells them; 0 elsewhere.
pub(super) fn memory_in_use() -> u64 {
    let mut text = [0; 128];
    // SAFETY: the path ends with a zero, and `text` is as long as is said; all four may be called in a handler.
    let (read, page) = unsafe {
        let file = libc::open(c"/proc/self/statm".as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC);
        let read = libc::read(file, text.as_mut_ptr().cast(), text.len());
        libc::close(file);
        (read, libc::sysconf(libc::_SC_PAGESIZE))
    };
    let text = &text[..usize::try_from(read).unwrap_or(0)];
    let pages = text.split(|byte| *byte == b' ').nth(5).and_then(|field| str::from_utf8(field).ok()?.parse().ok());
    pages.unwrap_or(0_u64).saturating_mul(u64::try_from(page).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(address: usize) -> String {
        let mut line = Line::EMPTY;
        tell(address, &mut line);
        String::from_utf8(line.bytes[..line.len].to_vec()).unwrap()
    }

    #[test]
    fn memory_is_told_of_where_it_is_nearly_all() {
        let told = |bytes| {
            let mut line = Line::EMPTY;
            tell_memory(bytes, &mut line);
            String::from_utf8(line.bytes[..line.len].to_vec()).unwrap()
        };
        assert_eq!(told(6 << 30), "");
        assert_eq!(told(9 << 30), "");
        assert_eq!(told(8191 << 20), ", with 8191 MiB of memory in use, of at most 8192 MiB");
        let used = memory_in_use();
        assert!(!cfg!(target_os = "linux") || (used > 1 << 16 && used < 1 << 40), "{used} bytes");
    }

    #[test]
    fn an_address_is_told_by_the_operand_that_is_near() {
        let bytes = [0; 1200];
        note(1, &bytes[..]);
        let start = bytes.as_ptr().addr();
        assert_eq!(told(start + 1200), "touched 0 bytes past the end of the activations");
        assert_eq!(told(start + 1217), "touched 17 bytes past the end of the activations");
        assert_eq!(told(start - 4), "touched 4 bytes before the start of the activations");
        assert_eq!(told(start + 1000), "touched 1000 bytes into the activations, which may only be read");
        assert_eq!(told(0), "touched an address far from every operand");
        forget();
        assert_eq!(told(start), "touched an address far from every operand");
    }
}
