//! Reads a stream of records from start to end, and skips damage.

use std::io::{self, BufReader, Read};

use flate2::bufread::GzDecoder;

use super::read::{self, GZIP_MAGIC, IN_MEMORY, READ_AHEAD, gzip};
use super::window::Window;
use super::{Record, RecordRef, arc, header};
use crate::{Damage, Error};

/// How many bytes after a record in its gzip member are inflated to find the member's end.
const MAX_STRAY: u64 = 64 << 20;
/// How many bytes of the file are searched at once for the next record.
const SEARCH: usize = 256 << 10;

/// The records of one stream in file order. Damage is returned as an error, and the next call
/// continues at the next readable record.
#[derive(Debug)]
pub(crate) struct Scanner {
    segment: u32,
    name: String,
    whole: Window,
    start: u64,
    position: u64,
    compressed: Option<bool>,
    pending: Option<Error>,
}

type Item = Result<(RecordRef, Record), Error>;

impl Scanner {
    pub(crate) fn new(segment: u32, name: String, whole: Window) -> Scanner {
        let start = whole.position();
        Scanner { segment, name, whole, start, position: start, compressed: None, pending: None }
    }

    fn step(&mut self) -> Result<Option<(RecordRef, Record)>, Damage> {
        loop {
            let here = self.whole.from(self.position);
            let ahead = here.peek(64).map_err(|e| Damage::Io(e.to_string()))?;
            let blank = ahead.iter().take_while(|b| matches!(b, b'\r' | b'\n')).count();
            if ahead.is_empty() {
                return Ok(None);
            }
            if blank > 0 {
                self.position += blank as u64;
                continue;
            }
            let compressed = ahead.starts_with(&GZIP_MAGIC);
            if compressed || starts_record(&ahead) {
                self.compressed.get_or_insert(compressed);
            }
            let offset = self.position;
            let found = if compressed { self.member(here)? } else { Some(self.plain(here)?) };
            if let Some((record, length)) = found {
                return Ok(Some((
                    RecordRef { segment: self.segment, offset: offset - self.start, length },
                    record,
                )));
            }
        }
    }

    /// The record in the gzip member at the current position, and the member's length; `None` if it
    /// is empty.
    fn member(&mut self, here: Window) -> Result<Option<(Record, u64)>, Damage> {
        let mut decoder = GzDecoder::new(BufReader::with_capacity(READ_AHEAD, here.clone()));
        let (version, headers, mut ahead) = match read::head(&mut decoder) {
            Ok(head) => head,
            // Some writers end their files with an empty member.
            Err(Damage::Truncated { found: 0, .. }) => {
                self.position = end_of(decoder);
                return Ok(None);
            }
            Err(damage) => return Err(damage),
        };
        let length = read::content_length(&headers)?;
        let surplus = if (ahead.len() as u64) > length {
            ahead.split_off(length as usize)
        } else {
            Vec::new()
        };
        let block = if length <= IN_MEMORY {
            Some(read::inflate(&mut decoder, ahead, length)?)
        } else {
            let left = length - ahead.len() as u64;
            // A large block is read again when it is wanted; here only its end is looked for.
            let passed =
                io::copy(&mut decoder.by_ref().take(left), &mut io::sink()).map_err(gzip)?;
            if passed < left {
                return Err(Damage::Truncated { expected: length, found: length - left + passed });
            }
            None
        };
        let stray = Stray::drain(surplus, &mut decoder)?;
        let end = end_of(decoder);
        let offset = self.position;
        self.position = end;
        // An index leads to members, so a second record in one would never be found.
        if stray.bytes > 0 {
            let damage = if stray.record {
                Damage::SharedMember
            } else {
                Damage::Stray { bytes: stray.bytes }
            };
            self.pending = Some(self.damaged(offset, damage, Some(end)));
        }
        let record = match block {
            Some(block) => Record { version, headers, block: super::Block::from_bytes(block) },
            None => read::read_at(here.first(end - offset))?,
        };
        Ok(Some((record, end - offset)))
    }

    /// The uncompressed record at the current position, and its length without the following blank
    /// lines.
    fn plain(&mut self, here: Window) -> Result<(Record, u64), Damage> {
        let offset = self.position;
        let (record, end) = read::plain(here)?;
        let block = end - record.block.remaining();
        self.position = end;
        let behind = self.whole.from(end).peek(4 << 10).map_err(|e| Damage::Io(e.to_string()))?;
        let next = behind.iter().position(|b| !matches!(b, b'\r' | b'\n')).map(|at| &behind[at..]);
        if next.is_some_and(|bytes| !starts_record(bytes)) {
            // The length is wrong, or other bytes follow. If a record starts inside the block, the
            // length is wrong.
            let from = if self.search(block).is_some_and(|at| at < end) { block } else { end };
            let resumes = self.search(from);
            let until = resumes.unwrap_or(self.position + self.whole.from(end).remaining());
            self.position = until;
            let damage = Damage::Stray { bytes: until.saturating_sub(end) };
            self.pending = Some(self.damaged(end, damage, resumes));
        }
        Ok((record, end - offset))
    }

