//! The block of a record, read as a stream or taken whole.

use std::io::{self, BufReader, Read};

use flate2::bufread::GzDecoder;

use super::window::Window;

/// The bytes of a record. Small compressed blocks are already in memory. Others are read lazily
/// from the file, by position, so that blocks of one file can be read in parallel.
#[derive(Debug)]
pub struct Block {
    /// Bytes read ahead; those before `at` are consumed.
    buffer: Vec<u8>,
    at: usize,
    rest: Rest,
}

#[derive(Debug)]
enum Rest {
    None,
    File(Window),
    Gzip { decoder: Box<GzDecoder<BufReader<Window>>>, left: u64 },
}

impl Block {
    /// A block that is entirely in memory.
    pub fn from_bytes(bytes: Vec<u8>) -> Block {
        Block { buffer: bytes, at: 0, rest: Rest::None }
    }

    /// A block with the bytes of a body.
    pub(crate) fn from_body(body: crate::Body) -> Block {
        match body {
            crate::Body::Bytes(bytes) => Block::from_bytes(bytes),
            crate::Body::Parts(parts) => Block::from_bytes(parts.concat()),
            crate::Body::File { file, length } => {
                Block::from_window(Vec::new(), Window::new(file, 0, length))
            }
        }
    }

    pub(super) fn from_window(ahead: Vec<u8>, window: Window) -> Block {
        Block { buffer: ahead, at: 0, rest: Rest::File(window) }
    }

    pub(super) fn from_gzip(
        ahead: Vec<u8>,
        decoder: GzDecoder<BufReader<Window>>,
        left: u64,
    ) -> Block {
        Block { buffer: ahead, at: 0, rest: Rest::Gzip { decoder: Box::new(decoder), left } }
    }

    /// How many bytes remain to be read.
    pub fn remaining(&self) -> u64 {
        let ahead = (self.buffer.len() - self.at) as u64;
        ahead
            + match &self.rest {
                Rest::None => 0,
                Rest::File(window) => window.remaining(),
                Rest::Gzip { left, .. } => *left,
            }
    }

    /// The bytes that are already in memory; all of them, if the whole block is.
    pub fn in_memory(&self) -> &[u8] {
        &self.buffer[self.at..]
    }

    /// The rest of the block as a buffer, with the offset of the unread part. Without a copy if the
    /// block is in memory.
    pub fn into_parts(mut self, limit: u64) -> Result<(Vec<u8>, usize), crate::Error> {
        if self.remaining() > limit {
            return Err(crate::Error::TooLarge { what: "a record block", limit });
        }
        let wanted = self.remaining() as usize - (self.buffer.len() - self.at);
        self.read_on(wanted).map_err(|e| crate::Error::io("read", "a record block".into(), e))?;
        Ok((self.buffer, self.at))
    }

    /// Skips `count` bytes that are in memory.
    pub(super) fn consume(&mut self, count: usize) {
        self.at = (self.at + count).min(self.buffer.len());
    }

    /// Reads ahead until `enough` returns true, the block ends, or `limit` bytes are available.
    /// Returns the available bytes.
    pub(super) fn fill_to(
        &mut self,
        limit: usize,
        enough: impl Fn(&[u8]) -> bool,
    ) -> io::Result<&[u8]> {
        while self.in_memory().len() < limit && !enough(self.in_memory()) {
            if self.read_on(8 << 10)? == 0 {
                break;
            }
        }
        Ok(self.in_memory())
    }

    /// Reads `wanted` more bytes into the buffer, fewer at the end.
    fn read_on(&mut self, wanted: usize) -> io::Result<usize> {
        let before = self.buffer.len();
        self.buffer.reserve_exact(wanted.min(self.rest_len()));
        match &mut self.rest {
            Rest::None => {}
            Rest::File(window) => {
                window.take(wanted as u64).read_to_end(&mut self.buffer)?;
            }
            rest @ Rest::Gzip { .. } => {
                GzipRest(rest).take(wanted as u64).read_to_end(&mut self.buffer)?;
            }
        }
        Ok(self.buffer.len() - before)
    }

    fn rest_len(&self) -> usize {
        (self.remaining() as usize).saturating_sub(self.buffer.len() - self.at)
    }
}

impl Read for Block {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        if self.at < self.buffer.len() {
            let got = self.in_memory().read(buf)?;
            self.at += got;
            return Ok(got);
        }
        match &mut self.rest {
            Rest::None => Ok(0),
            Rest::File(window) => window.read(buf),
            rest @ Rest::Gzip { .. } => GzipRest(rest).read(buf),
        }
    }
}

/// Reads the inflated rest of a block. At its end it also reads the end of the member, so that a
/// wrong checksum is detected.
struct GzipRest<'a>(&'a mut Rest);

impl Read for GzipRest<'_> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let Rest::Gzip { decoder, left } = self.0 else { return Ok(0) };
        let want = usize::try_from(*left).unwrap_or(usize::MAX).min(buf.len());
        if want == 0 {
            return Ok(0);
        }
        let got = decoder.read(&mut buf[..want])?;
        if got == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        *left -= got as u64;
        if *left == 0 {
            io::copy(&mut decoder.by_ref().take(TAIL), &mut io::sink())?;
        }
        Ok(got)
    }
}

/// Two line ends follow a block. A little more is accepted on the way to the checksum.
pub(super) const TAIL: u64 = 1 << 10;
