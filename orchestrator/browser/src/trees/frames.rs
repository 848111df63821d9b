//! The frames of a page, and the elements behind the ids (bids).
//!
//! A bid is a number within its frame; a frame's own element has letters. Elements inside a frame
//! have the frame's letters before their number (`12`, `a` and `a12`, `ab` and `ab3` in the second
//! frame of the first one). See [`crate::trees::marks`] for how they are given. An element keeps
//! its bid as long as its document lives.
//!
//! Some nodes have no mark, because no script can reach them (closed shadow roots), or because they
//! are not standard elements (custom elements). The interactive ones among them are numbered after
//! a zero, in the order in which they are first seen: `01`, `02`, `a01`.

use std::collections::{HashMap, HashSet};

use serde_json::{Value, json};

use crate::cdp::tracker::Page;
use crate::{Error, Session};

/// The limit of frames. A page with more is hostile.
const MAX_FRAMES: usize = 500;

/// A frame of the active page.
#[derive(Debug, Clone)]
pub(crate) struct Frame {
    pub(crate) id: String,
    pub(crate) url: String,
    /// Distinguishes one document in the frame from the next.
    loader: String,
    pub(crate) parent: Option<String>,
    /// The id of our isolated world in its document, once it is known.
    pub(crate) isolated_world: Option<i64>,
    /// How many frames it is nested in.
    pub(crate) depth: usize,
    /// The browser's id of the element that shows the frame, in the parent.
    pub(crate) owner: Option<i64>,
    /// The letters before its elements' numbers; `None` if they could not be marked.
    pub(crate) prefix: Option<String>,
}

impl Frame {
    fn document(&self) -> (String, String) {
        (self.id.clone(), self.loader.clone())
    }
}

/// The element behind a bid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum NodeLocation {
    /// One that the frame's script finds by its bid.
    Marked { frame: String },
    /// Another one, by the browser's node id, which differs between runs and must not be shown.
    Node { frame: String, node: i64 },
}

/// The elements behind the bids of the last observation.
#[derive(Debug, Default)]
pub(crate) struct Bids {
    /// Frames by the letters before their elements' numbers.
    frames: HashMap<String, Frame>,
    /// Numbers of nodes without a mark, by frame and document.
    unmarked: HashMap<(String, String), HashMap<i64, usize>>,
}

impl Bids {
    /// Takes the frames of a new observation, and forgets documents that have gone.
    pub(crate) fn update(&mut self, frames: &[Frame]) {
        let marked = |frame: &Frame| Some((frame.prefix.clone()?, frame.clone()));
        self.frames = frames.iter().filter_map(marked).collect();
        let living: HashSet<_> = frames.iter().map(Frame::document).collect();
        self.unmarked.retain(|document, _| living.contains(document));
    }

    /// The bid of a node without a mark, an existing one or a new one.
    pub(crate) fn assign_unmarked(&mut self, prefix: &str, node: i64) -> Option<String> {
        let numbers = self.unmarked.entry(self.frames.get(prefix)?.document()).or_default();
        let next = numbers.len() + 1;
        Some(format!("{prefix}0{}", numbers.entry(node).or_insert(next)))
    }

    /// The bid of a node without a mark, if it has one.
    pub(crate) fn unmarked_bid(&self, prefix: &str, node: i64) -> Option<String> {
        let number = self.unmarked.get(&self.frames.get(prefix)?.document())?.get(&node)?;
        Some(format!("{prefix}0{number}"))
    }

    pub(crate) fn locate(&self, bid: &str) -> Option<NodeLocation> {
        let (prefix, number) = split(bid)?;
        let frame = self.frames.get(prefix)?;
        let Some(unmarked) = number.strip_prefix('0').filter(|rest| !rest.is_empty()) else {
            return Some(NodeLocation::Marked { frame: frame.id.clone() });
        };
        let number: usize = unmarked.parse().ok()?;
        let (&node, _) = self
            .unmarked
            .get(&frame.document())?
            .iter()
            .find(|(_, assigned)| **assigned == number)?;
        Some(NodeLocation::Node { frame: frame.id.clone(), node })
    }

    /// The elements that show a frame and the frames around it, by the browser's node ids, the
    /// innermost first.
    pub(crate) fn owners_of(&self, frame: &str) -> Vec<i64> {
        let by_id = |id: &str| self.frames.values().find(|frame| frame.id == id);
        let mut owners = Vec::new();
        let mut inner = by_id(frame);
        while let Some(frame) = inner.filter(|_| owners.len() < MAX_FRAMES) {
            owners.extend(frame.owner);
            inner = frame.parent.as_deref().and_then(by_id);
        }
        owners
    }
}

