//! The links of an HTML document, by its tags.

use std::collections::HashSet;

use html5gum::{DefaultEmitter, Token, Tokenizer};
use url::Url;

use crate::text::encoding;

/// The targets of a document's links: http(s), without fragments, each once, in document order.
/// Links that scripts add are not among them.
pub fn links(media_type: &str, document: &[u8], url: &Url) -> Vec<Url> {
    if !crate::text::is_html(media_type) {
        return Vec::new();
    }
    let (html, _, _) = encoding(media_type, document).decode(document);
    let mut emitter = DefaultEmitter::default();
    // So that what scripts write is no link.
    emitter.naively_switch_states(true);
    let (mut base, mut links, mut seen) = (url.clone(), Vec::new(), HashSet::new());
    let mut has_base = false;
    for Ok(token) in Tokenizer::new_with_emitter(&*html, emitter) {
        let Token::StartTag(tag) = token else { continue };
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

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn links_are_absolute_and_there_once() {
        let html = b"<base href='/docs/'><a href=one#x>1</a><a href=' one '>1</a><a href='mailto:x@y'>m</a>
            <script>'<a href=never>'</script><map><area href='http://else.test/'></map><a name=here>no</a>";
        let found = links("text/html; charset=utf-8", html, &Url::parse("https://a.test/x").unwrap());
        let found: Vec<&str> = found.iter().map(Url::as_str).collect();
        assert_eq!(found, ["https://a.test/docs/one", "http://else.test/"]);
        assert!(links("application/json", html, &Url::parse("https://a.test/x").unwrap()).is_empty());
    }
}
