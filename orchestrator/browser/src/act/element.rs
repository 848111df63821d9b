//! One element of a page: from its bid to a handle, and its description for scorers.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::cdp::connection::CALL_TIMEOUT;
use crate::cdp::tracker::Page;
use crate::trees::frames::NodeLocation;
use crate::trees::marks;
use crate::{ActionError, Error, Session};

/// The element of the last action, as it was just before the action.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct ActionTarget {
    /// The URL of the page (not of the frame).
    pub page_url: String,
    /// The HTML of the element's document.
    pub page_html: String,
    /// A CSS path that selects the element in its document.
    pub selector: String,
    /// The element's own HTML, cut at 10,000 characters.
    pub element_html: String,
    /// Its content: an input's value, otherwise its text, cut at 1,000 characters. After `fill` and
    /// `select_option` it is the new value.
    pub value: String,
    /// Its bounding box: left, top, width and height in CSS pixels from the upper left corner of
    /// the page's visible part (also for elements in frames), around all of its lines. It may be
    /// outside. `None` if it has no box.
    #[serde(skip)]
    pub bbox: Option<[f64; 4]>,
    /// How far the page (not the frame) was scrolled, to the right and down, in CSS pixels.
    #[serde(skip)]
    pub scroll_offset: [f64; 2],
}

const DESCRIBE: &str = concat!("function() { const described = ", include_str!("described.js"), ";
    const path = [];
    for (let node = this; node && node.nodeType === 1; node = node.parentElement) {
        const tag = node.localName;
        if (node.id && node.getRootNode().querySelectorAll('#' + CSS.escape(node.id)).length === 1) {
            path.unshift('#' + CSS.escape(node.id));
            break;
        }
        const alike = node.parentElement ? [...node.parentElement.children].filter(n => n.localName === tag) : [node];
        path.unshift(alike.length > 1 ? `${tag}:nth-of-type(${alike.indexOf(node) + 1})` : tag);
    }
    const root = this.ownerDocument.documentElement;
    return {
        page_url: '',
        page_html: root ? root.outerHTML : '',
        selector: path.join(' > '),
        element_html: this.outerHTML.slice(0, 10000),
        value: String(this.value ?? this.innerText ?? this.textContent ?? '').slice(0, 1000),
        described: described(this),
    };
}");
/// A node in words.
const DESCRIBED: &str =
    concat!("function() { return (", include_str!("described.js"), ")(this); }");
/// The element that gets the keys, in words.
const FOCUSED: &str = concat!("(() => { let node = document.activeElement;
    for (let inner = node; inner; inner = (node.shadowRoot ?? node.contentDocument)?.activeElement) node = inner;
    return node && (", include_str!("described.js"), ")(node); })()");

/// A remote handle on an element, in an isolated world that the page cannot see.
#[derive(Debug, Clone)]
pub(crate) struct ElementHandle {
    pub(crate) object: String,
    pub(crate) node: i64,
    pub(crate) isolated_world: i64,
    pub(crate) frame: String,
}

impl Session {
    /// The element of the last action, if it had one.
    pub fn action_target(&self) -> Option<&ActionTarget> {
        self.action_target.as_ref()
    }

    /// The element that received the last action: the one under the mouse when it was pressed, or
    /// the one with the focus when keys were. `None` if nothing did, or if that is not known.
    pub fn receiver(&self) -> Option<&str> {
        self.receiver.as_deref()
    }

    /// An element in words, unless it has gone.
    pub(crate) async fn describe(&self, page: &Page, element: &ElementHandle) -> Option<String> {
        let text = self.call_on(page, element, DESCRIBED, json!([])).await.ok()?;
        text.as_str().map(str::to_owned)
    }

    /// The element with the focus in words, if there is one.
    pub(crate) async fn describe_focused(&self, page: &Page) -> Option<String> {
        let text = self.evaluate_isolated(page, &page.target, FOCUSED, CALL_TIMEOUT).await.ok()?;
        text.as_str().map(str::to_owned)
    }

