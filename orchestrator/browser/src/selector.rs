//! Elements that are named by a CSS selector instead of a bid: `css=[name="comment"]`.
//!
//! Benchmarks whose agents see the page's HTML name fields by attributes. The first element that the selector finds is meant, in the page
//! itself or else in its frames, parents before children. What lies in shadow roots is not found, as with a selector in a page's own script.

use serde_json::{Value, json};

use crate::{ActionError, Error, Session, element::Handle, watch::Page};

/// Begins the name of an element that is no bid.
const PREFIX: &str = "css=";

impl Session {
    /// Finds the element that an action names, by a bid or by a selector.
    pub(crate) async fn named(&self, page: &Page, name: &str) -> Result<Handle, ActionError> {
        let Some(selector) = name.strip_prefix(PREFIX) else { return self.element(page, name).await };
        let missing = |reason| ActionError::NotFound { bid: name.to_owned(), reason };
        for frame in self.frame_ids(page).await? {
            match self.select_in(page, &frame, selector).await {
                Ok(Some(handle)) => return Ok(handle),
                Ok(None) => {}
                Err(Error::Script { .. }) => return Err(missing("it is no selector of CSS")),
                // The frame went away in the meantime.
                Err(Error::Refused { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(missing("nothing on the page is like that"))
    }

    async fn select_in(&self, page: &Page, frame: &str, selector: &str) -> Result<Option<Handle>, Error> {
        const METHOD: &str = "DOM.describeNode";
        let world = self.world_apart(page, frame).await?;
        let params = json!({
            "expression": format!("document.querySelector({})", json!(selector)),
            "contextId": world,
            "objectGroup": "act",
        });
        let answer = self.cdp().call(Some(&page.session), "Runtime.evaluate", params).await?;
        let object = answer.pointer("/result/objectId").and_then(Value::as_str).map(str::to_owned);
        // An exception has an object, too.
        crate::evaluate::value(answer)?;
        let Some(object) = object else { return Ok(None) };
        let node = self.cdp().call(Some(&page.session), METHOD, json!({ "objectId": object })).await?;
        let node = node.pointer("/node/backendNodeId").and_then(Value::as_i64);
        let node = node.ok_or(Error::Shape { method: METHOD, field: "node.backendNodeId" })?;
        Ok(Some(Handle { object, node, world }))
    }

    /// The page's frames, itself first, without meeting them: who looks for an element gives no letters.
    async fn frame_ids(&self, page: &Page) -> Result<Vec<String>, Error> {
        const METHOD: &str = "Page.getFrameTree";
        let tree = self.cdp().call(Some(&page.session), METHOD, json!({})).await?;
        let mut rest: Vec<&Value> = tree.get("frameTree").into_iter().collect();
        let mut ids = Vec::new();
        while let Some(node) = rest.pop() {
            ids.extend(node.pointer("/frame/id").and_then(Value::as_str).map(str::to_owned));
            rest.extend(node.get("childFrames").and_then(Value::as_array).into_iter().flatten().rev());
        }
        Ok(ids)
    }
}
