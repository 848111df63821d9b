//! The full-text index of recorded pages: one segment for each archive.
//!
//! ```text
//!  archive a ── its pages ── segment a ─┐
//!  archive b ── its pages ── segment b ─┼── look-up
//!  what only a and b together answer ───┘
//! ```
//!
//! A segment depends on its archive alone, so that an archive that joins others is all that is
//! indexed. Pages that an archive lists, but does not answer by itself, are in a segment of the
//! whole set. Most sets have none.

mod lookup;
mod pages;
mod phrase;
mod ranking;
mod snippet;

use std::collections::HashSet;
use std::fs::File;
use std::hash::{BuildHasherDefault, Hasher};
use std::ops::Range;

use camino::{Utf8Path, Utf8PathBuf};
use snapshots::index::ReplaySet;
use snapshots::matching::Key;
pub(crate) use snippet::MARKS;
use tempfile::NamedTempFile;

use self::pages::Answers;
use self::ranking::Ranking;
use crate::query::Query;
use crate::segment::{Segment, SegmentError, SegmentWriter, hash_of};
use crate::{IndexProgress, Results, SearchError};

/// The ending of segments' file names.
const ENDING: &str = "pages";

/// An open index.
#[derive(Debug)]
pub(crate) struct Index {
    segments: Vec<Member>,
    /// The number of pages in all segments.
    pages: usize,
    /// Pages whose URL an earlier segment has too.
    hidden: Vec<u32>,
    ranking: Ranking,
}

#[derive(Debug)]
struct Member {
    segment: Segment,
    /// Its file. `None` if it is temporary.
    path: Option<Utf8PathBuf>,
    /// The numbers of its pages in the index.
    pages: Range<usize>,
}

/// What went wrong in a segment.
#[derive(Debug)]
struct IndexError {
    segment: Option<usize>,
    source: SegmentError,
}

impl IndexError {
    fn of(number: usize) -> impl FnOnce(SegmentError) -> IndexError {
        move |source| IndexError { segment: Some(number), source }
    }
}

/// Hashes that are their own hash.
#[derive(Default)]
struct IdentityHasher(u64);

impl Hasher for IdentityHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.0 = self.0 << 8 | u64::from(*byte));
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = number;
    }
}

type Hashes = HashSet<u64, BuildHasherDefault<IdentityHasher>>;

impl Index {
    /// Opens the segments of these snapshots in the folder `cache`, and builds those that are
    /// missing, damaged or stale. Without a folder they are built in temporary files. With `exact`
    /// the index contains only pages that replay answers at exactly the same URL.
    pub(crate) fn open_or_build(
        set: &ReplaySet,
        exact: bool,
        cache: Option<&Utf8Path>,
        on: &mut dyn FnMut(IndexProgress),
    ) -> Result<Index, SearchError> {
        let states = set.state();
        let archives = set.members().count() as u64;
        let mut progress = IndexProgress { archives, ..IndexProgress::default() };
        let mut segments = Vec::new();
        for (number, ((archive, summary), state)) in set.members().zip(states.lines()).enumerate() {
            progress.archive = number as u64 + 1;
            (progress.pages, progress.most_pages) = (0, summary.captures);
            let place = cache.map(|cache| Place {
                path: snapshots::index::Index::sidecar(archive.path(), cache)
                    .with_extension(ENDING),
                folder: cache,
            });
            let mut tell = |pages| on(IndexProgress { pages, ..progress });
            segments.push(open_or_write(place, state, |writer, path| {
                write_archive(set, number as u32, writer, path, &mut tell)
            })?);
        }
        if segments.iter().any(|(segment, _)| !segment.deferred.is_empty()) {
            // Their answers are in other snapshots, so this segment depends on all of them.
            let rest = {
                let lists: Vec<&[u64]> =
                    segments.iter().map(|(segment, _)| &segment.deferred[..]).collect();
                let place = cache
                    .map(|cache| Place { path: cache.join(rest_name(set, exact)), folder: cache });
                let state = format!("{exact}\n{states}");
                open_or_write(place, &state, |writer, path| {
                    write_rest(set, exact, &lists, writer, path)
                })?
            };
            segments.push(rest);
        }
        Ok(Index::of(segments))
    }

    fn of(segments: Vec<(Segment, Option<Utf8PathBuf>)>) -> Index {
        let (mut pages, mut words, mut hidden) = (0, 0, Vec::new());
        let mut seen = Hashes::default();
        let several = segments.len() > 1;
        let mut members = Vec::new();
        for (segment, path) in segments {
            // A page is found in the first segment that has it.
            if several {
                let again = segment.urls.iter().enumerate().filter(|(_, url)| !seen.insert(**url));
                hidden.extend(again.map(|(page, _)| (pages + page) as u32));
            }
            words += segment.length();
            let end = pages + segment.pages() as usize;
            members.push(Member { segment, path, pages: std::mem::replace(&mut pages, end)..end });
        }
        let ranking = Ranking::new(pages as u64, words);
        Index { segments: members, pages, hidden, ranking }
    }

    /// The results of a query, beginning with index `first`. If a segment turns out to be damaged,
    /// its file is removed, so that it is built again.
    pub(crate) fn results(
        &self,
        query: &Query,
        first: u64,
        count: u64,
    ) -> Result<Results, SearchError> {
        self.look_up(query, first, count).map_err(|error| {
            let path = error.segment.and_then(|number| self.segments.get(number)?.path.clone());
            match (error.source, path) {
                (SegmentError::Io(source), path) => {
                    let path = path.unwrap_or_else(|| "a temporary file".into());
                    SearchError::Io { action: "read", path, source }
                }
                (SegmentError::Damaged(part), path) => {
                    if let Some(path) = &path {
                        let removed = std::fs::remove_file(path);
                        tracing::debug!(%path, part, ?removed, "a damaged index of pages is made again");
                    }
                    SearchError::Damaged { path: path.unwrap_or_else(|| "a temporary file".into()), part }
                }
            }
        })
    }
}

