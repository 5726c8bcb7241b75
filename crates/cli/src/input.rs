//! A file that is read in parts: its header into memory, the rest as it is asked for.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::fs::{self, File};
use std::io;
use std::ops::Range;
use std::path::Path;
use std::time::{Duration, Instant};

use assay_reader::Stop;
use gguf_spec::binary::{Decoded, NeedMore, Options, Source, decode_with};
use gguf_spec::field::Finding;
use gguf_spec::input::Input;
use gguf_spec::judge::{Judgement, judge_findings, judge_source};
use gguf_spec::limits::MAGIC;
use gguf_spec::rules::{Checks, Stage};

use crate::text::safe_path;

/// How much is read at first for the fast reader. Most headers without a large vocabulary fit.
const FIRST_HEAD: u64 = 1 << 18;

/// How much is read at least for the specification: what a file is that is not GGUF shows here.
const FIRST_HEAD_IN_FULL: u64 = 1 << 20;

/// What holds the fields of the magic and header stages in every version, in bytes.
const START: u64 = 24;

/// The largest header that is read unless another limit is asked for. The largest of published
/// models, with vocabularies of 262,144 tokens and their merges, stay under 32 MiB. A header that is
/// made for it, of small fields with a finding each, takes some twelve times its size in memory.
pub const DEFAULT_MAX_HEADER: u64 = 64 << 20;

/// An open file. What cannot be read, because the file shrank or the disk failed, is remembered and
/// told by [`FileInput::fault`]: an answer about such a file is worth nothing.
#[derive(Debug)]
pub struct FileInput {
    file: File,
    len: u64,
    fault: RefCell<Option<String>>,
    /// Where the file ended when a read behind that was tried.
    ended: Cell<Option<u64>>,
}

impl FileInput {
    /// Opens a file.
    ///
    /// # Errors
    ///
    /// The sentence that tells why it cannot be read. Things that are not files (a directory, a pipe,
    /// a device) are not opened: that could wait for ever. Neither are files that hide their size, as
    /// those below `/proc` do.
    pub fn open(path: &Path) -> Result<Self, String> {
        let kind =
            |metadata: &fs::Metadata| if metadata.is_file() { Ok(()) } else { Err(not_a_file(metadata).to_owned()) };
        kind(&fs::metadata(path).map_err(|e| why(path, &e))?)?;
        let file = File::open(path).map_err(|e| why(path, &e))?;
        let metadata = file.metadata().map_err(|e| why(path, &e))?;
        kind(&metadata)?;
        let len = metadata.len();
        if len == 0 && read_at(&file, &mut [0], 0).map_err(|e| why(path, &e))? > 0 {
            return Err("its size is not known: the system says 0 bytes, yet bytes come when it is read; \
                        copy it to a file of its own first"
                .to_owned());
        }
        Ok(Self { file, len, fault: RefCell::new(None), ended: Cell::new(None) })
    }

    /// Fills a buffer with the bytes at `offset`.
    ///
    /// # Errors
    ///
    /// If they cannot be read; also if the file ends before.
    pub fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        let mut done = 0;
        while done < buffer.len() {
            match read_at(&self.file, &mut buffer[done..], offset + done as u64) {
                Ok(0) => {
                    let at = offset + done as u64;
                    self.ended.set(Some(at));
                    let shrunk = format!("it ends at byte {at} now, but had {} when it was opened", size(self.len));
                    return Err(io::Error::new(io::ErrorKind::UnexpectedEof, shrunk));
                }
                Ok(n) => done += n,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// The file itself.
    #[must_use]
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Where the file ended when it was read last, if it got shorter.
    #[must_use]
    pub fn ended(&self) -> Option<u64> {
        self.ended.get()
    }

    /// The sentence about the first read that failed, if one did.
    #[must_use]
    pub fn fault(&self) -> Option<String> {
        self.fault.borrow().clone()
    }
}

impl Input for FileInput {
    fn len(&self) -> u64 {
        self.len
    }

    fn bytes(&self, range: Range<u64>) -> Option<Cow<'_, [u8]>> {
        let mut buffer = vec![0; usize::try_from(range.end.checked_sub(range.start)?).ok()?];
        match self.read_exact_at(&mut buffer, range.start) {
            Ok(()) => Some(Cow::Owned(buffer)),
            Err(error) => {
                let sentence = format!("reading at byte {} failed: {error}", range.start);
                self.fault.borrow_mut().get_or_insert(sentence);
                None
            }
        }
    }
}

#[cfg(unix)]
fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, buffer, offset)
}

#[cfg(windows)]
fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, buffer, offset)
}

/// What is wrong, in words that do not depend on the system.
fn why(path: &Path, error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => match fs::read_link(path) {
            Ok(target) => format!("a link to nothing: it leads to {}", safe_path(&target)),
            Err(_) => "no such file".to_owned(),
        },
        io::ErrorKind::PermissionDenied => "permission denied: it may not be read by this user".to_owned(),
        _ => error.to_string(),
    }
}

