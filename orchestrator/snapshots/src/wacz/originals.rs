//! Remembers which payloads have already been written.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::FileExt;

/// The record that holds a payload, as a revisit refers to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Original {
    pub(super) id: String,
    pub(super) uri: String,
    pub(super) date: String,
    pub(super) digest: String,
}

/// Payload digests, and the location of each original's description. The descriptions are in an
/// unnamed temporary file, so that a payload costs about 30 bytes of memory.
#[derive(Debug, Default)]
pub(super) struct Originals {
    /// Half a SHA-256 is enough to distinguish payloads.
    places: HashMap<[u8; 16], (u64, u32)>,
    file: Option<File>,
    length: u64,
}

impl Originals {
    pub(super) fn get(&self, digest: &[u8; 32]) -> io::Result<Option<Original>> {
        let (Some(file), Some((offset, length))) = (&self.file, self.places.get(&half(digest)))
        else {
            return Ok(None);
        };
        let mut bytes = vec![0; *length as usize];
        file.read_exact_at(&mut bytes, *offset)?;
        let text = String::from_utf8_lossy(&bytes);
        let mut words = text.split('\n').map(str::to_owned);
        let mut next = || words.next().unwrap_or_default();
        Ok(Some(Original { id: next(), uri: next(), date: next(), digest: next() }))
    }

    pub(super) fn put(&mut self, digest: &[u8; 32], original: &Original) -> io::Result<()> {
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(tempfile::tempfile()?),
        };
        let Original { id, uri, date, digest: text } = original;
        let line = format!("{id}\n{uri}\n{date}\n{text}");
        let Ok(length) = u32::try_from(line.len()) else { return Ok(()) };
        file.write_all(line.as_bytes())?;
        self.places.insert(half(digest), (self.length, length));
        self.length += u64::from(length);
        Ok(())
    }
}

fn half(digest: &[u8; 32]) -> [u8; 16] {
    let mut half = [0; 16];
    half.copy_from_slice(&digest[..16]);
    half
}
