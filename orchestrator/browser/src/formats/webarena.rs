//! WebArena's text: `[12] link 'Cart' focused: True`, tab-indented, below a line with the tabs.
//! Follows `TextObervationProcessor` of web-arena-x/webarena (`browser_env/processors.py`:
//! `fetch_page_accessibility_tree`, `parse_accessibility_tree`, `clean_accesibility_tree`,
//! `process`), including its oddities:
//!
//! - A node is meant to be in view if it overlaps the window by 0.6 of itself. But the code
//!   computes width x height of the overlap, divided by the node's width, times its height. So it
//!   is in view if any part of it is, unless it is tiny.
//! - A node out of view is left out, but not its contents.
//! - A text is left out if one of the last three lines contains it, and so is any line with
//!   `statictext` in it that is no such text.
//! - `readonly`, `level`, `invalid` and so on are not shown, nor are link targets and text boxes.
//!   An image is `img`. So it was in the browser of the published runs.
//!
//! Differences from the original: ids are our bids. A text has none and shows that of the nearest
//! element above it; the page shows that of its root element. With [`WebArena::frames`] the
//! contents of frames are shown, too; the original shows the page alone.
//!
//! VisualWebArena's code limits to the viewport in another way (by layout boxes, and without the
//! children of a node out of view), and loses texts with an apostrophe. That is not offered.

use std::collections::HashMap;

use python_repr::repr;
use serde_json::Value;

use crate::trees::axtree::{self, AxNode, FrameTree};
use crate::trees::frames::Bids;
use crate::trees::marks;
use crate::{Tab, WebArena};

const IGNORED_PROPERTIES: &[&str] =
    &["focusable", "editable", "readonly", "level", "settable", "multiline", "invalid", "url"];
/// Not shown without a name and properties.
const EMPTY_ROLES: &[&str] = &[
    "generic",
    "img",
    "list",
    "strong",
    "paragraph",
    "banner",
    "navigation",
    "Section",
    "LabelText",
    "Legend",
    "listitem",
];
const IN_VIEW: f64 = 0.6;

/// The inputs of the text.
pub(crate) struct Source<'a> {
    pub(crate) parts: &'a [FrameTree],
    /// The bounds of nodes on the screen, by the browser's node ids; `None` without a box.
    pub(crate) places: &'a HashMap<i64, Option<[f64; 4]>>,
    /// Width and height of the window.
    pub(crate) window: (u32, u32),
    pub(crate) tabs: &'a [Tab],
    pub(crate) active_tab: usize,
}

pub(crate) fn write(source: &Source<'_>, options: &WebArena, bids: &mut Bids) -> String {
    let tree = clean(&tree(source, options, bids));
    let text = format!("{}\n\n{tree}", tab_line(source.tabs, source.active_tab));
    options.max_tokens.map_or(text.clone(), |most| observation::truncate(&text, most))
}

fn tab_line(tabs: &[Tab], active: usize) -> String {
    let tabs = tabs.iter().enumerate().map(|(index, tab)| {
        let current = if index == active { " (current)" } else { "" };
        format!("Tab {index}{current}: {}", tab.title)
    });
    tabs.collect::<Vec<_>>().join(" | ")
}

struct Step<'a> {
    part: &'a FrameTree,
    node: &'a AxNode,
    depth: usize,
    /// The id of the nearest element above.
    above: Option<String>,
    /// The bounds of the node above.
    around: Option<[f64; 4]>,
}

fn tree(source: &Source<'_>, options: &WebArena, bids: &mut Bids) -> String {
    let mut nodes: HashMap<(&str, &str), &AxNode> = HashMap::new();
    let mut inner: HashMap<(&str, i64), &FrameTree> = HashMap::new();
    for part in source.parts {
        nodes.extend(part.tree.nodes.iter().map(|node| ((&*part.frame, &*node.node_id), node)));
        if let Some((frame, node)) = part.owner.as_ref().filter(|_| options.frames) {
            inner.insert((frame, *node), part);
        }
    }
    let mut text = String::new();
    let roots = source.parts.iter().filter(|part| part.owner.is_none());
    let root = |part| {
        Some(Step { part, node: part.tree.nodes.first()?, depth: 0, above: None, around: None })
    };
    let mut stack: Vec<Step<'_>> = roots.filter_map(root).collect();
    while let Some(Step { part, node, depth, above, around }) = stack.pop() {
        let id = own_id(part, node, bids).or(above);
        let place = place(node, around, source.places);
        let is_shown = !options.viewport_only || in_view(node, place, source.window);
        let line = line(node, id.as_deref()).filter(|_| is_shown);
        // A node without an element has a line, but does not indent its children.
        let indents = line.is_some() && node.node.is_some();
        if let Some(line) = line {
            if !text.is_empty() {
                text.push('\n');
            }
            text.extend(std::iter::repeat_n('\t', depth));
            text.push_str(&line);
        }
        let depth = depth + usize::from(indents);
        let framed = node.node.and_then(|number| inner.remove(&(&*part.frame, number)));
        if let Some((part, node)) = framed.and_then(|part| Some((part, part.tree.nodes.first()?))) {
            stack.push(Step { part, node, depth, above: id.clone(), around: place });
        }
        for child in node.child_ids.iter().rev() {
            if let Some(node) = nodes.remove(&(&*part.frame, &**child)) {
                stack.push(Step { part, node, depth, above: id.clone(), around: place });
            }
        }
    }
    text
}

