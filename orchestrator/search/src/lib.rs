//! An offline search engine over recorded pages. It answers the queries of agents, because no
//! recording has the results of every query.
//!
//! ```text
//!  URL ── engines ── is it a search engine's? ── query ── index ── page ── HTML of results
//!                     words, "phrases", -words, site:    recorded pages, ranked by BM25
//! ```
//!
//! The same snapshots and query give the same bytes. Only pages that the snapshots can answer are
//! found, so no result leads to a miss.

mod engines;
mod error;
mod index;
mod json;
mod page;
mod query;
mod segment;
mod site_forms;
mod words;

use std::fmt;
use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use engines::Form;
pub use engines::{SearchQuery, hosts, query_of};
pub use error::SearchError;
use index::{Index, MARKS};
use parking_lot::Mutex;
use query::Query;
pub use site_forms::{SearchForm, search_forms};
use snapshots::index::ReplaySet;

/// Whether a text has words to search for. `site:` and excluded words alone only narrow a search.
pub fn has_words(typed: &str) -> bool {
    query::read(typed).is_some()
}

const HTML: &str = "text/html; charset=utf-8";
const JSON: &str = "application/json; charset=utf-8";

/// Reads the bytes of an index as if its checksums were right, for the fuzzer. Only panics matter.
#[doc(hidden)]
pub fn fuzz_segment(bytes: &[u8]) {
    let _ = segment::read_hostile(bytes);
}

/// Number of results on a page.
pub const PER_PAGE: u64 = 10;

/// A search engine over the pages of some snapshots. The first search, or [`Search::prepare`],
/// indexes the pages. Many threads may search at the same time.
#[derive(Debug)]
pub struct Search {
    set: Arc<ReplaySet>,
    exact: bool,
    cache: Option<Utf8PathBuf>,
    index: Mutex<Option<Result<Arc<Index>, Arc<SearchError>>>>,
}

/// Some of the pages that match a query.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Results {
    /// The total number of matching pages.
    pub total: u64,
    /// Whether more pages than [`Results::total`] match: among a million pages, those with only
    /// very common words of the query are not counted.
    pub at_least: bool,
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

/// Progress of indexing pages.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct IndexProgress {
    /// The number of the archive that is being indexed, from 1.
    pub archive: u64,
    /// The number of archives.
    pub archives: u64,
    /// Pages of this archive that have been read.
    pub pages: u64,
    /// The most pages that it can have.
    pub most_pages: u64,
}

/// What is done, in words.
impl fmt::Display for IndexProgress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.archives {
            1 => f.write_str("indexing pages"),
            archives => write!(f, "indexing pages of snapshot {} of {archives}", self.archive),
        }
    }
}

/// The answer to a search engine's URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// The HTML or JSON, in UTF-8.
    pub text: String,
    /// Its `Content-Type`.
    pub media_type: &'static str,
    /// The number of matches on all result pages. `None` if there was no query.
    pub found: Option<u64>,
}

impl Search {
    /// Searches the pages of `set`. The index is kept in the folder `cache`, or else in a temporary
    /// file.
    pub fn new(set: Arc<ReplaySet>, cache: Option<&Utf8Path>) -> Search {
        Search { set, exact: false, cache: cache.map(Utf8Path::to_owned), index: Mutex::new(None) }
    }

    /// Finds only pages that the snapshots answer at exactly the same URL.
    #[must_use]
    pub fn exact(mut self, exact: bool) -> Search {
        self.exact = exact;
        self
    }

    /// Indexes the pages if needed; `progress` is called only then. Blocks while it reads them:
    /// some seconds for ten thousand pages. Only archives that are new or have changed are indexed.
    ///
    /// # Errors
    /// When the snapshots cannot be read or the index cannot be written. Later calls return the
    /// same error.
    pub fn prepare(&self, progress: &mut dyn FnMut(IndexProgress)) -> Result<(), Arc<SearchError>> {
        self.index(progress).map(drop)
    }

    /// The results of a query, beginning with index `first`, from 0.
    ///
    /// # Errors
    /// As [`Search::prepare`], and when the index cannot be read.
    pub fn results(
        &self,
        query: &str,
        first: u64,
        count: u64,
    ) -> Result<Results, Arc<SearchError>> {
        self.look_up(query::read(query), first, count)
    }

    /// The results of a query among the pages of `host` and of the hosts below it, as
    /// [`Search::results`].
    ///
    /// # Errors
    /// As [`Search::results`].
    pub fn results_on(
        &self,
        host: &str,
        query: &str,
        first: u64,
        count: u64,
    ) -> Result<Results, Arc<SearchError>> {
        let hosts = vec![host.strip_prefix("www.").unwrap_or(host).to_owned()];
        self.look_up(query::read(query).map(|query| Query { hosts, ..query }), first, count)
    }

    fn look_up(
        &self,
        query: Option<Query>,
        first: u64,
        count: u64,
    ) -> Result<Results, Arc<SearchError>> {
        let Some(query) = query else { return Ok(Results::default()) };
        let index = self.index(&mut |_| {})?;
        match index.results(&query, first, count) {
            Err(SearchError::Damaged { .. }) => {
                // Whoever comes first builds it again; the others take that one.
                let mut known = self.index.lock();
                if matches!(&*known, Some(Ok(known)) if Arc::ptr_eq(known, &index)) {
                    *known = None;
                }
                drop(known);
                Ok(self.index(&mut |_| {})?.results(&query, first, count)?)
            }
            outcome => Ok(outcome?),
        }
    }

    /// The answer to a search engine's URL: results as the engine gives them, or a search form if
    /// there is no query. In a site's own search, only pages of the site are found.
    ///
    /// # Errors
    /// As [`Search::results`].
    pub fn answer(&self, query: &SearchQuery<'_>) -> Result<Page, Arc<SearchError>> {
        let results = match &query.query {
            Some(text) if query.own_site => {
                Some(self.results_on(query.host, text, query.first, query.count)?)
            }
            Some(text) => Some(self.results(text, query.first, query.count)?),
            None => None,
        };
        let found = results.as_ref().map(|results| results.total);
        let (text, media_type) = match (&results, query.form) {
            (None, _) | (_, Form::Page) => (page::render(query, results.as_ref()), HTML),
            (Some(results), _) => (json::render(query, results), JSON),
        };
        Ok(Page { text, media_type, found })
    }

    fn index(
        &self,
        progress: &mut dyn FnMut(IndexProgress),
    ) -> Result<Arc<Index>, Arc<SearchError>> {
        let mut known = self.index.lock();
        known
            .get_or_insert_with(|| {
                let index =
                    Index::open_or_build(&self.set, self.exact, self.cache.as_deref(), progress);
                index.map(Arc::new).map_err(Arc::new)
            })
            .clone()
    }
}
