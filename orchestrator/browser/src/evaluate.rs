//! Scripts of ours in a world of their own within a frame: they see the page's elements, the page does not see them.

use std::time::Duration;

use serde_json::{Value, json};

use crate::{Error, Session, watch::Page};

impl Session {
    /// The number of that world in a frame; made at the first use in each document.
    pub(crate) async fn world_apart(&self, page: &Page, frame: &str) -> Result<i64, Error> {
        const METHOD: &str = "Page.createIsolatedWorld";
        let params = json!({ "frameId": frame, "worldName": "sandbox" });
        let world = self.cdp().call(Some(&page.session), METHOD, params).await?;
        world
            .get("executionContextId")
            .and_then(Value::as_i64)
            .ok_or(Error::Shape { method: METHOD, field: "executionContextId" })
    }

    /// Evaluates an expression there and returns its value.
    pub(crate) async fn evaluate_apart(
        &self,
        page: &Page,
        frame: &str,
        expression: &str,
        limit: Duration,
    ) -> Result<Value, Error> {
        let world = self.world_apart(page, frame).await?;
        let params = json!({
            "expression": expression,
            "contextId": world,
            "awaitPromise": true,
            "returnByValue": true,
        });
        value(self.cdp().call_within(Some(&page.session), "Runtime.evaluate", params, limit).await?)
    }
}

/// The value that a script returned, or the exception that it threw.
pub(crate) fn value(answer: Value) -> Result<Value, Error> {
    if let Some(thrown) = answer.get("exceptionDetails") {
        let text = thrown.pointer("/exception/description").or(thrown.get("text"));
        let message = text.and_then(Value::as_str).unwrap_or("an exception").to_owned();
        return Err(Error::Script { message });
    }
    Ok(answer.pointer("/result/value").cloned().unwrap_or(Value::Null))
}
