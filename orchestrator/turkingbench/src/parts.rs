//! Extracts a page's fields and external assets from its tags. Elements that scripts add are not
//! seen.

use std::collections::BTreeSet;

use html_scan::{StartTag, attribute, tags};

/// A form field in the page's HTML.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    /// Its name. Several fields may share one.
    pub name: String,
    /// `text`, `radio`, `checkbox`, `textarea`, `select` and so on.
    pub kind: String,
}

/// All fields with a name, in page order.
pub fn fields(page: &str) -> Vec<Field> {
    let field = |tag: StartTag<()>| {
        let kind = match tag.name.as_slice() {
            b"input" => {
                attribute(&tag, "type").filter(|kind| !kind.is_empty()).unwrap_or("text".to_owned())
            }
            b"select" => "select".to_owned(),
            b"textarea" => "textarea".to_owned(),
            _ => return None,
        };
        Some(Field { name: attribute(&tag, "name")?, kind: kind.to_ascii_lowercase() })
    };
    tags(page).filter_map(field).collect()
}

/// The URLs on other hosts that the page loads by itself: scripts, styles, images, frames and so
/// on, but no links.
pub fn assets(page: &str) -> BTreeSet<String> {
    let addresses = |tag: StartTag<()>| {
        let attributes: &[&str] = match tag.name.as_slice() {
            b"script" | b"img" | b"iframe" | b"embed" | b"audio" | b"source" | b"track"
            | b"input" => &["src"],
            b"video" => &["src", "poster"],
            b"link" => &["href"],
            b"object" => &["data"],
            _ => &[],
        };
        attributes.iter().filter_map(|name| attribute(&tag, name)).collect::<Vec<_>>()
    };
    let absolute = |address: &String| {
        let lower = address.trim_start().to_ascii_lowercase();
        lower.starts_with("//") || lower.starts_with("http://") || lower.starts_with("https://")
    };
    tags(page)
        .flat_map(addresses)
        .filter(absolute)
        .map(|address| address.trim().to_owned())
        .collect()
}

/// The host of a URL that [`assets`] returned.
pub fn host(address: &str) -> &str {
    let rest = address.split_once("//").map_or(address, |(_, rest)| rest);
    rest.split(['/', '?', '#']).next().unwrap_or(rest)
}

/// Whether the page has `<input type=submit>`.
pub(crate) fn sends(page: &str) -> bool {
    tags(page).any(|tag| {
        let is_submit = |kind: String| kind.trim().eq_ignore_ascii_case("submit");
        tag.name.as_slice() == b"input" && attribute(&tag, "type").is_some_and(is_submit)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_those_of_the_tags() {
        let page = "<INPUT name=a><input NAME='b' type=Radio><textarea name=c><input name=x></textarea>
            <script>document.write('<input name=y>')</script><select name=d></select><input type=submit><input name=e type=''>";
        let found: Vec<String> = fields(page)
            .into_iter()
            .map(|field| format!("{} {}", field.name, field.kind))
            .collect();
        assert_eq!(found, ["a text", "b radio", "c textarea", "d select", "e text"]);
        assert!(sends(page));
        assert!(!sends("<button type=submit></button><!-- <input type=submit> -->"));
    }

    #[test]
    fn assets_are_what_is_asked_for_without_a_click() {
        let page =
            "<script src='//cdn.test/a.js'></script><link href=https://fonts.test/css?x rel=stylesheet>
            <img src=/own.png><a href=https://link.test/>x</a><img src='HTTP://pictures.test:81/1.png'>";
        let assets = assets(page);
        let hosts: Vec<&str> = assets.iter().map(|address| host(address)).collect();
        assert_eq!(hosts, ["cdn.test", "pictures.test:81", "fonts.test"]);
    }
}
