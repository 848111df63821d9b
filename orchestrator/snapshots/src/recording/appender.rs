//! An append-only file in which every entry is whole or absent, optimised for speed.
//!
//! An entry is written from its second byte on; its first byte is written last. If the process is
//! killed at any moment, an entry either starts correctly and is whole, or does not start at all.
//! After an error, such as a full disk, the file is truncated to the last entry.
//!
//! Most of the time of an append is spent on allocating memory and blocks for new pages of the
//! file. Therefore a large file is filled ahead with line ends, one large page at a time. Line ends
//! are allowed between records, so the file reads the same. They are removed when the file is
//! closed.

use std::fs::{File, OpenOptions};
use std::io::{self, IoSlice, Read};
use std::os::unix::fs::FileExt;

use camino::Utf8Path;
use rustix::fs::FallocateFlags;

use super::append::Piece;
use crate::Error;

/// The size of the fill: one page of the size that file systems handle best.
const FILL: usize = 64 << 10;
/// Smaller files are not filled ahead.
const FILL_FROM: u64 = 1 << 20;
/// How far ahead disk blocks are reserved, without changing the file's length.
const RESERVE: u64 = 16 << 20;

/// The fill byte. After the last entry it has no meaning.
pub(super) const FILLER: u8 = b'\n';
static FILLING: [u8; FILL] = [FILLER; FILL];

/// The write end of a file.
#[derive(Debug)]
pub(super) struct Appender {
    file: File,
    /// The offset of the next entry.
    length: u64,
    /// The end of the filled range; less than `length` if there is none.
    filled: u64,
    reserved: u64,
    fills: bool,
}

impl Appender {
    /// Opens a file for appending, or creates it. `fills` says that line ends are allowed between
    /// its entries.
    pub(super) fn open(path: &Utf8Path, fills: bool) -> Result<Appender, Error> {
        let open = |e| Error::io("open", path, e);
        let file =
            OpenOptions::new().write(true).create(true).truncate(false).open(path).map_err(open)?;
        let length = file.metadata().map_err(open)?.len();
        Ok(Appender { file, length, filled: 0, reserved: length, fills })
    }

    /// The end of the last entry.
    pub(super) fn length(&self) -> u64 {
        self.length
    }

    /// Appends one entry that consists of all pieces.
    pub(super) fn append(&mut self, pieces: &[Piece<'_>]) -> io::Result<()> {
        match self.write(pieces) {
            Ok(end) => {
                self.length = end;
                Ok(())
            }
            Err(error) => {
                // The partial entry would be in the way of the next one.
                self.filled = 0;
                self.file.set_len(self.length)?;
                Err(error)
            }
        }
    }

    /// Removes the fill.
    pub(super) fn trim(&mut self) -> io::Result<()> {
        if self.filled > self.length {
            self.filled = 0;
            self.file.set_len(self.length)?;
        }
        Ok(())
    }

    fn write(&mut self, pieces: &[Piece<'_>]) -> io::Result<u64> {
        let Some((Piece::Bytes(head), rest)) = pieces.split_first() else {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "an entry starts with bytes"));
        };
        let Some((first, head)) = head.split_first() else {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "an entry starts with a byte"));
        };
        let size = pieces.iter().map(Piece::length).sum::<u64>();
        self.make_room(size)?;
        let mut at = self.length + 1;
        let mut slices = vec![head];
        for piece in rest {
            match piece {
                Piece::Bytes(bytes) => slices.push(bytes),
                Piece::Parts(parts) => slices.extend(parts.iter().map(|part| &part[..])),
                Piece::File { file, start, length } => {
                    at = self.write_slices(&std::mem::take(&mut slices), at)?;
                    at = self.copy(file, *start, *length, at)?;
                }
            }
        }
        let end = self.write_slices(&slices, at)?;
        // Only now the entry has a beginning, and counts.
        self.file.write_all_at(&[*first], self.length)?;
        Ok(end)
    }

    /// Writes with one system call for all slices, or more if the system accepts less.
    fn write_slices(&self, slices: &[&[u8]], mut at: u64) -> io::Result<u64> {
        let mut vectors: Vec<IoSlice<'_>> =
            slices.iter().map(|slice| IoSlice::new(slice)).collect();
        let mut left = &mut vectors[..];
        // Drops empty slices at the front: a write of nothing would look like an error.
        IoSlice::advance_slices(&mut left, 0);
        while !left.is_empty() {
            match rustix::io::pwritev(&self.file, left, at) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(count) => {
                    at += count as u64;
                    IoSlice::advance_slices(&mut left, count);
                }
                Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(at)
    }

    fn copy(
        &self,
        from: &std::sync::Arc<File>,
        start: u64,
        length: u64,
        mut at: u64,
    ) -> io::Result<u64> {
        let mut reader = crate::warc::Window::new(from.clone(), start, start + length);
        let end = at + length;
        let mut chunk = vec![0; FILL];
        while at < end {
            match reader.read(&mut chunk)? {
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                count => {
                    self.file.write_all_at(&chunk[..count], at)?;
                    at += count as u64;
                }
            }
        }
        Ok(at)
    }

    /// Fills ahead for an entry of `size` bytes. Large entries get large pages anyway.
    fn make_room(&mut self, size: u64) -> io::Result<()> {
        if !self.fills || self.length < FILL_FROM || size > 4 * FILL as u64 {
            return Ok(());
        }
        if self.length + RESERVE / 4 > self.reserved {
            // If the file system cannot reserve blocks, it is not tried again.
            let reserved =
                rustix::fs::fallocate(&self.file, FallocateFlags::KEEP_SIZE, self.length, RESERVE);
            self.reserved = reserved.map_or(u64::MAX, |()| self.length + RESERVE);
        }
        let mut at = self.filled.max(self.length);
        let until = (self.length + size).next_multiple_of(FILL as u64);
        while self.length + size > self.filled && at < until {
            let piece = FILL - (at % FILL as u64) as usize;
            self.file.write_all_at(&FILLING[..piece], at)?;
            at += piece as u64;
            self.filled = at;
        }
        Ok(())
    }
}

