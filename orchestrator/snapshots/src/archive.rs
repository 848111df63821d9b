//! An opened snapshot: the location of its records, and how to read them.

use std::io::{BufReader, Read, Seek};

use camino::{Utf8Path, Utf8PathBuf};
use flate2::bufread::MultiGzDecoder;

use crate::budget::{Budget, Watched};
use crate::cdxj::CdxLine;
use crate::matching::ChangingParts;
use crate::wacz::Package;
use crate::warc::{self, Record, RecordRef, Scanner, Window};
use crate::{Error, Page, RecordKind, Source, SourceReader, Timestamp};

/// How many bytes of a file are searched for its first record.
const SEARCHED: u64 = 16 << 20;
/// The maximum size of a stream that is unpacked.
const MAX_UNPACKED: u64 = 16 << 30;

/// How the records of a segment are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    /// Each record in its own gzip member.
    Gzip,
    /// Uncompressed.
    Plain,
}

/// One WARC or ARC stream: a whole file, or a part of a WACZ.
#[derive(Debug, Clone)]
pub struct Segment {
    /// Its file name, as used in an index.
    pub name: String,
    /// The file that contains it.
    pub path: Utf8PathBuf,
    /// Its start offset in that file.
    pub start: u64,
    /// Its length in bytes.
    pub length: u64,
    /// Whether it is compressed.
    pub encoding: Encoding,
    source: Source,
}

impl Segment {
    pub(crate) fn new(
        name: String,
        path: &Utf8Path,
        source: impl Into<Source>,
        start: u64,
        length: u64,
    ) -> Result<Segment, Error> {
        let source = source.into();
        let window = Window::new(source.clone(), start, start + length);
        let magic = window.peek(2).map_err(|e| Error::io("read", path, e))?;
        let encoding = if magic == [0x1f, 0x8b] { Encoding::Gzip } else { Encoding::Plain };
        Ok(Segment { name, path: path.to_owned(), start, length, encoding, source })
    }

    /// The same stream, unpacked if one gzip member holds several records. Such records cannot be
    /// accessed by offset.
    fn unpacked(self) -> Result<Segment, Error> {
        if self.encoding != Encoding::Gzip || !warc::shares_first_member(self.window()) {
            return Ok(self);
        }
        let io = |error| Error::io("unpack", &self.path, error);
        let mut file = Watched::temporary().map_err(io)?;
        let limit = Budget::of_extraction(self.length).left().min(MAX_UNPACKED);
        let mut members = MultiGzDecoder::new(BufReader::new(self.window())).take(limit + 1);
        let failures = self.source.failures();
        // Data inflated before an error is readable. The error shows up as a truncated record.
        let copied = std::io::copy(&mut members, &mut file);
        let is_full =
            copied.as_ref().is_err_and(|error| error.kind() == std::io::ErrorKind::StorageFull);
        if is_full || self.source.failures() != failures {
            copied.map_err(io)?;
        }
        let file = file.into_file();
        let length = file.metadata().map_err(io)?.len();
        if length > limit {
            return Err(Error::TooLarge { what: "a WARC in one gzip member", limit });
        }
        Segment::new(self.name.clone(), &self.path, file, 0, length)
    }

    pub(crate) fn window(&self) -> Window {
        Window::new(self.source.clone(), self.start, self.start + self.length)
    }

    /// At most `length` bytes from `offset` on, as stored in the stream.
    pub(crate) fn window_at(&self, offset: u64, length: u64) -> Window {
        let start = self.start + offset.min(self.length);
        let end = start.saturating_add(length).min(self.start + self.length);
        Window::new(self.source.clone(), start, end)
    }
}

/// An opened snapshot: a WACZ, WARC or ARC file, compressed or not, here or at an address. Opening
/// reads no records. Records are read by position, from any number of threads.
#[derive(Debug)]
pub struct Archive {
    path: Utf8PathBuf,
    source: Source,
    segments: Vec<Segment>,
    package: Option<Package>,
}

impl Archive {
    /// Opens the file at `path`, or the object if it is an address. The first bytes determine the
    /// format. If they are damaged, a file extension of WARC or ARC decides.
    pub fn open(path: &Utf8Path) -> Result<Archive, Error> {
        let io = |e| Error::io("open", path, e);
        let source = Source::open(path)?;
        let length = source.length().map_err(io)?;
        let mut file = SourceReader::new(source.clone());
        let mut start = Vec::new();
        file.by_ref().take(16).read_to_end(&mut start).map_err(io)?;
        if start.starts_with(b"PK") {
            let package = Package::open(path, source.clone())?;
            return Ok(Archive {
                path: path.to_owned(),
                source,
                segments: package.segments()?,
                package: Some(package),
            });
        }
        let trimmed = start.trim_ascii_start();
        // Records of an ARC begin with a URL, the first with that of the file itself.
        let arc = trimmed.starts_with(b"filedesc:")
            || trimmed.starts_with(b"http")
            || trimmed.starts_with(b"dns:");
        let named = !start.is_empty() && crate::wacz::is_warc_name(path.as_str());
        if !(start.starts_with(&[0x1f, 0x8b]) || trimmed.starts_with(b"WARC/") || arc || named) {
            if start.starts_with(b"{") && crate::collection::Collection::read(path).is_ok() {
                return Err(Error::IsCollection { path: path.to_owned() });
            }
            return Err(Error::UnknownFormat {
                path: path.to_owned(),
                start: if start.is_empty() {
                    "nothing".to_owned()
                } else {
                    start.escape_ascii().to_string()
                },
            });
        }
        let name = path.file_name().unwrap_or(path.as_str()).to_owned();
        if named && !start.starts_with(&[0x1f, 0x8b]) && !(trimmed.starts_with(b"WARC/") || arc) {
            refuse_without_records(path, &mut file, &start)?;
        }
        let segments = vec![Segment::new(name, path, source.clone(), 0, length)?.unpacked()?];
        Ok(Archive { path: path.to_owned(), source, segments, package: None })
    }

