//! What is known of elements besides their lines in the tree: how much of them is in view, where they lie, whether a click does anything.
//!
//! The same as BrowserGym's `extract_dom_extra_properties`: places are those of the browser's own snapshot of the page, moved by where its frames
//! lie and how far they are scrolled; what is in view is what an `IntersectionObserver` says.

use schemars::JsonSchema;
use serde::Serialize;

use crate::{
    Error, Session,
    cdp::tracker::Page,
    observe::{dom_snapshot::NodeBounds, frames::Frame},
};

/// What is known of one element.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
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

impl Session {
    /// How much of each element is in view and whether it is among those with a number, of the elements whose bids are written into a page's
    /// frames, in the order of their numbering. A frame has been drawn since the bids were written.
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
                // The frame went away in the meantime.
                Err(Error::Refused { .. }) => continue,
                Err(error) => return Err(error),
            };
            let measured: Vec<(String, f64, bool)> = serde_json::from_value(measured)
                .map_err(|_| Error::Shape { method: "Runtime.evaluate", field: "the elements' measures" })?;
            all.extend(measured);
        }
        Ok(all)
    }
}

/// Puts together what was measured and where things lie.
pub(crate) fn of(measured: Vec<(String, f64, bool)>, bounds: &NodeBounds) -> Vec<(String, Properties)> {
    let known = |(bid, visibility, set_of_marks): (String, f64, bool)| {
        let (bbox, clickable) = bounds.elements.get(&bid).copied().unwrap_or_default();
        (bid, Properties { visibility, bbox, clickable, set_of_marks })
    };
    measured.into_iter().map(known).collect()
}
