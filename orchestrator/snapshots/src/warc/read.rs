//! Reads the record at an offset.

use std::io::{self, BufReader, Read};

use flate2::bufread::GzDecoder;

use super::block::{Block, TAIL};
use super::header::{self, Version};
use super::window::Window;
use super::{MAX_HEAD, Record, arc};
use crate::{Damage, Headers};

/// Compressed blocks up to this size are inflated into memory at once; larger ones stream.
pub(super) const IN_MEMORY: u64 = 4 << 20;
/// The read size if the length of a record is unknown.
pub(super) const READ_AHEAD: usize = 64 << 10;
/// The maximum size of a single read, however long a record claims to be.
const MAX_READ: u64 = 512 << 10;

/// Reads the record at the start of `window`, which ends with the record if its length is known.
/// Only the head, and a small compressed block, is read before this returns.
pub(crate) fn read_at(window: Window) -> Result<Record, Damage> {
    if is_gzip(&window)? {
        let capacity = window.remaining().clamp(512, MAX_READ) as usize;
        let mut decoder = GzDecoder::new(BufReader::with_capacity(capacity, window));
        let (version, headers, ahead) = head(&mut decoder)?;
        let length = content_length(&headers)?;
        if length <= IN_MEMORY {
            let block = inflate(&mut decoder, ahead, length)?;
            // The end of the member is read as well, so that a wrong checksum is found.
            io::copy(&mut decoder.by_ref().take(TAIL), &mut io::sink()).map_err(gzip)?;
            return Ok(Record { version, headers, block: Block::from_bytes(block) });
        }
        let left = length - ahead.len() as u64;
        Ok(Record { version, headers, block: Block::from_gzip(ahead, decoder, left) })
    } else {
        plain(window).map(|(record, _)| record)
    }
}

/// Reads an uncompressed record. Returns it with the offset after its block.
pub(super) fn plain(mut window: Window) -> Result<(Record, u64), Damage> {
    let whole = window.clone();
    let (version, headers, mut ahead) = head(&mut window)?;
    let length = content_length(&headers)?;
    let start = window.position() - ahead.len() as u64;
    let block = whole.from(start);
    if block.remaining() < length {
        return Err(Damage::Truncated { expected: length, found: block.remaining() });
    }
    let end = start + length;
    ahead.truncate(usize::try_from(length).unwrap_or(usize::MAX));
    let rest = block.first(length).from(start + ahead.len() as u64);
    Ok((Record { version, headers, block: Block::from_window(ahead, rest) }, end))
}

/// Reads a record header from a stream. Returns it with the following bytes that were read too.
pub(super) fn head(stream: &mut impl Read) -> Result<(Version, Headers, Vec<u8>), Damage> {
    let mut bytes = vec![0; 4 << 10];
    let mut filled = 0;
    loop {
        if filled == bytes.len() {
            bytes.resize(filled * 2, 0);
        }
        let got = stream.read(&mut bytes[filled..]).map_err(gzip)?;
        filled += got;
        // Blank lines before a record belong to the previous one.
        let blank = bytes[..filled].iter().take_while(|b| matches!(b, b'\r' | b'\n')).count();
        if let Some((version, headers, end)) = parse(&bytes[blank..filled])? {
            bytes.truncate(filled);
            bytes.drain(..blank + end);
            return Ok((version, headers, bytes));
        }
        if got == 0 {
            let found = (filled - blank) as u64;
            return Err(Damage::Truncated { expected: found + 1, found });
        }
        if filled > MAX_HEAD {
            return Err(Damage::HeadTooLong { limit: MAX_HEAD });
        }
    }
}

fn parse(bytes: &[u8]) -> Result<Option<(Version, Headers, usize)>, Damage> {
    if bytes.is_empty() {
        Ok(None)
    } else if !header::looks_like_start(bytes) && arc::looks_like_start(bytes) {
        arc::parse(bytes)
    } else {
        header::parse(bytes)
    }
}

/// Reads the block from `decoder`. `ahead` is its start, which was already read.
pub(super) fn inflate(
    decoder: &mut impl Read,
    mut ahead: Vec<u8>,
    length: u64,
) -> Result<Vec<u8>, Damage> {
    let wanted = length as usize;
    if ahead.len() < wanted {
        ahead.reserve_exact(wanted - ahead.len());
        decoder
            .by_ref()
            .take((wanted - ahead.len()) as u64)
            .read_to_end(&mut ahead)
            .map_err(gzip)?;
    }
    if ahead.len() < wanted {
        return Err(Damage::Truncated { expected: length, found: ahead.len() as u64 });
    }
    ahead.truncate(wanted);
    Ok(ahead)
}

pub(super) fn content_length(headers: &Headers) -> Result<u64, Damage> {
    let text = headers.get_str("Content-Length").unwrap_or("").trim();
    text.parse().map_err(|_| {
        Damage::Head(format!(
            "Content-Length {:?} is no number",
            text.chars().take(32).collect::<String>()
        ))
    })
}

pub(super) fn is_gzip(window: &Window) -> Result<bool, Damage> {
    Ok(window.peek(2).map_err(|e| Damage::Io(e.to_string()))? == GZIP_MAGIC)
}

pub(super) const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];

pub(super) fn gzip(error: io::Error) -> Damage {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => Damage::Gzip("it ends too early".to_owned()),
        io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData => Damage::Gzip(error.to_string()),
        // It was not read, so nothing is known of it.
        _ => Damage::Io(error.to_string()),
    }
}
