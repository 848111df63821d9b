//! The full-text index of recorded pages, in SQLite FTS5, which ranks results by BM25.
//!
//! The index is a cache that is bound to the state of its archives. If it is missing or stale, it
//! is built again.

use camino::{Utf8Path, Utf8PathBuf};
use parking_lot::Mutex;
use rusqlite::types::Value;
use rusqlite::{Connection, OpenFlags, OptionalExtension as _, Transaction, params_from_iter};
use snapshots::Page;
use snapshots::index::{IndexError, IndexHit, ReplaySet};
use snapshots::matching::{self, Key};
use tempfile::NamedTempFile;

use crate::query::{self, DIVIDER, Query, divided};
use crate::{SearchError, engines, text};

/// The version of the tables and their content. Change it with them.
const VERSION: &str = "1";
/// Documents with more bytes are not indexed.
const LARGEST: u64 = 32 << 20;
/// Number of characters of a page that are indexed.
const LONGEST: usize = 1 << 20;
/// The weights of a word in title, URL and text.
const WEIGHTS: &str = "0.0, 0.0, 5.0, 2.0, 1.0";
/// Maximum length of a snippet in words, and in characters, because words may be long.
const SNIPPET: (u32, usize) = (40, 1000);
/// Maximum length of a title in characters.
const TITLE: usize = 300;

/// Marks around a matching word in [`SearchHit::snippet`].
pub(crate) const MARKS: (char, char) = ('\u{2}', '\u{3}');

/// Some of the pages that match a query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Results {
    /// The total number of matching pages.
    pub total: u64,
    /// The requested matches, best first.
    pub found: Vec<SearchHit>,
}

/// A page that matches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchHit {
    /// Its URL, as the snapshots answer it.
    pub url: String,
    /// Its title; empty if it has none.
    pub title: String,
    /// The text around matching words, which stand between U+0002 and U+0003.
    pub snippet: String,
}

impl SearchHit {
    /// The snippet without marks.
    pub fn text(&self) -> String {
        self.snippet.replace([MARKS.0, MARKS.1], "")
    }
}

/// An open index.
#[derive(Debug)]
pub(crate) struct Index {
    connection: Mutex<Connection>,
    path: Utf8PathBuf,
    /// The temporary file of the index, if it is temporary.
    _temporary: Option<NamedTempFile>,
}

impl Index {
    /// Opens the index of these snapshots in the folder `cache`, and builds it if it is missing or
    /// stale. Without a folder it is built in a temporary file. With `exact` it contains only pages
    /// that replay answers at exactly the same URL.
    pub(crate) fn open_or_build(
        set: &ReplaySet,
        exact: bool,
        cache: Option<&Utf8Path>,
    ) -> Result<Index, SearchError> {
        let state = format!("{VERSION} {exact}\n{}", set.state());
        let Some(cache) = cache else {
            let file = NamedTempFile::new().map_err(io("create", "a temporary file".into()))?;
            build(set, exact, &state, path_of(&file)?)?;
            let path = path_of(&file)?.to_owned();
            return Ok(Index { connection: Mutex::new(open(&path)?), path, _temporary: Some(file) });
        };
        // The file name depends only on the archives' paths, so that stale files are replaced.
        let archives: Vec<Utf8PathBuf> = set.members().map(|(archive, _)| whole(archive.path())).collect();
        let parts: Vec<&[u8]> = archives.iter().map(|path| path.as_str().as_bytes()).collect();
        let key =
            Key::of(if exact { "exactly searched pages" } else { "searched pages" }, &parts).to_string();
        let path = cache.join(format!("{}.pages", &key[..16]));
        if !path.exists() || !is_of(&path, &state) {
            std::fs::create_dir_all(cache).map_err(io("create", cache.to_owned()))?;
            let file = NamedTempFile::new_in(cache).map_err(io("write into", cache.to_owned()))?;
            build(set, exact, &state, path_of(&file)?)?;
            file.as_file().sync_all().map_err(io("write", path.clone()))?;
            file.persist(&path).map_err(|error| io("write", path.clone())(error.error))?;
        }
        Ok(Index { connection: Mutex::new(open(&path)?), path, _temporary: None })
    }

