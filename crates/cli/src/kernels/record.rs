//! The file of the record, if one is wanted.

use std::fs::File;
use std::path::{Path, PathBuf};

use assay_harness::kernels::record::{Footer, Header, Line, Result as ResultLine};
use assay_harness::record::write_line;

use crate::exit::Failure;
use crate::text::safe_path;

/// A record that is being written.
pub(super) struct Recorder(Option<(PathBuf, File)>);

impl Recorder {
    /// Writes the header at once: that the file cannot be written is known before anything is asked.
    pub(super) fn begin(path: Option<&Path>, header: &Header) -> Result<Self, Failure> {
        let Some(path) = path else { return Ok(Self(None)) };
        let file = File::create(path).map_err(|error| refused(path, &error))?;
        let mut record = Self(Some((path.to_owned(), file)));
        record.lines([Line::Kernels(Box::new(header.clone()))])?;
        Ok(record)
    }

    pub(super) fn end(&mut self, results: &[ResultLine], footer: &Footer) -> Result<(), Failure> {
        self.lines(results.iter().map(|result| Line::KernelResult(Box::new(result.clone()))))?;
        self.lines([Line::KernelFooter(Box::new(footer.clone()))])
    }

    fn lines(&mut self, lines: impl IntoIterator<Item = Line>) -> Result<(), Failure> {
        let Some((path, out)) = &mut self.0 else { return Ok(()) };
        for line in lines {
            write_line(&line, out).map_err(|error| refused(path, &error))?;
        }
        Ok(())
    }
}

fn refused(path: &Path, error: &std::io::Error) -> Failure {
    Failure::Unreadable(format!("{}: cannot be written: {error}", safe_path(path)))
}
