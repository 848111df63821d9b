//! The browser's own snapshot of a page: every node of every document, and its bounds. It is taken
//! while the bids are written in the elements ([`crate::trees::marks`]), so it shows which
//! element is which.

use std::collections::{HashMap, HashSet};

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::cdp::tracker::Page;
use crate::trees::bounds::{self, LONGEST_STRING};
use crate::trees::marks;
use crate::{Error, Session};

const METHOD: &str = "DOMSnapshot.captureSnapshot";
/// The attributes that hold the marks.
const MARK_ATTRIBUTES: [&str; 2] = ["aria-roledescription", "aria-description"];

#[derive(Debug, Deserialize)]
pub(crate) struct DomSnapshot {
    pub(crate) documents: Vec<DocumentSnapshot>,
    pub(crate) strings: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DocumentSnapshot {
    pub(crate) nodes: NodeTreeSnapshot,
    layout: LayoutTreeSnapshot,
    #[serde(default)]
    scroll_offset_x: f64,
    #[serde(default)]
    scroll_offset_y: f64,
}

/// The properties of nodes, each as a list in the order of the nodes. A string is an index, -1 for
/// none.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct NodeTreeSnapshot {
    pub(crate) parent_index: Vec<i64>,
    pub(crate) node_type: Vec<i64>,
    pub(crate) node_name: Vec<i64>,
    pub(crate) node_value: Vec<i64>,
    backend_node_id: Vec<i64>,
    /// Indices of strings: a name, its value, and so on.
    pub(crate) attributes: Vec<Vec<i64>>,
    pub(crate) content_document_index: RareData<usize>,
    is_clickable: RareBooleanData,
    /// The type of the shadow root that a node is in.
    #[serde(default)]
    pub(crate) shadow_root_type: RareData<i64>,
    #[serde(default)]
    pub(crate) pseudo_type: RareData<i64>,
    #[serde(default)]
    pub(crate) input_value: RareData<i64>,
    #[serde(default)]
    pub(crate) text_value: RareData<i64>,
    #[serde(default)]
    pub(crate) input_checked: RareBooleanData,
    #[serde(default)]
    pub(crate) option_selected: RareBooleanData,
}

/// A property that few nodes have.
#[derive(Debug, Deserialize)]
pub(crate) struct RareData<T> {
    pub(crate) index: Vec<usize>,
    pub(crate) value: Vec<T>,
}

impl<T> Default for RareData<T> {
    fn default() -> Self {
        Self { index: Vec::new(), value: Vec::new() }
    }
}

#[derive(Debug, Default, Deserialize)]
pub(crate) struct RareBooleanData {
    pub(crate) index: Vec<usize>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct LayoutTreeSnapshot {
    node_index: Vec<usize>,
    bounds: Vec<Vec<f64>>,
    #[serde(default)]
    client_rects: Vec<Vec<f64>>,
}

impl DocumentSnapshot {
    /// The children of each node, in their order. A shadow root belongs to its host. Documents of
    /// frames and contents of templates are not included.
    pub(crate) fn children(&self) -> Vec<Vec<usize>> {
        let mut children = vec![Vec::new(); self.nodes.parent_index.len()];
        for (node, &parent) in self.nodes.parent_index.iter().enumerate() {
            // Parents come first, so there is no cycle.
            if let Some(parent) = usize::try_from(parent).ok().filter(|&parent| parent < node) {
                children[parent].push(node);
            }
        }
        children
    }
}

impl LayoutTreeSnapshot {
    /// The bounds of each node in its document, and the index of its box; the last one if it has
    /// several.
    fn bounds(&self) -> HashMap<usize, (usize, [f64; 4])> {
        let node_bounds = self.node_index.iter().zip(&self.bounds).enumerate();
        let known = |(place, (&node, bounds)): (usize, (&usize, &Vec<f64>))| {
            Some((node, (place, <[f64; 4]>::try_from(&**bounds).ok()?)))
        };
        node_bounds.filter_map(known).collect()
    }
}

/// The bounds of elements and other nodes on the screen: left, top, width and height in CSS pixels.
#[derive(Debug, Default)]
pub(crate) struct NodeBounds {
    /// By bid: the bounds, `None` without a box of its own, and whether the element listens to
    /// clicks.
    pub(crate) elements: HashMap<String, (Option<[f64; 4]>, bool)>,
    /// By the browser's node id; `None` without a box. Nodes that the browser itself has put into a
    /// control are not included.
    pub(crate) nodes: HashMap<i64, Option<[f64; 4]>>,
}

impl Session {
    /// Takes a snapshot, as BrowserGym's `extract_dom_snapshot` does. `paint_order` includes the
    /// order in which nodes are painted.
    pub(crate) async fn snapshot(
        &self,
        page: &Page,
        paint_order: bool,
    ) -> Result<Box<RawValue>, Error> {
        let mut params = json!({ "computedStyles": [], "includeDOMRects": true });
        if paint_order {
            params["includePaintOrder"] = json!(true);
        }
        self.cdp().call_as(Some(&page.session), METHOD, params).await
    }
}

impl DomSnapshot {
    pub(crate) fn read(snapshot: &RawValue) -> Result<Self, Error> {
        let shape = |_| Error::Shape { method: METHOD, field: "documents" };
        let mut snapshot: Self = serde_json::from_str(snapshot.get()).map_err(shape)?;
        snapshot.strings.iter_mut().for_each(|text| bounds::cut(text, LONGEST_STRING));
        Ok(snapshot)
    }

