//! SHA-256 of a file and of its tensors, read once through a small buffer.

use std::io;
use std::ops::Range;

use assay_scan::Tensor;
use gguf_spec::input::Input;
use sha2::{Digest, Sha256};

use crate::input::FileInput;
use crate::ui::Progress;

const CHUNK: u64 = 1 << 20;

/// The SHA-256 of some bytes of a file, in hexadecimal.
///
/// # Errors
///
/// If they cannot be read.
pub fn sha256(input: &FileInput, range: Range<u64>, progress: &Progress) -> io::Result<String> {
    let mut hasher = Sha256::new();
    let mut at = range.start;
    let mut buffer = vec![0; usize::try_from(CHUNK.min(range.end - range.start)).unwrap_or(0)];
    while at < range.end {
        let size = CHUNK.min(range.end - at);
        let chunk = &mut buffer[..usize::try_from(size).unwrap_or(0)];
        input.read_exact_at(chunk, at)?;
        hasher.update(&*chunk);
        progress.add(size);
        at += size;
    }
    Ok(hasher.finalize().iter().map(|b| format!("{b:02x}")).collect())
}

/// Where the data of each tensor lies, in table order.
///
/// # Errors
///
/// The sentence that tells why there is no such list: bytes are missing, or tensors overlap, and
/// hashing them one by one could take for ever.
pub fn tensor_ranges(tensors: &[Option<Tensor>], len: u64) -> Result<Vec<Range<u64>>, String> {
    let ranges = tensors
        .iter()
        .map(|tensor| {
            let tensor = (*tensor)?;
            let end = tensor.start.checked_add(tensor.size).filter(|&end| end <= len)?;
            Some(tensor.start..end)
        })
        .collect::<Option<Vec<_>>>()
        .ok_or("not all tensor data is there")?;
    let mut sorted: Vec<_> = ranges.iter().filter(|range| !range.is_empty()).collect();
    sorted.sort_by_key(|range| (range.start, range.end));
    if sorted.windows(2).any(|pair| pair[0].end > pair[1].start) {
        return Err("tensors overlap".to_owned());
    }
    Ok(ranges)
}

/// The bytes a file has for hashing: for the progress bar.
#[must_use]
pub fn work(input: &FileInput, file: bool, tensors: Option<&[Range<u64>]>) -> u64 {
    let whole = if file { input.len() } else { 0 };
    tensors.into_iter().flatten().fold(whole, |sum, range| sum.saturating_add(range.end - range.start))
}
