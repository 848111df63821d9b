//! Elements that are named by a CSS selector instead of a bid: `css=[name="comment"]`.
//!
//! Some benchmarks show agents the page's HTML, and their agents name fields by attributes. The
//! selector means the first element that it finds, in the page or else in its frames, parents
//! before children. It finds nothing in shadow roots, as in a page's own script.

use serde_json::json;

use crate::{ActionError, Error, Session, act::element::ElementHandle, cdp::tracker::Page};

/// The prefix of a name that is not a bid.
const PREFIX: &str = "css=";

impl Session {
    /// Finds the element that an action names, by a bid or by a selector.
    pub(crate) async fn resolve_element(
        &self,
        page: &Page,
        name: &str,
    ) -> Result<ElementHandle, ActionError> {
        let Some(selector) = name.strip_prefix(PREFIX) else { return self.element_by_bid(page, name).await };
        let expression = format!("document.querySelector({})", json!(selector));
        let missing = |reason| ActionError::NotFound { bid: name.to_owned(), reason };
        for frame in self.frames(page).await? {
            match self.evaluate_handle(page, &frame.id, &expression).await {
                Ok(Some(handle)) => return Ok(handle),
                Ok(None) => {}
                Err(Error::Script { .. }) => return Err(missing("it is no selector of CSS")),
                // The frame has just gone.
                Err(Error::Refused { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(missing("nothing on the page is like that"))
    }
}
