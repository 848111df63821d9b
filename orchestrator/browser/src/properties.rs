//! What is known of elements besides their lines in the tree: how much of them is in view, where they lie, whether a click does anything.
//!
//! The same as BrowserGym's `extract_dom_extra_properties`: places are those of the browser's own snapshot of the page, moved by where its frames
//! lie and how far they are scrolled; what is in view is what an `IntersectionObserver` says.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::{Error, Session, frames::Frame, marks, patience::Limit, watch::Page};

const SNAPSHOT: &str = "DOMSnapshot.captureSnapshot";

/// What is known of one element.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Properties {
    /// The part of it that is in view: 0 is nothing, 1 all of it.
    pub visibility: f64,
    /// Left, top, width and height in CSS pixels from the upper left corner of the screen; none for what is not shown.
    pub bbox: Option<[f64; 4]>,
    /// It listens to clicks.
    pub clickable: bool,
    /// It is among those that get a number on a picture with numbers.
    pub set_of_marks: bool,
}

impl Properties {
    /// At least half of it is in view.
    pub fn is_visible(&self) -> bool {
        self.visibility >= 0.5
    }
}

#[derive(Deserialize)]
struct Snapshot {
    documents: Vec<Document>,
    strings: Vec<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Document {
    nodes: Nodes,
    layout: Layout,
    #[serde(default)]
    scroll_offset_x: f64,
    #[serde(default)]
    scroll_offset_y: f64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Nodes {
    /// Numbers of strings: a name, its value, and so on.
    attributes: Vec<Vec<i64>>,
    content_document_index: Pairs,
    is_clickable: Indices,
}

#[derive(Deserialize)]
struct Pairs {
    index: Vec<usize>,
    value: Vec<usize>,
}

#[derive(Deserialize)]
struct Indices {
    index: Vec<usize>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Layout {
    node_index: Vec<usize>,
    bounds: Vec<Vec<f64>>,
    #[serde(default)]
    client_rects: Vec<Vec<f64>>,
}

/// Where an element lies, and whether it listens.
type Placed = (Option<[f64; 4]>, bool);

impl Session {
    /// Measures the elements whose bids are written into a page's frames, in the order of their numbering.
    pub(crate) async fn properties(
        &self,
        page: &Page,
        frames: &[Frame],
        limit: Limit,
    ) -> Result<Vec<(String, Properties)>, Error> {
        self.show_frame(self.patience(page, limit)).await?;
        let marked = frames.iter().filter(|frame| frame.prefix.is_some());
        let measuring = marked.map(|frame| self.marks(page, &frame.id, "measure()"));
        let params = json!({ "computedStyles": [], "includeDOMRects": true });
        let (measured, snapshot) = tokio::join!(
            futures_util::future::join_all(measuring),
            self.cdp().call(Some(&page.session), SNAPSHOT, params),
        );
        let snapshot: Snapshot = serde_json::from_value(snapshot?)
            .map_err(|_| Error::Shape { method: SNAPSHOT, field: "documents" })?;
        let placed = snapshot.placed();
        let mut properties = Vec::new();
        for measured in measured {
            let measured = match measured {
                Ok(measured) => measured,
                // The frame went away in the meantime.
                Err(Error::Refused { .. }) => continue,
                Err(error) => return Err(error),
            };
            let measured: Vec<(String, f64, bool)> = serde_json::from_value(measured)
                .map_err(|_| Error::Shape { method: "Runtime.evaluate", field: "the elements' measures" })?;
            properties.extend(measured.into_iter().map(|(bid, visibility, set_of_marks)| {
                let (bbox, clickable) = placed.get(&*bid).copied().unwrap_or_default();
                (bid, Properties { visibility, bbox, clickable, set_of_marks })
            }));
        }
        Ok(properties)
    }
}

impl Snapshot {
    /// The elements that have a mark.
    fn placed(&self) -> HashMap<&str, Placed> {
        let mut placed = HashMap::new();
        // Documents and where their upper left corners lie.
        let mut rest = vec![(0, (0.0, 0.0))];
        let mut left = self.documents.len();
        while let Some((number, (x, y))) = rest.pop() {
            let Some(document) = self.documents.get(number).filter(|_| left > 0) else { continue };
            left -= 1;
            let corner = (x - document.scroll_offset_x, y - document.scroll_offset_y);
            let layout = &document.layout;
            let boxes: HashMap<usize, usize> =
                layout.node_index.iter().enumerate().map(|(place, &node)| (node, place)).collect();
            let bounds = |node: usize| {
                let bounds = layout.bounds.get(*boxes.get(&node)?)?;
                <[f64; 4]>::try_from(&**bounds).ok()
            };
            let inner = &document.nodes.content_document_index;
            for (&node, &inner) in inner.index.iter().zip(&inner.value) {
                // A frame without a box lies nowhere; what is in it is counted from the corner of the screen.
                let at = bounds(node).map_or((0.0, 0.0), |[x, y, ..]| (corner.0 + x, corner.1 + y));
                rest.push((inner, at));
            }
            let clickable: std::collections::HashSet<_> = document.nodes.is_clickable.index.iter().collect();
            for (node, attributes) in document.nodes.attributes.iter().enumerate() {
                let Some(bid) = self.mark(attributes) else { continue };
                let rendered = boxes.get(&node).is_some_and(|&place| {
                    layout.client_rects.get(place).is_some_and(|rect| !rect.is_empty())
                });
                let bbox = bounds(node).filter(|_| rendered);
                let bbox = bbox.map(|[x, y, width, height]| [x + corner.0, y + corner.1, width, height]);
                placed.insert(bid, (bbox, clickable.contains(&node)));
            }
        }
        placed
    }

    fn mark(&self, attributes: &[i64]) -> Option<&str> {
        let values = attributes.iter().skip(1).step_by(2);
        let mut texts = values.filter_map(|&text| self.strings.get(usize::try_from(text).ok()?));
        texts.find_map(|text| marks::split(text)).map(|(bid, _)| bid)
    }
}
