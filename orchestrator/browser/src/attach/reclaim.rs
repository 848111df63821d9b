//! Taking the pages back from another program, for what is read of them afterwards.
//!
//! ```text
//! its doors and chromedriver end -> its sessions end
//!     -> a new browser context with the episode's cookies -> pages in it
//! ```
//!
//! The changes that the program made stay with its pages: scripts in them, intercepted requests,
//! service workers, storage. So a page that is opened from now on is in a new context, which has
//! only the cookies of the old one. Pages that are open stay as the program has left them.

use serde_json::{Value, json};

use crate::cdp::connection::SessionId;
use crate::cdp::tracker::Page;
use crate::{Error, Session};

impl Session {
    /// Ends the other program's access to the browser. When this returns, nothing that it has sent
    /// is still on its way, and its sessions are gone.
    ///
    /// # Errors
    /// If the browser has ended.
    pub async fn reclaim(&mut self) -> Result<(), Error> {
        let webdriver = self.webdriver.take();
        if self.devtools.take().is_none() && webdriver.is_none() {
            return Ok(());
        }
        if let Some(webdriver) = webdriver {
            webdriver.end().await;
        }
        for session in self.cdp().guests().dismiss() {
            let params = json!({ "sessionId": session });
            match self.cdp().call(None, "Target.detachFromTarget", params).await {
                // It has just gone by itself.
                Ok(_) | Err(Error::Refused { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        self.answer_for_itself().await?;
        let context = self.create_context().await?;
        let cookies = self.cdp().call(None, "Storage.getCookies", json!({})).await?;
        let params = json!({ "browserContextId": context, "cookies": cookies["cookies"] });
        self.cdp().call(None, "Storage.setCookies", params).await?;
        self.clean_context = Some(context);
        Ok(())
    }

    /// From now on nobody else answers dialogs or sees crashes. A dialog that the program has left
    /// open is closed: its page answers nothing until then.
    async fn answer_for_itself(&mut self) -> Result<(), Error> {
        let pages: Vec<SessionId> = {
            let mut state = self.tracker.lock();
            state.externally_driven = false;
            // Those that have crashed have none.
            let pages = state.pages.iter().map(|page| &page.session);
            pages.filter(|page| state.is_attached(page)).cloned().collect()
        };
        for page in pages {
            let params = json!({ "accept": false });
            match self.cdp().call(Some(&page), "Page.handleJavaScriptDialog", params).await {
                // There is none, or the page has just gone.
                Ok(_) | Err(Error::Refused { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// The tab in which a page is opened: this one, or one of the clean context if this one was
    /// another program's.
    pub(crate) async fn clean_page(&self, page: &Page) -> Result<Page, Error> {
        let Some(clean) = &self.clean_context else { return Ok(page.clone()) };
        let params = json!({ "targetId": page.target });
        let info = self.cdp().call(None, "Target.getTargetInfo", params).await?;
        let context = info.pointer("/targetInfo/browserContextId").and_then(Value::as_str);
        if context == Some(clean) { Ok(page.clone()) } else { self.open_tab(Some(clean)).await }
    }
}
