//! Elements that are named by a CSS selector instead of a bid: `css=[name="comment"]`.
//!
//! Some benchmarks show agents the page's HTML, and their agents name fields by attributes. The
//! selector means the first element that it finds, in the page or else in its frames, parents
//! before children. It finds nothing in shadow roots, as in a page's own script.
//!
//! ` >> ` goes into an element, as in Playwright: `#card >> button` is a button in the shadow root
//! of `#card`, and `iframe:nth-of-type(2) >> #name` a field of the second frame.

use serde_json::{Value, json};

use crate::act::element::ElementHandle;
use crate::cdp::tracker::Page;
use crate::{ActionError, Error, Session};

/// The prefix of a name that is not a bid.
const PREFIX: &str = "css=";
/// Goes into the element that was found so far.
const INSIDE: &str = " >> ";
const INVALID: &str = "it is no selector of CSS";
/// Looks in the shadow root of an element, or else in the element itself.
const FIND_INSIDE: &str =
    "function(selector) { return (this.shadowRoot ?? this).querySelector(selector); }";

impl Session {
    /// Finds the element that an action names, by a bid or by a selector.
    pub(crate) async fn resolve_element(
        &self,
        page: &Page,
        name: &str,
    ) -> Result<ElementHandle, ActionError> {
        let Some(selector) = name.strip_prefix(PREFIX) else {
            return self.element_by_bid(page, name).await;
        };
        let mut parts = selector.split(INSIDE);
        let mut element = self.find(page, name, parts.next().unwrap_or_default()).await?;
        for part in parts {
            element = self.find_inside(page, name, &element, part).await?;
        }
        Ok(element)
    }

    /// Finds the first element like that, in the page or else in its frames.
    async fn find(
        &self,
        page: &Page,
        name: &str,
        selector: &str,
    ) -> Result<ElementHandle, ActionError> {
        let missing = |reason| ActionError::NotFound { bid: name.to_owned(), reason };
        for frame in self.frames(page).await? {
            match self.evaluate_handle(page, &frame.id, &query(selector)).await {
                Ok(Some(handle)) => return Ok(handle),
                Ok(None) => {}
                Err(Error::Script { .. }) => return Err(missing(INVALID)),
                // The frame has just gone.
                Err(Error::Refused { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(missing("nothing on the page is like that"))
    }

    /// Finds the first element like that in the frame or the shadow root that an element shows.
    async fn find_inside(
        &self,
        page: &Page,
        name: &str,
        outer: &ElementHandle,
        selector: &str,
    ) -> Result<ElementHandle, ActionError> {
        let missing = |reason| ActionError::NotFound { bid: name.to_owned(), reason };
        let params = json!({ "objectId": outer.object });
        let node = self.cdp().call(Some(&page.session), "DOM.describeNode", params).await?;
        let found = match node.pointer("/node/frameId").and_then(Value::as_str) {
            Some(frame) => self.evaluate_handle(page, frame, &query(selector)).await,
            None => {
                let arguments = json!([{ "value": selector }]);
                self.related_element(page, outer, FIND_INSIDE, arguments).await
            }
        };
        match found {
            Ok(Some(handle)) => Ok(handle),
            Err(Error::Script { .. }) => Err(missing(INVALID)),
            // The frame has just gone, or is another site's.
            Ok(None) | Err(Error::Refused { .. }) => {
                Err(missing("nothing in that element is like that"))
            }
            Err(error) => Err(error.into()),
        }
    }
}

fn query(selector: &str) -> String {
    format!("document.querySelector({})", json!(selector))
}