    /// Builds an archive from streams found in a file whose container cannot be read.
    pub(crate) fn from_segments(
        path: &Utf8Path,
        source: impl Into<Source>,
        segments: Vec<Segment>,
    ) -> Archive {
        Archive { path: path.to_owned(), source: source.into(), segments, package: None }
    }

    /// Its bytes.
    pub(crate) fn source(&self) -> &Source {
        &self.source
    }

    /// The opened file, or the address of the object.
    pub fn path(&self) -> &Utf8Path {
        &self.path
    }

    /// The WARC streams in it.
    pub fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// The WACZ package, if the file is one.
    pub fn package(&self) -> Option<&Package> {
        self.package.as_ref()
    }

    /// All records in file order. Damage is returned as [`Error::Damaged`], and reading continues
    /// after it.
    pub fn records(&self) -> Records {
        Records { segments: self.segments.clone(), next: 0, scanner: None }
    }

    /// The records of one segment.
    pub fn records_of(&self, segment: u32) -> Result<Records, Error> {
        let found = self.segment(segment)?;
        let scanner = Scanner::new(segment, found.name.clone(), found.window());
        Ok(Records { segments: Vec::new(), next: 0, scanner: Some(scanner) })
    }

    /// The records of a part of a segment, from the start of a record at offset `from` to the start
    /// of another one, or the end of the segment, at offset `to`.
    pub(crate) fn records_between(
        &self,
        segment: u32,
        from: u64,
        to: u64,
    ) -> Result<impl Iterator<Item = <Records as Iterator>::Item>, Error> {
        let found = self.segment(segment)?;
        let window = found.window_at(from, to.saturating_sub(from));
        let scanner = Scanner::new(segment, found.name.clone(), window);
        Ok(scanner.map(move |item| match item {
            Ok((at, record)) => Ok((RecordRef { offset: at.offset + from, ..at }, record)),
            Err(Error::Damaged { segment, offset, damage, resumes_at }) => Err(Error::Damaged {
                segment,
                offset: offset + from,
                damage,
                resumes_at: resumes_at.map(|at| at + from),
            }),
            Err(error) => Err(error),
        }))
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

    /// The recorded pages from all page lists of a WACZ; empty for a plain WARC. An unreadable line
    /// is skipped with a warning.
    pub fn pages(&self) -> Vec<Page> {
        self.listed_pages().collect()
    }

    /// Iterates over the pages; see [`Self::pages`].
    pub fn listed_pages(&self) -> impl Iterator<Item = Page> {
        self.page_lines().filter_map(|page| match page {
            Ok(page) => Some(page),
            Err(error) => {
                tracing::warn!(path = %self.path, %error, "a page is not listed");
                None
            }
        })
    }

    /// The lines of all page lists. An unreadable line is an error, and reading continues after it.
    pub fn page_lines(&self) -> impl Iterator<Item = Result<Page, Error>> {
        self.package.iter().flat_map(Package::pages)
    }

    /// The time of recording: that of the first page, or else of the first response.
    pub fn recorded(&self) -> Option<Timestamp> {
        let page = self.listed_pages().map(|page| page.ts).next();
        let answer = |(_, record): (RecordRef, Record)| match record.kind() {
            RecordKind::Response | RecordKind::Revisit | RecordKind::Resource => record.date(),
            _ => None,
        };
        page.or_else(|| self.records().flatten().find_map(answer))
    }

    /// The index lines of a WACZ, as stored; none for a plain WARC.
    pub fn index(&self) -> impl Iterator<Item = Result<CdxLine, Error>> {
        self.package.iter().flat_map(Package::index).flatten()
    }

    /// The rules about volatile request parts; `None` if the archive has none.
    pub fn changing_parts(&self) -> Result<Option<ChangingParts>, Error> {
        self.package.as_ref().map_or(Ok(None), Package::changing_parts)
    }

    fn segment(&self, index: u32) -> Result<&Segment, Error> {
        let none = Error::NoSuchSegment { segment: index, segments: self.segments.len() };
        self.segments.get(index as usize).ok_or(none)
    }
}

/// Rejects a file that is a WARC by its name only: no record starts near its beginning.
fn refuse_without_records(
    path: &Utf8Path,
    file: &mut SourceReader,
    start: &[u8],
) -> Result<(), Error> {
    let io = |e| Error::io("open", path, e);
    file.rewind().map_err(io)?;
    let mut bytes = Vec::new();
    file.by_ref().take(SEARCHED).read_to_end(&mut bytes).map_err(io)?;
    let has = |mark: &[u8]| bytes.windows(mark.len()).any(|window| window == mark);
    if has(b"WARC/") || has(b"filedesc:") || has(&[0x1f, 0x8b, 8]) || bytes.len() as u64 == SEARCHED
    {
        return Ok(());
    }
    Err(Error::UnknownFormat { path: path.to_owned(), start: start.escape_ascii().to_string() })
}

/// Iterates over the records of an archive. Created by [`Archive::records`].
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
            self.scanner =
                Some(Scanner::new(self.next as u32, segment.name.clone(), segment.window()));
            self.next += 1;
        }
    }
}
