//! The committed corpus.

use std::path::{Path, PathBuf};

use assay_corpus::store::{Entry, LoadError, load};

/// Where it lies.
pub(crate) fn directory() -> PathBuf {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus")).to_owned()
}

/// Every vector.
pub(crate) fn entries() -> Result<Vec<Entry>, LoadError> {
    load(&directory())
}
