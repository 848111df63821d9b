//! A range of a snapshot's bytes, read by position.

use std::io::{self, Read};

use crate::Source;

/// Reads the bytes from `position` to `end` of a shared source. Each window has its own position
/// and never moves a cursor of the source, so that many threads can read it at once.
#[derive(Debug, Clone)]
pub(crate) struct Window {
    source: Source,
    position: u64,
    end: u64,
}

impl Window {
    pub(crate) fn new(source: impl Into<Source>, position: u64, end: u64) -> Window {
        Window { source: source.into(), position, end: end.max(position) }
    }

    pub(crate) fn position(&self) -> u64 {
        self.position
    }

    pub(crate) fn remaining(&self) -> u64 {
        self.end - self.position
    }

    /// The same source from `position` on, with the same end.
    pub(crate) fn from(&self, position: u64) -> Window {
        Window::new(self.source.clone(), position.min(self.end), self.end)
    }

    /// The same range, limited to `length`.
    pub(crate) fn first(&self, length: u64) -> Window {
        Window::new(
            self.source.clone(),
            self.position,
            self.end.min(self.position.saturating_add(length)),
        )
    }

    /// Up to `want` bytes at the current position, which does not change.
    pub(crate) fn peek(&self, want: usize) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::with_capacity(want.min(self.remaining() as usize));
        self.clone().take(want as u64).read_to_end(&mut bytes)?;
        Ok(bytes)
    }
}

impl Read for Window {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let want = usize::try_from(self.remaining()).unwrap_or(usize::MAX).min(buf.len());
        if want == 0 {
            return Ok(0);
        }
        let got = self.source.read_at(&mut buf[..want], self.position)?;
        self.position += got as u64;
        Ok(got)
    }
}
