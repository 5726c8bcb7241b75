//! Numbers on the command line.

/// A number of bytes, or a place counted in them: decimal, or hexadecimal after `0x`.
///
/// # Errors
///
/// A sentence that tells what is wanted.
pub fn bytes(text: &str) -> Result<u64, String> {
    let number = match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => parse(digits, 16),
        None => parse(text, 10),
    };
    number.ok_or_else(|| "give a whole number of bytes, zero or more and below 2^64, such as 4096 or 0x1000".to_owned())
}

/// A number of things: decimal.
///
/// # Errors
///
/// A sentence that tells what is wanted.
pub fn whole(text: &str) -> Result<u64, String> {
    parse(text, 10).ok_or_else(|| "give a whole number, zero or more and below 2^64".to_owned())
}

/// How many are shown if so many were asked for, or nothing was said: 0 is all.
#[must_use]
pub fn most(asked: Option<u64>, unsaid: usize) -> usize {
    match asked {
        None => unsaid,
        Some(0) => usize::MAX,
        Some(most) => usize::try_from(most).unwrap_or(usize::MAX),
    }
}

/// A time in seconds: a decimal number above zero, at most a day.
///
/// # Errors
///
/// A sentence that tells what is wanted.
pub fn seconds(text: &str) -> Result<f64, String> {
    let plain = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let number = text.parse().ok().filter(|&number: &f64| plain && number > 0.0 && number <= 86_400.0);
    number.ok_or_else(|| "give a number of seconds above zero, such as 2 or 0.5".to_owned())
}

/// Digits and nothing else: no sign, no space.
fn parse(digits: &str, radix: u32) -> Option<u64> {
    let plain = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    u64::from_str_radix(digits, radix).ok().filter(|_| plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_whole_or_not_at_all() {
        assert_eq!(bytes("0"), Ok(0));
        assert_eq!(bytes("4096"), Ok(4096));
        assert_eq!(bytes("0x20"), Ok(32));
        assert_eq!(bytes("0XfF"), Ok(255));
        assert_eq!(bytes("18446744073709551615"), Ok(u64::MAX));
        for text in
            ["", "0x", "-1", "+1", "0x+1", "1e3", "1.5", "ff", " 1", "18446744073709551616", "0x10000000000000000"]
        {
            assert!(bytes(text).is_err(), "{text:?}");
        }
        assert_eq!(whole("7"), Ok(7));
        for text in ["0x7", "-7", "+7", ""] {
            assert!(whole(text).is_err(), "{text:?}");
        }
    }
}