/// The page's root element is the first of its frame.
fn own_id(part: &FrameTree, node: &AxNode, bids: &mut Bids) -> Option<String> {
    match (node.role(), &part.prefix) {
        ("RootWebArea", Some(prefix)) => Some(format!("{prefix}0")),
        _ => axtree::bid(bids, part, node),
    }
}

fn line(node: &AxNode, id: Option<&str>) -> Option<String> {
    let role = match node.role() {
        "InlineTextBox" => return None,
        "image" => "img",
        role => role,
    };
    node.name.as_ref()?;
    let name = node.name();
    let properties: Vec<String> = node.properties.iter().filter_map(property).collect();
    if name.trim().is_empty() {
        let empty =
            if properties.is_empty() { EMPTY_ROLES.contains(&role) } else { role == "listitem" };
        if empty {
            return None;
        }
    }
    let mut line = format!("[{}] {role} {}", id.unwrap_or_default(), repr(name));
    for property in properties {
        line.push(' ');
        line.push_str(&property);
    }
    Some(line)
}

fn property(property: &axtree::AxProperty) -> Option<String> {
    let axtree::AxProperty { name, value } = property;
    if IGNORED_PROPERTIES.contains(&&**name) {
        return None;
    }
    let value = match value.value.as_ref()? {
        Value::String(text) => match marks::split(text).filter(|_| name == axtree::MARKED_PROPERTY)
        {
            Some((_, "")) => return None,
            Some((_, own)) => own.to_owned(),
            None => text.clone(),
        },
        Value::Bool(set) => if *set { "True" } else { "False" }.to_owned(),
        Value::Null => "None".to_owned(),
        other => other.to_string(),
    };
    Some(format!("{name}: {value}"))
}

/// The bounds of a node. Only the browser knows the parts of a control and the text typed into it.
/// They have the bounds of the control, apart from those without a size.
fn place(
    node: &AxNode,
    around: Option<[f64; 4]>,
    places: &HashMap<i64, Option<[f64; 4]>>,
) -> Option<[f64; 4]> {
    let internal = || around.filter(|_| !["MenuListPopup", "LineBreak"].contains(&node.role()));
    places.get(&node.node?).copied().unwrap_or_else(internal)
}

fn in_view(node: &AxNode, place: Option<[f64; 4]>, window: (u32, u32)) -> bool {
    if node.role() == "RootWebArea" {
        return true;
    }
    let Some([x, y, width, height]) = place else { return false };
    if width == 0.0 || height == 0.0 {
        return false;
    }
    let (right, bottom) = (f64::from(window.0), f64::from(window.1));
    let across = ((x + width).min(right) - x.max(0.0)).max(0.0);
    let down = ((y + height).min(bottom) - y.max(0.0)).max(0.0);
    across * down / width * height >= IN_VIEW
}

fn clean(tree: &str) -> String {
    let mut lines: Vec<&str> = Vec::new();
    for line in tree.split('\n') {
        if line.to_lowercase().contains("statictext") {
            let Some(text) = static_text(line) else { continue };
            let last = &lines[lines.len().saturating_sub(3)..];
            if text.is_empty() || last.iter().any(|line| line.contains(text)) {
                continue;
            }
        }
        lines.push(line);
    }
    lines.join("\n")
}

