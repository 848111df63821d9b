//! Message bodies. Small ones are held in memory, large ones in an unnamed temporary file.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::unix::fs::FileExt;
use std::sync::Arc;

use bytes::Bytes;

use crate::Error;
use crate::budget::Watched;

/// The default limit for bodies in memory.
pub(crate) const MEMORY: usize = 4 << 20;

/// Parts that arrive with at least this size are kept without copying. Smaller ones would pin more
/// memory than they hold.
const PART: usize = 2 << 10;

/// The body of a request or response. Cloning never copies a spooled body.
#[derive(Debug, Clone)]
pub enum Body {
    /// In memory.
    Bytes(Vec<u8>),
    /// In memory, in the parts in which it arrived.
    Parts(Vec<Bytes>),
    /// In a file, usually an unnamed temporary one, from its start. It is read by position, so that
    /// clones are independent.
    File {
        /// The file.
        file: Arc<File>,
        /// Length of the body in bytes.
        length: u64,
    },
}

impl Body {
    /// An empty body.
    pub fn empty() -> Body {
        Body::Bytes(Vec::new())
    }

    /// Length in bytes.
    pub fn len(&self) -> u64 {
        match self {
            Body::Bytes(bytes) => bytes.len() as u64,
            Body::Parts(parts) => parts.iter().map(|part| part.len() as u64).sum(),
            Body::File { length, .. } => *length,
        }
    }

    /// Whether it is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The bytes, if they are in memory. They are copied if they are in several parts.
    pub fn in_memory(&self) -> Option<Cow<'_, [u8]>> {
        match self {
            Body::Bytes(bytes) => Some(bytes.as_slice().into()),
            Body::Parts(parts) => Some(parts.concat().into()),
            Body::File { .. } => None,
        }
    }

    /// A reader from the start.
    pub fn reader(&self) -> BodyReader<'_> {
        BodyReader { body: self, at: 0 }
    }

    /// A copy of the bytes; an error if there are more than `limit`.
    pub fn to_vec(&self, limit: u64) -> Result<Vec<u8>, Error> {
        if self.len() > limit {
            return Err(Error::TooLarge { what: "a body", limit });
        }
        let mut bytes = Vec::with_capacity(self.len() as usize);
        self.reader()
            .read_to_end(&mut bytes)
            .map_err(|e| Error::io("read", "a spooled body".into(), e))?;
        Ok(bytes)
    }

    /// Reads all of `reader`: up to `memory` bytes into memory, more into a temporary file.
    pub fn spool(mut reader: impl Read, memory: usize) -> io::Result<Body> {
        let mut spool = Spool::new(memory);
        io::copy(&mut reader, &mut spool)?;
        spool.finish()
    }
}

impl Default for Body {
    fn default() -> Body {
        Body::empty()
    }
}

impl From<Vec<u8>> for Body {
    fn from(bytes: Vec<u8>) -> Body {
        Body::Bytes(bytes)
    }
}

/// Reads a [`Body`] from its start. Created by [`Body::reader`].
#[derive(Debug)]
pub struct BodyReader<'a> {
    body: &'a Body,
    at: u64,
}

impl Read for BodyReader<'_> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let left = self.body.len().saturating_sub(self.at);
        let want = usize::try_from(left).unwrap_or(usize::MAX).min(buf.len());
        let got = match self.body {
            Body::Bytes(bytes) => {
                let at = self.at as usize;
                buf[..want].copy_from_slice(&bytes[at..at + want]);
                want
            }
            Body::Parts(parts) => read_parts(parts, self.at, &mut buf[..want]),
            Body::File { file, .. } => file.read_at(&mut buf[..want], self.at)?,
        };
        self.at += got as u64;
        Ok(got)
    }
}

/// Reads from offset `at`, within one part. Returns the number of bytes read.
fn read_parts(parts: &[Bytes], mut at: u64, buf: &mut [u8]) -> usize {
    for part in parts {
        if at < part.len() as u64 {
            let rest = &part[at as usize..];
            let count = rest.len().min(buf.len());
            buf[..count].copy_from_slice(&rest[..count]);
            return count;
        }
        at -= part.len() as u64;
    }
    0
}