    /// Finds the element that the last observation calls `bid`.
    pub(crate) async fn element_by_bid(
        &self,
        page: &Page,
        bid: &str,
    ) -> Result<ElementHandle, ActionError> {
        let missing = |reason| ActionError::NotFound { bid: bid.to_owned(), reason };
        let place = self.bids.locate(bid);
        let place = place.ok_or_else(|| missing("the last observation shows no such element"))?;
        let gone = |error| match error {
            Error::Refused { .. } => missing("it is no longer on the page"),
            error => ActionError::Browser(error),
        };
        let found = match &place {
            NodeLocation::Marked { frame } => {
                self.evaluate_handle(
                    page,
                    frame,
                    &format!("{}.find({})", marks::script(), json!(bid)),
                )
                .await
            }
            NodeLocation::Node { frame, node } => self.handle(page, frame, *node).await.map(Some),
        };
        let Some(handle) = found.map_err(gone)? else {
            return Err(missing("the last observation shows no such element"));
        };
        // A handle outlives the removal of its element.
        match self
            .call_on(page, &handle, "function() { return this.isConnected; }", json!([]))
            .await?
        {
            Value::Bool(true) => Ok(handle),
            _ => Err(missing("it is no longer on the page")),
        }
    }

    /// A handle on the element that an expression returns in a frame, if it returns one.
    pub(crate) async fn evaluate_handle(
        &self,
        page: &Page,
        frame: &str,
        expression: &str,
    ) -> Result<Option<ElementHandle>, Error> {
        let isolated_world = self.isolated_world(page, frame).await?;
        let params =
            json!({ "expression": expression, "contextId": isolated_world, "objectGroup": "act" });
        let answer = self.cdp().call(Some(&page.session), "Runtime.evaluate", params).await?;
        self.handle_from_reply(page, answer, isolated_world, frame).await
    }

