//! How much may come out of an archive.
//!
//! A few kilobytes can unpack to terabytes: by a deflated entry of a ZIP, by a gzip member, by a
//! content coding, and by all of them together. So what comes out of one file is bounded as a
//! whole, in proportion to the file.

use std::fs::File;
use std::io::{self, Write};

use camino::{Utf8Path, Utf8PathBuf};
use files::room;

use crate::Error;

/// What may come out of any file, however small.
const LEAST: u64 = 1 << 30;
/// How many times the length of a file may come out of it. Deflate does 1,032 at most; a recording
/// of text has about 10, and one whose pages share large scripts about 100.
const TIMES: u64 = 100;
/// The same for what is written to disk only to be read, at the opening of a file.
const LEAST_EXTRACTED: u64 = 256 << 20;
const TIMES_EXTRACTED: u64 = 100;
/// How often the free space of the disk is looked at.
const EVERY: u64 = 32 << 20;

/// What may still come out of one file.
#[derive(Debug, Clone)]
pub(crate) struct Budget {
    what: &'static str,
    limit: u64,
    left: u64,
}

impl Budget {
    /// For all that an operation reads from a file of this length.
    pub(crate) fn of_contents(length: u64) -> Budget {
        Budget::new("what comes out of the file, all together", LEAST, TIMES, length)
    }

    /// For all that is extracted when a file of this length is opened.
    pub(crate) fn of_extraction(length: u64) -> Budget {
        Budget::new(
            "the compressed files in it, all together",
            LEAST_EXTRACTED,
            TIMES_EXTRACTED,
            length,
        )
    }

    fn new(what: &'static str, least: u64, times: u64, length: u64) -> Budget {
        let limit = least.saturating_add(length.saturating_mul(times));
        Budget { what, limit, left: limit }
    }

    /// Adds what may come out of a further file of this length.
    pub(crate) fn add(&mut self, length: u64) {
        let more = length.saturating_mul(TIMES);
        (self.limit, self.left) = (self.limit.saturating_add(more), self.left.saturating_add(more));
    }

    /// How much there was.
    pub(crate) fn limit(&self) -> u64 {
        self.limit
    }

    /// The bytes that are left.
    pub(crate) fn left(&self) -> u64 {
        self.left
    }

    /// Takes bytes.
    ///
    /// # Errors
    /// When there are not so many left. Then there are none.
    pub(crate) fn take(&mut self, bytes: u64) -> Result<(), Error> {
        let left = self.left.checked_sub(bytes);
        self.left = left.unwrap_or(0);
        left.map(drop).ok_or(Error::TooLarge { what: self.what, limit: self.limit })
    }
}

/// Looks at the free space of a disk from time to time while it is written to.
#[derive(Debug)]
pub(crate) struct Watch {
    folder: Utf8PathBuf,
    until_look: u64,
}

impl Watch {
    /// For the disk of a folder.
    pub(crate) fn new(folder: Utf8PathBuf) -> Watch {
        Watch { folder, until_look: 0 }
    }

    /// Before so many bytes are written.
    ///
    /// # Errors
    /// When the disk has no room for them and a reserve.
    pub(crate) fn before(&mut self, bytes: u64) -> io::Result<()> {
        if self.until_look < bytes {
            let needed = EVERY.max(bytes);
            room::check(&self.folder, needed)
                .map_err(|none| io::Error::new(io::ErrorKind::StorageFull, none))?;
            self.until_look = needed;
        }
        self.until_look -= bytes;
        Ok(())
    }
}

/// A file that leaves a reserve of its disk free while it is written.
#[derive(Debug)]
pub(crate) struct Watched {
    file: File,
    watch: Watch,
}

impl Watched {
    /// An unnamed temporary file.
    pub(crate) fn temporary() -> io::Result<Watched> {
        Ok(Watched { file: tempfile::tempfile()?, watch: Watch::new(room::temporary()) })
    }

    /// A file at a path; one that is there is emptied.
    pub(crate) fn create(path: &Utf8Path) -> io::Result<Watched> {
        let folder = path.parent().filter(|folder| *folder != "").unwrap_or(Utf8Path::new("."));
        Ok(Watched { file: File::create(path)?, watch: Watch::new(folder.to_owned()) })
    }

    pub(crate) fn into_file(self) -> File {
        self.file
    }
}

impl Write for Watched {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.watch.before(bytes.len() as u64)?;
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_is_for_all_together() {
        let mut budget = Budget::of_extraction(1 << 20);
        let limit = budget.left();
        assert_eq!(limit, (256 + 100) << 20);
        assert!(budget.take(limit - 1).is_ok() && budget.take(1).is_ok());
        assert!(budget.take(1).is_err());
        assert!(Budget::of_contents(u64::MAX).take(u64::MAX).is_ok());
        let mut budget = Budget::of_contents(0);
        assert!(
            budget.take(u64::MAX).is_err() && budget.take(1).is_err(),
            "nothing is left after an error"
        );
    }
}
