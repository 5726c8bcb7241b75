//! Words and numbers for people: bytes of unknown origin made safe to show, counts made readable.

use std::fmt::{Display, Write};
use std::ops::Range;
use std::path::Path;
use std::time::Duration;

use serde_json::Value as Json;

/// Text of unknown origin, quoted. Nothing in it can steer a terminal: control characters, and the
/// characters that turn the direction of writing, are escaped; so are bytes that are not UTF-8. After
/// `longest` characters it is cut, and the size told.
#[must_use]
pub fn quoted(bytes: &[u8], longest: usize) -> String {
    let mut text = String::from("\"");
    let mut shown = 0;
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            if shown == longest {
                return cut(text, bytes.len());
            }
            push_char(&mut text, c);
            shown += 1;
        }
        for byte in chunk.invalid() {
            if shown == longest {
                return cut(text, bytes.len());
            }
            let _ = write!(text, "\\x{byte:02x}");
            shown += 1;
        }
    }
    text.push('"');
    text
}

fn cut(mut text: String, size: usize) -> String {
    let _ = write!(text, "\"… ({})", count(size, "byte"));
    text
}

/// Text of unknown origin without quotes, whole: for paths and names in running text.
#[must_use]
pub fn safe(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        if matches!(c, '"' | '\\') { safe.push(c) } else { push_char(&mut safe, c) }
    }
    safe
}

/// A path in running text: like [`safe`], and bytes that are not UTF-8 are shown as `\xff`.
#[must_use]
pub fn safe_path(path: &Path) -> String {
    let mut text = String::new();
    for chunk in path.as_os_str().as_encoded_bytes().utf8_chunks() {
        text.push_str(&safe(chunk.valid()));
        for byte in chunk.invalid() {
            let _ = write!(text, "\\x{byte:02x}");
        }
    }
    text
}

/// A path for a script: a string, or base64 where it is not UTF-8.
#[must_use]
pub fn path_json(path: &Path) -> Json {
    gguf_spec::document::json::text(path.as_os_str().as_encoded_bytes())
}

fn push_char(text: &mut String, c: char) {
    match c {
        '"' | '\\' => {
            text.push('\\');
            text.push(c);
        }
        '\n' => text.push_str("\\n"),
        '\r' => text.push_str("\\r"),
        '\t' => text.push_str("\\t"),
        c if steers(c) => {
            let _ = write!(text, "\\u{{{:x}}}", u32::from(c));
        }
        c => text.push(c),
    }
}

/// Whether a character can steer a terminal, changes how the text around it is shown, or does not show.
#[must_use]
pub fn steers(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

/// A number with its digits in groups of three: `98,362,432`.
#[must_use]
pub fn grouped(number: impl Display) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A number and its noun, in the plural where it belongs: `1 pair`, `37 pairs`.
#[must_use]
pub fn count(number: impl Display, noun: &str) -> String {
    let number = grouped(number);
    if number == "1" { format!("1 {noun}") } else { format!("{number} {noun}s") }
}

/// Where bytes lie: `bytes 24..32`, `byte 24`, or `at byte 24` where something is missing.
#[must_use]
pub fn span(range: &Range<u64>) -> String {
    if range.start == range.end {
        format!("at byte {}", range.start)
    } else {
        format!("bytes {}..{}", range.start, range.end)
    }
}

/// A duration with three digits or so: `412 ms`, `1.23 s`.
#[must_use]
pub fn duration(time: Duration) -> String {
    let micros = time.as_micros();
    match micros {
        0..1_000 => format!("{micros} µs"),
        1_000..10_000 => format!("{}.{} ms", micros / 1_000, micros % 1_000 / 100),
        10_000..1_000_000 => format!("{} ms", micros / 1_000),
        _ => format!("{}.{:02} s", micros / 1_000_000, micros % 1_000_000 / 10_000),
    }
}

/// A quotient with two decimals, rounded; `None` if it is not a number of reasonable size.
#[must_use]
pub fn hundredths(numerator: u128, denominator: u128) -> Option<String> {
    let scaled = numerator.checked_mul(100)?.checked_add(denominator / 2)?.checked_div(denominator)?;
    Some(format!("{}.{:02}", grouped(scaled / 100), scaled % 100))
}

/// A sentence to be folded at `width` columns, each line after the first indented by `indent`.
#[must_use]
pub fn folded(text: &str, indent: usize, width: usize) -> String {
    let mut folded = String::new();
    let mut column = indent;
    for word in text.split_whitespace() {
        let length = word.chars().count();
        if column > indent && column + 1 + length > width {
            let _ = write!(folded, "\n{:indent$}", "");
            column = indent;
        } else if column > indent {
            folded.push(' ');
            column += 1;
        }
        folded.push_str(word);
        column += length;
    }
    folded
}

/// The candidates that are spelled much like `wanted`, nearest first, at most five.
#[must_use]
pub fn near<'a>(wanted: &str, candidates: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let mut ranked: Vec<_> = candidates
        .into_iter()
        .filter_map(|candidate| {
            let contains = !wanted.is_empty() && candidate.contains(wanted);
            let distance = distance(wanted, candidate);
            let near = distance <= 2 + wanted.chars().count() / 5;
            (contains || near).then_some((!near, distance, candidate))
        })
        .collect();
    ranked.sort_unstable();
    ranked.dedup();
    ranked.into_iter().take(5).map(|(_, _, candidate)| candidate).collect()
}