    pub(crate) fn string(&self, number: i64) -> Option<&str> {
        self.strings.get(usize::try_from(number).ok()?).map(String::as_str)
    }

    pub(crate) fn node_bounds(&self) -> NodeBounds {
        let mut node_bounds = NodeBounds::default();
        // Documents and the positions of their upper left corners.
        let mut rest = vec![(0, (0.0, 0.0))];
        let mut left = self.documents.len();
        while let Some((number, (x, y))) = rest.pop() {
            let Some(document) = self.documents.get(number).filter(|_| left > 0) else { continue };
            left -= 1;
            let corner = (x - document.scroll_offset_x, y - document.scroll_offset_y);
            let bounds = document.layout.bounds();
            let inner = &document.nodes.content_document_index;
            for (node, &inner) in inner.index.iter().zip(&inner.value) {
                // A frame without a box has no position. Its contents are measured from the corner
                // of the screen.
                let at = bounds
                    .get(node)
                    .map_or((0.0, 0.0), |(_, [x, y, ..])| (corner.0 + x, corner.1 + y));
                rest.push((inner, at));
            }
            let moved =
                |[x, y, width, height]: [f64; 4]| [x + corner.0, y + corner.1, width, height];
            for (node, number) in document.nodes.backend_node_id.iter().enumerate() {
                node_bounds.nodes.insert(*number, bounds.get(&node).map(|(_, at)| moved(*at)));
            }
            let clickable: HashSet<_> = document.nodes.is_clickable.index.iter().collect();
            for (node, attributes) in document.nodes.attributes.iter().enumerate() {
                let Some(bid) = self.bid_of(attributes) else { continue };
                let rects = &document.layout.client_rects;
                let rendered =
                    |place: &usize| rects.get(*place).is_some_and(|rect| !rect.is_empty());
                let at = bounds
                    .get(&node)
                    .filter(|(place, _)| rendered(place))
                    .map(|(_, at)| moved(*at));
                node_bounds.elements.insert(bid.to_owned(), (at, clickable.contains(&node)));
            }
        }
        node_bounds
    }

    /// The bid in the mark of an element with these attributes.
    pub(crate) fn bid_of(&self, attributes: &[i64]) -> Option<&str> {
        let values = attributes.iter().skip(1).step_by(2);
        values.filter_map(|&text| self.string(text)).find_map(marks::split).map(|(bid, _)| bid)
    }
}

/// An attribute's value without a mark; `None` if the page has no such attribute.
pub(crate) fn value_without_mark<'a>(name: &str, value: &'a str) -> Option<&'a str> {
    match marks::split(value).filter(|_| MARK_ATTRIBUTES.contains(&name)) {
        Some((_, "")) => None,
        Some((_, value_without_mark)) => Some(value_without_mark),
        None => Some(value),
    }
}

