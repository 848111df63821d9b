//! The accessibility tree as text, in BrowserGym's spelling: `[bid] role 'name' value='..', attribute, attribute='..'`, tab-indented.

use std::collections::HashMap;

use serde::Deserialize;
use serde_json::Value;

use crate::{frames::Bids, marks, python::repr};

/// Says nothing that helps. BrowserGym leaves out line breaks; the browser for which it was made had no boxes in its trees, which repeat the
/// text above them.
const IGNORED_ROLES: &[&str] = &["LineBreak", "InlineTextBox"];
const IGNORED_PROPERTIES: &[&str] =
    &["editable", "readonly", "level", "settable", "multiline", "invalid", "focusable"];
/// Shown by their name where they are set, and not at all otherwise.
const FLAGS: &[&str] = &["required", "focused", "atomic"];
/// Where the browser shows the attributes that hold the marks: as a property, and as the node's description.
const MARKED_PROPERTY: &str = "roledescription";
/// Roles of what can be used, besides what can have the focus.
const WIDGETS: &[&str] = &[
    "button",
    "checkbox",
    "combobox",
    "link",
    "menuitem",
    "menuitemcheckbox",
    "menuitemradio",
    "option",
    "radio",
    "searchbox",
    "slider",
    "spinbutton",
    "switch",
    "tab",
    "textbox",
    "treeitem",
];

/// The nodes of one frame, as the browser gives them: the root first.
#[derive(Debug, Deserialize)]
pub(crate) struct Tree {
    nodes: Vec<Node>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Node {
    node_id: String,
    role: Option<Datum>,
    name: Option<Datum>,
    value: Option<Datum>,
    description: Option<Datum>,
    #[serde(default)]
    properties: Vec<Property>,
    #[serde(default)]
    child_ids: Vec<String>,
    #[serde(rename = "backendDOMNodeId")]
    node: Option<i64>,
}

#[derive(Debug, Deserialize)]
struct Datum {
    value: Option<Value>,
}

#[derive(Debug, Deserialize)]
struct Property {
    name: String,
    value: Datum,
}

impl Node {
    fn role(&self) -> &str {
        self.role.as_ref().and_then(|role| role.value.as_ref()).and_then(Value::as_str).unwrap_or_default()
    }

    fn name(&self) -> &str {
        self.name.as_ref().and_then(|name| name.value.as_ref()).and_then(Value::as_str).unwrap_or_default()
    }

    /// The bid that the node's element was marked with.
    fn bid(&self) -> Option<&str> {
        let property = self.properties.iter().find(|property| property.name == MARKED_PROPERTY);
        let shown = property.map(|property| &property.value).into_iter().chain(&self.description);
        let mut texts = shown.filter_map(|datum| datum.value.as_ref()?.as_str());
        texts.find_map(|text| marks::split(text)).map(|(bid, _)| bid)
    }

    fn is_usable(&self) -> bool {
        let set = |property: &Property| {
            property.name == "focusable" && property.value.value == Some(Value::Bool(true))
        };
        WIDGETS.contains(&self.role()) || self.properties.iter().any(set)
    }
}

/// One frame's tree and where it hangs.
#[derive(Debug)]
pub(crate) struct Part {
    pub(crate) frame: String,
    /// See [`crate::frames`].
    pub(crate) prefix: Option<String>,
    pub(crate) tree: Tree,
    /// The parent's frame and the number of the element in it that shows this frame; `None` for the page itself.
    pub(crate) owner: Option<(String, i64)>,
}

/// An element that the text shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Element {
    /// What actions name it by.
    pub bid: String,
    /// Its role, such as `link`.
    pub role: String,
    /// Its accessible name.
    pub name: String,
}

/// The text and what is in it.
#[derive(Debug, Default)]
pub(crate) struct Rendered {
    pub(crate) text: String,
    pub(crate) elements: Vec<Element>,
}

/// What is still to be written; a stack of these instead of recursion, for pages nest as deep as they like.
struct Step<'a> {
    part: &'a Part,
    node: &'a Node,
    depth: usize,
    parent_name: &'a str,
}