/// What to do about a name that is not known: what may have been meant, or else where to look.
#[must_use]
pub fn hint<'a>(wanted: &str, candidates: impl IntoIterator<Item = &'a str>, otherwise: &str) -> String {
    let near = near(wanted, candidates);
    if near.is_empty() { otherwise.to_owned() } else { format!("did you mean {}?", near.join(", ")) }
}

/// How many letters must be put in, taken out or changed to turn one word into the other.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, to) in b.iter().enumerate() {
            let changed = diagonal + usize::from(from != *to);
            diagonal = row[j + 1];
            row[j + 1] = changed.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_steers_a_terminal() {
        assert_eq!(quoted(b"a\x1b[31mb", 64), r#""a\u{1b}[31mb""#);
        assert_eq!(quoted("x\u{202e}y".as_bytes(), 64), r#""x\u{202e}y""#);
        assert_eq!(quoted(b"\xff\x00", 64), r#""\xff\u{0}""#);
        assert_eq!(quoted("größe".as_bytes(), 3), "\"grö\"… (7 bytes)");
        assert_eq!(quoted(b"abc", 3), "\"abc\"");
        assert_eq!(safe("a\"b\u{7}"), "a\"b\\u{7}");
    }

    #[cfg(unix)]
    #[test]
    fn paths_that_are_not_utf8_stay_apart() {
        use std::ffi::OsStr;
        use std::os::unix::ffi::OsStrExt;

        let path = |bytes| Path::new(OsStr::from_bytes(bytes));
        assert_eq!(safe_path(path(b"a\xff\x1b.gguf")), "a\\xff\\u{1b}.gguf");
        assert_ne!(safe_path(path(b"\xff")), safe_path(path(b"\xfe")));
        assert_eq!(path_json(path("größe".as_bytes())), serde_json::json!("größe"));
        assert_eq!(path_json(path(b"\xff")), serde_json::json!({"base64": "/w=="}));
    }

    #[test]
    fn numbers_are_readable() {
        assert_eq!(grouped(7), "7");
        assert_eq!(grouped(123_456), "123,456");
        assert_eq!(grouped(98_362_432), "98,362,432");
        assert_eq!(count(1, "pair"), "1 pair");
        assert_eq!(count(0, "pair"), "0 pairs");
        assert_eq!(hundredths(2, 3).as_deref(), Some("0.67"));
        assert_eq!(hundredths(1, 0), None);
        assert_eq!(duration(Duration::from_micros(999)), "999 µs");
        assert_eq!(duration(Duration::from_micros(1_250)), "1.2 ms");
        assert_eq!(duration(Duration::from_millis(412)), "412 ms");
        assert_eq!(duration(Duration::from_millis(61_230)), "61.23 s");
    }

    #[test]
    fn near_names_are_found() {
        let names = ["kv.key.empty", "kv.key.ascii", "align.power-of-two", "magic.bytes"];
        assert_eq!(near("kv.key.emtpy", names), ["kv.key.empty"]);
        assert_eq!(near("power", names), ["align.power-of-two"]);
        assert!(near("zzzzzzzz", names).is_empty());
    }

    #[test]
    fn text_is_folded_between_words() {
        assert_eq!(folded("one two  three", 2, 9), "one two\n  three");
        assert_eq!(folded("unbreakable", 2, 4), "unbreakable");
    }
}
