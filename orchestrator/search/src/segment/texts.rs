//! The texts of pages, in chunks that are compressed on their own. A snippet needs only one of
//! them.

use super::postings::{put, take};
use super::{SegmentError, TEXT_AT};
use crate::words::spans;

/// Words of a chunk.
const CHUNK: u32 = 1024;
/// The largest chunk in bytes: words may be long, and blanks too.
const LARGEST: usize = 8 << 20;
const DAMAGED: SegmentError = SegmentError::Damaged("a text");

/// Compresses the texts of pages.
pub(super) struct TextWriter {
    zstd: zstd::bulk::Compressor<'static>,
}

impl TextWriter {
    pub(super) fn new() -> std::io::Result<TextWriter> {
        let mut zstd = zstd::bulk::Compressor::new(1)?;
        zstd.include_checksum(true)?;
        Ok(TextWriter { zstd })
    }

    /// Encodes a page. Returns the size of the part before the chunks.
    pub(super) fn encode(
        &mut self,
        url: &str,
        title: &str,
        text: &str,
        out: &mut Vec<u8>,
    ) -> std::io::Result<usize> {
        let (mut cuts, mut words, mut last) = (Vec::new(), 0u32, 0);
        spans(text, |span| {
            if words > 0 && words.is_multiple_of(CHUNK) {
                cuts.push(last..span.start);
                last = span.start;
            }
            words += 1;
        });
        cuts.push(last..text.len());
        let chunks = cuts.iter().map(|cut| self.zstd.compress(text[cut.clone()].as_bytes()));
        let chunks = chunks.collect::<std::io::Result<Vec<_>>>()?;
        let begin = out.len();
        for part in [url, title] {
            put(out, part.len() as u32);
            out.extend_from_slice(part.as_bytes());
        }
        put(out, chunks.len() as u32);
        for (chunk, cut) in chunks.iter().zip(&cuts) {
            put(out, chunk.len() as u32);
            put(out, cut.len() as u32);
        }
        let head = out.len() - begin;
        chunks.iter().for_each(|chunk| out.extend_from_slice(chunk));
        Ok(head)
    }
}

/// What a page's text begins with: everything but the chunks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TextHead {
    pub(crate) url: String,
    pub(crate) title: String,
    /// The sizes of the chunks, compressed and not.
    chunks: Vec<(u32, u32)>,
    /// Where the chunks are in the file.
    at: u64,
}

impl TextHead {
    pub(super) fn decode(mut bytes: &[u8], at: u64) -> Result<TextHead, SegmentError> {
        let mut text = || -> Option<String> {
            let length = take(&mut bytes)? as usize;
            let (text, rest) = bytes.split_at_checked(length)?;
            bytes = rest;
            String::from_utf8(text.to_vec()).ok()
        };
        let (url, title) = text().zip(text()).ok_or(DAMAGED)?;
        let count = take(&mut bytes).ok_or(DAMAGED)?;
        let mut chunks = Vec::new();
        for _ in 0..count {
            chunks.push(take(&mut bytes).zip(take(&mut bytes)).ok_or(DAMAGED)?);
        }
        Ok(TextHead { url, title, chunks, at })
    }

    /// The chunk with the word at this place, and the place of its first word.
    pub(crate) fn chunk_of(&self, place: u32) -> (usize, u32) {
        let chunk = (place.saturating_sub(TEXT_AT) / CHUNK) as usize;
        let chunk = chunk.min(self.chunks.len().saturating_sub(1));
        (chunk, TEXT_AT + chunk as u32 * CHUNK)
    }

    /// Whether there is a chunk behind this one.
    pub(crate) fn goes_on(&self, chunk: usize) -> bool {
        chunk + 1 < self.chunks.len()
    }

    /// The text of a chunk.
    pub(crate) fn chunk(
        &self,
        number: usize,
        read: impl FnOnce(std::ops::Range<u64>) -> Result<Vec<u8>, SegmentError>,
    ) -> Result<String, SegmentError> {
        let Some((size, whole)) = self.chunks.get(number).copied() else {
            return Ok(String::new());
        };
        let before: u64 = self.chunks[..number].iter().map(|(size, _)| u64::from(*size)).sum();
        let start = self.at.checked_add(before).ok_or(DAMAGED)?;
        let bytes = read(start..start.checked_add(size.into()).ok_or(DAMAGED)?)?;
        // Before the length decides how much memory is taken.
        if whole as usize > LARGEST {
            return Err(DAMAGED);
        }
        let text = zstd::bulk::decompress(&bytes, whole as usize).map_err(|_| DAMAGED)?;
        String::from_utf8(text).map_err(|_| DAMAGED)
    }
}