    /// The results of a query, beginning with index `first`.
    pub(crate) fn results(&self, typed: &str, first: u64, count: u64) -> Result<Results, SearchError> {
        let Some(query) = query::read(typed) else {
            return Ok(Results { total: 0, found: Vec::new() });
        };
        self.look_up(&query, first, count).map_err(failed(&self.path))
    }

    fn look_up(&self, query: &Query, first: u64, count: u64) -> rusqlite::Result<Results> {
        let connection = self.connection.lock();
        // Parameter 1 is the expression, then come the hosts, and the numbers at the end.
        let hosts = 2..query.hosts.len() + 2;
        let on_host =
            |host: usize| format!("host = ?{host} OR substr(host, -length(?{host}) - 1) = '.' || ?{host}");
        let on_hosts = hosts.clone().map(on_host).collect::<Vec<_>>().join(" OR ");
        let mut found = "pages MATCH ?1".to_owned();
        if !hosts.is_empty() {
            found.push_str(&format!(" AND ({on_hosts})"));
        }
        let parameters = [&query.expression].into_iter().chain(&query.hosts).cloned().map(Value::from);
        let total: i64 = connection
            .prepare_cached(&format!("SELECT count(*) FROM pages WHERE {found}"))?
            .query_row(params_from_iter(parameters.clone()), |row| row.get(0))?;
        let number = |number: u64| Value::from(i64::try_from(number).unwrap_or(i64::MAX));
        let (limit, offset) = (hosts.end, hosts.end + 1);
        let ((before, after), (words, characters)) = (MARKS, SNIPPET);
        // Order equal ranks by URL, so that the order is deterministic.
        let mut statement = connection.prepare_cached(&format!(
            "SELECT url, title, snippet(pages, 4, '{before}', '{after}', '…', {words}) FROM pages WHERE {found}
             ORDER BY bm25(pages, {WEIGHTS}), url LIMIT ?{limit} OFFSET ?{offset}"
        ))?;
        let given = params_from_iter(parameters.chain([number(count), number(first)]));
        let rows = statement.query_map(given, |row| {
            let seen = |text: String| text.replace(DIVIDER, "");
            let snippet: String = seen(row.get(2)?).chars().take(characters).collect();
            Ok(SearchHit { url: row.get(0)?, title: seen(row.get(1)?), snippet })
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

fn failed(path: &Utf8Path) -> impl FnOnce(rusqlite::Error) -> SearchError {
    let path = path.to_owned();
    move |source| SearchError::Database { path, source }
}

fn whole(path: &Utf8Path) -> Utf8PathBuf {
    path.canonicalize_utf8().unwrap_or_else(|_| path.to_owned())
}

fn path_of(file: &NamedTempFile) -> Result<&Utf8Path, SearchError> {
    let no_text = || std::io::Error::new(std::io::ErrorKind::InvalidInput, "its path is no UTF-8");
    Utf8Path::from_path(file.path()).ok_or_else(|| io("write", "a temporary file".into())(no_text()))
}

fn open(path: &Utf8Path) -> Result<Connection, SearchError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    Connection::open_with_flags(path, flags).map_err(failed(path))
}

/// Whether the index at `path` belongs to this state. An unreadable index does not.
fn is_of(path: &Utf8Path, state: &str) -> bool {
    let read = || -> Result<Option<String>, SearchError> {
        let own = open(path)?.query_row("SELECT state FROM archives", [], |row| row.get(0)).optional();
        own.map_err(failed(path))
    };
    match read() {
        Ok(own) => own.as_deref() == Some(state),
        Err(error) => {
            tracing::debug!(%path, %error, "an index of pages is made again");
            false
        }
    }
}

/// Writes the index to an empty file.
fn build(set: &ReplaySet, exact: bool, state: &str, path: &Utf8Path) -> Result<(), SearchError> {
    let mut connection = Connection::open(path).map_err(failed(path))?;
    let transaction = begin(&mut connection).map_err(failed(path))?;
    for page in set.pages() {
        let Some(host) = host_of(&page.url) else { continue };
        // Recorded result pages of search engines do not answer other queries, so they are not
        // indexed.
        if engines::query_of(&host, &page.url).is_some() {
            continue;
        }
        let Page { url, title, text, .. } = page;
        let Some((title, text)) = words_of(set, exact, &url, title, text)? else { continue };
        let address = address(&url);
        insert(&transaction, [url, host, title, address, text]).map_err(failed(path))?;
    }
    end(transaction, state).map_err(failed(path))
}

fn begin(connection: &mut Connection) -> rusqlite::Result<Transaction<'_>> {
    // An interrupted index is never used, so it needs no journal and no sync.
    connection.pragma_update(None, "journal_mode", "OFF")?;
    connection.pragma_update(None, "synchronous", "OFF")?;
    connection.execute_batch(
        "CREATE TABLE archives (state TEXT NOT NULL);
         CREATE VIRTUAL TABLE pages USING fts5
             (url UNINDEXED, host UNINDEXED, title, address, text, tokenize = \"porter unicode61 remove_diacritics 2\");",
    )?;
    connection.transaction()
}

fn insert(transaction: &Transaction<'_>, row: [String; 5]) -> rusqlite::Result<()> {
    let mut statement = transaction
        .prepare_cached("INSERT INTO pages (url, host, title, address, text) VALUES (?1, ?2, ?3, ?4, ?5)")?;
    statement.execute(row).map(drop)
}

fn end(transaction: Transaction<'_>, state: &str) -> rusqlite::Result<()> {
    transaction.execute("INSERT INTO pages (pages) VALUES ('optimize')", [])?;
    transaction.execute("INSERT INTO archives VALUES (?1)", [state])?;
    transaction.commit()
}

/// The title and text of a page. `None` if the set has no answer that is a page. The page list has
/// priority over the HTML, because it has what a browser showed.
fn words_of(
    set: &ReplaySet,
    exact: bool,
    url: &str,
    title: Option<String>,
    listed: Option<String>,
) -> Result<Option<(String, String)>, SearchError> {
    let title = title.filter(|title| !title.trim().is_empty());
    let listed = listed.filter(|text| !text.trim().is_empty());
    let Some(hit) = answer(set, exact, url, listed.is_some())? else { return Ok(None) };
    let read = match (&title, &listed) {
        (Some(_), Some(_)) => text::Text::default(),
        _ => match set.document(hit, LARGEST) {
            Ok(Some(document)) if text::is_html(&document.media_type) => {
                text::read(&document.media_type, &document.bytes)
            }
            Ok(_) => text::Text::default(),
            Err(error) => {
                tracing::warn!(url, %error, "a recorded page is not searched in");
                text::Text::default()
            }
        },
    };
    let title = shorten(&title.unwrap_or(read.title), TITLE);
    Ok(Some((title, shorten(&listed.unwrap_or(read.body), LONGEST))))
}

/// The answer of replay for the URL: a page, or, if the page's text is known, also a redirect to
/// one.
fn answer(set: &ReplaySet, exact: bool, url: &str, known: bool) -> Result<Option<IndexHit>, IndexError> {
    let url = url.split('#').next().unwrap_or_default();
    let request = matching::ReplayRequest::bare("GET", url);
    let mut hits = set.exact(&matching::exact(&request))?;
    if hits.is_empty() && !exact {
        hits = set.normalised(&matching::normalised(&request).0)?;
    }
    for hit in hits {
        let capture = set.capture(hit)?;
        let status = if hit.status == 0 { capture.status } else { hit.status };
        let leads = known && matches!(status, 301 | 302 | 303 | 307 | 308);
        if (status == 200 || leads) && set.body_of(hit, &capture)?.is_some() {
            return Ok(Some(hit));
        }
    }
    Ok(None)
}

/// The beginning of a text, without our divider characters.
fn shorten(text: &str, longest: usize) -> String {
    let plain = text.chars().filter(|c| *c != DIVIDER).take(longest);
    divided(&plain.map(|c| if c.is_control() { ' ' } else { c }).collect::<String>())
}

fn host_of(url: &str) -> Option<String> {
    let url = url::Url::parse(url).ok()?;
    matches!(url.scheme(), "http" | "https").then(|| url.host_str().map(str::to_lowercase))?
}

/// The words of a URL, without its scheme.
fn address(url: &str) -> String {
    let bare = url.split_once("://").map_or(url, |(_, rest)| rest);
    bare.split(|c: char| !c.is_alphanumeric()).collect::<Vec<_>>().join(" ")
}
