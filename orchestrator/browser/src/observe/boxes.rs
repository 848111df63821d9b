//! The bounding boxes of the elements in view, on the screen.
//!
//! The boxes of [`properties`](crate::trees::properties) are BrowserGym's, which forget the borders
//! of frames.

use std::collections::HashMap;

use serde::Deserialize;

use crate::cdp::tracker::Page;
use crate::trees::frames::Frame;
use crate::{ElementBox, Error, Session};

/// An element as its document sees it.
#[derive(Deserialize)]
struct PlacedElement {
    bid: String,
    #[serde(rename = "box")]
    place: ElementBox,
    /// The upper left corner of the document that a frame shows.
    corner: Option<[i32; 2]>,
}

impl Session {
    /// Returns the boxes of the elements in view, by their bids. The bids must have been written.
    pub(crate) async fn boxes(
        &self,
        page: &Page,
        frames: &[Frame],
    ) -> Result<HashMap<String, ElementBox>, Error> {
        let mut marked: Vec<&Frame> =
            frames.iter().filter(|frame| frame.prefix.is_some()).collect();
        marked.sort_by_key(|frame| frame.depth);
        let placing = marked.iter().map(|frame| self.marks(page, frame, "boxes()"));
        let placed = futures_util::future::join_all(placing).await;
        let mut corners = HashMap::from([(String::new(), [0, 0])]);
        let mut boxes = HashMap::new();
        for (frame, placed) in marked.iter().zip(placed) {
            let placed = match placed {
                Ok(placed) => placed,
                // The frame has just gone.
                Err(Error::Refused { .. }) => continue,
                Err(error) => return Err(error),
            };
            let placed: Vec<PlacedElement> = serde_json::from_value(placed).map_err(|_| {
                Error::Shape { method: "Runtime.evaluate", field: "the elements' boxes" }
            })?;
            // The document of a frame that is not in view is not either.
            let prefix = frame.prefix.as_deref().unwrap_or_default();
            let Some(&[x, y]) = corners.get(prefix) else { continue };
            for PlacedElement { bid, place: [left, top, width, height], corner } in placed {
                if let Some([left, top]) = corner {
                    corners.insert(bid.clone(), [x + left, y + top]);
                }
                boxes.insert(bid, [x + left, y + top, width, height]);
            }
        }
        let (width, height) = self.launch.device.viewport;
        let is_in_view = |&[left, top, w, h]: &ElementBox| {
            i64::from(left) < i64::from(width)
                && i64::from(top) < i64::from(height)
                && left + w > 0
                && top + h > 0
        };
        boxes.retain(|_, place| is_in_view(place));
        Ok(boxes)
    }
}