    /// Skips damage at the current position.
    fn recover(&mut self, damage: Damage) -> Error {
        let offset = self.position;
        let resumes = match damage {
            Damage::Io(_) => None,
            _ => self.search(offset + 1),
        };
        self.position = resumes.unwrap_or(offset + self.whole.from(offset).remaining());
        self.damaged(offset, damage, resumes)
    }

    fn damaged(&self, offset: u64, damage: Damage, resumes: Option<u64>) -> Error {
        let relative = |at: u64| at - self.start;
        Error::Damaged {
            segment: self.name.clone(),
            offset: relative(offset),
            damage,
            resumes_at: resumes.map(relative),
        }
    }

    /// The first position at or after `from` with a record that is readable at least up to its
    /// block.
    fn search(&self, from: u64) -> Option<u64> {
        // The preceding byte is checked too: an uncompressed record starts a line.
        let mut at = from.saturating_sub(1).max(self.start);
        loop {
            let bytes = self.whole.from(at).peek(SEARCH).ok()?;
            if bytes.len() < 4 {
                return None;
            }
            for index in 1..bytes.len() - 2 {
                let candidate = &bytes[index..];
                // While the encoding of the stream is unknown, both are tried.
                let member =
                    self.compressed != Some(false) && candidate.starts_with(&[0x1f, 0x8b, 8]);
                let plain = self.compressed != Some(true)
                    && bytes[index - 1] == b'\n'
                    && !candidate.starts_with(&GZIP_MAGIC)
                    && starts_record(candidate);
                if (member || plain) && self.readable(at + index as u64, member) {
                    return Some(at + index as u64);
                }
            }
            // The last bytes are searched again, together with the bytes that follow them.
            at += (bytes.len() - 3) as u64;
        }
    }

    fn readable(&self, at: u64, compressed: bool) -> bool {
        let window = self.whole.from(at);
        let head = if compressed {
            read::head(&mut GzDecoder::new(BufReader::with_capacity(4 << 10, window)))
        } else {
            read::head(&mut { window })
        };
        head.is_ok_and(|(_, headers, _)| read::content_length(&headers).is_ok())
    }
}

impl Iterator for Scanner {
    type Item = Item;

    fn next(&mut self) -> Option<Item> {
        if let Some(error) = self.pending.take() {
            return Some(Err(error));
        }
        match self.step() {
            Ok(found) => found.map(Ok),
            Err(damage) => Some(Err(self.recover(damage))),
        }
    }
}

/// Whether the first gzip member of a stream holds more than one record, as when a whole WARC was
/// compressed at once.
pub(crate) fn shares_first_member(stream: Window) -> bool {
    let mut decoder = GzDecoder::new(BufReader::with_capacity(READ_AHEAD, stream));
    let Ok((_, headers, ahead)) = read::head(&mut decoder) else { return false };
    let Ok(length) = read::content_length(&headers) else { return false };
    let mut rest = io::Cursor::new(ahead).chain(decoder);
    if io::copy(&mut rest.by_ref().take(length), &mut io::sink())
        .is_ok_and(|passed| passed < length)
    {
        return false;
    }
    let mut behind = Vec::new();
    let _ = rest.take(64).read_to_end(&mut behind);
    let blank = behind.iter().take_while(|b| matches!(b, b'\r' | b'\n')).count();
    blank < behind.len() && starts_record(&behind[blank..])
}

fn starts_record(bytes: &[u8]) -> bool {
    bytes.starts_with(b"WARC/")
        || bytes.starts_with(&GZIP_MAGIC)
        || (arc::looks_like_start(bytes)
            && matches!(arc::parse(&bytes[..bytes.len().min(8 << 10)]), Ok(Some(_))))
        || (bytes.len() < 5 && header::looks_like_start(bytes))
}

/// The end of the member that `decoder` has read.
fn end_of(decoder: GzDecoder<BufReader<Window>>) -> u64 {
    let reader = decoder.into_inner();
    reader.get_ref().position() - reader.buffer().len() as u64
}

/// Bytes after a record in its member, other than blank lines.
struct Stray {
    bytes: u64,
    record: bool,
}

impl Stray {
    fn drain(mut ahead: Vec<u8>, decoder: &mut impl Read) -> Result<Stray, Damage> {
        let mut stray = Stray { bytes: 0, record: false };
        loop {
            let blank = if stray.bytes > 0 {
                0
            } else {
                ahead.iter().take_while(|b| matches!(b, b'\r' | b'\n')).count()
            };
            let rest = &ahead[blank..];
            if stray.bytes == 0 && !rest.is_empty() {
                stray.record = starts_record(rest);
            }
            stray.bytes += rest.len() as u64;
            if stray.bytes > MAX_STRAY {
                return Err(Damage::Stray { bytes: stray.bytes });
            }
            ahead.resize(16 << 10, 0);
            let got = decoder.read(&mut ahead).map_err(gzip)?;
            ahead.truncate(got);
            if got == 0 {
                return Ok(stray);
            }
        }
    }
}
