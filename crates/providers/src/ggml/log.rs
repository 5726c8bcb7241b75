//! What ggml logs: the only place where it says why it refuses a file.

use std::sync::{Mutex, PoisonError};

/// Bytes that are kept between two calls of [`take`]; what comes after is dropped.
const LIMIT: usize = 64 << 10;

static TEXT: Mutex<String> = Mutex::new(String::new());

/// Adds text to the log.
pub(super) fn append(text: &str) {
    let mut log = TEXT.lock().unwrap_or_else(PoisonError::into_inner);
    let mut room = LIMIT.saturating_sub(log.len()).min(text.len());
    while !text.is_char_boundary(room) {
        room -= 1;
    }
    log.push_str(&text[..room]);
}

/// What was logged since the last call, without the newline at the end.
pub(super) fn take() -> String {
    let text = std::mem::take(&mut *TEXT.lock().unwrap_or_else(PoisonError::into_inner));
    text.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_log_is_bounded_and_cut_between_characters() {
        super::take();
        super::append(&"x".repeat(super::LIMIT - 1));
        super::append("é");
        super::append("y");
        let text = super::take();
        assert_eq!(text.len(), super::LIMIT);
        assert!(text.ends_with("xy"));
        assert_eq!(super::take(), "");
    }
}
