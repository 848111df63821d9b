//! `sandbox snapshot search`: what an agent would find.

use std::sync::Arc;

use camino::Utf8PathBuf;
use search::Search;
use serde::Serialize;

use crate::commands::replay;
use crate::commands::snapshot::show;
use crate::failure::{Failure, OrFail, Outcome};
use crate::options::DataFolder;
use crate::terminal::progress;

/// Search the pages of snapshots, as offline search engines do for agents
///
/// The first search indexes the pages. The index is kept, and only new snapshots are added to it.
#[derive(clap::Args)]
pub(crate) struct PageSearch {
    /// Words to search for
    #[arg(allow_hyphen_values = true)]
    query: String,
    /// WACZ, WARC or ARC files
    #[arg(required = true)]
    files: Vec<Utf8PathBuf>,
    /// Number of pages to list
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..))]
    first: u64,
    #[command(flatten)]
    data: DataFolder,
}

/// What a search has found.
#[derive(Serialize)]
struct SearchResults<'a> {
    query: &'a str,
    /// How many pages.
    total: u64,
    /// Whether there are more than that.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    at_least: bool,
    found: Vec<FoundPage<'a>>,
}

#[derive(Serialize)]
struct FoundPage<'a> {
    rank: u64,
    url: &'a str,
    title: &'a str,
    text: String,
}

impl PageSearch {
    /// Prints what is found.
    pub(crate) fn run(&self, json: bool) -> Outcome {
        let query = &*self.query;
        if !search::has_words(query) {
            return Err(Failure::Input(format!(
                "failed to search: {query:?} has no word to look for"
            )));
        }
        let set = replay::open(&self.files, &self.data)?;
        let search = Search::new(Arc::new(set), Some(&self.data.indexes()?));
        let bar = progress::unknown("");
        let prepared = search.prepare(&mut |at| progress::advance_indexing(&bar, &at));
        bar.finish_and_clear();
        prepared.or_input("search the snapshots")?;
        let results = search.results(query, 0, self.first).or_input("search the snapshots")?;
        let found = results.found.iter().zip(1..).map(|(found, rank)| FoundPage {
            rank,
            url: &found.url,
            title: &found.title,
            text: found.text(),
        });
        let found = found.collect();
        show(
            &SearchResults { query, total: results.total, at_least: results.at_least, found },
            json,
        );
        Ok(())
    }
}
