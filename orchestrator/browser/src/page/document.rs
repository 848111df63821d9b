//! What a recorder and a comparison want to know of a page: its text, its links, and a digest of its document.

use std::time::Duration;

use serde_json::Value;
use sha2::{Digest as _, Sha256};

use gateway::Activity;

use crate::{
    Error, Session,
    cdp::{connection::CALL, tracker::Page},
};

const DIGEST: &str = include_str!("digest.js");
/// How many screens [`Session::scroll_to_end`] goes down at most: pages that grow as they are scrolled may have no end.
const SCREENS: usize = 60;

impl Session {
    /// SHA-256, in lower-case hexadecimal, over the documents of the active page and of all its frames.
    pub async fn dom_digest(&mut self) -> Result<String, Error> {
        let mut digest = Sha256::new();
        for (url, document) in self.in_frames(DIGEST).await? {
            for part in [url.as_str(), document.as_str().unwrap_or_default()] {
                // Each part after its length, so that no two lists of parts read alike.
                digest.update((part.len() as u64).to_be_bytes());
                digest.update(part);
            }
        }
        Ok(hex::encode(digest.finalize()))
    }

    /// The visible text of the active page, frames after it.
    pub async fn page_text(&mut self) -> Result<String, Error> {
        let texts = self.in_frames("document.body ? document.body.innerText : ''").await?;
        let texts = texts.iter().filter_map(|(_, text)| text.as_str()).map(str::trim);
        Ok(texts.filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n\n"))
    }

    /// The address of the active page.
    pub async fn url(&mut self) -> Result<String, Error> {
        let page = self.watch.lock().active()?;
        Ok(self.frames(&page).await?.first().map(|frame| frame.url.clone()).unwrap_or_default())
    }

    /// The title of the active page.
    pub async fn title(&mut self) -> Result<String, Error> {
        let page = self.watch.lock().active()?;
        let title = self.evaluate_apart(&page, &page.target, "document.title", CALL).await?;
        Ok(title.as_str().unwrap_or_default().to_owned())
    }

    /// Where the active page's links lead: absolute http(s) addresses without fragments, each once, in document order.
    pub async fn links(&mut self) -> Result<Vec<String>, Error> {
        const LINKS: &str = "[...new Set([...document.querySelectorAll('a[href], area[href]')]
            .map(link => String(link.href).split('#')[0]).filter(href => /^https?:/.test(href)))]";
        let page = self.watch.lock().active()?;
        let links = self.evaluate_apart(&page, &page.target, LINKS, CALL).await?;
        let links = links.as_array().into_iter().flatten();
        Ok(links.filter_map(Value::as_str).map(str::to_owned).collect())
    }

    /// Scrolls down screen by screen, letting what comes into view arrive, until the end, `deadline`, or 60 screens; then back to the top.
    pub async fn scroll_to_end(&mut self, activity: &Activity, deadline: Duration) -> Result<(), Error> {
        const STEP: &str = "(() => {
            const before = scrollY;
            scrollBy({ top: Math.max(100, innerHeight * 0.9), behavior: 'instant' });
            return scrollY > before;
        })()";
        let started = std::time::Instant::now();
        for _ in 0..SCREENS {
            let left = deadline.saturating_sub(started.elapsed());
            if left.is_zero() {
                break;
            }
            let page = self.watch.lock().active()?;
            let moved = self.evaluate_apart(&page, &page.target, STEP, CALL).await? == Value::Bool(true);
            // At the end there may be more to come; only when that has settled is it the end.
            if moved {
                self.rest_a_while(activity, left).await?;
            } else {
                self.settle(activity, left).await?;
                if self.evaluate_apart(&page, &page.target, STEP, CALL).await? != Value::Bool(true) {
                    break;
                }
            }
        }
        let page = self.watch.lock().active()?;
        let top = "scrollTo({ top: 0, behavior: 'instant' })";
        self.evaluate_apart(&page, &page.target, top, CALL).await?;
        Ok(())
    }

    /// Evaluates an expression in each frame of the active page; frames that go away meanwhile are left out.
    async fn in_frames(&mut self, expression: &str) -> Result<Vec<(String, Value)>, Error> {
        let page: Page = self.watch.lock().active()?;
        let mut values = Vec::new();
        for (i, frame) in self.frames(&page).await?.into_iter().enumerate() {
            match self.evaluate_apart(&page, &frame.id, expression, CALL).await {
                Ok(value) => values.push((frame.url, value)),
                Err(Error::Refused { .. }) if i > 0 => {}
                Err(error) => return Err(error),
            }
        }
        Ok(values)
    }
}