/// A snapshot for agents, with each bid in an attribute of its own, `bid`, instead of the mark.
pub(crate) fn without_marks(snapshot: &RawValue) -> Value {
    let mut snapshot: Value = serde_json::from_str(snapshot.get()).unwrap_or_default();
    let strings = snapshot.get_mut("strings").map(Value::take);
    let Some(Value::Array(mut strings)) = strings else { return snapshot };
    let mut known: HashMap<String, usize> = HashMap::new();
    for (number, string) in strings.iter().enumerate() {
        known.entry(string.as_str().unwrap_or_default().to_owned()).or_insert(number);
    }
    let mut number_of = |strings: &mut Vec<Value>, text: &str| {
        *known.entry(text.to_owned()).or_insert_with(|| {
            strings.push(json!(text));
            strings.len() - 1
        })
    };
    let documents = snapshot.get_mut("documents").and_then(Value::as_array_mut);
    for document in documents.into_iter().flatten() {
        let nodes = document.pointer_mut("/nodes/attributes").and_then(Value::as_array_mut);
        for attributes in nodes.into_iter().flatten().filter_map(Value::as_array_mut) {
            let string_at = |number: &Value| {
                let text =
                    number.as_u64().and_then(|number| strings.get(usize::try_from(number).ok()?));
                text.and_then(Value::as_str).unwrap_or_default().to_owned()
            };
            let mut pairs = Vec::with_capacity(attributes.len() + 2);
            let mut bid = None;
            for pair in attributes.chunks(2) {
                let [name, value] = pair else { continue };
                let text = string_at(value);
                let Some((found, value_without_mark)) = marks::split(&text)
                    .filter(|_| MARK_ATTRIBUTES.contains(&string_at(name).as_str()))
                else {
                    pairs.push((name.clone(), Ok(value.clone())));
                    continue;
                };
                bid = Some(found.to_owned());
                if !value_without_mark.is_empty() {
                    pairs.push((name.clone(), Err(value_without_mark.to_owned())));
                }
            }
            let mut written: Vec<Value> = Vec::with_capacity(pairs.len() * 2 + 2);
            for (name, value) in pairs {
                let value = value.unwrap_or_else(|value_without_mark| {
                    json!(number_of(&mut strings, &value_without_mark))
                });
                written.extend([name, value]);
            }
            if let Some(bid) = bid {
                let name = number_of(&mut strings, "bid");
                let value = number_of(&mut strings, &bid);
                written.extend([json!(name), json!(value)]);
            }
            *attributes = written;
        }
    }
    snapshot["strings"] = Value::Array(strings);
    snapshot
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shown_snapshot_has_bids_and_no_marks() {
        let snapshot = json!({
            "documents": [{ "nodes": { "attributes": [[0, 1, 2, 3, 4, 5], [], [2, 6]] } }],
            "strings": ["class", "x", "aria-roledescription", "bid=a7 slide", "aria-description", "bid=a7 ", "bid=no, mine"],
        });
        let Ok(snapshot) = serde_json::value::to_raw_value(&snapshot) else { panic!("it is JSON") };
        let shown = without_marks(&snapshot);
        let strings = shown["strings"].as_array().map(Vec::as_slice).unwrap_or_default();
        let attributes = |node: usize| {
            let numbers = shown["documents"][0]["nodes"]["attributes"][node].as_array();
            let text = |number: &Value| strings[number.as_u64().unwrap_or(99) as usize].clone();
            numbers.into_iter().flatten().map(text).collect::<Vec<_>>()
        };
        assert_eq!(attributes(0), ["class", "x", "aria-roledescription", "slide", "bid", "a7"]);
        assert!(attributes(1).is_empty());
        assert_eq!(attributes(2), ["aria-roledescription", "bid=no, mine"]);
    }
}
