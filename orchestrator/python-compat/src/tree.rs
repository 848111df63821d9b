//! The nodes of a page: elements and texts, in the order of the document, whichever parser made
//! them.

/// A place in [`Tree`]. Nodes are numbered in the order of the document.
pub type NodeId = usize;

/// A parsed page. Node 0 is the document itself.
#[derive(Debug)]
pub struct Tree {
    nodes: Vec<Node>,
}

#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) parent: Option<NodeId>,
    pub(crate) children: Vec<NodeId>,
    pub(crate) kind: Kind,
}

#[derive(Debug)]
pub(crate) enum Kind {
    Document,
    Element(Element),
    /// Text that counts as content.
    Text(String),
    /// `<![CDATA[...]]>`.
    CData,
    /// Comments, and what else is no content; their text where somebody looks at it.
    Comment(String),
}

/// An element's name and attributes, both in lower case.
#[derive(Debug)]
pub(crate) struct Element {
    pub(crate) name: String,
    /// Each name once, with its last value, at the place of its first.
    pub(crate) attributes: Vec<(String, String)>,
}

impl Tree {
    pub(crate) fn new() -> Tree {
        Tree { nodes: vec![Node { parent: None, children: Vec::new(), kind: Kind::Document }] }
    }

    /// Adds a node as the last child of another.
    pub(crate) fn add(&mut self, parent: NodeId, kind: Kind) -> NodeId {
        let id = self.nodes.len();
        self.nodes.push(Node { parent: Some(parent), children: Vec::new(), kind });
        self.nodes[parent].children.push(id);
        id
    }

    /// Lets an element have another name.
    pub(crate) fn rename(&mut self, id: NodeId, name: &str) {
        if let Kind::Element(element) = &mut self.nodes[id].kind {
            name.clone_into(&mut element.name);
        }
    }

    /// Adds to a text.
    pub(crate) fn extend(&mut self, id: NodeId, more: &str) {
        if let Kind::Text(text) = &mut self.nodes[id].kind {
            text.push_str(more);
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    pub(crate) fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id]
    }

    pub(crate) fn element(&self, id: NodeId) -> Option<&Element> {
        match &self.nodes[id].kind {
            Kind::Element(element) => Some(element),
            _ => None,
        }
    }

    /// The name of an element.
    pub fn name(&self, id: NodeId) -> Option<&str> {
        self.element(id).map(|element| element.name.as_str())
    }

    /// Returns the parent of a node; none for the document.
    pub fn parent(&self, id: NodeId) -> Option<NodeId> {
        self.nodes[id].parent
    }

    /// The elements among a node's children.
    pub(crate) fn elements(&self, id: NodeId) -> impl DoubleEndedIterator<Item = NodeId> {
        self.nodes[id].children.iter().copied().filter(|&child| self.element(child).is_some())
    }
}

impl Element {
    /// The value of an attribute as it is written.
    pub(crate) fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes
            .iter()
            .find(|(key, _)| key.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.as_str())
    }
}
