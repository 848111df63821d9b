//! WebCanvas's list of interactive elements: `    [12] link 'Cart'`, indented by two spaces for
//! each element above, below a line with the page's title. Follows iMeanAI/WebCanvas
//! (`agent/Environment/html_env`): `HTMLTree.prune_tree`, `build_dom_tree` and `get_tag_name` in
//! `build_tree.py`, `ActiveElements` in `active_elements.py`, `AsyncHTMLEnvironment.get_obs` in
//! `async_env.py`, including their oddities:
//!
//! - An element is kept if it has one of certain tags, is not disabled, not `aria-hidden`, and not
//!   hidden by its own `style` attribute; or if any element in it is kept. Elements that style
//!   sheets hide are shown.
//! - `disabled=""` does not count as disabled.
//! - An element shows the text before its first child. Only without any text it shows its `title`,
//!   `placeholder`, `aria-label` or `aria-checked`. If that text is blank the element is not shown.
//! - A `span`, `div`, heading or the like that is no control itself is shown with the kind and id
//!   of the control around it.
//! - Nothing is cut, whatever its length.
//!
//! Differences from the original: ids are our bids, and several lines may have the same one. (The
//! original numbers the lines, and several numbers mean one element.) An element without a bid
//! shows that of the nearest one around it. The original parses the page's HTML again, so the
//! contents of a `noscript` or a `template` become elements. As in the original, only the page's
//! own document is shown, without shadow roots.

use std::collections::HashSet;

use crate::trees::dom_snapshot::{DocumentSnapshot, DomSnapshot, value_without_mark};

/// The tags of candidates.
const CANDIDATE_TAGS: &[&str] = &[
    "button",
    "a",
    "input",
    "select",
    "textarea",
    "option",
    "datalist",
    "label",
    "div",
    "span",
    "p",
    "th",
    "tr",
    "td",
    "ul",
    "li",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "filter-chip",
    "sup",
    "select-label",
    "optgroup",
];
/// Tags whose text belongs to the control around them.
const TEXT_CARRIERS: &[&str] =
    &["span", "h1", "h2", "h3", "h4", "h5", "h6", "div", "li", "ul", "p"];
/// Tags whose role decides what they are.
const ROLE_TAGS: &[&str] = &["span", "td", "th", "tr", "li", "div", "label", "filter-chip"];

const ELEMENT: i64 = 1;
const TEXT: i64 = 3;

/// An element of the page.
#[derive(Debug)]
struct Element<'a> {
    tag: String,
    attributes: Vec<(&'a str, &'a str)>,
    bid: Option<&'a str>,
    /// The text before the first child.
    text: String,
    parent: Option<usize>,
    /// The root has 1.
    depth: usize,
    is_kept: bool,
}

impl Element<'_> {
    /// The value of an attribute, if it is not empty.
    fn attribute(&self, name: &str) -> Option<&str> {
        let found = self.attributes.iter().find(|(attribute, _)| *attribute == name);
        found.map(|(_, value)| *value).filter(|value| !value.is_empty())
    }

    /// Its kind as a control.
    fn control(&self) -> Option<&'static str> {
        Some(match &*self.tag {
            "input" => match self.attribute("type") {
                Some("checkbox") => "checkbox",
                Some("radio") => "radio",
                Some("button") => "button",
                _ => "input",
            },
            "select" => "select",
            "textarea" => "textarea",
            "option" => "option",
            "datalist" => "datalist",
            "label" => "label",
            "button" => "button",
            "a" => "link",
            tag if ROLE_TAGS.contains(&tag) => match self.attribute("role")? {
                "button" => "button",
                "link" | "menuitem" | "tab" => "link",
                "textbox" => "input",
                "checkbox" => "checkbox",
                "radio" => "radio",
                "switch" => "switch",
                "option" => "option",
                "row" => "row",
                _ => return None,
            },
            _ => return None,
        })
    }

    fn is_candidate(&self) -> bool {
        let style = self.attribute("style").unwrap_or_default();
        let hiding = ["display: none", "opacity: 0", "visibility: hidden", "visibility: collapse"];
        let hidden = hiding.iter().any(|hiding| style.contains(hiding))
            || self.attribute("aria-hidden") == Some("true");
        let control = self.control();
        let disabled = self.attribute("disabled").is_some()
            && matches!(control, Some("select" | "option" | "input" | "textarea" | "button"));
        let internal = control == Some("input") && self.attribute("type") == Some("hidden");
        CANDIDATE_TAGS.contains(&&*self.tag) && !hidden && !disabled && !internal
    }

    /// The text of its line.
    fn text_shown(&self) -> String {
        let from_attributes = || {
            let text_shown = ["title", "placeholder", "aria-label"]
                .iter()
                .filter_map(|name| self.attribute(name));
            let mut text_shown = text_shown.filter(|text_shown| !text_shown.trim().is_empty());
            text_shown.next().or_else(|| self.attribute("aria-checked")).unwrap_or_default()
        };
        let text_shown = if self.text.is_empty() { from_attributes() } else { &self.text };
        text_shown.replace(['\n', '\t'], "").trim().to_owned()
    }
}

