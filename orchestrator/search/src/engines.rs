//! The search engines whose URLs are answered, with the format of their URLs.

use std::borrow::Cow;

use url::Url;
use url::form_urlencoded::Serializer;

/// The URL format of a search engine.
#[derive(Debug, PartialEq, Eq)]
struct Engine {
    hosts: &'static [&'static str],
    /// Paths of result pages. Without a query they are the home page.
    results: &'static [&'static str],
    /// Paths of the home page.
    home: &'static [&'static str],
    /// The query parameter with the search text.
    query: &'static str,
    /// The parameter of the result page: its name, its value on the first page, and its step.
    start: (&'static str, u64, u64),
}

const PER_PAGE: u64 = crate::PER_PAGE;

const ENGINES: &[Engine] = &[
    Engine {
        hosts: &["www.google.com", "google.com"],
        results: &["/search"],
        home: &["/", "/webhp"],
        query: "q",
        start: ("start", 0, PER_PAGE),
    },
    Engine {
        hosts: &["www.bing.com", "bing.com"],
        results: &["/search"],
        home: &["/"],
        query: "q",
        start: ("first", 1, PER_PAGE),
    },
    Engine {
        hosts: &["duckduckgo.com", "www.duckduckgo.com", "html.duckduckgo.com", "lite.duckduckgo.com"],
        results: &["/", "/html", "/html/", "/lite", "/lite/"],
        home: &[],
        query: "q",
        start: ("s", 0, PER_PAGE),
    },
    Engine {
        hosts: &["search.yahoo.com"],
        results: &["/search"],
        home: &["/"],
        query: "p",
        start: ("b", 1, PER_PAGE),
    },
    Engine {
        hosts: &["search.brave.com"],
        results: &["/search"],
        home: &["/"],
        query: "q",
        start: ("offset", 0, 1),
    },
    Engine {
        hosts: &["www.startpage.com", "startpage.com"],
        results: &["/sp/search", "/do/search", "/do/dsearch"],
        home: &["/"],
        query: "query",
        start: ("page", 1, 1),
    },
    Engine {
        hosts: &["www.ecosia.org", "ecosia.org"],
        results: &["/search"],
        home: &["/"],
        query: "q",
        start: ("p", 0, 1),
    },
];

/// The hosts of all known search engines.
pub fn hosts() -> impl Iterator<Item = &'static str> {
    ENGINES.iter().flat_map(|engine| engine.hosts.iter().copied())
}

/// The request in a search engine's URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchQuery<'a> {
    engine: &'static Engine,
    /// The host of the engine.
    pub host: &'a str,
    /// The search text as typed. `None` on the engine's home page.
    pub query: Option<String>,
    /// The index of the first requested result, from 0.
    pub first: u64,
}

/// Parses a search engine's URL. `host` is in lower case. `None` if the URL is no known search
/// page.
pub fn query_of<'a>(host: &'a str, url: &str) -> Option<SearchQuery<'a>> {
    let engine = ENGINES.iter().find(|engine| engine.hosts.contains(&host))?;
    let url = Url::parse(url).ok()?;
    let value = |name: &str| url.query_pairs().find(|(own, _)| own == name).map(|(_, value)| value);
    let results = engine.results.contains(&url.path());
    if !results && !engine.home.contains(&url.path()) {
        return None;
    }
    let query = value(engine.query).filter(|query| results && !query.trim().is_empty()).map(Cow::into_owned);
    let (start, first, step) = engine.start;
    let page = value(start)
        .and_then(|value| value.parse::<u64>().ok())
        .map_or(0, |value| value.saturating_sub(first) / step);
    Some(SearchQuery { engine, host, query, first: page.saturating_mul(PER_PAGE) })
}

impl SearchQuery<'_> {
    /// The path of the search form, on any page of the engine.
    pub(crate) fn action(&self) -> &'static str {
        self.engine.results[0]
    }

    /// The name of the form's field.
    pub(crate) fn field(&self) -> &'static str {
        self.engine.query
    }

    /// The URL of the result page that begins with this result, relative to the engine's host.
    pub(crate) fn at(&self, first: u64) -> String {
        let (start, base, step) = self.engine.start;
        let number = (base + first / PER_PAGE * step).to_string();
        let mut pairs = Serializer::new(String::new());
        pairs.append_pair(self.engine.query, self.query.as_deref().unwrap_or_default());
        pairs.append_pair(start, &number);
        format!("{}?{}", self.action(), pairs.finish())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_of_results_are_told_from_others() {
        let check = |url: &str, expect: Option<(Option<&str>, u64)>| {
            let parsed = Url::parse(url).unwrap();
            let found = query_of(parsed.host_str().unwrap(), url);
            let found = found.as_ref().map(|query| (query.query.as_deref(), query.first));
            assert_eq!(found, expect, "{url}");
        };
        check("https://www.google.com/search?q=tall+oak&hl=en", Some((Some("tall oak"), 0)));
        check("https://www.google.com/search?q=oak&start=20", Some((Some("oak"), 20)));
        check("https://www.google.com/search?q=+", Some((None, 0)));
        check("http://google.com/", Some((None, 0)));
        check("https://www.google.com/?q=oak", Some((None, 0)));
        check("https://www.google.com/maps?q=oak", None);
        check("https://www.bing.com/search?q=oak&first=11", Some((Some("oak"), 10)));
        check("https://www.bing.com/search?q=oak&first=0", Some((Some("oak"), 0)));
        check("https://duckduckgo.com/?q=oak&ia=web", Some((Some("oak"), 0)));
        check("https://duckduckgo.com/", Some((None, 0)));
        check("https://html.duckduckgo.com/html/?q=oak&s=10", Some((Some("oak"), 10)));
        check("https://search.brave.com/search?q=oak&offset=2", Some((Some("oak"), 20)));
        check("https://search.yahoo.com/search?p=oak&b=21", Some((Some("oak"), 20)));
        check("https://www.startpage.com/do/search?query=oak&page=2", Some((Some("oak"), 10)));
        check("https://www.ecosia.org/search?q=oak&p=x", Some((Some("oak"), 0)));
        check(
            "https://www.google.com/search?q=oak&start=18446744073709551615",
            Some((Some("oak"), u64::MAX - 5)),
        );
        check("https://www.aldria-rail.test/search?q=oak", None);
    }

    #[test]
    fn the_next_page_is_where_its_engine_has_it() {
        for (engine, host) in
            ENGINES.iter().flat_map(|engine| engine.hosts.iter().map(move |host| (engine, host)))
        {
            let url = format!("https://{host}{}?{}=a%26b", engine.results[0], engine.query);
            let first = query_of(host, &url).unwrap();
            let next = query_of(host, &format!("https://{host}{}", first.at(30))).unwrap();
            assert_eq!((next.query.as_deref(), next.first), (Some("a&b"), 30), "{url}");
        }
    }
}