/// Writes all frames as one tree.
pub(crate) fn render(parts: &[Part], bids: &mut Bids) -> Rendered {
    let mut nodes: HashMap<(&str, &str), &Node> = HashMap::new();
    let mut inner: HashMap<(&str, i64), &Part> = HashMap::new();
    for part in parts {
        nodes.extend(part.tree.nodes.iter().map(|node| ((&*part.frame, &*node.node_id), node)));
        if let Some((frame, node)) = &part.owner {
            inner.insert((frame, *node), part);
        }
    }
    let mut out = Rendered::default();
    let root = |part: &'_ Part| part.tree.nodes.first().map(|_| ());
    let mut stack: Vec<Step<'_>> = Vec::new();
    for part in parts.iter().filter(|part| part.owner.is_none() && root(part).is_some()) {
        stack.push(Step { part, node: &part.tree.nodes[0], depth: 0, parent_name: "" });
    }
    while let Some(Step { part, node, depth, parent_name }) = stack.pop() {
        let shown = write(&mut out, part, node, depth, parent_name, bids);
        let depth = depth + usize::from(shown);
        let framed = node.node.and_then(|number| inner.remove(&(&*part.frame, number)));
        if let Some(framed) = framed
            && let Some(first) = framed.tree.nodes.first()
        {
            stack.push(Step { part: framed, node: first, depth, parent_name: "" });
        }
        for child in node.child_ids.iter().rev() {
            // Each node is written once, whatever the browser says of its parents.
            if let Some(child) = nodes.remove(&(&*part.frame, &**child)) {
                stack.push(Step { part, node: child, depth, parent_name: node.name() });
            }
        }
    }
    out
}

/// Writes one line; false where the node is not worth one.
fn write(
    out: &mut Rendered,
    part: &Part,
    node: &Node,
    depth: usize,
    parent_name: &str,
    bids: &mut Bids,
) -> bool {
    let (role, name) = (node.role(), node.name());
    if IGNORED_ROLES.contains(&role) || node.name.is_none() {
        return false;
    }
    if role == "StaticText" && parent_name.contains(name) {
        return false;
    }
    let attributes = attributes(node);
    if role == "generic" && attributes.is_empty() {
        return false;
    }
    let bid = match (node.bid(), &part.prefix, node.node) {
        (Some(bid), _, _) => Some(bid.to_owned()),
        (None, Some(prefix), Some(number)) if node.is_usable() && role != "RootWebArea" => {
            bids.of_unmarked(prefix, number)
        }
        _ => None,
    };
    if !out.text.is_empty() {
        out.text.push('\n');
    }
    out.text.extend(std::iter::repeat_n('\t', depth));
    if let Some(bid) = &bid {
        out.text.push_str(&format!("[{bid}] "));
    }
    out.text.push_str(role);
    if !(role == "generic" && name.is_empty()) {
        out.text.push(' ');
        out.text.push_str(&repr(name.trim()));
    }
    if let Some(value) = node.value.as_ref().and_then(|value| value.value.as_ref()) {
        out.text.push_str(" value=");
        out.text.push_str(&literal(value));
    }
    for attribute in &attributes {
        out.text.push_str(", ");
        out.text.push_str(attribute);
    }
    if let Some(bid) = bid {
        out.elements.push(Element { bid, role: role.to_owned(), name: name.trim().to_owned() });
    }
    true
}

fn attributes(node: &Node) -> Vec<String> {
    let mut attributes = Vec::new();
    for Property { name, value } in &node.properties {
        let Some(value) = &value.value else { continue };
        if IGNORED_PROPERTIES.contains(&&**name) {
            continue;
        }
        let own = value.as_str().filter(|_| name == MARKED_PROPERTY).and_then(marks::split);
        if let Some((_, own)) = own {
            if !own.is_empty() {
                attributes.push(format!("{name}={}", repr(own)));
            }
            continue;
        }
        if FLAGS.contains(&&**name) {
            if value == &Value::Bool(true) {
                attributes.push(name.clone());
            }
        } else {
            attributes.push(format!("{name}={}", literal(value)));
        }
    }
    attributes
}

/// A value as Python's `repr` writes it.
fn literal(value: &Value) -> String {
    match value {
        Value::String(text) => repr(text),
        Value::Bool(true) => "True".to_owned(),
        Value::Bool(false) => "False".to_owned(),
        Value::Null => "None".to_owned(),
        other => other.to_string(),
    }
}
