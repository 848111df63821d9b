//! Results as JSON, in the documented forms of three search APIs.

use serde_json::{Value, json};
use url::Url;

use crate::engines::{Form, SearchQuery};
use crate::index::MARKS;
use crate::{Results, SearchHit};

/// Who has found the results, where a form names engines.
const ENGINE: &str = "sandbox";
/// The most results that Google's API pages through.
const MOST_OF_GOOGLE: u64 = 100;

/// Renders results in a form that is not a page.
pub(crate) fn render(query: &SearchQuery<'_>, results: &Results) -> String {
    let typed = query.query.as_deref().unwrap_or_default();
    let value = match query.form {
        Form::Google => google(query, typed, results),
        Form::Brave => brave(query, typed, results),
        Form::Searxng | Form::Page => searxng(query, typed, results),
    };
    value.to_string()
}

/// SearXNG's `format=json`.
fn searxng(query: &SearchQuery<'_>, typed: &str, results: &Results) -> Value {
    let found = results.found.iter().zip(1u64..).map(|(hit, position)| {
        let url = Url::parse(&hit.url).ok();
        let part = |get: fn(&Url) -> Option<&str>| url.as_ref().and_then(get).unwrap_or_default();
        let parsed = [
            part(|url| Some(url.scheme())),
            part(|url| url.host_str()),
            part(|url| Some(url.path())),
            // `params` of Python's `urlparse`, whose six parts SearXNG writes here.
            "",
            part(Url::query),
            part(Url::fragment),
        ];
        json!({
            "url": hit.url,
            "title": title(hit),
            "content": hit.text(),
            "engine": ENGINE,
            "template": "default.html",
            "parsed_url": parsed,
            "engines": [ENGINE],
            "positions": [position],
            "score": 1.0 / (query.first + position) as f64,
            "category": "general",
        })
    });
    json!({
        "query": typed,
        "number_of_results": results.total,
        "results": found.collect::<Vec<_>>(),
        "answers": [],
        "corrections": [],
        "infoboxes": [],
        "suggestions": [],
        "unresponsive_engines": [],
    })
}

/// The response of `customsearch/v1`.
fn google(query: &SearchQuery<'_>, typed: &str, results: &Results) -> Value {
    let total = results.total.to_string();
    let request = |first: u64, count: u64| {
        json!([{
            "title": format!("Recorded pages - {typed}"),
            "totalResults": total,
            "searchTerms": typed,
            "count": count,
            "startIndex": first + 1,
            "inputEncoding": "utf8",
            "outputEncoding": "utf8",
            "safe": "off",
        }])
    };
    let shown = results.found.len() as u64;
    let mut queries = json!({ "request": request(query.first, shown) });
    let next = query.first.saturating_add(query.count);
    if next < results.total && next < MOST_OF_GOOGLE {
        queries["nextPage"] = request(next, query.count);
    }
    if let Some(before) = query.first.checked_sub(query.count) {
        queries["previousPage"] = request(before, query.count);
    }
    let items = results.found.iter().map(|hit| {
        let host = Url::parse(&hit.url).ok().and_then(|url| url.host_str().map(str::to_owned));
        json!({
            "kind": "customsearch#result",
            "title": title(hit),
            "htmlTitle": escaped(title(hit)),
            "link": hit.url,
            "displayLink": host,
            "snippet": hit.text(),
            "htmlSnippet": marked(hit, "<b>", "</b>"),
            "formattedUrl": hit.url,
            "htmlFormattedUrl": escaped(&hit.url),
        })
    });
    let mut response = json!({
        "kind": "customsearch#search",
        "url": {
            "type": "application/json",
            "template": "https://www.googleapis.com/customsearch/v1?q={searchTerms}&num={count?}&start={startIndex?}&cx={cx?}&key={key?}&alt=json",
        },
        "queries": queries,
        "context": { "title": "Recorded pages" },
        "searchInformation": {
            "searchTime": 0.0,
            "formattedSearchTime": "0.00",
            "totalResults": total,
            "formattedTotalResults": total,
        },
    });
    // As the API does it: without results there is no list.
    if shown > 0 {
        response["items"] = items.collect();
    }
    response
}

/// The response of `res/v1/web/search`.
fn brave(query: &SearchQuery<'_>, typed: &str, results: &Results) -> Value {
    let more = query.first.saturating_add(query.count) < results.total;
    let found = results.found.iter().map(|hit| {
        let url = Url::parse(&hit.url).ok();
        let host = url.as_ref().and_then(Url::host_str).unwrap_or_default();
        let description =
            if query.marks { marked(hit, "<strong>", "</strong>") } else { hit.text() };
        json!({
            "type": "search_result",
            "title": title(hit),
            "url": hit.url,
            "is_source_local": false,
            "is_source_both": false,
            "description": description,
            "language": "en",
            "family_friendly": true,
            "meta_url": {
                "scheme": url.as_ref().map_or("", Url::scheme),
                "netloc": host,
                "hostname": host,
                "path": url.as_ref().map_or("", Url::path),
            },
        })
    });
    json!({
        "type": "search",
        "query": { "original": typed, "more_results_available": more },
        "web": { "type": "search", "results": found.collect::<Vec<_>>(), "family_friendly": true },
    })
}

/// The title, or the URL of a page without one.
fn title(hit: &SearchHit) -> &str {
    if hit.title.is_empty() { &hit.url } else { &hit.title }
}

/// The snippet as HTML.
fn marked(hit: &SearchHit, before: &str, after: &str) -> String {
    escaped(&hit.snippet).replace(MARKS.0, before).replace(MARKS.1, after)
}

fn escaped(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    text.replace('"', "&quot;").replace('\'', "&#39;")
}