/// Collects a body of unknown length: in memory first, in a temporary file once it grows.
#[derive(Debug)]
pub struct Spool {
    memory: usize,
    /// Large parts as they arrived, followed by the buffer that is being filled.
    parts: Vec<Bytes>,
    bytes: Vec<u8>,
    file: Option<Watched>,
    length: u64,
}

impl Spool {
    /// A spool that switches to a file beyond `memory` bytes.
    pub fn new(memory: usize) -> Spool {
        Spool { memory, parts: Vec::new(), bytes: Vec::new(), file: None, length: 0 }
    }

    /// Appends a part. Large parts are not copied.
    pub fn push(&mut self, part: Bytes) -> io::Result<()> {
        if part.len() < PART || !self.fits(part.len()) {
            return self.write_all(&part);
        }
        self.close_part();
        self.length += part.len() as u64;
        self.parts.push(part);
        Ok(())
    }

    /// The number of bytes written.
    pub fn len(&self) -> u64 {
        self.length
    }

    /// Whether nothing has been written.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// The body.
    pub fn finish(mut self) -> io::Result<Body> {
        if !self.parts.is_empty() {
            self.close_part();
        }
        Ok(match self.file {
            None if self.parts.is_empty() => Body::Bytes(self.bytes),
            None => Body::Parts(self.parts),
            Some(file) => Body::File { file: Arc::new(file.into_file()), length: self.length },
        })
    }

    /// Whether this many more bytes still fit in memory.
    fn fits(&self, more: usize) -> bool {
        self.file.is_none() && self.length + more as u64 <= self.memory as u64
    }

    fn close_part(&mut self) {
        if !self.bytes.is_empty() {
            self.parts.push(std::mem::take(&mut self.bytes).into());
        }
    }
}

impl Write for Spool {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        if self.file.is_none() && !self.fits(buf.len()) {
            let mut file = Watched::temporary()?;
            self.close_part();
            for part in std::mem::take(&mut self.parts) {
                file.write_all(&part)?;
            }
            self.file = Some(file);
        }
        let written = match &mut self.file {
            Some(file) => file.write(buf)?,
            None => {
                self.bytes.extend_from_slice(buf);
                buf.len()
            }
        };
        self.length += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn goes_to_disk_and_reads_back() {
        for size in [0, 9, 10, 11, 100_000] {
            let bytes: Vec<u8> = (0..size).map(|i| i as u8).collect();
            let body = Body::spool(&bytes[..], 10).unwrap();
            assert_eq!(matches!(body, Body::File { .. }), size > 10);
            assert_eq!(body.len(), size as u64);
            assert_eq!(body.clone().to_vec(1 << 20).unwrap(), bytes);
            assert_eq!(body.to_vec(1 << 20).unwrap(), bytes);
        }
        assert!(Body::Bytes(vec![0; 11]).to_vec(10).is_err());
    }

    #[test]
    fn parts_read_as_one_whatever_their_sizes() {
        for sizes in
            [&[PART, 5, PART + 1][..], &[5, 5], &[PART], &[5, PART, 5, 5, 3 * PART], &[9 * PART, 7]]
        {
            let mut spool = Spool::new(8 * PART);
            let mut expect = Vec::new();
            for (n, size) in sizes.iter().enumerate() {
                let part: Vec<u8> = (0..*size).map(|i| (i * 7 + n) as u8).collect();
                expect.extend_from_slice(&part);
                spool.push(part.into()).unwrap();
            }
            let body = spool.finish().unwrap();
            assert_eq!(matches!(body, Body::File { .. }), expect.len() > 8 * PART);
            assert_eq!(
                matches!(body, Body::Parts(_)),
                expect.len() <= 8 * PART && expect.len() >= PART
            );
            assert_eq!(body.len(), expect.len() as u64);
            assert_eq!(body.to_vec(1 << 20).unwrap(), expect);
            assert!(body.in_memory().is_none_or(|bytes| *bytes == *expect));
        }
    }
}
