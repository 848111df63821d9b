//! Reads a segment.

use std::fs::File;
use std::ops::Range;
use std::os::unix::fs::FileExt;

use super::header::{HEADER, Header, digest_of};
use super::postings::List;
use super::texts::TextHead;
use super::{LENGTH_CODES, SegmentError};

/// The size of a word's row in bytes: hash, pages, checksum, where its postings are, and the size
/// of their first part.
pub(super) const ROW: usize = 28;
/// Every how many words the hash is in memory.
pub(super) const EVERY: u64 = 32;
/// The size of a page's place in bytes: where its text is, and the size of its first part.
const PLACE: u64 = 12;

/// An open segment.
#[derive(Debug)]
pub(crate) struct Segment {
    file: File,
    header: Header,
    /// Whether checksums count. If not, everything else must hold out alone.
    sealed: bool,
    /// For each group of words the hash of the first.
    sparse: Vec<u64>,
    /// For each group of words the checksum of their rows.
    checksums: Vec<u32>,
    /// For each page the hash of its URL.
    pub(crate) urls: Vec<u64>,
    /// For each page the number of its host.
    pub(crate) hosts: Vec<u32>,
    /// For each page the code of its length.
    pub(crate) lengths: Vec<u8>,
    pub(crate) host_names: Vec<String>,
    /// Sorted hashes of the URLs that the archive alone cannot answer.
    pub(crate) deferred: Vec<u64>,
}

