//! The sidecar index of an archive: finds the recorded response for a request.
//!
//! An index is one file, built by one scan. It is bound to the archive by size, modification time
//! and digest. Its tables have fixed-size rows that are read by position. Only the fan-outs are in
//! memory, about 400 kB for a million records, so opening is cheap and memory use stays constant.
//!
//! ```text
//!  page | captures ...... | exact | normalised | anchors | paths | texts
//!         where the        key -> captures, in     id, URI + time,   sorted by   "METHOD URL"
//!         records lie      recorded order          digest -> ...     host, path
//! ```
//!
//! Every row has its own checksum. An index is a cache: if it is missing, or belongs to another
//! version or another state of the archive, it is rebuilt. The archive is never modified.

mod build;
mod changing;
mod documents;
mod error;
mod layout;
mod pairing;
mod paths;
mod row;
mod scan;
mod set;
mod table;

use std::fs::File;
use std::os::unix::fs::FileExt;

use camino::{Utf8Path, Utf8PathBuf};
use layout::{Binding, Layout, PAGE};
use row::{CAPTURE, Entry};
use scan::Origin;
use table::Table;

use crate::matching::Key;
use crate::{Archive, Record};

pub use changing::ChangingMatch;
pub use documents::Document;
pub use error::IndexError;
pub use layout::Summary;
pub use row::{Capture, CaptureKind};
pub(crate) use scan::request_parts;
pub use scan::{RequestParts, SOCKET_FRAMES, body_mark};
pub use set::{IndexHit, RecordedRequest, ReplaySet};

/// The method under which the frames of a WebSocket connection are indexed.
pub const SOCKET: &str = "WEBSOCKET";

/// Progress of building an index.
#[derive(Clone, Copy, Debug)]
pub struct BuildProgress {
    /// Records read.
    pub records: u64,
    /// Bytes of the archive read.
    pub bytes: u64,
    /// Total bytes of the archive.
    pub total_bytes: u64,
}

/// An opened index. Look-ups take `&self` and share no cursor and no lock.
#[derive(Debug)]
pub struct Index {
    path: Utf8PathBuf,
    file: File,
    layout: Layout,
    exact: Table,
    normalised: Table,
    anchors: Table,
}

/// How many captures of a host are examined in search of a port.
const PATHS: usize = 1 << 16;

impl Index {
    /// The path of an archive's index in a cache folder.
    pub fn sidecar(archive: &Utf8Path, cache: &Utf8Path) -> Utf8PathBuf {
        let whole = archive.canonicalize_utf8().unwrap_or_else(|_| archive.to_owned());
        let key = Key::of("archive path", &[whole.as_str().as_bytes()]).to_string();
        cache.join(format!("{}-{}.index", archive.file_name().unwrap_or("archive"), &key[..12]))
    }

    /// Opens the index of `archive` in the folder `cache`. Builds it first if there is none that
    /// matches.
    pub fn open_or_build(
        archive: &Archive,
        cache: &Utf8Path,
        progress: &mut dyn FnMut(BuildProgress),
    ) -> Result<Index, IndexError> {
        let path = Index::sidecar(archive.path(), cache);
        if let Some(index) = Index::open(archive, &path)? {
            return Ok(index);
        }
        std::fs::create_dir_all(cache).map_err(IndexError::io("create", cache))?;
        let temporary =
            tempfile::NamedTempFile::new_in(cache).map_err(IndexError::io("write into", cache))?;
        build::build(archive, temporary.as_file(), progress)?;
        let file = temporary.persist(&path).map_err(|e| IndexError::io("write", &path)(e.error))?;
        Index::from_file(file, path)
    }

    /// Builds an index in an unnamed file, which is deleted when it is dropped.
    pub fn build_unnamed(
        archive: &Archive,
        progress: &mut dyn FnMut(BuildProgress),
    ) -> Result<Index, IndexError> {
        let path = Utf8PathBuf::from(format!("{} (unnamed)", archive.path()));
        let file = tempfile::tempfile().map_err(IndexError::io("create", &path))?;
        build::build(archive, &file, progress)?;
        Index::from_file(file, path)
    }

