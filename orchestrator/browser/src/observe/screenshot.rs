//! Pictures of a page: of what is in view or of all of it, with or without ids on its elements.
//!
//! All of a page is drawn by the browser beyond the edges of its window (`captureBeyondViewport`), which it does without another layout: what
//! is as high as the window stays so, and what is fixed or sticks is where it is while the page is scrolled as it is. All that the page notices is that
//! it is told of a new size of the window, though there is none. In a frozen world it is not even told: its scripts are not run meanwhile, and since
//! its time stands still, nothing else is due that would be lost. (To make the window as high as the page instead lays the page out anew, and
//! tells it twice of another size and of all that comes into view.)

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{Error, Look, Session, cdp::tracker::Page, formats::visualwebarena, observe::overlay};

/// How much of a page is drawn at most, each way, in pixels.
const LARGEST: f64 = 16_384.0;

/// How a picture is taken.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Picture {
    /// The whole page instead of what is in view; 16,384 pixels of it at most, each way.
    pub full_page: bool,
    /// Which elements have their ids drawn on it; by default none. Only what is in view has one.
    pub marks: Option<Marks>,
}

/// Whose choice of elements it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Marks {
    /// BrowserGym's: those with `set_of_marks`.
    BrowserGym,
    /// VisualWebArena's: those that can be used in its list.
    VisualWebArena,
}

impl Session {
    /// The active page as a PNG file.
    pub async fn picture(&mut self, picture: &Picture) -> Result<Vec<u8>, Error> {
        let marked_elements = match picture.marks {
            Some(marks) => self.marked_elements(marks).await?,
            None => Vec::new(),
        };
        let (page, begun) = {
            let state = self.tracker.lock();
            (state.active()?, state.started_count)
        };
        let (file, corner) = if picture.full_page {
            self.full_page(&page).await?
        } else {
            (self.screenshot().await?, (0.0, 0.0))
        };
        self.drain_since(&page, begun).await?;
        if marked_elements.is_empty() {
            return Ok(file);
        }
        let shape = || Error::Shape { method: "Page.captureScreenshot", field: "a PNG file" };
        let mut image = lodepng::decode24(&file).map_err(|_| shape())?;
        let place = |(bid, [x, y, width, height]): (String, [f64; 4])| {
            (bid, [x + corner.0, y + corner.1, width, height])
        };
        overlay::draw(&mut image, &marked_elements.into_iter().map(place).collect::<Vec<_>>());
        lodepng::encode24(&image.buffer, image.width, image.height).map_err(|_| shape())
    }

    /// The elements that get a number, and where they lie on the screen.
    async fn marked_elements(&mut self, marks: Marks) -> Result<Vec<(String, [f64; 4])>, Error> {
        match marks {
            Marks::BrowserGym => {
                let seen = self.observe_with(&Look { properties: true, ..Look::default() }).await?;
                let marked_elements = seen.properties.into_iter().filter(|(_, known)| known.set_of_marks);
                Ok(marked_elements.filter_map(|(bid, known)| Some((bid, known.bbox?))).collect())
            }
            Marks::VisualWebArena => {
                // Gives them their bids.
                self.observe().await?;
                let page = self.tracker.lock().active()?;
                Ok(visualwebarena::write(&self.visible_elements(&page).await?, self.launch.device.viewport).1)
            }
        }
    }

    /// All of a page, and where on it the corner of the screen is.
    async fn full_page(&self, page: &Page) -> Result<(Vec<u8>, (f64, f64)), Error> {
        let call = |method, params| self.cdp().call(Some(&page.session), method, params);
        let metrics = call("Page.getLayoutMetrics", json!({})).await?;
        let known = |name: &str| metrics.pointer(name).and_then(Value::as_f64).unwrap_or_default();
        let side = |name: &str, window: u32| known(name).max(f64::from(window)).min(LARGEST);
        let (width, height) = self.launch.device.viewport;
        let params = json!({
            "format": "png",
            "optimizeForSpeed": true,
            "captureBeyondViewport": true,
            "clip": {
                "x": 0, "y": 0, "scale": 1,
                "width": side("/cssContentSize/width", width),
                "height": side("/cssContentSize/height", height),
            },
        });
        let told = self.determinism.is_none();
        if !told {
            call("Emulation.setScriptExecutionDisabled", json!({ "value": true })).await?;
        }
        let shot = self.capture(page, params).await;
        if !told {
            // What the page would have been told is over with the next frame.
            let shown = self.screenshot_of(page).await;
            call("Emulation.setScriptExecutionDisabled", json!({ "value": false })).await?;
            shown?;
        }
        Ok((shot?, (known("/cssVisualViewport/pageX"), known("/cssVisualViewport/pageY"))))
    }
}
