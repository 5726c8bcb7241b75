//! The lines of a complaint that tell what went wrong.

use assay_providers::complaint::last_lines;

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
