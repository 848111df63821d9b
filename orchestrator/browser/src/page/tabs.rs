//! Tabs: opening, and which one is active.

use std::time::Duration;

use serde_json::{Value, json};

use crate::cdp::targets::with_browser_context;
use crate::cdp::tracker::{BrowserState, Page};
use crate::{Error, Session};

/// How long a tab may take to open or to close.
pub(crate) const CHANGE: Duration = Duration::from_secs(30);

impl Session {
    /// Opens an empty tab in a browser context, or in the browser's own profile, and waits until it
    /// is prepared.
    pub(crate) async fn open_tab(&self, context: Option<&str>) -> Result<Page, Error> {
        const METHOD: &str = "Target.createTarget";
        let mut params = with_browser_context(json!({ "url": "about:blank" }), context);
        // In a headed browser, a page must not become a tab of the existing window.
        let own_window = !self.launch.headless && context.is_none();
        if own_window {
            params["newWindow"] = json!(true);
        }
        // Only a new window has a size of its own. In Chromium a second tab has the size of the
        // first one.
        if own_window || self.begin_frame_control() || self.tracker.lock().pages.is_empty() {
            let (width, height) = self.launch.device.viewport;
            params["width"] = json!(width);
            params["height"] = json!(height);
        }
        if self.begin_frame_control() {
            params["enableBeginFrameControl"] = json!(true);
        }
        let created = self.cdp().call(None, METHOD, params).await?;
        let target = created
            .get("targetId")
            .and_then(Value::as_str)
            .ok_or(Error::Shape { method: METHOD, field: "targetId" })?;
        let opened =
            |state: &BrowserState| state.pages.iter().find(|page| page.target == target).cloned();
        let page =
            self.tracker.wait_for(CHANGE, |_| "a new tab to open".to_owned(), opened).await?;
        // This is answered only after all commands that prepare the page.
        self.cdp()
            .call(Some(&page.session), "Runtime.evaluate", json!({ "expression": "0" }))
            .await?;
        Ok(page)
    }

    /// Whether a tab has no document yet: its URL leads to a download or to another program, or has
    /// no response so far. Chromium draws no frame of such a tab.
    pub(crate) async fn has_no_document(&self, page: &Page) -> Result<bool, Error> {
        if !self.tracker.lock().without_document.contains(&page.session) {
            return Ok(false);
        }
        let without_document = match self.frames(page).await {
            Ok(frames) => frames.first().is_some_and(|frame| frame.url.is_empty()),
            // It has just closed.
            Err(Error::Refused { .. }) => false,
            Err(error) => return Err(error),
        };
        if !without_document {
            self.tracker.lock().without_document.remove(&page.session);
        }
        Ok(without_document)
    }

    /// Opens an empty document in a tab that will not get another one. Returns whether that was
    /// necessary.
    pub(crate) async fn load_blank_document(&self, page: &Page) -> Result<bool, Error> {
        if !self.has_no_document(page).await? || self.tracker.lock().traffic.navigation_count() > 0
        {
            return Ok(false);
        }
        self.tracker.lock().without_document.remove(&page.session);
        match self
            .cdp()
            .call(Some(&page.session), "Page.navigate", json!({ "url": "about:blank" }))
            .await
        {
            Ok(_) | Err(Error::Refused { .. }) => Ok(true),
            Err(error) => Err(error),
        }
    }

    /// The tab on which actions are carried out, by the name that a capture tells; `None` where all
    /// were closed.
    pub fn active_tab(&self) -> Option<String> {
        self.tracker.lock().active().ok().map(|page| page.target)
    }

    /// Closes every tab but the first, which becomes the active one. Pages are not asked whether
    /// they want to be left.
    ///
    /// # Errors
    /// When the browser has ended, or a tab does not close in time.
    pub async fn keep_first_tab(&self) -> Result<(), Error> {
        let mut pages = self.tracker.lock().pages.clone().into_iter();
        let Some(first) = pages.next() else { return Ok(()) };
        self.tracker.lock().focused_tab = Some(first.session.clone());
        for page in pages {
            let closed = self
                .cdp()
                .call(None, "Target.closeTarget", json!({ "targetId": page.target }))
                .await;
            match closed {
                // It has just closed.
                Ok(_) | Err(Error::Refused { .. }) => {}
                Err(error) => return Err(error),
            }
            let gone = |state: &BrowserState| (!state.is_open(&page.session)).then_some(());
            self.tracker.wait_for(CHANGE, |_| "a tab to close".to_owned(), gone).await?;
        }
        self.cdp().call(Some(&first.session), "Page.bringToFront", json!({})).await?;
        Ok(())
    }
}
