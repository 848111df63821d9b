//! The browser's accessibility tree as BrowserGym's `axtree_object`, for its
//! `flatten_axtree_to_str` and for agents that were made for it. The trees of all frames are one
//! list of nodes, the page's root first. The node that shows a frame has the frame's root as its
//! last child. The node of an element with a bid has it as `browsergym_id`.
//!
//! Text boxes, which newer browsers add below the text that they repeat, are left out, as in our
//! own text of the tree. BrowserGym's browser had none. If two frames use the same node ids, the
//! frame's letters distinguish them.

use std::collections::HashSet;

use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::trees::axtree::{FrameTree, IGNORED_ROLES, MARKED_PROPERTY};
use crate::trees::frames::Bids;
use crate::trees::marks;

/// Merges the trees of all frames. `raw` are those of `parts`, in the same order.
pub(crate) fn merge(parts: &[FrameTree], raw: &[Box<RawValue>], bids: &Bids) -> Value {
    let mut nodes: Vec<Value> = Vec::new();
    let mut seen_ids: HashSet<String> = HashSet::new();
    // The range of each frame's nodes, and the id of its root.
    let mut spans: Vec<(std::ops::Range<usize>, Option<String>)> = Vec::new();
    for (part, raw) in parts.iter().zip(raw) {
        let mut tree: Value = serde_json::from_str(raw.get()).unwrap_or_default();
        let mut own = match tree.get_mut("nodes").map(Value::take) {
            Some(Value::Array(own)) => without_text_boxes(own),
            _ => Vec::new(),
        };
        let is_duplicate = own.iter().filter_map(node_id).any(|node_id| seen_ids.contains(node_id));
        if let Some(prefix) = part.prefix.as_deref().filter(|_| is_duplicate) {
            own.iter_mut().for_each(|node| prefix_ids(node, prefix));
        }
        seen_ids.extend(own.iter().filter_map(node_id).map(str::to_owned));
        own.iter_mut().for_each(|node| write_bid(node, part, bids));
        let begin = nodes.len();
        let root = own.first().and_then(node_id).map(str::to_owned);
        nodes.extend(own);
        spans.push((begin..nodes.len(), root));
    }
    for (part, (_, root)) in parts.iter().zip(&spans) {
        let (Some((parent, owner)), Some(root)) = (&part.owner, root) else { continue };
        let Some(place) = parts.iter().position(|other| &other.frame == parent) else { continue };
        let Some((span, _)) = spans.get(place) else { continue };
        let shows = |node: &&mut Value| node["backendDOMNodeId"].as_i64() == Some(*owner);
        if let Some(Value::Array(children)) =
            nodes[span.clone()].iter_mut().find(shows).map(|node| &mut node["childIds"])
        {
            children.push(json!(root));
        }
    }
    json!({ "nodes": nodes })
}

fn node_id(node: &Value) -> Option<&str> {
    node["nodeId"].as_str()
}

/// Every node gets a list of children, because readers expect one.
fn without_text_boxes(nodes: Vec<Value>) -> Vec<Value> {
    let is_box = |node: &Value| node["role"]["value"] == "InlineTextBox";
    let boxes: HashSet<String> =
        nodes.iter().filter(|node| is_box(node)).filter_map(node_id).map(str::to_owned).collect();
    let mut rest: Vec<Value> = nodes.into_iter().filter(|node| !is_box(node)).collect();
    for node in &mut rest {
        let children = node["childIds"].as_array_mut().map(std::mem::take).unwrap_or_default();
        let stays = |child: &Value| !child.as_str().is_some_and(|child| boxes.contains(child));
        node["childIds"] = children.into_iter().filter(stays).collect();
    }
    rest
}

/// Puts a frame's letters before every id of a node.
fn prefix_ids(node: &mut Value, prefix: &str) {
    let new = |node_id: &mut Value| {
        if let Some(text) = node_id.as_str() {
            *node_id = json!(format!("{prefix}-{text}"));
        }
    };
    new(&mut node["nodeId"]);
    if let Some(parent) = node.get_mut("parentId") {
        new(parent);
    }
    node["childIds"].as_array_mut().into_iter().flatten().for_each(new);
}

