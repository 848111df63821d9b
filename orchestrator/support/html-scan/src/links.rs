//! The links and hidden fields of an HTML document, by its tags.

use std::collections::HashSet;

use html5gum::StartTag;
use url::Url;

use crate::{attribute, decode, is_html, tags};

/// The targets of a document's links: http(s), without fragments, each once, in document order.
/// Links that scripts add are not among them.
pub fn links(media_type: &str, document: &[u8], url: &Url) -> Vec<Url> {
    if !is_html(media_type) {
        return Vec::new();
    }
    let html = decode(media_type, document);
    let (mut base, mut links, mut seen) = (url.clone(), Vec::new(), HashSet::new());
    let mut has_base = false;
    for tag in tags(&html) {
        let name: &[u8] = &tag.name;
        let Some(href) = tag.attributes.get(&b"href"[..]) else { continue };
        let href = String::from_utf8_lossy(href);
        match name {
            b"base" if !has_base => {
                has_base = true;
                base = url.join(href.trim()).unwrap_or(base);
            }
            b"a" | b"area" => {
                let Ok(mut link) = base.join(href.trim()) else { continue };
                link.set_fragment(None);
                if matches!(link.scheme(), "http" | "https") && seen.insert(link.clone()) {
                    links.push(link);
                }
            }
            _ => {}
        }
    }
    links
}

/// The names and values of a document's hidden fields, and of its `meta` tags, in document order.
pub fn hidden_fields(media_type: &str, document: &[u8]) -> Vec<(String, String)> {
    if !is_html(media_type) {
        return Vec::new();
    }
    let html = decode(media_type, document);
    let field = |tag: StartTag<()>| {
        let text = |name: &str| attribute(&tag, name);
        let is_hidden = || text("type").is_some_and(|kind| kind.eq_ignore_ascii_case("hidden"));
        match &tag.name[..] {
            b"input" if is_hidden() => Some((text("name")?, text("value")?)),
            b"meta" => Some((text("name")?, text("content")?)),
            _ => None,
        }
    };
    tags(&html).filter_map(field).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn links_are_absolute_and_there_once() {
        let html = b"<base href='/docs/'><a href=one#x>1</a><a href=' one '>1</a><a href='mailto:x@y'>m</a>
            <script>'<a href=never>'</script><map><area href='http://else.test/'></map><a name=here>no</a>";
        let found =
            links("text/html; charset=utf-8", html, &Url::parse("https://a.test/x").unwrap());
        let found: Vec<&str> = found.iter().map(Url::as_str).collect();
        assert_eq!(found, ["https://a.test/docs/one", "http://else.test/"]);
        let form = b"<meta name=csrf-token content=a><input type=HIDDEN name=n value='1&amp;2'><input name=q value=x>";
        let fields = hidden_fields("text/html", form);
        assert_eq!(
            fields,
            [("csrf-token", "a"), ("n", "1&2")].map(|(a, b)| (a.to_owned(), b.to_owned()))
        );
        assert!(
            links("application/json", html, &Url::parse("https://a.test/x").unwrap()).is_empty()
        );
    }
}
