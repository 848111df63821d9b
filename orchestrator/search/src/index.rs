//! The words of recorded pages in a database of SQLite's full-text search, which ranks by BM25.
//!
//! It is a cache, bound to the archives by their state: one that is missing or of another state is built again.

use std::sync::{Mutex, PoisonError};

use camino::{Utf8Path, Utf8PathBuf};
use rusqlite::{Connection, OpenFlags, OptionalExtension as _, params_from_iter};
use snapshots::index::{Hit, IndexError, ReplaySet};
use snapshots::matching::{self, Key};
use tempfile::NamedTempFile;

use crate::SearchError;
use crate::query::{self, Query};
use crate::text;

/// The tables, and what goes into them: changed when they are.
const VERSION: &str = "1";
/// A document of more bytes is not searched in.
const LARGEST: u64 = 32 << 20;
/// Of a page, so many characters are searched in.
const LONGEST: usize = 1 << 20;
/// What a word is worth in the title, in the address and in the text.
const WEIGHTS: &str = "0.0, 0.0, 5.0, 2.0, 1.0";
/// Words of a snippet.
const SNIPPET: u32 = 40;

/// What stands before and after a found word in [`Found::snippet`].
pub(crate) const MARKS: (char, char) = ('\u{2}', '\u{3}');

/// Some of the pages that a query finds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Results {
    /// How many there are altogether.
    pub total: u64,
    /// Those that were asked for, best first.
    pub found: Vec<Found>,
}

/// A page that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Its URL, as the snapshots answer it.
    pub url: String,
    /// Its title; empty if it has none.
    pub title: String,
    /// Words around those that were searched for, which stand between U+0002 and U+0003.
    pub snippet: String,
}

impl Found {
    /// The snippet without its marks.
    pub fn text(&self) -> String {
        self.snippet.replace([MARKS.0, MARKS.1], "")
    }
}

/// An index that is searched.
#[derive(Debug)]
pub(crate) struct Index {
    connection: Mutex<Connection>,
    /// Where it lies if it goes with us.
    _temporary: Option<NamedTempFile>,
}

impl Index {
    /// Opens the index of these snapshots in the folder `cache`, and makes it first where there is none; without a folder it is made into a temporary
    /// file.
    pub(crate) fn open_or_build(set: &ReplaySet, cache: Option<&Utf8Path>) -> Result<Index, SearchError> {
        let state = format!("{VERSION}\n{}", set.state());
        let Some(cache) = cache else {
            let file = NamedTempFile::new().map_err(io("create", "a temporary file".into()))?;
            build(set, &state, path_of(&file)?)?;
            let connection = Mutex::new(open(path_of(&file)?)?);
            return Ok(Index { connection, _temporary: Some(file) });
        };
        let key = Key::of("searched pages", &[state.as_bytes()]).to_string();
        let path = cache.join(format!("{}.pages", &key[..16]));
        if !path.exists() || !is_of(&path, &state) {
            std::fs::create_dir_all(cache).map_err(io("create", cache.to_owned()))?;
            let file = NamedTempFile::new_in(cache).map_err(io("write into", cache.to_owned()))?;
            build(set, &state, path_of(&file)?)?;
            file.persist(&path).map_err(|error| io("write", path.clone())(error.error))?;
        }
        Ok(Index { connection: Mutex::new(open(&path)?), _temporary: None })
    }

    /// The results of a query from the `first` on.
    pub(crate) fn results(&self, typed: &str, first: u64, count: u64) -> Result<Results, SearchError> {
        let Some(Query { expression, hosts }) = query::read(typed) else {
            return Ok(Results { total: 0, found: Vec::new() });
        };
        let connection = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        let on_host = |place: usize| {
            let host = place + 2;
            format!("host = ?{host} OR substr(host, -length(?{host}) - 1) = '.' || ?{host}")
        };
        let on_hosts = (0..hosts.len()).map(on_host).collect::<Vec<_>>().join(" OR ");
        let found = if hosts.is_empty() {
            "pages MATCH ?1".to_owned()
        } else {
            format!("pages MATCH ?1 AND ({on_hosts})")
        };
        let given = || params_from_iter([&expression].into_iter().chain(&hosts));
        let total = connection
            .prepare_cached(&format!("SELECT count(*) FROM pages WHERE {found}"))?
            .query_row(given(), |row| row.get::<_, i64>(0))?;
        let (before, after) = MARKS;
        let (count, first) =
            (i64::try_from(count).unwrap_or(i64::MAX), i64::try_from(first).unwrap_or(i64::MAX));
        // Of equal rank the one with the lesser address comes first, so that the order never depends on anything else.
        let mut statement = connection.prepare_cached(&format!(
            "SELECT url, title, snippet(pages, 4, '{before}', '{after}', '…', {SNIPPET}) FROM pages WHERE {found}
             ORDER BY bm25(pages, {WEIGHTS}), url LIMIT {count} OFFSET {first}"
        ))?;
        let rows = statement.query_map(given(), |row| {
            Ok(Found { url: row.get(0)?, title: row.get(1)?, snippet: row.get(2)? })
        })?;
        Ok(Results {
            total: u64::try_from(total).unwrap_or_default(),
            found: rows.collect::<Result<_, _>>()?,
        })
    }
}