    /// Opens the index at `path`. Returns `None` if there is none, or it does not match the current
    /// state of `archive`.
    pub fn open(archive: &Archive, path: &Utf8Path) -> Result<Option<Index>, IndexError> {
        let file = match File::open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(IndexError::io("open", path)(error)),
        };
        match Index::from_file(file, path.to_owned()) {
            Ok(index) => {
                let binding = Binding::of(archive.path()).map_err(IndexError::io("read", archive.path()))?;
                Ok((index.layout.binding == binding).then_some(index))
            }
            Err(IndexError::Damaged { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn from_file(file: File, path: Utf8PathBuf) -> Result<Index, IndexError> {
        let length = file.metadata().map_err(IndexError::io("read", &path))?.len();
        let damaged = |part| IndexError::Damaged { path: path.clone(), part };
        if length < PAGE as u64 {
            return Err(damaged("the first page"));
        }
        let mut page = [0; PAGE];
        file.read_exact_at(&mut page, 0).map_err(IndexError::io("read", &path))?;
        let layout = Layout::from_page(&page, length).ok_or_else(|| damaged("the first page"))?;
        let table = |place| Table::open(&file, place).map_err(IndexError::reading(&path, "a fan-out"));
        let (exact, normalised, anchors) =
            (table(layout.exact)?, table(layout.normalised)?, table(layout.anchors)?);
        Ok(Index { path, file, layout, exact, normalised, anchors })
    }

    /// The contents of the archive.
    pub fn summary(&self) -> Summary {
        self.layout.summary
    }

    /// Identifies this state of the archive: its size, its modification time, and a digest over
    /// samples.
    pub fn state(&self) -> String {
        self.layout.binding.state()
    }

    /// The path of the index file.
    pub fn path(&self) -> &Utf8Path {
        &self.path
    }

    fn exact(&self, key: &Key) -> Result<Vec<Entry>, IndexError> {
        self.exact.group(&self.file, key).map_err(IndexError::reading(&self.path, "an exact key"))
    }

    fn normalised(&self, key: &Key) -> Result<Vec<Entry>, IndexError> {
        self.normalised.group(&self.file, key).map_err(IndexError::reading(&self.path, "a normalised key"))
    }

    /// A capture by its number.
    fn capture(&self, number: u32) -> Result<Capture, IndexError> {
        let damaged = || IndexError::Damaged { path: self.path.clone(), part: "a capture" };
        if u64::from(number) >= self.layout.captures {
            return Err(damaged());
        }
        let mut row = [0; CAPTURE];
        let read = self.file.read_exact_at(&mut row, build::capture_at(number));
        read.map_err(IndexError::io("read", &self.path))?;
        Capture::from_bytes(&row).ok_or_else(damaged)
    }

    /// The method and URL of a capture, as `METHOD URL`.
    fn text(&self, capture: &Capture) -> Result<String, IndexError> {
        let damaged = || IndexError::Damaged { path: self.path.clone(), part: "a URL" };
        let text = capture.text;
        let end = text.offset.checked_add(text.length.into()).ok_or_else(damaged)?;
        if end > self.layout.texts_length {
            return Err(damaged());
        }
        let mut bytes = vec![0; text.length as usize];
        let read = self.file.read_exact_at(&mut bytes, self.layout.texts_at + text.offset);
        read.map_err(IndexError::io("read", &self.path))?;
        if row::crc(&bytes) != text.crc {
            return Err(damaged());
        }
        String::from_utf8(bytes).map_err(|_| damaged())
    }

    /// The first capture to which a revisit refers.
    fn origin_of(&self, origin: &Origin) -> Result<Option<Capture>, IndexError> {
        let group = |key: &Key| self.anchors.group(&self.file, key);
        let found = build::origin_of(origin, group).map_err(IndexError::reading(&self.path, "an anchor"))?;
        found.map(|entry| self.capture(entry.capture)).transpose()
    }

    /// The numbers of captures near a URL: those with the same host and path, and their neighbours
    /// with the same host, up to `limit` on either side.
    fn neighbours(&self, method: &str, url: &str, limit: usize) -> Result<Vec<u32>, IndexError> {
        let Some(key) = paths::path_key(method, url) else { return Ok(Vec::new()) };
        let (same_path, same_host) = paths::prefixes(&key);
        let mut found = Vec::new();
        let around = self.path_position(&key)?;
        let first = self.path_position(same_path)?;
        let before = around.saturating_sub(limit as u64);
        self.walk(before.max(first)..self.layout.paths, same_path, 2 * limit, &mut found)?;
        for range in [before..around, around..self.layout.paths] {
            self.walk(range, same_host, limit, &mut found)?;
        }
        found.sort_unstable();
        found.dedup();
        Ok(found)
    }

    /// The numbers of captures of a host (lower-case), at most `limit`, ordered by path.
    fn of_host(&self, host: &str, limit: usize) -> Result<Vec<u32>, IndexError> {
        let start = [host.as_bytes(), &[0]].concat();
        let first = self.path_position(&start)?;
        let mut found = Vec::new();
        self.walk(first..self.layout.paths, &start, limit, &mut found)?;
        Ok(found)
    }

    /// The numbers of captures with this status.
    fn with_status(&self, status: u16) -> Result<Vec<u32>, IndexError> {
        let mut found = Vec::new();
        for number in 0..self.layout.captures as u32 {
            if self.capture(number)?.status == status {
                found.push(number);
            }
        }
        Ok(found)
    }

    /// The recorded hosts, in lower case and sorted. Takes one search per host, not a walk over all
    /// captures.
    pub fn hosts(&self) -> Result<Vec<String>, IndexError> {
        let mut hosts = Vec::new();
        let mut position = 0;
        while position < self.layout.paths {
            let (_, key) = self.path_at(position)?;
            let (_, same_host) = paths::prefixes(&key);
            let host = same_host.strip_suffix(&[0]).unwrap_or(same_host);
            hosts.push(String::from_utf8_lossy(host).into_owned());
            // After every key that starts with the host and its zero byte.
            let behind = [host, &[1]].concat();
            position = self.path_position(&behind)?.max(position + 1);
        }
        hosts.retain(|host| !host.is_empty());
        Ok(hosts)
    }

    /// Whether anything was recorded for a host (lower-case, IPv6 without brackets) at a port in
    /// its URLs. Returns true for a host with very many captures without examining all of them.
    pub fn has_port(&self, host: &str, port: u16) -> Result<bool, IndexError> {
        let host = if host.contains(':') { format!("[{host}]") } else { host.to_owned() };
        let start = [host.as_bytes(), &[0]].concat();
        let port = port.to_string();
        let first = self.path_position(&start)?;
        for position in (first..self.layout.paths).take(PATHS) {
            let (_, key) = self.path_at(position)?;
            if !key.starts_with(&start) {
                return Ok(false);
            }
            if paths::port(&key) == port.as_bytes() {
                return Ok(true);
            }
        }
        Ok(self.layout.paths - first > PATHS as u64)
    }

    /// Adds captures from `range` on whose path key starts with `prefix`, at most `limit`.
    fn walk(
        &self,
        range: std::ops::Range<u64>,
        prefix: &[u8],
        limit: usize,
        found: &mut Vec<u32>,
    ) -> Result<(), IndexError> {
        for position in range.take(limit) {
            let (number, key) = self.path_at(position)?;
            if key.starts_with(prefix) {
                found.push(number);
            } else if key.as_slice() > prefix {
                break;
            }
        }
        Ok(())
    }

    /// The position of the first path that does not sort before `key`.
    fn path_position(&self, key: &[u8]) -> Result<u64, IndexError> {
        let (mut low, mut high) = (0, self.layout.paths);
        while low < high {
            let middle = low + (high - low) / 2;
            if self.path_at(middle)?.1.as_slice() < key {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        Ok(low)
    }

    fn path_at(&self, position: u64) -> Result<(u32, Vec<u8>), IndexError> {
        let mut row = [0; layout::PATH];
        let at = self.layout.paths_at + position * layout::PATH as u64;
        self.file.read_exact_at(&mut row, at).map_err(IndexError::io("read", &self.path))?;
        let (number, sum) = ([row[0], row[1], row[2], row[3]], [row[4], row[5], row[6], row[7]]);
        if row::crc(&number).to_le_bytes() != sum {
            return Err(IndexError::Damaged { path: self.path.clone(), part: "a path" });
        }
        let number = u32::from_be_bytes(number);
        let text = self.text(&self.capture(number)?)?;
        let (method, url) = split_text(&text);
        Ok((number, paths::path_key(method, url).unwrap_or_default()))
    }
}

/// The keys of the record to which a revisit refers.
fn origin_keys(record: &Record) -> Origin {
    let url = record.target_uri().unwrap_or_default().into_owned();
    scan::origin(record, &url)
}

fn split_text(text: &str) -> (&str, &str) {
    text.split_once(' ').unwrap_or(("", text))
}

#[cfg(test)]
mod tests;
