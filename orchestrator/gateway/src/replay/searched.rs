//! Answers search requests from the recorded pages: those of search engines, and those of sites of
//! their own if the world wants that.

use std::sync::Arc;

use http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use search::{Search, SearchForm, SearchQuery};
use snapshots::index::ReplaySet;
use url::Url;
use world_spec::SiteSearch;

use super::bounded_cache::BoundedCache;
use crate::{Answer, Reply, RequestHead, body, miss};

/// Recorded requests of a host among which documents are looked for.
const REQUESTS: usize = 2000;
/// Documents of a host that are read for their search forms. Most sites have one on every page.
const DOCUMENTS: usize = 24;
/// Documents with more bytes are not read.
const LARGEST: u64 = 4 << 20;

/// The search forms of hosts whose searches are answered. The sites themselves would have answered
/// with other results.
#[derive(Debug, Default)]
pub(super) struct SiteForms {
    site_search: SiteSearch,
    /// Those of [`SiteSearch::At`], each with its host in lower case.
    named: Vec<(String, SearchForm)>,
    known: BoundedCache<String, Arc<Vec<SearchForm>>>,
}

impl SiteForms {
    /// What is no address of a search is left out: whoever reads a suite has refused it.
    pub(super) fn new(site_search: SiteSearch) -> SiteForms {
        let named = match &site_search {
            SiteSearch::Off | SiteSearch::Forms => Vec::new(),
            SiteSearch::At(addresses) => {
                addresses.iter().filter_map(|address| SearchForm::of_template(address)).collect()
            }
        };
        SiteForms { site_search, named, known: BoundedCache::default() }
    }

    /// Whether a request may need a search in the pages of its site.
    pub(super) fn may_search(&self, head: &RequestHead) -> bool {
        let is_get = matches!(head.method, Method::GET | Method::HEAD);
        !self.site_search.is_off() && is_get && head.url.contains('?') && miss::is_navigation(head)
    }

    /// The forms of a request's host, if the request may be a search of the site: a document that a
    /// person would see.
    pub(super) fn of(&self, set: &ReplaySet, head: &RequestHead) -> Arc<Vec<SearchForm>> {
        if !self.may_search(head) {
            return Arc::default();
        }
        match &self.site_search {
            SiteSearch::Off => Arc::default(),
            SiteSearch::At(_) => {
                let own = self.named.iter().filter(|(host, _)| *host == head.host);
                Arc::new(own.map(|(_, form)| form.clone()).collect())
            }
            SiteSearch::Forms => self.known.get(&head.host).unwrap_or_else(|| {
                let failures = set.failures();
                let forms = Arc::new(forms_of(set, &head.host));
                // A form that could not be read may be read the next time.
                if set.failures() == failures {
                    self.known.put(head.host.clone(), Arc::clone(&forms));
                }
                forms
            }),
        }
    }
}

/// The search forms in the recorded documents of a host.
fn forms_of(set: &ReplaySet, host: &str) -> Vec<SearchForm> {
    let mut forms = Vec::new();
    let mut requests = set.of_host(host, REQUESTS).unwrap_or_else(|error| {
        tracing::warn!(host, error = %error_text::with_causes(&error), "failed to look for search forms");
        Vec::new()
    });
    requests.retain(|recorded| recorded.method == "GET" && recorded.hit.status == 200);
    // The home page first, and the same ones in every episode.
    requests.sort_by(|a, b| {
        (a.url.len(), &a.url, a.hit.at_millis).cmp(&(b.url.len(), &b.url, b.hit.at_millis))
    });
    let mut read = 0;
    for recorded in requests {
        let Ok(url) = Url::parse(&recorded.url) else { continue };
        let Ok(Some(document)) = set.document(recorded.hit, LARGEST) else { continue };
        if !document.media_type.starts_with("text/html") {
            continue;
        }
        forms.extend(search::search_forms(&document.media_type, &document.bytes, &url));
        read += 1;
        if read == DOCUMENTS {
            break;
        }
    }
    forms.sort();
    forms.dedup();
    forms
}

/// The search of a site that a request asks for.
pub(super) fn site_query<'a>(
    forms: &'a [SearchForm],
    head: &'a RequestHead,
) -> Option<SearchQuery<'a>> {
    forms.iter().find_map(|form| form.query_of(&head.host, &head.url))
}

/// The search query of a request; `None` for other hosts and other requests.
pub(super) fn query_of(head: &RequestHead) -> Option<SearchQuery<'_>> {
    matches!(head.method, Method::GET | Method::HEAD)
        .then(|| search::query_of(&head.host, &head.url))?
}

/// The results, as the engine gives them.
pub(super) fn reply(head: &RequestHead, search: &Search, query: &SearchQuery<'_>) -> Reply {
    let page = match search.answer(query) {
        Ok(page) => page,
        Err(error) => {
            let text = format!("failed to {}", error_text::with_causes(&*error));
            tracing::warn!(url = head.url, error = text, "a search could not be answered");
            return miss::failed(head, text);
        }
    };
    let mut headers = HeaderMap::new();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(page.media_type));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(header::CONTENT_LENGTH, HeaderValue::from(page.text.len()));
    let body = if head.method == Method::HEAD { body::empty() } else { body::full(page.text) };
    let answer = Answer::Search { found: page.found.unwrap_or(0), of_site: query.is_of_site() };
    Reply { status: StatusCode::OK, headers, body, answer, capture: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Suites are checked when they are read, so that no address is left out here.
    #[test]
    fn every_address_that_a_suite_may_have_is_a_form() {
        for (address, is_form) in [
            ("https://shop.test/search?q={}", true),
            ("http://shop.test/?a=1&q={}&b", true),
            ("HTTPS://Shop.test:8443/s?q={}#x", true),
            ("https://user@shop.test/s?q={}", true),
            ("https://shop.test/search?q=%7B%7D", false),
            ("https://shop.test/search?q=x{}", false),
            ("https://shop.test/{}?q=x", false),
            ("https://shop.test/{}?q={}", false),
            ("https://shop.test/?q={}&p={}", false),
            ("https://shop.test/", false),
            ("ftp://shop.test/?q={}", false),
            ("shop.test/?q={}", false),
            ("https:///?q={}", false),
            ("https://?q={}", false),
            ("", false),
        ] {
            let read: Result<SiteSearch, _> = serde_json::from_value(serde_json::json!([address]));
            assert_eq!(read.is_ok(), is_form, "{address}");
            assert_eq!(SearchForm::of_template(address).is_some(), is_form, "{address}");
        }
    }
}
