//! The pages that a crawl still has to visit: each URL once, the most useful first, within the
//! user's limits.
//!
//! Given URLs come first. Then come pages that are near to a given URL, by searches rather than by
//! links, and by links that say what is looked for. So a page that a search has found comes before
//! the small print of a front page.

use std::collections::{BTreeMap, HashSet};

use browser::{LinkKind, Survey};
use url::Url;

use crate::plan::words;

/// How far a crawl goes beyond the given URLs.
#[derive(Debug, Clone)]
pub struct Bounds {
    /// Number of links to follow from a given URL. 0 visits only the given URLs.
    pub depth: u32,
    /// Maximum number of pages.
    pub pages: usize,
    /// Hosts whose links are followed besides the hosts of the given URLs. `*.example.test` matches
    /// every name below `example.test`.
    pub include: Vec<String>,
}

/// The subject of a task's crawl; empty for a crawl without a task.
#[derive(Debug, Clone, Default)]
pub struct Interest {
    /// The queries for sites' own searches.
    pub queries: Vec<String>,
    /// The words that make a link more useful, in small letters.
    pub words: Vec<String>,
}

/// A page to visit, with its distance from a given URL in links.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Visit {
    /// The URL, without its fragment.
    pub url: Url,
    /// 0 for a given URL.
    pub depth: u32,
}

/// How a page was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Found {
    /// It was given.
    Given,
    /// It is the result of a search that the site offers.
    Search,
    /// By a link of this kind.
    Link(LinkKind),
}

/// Orders the queue: the least is visited next. A word of what is looked for makes a page as good
/// as one that is a link nearer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Rank {
    cost: i32,
    number: usize,
}

/// How much words of what is looked for can make good, in the link to a page.
const MAX_WORDS: usize = 4;

impl Found {
    /// The cost of a page, by its distance from a given URL and by how many words of what is looked
    /// for its link has.
    fn cost(self, depth: u32, words: usize) -> i32 {
        let base = i32::try_from(depth * 2).unwrap_or(i32::MAX / 2);
        let kind = match self {
            Found::Given | Found::Search => 0,
            Found::Link(LinkKind::Next | LinkKind::Filter) => 1,
            Found::Link(LinkKind::Link) => 2,
        };
        // A search asks for all words.
        let words = if self == Found::Search { MAX_WORDS } else { words.min(MAX_WORDS) };
        base + kind - 2 * words as i32
    }
}

/// The queue of a crawl.
#[derive(Debug)]
pub struct Frontier {
    bounds: Bounds,
    interest: Interest,
    hosts: HashSet<String>,
    seen: HashSet<Url>,
    queue: BTreeMap<Rank, Visit>,
    pushed: usize,
    taken: usize,
}

impl Frontier {
    /// A frontier that holds the given URLs, in their order.
    pub fn new(urls: &[Url], bounds: Bounds, interest: Interest) -> Frontier {
        let hosts = urls.iter().filter_map(|url| url.host_str().map(str::to_owned)).collect();
        let mut frontier = Frontier {
            bounds,
            interest,
            hosts,
            seen: HashSet::new(),
            queue: BTreeMap::new(),
            pushed: 0,
            taken: 0,
        };
        for url in urls {
            frontier.push(url.clone(), 0, Found::Given, "");
        }
        frontier
    }

    /// The next page, or `None` when the crawl is done.
    pub fn take_next(&mut self) -> Option<Visit> {
        if self.taken >= self.bounds.pages {
            return None;
        }
        let (_, visit) = self.queue.pop_first()?;
        self.taken += 1;
        Some(visit)
    }

    /// Adds what a visited page leads to, within the limits: its links, and the results of its
    /// search.
    pub fn found(&mut self, on: &Visit, survey: &Survey) {
        if on.depth == 0
            && let Some(host) =
                Url::parse(&survey.address).ok().and_then(|url| url.host_str().map(str::to_owned))
        {
            // A given URL often leads to another name of the site.
            self.hosts.insert(host);
        }
        if on.depth >= self.bounds.depth {
            return;
        }
        let queries = self.interest.queries.clone();
        for url in survey
            .searches
            .iter()
            .flat_map(|form| queries.iter().filter_map(|query| form.url(query)))
        {
            if self.in_scope(&url) {
                self.push(url, on.depth + 1, Found::Search, "");
            }
        }
        for link in &survey.links {
            let Ok(url) = Url::parse(&link.url) else { continue };
            if matches!(url.scheme(), "http" | "https") && self.in_scope(&url) {
                self.push(url, on.depth + 1, Found::Link(link.kind), &link.label);
            }
        }
    }

    /// Puts a page that was taken back, as if it had not been. It comes next: its host is waited
    /// for, and then it is tried again.
    pub fn give_back(&mut self, visit: Visit) {
        self.uncount();
        self.pushed += 1;
        self.queue.insert(Rank { cost: i32::MIN, number: self.pushed }, visit);
    }

