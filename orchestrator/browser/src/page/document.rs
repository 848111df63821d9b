//! The text, links and DOM digest of a page, for recorders and comparisons.

use std::time::Duration;

use in_flight::InFlight;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::cdp::connection::CALL_TIMEOUT;
use crate::cdp::tracker::Page;
use crate::{Error, Session};

const DIGEST: &str = include_str!("digest.js");
/// How many screens [`Session::scroll_to_end`] scrolls at most. Pages that grow during scrolling
/// may have no end.
const MAX_SCREENS: usize = 60;

impl Session {
    /// SHA-256, in lower-case hexadecimal, over the documents of the active page and of all its
    /// frames.
    pub async fn dom_digest(&mut self) -> Result<String, Error> {
        let mut digest = Sha256::new();
        for (url, document) in self.evaluate_in_all_frames(DIGEST).await? {
            for part in [url.as_str(), document.as_str().unwrap_or_default()] {
                // Each part follows its length, so that no two lists of parts give the same bytes.
                digest.update((part.len() as u64).to_be_bytes());
                digest.update(part);
            }
        }
        Ok(hex::encode(digest.finalize()))
    }

    /// The visible text of the active page, followed by that of its frames.
    pub async fn page_text(&mut self) -> Result<String, Error> {
        let texts =
            self.evaluate_in_all_frames("document.body ? document.body.innerText : ''").await?;
        let texts = texts.iter().filter_map(|(_, text)| text.as_str()).map(str::trim);
        Ok(texts.filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n\n"))
    }

    /// The URL of the active page.
    pub async fn url(&mut self) -> Result<String, Error> {
        let page = self.tracker.lock().active()?;
        Ok(self.frames(&page).await?.first().map(|frame| frame.url.clone()).unwrap_or_default())
    }

    /// The title of the active page.
    pub async fn title(&mut self) -> Result<String, Error> {
        let page = self.tracker.lock().active()?;
        let title =
            self.evaluate_isolated(&page, &page.target, "document.title", CALL_TIMEOUT).await?;
        Ok(title.as_str().unwrap_or_default().to_owned())
    }

    /// Scrolls down screen by screen, and lets what comes into view arrive. Stops at the end, after
    /// `deadline`, or after 60 screens, and returns to the top.
    pub async fn scroll_to_end(
        &mut self,
        in_flight: &InFlight,
        deadline: Duration,
    ) -> Result<(), Error> {
        const STEP: &str = "(() => {
            const before = scrollY;
            scrollBy({ top: Math.max(100, innerHeight * 0.9), behavior: 'instant' });
            return scrollY > before;
        })()";
        let started = std::time::Instant::now();
        for _ in 0..MAX_SCREENS {
            let left = deadline.saturating_sub(started.elapsed());
            if left.is_zero() {
                break;
            }
            let page = self.tracker.lock().active()?;
            let moved = self.evaluate_isolated(&page, &page.target, STEP, CALL_TIMEOUT).await?
                == Value::Bool(true);
            // At the end more may load. Only after the page has settled is it the end.
            if moved {
                self.drain_within(in_flight, left).await?;
            } else {
                self.settle(in_flight, left).await?;
                if self.evaluate_isolated(&page, &page.target, STEP, CALL_TIMEOUT).await?
                    != Value::Bool(true)
                {
                    break;
                }
            }
        }
        let page = self.tracker.lock().active()?;
        let top = "scrollTo({ top: 0, behavior: 'instant' })";
        self.evaluate_isolated(&page, &page.target, top, CALL_TIMEOUT).await?;
        Ok(())
    }

    /// Evaluates an expression in each frame of the active page. Frames that have just gone are
    /// left out.
    async fn evaluate_in_all_frames(
        &mut self,
        expression: &str,
    ) -> Result<Vec<(String, Value)>, Error> {
        let page: Page = self.tracker.lock().active()?;
        let mut values = Vec::new();
        for (i, frame) in self.frames(&page).await?.into_iter().enumerate() {
            match self.evaluate_isolated(&page, &frame.id, expression, CALL_TIMEOUT).await {
                Ok(value) => values.push((frame.url, value)),
                // Only the page's own frame has to be there.
                Err(Error::Refused { .. }) if i > 0 => {}
                Err(error) => return Err(error),
            }
        }
        Ok(values)
    }
}
