//! Where the bytes of a snapshot are: in a file, or in an object at an address.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use camino::Utf8Path;
use object_files::{Address, RemoteFile, is_address};
use parking_lot::Mutex;

use crate::Error;

/// The bytes of a snapshot, read by position from any number of threads. Clones share what is open.
///
/// It counts reads that failed, because of the disk or the server: to who reads records, they look
/// like damage, and damage is passed over.
#[derive(Debug, Clone)]
pub struct Source {
    place: Place,
    failures: Arc<Failures>,
}

/// Where bytes are.
#[derive(Debug, Clone)]
pub(crate) enum Place {
    /// In a file of this machine.
    File(Arc<File>),
    /// In an object that is read by range, with a cache on disk.
    Remote(Arc<RemoteFile>),
}

#[derive(Debug, Default)]
struct Failures {
    count: AtomicU64,
    last: Mutex<Option<String>>,
}

impl From<Arc<File>> for Source {
    fn from(file: Arc<File>) -> Source {
        Source { place: Place::File(file), failures: Arc::default() }
    }
}

impl From<File> for Source {
    fn from(file: File) -> Source {
        Arc::new(file).into()
    }
}

impl Source {
    /// Opens the file at a path, or the object if the path is an address ([`is_address`]).
    ///
    /// # Errors
    /// When there is no such file or object, or it cannot be read.
    pub fn open(path: &Utf8Path) -> Result<Source, Error> {
        if is_address(path) {
            let object = RemoteFile::open(&Address::parse(path.as_str())?)?;
            return Ok(Source { place: Place::Remote(object), failures: Arc::default() });
        }
        Ok(files::open(path).map_err(|error| Error::io("open", path, error))?.into())
    }

    /// The length in bytes.
    ///
    /// # Errors
    /// When the system does not tell it.
    pub fn length(&self) -> io::Result<u64> {
        match &self.place {
            Place::File(file) => Ok(file.metadata()?.len()),
            Place::Remote(object) => Ok(object.length()),
        }
    }

    /// Reads bytes at a position: at least one, unless it is the end.
    ///
    /// # Errors
    /// When the disk or the server does not give them.
    pub fn read_at(&self, bytes: &mut [u8], at: u64) -> io::Result<usize> {
        let read = match &self.place {
            Place::File(file) => file.read_at(bytes, at),
            Place::Remote(object) => object.read_at(bytes, at),
        };
        read.inspect_err(|error| {
            if error.kind() != io::ErrorKind::Interrupted {
                self.failures.count.fetch_add(1, Ordering::Relaxed);
                *self.failures.last.lock() = Some(error.to_string());
            }
        })
    }

    /// How many reads have failed.
    pub fn failures(&self) -> u64 {
        self.failures.count.load(Ordering::Relaxed)
    }

    /// Why the last read failed that did.
    pub fn last_failure(&self) -> Option<String> {
        self.failures.last.lock().clone()
    }

    /// Where the bytes are.
    pub(crate) fn place(&self) -> &Place {
        &self.place
    }
}

/// A cursor over the bytes of a source.
#[derive(Debug, Clone)]
pub struct SourceReader {
    source: Source,
    at: u64,
}

impl SourceReader {
    /// A cursor at the start.
    pub fn new(source: Source) -> SourceReader {
        SourceReader { source, at: 0 }
    }
}

impl Read for SourceReader {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let read = self.source.read_at(bytes, self.at)?;
        self.at += read as u64;
        Ok(read)
    }
}

impl Seek for SourceReader {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let (from, by) = match to {
            SeekFrom::Start(at) => (at, 0),
            SeekFrom::Current(by) => (self.at, by),
            SeekFrom::End(by) => (self.source.length()?, by),
        };
        let outside = || io::Error::new(io::ErrorKind::InvalidInput, "a position before the start");
        self.at = from.checked_add_signed(by).ok_or_else(outside)?;
        Ok(self.at)
    }
}
