//! The queue of pages to visit: breadth first, each URL once, within the user's limits.

use std::collections::{HashSet, VecDeque};

use url::Url;

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

/// A page to visit, with its distance from a given URL in links.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Visit {
    /// The URL, without its fragment.
    pub url: Url,
    /// 0 for a given URL.
    pub depth: u32,
}

/// The queue of a crawl.
#[derive(Debug)]
pub struct Frontier {
    bounds: Bounds,
    hosts: HashSet<String>,
    seen: HashSet<Url>,
    queue: VecDeque<Visit>,
    taken: usize,
}

impl Frontier {
    /// A frontier that holds the given URLs, in their order.
    pub fn new(urls: &[Url], bounds: Bounds) -> Frontier {
        let hosts = urls.iter().filter_map(|url| url.host_str().map(str::to_owned)).collect();
        let mut frontier = Frontier { bounds, hosts, seen: HashSet::new(), queue: VecDeque::new(), taken: 0 };
        for url in urls {
            frontier.push(url.clone(), 0);
        }
        frontier
    }

    /// The next page, or `None` when the crawl is done.
    pub fn take_next(&mut self) -> Option<Visit> {
        if self.taken >= self.bounds.pages {
            return None;
        }
        let visit = self.queue.pop_front()?;
        self.taken += 1;
        Some(visit)
    }

    /// Adds the links of a visited page that are within the limits.
    pub fn found(&mut self, on: &Visit, links: impl IntoIterator<Item = Url>) {
        if on.depth >= self.bounds.depth {
            return;
        }
        for link in links {
            if matches!(link.scheme(), "http" | "https") && self.in_scope(&link) {
                self.push(link, on.depth + 1);
            }
        }
    }

    /// Number of pages still to visit, within the page limit.
    pub fn waiting(&self) -> usize {
        self.queue.len().min(self.bounds.pages.saturating_sub(self.taken))
    }

    fn push(&mut self, mut url: Url, depth: u32) {
        url.set_fragment(None);
        if self.seen.insert(url.clone()) {
            self.queue.push_back(Visit { url, depth });
        }
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
    use super::*;

    fn url(text: &str) -> Url {
        Url::parse(text).unwrap()
    }

    fn crawl(depth: u32, pages: usize, links: &[&str]) -> Vec<String> {
        let bounds = Bounds { depth, pages, include: vec!["*.cdn.test".into()] };
        let mut frontier = Frontier::new(&[url("https://a.test/")], bounds);
        let mut visited = Vec::new();
        while let Some(visit) = frontier.take_next() {
            frontier.found(&visit, links.iter().map(|link| url(link)));
            visited.push(visit.url.to_string());
        }
        visited
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
        let links = ["https://b.test/", "mailto:x@a.test", "https://x.cdn.test/", "https://xcdn.test/"];
        assert_eq!(crawl(1, 9, &links), ["https://a.test/", "https://x.cdn.test/"]);
    }

    #[test]
    fn the_page_limit_holds() {
        assert_eq!(crawl(1, 2, &["https://a.test/1", "https://a.test/2"]).len(), 2);
    }
}
