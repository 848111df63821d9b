//! `:lang()`: languages from `lang` attributes and the page's `meta`, matched by ranges of RFC
//! 4647.

use super::{Page, Set};
use crate::tree::NodeId;

impl Page<'_> {
    /// The elements whose language is in one of these ranges.
    pub(super) fn in_language(&self, ranges: &[String]) -> Set {
        let mut languages: Vec<Option<&str>> = vec![None; self.tree.len()];
        let mut found = vec![false; self.tree.len()];
        for id in (1..self.tree.len()).filter(|&id| self.visible[id]) {
            let own = self.tree.element(id).and_then(|element| element.attribute("lang"));
            languages[id] = own.or_else(|| match self.parent(id) {
                Some(parent) => languages[parent],
                None => self.declared_language(id),
            });
            let language = languages[id].unwrap_or_default();
            let is_well_formed = language.is_empty() || is_tag(language, false);
            found[id] = is_well_formed && ranges.iter().any(|range| is_in(range, language));
        }
        found
    }

    /// Returns the language that a `meta` in the head declares, of a page with this outermost
    /// element.
    fn declared_language(&self, top: NodeId) -> Option<&str> {
        let child =
            |name: &str| self.tree.elements(top).find(|&id| self.tree.name(id) == Some(name));
        let head = child("html").or_else(|| child("head"))?;
        let metas = self.tree.elements(head).filter(|&id| self.tree.name(id) == Some("meta"));
        metas.filter_map(|id| self.tree.element(id)).find_map(|meta| {
            let kind = meta.attribute("http-equiv").unwrap_or_default();
            let content = meta.attribute("content").filter(|content| !content.is_empty());
            content.filter(|_| kind.eq_ignore_ascii_case("content-language"))
        })
    }
}

/// Subtags of one to eight letters and digits, the first of letters; in a range they may be `*`.
fn is_tag(text: &str, is_range: bool) -> bool {
    text.split('-').enumerate().all(|(at, subtag)| {
        let allowed =
            |c: char| if at == 0 { c.is_ascii_alphabetic() } else { c.is_ascii_alphanumeric() };
        let plain = (1..=8).contains(&subtag.len()) && subtag.chars().all(allowed);
        plain || (is_range && subtag == "*")
    })
}

/// Extended filtering, with empty ranges for empty tags.
fn is_in(range: &str, language: &str) -> bool {
    if range.is_empty() || language.is_empty() {
        return range.is_empty() && language.is_empty();
    }
    if !is_tag(range, true) {
        return false;
    }
    let (range, language) = (range.to_ascii_lowercase(), language.to_ascii_lowercase());
    let mut wanted = range.split('-');
    let mut subtags = language.split('-');
    let first = wanted.next().unwrap_or_default();
    if subtags.next() != Some(first) && first != "*" {
        return false;
    }
    wanted.filter(|wanted| *wanted != "*").all(|wanted| {
        loop {
            match subtags.next() {
                Some(subtag) if subtag == wanted => return true,
                Some(subtag) if subtag.len() > 1 => {}
                _ => return false,
            }
        }
    })
}
