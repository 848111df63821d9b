//! The search engines whose URLs are answered, with the format of their URLs and responses.

use std::borrow::Cow;

use url::Url;
use url::form_urlencoded::Serializer;

use crate::site_forms::{SITE_PAGE, SearchForm};

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
    /// The form of the response.
    form: Form,
}

/// The form of a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// An HTML page.
    Page,
    /// The JSON of SearXNG.
    Searxng,
    /// The JSON of Google's Custom Search.
    Google,
    /// The JSON of Brave's web search.
    Brave,
}

/// What asks for JSON on an engine's result page, as on SearXNG's.
const JSON: (&str, &str) = ("format", "json");
/// The result page with that form: its name, and its value on the first page.
const JSON_PAGE: (&str, u64) = ("pageno", 1);
/// The most results that the APIs give at once, and how many Brave's gives unasked.
const MOST_OF_GOOGLE: u64 = 10;
const MOST_OF_BRAVE: u64 = 20;

const PER_PAGE: u64 = crate::PER_PAGE;

const ENGINES: &[Engine] = &[
    Engine {
        hosts: &["www.google.com", "google.com"],
        results: &["/search"],
        home: &["/", "/webhp"],
        query: "q",
        start: ("start", 0, PER_PAGE),
        form: Form::Page,
    },
    Engine {
        hosts: &["www.bing.com", "bing.com"],
        results: &["/search"],
        home: &["/"],
        query: "q",
        start: ("first", 1, PER_PAGE),
        form: Form::Page,
    },
    Engine {
        hosts: &[
            "duckduckgo.com",
            "www.duckduckgo.com",
            "html.duckduckgo.com",
            "lite.duckduckgo.com",
        ],
        results: &["/", "/html", "/html/", "/lite", "/lite/"],
        home: &[],
        query: "q",
        start: ("s", 0, PER_PAGE),
        form: Form::Page,
    },
    Engine {
        hosts: &["search.yahoo.com"],
        results: &["/search"],
        home: &["/"],
        query: "p",
        start: ("b", 1, PER_PAGE),
        form: Form::Page,
    },
    Engine {
        hosts: &["search.brave.com"],
        results: &["/search"],
        home: &["/"],
        query: "q",
        start: ("offset", 0, 1),
        form: Form::Page,
    },
    Engine {
        hosts: &["www.startpage.com", "startpage.com"],
        results: &["/sp/search", "/do/search", "/do/dsearch"],
        home: &["/"],
        query: "query",
        start: ("page", 1, 1),
        form: Form::Page,
    },
    Engine {
        hosts: &["www.ecosia.org", "ecosia.org"],
        results: &["/search"],
        home: &["/"],
        query: "q",
        start: ("p", 0, 1),
        form: Form::Page,
    },
    Engine {
        hosts: &["www.googleapis.com", "customsearch.googleapis.com"],
        results: &["/customsearch/v1"],
        home: &[],
        query: "q",
        start: ("start", 1, 1),
        form: Form::Google,
    },
    Engine {
        hosts: &["api.search.brave.com"],
        results: &["/res/v1/web/search"],
        home: &[],
        query: "q",
        start: ("offset", 0, 1),
        form: Form::Brave,
    },
];

/// The hosts of all known search engines.
pub fn hosts() -> impl Iterator<Item = &'static str> {
    ENGINES.iter().flat_map(|engine| engine.hosts.iter().copied())
}

/// The request in a search engine's URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchQuery<'a> {
    /// The host of the engine.
    pub host: &'a str,
    /// The search text as typed. `None` on the engine's home page.
    pub query: Option<String>,
    /// The index of the first requested result, from 0.
    pub first: u64,
    /// How many results are requested.
    pub(crate) count: u64,
    pub(crate) form: Form,
    /// Whether this is the search of a site of its own, in the site's own pages.
    pub(crate) own_site: bool,
    /// Whether texts have marks, where the form has a choice.
    pub(crate) marks: bool,
    /// The path of the search form, on any page of the engine.
    pub(crate) action: &'a str,
    /// The name of the form's field.
    pub(crate) field: &'a str,
    /// As [`Engine::start`].
    start: (&'a str, u64, u64),
}

