//! The mouse: where an element can be hit, and hitting it.

use serde_json::{Value, json};

use crate::{
    ActionError, Button, Error, Point, Press, Session, element::Handle, input::key, keys, watch::Page,
};

/// Whether what lies at a point is the element, or belongs to it; otherwise what it is.
const IN_FRONT: &str = "function(hit, x, y) {
    if (hit.nodeType !== 9 && !hit.parentNode) {
        const box = this.getBoundingClientRect(), view = this.ownerDocument.defaultView;
        const at = view.parent === view ? [x, y] : [box.x + box.width / 2, box.y + box.height / 2];
        hit = this.getRootNode().elementFromPoint(...at) ?? hit;
    }
    for (let node = hit; node; node = node.parentNode ?? node.host) if (node === this) return null;
    const label = hit.closest?.('label');
    if (label && (label.control === this || label.contains(this))) return null;
    for (let node = this; node; node = node.parentNode ?? node.host) if (node === hit && this.localName === 'option') return null;
    const id = hit.id ? ` id=\"${hit.id}\"` : '';
    return `<${hit.localName ?? '#text'}${id}>`;
}";

impl Session {
    /// Clicks in the middle of the visible part of an element, once it is certain that the element itself is there.
    pub(crate) async fn click(
        &mut self,
        page: &Page,
        bid: &str,
        element: &Handle,
        press: &Press,
    ) -> Result<(), ActionError> {
        let at = self.reach(page, bid, element).await?;
        self.click_at(page, at, press).await
    }

    /// Clicks at a place, whatever is there.
    pub(crate) async fn click_at(
        &mut self,
        page: &Page,
        at: Point,
        press: &Press,
    ) -> Result<(), ActionError> {
        let modifiers = press.modifiers.iter().map(|&modifier| keys::modifier(modifier));
        let modifiers: Vec<_> = modifiers.collect();
        let mut events = Vec::new();
        for (held, bit) in &modifiers {
            self.hands.modifiers |= bit;
            events.push(key("rawKeyDown", held, self.hands.modifiers));
        }
        events.push(self.hands.move_to(at));
        for count in 1..=1 + u32::from(press.twice) {
            events.push(self.hands.press(press.button, count));
            events.push(self.hands.release(press.button, count));
        }
        for (held, bit) in modifiers.iter().rev() {
            self.hands.modifiers &= !bit;
            events.push(key("keyUp", held, self.hands.modifiers));
        }
        self.input(page, events).await
    }

    /// Moves the mouse over the middle of an element.
    pub(crate) async fn hover(
        &mut self,
        page: &Page,
        bid: &str,
        element: &Handle,
    ) -> Result<(), ActionError> {
        let at = self.reach(page, bid, element).await?;
        self.move_mouse(page, at).await
    }

    /// Moves the mouse to a place.
    pub(crate) async fn move_mouse(&mut self, page: &Page, at: Point) -> Result<(), ActionError> {
        let moved = self.hands.move_to(at);
        self.input(page, vec![moved]).await
    }

    /// Moves the mouse to a place, and presses or lets go of a button there.
    pub(crate) async fn hold(
        &mut self,
        page: &Page,
        at: Point,
        button: Button,
        down: bool,
    ) -> Result<(), ActionError> {
        let moved = self.hands.move_to(at);
        let then = if down { self.hands.press(button, 1) } else { self.hands.release(button, 1) };
        self.input(page, vec![moved, then]).await
    }