pub(crate) fn write(snapshot: &DomSnapshot, title: &str) -> String {
    let mut elements =
        snapshot.documents.first().map(|page| read(snapshot, page)).unwrap_or_default();
    // Parents come first. So, from the end, a kept element keeps everything around it.
    for number in (0..elements.len()).rev() {
        elements[number].is_kept |= elements[number].is_candidate();
        if let Some(parent) = elements[number].parent.filter(|_| elements[number].is_kept) {
            elements[parent].is_kept = true;
        }
    }
    let mut text = format!("current web tab name is '{title}'\n");
    for element in elements.iter().filter(|element| element.is_kept) {
        let text_shown = element.text_shown();
        if text_shown.is_empty() {
            continue;
        }
        if let Some((control, id)) = speaks_for(&elements, element) {
            text.push_str(&"  ".repeat(element.depth - 1));
            text.push_str(&format!("[{}] {control} '{text_shown}'\n", id.unwrap_or_default()));
        }
    }
    text
}

/// The control that a line describes: its kind, and its bid.
fn speaks_for<'a>(
    elements: &'a [Element<'a>],
    element: &'a Element<'a>,
) -> Option<(&'static str, Option<&'a str>)> {
    let mut named = element;
    let control = loop {
        match named.control() {
            Some(control) => break control,
            None if TEXT_CARRIERS.contains(&&*named.tag) => named = elements.get(named.parent?)?,
            None => return None,
        }
    };
    while let (None, Some(parent)) = (named.bid, named.parent) {
        named = &elements[parent];
    }
    Some((control, named.bid))
}

/// The elements of a document, in their order.
fn read<'a>(snapshot: &'a DomSnapshot, document: &'a DocumentSnapshot) -> Vec<Element<'a>> {
    let children = document.children();
    let nodes = &document.nodes;
    let kind = |node: usize| nodes.node_type.get(node).copied().unwrap_or_default();
    let string = |list: &[i64], node: usize| {
        list.get(node).and_then(|&number| snapshot.string(number)).unwrap_or_default()
    };
    // Nodes that are not part of the page's HTML.
    let added = nodes.pseudo_type.index.iter().chain(&nodes.shadow_root_type.index);
    let added: HashSet<usize> = added.copied().collect();
    let mut elements: Vec<Element<'a>> = Vec::new();
    let mut stack: Vec<(usize, Option<usize>)> = vec![(0, None)];
    while let Some((node, parent)) = stack.pop() {
        let below = children.get(node).map(Vec::as_slice).unwrap_or_default();
        if added.contains(&node) {
            continue;
        }
        let parent = match kind(node) {
            ELEMENT => {
                let written = nodes.attributes.get(node).map(Vec::as_slice).unwrap_or_default();
                let pairs = written.chunks(2).filter_map(|pair| {
                    let [name, value] = pair else { return None };
                    let name = snapshot.string(*name)?;
                    Some((
                        name,
                        value_without_mark(name, snapshot.string(*value).unwrap_or_default())?,
                    ))
                });
                let first = below.iter().filter(|child| !added.contains(child));
                let text = first.take_while(|&&child| kind(child) == TEXT);
                elements.push(Element {
                    tag: string(&nodes.node_name, node).to_lowercase(),
                    attributes: pairs.collect(),
                    bid: snapshot.bid_of(written),
                    text: text.map(|&child| string(&nodes.node_value, child)).collect(),
                    parent,
                    depth: parent.map_or(1, |parent| elements[parent].depth + 1),
                    is_kept: false,
                });
                Some(elements.len() - 1)
            }
            _ => parent,
        };
        stack.extend(below.iter().rev().map(|&child| (child, parent)));
    }
    elements
}