    /// A handle on the element that a function returns for another one as `this`, if it returns
    /// one.
    pub(crate) async fn related_element(
        &self,
        page: &Page,
        element: &ElementHandle,
        function: &str,
        arguments: Value,
    ) -> Result<Option<ElementHandle>, Error> {
        let params = json!({
            "objectId": element.object,
            "functionDeclaration": function,
            "arguments": arguments,
            "objectGroup": "act",
        });
        match self.cdp().call(Some(&page.session), "Runtime.callFunctionOn", params).await {
            Ok(answer) => {
                self.handle_from_reply(page, answer, element.isolated_world, &element.frame).await
            }
            // It has gone.
            Err(Error::Refused { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The handle in a script's reply.
    async fn handle_from_reply(
        &self,
        page: &Page,
        answer: Value,
        isolated_world: i64,
        frame: &str,
    ) -> Result<Option<ElementHandle>, Error> {
        const METHOD: &str = "DOM.describeNode";
        let object = answer.pointer("/result/objectId").and_then(Value::as_str).map(str::to_owned);
        // An exception has an object, too.
        crate::page::evaluate::value(answer)?;
        let Some(object) = object else { return Ok(None) };
        let node =
            self.cdp().call(Some(&page.session), METHOD, json!({ "objectId": object })).await?;
        let node = node.pointer("/node/backendNodeId").and_then(Value::as_i64);
        let node = node.ok_or(Error::Shape { method: METHOD, field: "node.backendNodeId" })?;
        Ok(Some(ElementHandle { object, node, isolated_world, frame: frame.to_owned() }))
    }

    /// A handle on a node of a frame.
    async fn handle(&self, page: &Page, frame: &str, node: i64) -> Result<ElementHandle, Error> {
        let isolated_world = self.isolated_world(page, frame).await?;
        let object = self.resolve_node(page, node, isolated_world).await?;
        Ok(ElementHandle { object, node, isolated_world, frame: frame.to_owned() })
    }

    /// The object id of a node in an isolated world.
    pub(crate) async fn resolve_node(
        &self,
        page: &Page,
        node: i64,
        isolated_world: i64,
    ) -> Result<String, Error> {
        const METHOD: &str = "DOM.resolveNode";
        let params = json!({ "backendNodeId": node, "executionContextId": isolated_world, "objectGroup": "act" });
        let answer = self.cdp().call(Some(&page.session), METHOD, params).await?;
        let object = answer.pointer("/object/objectId").and_then(Value::as_str);
        Ok(object.ok_or(Error::Shape { method: METHOD, field: "object.objectId" })?.to_owned())
    }

    /// Calls a function with an element as `this`.
    pub(crate) async fn call_on(
        &self,
        page: &Page,
        element: &ElementHandle,
        function: &str,
        arguments: Value,
    ) -> Result<Value, Error> {
        let params = json!({
            "objectId": element.object,
            "functionDeclaration": function,
            "arguments": arguments,
            "returnByValue": true,
            "awaitPromise": true,
        });
        let answer = self.cdp().call(Some(&page.session), "Runtime.callFunctionOn", params).await?;
        crate::page::evaluate::value(answer)
    }

    /// Describes an element for scorers, and in words.
    pub(crate) async fn describe_target(
        &self,
        page: &Page,
        element: &ElementHandle,
    ) -> Result<(ActionTarget, Option<String>), Error> {
        let call = |method, params| self.cdp().call(Some(&page.session), method, params);
        let (action_target, url, quads, metrics) = tokio::join!(
            self.call_on(page, element, DESCRIBE, json!([])),
            call("Target.getTargetInfo", json!({ "targetId": page.target })),
            call("DOM.getContentQuads", json!({ "backendNodeId": element.node })),
            call("Page.getLayoutMetrics", json!({})),
        );
        let action_target = action_target?;
        let described = action_target.get("described").and_then(Value::as_str).map(str::to_owned);
        let mut action_target: ActionTarget =
            serde_json::from_value(action_target).map_err(|_| Error::Shape {
                method: "Runtime.callFunctionOn",
                field: "the element's description",
            })?;
        action_target.page_url =
            url?.pointer("/targetInfo/url").and_then(Value::as_str).unwrap_or_default().to_owned();
        action_target.bbox = match quads {
            Ok(quads) => bounding_box(&quads),
            // It has no box.
            Err(Error::Refused { .. }) => None,
            Err(error) => return Err(error),
        };
        let metrics = metrics?;
        action_target.scroll_offset = ["pageX", "pageY"].map(|axis| {
            metrics
                .pointer(&format!("/cssVisualViewport/{axis}"))
                .and_then(Value::as_f64)
                .unwrap_or(0.0)
        });
        Ok((action_target, described))
    }
}

/// The box around quads of eight numbers each, two for each corner; `None` if it has no extent.
fn bounding_box(answer: &Value) -> Option<[f64; 4]> {
    let quads = answer.get("quads")?.as_array()?;
    let numbers: Vec<f64> =
        quads.iter().filter_map(Value::as_array).flatten().filter_map(Value::as_f64).collect();
    let span = |axis: usize| {
        let along = numbers.iter().skip(axis).step_by(2).copied();
        along.fold((f64::MAX, f64::MIN), |(low, high), n| (low.min(n), high.max(n)))
    };
    let ((left, right), (top, bottom)) = (span(0), span(1));
    (right > left && bottom > top).then_some([left, top, right - left, bottom - top])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_box_is_around_all_lines_of_an_element() {
        let quads = json!({ "quads": [
            [80.0, 10.0, 120.0, 10.0, 120.0, 30.0, 80.0, 30.0],
            [0.0, 30.0, 40.0, 30.0, 40.0, 50.0, 0.0, 50.0],
        ] });
        assert_eq!(bounding_box(&quads), Some([0.0, 10.0, 120.0, 40.0]));
        assert_eq!(bounding_box(&json!({ "quads": [] })), None);
        assert_eq!(
            bounding_box(&json!({ "quads": [[5.0, 5.0, 5.0, 5.0, 5.0, 9.0, 5.0, 9.0]] })),
            None,
            "no width"
        );
    }
}