fn not_a_file(metadata: &fs::Metadata) -> &'static str {
    if metadata.is_dir() {
        return "a directory, not a file";
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;
        let kind = metadata.file_type();
        if kind.is_fifo() {
            return "a pipe, not a file: it cannot be read at the offsets its header names; copy what comes out of it to a file";
        }
        if kind.is_socket() {
            return "a socket, not a file";
        }
        if kind.is_block_device() || kind.is_char_device() {
            return "a device, not a file";
        }
    }
    "not a regular file"
}

/// Where in a file to look, and how much of it to take for a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Where the GGUF file starts in the file on disk.
    pub base: u64,
    /// The largest header that is read, in bytes.
    pub max_header: u64,
    /// Whether the magic and header stages alone are wanted: then no more is read and judged than the
    /// bytes that those look at, and findings of later stages mean nothing.
    pub start_only: bool,
}

impl Default for Window {
    fn default() -> Self {
        Self { base: 0, max_header: DEFAULT_MAX_HEADER, start_only: false }
    }
}

/// The first part of a file in memory, as far as its header reaches.
#[derive(Debug)]
pub struct Head {
    /// The bytes of the file from its first one on; those before the base are not read, and zero.
    pub bytes: Vec<u8>,
    /// Where the GGUF file starts.
    pub base: u64,
    /// The length of the whole file on disk.
    pub len: u64,
    /// Where that ends which is judged: before `len` if the start alone is.
    pub end: u64,
    /// How long reading took.
    pub read: Duration,
}

impl Head {
    /// What decoding needs.
    #[must_use]
    pub fn source(&self) -> Source<'_> {
        let end = usize::try_from(self.end).unwrap_or(usize::MAX).min(self.bytes.len());
        Source { head: &self.bytes[..end], len: self.end, base: self.base }
    }

    /// Whether the file goes on behind what is judged.
    #[must_use]
    pub fn start_only(&self) -> bool {
        self.end < self.len
    }

    /// The bytes that were read, from the base on.
    #[must_use]
    pub fn from_base(&self) -> &[u8] {
        usize::try_from(self.base).ok().and_then(|base| self.bytes.get(base..)).unwrap_or_default()
    }

    /// The tree, decoded anew.
    #[must_use]
    pub fn decode(&self, options: &Options) -> Decoded<'_> {
        match decode_with(self.source(), options) {
            Ok(decoded) => decoded,
            // Whoever made this head has judged it, and decoding needs no more than that.
            Err(NeedMore { at_least }) => unreachable!("the header was read, yet {at_least} bytes are wanted"),
        }
    }

    /// Reads the first `size` bytes of the GGUF file. The bytes before it are not read: the zeros in
    /// their place cost addresses, not memory.
    fn read(input: &FileInput, base: u64, size: u64, before: Option<Self>) -> Result<Self, String> {
        let start = Instant::now();
        let end = input.len().min(base.saturating_add(size));
        let too_large = |_| "too large for the addresses of this machine".to_owned();
        let (base_index, end_index) =
            (usize::try_from(base).map_err(too_large)?, usize::try_from(end).map_err(too_large)?);
        let mut bytes = vec![0; end_index];
        let (known, read) = before.map_or((base_index, Duration::ZERO), |before| {
            bytes[base_index..before.bytes.len()].copy_from_slice(&before.bytes[base_index..]);
            (before.bytes.len(), before.read)
        });
        if known < end_index {
            input
                .read_exact_at(&mut bytes[known..], known as u64)
                .map_err(|error| format!("reading at byte {known} failed: {error}"))?;
        }
        Ok(Self { bytes, base, len: input.len(), end: input.len(), read: read + start.elapsed() })
    }
}

/// A file that was judged.
#[derive(Debug)]
pub struct Judged {
    /// What the specification says of it.
    pub judgement: Judgement,
    /// Its header.
    pub head: Head,
    /// How long judging took, without reading the header.
    pub time: Duration,
}

/// Reads as much of the header as is needed, and judges the file. The documents are left out unless
/// they are wanted: they take as much memory as the header.
///
/// # Errors
///
/// The sentence that tells why the file cannot be read.
pub fn judge(input: &FileInput, window: Window, documents: bool) -> Result<Judged, String> {
    judge_from(input, window, documents, None)
}