/// The text between the quotes of a text line. If properties follow, everything up to the last
/// character but one.
fn static_text(line: &str) -> Option<&str> {
    const ROLE: &str = "] StaticText ";
    let found = line.match_indices(ROLE).find_map(|(at, _)| {
        let id = line[..at].rsplit_once('[').map_or("", |(_, id)| id);
        let is_id = !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_alphanumeric());
        is_id.then(|| &line[at + ROLE.len()..])
    })?;
    let mut inside = found.chars();
    inside.next()?;
    inside.next_back();
    Some(inside.as_str())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// A node: id, role, name, properties, children.
    fn node(number: i64, role: &str, name: &str, properties: Value, children: &[i64]) -> Value {
        let children: Vec<String> = children.iter().map(i64::to_string).collect();
        json!({
            "nodeId": number.to_string(), "role": { "value": role }, "name": { "value": name },
            "properties": properties, "childIds": children, "backendDOMNodeId": number,
        })
    }

    fn marked(bid: &str) -> Value {
        json!([{ "name": "roledescription", "value": { "value": format!("bid={bid} ") } }])
    }

    fn part(nodes: Value) -> FrameTree {
        let tree = serde_json::from_value(json!({ "nodes": nodes })).unwrap_or_default();
        FrameTree { frame: "main".to_owned(), prefix: Some(String::new()), tree, owner: None }
    }

    fn written(part: FrameTree, places: &[(i64, [f64; 4])], options: &WebArena) -> String {
        let tabs =
            ["Shop", "Cart"].map(|title| Tab { url: String::new(), title: title.to_owned() });
        let places = places.iter().map(|&(number, place)| (number, Some(place))).collect();
        let source = Source {
            parts: &[part],
            places: &places,
            window: (100, 100),
            tabs: &tabs,
            active_tab: 1,
        };
        write(&source, options, &mut Bids::default())
    }

    fn all() -> WebArena {
        WebArena { viewport_only: false, frames: false, max_tokens: None }
    }

    #[test]
    fn nodes_are_lines_and_empty_ones_are_not() {
        let mut focused = marked("7");
        if let Some(list) = focused.as_array_mut() {
            list.push(json!({ "name": "focused", "value": { "value": true } }));
            list.push(json!({ "name": "level", "value": { "value": 2 } }));
        }
        let page = part(json!([
            node(1, "RootWebArea", "Cart", json!([]), &[2]),
            node(2, "generic", " ", marked("2"), &[3, 5, 6, 8]),
            node(3, "heading", "It's yours", focused, &[4]),
            node(4, "StaticText", "It's yours", json!([]), &[]),
            node(5, "image", "", marked("8"), &[]),
            node(6, "paragraph", "", marked("9"), &[7]),
            node(7, "StaticText", "Two items", json!([]), &[]),
            node(8, "link", "The statictext", marked("10"), &[]),
        ]));
        let expected = "Tab 0: Shop | Tab 1 (current): Cart\n\n[0] RootWebArea 'Cart'\n\t[7] heading \"It's yours\" focused: True\n\t[9] StaticText 'Two items'";
        assert_eq!(written(page, &[], &all()), expected);
    }

    #[test]
    fn what_is_out_of_view_goes_and_what_is_in_it_stays() {
        let page = || {
            part(json!([
                node(1, "RootWebArea", "Cart", json!([]), &[2, 4]),
                node(2, "list", "far", marked("2"), &[3]),
                node(3, "button", "near", marked("3"), &[]),
                node(4, "button", "nowhere", marked("4"), &[]),
            ]))
        };
        let places = [
            (2, [0.0, 100.0, 50.0, 50.0]),
            (3, [0.0, 99.0, 50.0, 20.0]),
            (4, [5.0, 5.0, 0.0, 9.0]),
        ];
        let near = WebArena { viewport_only: true, ..all() };
        assert_eq!(
            written(page(), &places, &near),
            "Tab 0: Shop | Tab 1 (current): Cart\n\n[0] RootWebArea 'Cart'\n\t[3] button 'near'"
        );
        let short = WebArena { max_tokens: Some(5), ..near };
        assert_eq!(written(page(), &places, &short), "Tab 0: Shop");
    }

    #[test]
    fn a_text_that_was_just_shown_is_not_shown_again() {
        for (tree, expected) in [
            ("[1] link 'a'\n[1] StaticText 'a'\n[2] b", "[1] link 'a'\n[2] b"),
            ("[1] x 'a'\n2\n3\n[1] StaticText 'a'", "[1] x 'a'\n2\n3"),
            ("[1] x 'a'\n2\n3\n4\n[1] StaticText 'a'", "[1] x 'a'\n2\n3\n4\n[1] StaticText 'a'"),
            ("[1] StaticText ''", ""),
            ("[a1] StaticText \"it's\"", "[a1] StaticText \"it's\""),
            ("StaticText 'no id'", ""),
            ("[1] button 'StaticText'", ""),
        ] {
            assert_eq!(clean(tree), expected, "{tree}");
        }
    }
}
