//! What a process writes to its standard error: the end of it is kept, and the lines that tell what went wrong
//! are found in it.

use std::collections::VecDeque;
use std::io::{self, Read};
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use super::session::LAST_WORDS;
use crate::sandbox::last_lines;

/// The end of what a process writes to its standard error.
#[derive(Debug)]
pub(super) struct Complaint {
    text: Arc<Mutex<VecDeque<u8>>>,
    closed: Receiver<()>,
}

impl Complaint {
    pub(super) fn listen(mut pipe: impl Read + Send + 'static, most: usize) -> Self {
        let text = Arc::new(Mutex::new(VecDeque::new()));
        let (sender, closed) = mpsc::channel();
        let shared = Arc::clone(&text);
        thread::spawn(move || {
            let mut piece = vec![0; 1 << 14];
            loop {
                match pipe.read(&mut piece) {
                    Ok(0) => break,
                    Ok(n) => {
                        let mut text = shared.lock().unwrap_or_else(PoisonError::into_inner);
                        text.extend(&piece[..n]);
                        let excess = text.len().saturating_sub(most);
                        text.drain(..excess);
                    }
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Err(_) => break,
                }
            }
            // Nobody listens any more if the session is over.
            let _ = sender.send(());
        });
        Self { text, closed }
    }

    pub(super) fn forget(&self) {
        self.text.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    pub(super) fn text(&self) -> String {
        let mut text = self.text.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(text.make_contiguous()).into_owned()
    }

    /// The last bytes as they came, at most so many; they can be looked at after the process has ended.
    pub(super) fn end(&self, most: usize) -> impl FnOnce() -> Vec<u8> + use<> {
        let text = Arc::clone(&self.text);
        move || {
            let text = text.lock().unwrap_or_else(PoisonError::into_inner);
            text.iter().skip(text.len().saturating_sub(most)).copied().collect()
        }
    }

    /// All of it, of a process that has ended.
    pub(super) fn complete(&self) -> String {
        let _ = self.closed.recv_timeout(LAST_WORDS);
        self.text()
    }
}

/// What went wrong, on one line: where a program panicked and why, or the last exception of Python and where it
/// was raised. Of anything else the end, where the reason is.
pub(super) fn telling(text: &str) -> String {
    panic(text).or_else(|| exception(text)).unwrap_or_else(|| {
        let lines = text.lines().filter(|line| !is_noise(line.trim()));
        last_lines(&lines.collect::<Vec<_>>().join("\n"))
    })
}

/// Marks below a line of source, and advice, say nothing.
fn is_noise(line: &str) -> bool {
    line.starts_with("note: run with `RUST_BACKTRACE") || line.bytes().all(|b| matches!(b, b'~' | b'^' | b' '))
}

/// The first panic: those after it come from clearing up.
fn panic(text: &str) -> Option<String> {
    let mut lines = text.lines().map(str::trim);
    let place = lines.find_map(|line| Some(&line[line.find("panicked at")?..]))?;
    let why =
        lines.find(|line| !line.is_empty()).filter(|line| !line.starts_with("note: ") && *line != "stack backtrace:");
    Some(why.map_or_else(|| place.to_owned(), |why| format!("{place} / {why}")))
}

/// The last exception of Python: `file.py:3: ValueError: why`.
fn exception(text: &str) -> Option<String> {
    let (_, last) = text.rsplit_once("\n  File \"")?;
    let (place, after) = last.split_once('\n').unwrap_or((last, ""));
    let (path, place) = place.split_once("\", line ")?;
    let line: String = place.chars().take_while(char::is_ascii_digit).collect();
    let why = after.lines().find(|line| line.starts_with(|c: char| !c.is_whitespace()))?;
    let file = path.rsplit(['/', '\\']).next().unwrap_or(path);
    Some(format!("{file}:{line}: {}", why.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_complaint_is_kept() {
        let complaint = Complaint::listen(&b"0123456789"[..], 4);
        assert_eq!(complaint.complete(), "6789");
    }

    #[test]
    fn what_tells_is_the_panic_or_the_exception_or_the_end() {
        for (text, told) in [
            ("a\n\nb\nc \n d\n", "b / c / d"),
            ("\n", ""),
            (
                "log\n\nthread 'main' (7) panicked at src/lib.rs:3:5:\nindex out of bounds\nstack backtrace:\n  0: a\nnote: b\n",
                "panicked at src/lib.rs:3:5: / index out of bounds",
            ),
            (
                "thread 'main' panicked at src/lib.rs:3:5:\nnote: run with `RUST_BACKTRACE=1`",
                "panicked at src/lib.rs:3:5:",
            ),
            (
                "Traceback (most recent call last):\n  File \"/a/b.py\", line 1, in <module>\n    f()\n    ~^^\n  File \"/a/c d.py\", line 22, in f\n    g\nKeyError: 'x'\n",
                "c d.py:22: KeyError: 'x'",
            ),
            ("x = y\n    ~~~^^^\nbroken", "x = y / broken"),
        ] {
            assert_eq!(telling(text), told, "{text}");
        }
    }

    #[test]
    fn half_a_complaint_is_told_as_it_is() {
        for text in ["\n  File \"", "\n  File \"x\", line ", "panicked at", "\n  File \"x\", line 3\n  y"] {
            assert!(!telling(text).is_empty(), "{text}");
        }
    }
}