/// Parses a search engine's URL. `host` is in lower case. `None` if the URL is no known search
/// page.
pub fn query_of<'a>(host: &'a str, url: &str) -> Option<SearchQuery<'a>> {
    let engine = ENGINES.iter().find(|engine| engine.hosts.contains(&host))?;
    let url = Url::parse(url).ok()?;
    let results = engine.results.contains(&url.path());
    if !results && !engine.home.contains(&url.path()) {
        return None;
    }
    let value = |name: &str| value_in(&url, name);
    let query = value(engine.query)
        .filter(|query| results && !query.trim().is_empty())
        .map(Cow::into_owned);
    // An API has no home page.
    if engine.form != Form::Page && query.is_none() {
        return None;
    }
    let number = |name: &str| value(name).and_then(|value| value.parse::<u64>().ok());
    let json = value(JSON.0).is_some_and(|value| value == JSON.1) && query.is_some();
    let form = if json && engine.form == Form::Page { Form::Searxng } else { engine.form };
    let (start, first, step) = engine.start;
    let page = number(start).map_or(0, |value| value.saturating_sub(first) / step);
    let (first, count) = match form {
        Form::Page => (page.saturating_mul(PER_PAGE), PER_PAGE),
        Form::Searxng => match number(JSON_PAGE.0) {
            Some(number) => (number.saturating_sub(JSON_PAGE.1).saturating_mul(PER_PAGE), PER_PAGE),
            None => (page.saturating_mul(PER_PAGE), PER_PAGE),
        },
        Form::Google => (page, number("num").unwrap_or(PER_PAGE).clamp(1, MOST_OF_GOOGLE)),
        Form::Brave => {
            let count = number("count").unwrap_or(MOST_OF_BRAVE).clamp(1, MOST_OF_BRAVE);
            (page.saturating_mul(count), count)
        }
    };
    let marks = value("text_decorations").is_none_or(|value| !matches!(&*value, "0" | "false"));
    let (action, field, start) = (engine.results[0], engine.query, engine.start);
    Some(SearchQuery {
        host,
        query,
        first,
        count,
        form,
        own_site: false,
        marks,
        action,
        field,
        start,
    })
}

pub(crate) fn value_in<'u>(url: &'u Url, name: &str) -> Option<Cow<'u, str>> {
    url.query_pairs().find(|(own, _)| own == name).map(|(_, value)| value)
}

impl<'a> SearchQuery<'a> {
    /// A query in the search form of a site, whose result pages are numbered by `page`, from 1.
    pub(crate) fn of_site(
        host: &'a str,
        query: String,
        number: u64,
        form: &'a SearchForm,
    ) -> SearchQuery<'a> {
        SearchQuery {
            host,
            query: Some(query),
            first: number.saturating_sub(1).saturating_mul(PER_PAGE),
            count: PER_PAGE,
            form: Form::Page,
            own_site: true,
            marks: true,
            action: &form.path,
            field: &form.field,
            start: (SITE_PAGE, 1, 1),
        }
    }

    /// Whether this is the search of a site in its own pages, rather than a search engine's.
    pub fn is_of_site(&self) -> bool {
        self.own_site
    }

    /// The URL of the result page that begins with this result, relative to the engine's host.
    pub(crate) fn at(&self, first: u64) -> String {
        let (start, base, step) = self.start;
        let number = (base + first / PER_PAGE * step).to_string();
        let mut pairs = Serializer::new(String::new());
        pairs.append_pair(self.field, self.query.as_deref().unwrap_or_default());
        pairs.append_pair(start, &number);
        format!("{}?{}", self.action, pairs.finish())
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
        check("https://www.google.com/search?q=oak&start=20&format=json", Some((Some("oak"), 20)));
        check("https://www.ecosia.org/search?q=oak&format=json&pageno=3", Some((Some("oak"), 20)));
        check(
            "https://www.googleapis.com/customsearch/v1?key=k&cx=c&q=oak&start=12",
            Some((Some("oak"), 11)),
        );
        check(
            "https://customsearch.googleapis.com/customsearch/v1?q=oak&start=0",
            Some((Some("oak"), 0)),
        );
        check("https://www.googleapis.com/customsearch/v1?key=k", None);
        check("https://www.googleapis.com/youtube/v3/search?q=oak", None);
        check(
            "https://api.search.brave.com/res/v1/web/search?q=oak&count=5&offset=2",
            Some((Some("oak"), 10)),
        );
        check(
            "https://api.search.brave.com/res/v1/web/search?q=oak&offset=1",
            Some((Some("oak"), 20)),
        );
    }

    #[test]
    fn the_next_page_is_where_its_engine_has_it() {
        let pages = ENGINES.iter().filter(|engine| engine.form == Form::Page);
        for (engine, host) in
            pages.flat_map(|engine| engine.hosts.iter().map(move |host| (engine, host)))
        {
            let url = format!("https://{host}{}?{}=a%26b", engine.results[0], engine.query);
            let first = query_of(host, &url).unwrap();
            let next = query_of(host, &format!("https://{host}{}", first.at(30))).unwrap();
            assert_eq!((next.query.as_deref(), next.first), (Some("a&b"), 30), "{url}");
        }
    }
}
