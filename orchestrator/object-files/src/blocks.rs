//! The cache of an object on disk: its bytes in a sparse file, and a checksum for each block that
//! is there.
//!
//! The checksum is written after the bytes. A block whose bytes do not have it, such as after a
//! loss of power, counts as missing. Several processes may fill one cache, because they write the
//! same bytes.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use camino::{Utf8Path, Utf8PathBuf};

use crate::Error;

/// The size of a block in bytes.
pub(crate) const BLOCK: u64 = 64 << 10;
/// The size of a checksum in its file: a CRC-32, and a mark that it is there.
const SUM: u64 = 8;
const THERE: u64 = 1 << 32;

/// The blocks of one object.
#[derive(Debug)]
pub(crate) struct Blocks {
    path: Utf8PathBuf,
    bytes: File,
    sums: File,
    length: u64,
}

impl Blocks {
    /// Opens the blocks in a folder, which is created if there is none; in unnamed files without a
    /// folder.
    pub(crate) fn open(folder: Option<&Utf8Path>, length: u64) -> Result<Blocks, Error> {
        let Some(folder) = folder else {
            let path = Utf8PathBuf::from("a temporary file");
            let make = || tempfile::tempfile().map_err(Error::local("create", &path));
            let (bytes, sums) = (make()?, make()?);
            bytes.set_len(length).map_err(Error::local("create", &path))?;
            return Ok(Blocks { path, bytes, sums, length });
        };
        std::fs::create_dir_all(folder).map_err(Error::local("create", folder))?;
        let open = |path: &Utf8Path| {
            let file =
                File::options().read(true).write(true).create(true).truncate(false).open(path);
            file.map_err(Error::local("open", path))
        };
        let path = folder.join("bytes");
        let (bytes, sums) = (open(&path)?, open(&folder.join("sums"))?);
        bytes.set_len(length).map_err(Error::local("create", &path))?;
        Ok(Blocks { path, bytes, sums, length })
    }

    /// The number of blocks.
    pub(crate) fn count(&self) -> u64 {
        self.length.div_ceil(BLOCK)
    }

    /// The bytes of some blocks, from the start of the first to the end of the last.
    pub(crate) fn range(&self, first: u64, count: u64) -> std::ops::Range<u64> {
        first * BLOCK..((first + count) * BLOCK).min(self.length)
    }

    /// Whether a block is there and whole.
    pub(crate) fn has(&self, block: u64) -> bool {
        let mut sum = [0; SUM as usize];
        if self.sums.read_exact_at(&mut sum, block * SUM).is_err() || sum == [0; SUM as usize] {
            return false;
        }
        let range = self.range(block, 1);
        let mut bytes = vec![0; (range.end - range.start) as usize];
        self.bytes.read_exact_at(&mut bytes, range.start).is_ok()
            && sum_of(&bytes) == u64::from_le_bytes(sum)
    }

    /// Keeps the bytes of blocks from `first` on.
    pub(crate) fn put(&self, first: u64, bytes: &[u8]) -> Result<(), Error> {
        for (block, bytes) in (first..).zip(bytes.chunks(BLOCK as usize)) {
            let written = self
                .bytes
                .write_all_at(bytes, block * BLOCK)
                .and_then(|()| self.sums.write_all_at(&sum_of(bytes).to_le_bytes(), block * SUM));
            written.map_err(Error::local("write into the cache", &self.path))?;
        }
        Ok(())
    }

    /// Reads bytes of blocks that are there.
    pub(crate) fn read_at(&self, bytes: &mut [u8], at: u64) -> io::Result<usize> {
        self.bytes.read_at(bytes, at)
    }
}

fn sum_of(bytes: &[u8]) -> u64 {
    let mut crc = flate2::Crc::new();
    crc.update(bytes);
    u64::from(crc.sum()) | THERE
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_stay_and_damaged_ones_count_as_missing() {
        let folder = tempfile::tempdir().unwrap();
        let folder = Utf8Path::from_path(folder.path()).unwrap().join("x");
        let length = 2 * BLOCK + 7;
        let whole: Vec<u8> = (0..length).map(|n| (n % 251) as u8).collect();
        let blocks = Blocks::open(Some(&folder), length).unwrap();
        assert_eq!((blocks.count(), blocks.range(2, 1)), (3, 2 * BLOCK..length));
        blocks.put(1, &whole[BLOCK as usize..]).unwrap();
        assert_eq!([0, 1, 2].map(|block| blocks.has(block)), [false, true, true]);
        let again = Blocks::open(Some(&folder), length).unwrap();
        assert!(again.has(1) && again.has(2) && !again.has(0));
        again.bytes.write_all_at(&[0], BLOCK + 3).unwrap();
        assert!(!again.has(1) && again.has(2));
        let mut end = [0; 20];
        assert_eq!(again.read_at(&mut end, length - 7).unwrap(), 7);
        assert_eq!(end[..7], whole[whole.len() - 7..]);
    }
}