    /// Gives a checkbox or radio button a tick, or takes it away, by a click if need be.
    pub(crate) async fn tick(
        &mut self,
        page: &Page,
        bid: &str,
        element: &Handle,
        on: bool,
    ) -> Result<(), ActionError> {
        const TICKED: &str = "function() {
            const box = this.localName === 'label' && this.control ? this.control : this;
            if (box.localName === 'input' && ['checkbox', 'radio'].includes(box.type)) return box.checked;
            return { true: true, false: false, mixed: false }[box.getAttribute('aria-checked')] ?? null;
        }";
        let unfit = |reason: &str| ActionError::Unfit { bid: bid.to_owned(), reason: reason.to_owned() };
        let ticked = self.call_on(page, element, TICKED, json!([])).await?;
        let Some(ticked) = ticked.as_bool() else {
            return Err(unfit("it is no checkbox and no radio button"));
        };
        if ticked == on {
            return Ok(());
        }
        self.click(page, bid, element, &Press::default()).await?;
        match self.call_on(page, element, TICKED, json!([])).await {
            Ok(Value::Bool(now)) if now == on => Ok(()),
            // It went away by the click, as it may.
            Err(Error::Refused { .. }) => Ok(()),
            Err(error) => Err(error.into()),
            Ok(_) => Err(unfit("a click did not change its tick")),
        }
    }

    /// Turns the wheel over a place, or where the mouse is.
    pub(crate) async fn wheel(
        &mut self,
        page: &Page,
        at: Option<Point>,
        (dx, dy): (f64, f64),
    ) -> Result<(), ActionError> {
        let at = at.unwrap_or(self.hands.at);
        let turned = self.hands.wheel(at, dx, dy);
        self.input(page, vec![turned]).await
    }

    /// Where an element can be hit, once it is certain that it is there.
    async fn reach(&self, page: &Page, bid: &str, element: &Handle) -> Result<Point, ActionError> {
        let at = self.point(page, bid, element).await?;
        self.uncovered(page, bid, element, at).await?;
        Ok(at)
    }

    /// The middle of what can be seen of an element, after it was scrolled into view.
    pub(crate) async fn point(&self, page: &Page, bid: &str, element: &Handle) -> Result<Point, ActionError> {
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
        let view = self.view(page, &element.frame).await.map_err(unseen)?;
        quads.iter().filter_map(|quad| middle(quad, view)).next().ok_or_else(invisible)
    }

    /// The part of the screen in which what a frame shows can be seen: what all the frames around it leave of it.
    async fn view(&self, page: &Page, frame: &str) -> Result<View, Error> {
        const METHOD: &str = "DOM.getBoxModel";
        let (width, height) = self.launch.device.viewport;
        let mut view = View { x: (0.0, f64::from(width)), y: (0.0, f64::from(height)) };
        for owner in self.bids.around(frame) {
            let model =
                self.cdp().call(Some(&page.session), METHOD, json!({ "backendNodeId": owner })).await?;
            let content = model
                .pointer("/model/content")
                .ok_or(Error::Shape { method: METHOD, field: "model.content" })?;
            view = view.cut(content);
        }
        Ok(view)
    }

    async fn uncovered(
        &self,
        page: &Page,
        bid: &str,
        element: &Handle,
        Point { x, y }: Point,
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
        let hit = match self.object(page, node, element.world).await {
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
        let arguments = json!([{ "objectId": hit }, { "value": x }, { "value": y }]);
        match self.call_on(page, element, IN_FRONT, arguments).await? {
            Value::String(by) => Err(covered(&by)),
            _ => Ok(()),
        }
    }
}

/// A part of the screen: from where to where, across and down.
#[derive(Debug, Clone, Copy, PartialEq)]
struct View {
    x: (f64, f64),
    y: (f64, f64),
}

impl View {
    /// The part of it in which a quad lies: eight numbers, two for each corner.
    fn cut(self, quad: &Value) -> Self {
        let numbers: Vec<f64> = quad.as_array().into_iter().flatten().filter_map(Value::as_f64).collect();
        let span = |axis: usize, (from, to): (f64, f64)| {
            let along = numbers.iter().skip(axis).step_by(2).copied();
            let (low, high) = along.fold((f64::MAX, f64::MIN), |(low, high), n| (low.min(n), high.max(n)));
            (low.max(from), high.min(to))
        };
        Self { x: span(0, self.x), y: span(1, self.y) }
    }
}

/// The middle of the part of a quad that lies in the view, if there is such a part.
fn middle(quad: &Value, view: View) -> Option<Point> {
    let part = view.cut(quad);
    let middle = |(low, high): (f64, f64)| (high - low >= 1.0).then_some(low.midpoint(high));
    Some(Point { x: middle(part.x)?, y: middle(part.y)? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_is_that_of_the_visible_part() {
        let view = View { x: (0.0, 100.0), y: (0.0, 100.0) };
        let quad = |left: f64, top: f64, right: f64, bottom: f64| {
            json!([left, top, right, top, right, bottom, left, bottom])
        };
        assert_eq!(middle(&quad(10.0, 20.0, 30.0, 40.0), view), Some(Point { x: 20.0, y: 30.0 }));
        assert_eq!(middle(&quad(-50.0, 50.0, 50.0, 250.0), view), Some(Point { x: 25.0, y: 75.0 }));
        assert_eq!(middle(&quad(10.0, 20.0, 10.0, 40.0), view), None, "no width");
        assert_eq!(middle(&quad(110.0, 20.0, 130.0, 40.0), view), None, "outside");
        assert_eq!(middle(&json!([]), view), None);
    }
}
