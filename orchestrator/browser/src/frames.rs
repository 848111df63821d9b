//! The frames of a page, and the ids that its elements go by.
//!
//! A `bid` is a number within its frame, counted from 1 in document order at the first sight of each element; frames inside the page put a
//! letter before it (`a12`; `aB3` in the second frame of the first one). An element keeps its bid as long as its document lives.

use std::collections::HashMap;

use serde_json::{Value, json};

use crate::{Error, Session, watch::Page};

/// Frames taken into account; a page with more is hostile.
const MOST: usize = 500;

/// A frame of the active page.
#[derive(Debug, Clone)]
pub(crate) struct Frame {
    pub(crate) id: String,
    pub(crate) url: String,
    /// Tells one document in the frame from the next.
    loader: String,
    pub(crate) parent: Option<String>,
    /// The letters before the numbers of its elements.
    pub(crate) prefix: String,
}

/// The element that a bid stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) frame: String,
    /// The browser's own number of the node; differs from run to run and must not be shown.
    pub(crate) node: i64,
}

/// The ids given so far in an episode.
#[derive(Debug, Default)]
pub(crate) struct Bids {
    frames: HashMap<String, Numbering>,
    places: HashMap<String, Place>,
}

#[derive(Debug, Default)]
struct Numbering {
    loader: String,
    prefix: String,
    numbers: HashMap<i64, u32>,
    children: usize,
}

impl Bids {
    /// Gives frames their letters, forgetting documents that have gone.
    fn meet(&mut self, frames: &mut [Frame]) {
        self.frames
            .retain(|id, known| frames.iter().any(|frame| frame.id == *id && frame.loader == known.loader));
        let known = &self.frames;
        self.places.retain(|_, place| known.contains_key(&place.frame));
        for frame in frames {
            if !self.frames.contains_key(&frame.id) {
                let prefix = match frame.parent.as_ref().and_then(|parent| self.frames.get_mut(parent)) {
                    Some(parent) => {
                        parent.children += 1;
                        format!("{}{}", parent.prefix, letters(parent.children - 1))
                    }
                    None => String::new(),
                };
                let numbering = Numbering { loader: frame.loader.clone(), prefix, ..Numbering::default() };
                self.frames.insert(frame.id.clone(), numbering);
            }
            frame.prefix.clone_from(&self.frames[&frame.id].prefix);
        }
    }

    /// The id of an element, new or as before.
    pub(crate) fn of(&mut self, frame: &str, node: i64) -> Option<String> {
        let numbering = self.frames.get_mut(frame)?;
        let next = u32::try_from(numbering.numbers.len()).ok()?.checked_add(1)?;
        let number = *numbering.numbers.entry(node).or_insert(next);
        let bid = format!("{}{number}", numbering.prefix);
        self.places.entry(bid.clone()).or_insert_with(|| Place { frame: frame.to_owned(), node });
        Some(bid)
    }

    pub(crate) fn place(&self, bid: &str) -> Option<&Place> {
        self.places.get(bid)
    }
}

/// `a` to `z`, then `aA`, `bA` .. `zA`, `aB` and so on: a small letter begins each step into a frame.
fn letters(n: usize) -> String {
    let letter = |base: u8, n: usize| char::from(base + u8::try_from(n % 26).unwrap_or(0));
    let mut text = String::from(letter(b'a', n));
    let mut rest = n / 26;
    while rest > 0 {
        text.push(letter(b'A', rest - 1));
        rest = (rest - 1) / 26;
    }
    text
}

impl Session {
    /// The frames of a page, the page itself first, parents before children.
    pub(crate) async fn frames(&mut self, page: &Page) -> Result<Vec<Frame>, Error> {
        const METHOD: &str = "Page.getFrameTree";
        let tree = self.cdp().call(Some(&page.session), METHOD, json!({})).await?;
        let root = tree.get("frameTree").ok_or(Error::Shape { method: METHOD, field: "frameTree" })?;
        let mut frames = Vec::new();
        let mut rest = vec![root];
        while let Some(node) = rest.pop() {
            let text = |name: &str| {
                node.pointer(&format!("/frame/{name}")).and_then(Value::as_str).unwrap_or_default()
            };
            if frames.len() < MOST {
                frames.push(Frame {
                    id: text("id").to_owned(),
                    url: format!("{}{}", text("url"), text("urlFragment")),
                    loader: text("loaderId").to_owned(),
                    parent: Some(text("parentId").to_owned()).filter(|parent| !parent.is_empty()),
                    prefix: String::new(),
                });
            }
            rest.extend(node.get("childFrames").and_then(Value::as_array).into_iter().flatten().rev());
        }
        self.bids.meet(&mut frames);
        Ok(frames)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(id: &str, loader: &str, parent: Option<&str>) -> Frame {
        Frame {
            id: id.to_owned(),
            url: String::new(),
            loader: loader.to_owned(),
            parent: parent.map(str::to_owned),
            prefix: String::new(),
        }
    }

    #[test]
    fn frames_are_lettered_as_they_come() {
        for (n, expected) in [(0, "a"), (25, "z"), (26, "aA"), (27, "bA"), (52, "aB"), (26 * 27, "aAA")] {
            assert_eq!(letters(n), expected);
        }
    }

    #[test]
    fn an_element_keeps_its_bid_until_its_document_goes() {
        let mut bids = Bids::default();
        let mut frames = [frame("m", "1", None), frame("x", "1", Some("m")), frame("y", "1", Some("m"))];
        bids.meet(&mut frames);
        assert_eq!(frames.clone().map(|frame| frame.prefix), ["", "a", "b"]);
        assert_eq!(bids.of("m", 70).as_deref(), Some("1"));
        assert_eq!(bids.of("y", 71).as_deref(), Some("b1"));
        assert_eq!(bids.of("y", 75).as_deref(), Some("b2"));
        assert_eq!(bids.of("y", 71).as_deref(), Some("b1"));
        assert_eq!(bids.place("b2"), Some(&Place { frame: "y".to_owned(), node: 75 }));

        // The first frame leaves, the second gets another document: its letter is new, and so are its numbers.
        let mut frames = [frame("m", "1", None), frame("y", "2", Some("m"))];
        bids.meet(&mut frames);
        assert_eq!(frames[1].prefix, "c");
        assert_eq!(bids.place("b2"), None);
        assert_eq!(bids.of("y", 90).as_deref(), Some("c1"));
        assert_eq!(bids.of("m", 70).as_deref(), Some("1"));
    }
}
