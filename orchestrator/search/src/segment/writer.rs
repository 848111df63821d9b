//! Writes a segment.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Seek, Write};
use std::os::unix::fs::FileExt;

use super::codes::length_code;
use super::header::{HEADER, Header, digest_of};
use super::reader::{EVERY, ROW, checksum};
use super::runs::{Gatherer, MEMORY, Run, merge};
use super::texts::TextWriter;
use super::{ADDRESS_AT, Document, MOST_SHORT, TEXT_AT, TITLE_AT, hash_of};

/// Writes one segment, page after page. Without [`SegmentWriter::finish`] the file has no header,
/// so that nobody takes it for a segment.
pub(crate) struct SegmentWriter<'a> {
    file: &'a File,
    out: BufWriter<&'a File>,
    at: u64,
    texts: TextWriter,
    gatherer: Gatherer,
    runs: Vec<Run>,
    length: u64,
    places: Vec<u8>,
    urls: Vec<u64>,
    hosts: Vec<u32>,
    lengths: Vec<u8>,
    host_numbers: HashMap<String, u32>,
    host_names: Vec<u8>,
    deferred: Vec<u64>,
    buffer: Vec<u8>,
}

impl<'a> SegmentWriter<'a> {
    /// Begins a segment in an empty file.
    pub(crate) fn new(file: &'a File) -> io::Result<SegmentWriter<'a>> {
        SegmentWriter::within(file, MEMORY)
    }

    /// The same, with about so many bytes of postings in memory.
    pub(super) fn within(file: &'a File, memory: usize) -> io::Result<SegmentWriter<'a>> {
        let mut out = BufWriter::with_capacity(1 << 18, file);
        // Empty until all else is written: without its header, the file is no segment.
        out.write_all(&[0; HEADER])?;
        Ok(SegmentWriter {
            file,
            out,
            at: HEADER as u64,
            texts: TextWriter::new()?,
            gatherer: Gatherer::new(memory),
            runs: Vec::new(),
            length: 0,
            places: Vec::new(),
            urls: Vec::new(),
            hosts: Vec::new(),
            lengths: Vec::new(),
            host_numbers: HashMap::new(),
            host_names: Vec::new(),
            deferred: Vec::new(),
            buffer: Vec::new(),
        })
    }

    /// Adds a page.
    pub(crate) fn add(&mut self, page: &Document) -> io::Result<()> {
        let number = self.urls.len() as u32;
        self.buffer.clear();
        let head = self.texts.encode(&page.url, &page.title, &page.text, &mut self.buffer)?;
        self.places.extend(self.at.to_le_bytes());
        self.places.extend((head as u32).to_le_bytes());
        self.out.write_all(&self.buffer)?;
        self.at += self.buffer.len() as u64;

        let address = page.url.split_once("://").map_or(page.url.as_str(), |(_, rest)| rest);
        let length = self.gatherer.read(&page.title, TITLE_AT, MOST_SHORT)
            + self.gatherer.read(address, ADDRESS_AT, MOST_SHORT)
            + self.gatherer.read(&page.text, TEXT_AT, usize::MAX);
        if self.gatherer.end_page(number) {
            self.runs.push(self.gatherer.flush()?);
        }
        self.length += u64::from(length);
        self.lengths.push(length_code(length));
        self.urls.push(hash_of("page", &page.url));
        let host = self.host(&page.host);
        self.hosts.push(host);
        Ok(())
    }

    /// Notes a page that the archive alone cannot answer.
    pub(crate) fn defer(&mut self, url: &str) {
        self.deferred.push(hash_of("page", url));
    }

    fn host(&mut self, host: &str) -> u32 {
        if let Some(number) = self.host_numbers.get(host) {
            return *number;
        }
        let number = self.host_numbers.len() as u32;
        self.host_numbers.insert(host.to_owned(), number);
        self.host_names.extend((host.len() as u32).to_le_bytes());
        self.host_names.extend(host.as_bytes());
        number
    }

    /// Completes the file, for an archive in this state.
    pub(crate) fn finish(mut self, state: &str) -> io::Result<()> {
        self.runs.push(self.gatherer.flush()?);
        let postings_at = self.at;
        // The rows come after all postings, so they wait in a file of their own.
        let mut rows = BufWriter::new(tempfile::tempfile()?);
        let (mut words, mut sparse, mut bytes) = (0u64, Vec::new(), Vec::new());
        let (mut group, mut checksums) = (Vec::new(), Vec::new());
        merge(std::mem::take(&mut self.runs), |hash, list| {
            bytes.clear();
            let (count, pages) = list.finish(&mut bytes);
            if words.is_multiple_of(EVERY) {
                sparse.extend(hash.to_le_bytes());
                checksums.push(checksum(&group));
                group.clear();
            }
            words += 1;
            let mut row = [0; ROW];
            row[..8].copy_from_slice(&hash.to_le_bytes());
            row[8..12].copy_from_slice(&count.to_le_bytes());
            row[12..16].copy_from_slice(&checksum(&bytes[..pages]).to_le_bytes());
            row[16..24].copy_from_slice(&self.at.to_le_bytes());
            row[24..].copy_from_slice(&(pages as u32).to_le_bytes());
            rows.write_all(&row)?;
            group.extend(row);
            self.out.write_all(&bytes)?;
            self.at += bytes.len() as u64;
            Ok(())
        })?;
        let words_at = self.at;
        let mut rows = rows.into_inner().map_err(io::IntoInnerError::into_error)?;
        rows.rewind()?;
        self.at += io::copy(&mut BufReader::new(rows), &mut self.out)?;
        let places_at = self.at;
        self.out.write_all(&self.places)?;
        self.at += self.places.len() as u64;

        let resident_at = self.at;
        checksums.push(checksum(&group));
        let mut resident = sparse;
        // The first is of no group.
        checksums.iter().skip(1).for_each(|checksum| resident.extend(checksum.to_le_bytes()));
        self.urls.iter().for_each(|url| resident.extend(url.to_le_bytes()));
        self.hosts.iter().for_each(|host| resident.extend(host.to_le_bytes()));
        resident.extend_from_slice(&self.lengths);
        resident.extend((self.host_numbers.len() as u32).to_le_bytes());
        resident.extend_from_slice(&self.host_names);
        self.deferred.sort_unstable();
        self.deferred.iter().for_each(|url| resident.extend(url.to_le_bytes()));
        self.out.write_all(&resident)?;
        self.out.flush()?;
        let header = Header {
            state: digest_of(state),
            pages: self.urls.len() as u64,
            words,
            length: self.length,
            postings_at,
            words_at,
            places_at,
            resident_at,
            resident_crc: checksum(&resident).into(),
            end: resident_at + resident.len() as u64,
        };
        self.file.write_all_at(&header.to_bytes(), 0)
    }
}
