//! `:-soup-contains()`: what elements have written in them.

use super::{Page, Set};
use crate::tree::{Kind, NodeId};

impl Page<'_> {
    /// The elements whose text, or one of whose own pieces of text, holds one of these.
    pub(super) fn containing(&self, texts: &[String], own: bool) -> Set {
        if own {
            return self.set(|id| {
                let pieces = self.content(id).iter().filter_map(|&child| self.text(child));
                pieces
                    .into_iter()
                    .any(|piece| texts.iter().any(|text| piece.contains(text.as_str())))
            });
        }
        let (whole, spans) = self.written();
        let mut found = vec![false; self.tree.len()];
        for text in texts {
            let places = places(&whole, text);
            for (found, &(start, end)) in found.iter_mut().zip(&spans) {
                let next = places.get(places.partition_point(|&place| place < start));
                *found |= text.is_empty() || next.is_some_and(|place| place + text.len() <= end);
            }
        }
        found.iter_mut().zip(&self.visible).for_each(|(found, visible)| *found &= visible);
        found
    }

    /// The children of an element; a template has none.
    pub(super) fn content(&self, id: NodeId) -> &[NodeId] {
        if self.tree.name(id) == Some("template") { &[] } else { &self.tree.node(id).children }
    }

    /// The text of a node, when it is one that counts as content.
    pub(super) fn text(&self, id: NodeId) -> Option<&str> {
        match &self.tree.node(id).kind {
            Kind::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The text of the whole page, and which part of it is in each element.
    fn written(&self) -> (String, Vec<(usize, usize)>) {
        let mut whole = String::new();
        let mut spans = vec![(0, 0)];
        for id in 1..self.tree.len() {
            let start = whole.len();
            let parent = self.tree.parent(id).unwrap_or(0);
            let is_seen =
                parent == 0 || (self.visible[parent] && self.tree.name(parent) != Some("template"));
            whole.push_str(self.text(id).filter(|_| is_seen).unwrap_or_default());
            spans.push((start, whole.len()));
        }
        for id in (1..self.tree.len()).rev() {
            let parent = self.tree.parent(id).unwrap_or(0);
            spans[parent].1 = spans[parent].1.max(spans[id].1);
        }
        (whole, spans)
    }
}

/// Returns the places at which a text begins, overlaps included.
fn places(whole: &str, text: &str) -> Vec<usize> {
    let Some(first) = text.chars().next() else { return Vec::new() };
    let mut places = Vec::new();
    let mut from = 0;
    while let Some(length) = whole[from..].find(text) {
        places.push(from + length);
        from += length + first.len_utf8();
    }
    places
}
