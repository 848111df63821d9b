//! Screenshots of the view or of the full page, with or without bids on the elements.
//!
//! The browser draws the full page beyond the edges of its window (`captureBeyondViewport`),
//! without another layout. So elements as high as the window keep their height, and fixed and
//! sticky elements stay at their present positions. The page notices only a resize event, though
//! its size is the same. In a frozen world it does not even get that: its scripts are disabled
//! meanwhile. Its time stands still, so no other event is lost.
//!
//! (A window as high as the page would need another layout. It would cause two resize events, and
//! bring everything into view.)

use serde_json::{Value, json};

use crate::cdp::tracker::Page;
use crate::clock::screen::Shown;
use crate::formats::visualwebarena;
use crate::observe::overlay;
use crate::{Error, Marks, ObservationOptions, ScreenshotOptions, Session};

/// The largest width and height of a full-page screenshot, in pixels.
const LARGEST: f64 = 16_384.0;

impl Session {
    /// The active page as a PNG file.
    pub async fn picture(&mut self, picture: &ScreenshotOptions) -> Result<Vec<u8>, Error> {
        let marked_elements = match picture.marks {
            Some(marks) => self.marked_elements(marks).await?,
            None => Vec::new(),
        };
        let (page, started_count) = {
            let state = self.tracker.lock();
            (state.active()?, state.started_count)
        };
        // The browser would wait for the first contents of the document.
        let (file, corner) = if picture.full_page && self.shown(&page).await == Shown::Nothing {
            (self.blank()?, (0.0, 0.0))
        } else if picture.full_page {
            self.full_page(&page).await?
        } else {
            (self.screenshot().await?, (0.0, 0.0))
        };
        self.drain_since(&page, started_count).await?;
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

    /// Draws the active page as for a picture of its view, without the picture. So the page goes on
    /// in the same way whether pictures are wanted or not.
    pub async fn draw(&mut self) -> Result<(), Error> {
        let (page, started_count) = {
            let state = self.tracker.lock();
            (state.active()?, state.started_count)
        };
        self.draw_without_picture(&page).await?;
        self.drain_since(&page, started_count).await
    }

    /// The elements that get a number, and their bounds on the screen.
    async fn marked_elements(&mut self, marks: Marks) -> Result<Vec<(String, [f64; 4])>, Error> {
        match marks {
            Marks::BrowserGym => {
                let observation = self
                    .observe_with(&ObservationOptions {
                        properties: true,
                        ..ObservationOptions::default()
                    })
                    .await?;
                let marked_elements =
                    observation.properties.into_iter().filter(|(_, known)| known.set_of_marks);
                Ok(marked_elements.filter_map(|(bid, known)| Some((bid, known.bbox?))).collect())
            }
            Marks::VisualWebArena => {
                // This gives them their bids.
                self.observe().await?;
                let page = self.tracker.lock().active()?;
                Ok(visualwebarena::write(
                    &self.visible_elements(&page).await?,
                    self.launch.device.viewport,
                )
                .1)
            }
        }
    }

    /// The full page, and the scroll offset of the view.
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
        let runs_scripts = self.determinism.is_none();
        if !runs_scripts {
            call("Emulation.setScriptExecutionDisabled", json!({ "value": true })).await?;
        }
        let shot = self.capture(page, params).await;
        if !runs_scripts {
            // The next frame clears the events that the page would have got.
            let shown = self.screenshot_of(page).await;
            call("Emulation.setScriptExecutionDisabled", json!({ "value": false })).await?;
            shown?;
        }
        Ok((shot?, (known("/cssVisualViewport/pageX"), known("/cssVisualViewport/pageY"))))
    }
}
