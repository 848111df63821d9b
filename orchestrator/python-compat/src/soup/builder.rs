//! How BeautifulSoup makes a tree of what `html.parser` reports: `BeautifulSoupHTMLParser` and
//! `HTMLTreeBuilder`.

use std::collections::HashMap;

use crate::tree::{Element, Kind, NodeId, Tree};

/// Elements that never have content; their end tags are looked for, but not needed.
const EMPTY: [&str; 24] = [
    "area", "base", "br", "col", "embed", "hr", "img", "input", "keygen", "link", "menuitem",
    "meta", "param", "source", "track", "wbr", "basefont", "bgsound", "command", "frame", "image",
    "isindex", "nextid", "spacer",
];
/// Elements in which white space is kept as it is.
const PREFORMATTED: [&str; 2] = ["pre", "textarea"];

pub(super) struct Builder {
    tree: Tree,
    /// The elements that are open, the document first.
    open: Vec<NodeId>,
    open_names: HashMap<String, usize>,
    preformatted: usize,
    text: String,
    /// How many end tags of empty elements are still to be passed over.
    closed_already: HashMap<String, usize>,
}

impl Builder {
    pub(super) fn new() -> Builder {
        Builder {
            tree: Tree::new(),
            open: vec![0],
            open_names: HashMap::new(),
            preformatted: 0,
            text: String::new(),
            closed_already: HashMap::new(),
        }
    }

    pub(super) fn data(&mut self, text: &str) {
        self.text.push_str(text);
    }

    pub(super) fn start(
        &mut self,
        name: String,
        attributes: Vec<(String, String)>,
        self_closed: bool,
    ) {
        self.end_text();
        let is_empty = EMPTY.contains(&name.as_str());
        let element = Element { name: name.clone(), attributes: last_values(attributes) };
        let id = self.tree.add(self.current(), Kind::Element(element));
        if is_empty || self_closed {
            // Opened and closed at once; a later end tag of an empty element is one too many.
            if !self_closed {
                *self.closed_already.entry(name).or_default() += 1;
            }
            return;
        }
        self.preformatted += usize::from(PREFORMATTED.contains(&name.as_str()));
        *self.open_names.entry(name).or_default() += 1;
        self.open.push(id);
    }

    pub(super) fn end(&mut self, name: &str) {
        if let Some(count) = self.closed_already.get_mut(name).filter(|count| **count > 0) {
            *count -= 1;
            return;
        }
        self.end_text();
        while self.open_names.get(name).is_some_and(|count| *count > 0) {
            let Some(id) = self.open.pop() else { return };
            let Some(closed) = self.tree.name(id) else { return };
            if let Some(count) = self.open_names.get_mut(closed) {
                *count -= 1;
            }
            self.preformatted -= usize::from(PREFORMATTED.contains(&closed));
            if closed == name {
                return;
            }
        }
    }

    /// Something that is no content, such as a comment.
    pub(super) fn special(&mut self, kind: Kind) {
        self.end_text();
        self.tree.add(self.current(), kind);
    }

    pub(super) fn finish(mut self) -> Tree {
        self.end_text();
        self.tree
    }

    fn current(&self) -> NodeId {
        self.open.last().copied().unwrap_or(0)
    }

    /// The text so far becomes a node; nothing but ASCII space shrinks to a single character.
    fn end_text(&mut self) {
        if self.text.is_empty() {
            return;
        }
        let mut text = std::mem::take(&mut self.text);
        let is_blank = |c: char| matches!(c, ' ' | '\n' | '\t' | '\u{c}' | '\r');
        if self.preformatted == 0 && text.chars().all(is_blank) {
            text = if text.contains('\n') { "\n" } else { " " }.to_owned();
        }
        self.tree.add(self.current(), Kind::Text(text));
    }
}

/// A name that comes again keeps its place and takes the new value.
fn last_values(attributes: Vec<(String, String)>) -> Vec<(String, String)> {
    let mut places: HashMap<String, usize> = HashMap::new();
    let mut kept: Vec<(String, String)> = Vec::with_capacity(attributes.len());
    for (name, value) in attributes {
        match places.get(&name) {
            Some(&place) => kept[place].1 = value,
            None => {
                places.insert(name.clone(), kept.len());
                kept.push((name, value));
            }
        }
    }
    kept
}
