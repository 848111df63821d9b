//! Opens URLs, and goes back and forward.

use std::time::Duration;

use serde_json::{Value, json};

use crate::cdp::tracker::Page;
use crate::page::addresses;
use crate::{ActionError, Error, Session};

/// How long the first byte of a document may take.
const NAVIGATION: Duration = Duration::from_secs(60);

impl Session {
    pub(crate) async fn goto(&self, page: &Page, url: &str) -> Result<(), ActionError> {
        let refused = |reason: String| ActionError::Navigation { url: url.to_owned(), reason };
        addresses::for_agents(url).map_err(refused)?;
        let page = self.clean_page(page).await?;
        let params = json!({ "url": url });
        let answer = self
            .cdp()
            .call_within(Some(&page.session), "Page.navigate", params, NAVIGATION)
            .await?;
        match answer.get("errorText").and_then(Value::as_str) {
            // The first two: a download or a response without content, which leaves the tab where
            // it is. The third: a server error without a page, for which the tab shows the
            // browser's own.
            None | Some("net::ERR_ABORTED" | "net::ERR_HTTP_RESPONSE_CODE_FAILURE") => Ok(()),
            Some(reason) => Err(refused(reason.to_owned())),
        }
    }

    /// Goes one step through the history of a tab.
    pub(crate) async fn traverse_history(
        &self,
        page: &Page,
        forward: bool,
    ) -> Result<(), ActionError> {
        const METHOD: &str = "Page.getNavigationHistory";
        let shape = |field| Error::Shape { method: METHOD, field };
        let history = self.cdp().call(Some(&page.session), METHOD, json!({})).await?;
        let current = history
            .get("currentIndex")
            .and_then(Value::as_u64)
            .ok_or_else(|| shape("currentIndex"))?;
        let entries =
            history.get("entries").and_then(Value::as_array).ok_or_else(|| shape("entries"))?;
        let step = if forward { 1 } else { -1 };
        let there = usize::try_from(current)
            .ok()
            .and_then(|current| entries.get(current.checked_add_signed(step)?));
        // The empty page with which every tab begins is not part of the world.
        let there =
            there.filter(|entry| entry.get("url").and_then(Value::as_str) != Some("about:blank"));
        let Some(id) = there.and_then(|entry| entry.get("id")) else {
            return Err(ActionError::NoHistory { forward });
        };
        let before = self.tracker.lock().url_changes;
        self.cdp()
            .call(Some(&page.session), "Page.navigateToHistoryEntry", json!({ "entryId": id }))
            .await?;
        let condition = |_: &_| "the other page to come back".to_owned();
        let arrived =
            |state: &crate::cdp::tracker::BrowserState| (state.url_changes != before).then_some(());
        Ok(self.tracker.wait_for(NAVIGATION, condition, arrived).await?)
    }
}