/// Removes the mark from a node, and stores the bid in a field of its own.
fn write_bid(node: &mut Value, part: &FrameTree, bids: &Bids) {
    let mut bid = None;
    if let Some(Value::Array(properties)) = node.get_mut("properties") {
        properties.retain_mut(|property| {
            if property["name"] != MARKED_PROPERTY {
                return true;
            }
            let marked = property["value"]["value"].as_str().and_then(marks::split);
            let Some((found, own)) = marked.map(|(bid, own)| (bid.to_owned(), own.to_owned()))
            else {
                return true;
            };
            bid = Some(found);
            property["value"]["value"] = json!(own);
            !own.is_empty()
        });
    }
    let described = node["description"]["value"].as_str().and_then(marks::split);
    if let Some((found, own)) = described.map(|(bid, own)| (bid.to_owned(), own.to_owned())) {
        bid = bid.or(Some(found));
        if own.is_empty() {
            // This keeps the order of the other fields, which is part of what agents see.
            node.as_object_mut().map(|node| node.shift_remove("description"));
        } else {
            node["description"]["value"] = json!(own);
        }
    }
    let bid = bid.or_else(|| {
        let is_shown =
            node["role"]["value"].as_str().is_some_and(|role| !IGNORED_ROLES.contains(&role));
        let node_id = node["backendDOMNodeId"].as_i64().filter(|_| is_shown)?;
        bids.unmarked_bid(part.prefix.as_deref()?, node_id)
    });
    if let Some(bid) = bid {
        node["browsergym_id"] = json!(bid);
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::trees::axtree::AxTree;

    fn part(frame: &str, prefix: &str, owner: Option<(&str, i64)>) -> FrameTree {
        let owner = owner.map(|(frame, node)| (frame.to_owned(), node));
        FrameTree {
            frame: frame.to_owned(),
            prefix: Some(prefix.to_owned()),
            tree: AxTree::default(),
            owner,
        }
    }

    fn raw(nodes: Value) -> Box<RawValue> {
        serde_json::value::to_raw_value(&json!({ "nodes": nodes })).unwrap()
    }

    #[test]
    fn frames_hang_where_they_are_shown_and_numbers_are_told_apart() {
        let page = raw(json!([
            { "nodeId": "1", "role": { "value": "RootWebArea" }, "childIds": ["2", "3"] },
            { "nodeId": "2", "role": { "value": "StaticText" }, "childIds": ["9"], "parentId": "1" },
            { "nodeId": "9", "role": { "value": "InlineTextBox" }, "parentId": "2" },
            { "nodeId": "3", "role": { "value": "Iframe" }, "backendDOMNodeId": 7, "childIds": [] },
        ]));
        let inner = raw(json!([
            { "nodeId": "1", "role": { "value": "RootWebArea" }, "childIds": ["5"] },
            { "nodeId": "5", "role": { "value": "button" }, "parentId": "1" },
        ]));
        let parts = [part("page", "", None), part("inner", "a", Some(("page", 7)))];
        let merged = merge(&parts, &[page, inner], &Bids::default());
        let shape: Vec<(&str, &Value)> = merged["nodes"]
            .as_array()
            .unwrap()
            .iter()
            .map(|node| (node["nodeId"].as_str().unwrap(), &node["childIds"]))
            .collect();
        let expected = [
            ("1", json!(["2", "3"])),
            ("2", json!([])),
            ("3", json!(["a-1"])),
            ("a-1", json!(["a-5"])),
            ("a-5", json!([])),
        ];
        assert_eq!(shape, expected.each_ref().map(|(name, children)| (*name, children)));
        assert_eq!(merged["nodes"][4]["parentId"], "a-1");
    }

    #[test]
    fn marks_become_bids_and_what_the_page_says_itself_stays() {
        let mark = |own: &str| format!("bid=12 {own}").trim_end().to_owned();
        let marked = |name: &str, own: &str| json!({ "name": name, "value": { "type": "string", "value": mark(own) } });
        let page = raw(json!([
            { "nodeId": "1", "role": { "value": "button" }, "properties": [marked("roledescription", ""), marked("focusable", "")] },
            { "nodeId": "2", "role": { "value": "button" }, "properties": [marked("roledescription", "slide")] },
            { "nodeId": "3", "role": { "value": "button" }, "description": { "value": mark("") } },
            { "nodeId": "4", "role": { "value": "button" }, "description": { "value": mark("why") } },
            { "nodeId": "5", "role": { "value": "button" }, "description": { "value": "plain" } },
        ]));
        let merged = merge(&[part("page", "", None)], &[page], &Bids::default());
        let nodes = merged["nodes"].as_array().unwrap();
        let bids: Vec<Option<&str>> =
            nodes.iter().map(|node| node.get("browsergym_id").and_then(Value::as_str)).collect();
        assert_eq!(bids, [Some("12"), Some("12"), Some("12"), Some("12"), None]);
        assert_eq!(nodes[0]["properties"].as_array().unwrap().len(), 1);
        assert_eq!(nodes[1]["properties"][0]["value"]["value"], "slide");
        assert!(nodes[2].get("description").is_none());
        assert_eq!(
            (&nodes[3]["description"]["value"], &nodes[4]["description"]["value"]),
            (&json!("why"), &json!("plain"))
        );
    }
}