    /// Does not count a page that was taken: it was not asked for.
    pub fn uncount(&mut self) {
        self.taken -= 1;
    }

    /// Number of pages still to visit, within the page limit.
    pub fn waiting(&self) -> usize {
        self.queue.len().min(self.bounds.pages.saturating_sub(self.taken))
    }

    fn push(&mut self, mut url: Url, depth: u32, found: Found, label: &str) {
        url.set_fragment(None);
        if !self.seen.insert(url.clone()) {
            return;
        }
        self.pushed += 1;
        let said = words(&format!("{label} {}", url.path()));
        let words = self.interest.words.iter().filter(|word| said.contains(word)).count();
        let rank = Rank { cost: found.cost(depth, words), number: self.pushed };
        self.queue.insert(rank, Visit { url, depth });
    }

    fn in_scope(&self, url: &Url) -> bool {
        let Some(host) = url.host_str() else { return false };
        self.hosts.contains(host)
            || self.bounds.include.iter().any(|pattern| match pattern.strip_prefix("*.") {
                Some(parent) => host.strip_suffix(parent).is_some_and(|rest| rest.ends_with('.')),
                None => pattern == host,
            })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use browser::{Link, SearchForm};

    use super::*;

    fn url(text: &str) -> Url {
        Url::parse(text).unwrap()
    }

    fn survey(links: &[(&str, LinkKind, &str)]) -> Survey {
        let link = |(url, kind, label): &(&str, LinkKind, &str)| Link {
            url: (*url).to_owned(),
            kind: *kind,
            label: (*label).to_owned(),
        };
        Survey { links: links.iter().map(link).collect(), ..Survey::default() }
    }

    fn crawl_by(depth: u32, pages: usize, survey: &Survey, interest: Interest) -> Vec<String> {
        let bounds = Bounds { depth, pages, include: vec!["*.cdn.test".into()] };
        let mut frontier = Frontier::new(&[url("https://a.test/")], bounds, interest);
        let mut visited = Vec::new();
        while let Some(visit) = frontier.take_next() {
            frontier.found(&visit, survey);
            visited.push(visit.url.to_string());
        }
        visited
    }

    fn crawl(depth: u32, pages: usize, links: &[&str]) -> Vec<String> {
        let links: Vec<_> = links.iter().map(|link| (*link, LinkKind::Link, "")).collect();
        crawl_by(depth, pages, &survey(&links), Interest::default())
    }

    #[test]
    fn depth_zero_visits_only_what_was_given() {
        assert_eq!(crawl(0, 9, &["https://a.test/1"]), ["https://a.test/"]);
    }

    #[test]
    fn a_url_is_visited_once_whatever_its_fragment() {
        assert_eq!(
            crawl(2, 9, &["https://a.test/1", "https://a.test/1#x", "https://a.test/#y"]),
            ["https://a.test/", "https://a.test/1"]
        );
    }

    #[test]
    fn other_hosts_and_schemes_are_left_alone() {
        let links =
            ["https://b.test/", "mailto:x@a.test", "https://x.cdn.test/", "https://xcdn.test/"];
        assert_eq!(crawl(1, 9, &links), ["https://a.test/", "https://x.cdn.test/"]);
    }

    #[test]
    fn the_page_limit_holds() {
        assert_eq!(crawl(1, 2, &["https://a.test/1", "https://a.test/2"]).len(), 2);
    }

    #[test]
    fn the_most_useful_page_comes_first() {
        let mut survey = survey(&[
            ("https://a.test/about", LinkKind::Link, "About"),
            ("https://a.test/kettles", LinkKind::Link, "Blue kettles"),
            ("https://a.test/?sort=price", LinkKind::Filter, "By price"),
            ("https://a.test/?page=2", LinkKind::Next, "2"),
        ]);
        survey.searches = vec![SearchForm {
            action: "https://a.test/find".into(),
            field: "q".into(),
            fields: vec![("q".into(), "".into())],
        }];
        let interest =
            Interest { queries: vec!["blue kettle".into()], words: vec!["kettles".into()] };
        assert_eq!(
            crawl_by(1, 9, &survey, interest),
            [
                "https://a.test/",
                "https://a.test/find?q=blue+kettle",
                "https://a.test/kettles",
                "https://a.test/?sort=price",
                "https://a.test/?page=2",
                "https://a.test/about"
            ]
        );
    }

    #[test]
    fn what_is_given_back_comes_next() {
        let bounds = Bounds { depth: 0, pages: 2, include: Vec::new() };
        let urls = [url("https://a.test/1"), url("https://a.test/2")];
        let mut frontier = Frontier::new(&urls, bounds, Interest::default());
        let first = frontier.take_next().unwrap();
        frontier.give_back(first);
        let rest: Vec<String> =
            std::iter::from_fn(|| frontier.take_next()).map(|visit| visit.url.into()).collect();
        assert_eq!(rest, ["https://a.test/1", "https://a.test/2"]);
    }
}
