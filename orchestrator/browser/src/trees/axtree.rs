//! The accessibility tree as text, in BrowserGym's format: `[bid] role 'name' value='..',
//! attribute, attribute='..'`, tab-indented. Follows its `flatten_axtree_to_str` line by line.
//! `make interop ONLY=parity` compares the two.

use std::collections::HashMap;

use python_repr::repr;
use serde::Deserialize;
use serde_json::Value;

use crate::trees::bounds::{self, LONGEST_TEXT};
use crate::trees::frames::Bids;
use crate::trees::marks;
use crate::{Element, Properties, TreeText};

/// Roles without useful content. BrowserGym leaves out line breaks. Its browser had no text boxes
/// in its trees; they repeat the text above them.
pub(crate) const IGNORED_ROLES: &[&str] = &["LineBreak", "InlineTextBox"];
const IGNORED_PROPERTIES: &[&str] =
    &["editable", "readonly", "level", "settable", "multiline", "invalid", "focusable"];
/// Properties that are shown by their name if they are set, and left out otherwise.
const FLAGS: &[&str] = &["required", "focused", "atomic"];
/// The property in which the browser shows a mark. The other place is the node's description.
pub(crate) const MARKED_PROPERTY: &str = "roledescription";
/// Roles of interactive nodes, besides focusable ones.
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

/// The nodes of one frame from the browser, the root first.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct AxTree {
    pub(crate) nodes: Vec<AxNode>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AxNode {
    pub(crate) node_id: String,
    role: Option<AxValue>,
    pub(crate) name: Option<AxValue>,
    value: Option<AxValue>,
    description: Option<AxValue>,
    #[serde(default)]
    pub(crate) properties: Vec<AxProperty>,
    #[serde(default)]
    pub(crate) child_ids: Vec<String>,
    /// The browser's id of the DOM node that it stands for.
    #[serde(rename = "backendDOMNodeId")]
    pub(crate) node: Option<i64>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct AxValue {
    pub(crate) value: Option<Value>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct AxProperty {
    pub(crate) name: String,
    pub(crate) value: AxValue,
}

impl AxNode {
    /// Cuts labels and values that are too long for any reader.
    pub(crate) fn bound(&mut self) {
        let own = [&mut self.name, &mut self.value, &mut self.description];
        let own =
            own.into_iter().flatten().chain(self.properties.iter_mut().map(|one| &mut one.value));
        for value in own.filter_map(|one| one.value.as_mut()) {
            bounds::cut_all(value, LONGEST_TEXT);
        }
    }

    pub(crate) fn role(&self) -> &str {
        self.role
            .as_ref()
            .and_then(|role| role.value.as_ref())
            .and_then(Value::as_str)
            .unwrap_or_default()
    }

    pub(crate) fn name(&self) -> &str {
        self.name
            .as_ref()
            .and_then(|name| name.value.as_ref())
            .and_then(Value::as_str)
            .unwrap_or_default()
    }

    /// The bid in the mark of the node's element.
    fn bid(&self) -> Option<&str> {
        let property = self.properties.iter().find(|property| property.name == MARKED_PROPERTY);
        let shown = property.map(|property| &property.value).into_iter().chain(&self.description);
        let mut texts = shown.filter_map(|datum| datum.value.as_ref()?.as_str());
        texts.find_map(|text| marks::split(text)).map(|(bid, _)| bid)
    }

    fn is_interactive(&self) -> bool {
        let set = |property: &AxProperty| {
            property.name == "focusable" && property.value.value == Some(Value::Bool(true))
        };
        WIDGETS.contains(&self.role()) || self.properties.iter().any(set)
    }
}

/// The tree of one frame, and where it belongs.
#[derive(Debug)]
pub(crate) struct FrameTree {
    pub(crate) frame: String,
    /// See [`crate::trees::frames`].
    pub(crate) prefix: Option<String>,
    pub(crate) tree: AxTree,
    /// The parent frame, and the node in it that shows this frame; `None` for the page itself.
    pub(crate) owner: Option<(String, i64)>,
}

/// The text and its elements.
#[derive(Debug, Default)]
pub(crate) struct TreeOutput {
    pub(crate) text: String,
    pub(crate) elements: Vec<Element>,
}

/// A node that is still to be written. A stack of these replaces recursion, because pages nest
/// deeply.
struct Step<'a> {
    part: &'a FrameTree,
    node: &'a AxNode,
    depth: usize,
    parent_name: &'a str,
    /// A filter left out the node above.
    filtered: bool,
}

/// The inputs of a tree's text.
pub(crate) struct TreeWriter<'a> {
    pub(crate) text: &'a TreeText,
    pub(crate) properties: &'a HashMap<String, Properties>,
    pub(crate) bids: &'a mut Bids,
}

