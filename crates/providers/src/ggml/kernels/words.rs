//! Memory at addresses that are multiples of eight.

/// Bytes at an address that a C function may read its numbers from.
pub(super) enum Aligned<'a> {
    There(&'a [u8]),
    Copied(Vec<u64>),
}

impl<'a> Aligned<'a> {
    /// The bytes where they are, if their address is a multiple of `alignment`, which is at most 8; else a copy.
    pub(super) fn new(bytes: &'a [u8], alignment: usize) -> Self {
        if bytes.as_ptr().addr().is_multiple_of(alignment) {
            return Self::There(bytes);
        }
        let words = bytes.chunks(8).map(|chunk| {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            u64::from_ne_bytes(word)
        });
        Self::Copied(words.collect())
    }

    pub(super) fn as_ptr(&self) -> *const u8 {
        match self {
            Self::There(bytes) => bytes.as_ptr(),
            Self::Copied(words) => words.as_ptr().cast(),
        }
    }
}

/// Zeros for at least so many bytes.
pub(super) fn zeros(bytes: usize) -> Vec<u64> {
    vec![0; bytes.div_ceil(8)]
}

/// The first bytes of some words.
pub(super) fn copy_bytes(words: &[u64], out: &mut [u8]) {
    for (out, word) in out.chunks_mut(8).zip(words) {
        out.copy_from_slice(&word.to_ne_bytes()[..out.len()]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_copied_only_where_they_must_be() {
        let words = [0x0102_0304_0506_0708_u64.to_le(), 9];
        let mut bytes = [0; 16];
        copy_bytes(&words, &mut bytes);
        assert_eq!(bytes[..9], [8, 7, 6, 5, 4, 3, 2, 1, 9_u64.to_ne_bytes()[0]]);
        for start in 0..8 {
            let aligned = bytes[start..].as_ptr().addr().is_multiple_of(8);
            assert_eq!(matches!(Aligned::new(&bytes[start..], 8), Aligned::There(_)), aligned);
            if let Aligned::Copied(copy) = Aligned::new(&bytes[start..], 8) {
                let mut again = vec![0; 16 - start];
                copy_bytes(&copy, &mut again);
                assert_eq!(again, bytes[start..]);
            }
        }
    }
}
