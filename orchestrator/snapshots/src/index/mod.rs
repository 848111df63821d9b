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

mod adopt;
mod askers;
mod build;
mod changing;
mod documents;
mod effects;
mod error;
mod history;
mod layout;
mod open;
mod pairing;
mod paths;
mod route_table;
mod routes;
mod row;
mod scan;
mod set;
mod table;
mod turns;

use std::fs::File;
use std::os::unix::fs::FileExt;

pub use adopt::BESIDE;
use camino::{Utf8Path, Utf8PathBuf};
pub use changing::ChangingMatch;
pub use documents::Document;
pub use effects::{
    Effect, ReadReason, WriteReason, effect_of, effect_of_request, is_log_in, is_log_out,
    is_of_log_in, is_once, is_static_type, may_act, only_shows_state, shows_state,
};
pub use error::IndexError;
pub use history::{
    AUTOMATIC_WITHIN, Account, ChangedAddress, SessionChange, SiteHistory, SiteWrite, Visit,
};
pub use layout::Summary;
use layout::{Binding, Layout, PAGE};
use paths::PathTable;
pub(crate) use paths::host_of;
use routes::KeyKind;
use row::{CAPTURE, Entry};
pub use row::{Capture, CaptureKind};
use scan::Origin;
pub(crate) use scan::request_parts;
pub use scan::{RequestParts, SOCKET_FRAMES, body_mark};
pub use set::{IndexHit, RecordedRequest, ReplaySet};
use table::{KeyScan, Table};
pub use turns::site_of;

use crate::matching::Key;
use crate::{Archive, Record};

/// The method under which the frames of a WebSocket connection are indexed.
pub const SOCKET: &str = "WEBSOCKET";

/// Progress of building indexes.
#[derive(Clone, Copy, Debug)]
pub struct BuildProgress {
    /// Records read.
    pub records: u64,
    /// Bytes of the archives read.
    pub bytes: u64,
    /// Total bytes of the archives.
    pub total_bytes: u64,
    /// How many archives are being indexed.
    pub archives: usize,
    /// How many of them are done.
    pub finished: usize,
}

impl BuildProgress {
    /// Progress of one archive.
    fn of_one(records: u64, bytes: u64, total_bytes: u64) -> BuildProgress {
        let finished = usize::from(bytes == total_bytes);
        BuildProgress { records, bytes, total_bytes, archives: 1, finished }
    }
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
    turns: Table,
}

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
        match Index::open(archive, &path)? {
            Some(index) => Ok(index),
            None => Index::build_named(archive, cache, build::sort_memory(1), progress),
        }
    }

    /// Builds the index of `archive` in the folder `cache`. Each sort uses at most `memory` bytes.
    fn build_named(
        archive: &Archive,
        cache: &Utf8Path,
        memory: usize,
        progress: &mut dyn FnMut(BuildProgress),
    ) -> Result<Index, IndexError> {
        let path = Index::sidecar(archive.path(), cache);
        std::fs::create_dir_all(cache).map_err(IndexError::io("create", cache))?;
        let temporary =
            tempfile::NamedTempFile::new_in(cache).map_err(IndexError::io("write into", cache))?;
        build::build(archive, temporary.as_file(), memory, progress)?;
        let file = temporary.persist(&path).map_err(|e| IndexError::io("write", &path)(e.error))?;
        Index::from_file(file, path)
    }

    /// Builds an index in an unnamed file, which is deleted when it is dropped. Each sort uses at
    /// most `memory` bytes.
    fn build_unnamed(
        archive: &Archive,
        memory: usize,
        progress: &mut dyn FnMut(BuildProgress),
    ) -> Result<Index, IndexError> {
        let path = Utf8PathBuf::from(format!("{} (unnamed)", archive.path()));
        let file = tempfile::tempfile().map_err(IndexError::io("create", &path))?;
        build::build(archive, &file, memory, progress)?;
        Index::from_file(file, path)
    }

    /// Opens the index at `path`; fetches it if the archive is an object with an index beside it.
    /// Returns `None` if there is none, or it does not match the current state of `archive`.
    pub fn open(archive: &Archive, path: &Utf8Path) -> Result<Option<Index>, IndexError> {
        let file = match files::open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return adopt::fetched(archive, path);
            }
            Err(error) => return Err(IndexError::io("open", path)(error)),
        };
        match Index::from_file(file, path.to_owned()) {
            Ok(index) => {
                let binding = Binding::of(archive.source())
                    .map_err(IndexError::io("read", archive.path()))?;
                match index.layout.binding == binding {
                    true => Ok(Some(index)),
                    // The object has another state now, and its index may have come with it.
                    false => adopt::fetched(archive, path),
                }
            }
            Err(IndexError::Damaged { .. }) => adopt::fetched(archive, path),
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
        let table =
            |place| Table::open(&file, place).map_err(IndexError::reading(&path, "a fan-out"));
        let (exact, normalised, anchors) =
            (table(layout.exact)?, table(layout.normalised)?, table(layout.anchors)?);
        let turns = table(layout.turns)?;
        Ok(Index { path, file, layout, exact, normalised, anchors, turns })
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
        self.normalised
            .group(&self.file, key)
            .map_err(IndexError::reading(&self.path, "a normalised key"))
    }

    /// All keys of a table, in order.
    fn keys(&self, kind: KeyKind) -> KeyScan<'_> {
        let table = match kind {
            KeyKind::Exact => &self.exact,
            KeyKind::Normalised => &self.normalised,
            KeyKind::Anchor => &self.anchors,
        };
        table.keys(&self.file)
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
        // Before the length decides how much memory is taken.
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

    /// The path key of a capture.
    fn path_key(&self, number: u32) -> Result<Vec<u8>, IndexError> {
        let text = self.text(&self.capture(number)?)?;
        let (method, url) = split_text(&text);
        Ok(paths::path_key(method, url).unwrap_or_default())
    }

    /// The captures to which revisits refer by a key.
    fn anchors(&self, key: &Key) -> Result<Vec<Entry>, IndexError> {
        self.anchors.group(&self.file, key).map_err(IndexError::reading(&self.path, "an anchor"))
    }

    /// The turns of a site, in recorded order.
    fn turns(&self, site: &Key) -> Result<Vec<Entry>, IndexError> {
        self.turns.group(&self.file, site).map_err(IndexError::reading(&self.path, "a turn"))
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
}

impl PathTable for Index {
    type Capture = u32;

    fn count(&self) -> u64 {
        self.layout.paths
    }

    fn at(&self, position: u64) -> Result<(u32, Vec<u8>), IndexError> {
        let mut row = [0; layout::PATH];
        let at = self.layout.paths_at + position * layout::PATH as u64;
        self.file.read_exact_at(&mut row, at).map_err(IndexError::io("read", &self.path))?;
        let (number, sum) = ([row[0], row[1], row[2], row[3]], [row[4], row[5], row[6], row[7]]);
        if row::crc(&number).to_le_bytes() != sum {
            return Err(IndexError::Damaged { path: self.path.clone(), part: "a path" });
        }
        let number = u32::from_be_bytes(number);
        Ok((number, self.path_key(number)?))
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
mod many_tests;
#[cfg(test)]
mod tests;
