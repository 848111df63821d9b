//! Opens and closes tabs, and makes another one the active one.

use serde_json::json;

use crate::cdp::tracker::{BrowserState, Page};
use crate::page::tabs::CHANGE;
use crate::{ActionError, Session};

impl Session {
    /// Opens another empty tab.
    pub(crate) async fn new_tab(&self) -> Result<(), ActionError> {
        let context = match &self.clean_context {
            Some(clean) => Some(clean.clone()),
            None => self.context()?,
        };
        self.open_tab(context.as_deref()).await?;
        Ok(())
    }

    /// Closes a tab. An empty one takes the place of the last.
    pub(crate) async fn close_tab(&self, page: &Page) -> Result<(), ActionError> {
        if self.tracker.lock().pages.len() == 1 {
            self.new_tab().await?;
        }
        let closed = self.cdp().call(Some(&page.session), "Page.close", json!({})).await;
        self.ignore_if_closed(page, closed)?;
        let gone = |state: &BrowserState| (!state.is_open(&page.session)).then_some(());
        Ok(self.tracker.wait_for(CHANGE, |_| "the tab to close".to_owned(), gone).await?)
    }

    /// Makes another tab the active one.
    pub(crate) async fn focus_tab(&self, index: usize) -> Result<(), ActionError> {
        let page = {
            let mut state = self.tracker.lock();
            let Some(page) = state.pages.get(index).cloned() else {
                return Err(ActionError::NoTab { index, tabs: state.pages.len() });
            };
            state.focused_tab = Some(page.session.clone());
            page
        };
        self.cdp().call(Some(&page.session), "Page.bringToFront", json!({})).await?;
        Ok(())
    }
}
