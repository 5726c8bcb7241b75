//! What a child process writes to its standard error: the end of it is kept.

use std::collections::VecDeque;
use std::io::{self, Read};
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// The end of what a process writes to its standard error.
#[derive(Debug)]
pub struct Complaint {
    text: Arc<Mutex<VecDeque<u8>>>,
    closed: Receiver<()>,
}

impl Complaint {
    /// Reads a pipe to its end on a thread of its own, keeping at most so many of the last bytes.
    pub fn listen(mut pipe: impl Read + Send + 'static, most: usize) -> Self {
        let text = Arc::new(Mutex::new(VecDeque::new()));
        let (sender, closed) = mpsc::channel();
        let shared = Arc::clone(&text);
        thread::spawn(move || {
            let mut piece = vec![0; 1 << 14];
            loop {
                match pipe.read(&mut piece) {
                    Ok(0) => break,
                    Ok(n) => {
                        let mut text = lock(&shared);
                        text.extend(&piece[..n]);
                        let excess = text.len().saturating_sub(most);
                        text.drain(..excess);
                    }
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Err(_) => break,
                }
            }
            // Nobody listens any more if the process is of no more use.
            let _ = sender.send(());
        });
        Self { text, closed }
    }

    /// Forgets what has been written so far.
    pub fn forget(&self) {
        lock(&self.text).clear();
    }

    /// What has been written so far, with whatever is not UTF-8 replaced.
    #[must_use]
    pub fn text(&self) -> String {
        String::from_utf8_lossy(lock(&self.text).make_contiguous()).into_owned()
    }

    /// The last bytes as they came, at most so many; they can be looked at after the process has ended.
    pub fn end(&self, most: usize) -> impl FnOnce() -> Vec<u8> + use<> {
        let text = Arc::clone(&self.text);
        move || {
            let text = lock(&text);
            text.iter().skip(text.len().saturating_sub(most)).copied().collect()
        }
    }

    /// All of it, of a process that has ended. The end of it may take so long to come.
    #[must_use]
    pub fn complete(&self, within: Duration) -> String {
        let _ = self.closed.recv_timeout(within);
        self.text()
    }
}

fn lock(text: &Mutex<VecDeque<u8>>) -> MutexGuard<'_, VecDeque<u8>> {
    text.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The last three lines, where the reason is, on one line.
#[must_use]
pub fn last_lines(text: &str) -> String {
    let lines: Vec<_> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    lines[lines.len().saturating_sub(3)..].join(" / ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_complaint_is_kept() {
        let complaint = Complaint::listen(&b"0123456789"[..], 4);
        assert_eq!(complaint.complete(Duration::from_secs(60)), "6789");
        assert_eq!(complaint.end(3)(), b"789");
        complaint.forget();
        assert_eq!(complaint.text(), "");
    }

    #[test]
    fn the_last_lines_are_those_with_words() {
        for (text, last) in [("a\n\nb\nc \n d\n", "b / c / d"), ("one", "one"), ("\n", "")] {
            assert_eq!(last_lines(text), last);
        }
    }
}
