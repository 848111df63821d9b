//! The mouse: where an element can be hit, and hitting it.

use serde_json::{Value, json};

use crate::{ActionError, Error, Session, element::Handle, watch::Page};

/// Whether what lies at a point is the element, or belongs to it; otherwise what it is.
const IN_FRONT: &str = "function(hit, x, y) {
    if (hit.nodeType !== 9 && !hit.parentNode) {
        const box = this.getBoundingClientRect(), view = this.ownerDocument.defaultView;
        const at = view.parent === view ? [x, y] : [box.x + box.width / 2, box.y + box.height / 2];
        hit = this.getRootNode().elementFromPoint(...at) ?? hit;
    }
    for (let node = hit; node; node = node.parentNode ?? node.host) if (node === this) return null;
    if (hit.closest?.('label')?.control === this) return null;
    for (let node = this; node; node = node.parentNode ?? node.host) if (node === hit && this.localName === 'option') return null;
    const id = hit.id ? ` id=\"${hit.id}\"` : '';
    return `<${hit.localName ?? '#text'}${id}>`;
}";

impl Session {
    /// Clicks in the middle of the visible part of an element, once it is certain that the element itself is there.
    pub(crate) async fn click(&self, page: &Page, bid: &str, element: &Handle) -> Result<(), ActionError> {
        let (x, y) = self.point(page, bid, element).await?;
        self.uncovered(page, bid, element, x, y).await?;
        let event = |kind: &str, button: &str, buttons: u32, count: u32| {
            let params = json!({ "type": kind, "x": x, "y": y, "button": button, "buttons": buttons, "clickCount": count });
            self.cdp().call(Some(&page.session), "Input.dispatchMouseEvent", params)
        };
        let moved = event("mouseMoved", "none", 0, 0);
        let pressed = event("mousePressed", "left", 1, 1);
        let released = event("mouseReleased", "left", 0, 1);
        // Sent at once: between two of them nothing else should happen.
        let (moved, pressed, released) = tokio::join!(moved, pressed, released);
        for result in [moved, pressed, released] {
            self.unless_closed(page, result)?;
        }
        Ok(())
    }

    /// Turns the wheel over the middle of the page.
    pub(crate) async fn wheel(&self, page: &Page, dx: f64, dy: f64) -> Result<(), ActionError> {
        let (width, height) = self.launch.viewport;
        let params = json!({
            "type": "mouseWheel",
            "x": width / 2,
            "y": height / 2,
            "deltaX": dx,
            "deltaY": dy,
        });
        let turned = self.cdp().call(Some(&page.session), "Input.dispatchMouseEvent", params).await;
        self.unless_closed(page, turned)
    }

    /// An input that closes its own tab has no answer, and worked.
    pub(crate) fn unless_closed(&self, page: &Page, result: Result<Value, Error>) -> Result<(), ActionError> {
        match result {
            Err(Error::Refused { .. }) if !self.watch.lock().is_open(&page.session) => Ok(()),
            result => Ok(result.map(|_| ())?),
        }
    }

    /// The middle of what can be seen of an element, after it was scrolled into view.
    async fn point(&self, page: &Page, bid: &str, element: &Handle) -> Result<(f64, f64), ActionError> {
        let invisible = || ActionError::Invisible { bid: bid.to_owned() };
        let node = json!({ "backendNodeId": element.node });
        let unseen = |error| match error {
            // It has no box.
            Error::Refused { .. } => invisible(),
            error => ActionError::Browser(error),
        };
        self.cdp()
            .call(Some(&page.session), "DOM.scrollIntoViewIfNeeded", node.clone())
            .await
            .map_err(unseen)?;
        let answer =
            self.cdp().call(Some(&page.session), "DOM.getContentQuads", node).await.map_err(unseen)?;
        let quads = answer.get("quads").and_then(Value::as_array).ok_or_else(invisible)?;
        let view = (f64::from(self.launch.viewport.0), f64::from(self.launch.viewport.1));
        quads.iter().filter_map(|quad| middle(quad, view)).next().ok_or_else(invisible)
    }

    async fn uncovered(
        &self,
        page: &Page,
        bid: &str,
        element: &Handle,
        x: f64,
        y: f64,
    ) -> Result<(), ActionError> {
        let metrics = self.cdp().call(Some(&page.session), "Page.getLayoutMetrics", json!({})).await?;
        let scrolled = |axis: &str| {
            metrics.pointer(&format!("/cssVisualViewport/{axis}")).and_then(Value::as_f64).unwrap_or(0.0)
        };
        // Asked in coordinates of the document, and in whole pixels.
        #[expect(clippy::cast_possible_truncation, reason = "a coordinate on the screen")]
        let (down, right) = ((y + scrolled("pageY")) as i64, (x + scrolled("pageX")) as i64);
        let params = json!({ "x": right, "y": down, "includeUserAgentShadowDOM": false });
        let hit = match self.cdp().call(Some(&page.session), "DOM.getNodeForLocation", params).await {
            Ok(hit) => hit,
            // Nothing but the page's background is there, so nothing is in front.
            Err(Error::Refused { .. }) => return Ok(()),
            Err(error) => return Err(error.into()),
        };
        let Some(node) = hit.get("backendNodeId").and_then(Value::as_i64) else { return Ok(()) };
        if node == element.node {
            return Ok(());
        }
        let covered = |by: &str| ActionError::Obstructed { bid: bid.to_owned(), by: by.to_owned() };
        // A node of another frame cannot be named in the element's world.
        let hit = match self.handle(page, node, element.world).await {
            Ok(hit) => hit,
            Err(Error::Refused { .. }) => {
                let inside = self.call_on(page, element, "function() { return this.localName; }", json!([]));
                return match inside.await?.as_str() {
                    Some("iframe" | "frame" | "object" | "embed") => Ok(()),
                    _ => Err(covered("another frame")),
                };
            }
            Err(error) => return Err(error.into()),
        };
        let arguments = json!([{ "objectId": hit.object }, { "value": x }, { "value": y }]);
        match self.call_on(page, element, IN_FRONT, arguments).await? {
            Value::String(by) => Err(covered(&by)),
            _ => Ok(()),
        }
    }
}

/// The middle of the part of a quad that lies in the view, if there is such a part.
fn middle(quad: &Value, (width, height): (f64, f64)) -> Option<(f64, f64)> {
    let numbers: Vec<f64> = quad.as_array()?.iter().filter_map(Value::as_f64).collect();
    let span = |axis: usize, most: f64| {
        let along = numbers.iter().skip(axis).step_by(2).copied();
        let (low, high) = along.fold((f64::MAX, f64::MIN), |(low, high), n| (low.min(n), high.max(n)));
        let (low, high) = (low.max(0.0), high.min(most));
        (high - low >= 1.0).then_some(low.midpoint(high))
    };
    Some((span(0, width)?, span(1, height)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_is_that_of_the_visible_part() {
        let view = (100.0, 100.0);
        let quad = |left: f64, top: f64, right: f64, bottom: f64| {
            json!([left, top, right, top, right, bottom, left, bottom])
        };
        assert_eq!(middle(&quad(10.0, 20.0, 30.0, 40.0), view), Some((20.0, 30.0)));
        assert_eq!(middle(&quad(-50.0, 50.0, 50.0, 250.0), view), Some((25.0, 75.0)));
        assert_eq!(middle(&quad(10.0, 20.0, 10.0, 40.0), view), None, "no width");
        assert_eq!(middle(&quad(110.0, 20.0, 130.0, 40.0), view), None, "outside");
        assert_eq!(middle(&json!([]), view), None);
    }
}
