//! An opened snapshot: where its records are, and how to read them.

use std::fs::File;
use std::io::Read;
use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};

use crate::cdxj::CdxLine;
use crate::wacz::Package;
use crate::warc::{self, Record, RecordRef, Scanner, Window};
use crate::{Error, Page};

/// How the records of a segment lie in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    /// Each in a gzip member of its own.
    Gzip,
    /// As they are.
    Plain,
}

/// One WARC or ARC stream: a whole file, or a part of a WACZ.
#[derive(Debug, Clone)]
pub struct Segment {
    /// Its file name, by which an index refers to it.
    pub name: String,
    /// The file it lies in.
    pub path: Utf8PathBuf,
    /// Where it starts in that file.
    pub start: u64,
    /// Its length in bytes.
    pub length: u64,
    /// Whether it is compressed.
    pub encoding: Encoding,
    file: Arc<File>,
}

impl Segment {
    pub(crate) fn new(
        name: String,
        path: &Utf8Path,
        file: Arc<File>,
        start: u64,
        length: u64,
    ) -> Result<Segment, Error> {
        let window = Window::new(Arc::clone(&file), start, start + length);
        let magic = window.peek(2).map_err(|e| Error::io("read", path, e))?;
        let encoding = if magic == [0x1f, 0x8b] { Encoding::Gzip } else { Encoding::Plain };
        Ok(Segment { name, path: path.to_owned(), start, length, encoding, file })
    }

    pub(crate) fn window(&self) -> Window {
        Window::new(Arc::clone(&self.file), self.start, self.start + self.length)
    }

    /// At most `length` bytes from `offset` on, as they lie in the stream.
    pub(crate) fn window_at(&self, offset: u64, length: u64) -> Window {
        let start = self.start + offset.min(self.length);
        let end = start.saturating_add(length).min(self.start + self.length);
        Window::new(Arc::clone(&self.file), start, end)
    }
}

/// An opened snapshot: a WACZ, a WARC or an ARC file, compressed or not. Opening reads no records; reading is by
/// position, from as many threads as one likes.
#[derive(Debug)]
pub struct Archive {
    path: Utf8PathBuf,
    segments: Vec<Segment>,
    package: Option<Package>,
}

impl Archive {
    /// Opens `path`: the first bytes tell what it is. Where they are damaged, a name that says WARC or ARC is believed.
    pub fn open(path: &Utf8Path) -> Result<Archive, Error> {
        let io = |e| Error::io("open", path, e);
        let mut file = File::open(path).map_err(io)?;
        let length = file.metadata().map_err(io)?.len();
        let mut start = Vec::new();
        file.by_ref().take(16).read_to_end(&mut start).map_err(io)?;
        if start.starts_with(b"PK") {
            let package = Package::open(path, file)?;
            return Ok(Archive {
                path: path.to_owned(),
                segments: package.segments()?,
                package: Some(package),
            });
        }
        let trimmed = start.trim_ascii_start();
        let arc =
            trimmed.starts_with(b"filedesc:") || trimmed.starts_with(b"http") || trimmed.starts_with(b"dns:");
        let named = !start.is_empty() && crate::wacz::is_warc_name(path.as_str());
        if !(start.starts_with(&[0x1f, 0x8b]) || trimmed.starts_with(b"WARC/") || arc || named) {
            return Err(Error::UnknownFormat {
                path: path.to_owned(),
                start: if start.is_empty() { "nothing".to_owned() } else { start.escape_ascii().to_string() },
            });
        }
        let name = path.file_name().unwrap_or(path.as_str()).to_owned();
        let segments = vec![Segment::new(name, path, Arc::new(file), 0, length)?];
        Ok(Archive { path: path.to_owned(), segments, package: None })
    }

    /// Streams that were found in a file whose container cannot be read.
    pub(crate) fn from_segments(path: &Utf8Path, segments: Vec<Segment>) -> Archive {
        Archive { path: path.to_owned(), segments, package: None }
    }

    /// The file that was opened.
    pub fn path(&self) -> &Utf8Path {
        &self.path
    }

    /// The WARC streams in it.
    pub fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// The WACZ around the records, if it is one.
    pub fn package(&self) -> Option<&Package> {
        self.package.as_ref()
    }

    /// All records in file order. What is damaged comes as an error ([`Error::Damaged`]) and reading goes on behind.
    pub fn records(&self) -> Records {
        Records { segments: self.segments.clone(), next: 0, scanner: None }
    }

    /// The records of one segment.
    pub fn records_of(&self, segment: u32) -> Result<Records, Error> {
        let found = self.segment(segment)?;
        let scanner = Scanner::new(segment, found.name.clone(), found.window());
        Ok(Records { segments: Vec::new(), next: 0, scanner: Some(scanner) })
    }

    /// Reads one record. Only its head, and a small compressed block, is read before this returns.
    pub fn read_at(&self, at: RecordRef) -> Result<Record, Error> {
        let segment = self.segment(at.segment)?;
        let damaged = |damage| Error::Damaged {
            segment: segment.name.clone(),
            offset: at.offset,
            damage,
            resumes_at: None,
        };
        if at.offset >= segment.length {
            return Err(damaged(crate::Damage::Truncated {
                expected: at.offset.saturating_add(1),
                found: segment.length,
            }));
        }
        let whole = segment.window();
        let window = whole.from(segment.start + at.offset);
        let window = if at.length > 0 && segment.encoding == Encoding::Gzip {
            window.first(at.length)
        } else {
            window
        };
        warc::read_at(window).map_err(damaged)
    }

    /// The pages that were recorded, from all page lists of a WACZ; empty for a plain WARC.
    pub fn pages(&self) -> Result<Vec<Page>, Error> {
        self.page_lines().collect()
    }

    /// The same one by one, for lists that are long.
    pub fn page_lines(&self) -> impl Iterator<Item = Result<Page, Error>> {
        self.package.iter().flat_map(Package::pages)
    }

    /// The lines of the index of a WACZ, as they stand in it; none for a plain WARC.
    pub fn index(&self) -> impl Iterator<Item = Result<CdxLine, Error>> {
        self.package.iter().flat_map(Package::index).flatten()
    }

    fn segment(&self, index: u32) -> Result<&Segment, Error> {
        let none = Error::NoSuchSegment { segment: index, segments: self.segments.len() };
        self.segments.get(index as usize).ok_or(none)
    }
}

/// Iterates over the records of an archive; made by [`Archive::records`].
#[derive(Debug)]
pub struct Records {
    segments: Vec<Segment>,
    next: usize,
    scanner: Option<Scanner>,
}

impl Iterator for Records {
    type Item = Result<(RecordRef, Record), Error>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(item) = self.scanner.as_mut().and_then(Scanner::next) {
                return Some(item);
            }
            let segment = self.segments.get(self.next)?;
            self.scanner = Some(Scanner::new(self.next as u32, segment.name.clone(), segment.window()));
            self.next += 1;
        }
    }
}