/// Splits a bid into the letters of its frame, and its own number or letters there.
fn split(bid: &str) -> Option<(&str, &str)> {
    if !bid.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return None;
    }
    let number = bid.find(|c: char| c.is_ascii_digit());
    // A frame's own element: its letters begin with the last lower-case one.
    let own = number.or_else(|| bid.rfind(|c: char| c.is_ascii_lowercase()))?;
    Some(bid.split_at(own))
}

impl Session {
    /// The frames of a page, the page itself first, parents before children. They have no prefixes
    /// yet.
    pub(crate) async fn frames(&self, page: &Page) -> Result<Vec<Frame>, Error> {
        const METHOD: &str = "Page.getFrameTree";
        let tree = self.cdp().call(Some(&page.session), METHOD, json!({})).await?;
        let root =
            tree.get("frameTree").ok_or(Error::Shape { method: METHOD, field: "frameTree" })?;
        let mut frames = Vec::new();
        let mut rest = vec![(root, 0)];
        while let Some((node, depth)) = rest.pop() {
            let text = |name: &str| {
                node.pointer(&format!("/frame/{name}")).and_then(Value::as_str).unwrap_or_default()
            };
            if frames.len() < MAX_FRAMES {
                frames.push(Frame {
                    id: text("id").to_owned(),
                    url: format!("{}{}", text("url"), text("urlFragment")),
                    loader: text("loaderId").to_owned(),
                    parent: Some(text("parentId").to_owned()).filter(|parent| !parent.is_empty()),
                    depth,
                    owner: None,
                    prefix: None,
                    isolated_world: None,
                });
            }
            let children = node.get("childFrames").and_then(Value::as_array).into_iter().flatten();
            rest.extend(children.rev().map(|child| (child, depth + 1)));
        }
        Ok(frames)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(id: &str, loader: &str, prefix: Option<&str>) -> Frame {
        Frame {
            id: id.to_owned(),
            url: String::new(),
            loader: loader.to_owned(),
            parent: None,
            depth: 0,
            owner: None,
            prefix: prefix.map(str::to_owned),
            isolated_world: None,
        }
    }

    #[test]
    fn a_bid_says_in_which_frame_it_is() {
        for (bid, expected) in [
            ("12", Some(("", "12"))),
            ("a", Some(("", "a"))),
            ("aA", Some(("", "aA"))),
            ("ab", Some(("a", "b"))),
            ("a12", Some(("a", "12"))),
            ("aAbB3", Some(("aAbB", "3"))),
            ("", None),
            ("A", None),
            ("1'); alert('", None),
        ] {
            assert_eq!(split(bid), expected, "{bid}");
        }
    }

    #[test]
    fn nodes_without_a_mark_keep_their_number_until_their_document_goes() {
        let mut bids = Bids::default();
        bids.update(&[
            frame("m", "1", Some("")),
            frame("x", "1", Some("a")),
            frame("y", "1", None),
        ]);
        assert_eq!(bids.locate("7"), Some(NodeLocation::Marked { frame: "m".to_owned() }));
        assert_eq!(bids.locate("a0"), Some(NodeLocation::Marked { frame: "x".to_owned() }));
        assert_eq!(bids.locate("b0"), None, "there is no such frame");
        assert_eq!(bids.assign_unmarked("a", 71).as_deref(), Some("a01"));
        assert_eq!(bids.assign_unmarked("a", 75).as_deref(), Some("a02"));
        assert_eq!(bids.assign_unmarked("a", 71).as_deref(), Some("a01"));
        assert_eq!(bids.unmarked_bid("a", 75).as_deref(), Some("a02"));
        assert_eq!((bids.unmarked_bid("a", 76), bids.unmarked_bid("b", 75)), (None, None));
        assert_eq!(
            bids.locate("a02"),
            Some(NodeLocation::Node { frame: "x".to_owned(), node: 75 })
        );

        bids.update(&[frame("m", "1", Some("")), frame("x", "2", Some("a"))]);
        assert_eq!(bids.locate("a02"), None);
        assert_eq!(bids.assign_unmarked("a", 90).as_deref(), Some("a01"));
    }
}
