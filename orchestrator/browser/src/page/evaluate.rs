//! Scripts that are not the page's. Ours run in an isolated world of a frame, where they see the
//! page's elements and the page does not see them. Those of a task run in the page's own world.

use std::time::Duration;

use serde_json::{Value, json};

use crate::cdp::tracker::Page;
use crate::{Error, Session};

impl Session {
    /// The id of the isolated world of a frame. The first use in each document creates it.
    pub(crate) async fn isolated_world(&self, page: &Page, frame: &str) -> Result<i64, Error> {
        const METHOD: &str = "Page.createIsolatedWorld";
        let params = json!({ "frameId": frame, "worldName": "sandbox" });
        let isolated_world = self.cdp().call(Some(&page.session), METHOD, params).await?;
        isolated_world
            .get("executionContextId")
            .and_then(Value::as_i64)
            .ok_or(Error::Shape { method: METHOD, field: "executionContextId" })
    }

    /// Evaluates an expression in the isolated world of a frame.
    pub(crate) async fn evaluate_isolated(
        &self,
        page: &Page,
        frame: &str,
        expression: &str,
        limit: Duration,
    ) -> Result<Value, Error> {
        let isolated_world = self.isolated_world(page, frame).await?;
        self.evaluate_in(page, isolated_world, expression, limit).await
    }

    /// Evaluates an expression in an isolated world of this id.
    pub(crate) async fn evaluate_in(
        &self,
        page: &Page,
        isolated_world: i64,
        expression: &str,
        limit: Duration,
    ) -> Result<Value, Error> {
        let params = json!({
            "expression": expression,
            "contextId": isolated_world,
            "awaitPromise": true,
            "returnByValue": true,
        });
        value(self.cdp().call_within(Some(&page.session), "Runtime.evaluate", params, limit).await?)
    }
}

impl Session {
    /// Evaluates a script in the active page as one of the page's own: it sees the page's
    /// variables, and the page sees its effects. Returns its last value as JSON. An exception is
    /// [`Error::Script`]. Promises are not awaited, because the page's time stands still meanwhile.
    pub async fn evaluate(&self, script: &str) -> Result<Value, Error> {
        let page = self.tracker.lock().active()?;
        let params = json!({ "expression": script, "returnByValue": true });
        value(self.cdp().call(Some(&page.session), "Runtime.evaluate", params).await?)
    }
}

/// The value of a script, or its exception.
pub(crate) fn value(mut answer: Value) -> Result<Value, Error> {
    if let Some(thrown) = answer.get("exceptionDetails") {
        let text = thrown.pointer("/exception/description").or(thrown.get("text"));
        let message = text.and_then(Value::as_str).unwrap_or("an exception").to_owned();
        return Err(Error::Script { message });
    }
    Ok(answer.pointer_mut("/result/value").map(Value::take).unwrap_or_default())
}
