//! Title and visible text of an HTML document in one piece each, as somebody reads them.

use html5gum::Token;

use crate::{decode, tokens, words};

/// Elements whose text is invisible or not part of the page.
const HIDDEN: &[&[u8]] =
    &[b"script", b"style", b"noscript", b"template", b"svg", b"iframe", b"select"];

/// Inline elements, which do not separate words.
const WITHIN: &[&[u8]] = &[
    b"a", b"abbr", b"b", b"bdi", b"code", b"em", b"font", b"i", b"mark", b"s", b"small", b"span",
    b"strong", b"sub", b"sup", b"u", b"wbr",
];

/// Title and body as text, with white space collapsed.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct PageText {
    /// Of the first `title` that is shown.
    pub title: String,
    /// Everything else that is shown.
    pub body: String,
}

/// Title and text of a document. Blocks separate words, other tags do not.
pub fn page_text(media_type: &str, document: &[u8]) -> PageText {
    let html = decode(media_type, document);
    let (mut title, mut body) = (None::<String>, String::new());
    let (mut in_title, mut hidden) = (false, Vec::<Vec<u8>>::new());
    for token in tokens(&html) {
        match token {
            Token::StartTag(tag) => {
                let name: &[u8] = &tag.name;
                match name {
                    b"title" if title.is_none() && hidden.is_empty() => {
                        in_title = true;
                        title = Some(String::new());
                    }
                    _ if HIDDEN.contains(&name) && !(tag.self_closing && name == b"svg") => {
                        hidden.push(name.to_vec())
                    }
                    _ => part(&mut body, name),
                }
            }
            Token::EndTag(tag) => {
                let name: &[u8] = &tag.name;
                in_title &= name != b"title";
                // A hidden element that is never closed ends with its parent.
                match hidden.iter().rposition(|open| open == name) {
                    Some(place) => hidden.truncate(place),
                    None => part(&mut body, name),
                }
            }
            Token::String(text) => {
                let text = String::from_utf8_lossy(&text);
                match &mut title {
                    Some(title) if in_title => title.push_str(&text),
                    _ if hidden.is_empty() => body.push_str(&text),
                    _ => {}
                }
            }
            _ => {}
        }
    }
    PageText { title: words(&title.unwrap_or_default()), body: words(&body) }
}

fn part(body: &mut String, name: &[u8]) {
    if !WITHIN.contains(&name) {
        body.push(' ');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(html: &str, title: &str, body: &str) {
        let read = page_text("text/html", html.as_bytes());
        assert_eq!((read.title.as_str(), read.body.as_str()), (title, body), "{html}");
    }

    #[test]
    fn what_is_seen_is_read() {
        check(
            "<title> An\n oak </title><p>The <b>tall</b>est<p>of all",
            "An oak",
            "The tallest of all",
        );
        check("<script>if (1 <b) x('<p>no')</script><style>p{}</style>yes", "", "yes");
        check("<ul><li>one<li>two</ul>&amp;&nbsp;three", "", "one two & three");
        check("<svg><title>no</title><text>no</text></svg><title>yes</title>", "yes", "");
        check("<noscript><p>no</noscript>yes<template>no", "", "yes");
        check("<select><option>no</select>yes<!-- no -->", "", "yes");
        check("<script src=x />no</script>yes<svg/>too", "", "yes too");
        check("<div><object>yes</div>too", "", "yes too");
        check("<title>never closed", "never closed", "");
        check("", "", "");
    }

    #[test]
    fn encodings_are_those_of_the_page() {
        let check = |media_type: &str, bytes: &[u8], expect: &str| {
            assert_eq!(page_text(media_type, bytes).body, expect, "{media_type}");
        };
        check("text/html; charset=\"ISO-8859-1\"", b"caf\xe9", "café");
        check("text/html", b"<meta charset=windows-1251><p>\xf7\xe0\xe9", "чай");
        check(
            "text/html",
            b"<meta http-equiv=x content='text/html; charset=shift_jis'>\x82\xa0",
            "あ",
        );
        check("text/html", "café".as_bytes(), "café");
        check("text/html", b"caf\xe9", "café");
        check("text/html; charset=none", b"caf\xe9", "café");
        check(
            "text/html",
            b"<script charset=utf-8></script><meta charset=koi8-r>\xde\xc1\xca",
            "чай",
        );
        check("text/html", "<meta charset=utf-16>café".as_bytes(), "café");
    }
}