impl Segment {
    /// Opens a file. `None` if it is not a segment for an archive in this state.
    pub(crate) fn open(file: File, state: &str) -> Result<Option<Segment>, SegmentError> {
        match Segment::read(file) {
            Ok(segment) => Ok((segment.header.state == digest_of(state)).then_some(segment)),
            Err(SegmentError::Damaged(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Opens a file of any state.
    pub(crate) fn read(file: File) -> Result<Segment, SegmentError> {
        Segment::read_as(file, true)
    }

    /// Opens a file of any state. Checksums count if `sealed`; without, hostile files get further.
    pub(super) fn read_as(file: File, sealed: bool) -> Result<Segment, SegmentError> {
        let length = file.metadata()?.len();
        let damaged = || SegmentError::Damaged("the header");
        if length < HEADER as u64 {
            return Err(damaged());
        }
        let mut bytes = [0; HEADER];
        file.read_exact_at(&mut bytes, 0)?;
        let header = if sealed { Header::from_bytes } else { Header::unsealed };
        let header = header(&bytes, length).ok_or_else(damaged)?;
        let resident = bytes_at(&file, header.resident_at..header.end)?;
        if sealed && u64::from(checksum(&resident)) != header.resident_crc {
            return Err(SegmentError::Damaged("the table of pages"));
        }
        Segment::assemble(file, header, sealed, &resident)
            .ok_or(SegmentError::Damaged("the table of pages"))
    }

    fn assemble(file: File, header: Header, sealed: bool, mut resident: &[u8]) -> Option<Segment> {
        let mut part = |size: u64| {
            let (part, rest) = resident.split_at_checked(usize::try_from(size).ok()?)?;
            resident = rest;
            Some(part)
        };
        let groups = header.words.div_ceil(EVERY);
        let sparse = numbers(part(groups.checked_mul(8)?)?);
        let checksums = short_numbers(part(groups.checked_mul(4)?)?);
        let urls = numbers(part(header.pages.checked_mul(8)?)?);
        let hosts = short_numbers(part(header.pages.checked_mul(4)?)?);
        let lengths = part(header.pages)?.to_vec();
        let count = four(part(4)?, 0);
        let mut host_names = Vec::new();
        for _ in 0..count {
            let length = four(part(4)?, 0);
            host_names.push(String::from_utf8(part(length.into())?.to_vec()).ok()?);
        }
        let deferred = numbers(resident);
        // Checked once, so that look-ups need not.
        let fits = (header.words_at.checked_add(header.words.checked_mul(ROW as u64)?)?
            == header.places_at)
            && header.places_at.checked_add(header.pages.checked_mul(PLACE)?)?
                == header.resident_at
            && hosts.iter().all(|host| (*host as usize) < host_names.len())
            && lengths.iter().all(|code| usize::from(*code) < LENGTH_CODES);
        fits.then_some(Segment {
            file,
            header,
            sealed,
            sparse,
            checksums,
            urls,
            hosts,
            lengths,
            host_names,
            deferred,
        })
    }

    /// The number of pages.
    pub(crate) fn pages(&self) -> u32 {
        self.header.pages as u32
    }

    /// The number of words of all pages together.
    pub(crate) fn length(&self) -> u64 {
        self.header.length
    }

    /// The pages with a word. `None` if there are none.
    pub(crate) fn list(&self, hash: u64) -> Result<Option<List>, SegmentError> {
        let Some(group) = self.sparse.partition_point(|first| *first <= hash).checked_sub(1) else {
            return Ok(None);
        };
        let damaged = SegmentError::Damaged("the table of words");
        let first = group as u64 * EVERY;
        // One more row, because it says where the last one's postings end.
        let last = (first + EVERY + 1).min(self.header.words);
        let at = |row: u64| self.header.words_at + row * ROW as u64;
        let rows = bytes_at(&self.file, at(first)..at(last))?;
        let own = rows.len().min(EVERY as usize * ROW);
        if self.sealed && self.checksums.get(group) != Some(&checksum(&rows[..own])) {
            return Err(damaged);
        }
        let rows: Vec<Row> = rows.as_chunks::<ROW>().0.iter().map(Row::of).collect();
        let Some(found) = rows.iter().position(|row| row.hash == hash) else { return Ok(None) };
        let row = &rows[found];
        let end = rows.get(found + 1).map_or(self.header.words_at, |next| next.at);
        let places = row.at.saturating_add(row.size.into());
        if row.at < self.header.postings_at || places > end || end > self.header.words_at {
            return Err(damaged);
        }
        let bytes = bytes_at(&self.file, row.at..places)?;
        if self.sealed && checksum(&bytes) != row.crc {
            return Err(SegmentError::Damaged("postings"));
        }
        Ok(Some(List { count: row.count, bytes, places: places..end }))
    }

    /// The number of words.
    pub(super) fn words(&self) -> u64 {
        self.header.words
    }

    /// The pages with the word in this row.
    pub(super) fn list_at(&self, row: u64) -> Result<Option<List>, SegmentError> {
        let at = self.header.words_at.saturating_add(row.saturating_mul(ROW as u64));
        let hash = bytes_at(&self.file, at..at.saturating_add(8))?;
        self.list(eight(&hash, 0))
    }

    /// Bytes of the places of a list.
    pub(crate) fn places(&self, range: Range<u64>) -> Result<Vec<u8>, SegmentError> {
        bytes_at(&self.file, range)
    }

    /// The URL and title of a page, and where its text is.
    pub(crate) fn text(&self, page: u32) -> Result<TextHead, SegmentError> {
        let damaged = SegmentError::Damaged("a text");
        if page >= self.pages() {
            return Err(damaged);
        }
        let at = self.header.places_at + u64::from(page) * PLACE;
        let place = bytes_at(&self.file, at..at + PLACE)?;
        let at = eight(&place, 0);
        let end = at.saturating_add(four(&place, 8).into());
        if end > self.header.postings_at {
            return Err(damaged);
        }
        TextHead::decode(&bytes_at(&self.file, at..end)?, end)
    }

    /// A chunk of a page's text.
    pub(crate) fn chunk(&self, head: &TextHead, number: usize) -> Result<String, SegmentError> {
        head.chunk(number, |range| match range.end <= self.header.postings_at {
            true => bytes_at(&self.file, range),
            false => Err(SegmentError::Damaged("a text")),
        })
    }
}

struct Row {
    hash: u64,
    count: u32,
    crc: u32,
    at: u64,
    size: u32,
}

impl Row {
    fn of(bytes: &[u8; ROW]) -> Row {
        Row {
            hash: eight(bytes, 0),
            count: four(bytes, 8),
            crc: four(bytes, 12),
            at: eight(bytes, 16),
            size: four(bytes, 24),
        }
    }
}

fn four(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

fn eight(bytes: &[u8], at: usize) -> u64 {
    u64::from(four(bytes, at)) | u64::from(four(bytes, at + 4)) << 32
}

pub(super) fn checksum(bytes: &[u8]) -> u32 {
    let mut crc = flate2::Crc::new();
    crc.update(bytes);
    crc.sum()
}

fn short_numbers(bytes: &[u8]) -> Vec<u32> {
    bytes.as_chunks::<4>().0.iter().map(|four| u32::from_le_bytes(*four)).collect()
}

fn numbers(bytes: &[u8]) -> Vec<u64> {
    bytes.as_chunks::<8>().0.iter().map(|eight| u64::from_le_bytes(*eight)).collect()
}

fn bytes_at(file: &File, range: Range<u64>) -> Result<Vec<u8>, SegmentError> {
    let size = range.end.checked_sub(range.start).and_then(|size| usize::try_from(size).ok());
    let mut bytes = vec![0; size.ok_or(SegmentError::Damaged("an offset"))?];
    file.read_exact_at(&mut bytes, range.start)?;
    Ok(bytes)
}