/// Like [`judge`], with a part of the header that was read before.
///
/// # Errors
///
/// The sentence that tells why the file cannot be read.
pub fn judge_from(input: &FileInput, window: Window, documents: bool, before: Option<Head>) -> Result<Judged, String> {
    let Window { base, max_header, start_only } = window;
    check_base(input, base)?;
    if start_only {
        return judge_start(input, base, documents);
    }
    let start = Instant::now();
    let read_before = before.as_ref().map_or(Duration::ZERO, |head| head.read);
    let mut known = before.as_ref().map_or(0, |head| head.from_base().len() as u64);
    let first = FIRST_HEAD_IN_FULL.min(max_header);
    let mut head = match before {
        Some(head) if known >= first => head,
        before => {
            known = first;
            Head::read(input, base, known, before)?
        }
    };
    loop {
        let judge = if documents { judge_source } else { judge_findings };
        match judge(head.source(), input, &Checks::all()) {
            Ok(judgement) => {
                if let Some(fault) = input.fault() {
                    return Err(fault);
                }
                let time = start.elapsed().saturating_sub(head.read.saturating_sub(read_before));
                return Ok(Judged { judgement, head, time });
            }
            Err(NeedMore { at_least }) => head = more(input, window, head, &mut known, at_least.saturating_sub(base))?,
        }
    }
}

/// Whether there is a byte where the file is said to start.
fn check_base(input: &FileInput, base: u64) -> Result<(), String> {
    if base > 0 && base >= input.len() {
        return Err(format!("there is no byte {base} in it: it has {}", size(input.len())));
    }
    Ok(())
}

/// Reads more of a header, of which `wanted` bytes are needed. Growing by factors keeps the time
/// linear, however many small fields follow.
fn more(input: &FileInput, window: Window, head: Head, known: &mut u64, wanted: u64) -> Result<Head, String> {
    if wanted > window.max_header {
        return Err(format!(
            "its header needs more than {} (at least {wanted}); allow more with --max-header",
            size(window.max_header),
        ));
    }
    *known = assay_reader::grown(*known, wanted).min(window.max_header);
    Head::read(input, window.base, *known, Some(head))
}

/// What the fast reader says of a file.
#[derive(Debug)]
pub enum Strict<T> {
    /// It keeps every rule as far as it was read; this is what was wanted of it.
    Fine(T),
    /// The first finding.
    Refused(Box<Finding>),
}

/// Reads as much of the header as is needed with the fast reader, which wants every rule kept up to
/// the stage `until`, and takes from the file what is wanted. Returns the header too, and how long
/// reading took without the bytes of it.
///
/// # Errors
///
/// The sentence that tells why the file cannot be read.
pub fn read_strictly<T>(
    input: &FileInput,
    window: Window,
    until: Stage,
    wanted: impl Fn(&assay_reader::File<'_>) -> T,
) -> Result<(Strict<T>, Head, Duration), String> {
    let Window { base, max_header, start_only } = window;
    check_base(input, base)?;
    let start = Instant::now();
    let policy = assay_reader::Policy::strict().until(until);
    let behind = Behind { input, base };
    let mut known = if start_only { START } else { FIRST_HEAD }.min(max_header);
    let mut head = Head::read(input, base, known, None)?;
    loop {
        let said = match assay_reader::read_head(head.from_base(), &behind, policy) {
            Ok(file) => Strict::Fine(wanted(&file)),
            Err(Stop::Refused(refused)) => {
                let mut finding = refused.into_finding();
                finding.span = finding.span.start.saturating_add(base)..finding.span.end.saturating_add(base);
                Strict::Refused(Box::new(finding))
            }
            Err(Stop::NeedMore { at_least }) => {
                head = more(input, window, head, &mut known, at_least)?;
                continue;
            }
            Err(stop @ Stop::Unreadable(_)) => return Err(input.fault().unwrap_or_else(|| stop.to_string())),
        };
        if let Some(fault) = input.fault() {
            return Err(fault);
        }
        let time = start.elapsed().saturating_sub(head.read);
        return Ok((said, head, time));
    }
}

/// A file from some byte on.
struct Behind<'f> {
    input: &'f FileInput,
    base: u64,
}

impl Input for Behind<'_> {
    fn len(&self) -> u64 {
        self.input.len().saturating_sub(self.base)
    }

    fn bytes(&self, range: Range<u64>) -> Option<Cow<'_, [u8]>> {
        self.input.bytes(range.start.checked_add(self.base)?..range.end.checked_add(self.base)?)
    }
}

/// Judges the first bytes as if the file ended behind them, which the magic and header stages cannot
/// tell. Of a file that is not GGUF more is read, to tell what it is.
fn judge_start(input: &FileInput, base: u64, documents: bool) -> Result<Judged, String> {
    let start = Instant::now();
    let mut head = Head::read(input, base, START, None)?;
    if !head.from_base().starts_with(&MAGIC) {
        head = Head::read(input, base, FIRST_HEAD_IN_FULL, Some(head))?;
    }
    head.end = head.len.min(base.saturating_add(START));
    let source = head.source();
    let judge = if documents { judge_source } else { judge_findings };
    let judgement = judge(source, &source.head, &Checks::all())
        .map_err(|NeedMore { at_least }| format!("its first {at_least} bytes are not all there"))?;
    let time = start.elapsed().saturating_sub(head.read);
    Ok(Judged { judgement, head, time })
}

/// A size in bytes, in digits that a script can use.
fn size(bytes: u64) -> String {
    if bytes == 1 { "1 byte".to_owned() } else { format!("{bytes} bytes") }
}
