//! The nodes of paths, and their relatives.

use super::expression::{Axis, NodeTest};
use crate::tree::{Kind, NodeId, Tree};

/// A node, ordered as in the document: an element, then its namespace, its attributes and its
/// content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Node {
    pub(super) id: NodeId,
    pub(super) part: Part,
}

/// The part of an element that a node stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Part {
    Whole,
    /// Every element has the one of `xml`.
    Namespace,
    Attribute(usize),
}

/// A page, the place in it where paths begin, and how far each node reaches.
#[derive(Debug)]
pub struct Page {
    pub(super) tree: Tree,
    pub(super) context: NodeId,
    /// One past the last node within each.
    ends: Vec<NodeId>,
}

impl Page {
    pub(super) fn new(tree: Tree, context: NodeId) -> Page {
        let mut ends: Vec<NodeId> = (1..=tree.len()).collect();
        for id in (1..tree.len()).rev() {
            let parent = tree.parent(id).unwrap_or(0);
            ends[parent] = ends[parent].max(ends[id]);
        }
        Page { tree, context, ends }
    }

    /// The name of an element.
    pub fn name(&self, id: NodeId) -> Option<&str> {
        self.tree.name(id)
    }

    /// Returns the parent of a node.
    pub fn parent(&self, id: NodeId) -> Option<NodeId> {
        self.tree.parent(id)
    }

    /// The nodes on an axis that a test is true of, nearest first.
    pub(super) fn on_axis(&self, from: Node, axis: Axis, test: &NodeTest) -> Vec<Node> {
        let whole = |id: NodeId| Node { id, part: Part::Whole };
        let id = from.id;
        let is_whole = from.part == Part::Whole;
        let fits = |node: &Node| self.fits(*node, axis, test);
        let parent = if is_whole { self.tree.parent(id) } else { Some(id) };
        let ancestors = || std::iter::successors(parent, |id| self.tree.parent(*id)).map(whole);
        let siblings = || {
            parent.filter(|_| is_whole).map_or(&[][..], |parent| &self.tree.node(parent).children)
        };
        match axis {
            Axis::This => Some(from).into_iter().filter(fits).collect(),
            Axis::Parent => parent.map(whole).into_iter().filter(fits).collect(),
            Axis::Ancestor => ancestors().filter(fits).collect(),
            Axis::AncestorOrSelf => {
                Some(from).into_iter().chain(ancestors()).filter(fits).collect()
            }
            Axis::Child if is_whole => {
                self.tree.node(id).children.iter().map(|&id| whole(id)).filter(fits).collect()
            }
            Axis::Descendant if is_whole => {
                (id + 1..self.ends[id]).map(whole).filter(fits).collect()
            }
            Axis::DescendantOrSelf if is_whole => {
                (id..self.ends[id]).map(whole).filter(fits).collect()
            }
            Axis::DescendantOrSelf => Some(from).into_iter().filter(fits).collect(),
            Axis::FollowingSibling => {
                let after = siblings().iter().filter(|&&sibling| sibling > id);
                after.map(|&id| whole(id)).filter(fits).collect()
            }
            Axis::PrecedingSibling => {
                let before = siblings().iter().rev().filter(|&&sibling| sibling < id);
                before.map(|&id| whole(id)).filter(fits).collect()
            }
            // What is in an element does not follow its attributes, for libxml2.
            Axis::Following => (self.ends[id]..self.tree.len()).map(whole).filter(fits).collect(),
            Axis::Preceding => {
                let holds = |before: &NodeId| self.ends[*before] <= id;
                (1..id).rev().filter(holds).map(whole).filter(fits).collect()
            }
            Axis::Attribute if is_whole => {
                let count = self.tree.element(id).map_or(0, |element| element.attributes.len());
                (0..count).map(|at| Node { id, part: Part::Attribute(at) }).filter(fits).collect()
            }
            Axis::Namespace if is_whole && self.tree.element(id).is_some() => {
                Some(Node { id, part: Part::Namespace }).into_iter().filter(fits).collect()
            }
            Axis::Child | Axis::Descendant | Axis::Attribute | Axis::Namespace => Vec::new(),
        }
    }

    fn fits(&self, node: Node, axis: Axis, test: &NodeTest) -> bool {
        let kind = &self.tree.node(node.id).kind;
        let is_whole = node.part == Part::Whole;
        match test {
            NodeTest::Node => true,
            NodeTest::Text => is_whole && matches!(kind, Kind::Text(_)),
            NodeTest::Comment => is_whole && matches!(kind, Kind::Comment(_)),
            NodeTest::ProcessingInstruction | NodeTest::XmlName | NodeTest::UnknownPrefix => false,
            NodeTest::Any | NodeTest::Name(_) => {
                let is_of_axis = match axis {
                    Axis::Attribute => matches!(node.part, Part::Attribute(_)),
                    Axis::Namespace => node.part == Part::Namespace,
                    _ => is_whole && matches!(kind, Kind::Element(_)),
                };
                is_of_axis && (*test == NodeTest::Any || self.full_name(node) == test.name())
            }
        }
    }

    /// The name of an element, an attribute or a namespace.
    pub(super) fn full_name(&self, node: Node) -> Option<&str> {
        let element = self.tree.element(node.id)?;
        match node.part {
            Part::Whole => Some(&element.name),
            Part::Namespace => Some("xml"),
            Part::Attribute(at) => element.attributes.get(at).map(|(name, _)| name.as_str()),
        }
    }

    /// The text that a node stands for.
    pub(super) fn text(&self, node: Node) -> String {
        const XML: &str = "http://www.w3.org/XML/1998/namespace";
        match (node.part, &self.tree.node(node.id).kind) {
            (Part::Namespace, _) => XML.to_owned(),
            (Part::Attribute(at), Kind::Element(element)) => {
                element.attributes.get(at).map(|(_, value)| value.clone()).unwrap_or_default()
            }
            (_, Kind::Text(text) | Kind::Comment(text)) => text.clone(),
            _ => {
                let inside =
                    (node.id..self.ends[node.id]).filter_map(|id| match &self.tree.node(id).kind {
                        Kind::Text(text) => Some(text.as_str()),
                        _ => None,
                    });
                inside.collect()
            }
        }
    }

    /// The elements that have these ids, each the first of its id. An anchor's name is an id, too.
    pub(super) fn with_ids(&self, ids: &[&str]) -> Vec<Node> {
        let mut found: Vec<NodeId> = Vec::new();
        let mut wanted: std::collections::HashSet<&str> = ids.iter().copied().collect();
        for id in 1..self.tree.len() {
            let Some(element) = self.tree.element(id) else { continue };
            for (name, value) in &element.attributes {
                let is_id = name == "id" || (name == "name" && element.name == "a");
                if is_id && wanted.remove(value.as_str()) {
                    found.push(id);
                }
            }
        }
        found.dedup();
        found.into_iter().map(|id| Node { id, part: Part::Whole }).collect()
    }
}

impl NodeTest {
    fn name(&self) -> Option<&str> {
        match self {
            NodeTest::Name(name) => Some(name),
            _ => None,
        }
    }
}