/// Where a segment is kept.
struct Place<'a> {
    path: Utf8PathBuf,
    folder: &'a Utf8Path,
}

/// Opens a segment in this state, or writes it. A file takes its name when it is complete, so that
/// an interrupted one is never used, and processes that write the same one do not meet.
fn open_or_write(
    place: Option<Place<'_>>,
    state: &str,
    write: impl FnOnce(&mut SegmentWriter<'_>, &Utf8Path) -> Result<(), SearchError>,
) -> Result<(Segment, Option<Utf8PathBuf>), SearchError> {
    let Some(Place { path, folder }) = place else {
        let path = Utf8Path::new("a temporary file");
        let file = tempfile::tempfile().map_err(io("create", path))?;
        fill(&file, path, state, write)?;
        return Ok((opened(file, path)?, None));
    };
    match File::open(&path) {
        Ok(file) => match Segment::open(file, state) {
            Ok(Some(segment)) => return Ok((segment, Some(path))),
            Ok(None) => tracing::debug!(%path, "an index of pages is made again"),
            Err(error) => return Err(failed(error, &path)),
        },
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
        Err(error) => return Err(io("open", &path)(error)),
    }
    std::fs::create_dir_all(folder).map_err(io("create", folder))?;
    let file = NamedTempFile::new_in(folder).map_err(io("write into", folder))?;
    fill(file.as_file(), &path, state, write)?;
    file.as_file().sync_all().map_err(io("write", &path))?;
    let file = file.persist(&path).map_err(|error| io("write", &path)(error.error))?;
    Ok((opened(file, &path)?, Some(path)))
}

fn fill(
    file: &File,
    path: &Utf8Path,
    state: &str,
    write: impl FnOnce(&mut SegmentWriter<'_>, &Utf8Path) -> Result<(), SearchError>,
) -> Result<(), SearchError> {
    let mut writer = SegmentWriter::new(file).map_err(io("write", path))?;
    write(&mut writer, path)?;
    writer.finish(state).map_err(io("write", path))
}

fn opened(file: File, path: &Utf8Path) -> Result<Segment, SearchError> {
    Segment::read(file).map_err(|error| failed(error, path))
}

fn failed(error: SegmentError, path: &Utf8Path) -> SearchError {
    match error {
        SegmentError::Io(source) => io("read", path)(source),
        SegmentError::Damaged(part) => SearchError::Damaged { path: path.to_owned(), part },
    }
}

/// Indexes the pages that an archive answers by itself, and notes the others.
fn write_archive(
    set: &ReplaySet,
    member: u32,
    writer: &mut SegmentWriter<'_>,
    path: &Utf8Path,
    tell: &mut dyn FnMut(u64),
) -> Result<(), SearchError> {
    let mut pages = 0;
    let mut seen = Hashes::default();
    for page in set.pages_of(member) {
        if pages % 256 == 0 {
            tell(pages);
        }
        pages += 1;
        let Some(host) =
            pages::host_of(&page.url).filter(|_| seen.insert(hash_of("page", &page.url)))
        else {
            continue;
        };
        let url = page.url.clone();
        match pages::document(set, Answers::Of(member), host, page)? {
            Some(document) => writer.add(&document).map_err(io("write", path))?,
            None => writer.defer(&url),
        }
    }
    tell(pages);
    Ok(())
}

/// Indexes the pages that only several archives together answer, or only loosely.
fn write_rest(
    set: &ReplaySet,
    exact: bool,
    deferred: &[&[u64]],
    writer: &mut SegmentWriter<'_>,
    path: &Utf8Path,
) -> Result<(), SearchError> {
    let mut seen = Hashes::default();
    for (number, deferred) in
        deferred.iter().enumerate().filter(|(_, deferred)| !deferred.is_empty())
    {
        for page in set.pages_of(number as u32) {
            let hash = hash_of("page", &page.url);
            if deferred.binary_search(&hash).is_err() || !seen.insert(hash) {
                continue;
            }
            let Some(host) = pages::host_of(&page.url) else { continue };
            if let Some(document) = pages::document(set, Answers::OfSet { exact }, host, page)? {
                writer.add(&document).map_err(io("write", path))?;
            }
        }
    }
    Ok(())
}

/// The name of the segment of a set. It depends only on the archives' paths, so that stale files
/// are replaced.
fn rest_name(set: &ReplaySet, exact: bool) -> String {
    let whole = |path: &Utf8Path| path.canonicalize_utf8().unwrap_or_else(|_| path.to_owned());
    let archives: Vec<Utf8PathBuf> =
        set.members().map(|(archive, _)| whole(archive.path())).collect();
    let parts: Vec<&[u8]> = archives.iter().map(|path| path.as_str().as_bytes()).collect();
    let key = Key::of(if exact { "exactly searched pages" } else { "searched pages" }, &parts)
        .to_string();
    format!("{}.{ENDING}", &key[..16])
}

fn io(action: &'static str, path: &Utf8Path) -> impl FnOnce(std::io::Error) -> SearchError {
    let path = path.to_owned();
    move |source| SearchError::Io { action, path, source }
}