impl Drop for Appender {
    fn drop(&mut self) {
        // A failure is harmless: it leaves line ends at the end.
        let _ = self.trim();
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::sync::Arc;

    use camino::Utf8PathBuf;

    use super::*;

    fn file() -> (tempfile::TempDir, Utf8PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let path = Utf8Path::from_path(dir.path()).unwrap().join("data");
        (dir, path)
    }

    #[test]
    fn entries_stand_behind_each_other_whatever_their_size() {
        let (_keep, path) = file();
        let mut appender = Appender::open(&path, true).unwrap();
        let mut expect = Vec::new();
        for size in (0..200).map(|n| n * 379 % 70_000).chain([
            FILL * 4,
            FILL * 5,
            1,
            FILL - 4,
            FILL,
            FILL + 1,
        ]) {
            let body = vec![b'a' + (size % 26) as u8; size];
            appender
                .append(&[Piece::Bytes(b"<"), Piece::Bytes(&body), Piece::Bytes(b">")])
                .unwrap();
            expect.extend([&b"<"[..], &body, b">"].concat());
            assert_eq!(appender.length(), expect.len() as u64);
            let on_disk = fs::read(&path).unwrap();
            assert!(on_disk.starts_with(&expect));
            assert!(on_disk[expect.len()..].iter().all(|byte| *byte == FILLER));
            assert!(on_disk.len() - expect.len() <= FILL);
        }
        assert!(expect.len() as u64 > 2 * FILL_FROM);
        drop(appender);
        assert_eq!(fs::read(&path).unwrap(), expect);
    }

    #[test]
    fn an_entry_from_a_file_that_is_short_leaves_nothing() {
        let (_keep, path) = file();
        let mut appender = Appender::open(&path, true).unwrap();
        appender.append(&[Piece::Bytes(b"whole")]).unwrap();
        let short = Arc::new(tempfile::tempfile().unwrap());
        short.write_all_at(b"short", 0).unwrap();
        let pieces = [Piece::Bytes(b"head"), Piece::File { file: &short, start: 0, length: 6 }];
        assert!(appender.append(&pieces).is_err());
        assert_eq!(fs::read(&path).unwrap(), b"whole");
        let pieces = [
            Piece::Bytes(b"head"),
            Piece::File { file: &short, start: 1, length: 4 },
            Piece::Bytes(b"."),
        ];
        appender.append(&pieces).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"wholeheadhort.");
    }

    #[test]
    fn a_file_that_is_not_to_be_filled_is_not() {
        let (_keep, path) = file();
        let mut appender = Appender::open(&path, false).unwrap();
        let body = vec![b'x'; 100_000];
        for n in 1..30 {
            appender.append(&[Piece::Bytes(&body)]).unwrap();
            assert_eq!(fs::metadata(&path).unwrap().len(), n * 100_000);
        }
    }
}