/// Writes the trees of all frames as one.
pub(crate) fn render(parts: &[FrameTree], mut writer: TreeWriter<'_>) -> TreeOutput {
    let mut nodes: HashMap<(&str, &str), &AxNode> = HashMap::new();
    let mut inner: HashMap<(&str, i64), &FrameTree> = HashMap::new();
    for part in parts {
        nodes.extend(part.tree.nodes.iter().map(|node| ((&*part.frame, &*node.node_id), node)));
        if let Some((frame, node)) = &part.owner {
            inner.insert((frame, *node), part);
        }
    }
    let mut out = TreeOutput::default();
    let root = |part: &'_ FrameTree| part.tree.nodes.first().map(|_| ());
    let mut stack: Vec<Step<'_>> = Vec::new();
    for part in parts.iter().filter(|part| part.owner.is_none() && root(part).is_some()) {
        stack.push(Step {
            part,
            node: &part.tree.nodes[0],
            depth: 0,
            parent_name: "",
            filtered: false,
        });
    }
    while let Some(step) = stack.pop() {
        let Step { part, node, depth, .. } = step;
        let written = writer.write(&mut out, &step);
        let depth = depth + usize::from(written == NodeOutcome::Shown);
        let filtered = written == NodeOutcome::Filtered;
        let framed = node.node.and_then(|number| inner.remove(&(&*part.frame, number)));
        if let Some(framed) = framed
            && let Some(first) = framed.tree.nodes.first()
        {
            stack.push(Step { part: framed, node: first, depth, parent_name: "", filtered });
        }
        for child in node.child_ids.iter().rev() {
            // Each node is written once, whatever parents the browser reports.
            if let Some(child) = nodes.remove(&(&*part.frame, &**child)) {
                let parent_name =
                    if IGNORED_ROLES.contains(&node.role()) { "" } else { node.name() };
                stack.push(Step { part, node: child, depth, parent_name, filtered });
            }
        }
    }
    out
}

/// The result of rendering one node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NodeOutcome {
    Shown,
    /// Not worth a line.
    Skipped,
    /// Left out by a filter.
    Filtered,
}

impl TreeWriter<'_> {
    /// Writes one line, if the node is worth one.
    fn write(&mut self, out: &mut TreeOutput, step: &Step<'_>) -> NodeOutcome {
        let Step { part, node, depth, parent_name, filtered } = *step;
        let (role, name) = (node.role(), node.name());
        if IGNORED_ROLES.contains(&role) || node.name.is_none() {
            return NodeOutcome::Skipped;
        }
        let text = role == "StaticText";
        if text
            && (filtered || (self.text.remove_redundant_static_text && parent_name.contains(name)))
        {
            return NodeOutcome::Skipped;
        }
        let mut attributes = attributes(node);
        let mut shown = !(self.text.skip_generic && role == "generic" && attributes.is_empty());
        shown &= !(self.text.hide_all_children && filtered);
        let bid = bid(self.bids, part, node);
        let properties = bid.as_ref().and_then(|bid| self.properties.get(bid));
        if !text {
            if self.text.filters(bid.as_deref(), properties) {
                return NodeOutcome::Filtered;
            }
            attributes.splice(0..0, self.text.extras(properties));
        }
        if !shown {
            return NodeOutcome::Skipped;
        }
        if !out.text.is_empty() {
            out.text.push('\n');
        }
        out.text.extend(std::iter::repeat_n('\t', depth));
        if let Some(bid) = bid.as_ref().filter(|_| !self.text.hides_bid(properties)) {
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
        NodeOutcome::Shown
    }
}

/// The bid of a node's element. An interactive node without one gets a new one.
pub(crate) fn bid(bids: &mut Bids, part: &FrameTree, node: &AxNode) -> Option<String> {
    match (node.bid(), &part.prefix, node.node) {
        (Some(bid), _, _) => Some(bid.to_owned()),
        (None, Some(prefix), Some(number))
            if node.is_interactive() && node.role() != "RootWebArea" =>
        {
            bids.assign_unmarked(prefix, number)
        }
        _ => None,
    }
}

fn attributes(node: &AxNode) -> Vec<String> {
    let mut attributes = Vec::new();
    for AxProperty { name, value } in &node.properties {
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
