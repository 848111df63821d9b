//! Scrolls the page itself, by a script. The wheel scrolls whatever is under the mouse, and agents
//! that scroll "the page" do not mean that.

use serde_json::json;

use crate::act::element::ElementHandle;
use crate::cdp::tracker::Page;
use crate::{ActionError, Session};

impl Session {
    /// Scrolls the page's document down, by a multiple of the window's height.
    pub(crate) async fn scroll_page(&self, page: &Page, by: f64) -> Result<(), ActionError> {
        // The promise of `scrollBy` waits for a frame, and is not needed.
        let expression = format!(
            "void (document.scrollingElement ?? document.documentElement)?.scrollBy({{ top: {by} * innerHeight, behavior: 'instant' }})"
        );
        self.evaluate_isolated(
            page,
            &page.target,
            &expression,
            crate::cdp::connection::CALL_TIMEOUT,
        )
        .await?;
        Ok(())
    }

    /// Scrolls until an element is in the centre of the view.
    pub(crate) async fn scroll_to(
        &self,
        page: &Page,
        element: &ElementHandle,
    ) -> Result<(), ActionError> {
        const CENTRE: &str = "function() { this.scrollIntoView({ behavior: 'instant', block: 'center', inline: 'center' }); }";
        self.call_on(page, element, CENTRE, json!([])).await?;
        Ok(())
    }
}
