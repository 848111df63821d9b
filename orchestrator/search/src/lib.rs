//! An offline search engine over recorded pages. It answers the queries of agents, because no
//! recording has the results of every query.
//!
//! ```text
//!  URL ── engines ── is it a search engine's? ── query ── index ── page ── HTML of results
//!                             words, "phrases", -words, site:     recorded pages, ranked by BM25
//! ```
//!
//! The same snapshots and query give the same bytes. Only pages that the snapshots can answer are
//! found, so no result leads to a miss.

mod engines;
mod error;
mod index;
mod links;
mod page;
mod query;
mod text;

use std::sync::{Arc, OnceLock};

use camino::{Utf8Path, Utf8PathBuf};
use snapshots::index::ReplaySet;

pub use engines::{SearchQuery, hosts, query_of};
pub use error::SearchError;
pub use index::{Results, SearchHit};
pub use links::links;

use index::Index;

/// Whether a text has words to search for. `site:` and excluded words alone only narrow a search.
pub fn has_words(typed: &str) -> bool {
    query::read(typed).is_some()
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
    index: OnceLock<Result<Index, Arc<SearchError>>>,
}

/// The answer to a search engine's URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// The HTML, in UTF-8.
    pub html: String,
    /// The number of matches on all result pages. `None` if there was no query.
    pub found: Option<u64>,
}

impl Search {
    /// Searches the pages of `set`. The index is kept in the folder `cache`, or else in a temporary
    /// file.
    pub fn new(set: Arc<ReplaySet>, cache: Option<&Utf8Path>) -> Search {
        Search { set, exact: false, cache: cache.map(Utf8Path::to_owned), index: OnceLock::new() }
    }

    /// Finds only pages that the snapshots answer at exactly the same URL.
    #[must_use]
    pub fn exact(mut self, exact: bool) -> Search {
        self.exact = exact;
        self
    }

    /// Indexes the pages if needed. Blocks while it reads them: some seconds for thousands of
    /// pages.
    ///
    /// # Errors
    /// When the snapshots cannot be read or the index cannot be written. Later calls return the
    /// same error.
    pub fn prepare(&self) -> Result<(), Arc<SearchError>> {
        self.index().map(|_| ())
    }

    /// The results of a query, beginning with index `first`, from 0.
    ///
    /// # Errors
    /// As [`Search::prepare`], and when the index cannot be read.
    pub fn results(&self, query: &str, first: u64, count: u64) -> Result<Results, Arc<SearchError>> {
        Ok(self.index()?.results(query, first, count)?)
    }

    /// The page for a search engine's URL: results, or a search form if there is no query.
    ///
    /// # Errors
    /// As [`Search::results`].
    pub fn answer(&self, query: &SearchQuery<'_>) -> Result<Page, Arc<SearchError>> {
        let results = match &query.query {
            Some(text) => Some(self.results(text, query.first, PER_PAGE)?),
            None => None,
        };
        let found = results.as_ref().map(|results| results.total);
        Ok(Page { html: page::render(query, results.as_ref()), found })
    }

    fn index(&self) -> Result<&Index, Arc<SearchError>> {
        let index = self.index.get_or_init(|| {
            Index::open_or_build(&self.set, self.exact, self.cache.as_deref()).map_err(Arc::new)
        });
        index.as_ref().map_err(Arc::clone)
    }
}
