//! The search forms of sites, as their recorded pages have them.

use html_scan::{StartTag, attribute, is_html};
use url::Url;

use crate::engines::{SearchQuery, value_in};

/// The names that a field for search words has on most sites.
const FIELDS: &[&str] = &[
    "q",
    "query",
    "s",
    "k",
    "search",
    "keyword",
    "keywords",
    "term",
    "terms",
    "searchterm",
    "search_term",
    "search_query",
    "searchtext",
    "text",
    "wd",
    "words",
    "_nkw",
];
/// The parameter of further result pages, whose first number is 1.
pub(crate) const SITE_PAGE: &str = "page";
/// Forms of one document that are read.
const MOST: usize = 64;

/// A search form that sends its words in a URL of its own site.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct SearchForm {
    /// The path of the result page.
    pub path: String,
    /// The parameter with the words.
    pub field: String,
}

impl SearchForm {
    /// The form of an address with `{}` for the words, with its host. `None` if it is no http(s)
    /// address with `{}` as the value of one parameter.
    pub fn of_template(template: &str) -> Option<(String, SearchForm)> {
        let url = Url::parse(template).ok()?;
        let (host, web) =
            (url.host_str()?.to_lowercase(), matches!(url.scheme(), "http" | "https"));
        let field = url
            .query_pairs()
            .find(|(_, value)| value == "{}")
            .map(|(name, _)| name.into_owned())?;
        let once = template.matches("{}").count() == 1;
        (web && once).then(|| (host, SearchForm { path: url.path().to_owned(), field }))
    }

    /// The search that a URL of the form asks for. `None` if it is another URL, or has no words.
    pub fn query_of<'a>(&'a self, host: &'a str, url: &str) -> Option<SearchQuery<'a>> {
        let url = Url::parse(url).ok().filter(|url| url.path() == self.path)?;
        let words =
            value_in(&url, &self.field).filter(|words| crate::has_words(words))?.into_owned();
        let page = value_in(&url, SITE_PAGE).and_then(|page| page.parse().ok());
        Some(SearchQuery::of_site(host, words, page.unwrap_or(1), self))
    }
}

/// The search forms of a document that lead to its own host, each once, in document order. These
/// are forms with the method GET, and a field of type `search`, or with one of the usual names.
pub fn search_forms(media_type: &str, document: &[u8], url: &Url) -> Vec<SearchForm> {
    if !is_html(media_type) {
        return Vec::new();
    }
    let html = html_scan::decode(media_type, document);
    let mut forms = Vec::new();
    for form in html_scan::forms(&html) {
        let base = form.base.and_then(|href| url.join(href.trim()).ok());
        let Some(action) = action_of(&form.tag, base.as_ref().unwrap_or(url), url) else {
            continue;
        };
        for field in form.controls.iter().filter_map(|control| field_of(&control.tag)) {
            let form = SearchForm { path: action.path().to_owned(), field };
            if !forms.contains(&form) && forms.len() < MOST {
                forms.push(form);
            }
        }
    }
    forms
}

/// Where a form leads: to the host of the page, by GET.
fn action_of(tag: &StartTag<()>, base: &Url, page: &Url) -> Option<Url> {
    let get =
        attribute(tag, "method").is_none_or(|method| method.trim().eq_ignore_ascii_case("get"));
    let action = attribute(tag, "action").unwrap_or_default();
    let action = base.join(action.trim()).ok()?;
    (get && action.host_str() == page.host_str()).then_some(action)
}

/// The name of an input for search words.
fn field_of(tag: &StartTag<()>) -> Option<String> {
    if tag.name.as_slice() != b"input" {
        return None;
    }
    let kind = attribute(tag, "type").unwrap_or_default().trim().to_ascii_lowercase();
    let name = attribute(tag, "name").filter(|name| !name.is_empty())?;
    let usual = FIELDS.contains(&&*name.to_ascii_lowercase());
    (kind == "search" || usual && matches!(&*kind, "" | "text")).then_some(name)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn search_forms_are_those_that_send_words_to_their_own_site() {
        let check = |html: &str, expect: &[(&str, &str)]| {
            let url = Url::parse("https://shop.test/lamps/").unwrap();
            let found = search_forms("text/html", html.as_bytes(), &url);
            let found: Vec<_> = found.iter().map(|form| (&*form.path, &*form.field)).collect();
            assert_eq!(found, expect, "{html}");
        };
        check("<form action=/search><input name=q>", &[("/search", "q")]);
        check("<form><input type=search name=words_to_find>", &[("/lamps/", "words_to_find")]);
        check(
            "<base href='/x/'><form action=find METHOD=Get><input type=text name=s>",
            &[("/x/find", "s")],
        );
        check("<form action=/s method=post><input name=q></form>", &[]);
        check("<form action=https://other.test/s><input name=q></form>", &[]);
        check("<form action=/login><input name=user><input type=password name=q></form>", &[]);
        check("<form action=/s></form><input name=q>", &[]);
        check("<script>'<form><input name=q>'</script>", &[]);
        check(
            "<form action=/s><input name=q></form><form action=/s><input name=q></form>",
            &[("/s", "q")],
        );
    }

    #[test]
    fn urls_of_a_form_are_told_from_others() {
        let (host, form) = SearchForm::of_template("https://Shop.test/find?lang=en&w={}").unwrap();
        assert_eq!((&*host, &*form.path, &*form.field), ("shop.test", "/find", "w"));
        let check = |url: &str, expect: Option<(&str, u64)>| {
            let query = form.query_of("shop.test", url);
            let query = query.as_ref().map(|query| (query.query.as_deref().unwrap(), query.first));
            assert_eq!(query, expect, "{url}");
        };
        check("https://shop.test/find?w=oak+lamp&sort=price", Some(("oak lamp", 0)));
        check("https://shop.test/find?w=oak&page=3", Some(("oak", 20)));
        check("https://shop.test/find?w=", None);
        check("https://shop.test/find", None);
        check("https://shop.test/find/x?w=oak", None);
        for template in [
            "shop.test/?q={}",
            "https://shop.test/{}",
            "https://shop.test/?q={}&r={}",
            "ftp://a.test/?q={}",
        ] {
            assert_eq!(SearchForm::of_template(template), None, "{template}");
        }
    }
}
