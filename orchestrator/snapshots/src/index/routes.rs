//! Which archives of a set to ask for a key, and the captures of all of them in the order of their
//! paths.
//!
//! With many archives, asking each of them for every request is slow. The routes of a set are one
//! file beside the indexes, made from them. It is a cache as they are: if it is missing, or the
//! archives have changed, it is made again.
//!
//! ```text
//!  page | exact | normalised | anchors | paths
//!         keys -> archives               sorted by host, path
//! ```

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::os::unix::fs::FileExt;

use camino::{Utf8Path, Utf8PathBuf};
use sha2::{Digest, Sha256};

use super::paths::PathTable;
use super::route_table::{self, RoutePlace, RouteTable, WriteError};
use super::row::crc;
use super::set::Member;
use super::table::{KeyScan, ReadError};
use super::{Index, IndexError, layout};
use crate::matching::Key;

/// The size of the first page, in bytes.
const PAGE: usize = 256;
const MAGIC: &[u8; 8] = b"SBXROUTE";
/// Incremented when the file format changes.
const VERSION: u64 = 1;
/// The size of a row of the paths, in bytes: the number of an archive, that of a capture in it, and
/// a CRC-32 of the two.
const PATH: usize = 10;

/// The opened routes of a set.
#[derive(Debug)]
pub(super) struct Routes {
    path: Utf8PathBuf,
    file: File,
    exact: RouteTable,
    normalised: RouteTable,
    anchors: RouteTable,
    pub(super) paths_at: u64,
    paths: u64,
}

/// The captures of all archives, in the order of their paths.
#[derive(Debug)]
pub(super) struct JointPaths<'a> {
    pub(super) routes: &'a Routes,
    pub(super) members: &'a [Member],
}

/// Which of the tables.
#[derive(Clone, Copy, Debug)]
pub(super) enum KeyKind {
    Exact,
    Normalised,
    Anchor,
}

impl Routes {
    /// Opens the routes of these indexes in the folder `cache`, or makes them; in an unnamed file
    /// without a folder.
    pub(super) fn open_or_build(
        indexes: &[&Index],
        state: &str,
        cache: Option<&Utf8Path>,
    ) -> Result<Routes, IndexError> {
        // Numbers of captures mean something in one format of the indexes only.
        let state: [u8; 32] = Sha256::digest(format!("{}\n{state}", layout::VERSION)).into();
        let Some(cache) = cache else {
            let path = Utf8PathBuf::from("routes (unnamed)");
            let file = tempfile::tempfile().map_err(IndexError::io("create", &path))?;
            write(&file, indexes, &state, &path)?;
            return Routes::from_file(file, path, &state);
        };
        let names: Vec<&[u8]> =
            indexes.iter().map(|index| index.path().as_str().as_bytes()).collect();
        let path = cache.join(format!("{}.routes", &Key::of("routes", &names).to_string()[..12]));
        if let Ok(file) = files::open(&path)
            && let Ok(routes) = Routes::from_file(file, path.clone(), &state)
        {
            return Ok(routes);
        }
        let temporary =
            tempfile::NamedTempFile::new_in(cache).map_err(IndexError::io("write into", cache))?;
        write(temporary.as_file(), indexes, &state, &path)?;
        let file = temporary.persist(&path).map_err(|e| IndexError::io("write", &path)(e.error))?;
        Routes::from_file(file, path, &state)
    }

    fn from_file(file: File, path: Utf8PathBuf, state: &[u8; 32]) -> Result<Routes, IndexError> {
        let read = || {
            let length = file.metadata()?.len();
            let mut page = [0; PAGE];
            file.read_exact_at(&mut page, 0)?;
            let [exact, normalised, anchors, paths] =
                places(&page, state, length).ok_or(ReadError::Damaged)?;
            let open = |place| RouteTable::open(&file, place);
            Ok(([open(exact)?, open(normalised)?, open(anchors)?], paths))
        };
        let ([exact, normalised, anchors], paths) =
            read().map_err(IndexError::reading(&path, "the list of archives"))?;
        let (paths_at, paths) = (paths.offset, paths.rows);
        Ok(Routes { path, file, exact, normalised, anchors, paths_at, paths })
    }

    /// The archives that may have a key, in order.
    pub(super) fn archives(&self, kind: KeyKind, key: &Key) -> Result<Vec<u16>, IndexError> {
        let table = match kind {
            KeyKind::Exact => &self.exact,
            KeyKind::Normalised => &self.normalised,
            KeyKind::Anchor => &self.anchors,
        };
        table.archives(&self.file, key).map_err(IndexError::reading(&self.path, "a key"))
    }
}

impl PathTable for JointPaths<'_> {
    /// The numbers of the archive and of the capture in it.
    type Capture = (u16, u32);

    fn count(&self) -> u64 {
        self.routes.paths
    }

    fn at(&self, position: u64) -> Result<((u16, u32), Vec<u8>), IndexError> {
        let Routes { path, file, paths_at, .. } = self.routes;
        let damaged = || IndexError::Damaged { path: path.clone(), part: "a path" };
        let mut row = [0; PATH];
        let read = file.read_exact_at(&mut row, paths_at + position * PATH as u64);
        read.map_err(IndexError::io("read", path))?;
        let [a, b, c, d, e, f, sum @ ..] = row;
        if crc(&row[..6]).to_be_bytes() != sum {
            return Err(damaged());
        }
        let (archive, capture) = (u16::from_be_bytes([a, b]), u32::from_be_bytes([c, d, e, f]));
        let member = self.members.get(usize::from(archive)).ok_or_else(damaged)?;
        Ok(((archive, capture), member.index.path_key(capture)?))
    }
}

