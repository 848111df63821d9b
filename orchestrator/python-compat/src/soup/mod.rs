//! HTML as BeautifulSoup reads it with Python's `html.parser`, and CSS selectors as soupsieve
//! matches them.
//!
//! `html.parser` is no browser: it implies no tags and closes none, so that `<p>one<p>two` nests.
//! `parser` and `tag` split the text as the standard library's class does, `builder` makes
//! nodes of the pieces as BeautifulSoup does, `css` reads selectors and `select` finds what
//! they mean.

mod builder;
mod css;
mod entity;
mod parser;
mod select;
mod tag;

use std::fmt;

use crate::tree::{NodeId, Tree};

/// A page that `html.parser` gives up on: BeautifulSoup raises an exception.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ParserRejectedMarkup;

/// `BeautifulSoup(html, "html.parser")`.
pub fn parse(html: &str) -> Result<Tree, ParserRejectedMarkup> {
    parser::parse(html)
}

/// Why a selector finds nothing, whatever the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SelectorError {
    /// soupsieve raises an exception.
    Malformed,
    /// soupsieve matches a pseudo-class of this name. It is not supported here.
    Unsupported(&'static str),
}

impl std::error::Error for SelectorError {}

impl fmt::Display for SelectorError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SelectorError::Malformed => f.write_str("it is no selector of CSS"),
            SelectorError::Unsupported(name) => write!(
                f,
                "the pseudo-class `:{name}` is not supported; select by tag, id, class, attribute \
                 or place, as in `li:nth-child(2)`"
            ),
        }
    }
}

/// `soup.select_one(selector)`
///
/// # Errors
/// For a selector that cannot be followed.
pub fn select_one(tree: &Tree, selector: &str) -> Result<Option<NodeId>, SelectorError> {
    Ok(select::first(tree, &css::parse(selector)?))
}

/// `len(soup.select(selector))`
///
/// # Errors
/// For a selector that cannot be followed.
pub fn count(tree: &Tree, selector: &str) -> Result<usize, SelectorError> {
    Ok(select::count(tree, &css::parse(selector)?))
}

/// The pseudo-class of a selector that is not supported here.
pub fn unsupported(selector: &str) -> Option<SelectorError> {
    css::parse(selector).err().filter(|error| *error != SelectorError::Malformed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_supported_is_refused_by_name() {
        for (selector, name) in [
            ("option:checked", "checked"),
            ("p:Lang(en, 'fr'):dir(rtl)", "lang"),
            ("a, b:not(:is(c > :DIR(up)))", "dir"),
            ("tr:has(> :in-range) td", "in-range"),
            (":nth-child(2 of :read-write)", "read-write"),
        ] {
            assert_eq!(unsupported(selector), Some(SelectorError::Unsupported(name)), "{selector}");
        }
        for fine in ["input:enabled", "[checked]", "#dir", ":checked(", ":lang()", ":eq(0)"] {
            assert_eq!(unsupported(fine), None, "{fine}");
        }
        let error = SelectorError::Unsupported("dir").to_string();
        assert!(error.starts_with("the pseudo-class `:dir` is not supported; "), "{error}");
    }
}