fn io(action: &'static str, path: Utf8PathBuf) -> impl FnOnce(std::io::Error) -> SearchError {
    move |source| SearchError::Io { action, path, source }
}

fn path_of(file: &NamedTempFile) -> Result<&Utf8Path, SearchError> {
    let no_text = || std::io::Error::new(std::io::ErrorKind::InvalidInput, "its path is no UTF-8");
    Utf8Path::from_path(file.path()).ok_or_else(|| io("write", "a temporary file".into())(no_text()))
}

fn open(path: &Utf8Path) -> Result<Connection, SearchError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    Ok(Connection::open_with_flags(path, flags)?)
}

/// Whether the index at `path` is one of archives in this state. One that cannot be read is none.
fn is_of(path: &Utf8Path, state: &str) -> bool {
    let read = || -> Result<Option<String>, SearchError> {
        Ok(open(path)?.query_row("SELECT state FROM archives", [], |row| row.get(0)).optional()?)
    };
    match read() {
        Ok(own) => own.as_deref() == Some(state),
        Err(error) => {
            tracing::debug!(%path, %error, "an index of pages is made again");
            false
        }
    }
}

/// Writes the index into an empty file.
fn build(set: &ReplaySet, state: &str, path: &Utf8Path) -> Result<(), SearchError> {
    let mut connection = Connection::open(path)?;
    // What is interrupted is never used, so nothing has to be undone or to reach the disk in order.
    connection.pragma_update(None, "journal_mode", "OFF")?;
    connection.pragma_update(None, "synchronous", "OFF")?;
    connection.execute_batch(
        "CREATE TABLE archives (state TEXT NOT NULL);
         CREATE VIRTUAL TABLE pages USING fts5
             (url UNINDEXED, host UNINDEXED, title, address, text, tokenize = \"porter unicode61 remove_diacritics 2\");",
    )?;
    let transaction = connection.transaction()?;
    {
        let mut insert = transaction
            .prepare("INSERT INTO pages (url, host, title, address, text) VALUES (?1, ?2, ?3, ?4, ?5)")?;
        for page in set.pages()? {
            let url = page.url.split('#').next().unwrap_or_default();
            let Some(host) = host_of(url) else { continue };
            let Some((title, words)) = words_of(set, url, page.title, page.text)? else { continue };
            insert.execute((url, &host, title, address(url), words))?;
        }
    }
    transaction.execute("INSERT INTO pages (pages) VALUES ('optimize')", [])?;
    transaction.execute("INSERT INTO archives VALUES (?1)", [state])?;
    transaction.commit()?;
    Ok(())
}

/// Title and text of a page that the set answers with status 200; none where it does not. What was listed with the page goes before what its HTML says, since it
/// is what a browser showed.
fn words_of(
    set: &ReplaySet,
    url: &str,
    title: Option<String>,
    listed: Option<String>,
) -> Result<Option<(String, String)>, SearchError> {
    let Some(hit) = answer(set, url)? else { return Ok(None) };
    let title = title.filter(|title| !title.trim().is_empty());
    let listed = listed.filter(|text| !text.trim().is_empty());
    if let (Some(title), Some(text)) = (&title, &listed) {
        return Ok(Some((title.clone(), shorten(text))));
    }
    let read = match set.document(hit, LARGEST) {
        Ok(Some(document)) if text::is_html(&document.media_type) => {
            text::read(&document.media_type, &document.bytes)
        }
        Ok(_) => text::Text::default(),
        Err(error) => {
            tracing::warn!(url, %error, "a recorded page is not searched in");
            text::Text::default()
        }
    };
    let text = listed.unwrap_or(read.body);
    Ok(Some((title.unwrap_or(read.title), shorten(&text))))
}

/// What replay answers the URL with first, if that is a page.
fn answer(set: &ReplaySet, url: &str) -> Result<Option<Hit>, IndexError> {
    let asked = matching::Asked::bare("GET", url);
    let mut hits = set.exact(&matching::exact(&asked))?;
    if hits.is_empty() {
        hits = set.normalised(&matching::normalised(&asked).0)?;
    }
    Ok(hits.into_iter().find(|hit| matches!(hit.status, 0 | 200)))
}

fn shorten(text: &str) -> String {
    // The marks of found words would be taken for ours.
    text.chars().take(LONGEST).map(|c| if c.is_control() { ' ' } else { c }).collect()
}

fn host_of(url: &str) -> Option<String> {
    let url = url::Url::parse(url).ok()?;
    matches!(url.scheme(), "http" | "https").then(|| url.host_str().map(str::to_lowercase))?
}

/// The words of an address, without its scheme.
fn address(url: &str) -> String {
    let bare = url.split_once("://").map_or(url, |(_, rest)| rest);
    bare.split(|c: char| !c.is_alphanumeric()).collect::<Vec<_>>().join(" ")
}