fn write(
    file: &File,
    indexes: &[&Index],
    state: &[u8; 32],
    path: &Utf8Path,
) -> Result<(), IndexError> {
    let io = |error| IndexError::io("write", path)(error);
    let mut out = BufWriter::with_capacity(1 << 18, file);
    // Empty until all else is written, so that an unfinished file has no valid first page.
    out.write_all(&[0; PAGE]).map_err(io)?;
    let mut at = PAGE as u64;
    let mut places = Vec::new();
    for kind in [KeyKind::Exact, KeyKind::Normalised, KeyKind::Anchor] {
        let keys: Vec<KeyScan<'_>> = indexes.iter().map(|index| index.keys(kind)).collect();
        let place = route_table::write(keys, at, &mut out).map_err(|error| match error {
            WriteError::Io(error) => io(error),
            WriteError::Keys(number, error) => {
                IndexError::reading(indexes[number].path(), "a key")(error)
            }
        })?;
        at = place.end().ok_or_else(|| io(std::io::Error::other("too many keys for one set")))?;
        places.push(place);
    }
    let rows = write_paths(indexes, &mut out, path)?;
    out.flush().map_err(io)?;
    places.push(RoutePlace { offset: at, rows, bits: 0, crc: 0 });
    file.write_all_at(&page(&places, state), 0).map_err(io)
}

/// Merges the paths of the archives. Returns their number.
fn write_paths(
    indexes: &[&Index],
    out: &mut impl Write,
    path: &Utf8Path,
) -> Result<u64, IndexError> {
    // Each index has its paths in order, so that one of each in memory is enough.
    let mut heap = BinaryHeap::with_capacity(indexes.len());
    let next = |archive: usize, position: u64| -> Result<Option<_>, IndexError> {
        if position >= indexes[archive].count() {
            return Ok(None);
        }
        let (capture, key) = indexes[archive].at(position)?;
        Ok(Some(Reverse((key, archive, capture, position))))
    };
    for archive in 0..indexes.len() {
        heap.extend(next(archive, 0)?);
    }
    let mut rows = 0;
    while let Some(Reverse((_, archive, capture, position))) = heap.pop() {
        let mut row = [0; PATH];
        row[..2].copy_from_slice(&(archive as u16).to_be_bytes());
        row[2..6].copy_from_slice(&capture.to_be_bytes());
        let sum = crc(&row[..6]);
        row[6..].copy_from_slice(&sum.to_be_bytes());
        out.write_all(&row).map_err(IndexError::io("write", path))?;
        rows += 1;
        heap.extend(next(archive, position + 1)?);
    }
    Ok(rows)
}

fn page(places: &[RoutePlace], state: &[u8; 32]) -> [u8; PAGE] {
    let mut page = [0; PAGE];
    page[..8].copy_from_slice(MAGIC);
    page[8..16].copy_from_slice(&VERSION.to_le_bytes());
    page[16..48].copy_from_slice(state);
    let numbers = places.iter().flat_map(|p| [p.offset, p.rows, p.bits.into(), p.crc.into()]);
    for (slot, number) in page[48..PAGE - 32].as_chunks_mut::<8>().0.iter_mut().zip(numbers) {
        *slot = number.to_le_bytes();
    }
    let seal = Sha256::digest(&page[..PAGE - 32]);
    page[PAGE - 32..].copy_from_slice(&seal);
    page
}

/// The places of the three tables and of the paths; `None` unless this is a complete page of this
/// version, for archives in this state, whose offsets are within a file of `length` bytes.
fn places(page: &[u8; PAGE], state: &[u8; 32], length: u64) -> Option<[RoutePlace; 4]> {
    let seal: [u8; 32] = Sha256::digest(&page[..PAGE - 32]).into();
    let version = page[8..16] == VERSION.to_le_bytes()[..];
    if page[..8] != MAGIC[..] || !version || page[16..48] != state[..] || page[PAGE - 32..] != seal
    {
        return None;
    }
    let mut numbers =
        page[48..PAGE - 32].as_chunks::<8>().0.iter().map(|eight| u64::from_le_bytes(*eight));
    let mut place = || {
        let (offset, rows) = (numbers.next()?, numbers.next()?);
        let (bits, crc) = (numbers.next()?.try_into().ok()?, numbers.next()?.try_into().ok()?);
        Some(RoutePlace { offset, rows, bits, crc })
    };
    let [exact, normalised, anchors, paths] = [place()?, place()?, place()?, place()?];
    let tables =
        [exact, normalised, anchors].iter().all(|table| table.end().is_some_and(|e| e <= length));
    let listed = paths.rows.checked_mul(PATH as u64)?.checked_add(paths.offset)? <= length;
    (tables && listed).then_some([exact, normalised, anchors, paths])
}
