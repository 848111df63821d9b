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

use crate::tree::{NodeId, Tree};

/// A page that `html.parser` gives up on: BeautifulSoup raises an exception.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ParserRejectedMarkup;

/// `BeautifulSoup(html, "html.parser")`.
pub fn parse(html: &str) -> Result<Tree, ParserRejectedMarkup> {
    parser::parse(html)
}

/// `soup.select_one(selector)`; nothing for a selector that soupsieve refuses, too.
pub fn select_one(tree: &Tree, selector: &str) -> Option<NodeId> {
    select::first(tree, &css::parse(selector)?)
}

/// `len(soup.select(selector))`; nothing for a selector that soupsieve refuses.
pub fn count(tree: &Tree, selector: &str) -> Option<usize> {
    Some(select::count(tree, &css::parse(selector)?))
}
