//! A search engine over recorded pages: what answers an agent's query offline, since no recording holds the results of every query.
//!
//! ```text
//!  URL ── engines ── is it a search engine's? ── query ── index ── page ── HTML of results
//!                                       words, "phrases", -words, site:     pages of the snapshots by BM25
//! ```
//!
//! The same snapshots and the same query give the same bytes. Only pages that the snapshots answer are found, so that no result leads to a miss.

mod engines;
mod error;
mod index;
mod page;
mod query;
mod text;

use std::sync::{Arc, OnceLock};

use camino::{Utf8Path, Utf8PathBuf};
use snapshots::index::ReplaySet;

pub use engines::{SearchQuery, asked, hosts};
pub use error::SearchError;
pub use index::{Results, SearchHit};

use index::Index;

/// Whether there is anything to look for in what was typed: `site:` and words that are not wanted only narrow that down.
pub fn has_words(typed: &str) -> bool {
    query::read(typed).is_some()
}

/// How many results a page of them has.
pub const PER_PAGE: u64 = 10;

/// A search engine over the pages of some snapshots. They are indexed when they are searched first, or by [`Search::prepare`]; many threads may search at
/// once.
#[derive(Debug)]
pub struct Search {
    set: Arc<ReplaySet>,
    exact: bool,
    cache: Option<Utf8PathBuf>,
    index: OnceLock<Result<Index, Arc<SearchError>>>,
}

/// What a search engine's URL is answered with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// The HTML, in UTF-8.
    pub html: String,
    /// How many pages were found, on all pages of results; none where nothing was searched for yet.
    pub found: Option<u64>,
}

impl Search {
    /// Searches the pages of `set`. Their index is kept in the folder `cache`, and without one in a temporary file.
    pub fn new(set: Arc<ReplaySet>, cache: Option<&Utf8Path>) -> Search {
        Search { set, exact: false, cache: cache.map(Utf8Path::to_owned), index: OnceLock::new() }
    }

    /// Finds only pages that the snapshots answer by the very same URL.
    #[must_use]
    pub fn exact(mut self, exact: bool) -> Search {
        self.exact = exact;
        self
    }

    /// Indexes the pages unless that is done. Blocks while pages are read, some seconds for thousands of them.
    ///
    /// # Errors
    /// When the snapshots cannot be read or the index cannot be written; the same error at every later call.
    pub fn prepare(&self) -> Result<(), Arc<SearchError>> {
        self.index().map(|_| ())
    }

    /// The results of a query from the `first` on, counted from 0.
    ///
    /// # Errors
    /// As [`Search::prepare`], and when the index cannot be read.
    pub fn results(&self, query: &str, first: u64, count: u64) -> Result<Results, Arc<SearchError>> {
        Ok(self.index()?.results(query, first, count)?)
    }

    /// The page for what a search engine was asked: its results, or, without a query, a form to ask with.
    ///
    /// # Errors
    /// As [`Search::results`].
    pub fn answer(&self, asked: &SearchQuery<'_>) -> Result<Page, Arc<SearchError>> {
        let results = match &asked.query {
            Some(query) => Some(self.results(query, asked.first, PER_PAGE)?),
            None => None,
        };
        let found = results.as_ref().map(|results| results.total);
        Ok(Page { html: page::render(asked, results.as_ref()), found })
    }

    fn index(&self) -> Result<&Index, Arc<SearchError>> {
        let index = self.index.get_or_init(|| {
            Index::open_or_build(&self.set, self.exact, self.cache.as_deref()).map_err(Arc::new)
        });
        index.as_ref().map_err(Arc::clone)
    }
}
