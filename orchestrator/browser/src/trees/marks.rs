//! Marks: the bids of elements, given and shown as in BrowserGym.
//!
//! A script in an isolated world numbers the elements of each document, and keeps the numbers
//! (`marks.js`). To learn which node of the accessibility tree is which element, it writes the bids
//! into an ARIA attribute of every element, reads the tree, and removes them again. BrowserGym does
//! the same, and only so the tree is the same as its tree: an element with such an attribute is
//! never left out. BrowserGym writes two attributes everywhere. We write the second only where the
//! tree does not show the first, because it makes the tree a fifth larger and slower. The page's
//! time stands still meanwhile, and its mutation observers do not see the marks (`inject/page.js`).

use serde_json::{Value, json};

use crate::cdp::connection::CALL_TIMEOUT;
use crate::cdp::tracker::Page;
use crate::trees::frames::Frame;
use crate::{Error, Session};

const SCRIPT: &str = include_str!("marks.js");
/// The prefix of an attribute value with a bid.
const MARK_PREFIX: &str = "bid=";

/// Splits an attribute value into the bid and the page's own value.
pub(crate) fn split(text: &str) -> Option<(&str, &str)> {
    let (bid, own) =
        text.strip_prefix(MARK_PREFIX)?.split_once(' ').unwrap_or((&text[MARK_PREFIX.len()..], ""));
    let is_bid = !bid.is_empty() && bid.bytes().all(|byte| byte.is_ascii_alphanumeric());
    is_bid.then_some((bid, own))
}

impl Session {
    /// Writes the bids into the elements of a page and its frames. Outer frames come first, because
    /// the bids of inner ones begin with theirs. Returns the frames, and the bid of the focused
    /// element. The caller must always call [`Session::erase_marks`] afterwards. `measured`
    /// prepares for [`Session::measure`].
    pub(crate) async fn write_marks(
        &mut self,
        page: &Page,
        measured: bool,
    ) -> Result<(Vec<Frame>, Option<String>), Error> {
        let mut frames = self.frames(page).await?;
        let mut focused = None;
        let deepest = frames.iter().map(|frame| frame.depth).max().unwrap_or_default();
        for depth in 0..=deepest {
            let here = frames.iter().enumerate().filter(|(_, frame)| frame.depth == depth);
            let marking =
                here.map(async |(place, frame)| (place, self.mark(page, frame, measured).await));
            let marked = futures_util::future::join_all(marking).await;
            let within = focused.take();
            for (place, mark) in marked {
                match mark {
                    Ok(Some(MarkedFrame { owner, prefix, isolated_world, focused: inside })) => {
                        // A focused frame decides about its contents.
                        if depth == 0 || within.as_ref() == Some(&prefix) {
                            focused = inside;
                        }
                        frames[place].owner = owner;
                        frames[place].prefix = Some(prefix);
                        frames[place].isolated_world = Some(isolated_world);
                    }
                    Ok(None) => {}
                    Err(error) => {
                        self.bids.update(&frames);
                        return Err(error);
                    }
                }
            }
            focused = focused.or(within);
        }
        self.bids.update(&frames);
        Ok((frames, focused))
    }

    /// Removes the bids from the elements.
    pub(crate) async fn erase_marks(&self, page: &Page, frames: &[Frame]) -> Result<(), Error> {
        let marked = frames.iter().filter(|frame| frame.prefix.is_some());
        let erasing = marked.map(|frame| self.marks(page, frame, "erase()"));
        for erased in futures_util::future::join_all(erasing).await {
            match erased {
                Ok(_) | Err(Error::Refused { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Writes the bids into one frame. `None` if it or the element that shows it has gone, or
    /// cannot be marked.
    async fn mark(
        &self,
        page: &Page,
        frame: &Frame,
        measured: bool,
    ) -> Result<Option<MarkedFrame>, Error> {
        let marking = async {
            let (owner, prefix) = match frame.parent {
                None => (None, String::new()),
                Some(_) => {
                    let Some((owner, bid)) = self.owner(page, frame).await? else {
                        return Ok(None);
                    };
                    (Some(owner), bid)
                }
            };
            let isolated_world = self.isolated_world(page, &frame.id).await?;
            let script = call_expression(&format!("write({}, {measured})", json!(prefix)));
            let focused = self.evaluate_in(page, isolated_world, &script, CALL_TIMEOUT).await?;
            Ok(Some(MarkedFrame {
                owner,
                prefix,
                isolated_world,
                focused: focused.as_str().map(str::to_owned),
            }))
        };
        match marking.await {
            Err(Error::Refused { .. }) if frame.parent.is_some() => Ok(None),
            result => result,
        }
    }

    /// The element that shows a frame: the browser's node id, and its bid.
    async fn owner(&self, page: &Page, frame: &Frame) -> Result<Option<(i64, String)>, Error> {
        let call = |method, params| self.cdp().call(Some(&page.session), method, params);
        let owner = call("DOM.getFrameOwner", json!({ "frameId": frame.id })).await?;
        let Some(node) = owner.get("backendNodeId").and_then(Value::as_i64) else {
            return Ok(None);
        };
        let described = call("DOM.describeNode", json!({ "backendNodeId": node })).await?;
        let attributes = described.pointer("/node/attributes").and_then(Value::as_array);
        let mut values = attributes.into_iter().flatten().filter_map(Value::as_str);
        let bid = values.find_map(|value| split(value));
        Ok(bid.map(|(bid, _)| (node, bid.to_owned())))
    }

    /// Calls a function of a marked frame's script.
    pub(crate) async fn marks(
        &self,
        page: &Page,
        frame: &Frame,
        call: &str,
    ) -> Result<Value, Error> {
        match frame.isolated_world {
            Some(isolated_world) => {
                self.evaluate_in(page, isolated_world, &call_expression(call), CALL_TIMEOUT).await
            }
            None => {
                self.evaluate_isolated(page, &frame.id, &call_expression(call), CALL_TIMEOUT).await
            }
        }
    }
}

/// The script's object for a document, as an expression.
pub(crate) fn script() -> String {
    format!("(globalThis.sandboxMarks ??= (() => {{ 'use strict';\n{SCRIPT}\n}})())")
}

fn call_expression(call: &str) -> String {
    format!("{}.{call}", script())
}

struct MarkedFrame {
    owner: Option<i64>,
    prefix: String,
    isolated_world: i64,
    focused: Option<String>,
}
