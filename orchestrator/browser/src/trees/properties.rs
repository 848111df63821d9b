//! Properties of elements besides their lines in the tree: visibility, bounding box and
//! clickability.
//!
//! They are the same as in BrowserGym's `extract_dom_extra_properties`. Bounds come from the
//! browser's own snapshot of the page, shifted by the positions and scroll offsets of its frames.
//! Visibility comes from an `IntersectionObserver`.

use crate::cdp::tracker::Page;
use crate::trees::dom_snapshot::NodeBounds;
use crate::trees::frames::Frame;
use crate::{Error, Properties, Session};

impl Session {
    /// Returns the bid and visibility of each marked element, and whether it gets a number, in the
    /// order of their numbers. A frame must have been drawn since the bids were written.
    pub(crate) async fn measure(
        &self,
        page: &Page,
        frames: &[Frame],
    ) -> Result<Vec<(String, f64, bool)>, Error> {
        let marked = frames.iter().filter(|frame| frame.prefix.is_some());
        let measuring = marked.map(|frame| self.marks(page, frame, "measure()"));
        let mut all: Vec<(String, f64, bool)> = Vec::new();
        for measured in futures_util::future::join_all(measuring).await {
            let measured = match measured {
                Ok(measured) => measured,
                // The frame has just gone.
                Err(Error::Refused { .. }) => continue,
                Err(error) => return Err(error),
            };
            let measured: Vec<(String, f64, bool)> =
                serde_json::from_value(measured).map_err(|_| Error::Shape {
                    method: "Runtime.evaluate",
                    field: "the elements' measures",
                })?;
            all.extend(measured);
        }
        Ok(all)
    }
}

/// Combines visibilities and bounds.
pub(crate) fn of(
    measured: Vec<(String, f64, bool)>,
    bounds: &NodeBounds,
) -> Vec<(String, Properties)> {
    let combine = |(bid, visibility, set_of_marks): (String, f64, bool)| {
        let (bbox, clickable) = bounds.elements.get(&bid).copied().unwrap_or_default();
        (bid, Properties { visibility, bbox, clickable, set_of_marks })
    };
    measured.into_iter().map(combine).collect()
}
