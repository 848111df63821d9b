//! Scrolling the page itself, by script: the wheel moves whatever lies under the mouse, and agents that scroll "the page" mean another thing.

use serde_json::json;

use crate::{ActionError, Session, act::element::ElementHandle, cdp::tracker::Page};

impl Session {
    /// Scrolls the document of the page by heights of the window, downwards.
    pub(crate) async fn scroll_page(&self, page: &Page, by: f64) -> Result<(), ActionError> {
        // Its promise is kept when a frame is drawn, which is none of our business here.
        let expression = format!(
            "void (document.scrollingElement ?? document.documentElement)?.scrollBy({{ top: {by} * innerHeight, behavior: 'instant' }})"
        );
        self.evaluate_isolated(page, &page.target, &expression, crate::cdp::connection::CALL_TIMEOUT).await?;
        Ok(())
    }

    /// Scrolls until an element is in the middle of what can be seen.
    pub(crate) async fn scroll_to(&self, page: &Page, element: &ElementHandle) -> Result<(), ActionError> {
        const CENTRE: &str =
            "function() { this.scrollIntoView({ behavior: 'instant', block: 'center', inline: 'center' }); }";
        self.call_on(page, element, CENTRE, json!([])).await?;
        Ok(())
    }
}
