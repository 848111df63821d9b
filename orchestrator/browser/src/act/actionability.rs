//! Where the mouse can hit an element: scrolled into view, with nothing else in front of it.
//!
//! Pages have headers and bars that stay in place while the page scrolls. An element under one of
//! them is scrolled to other positions, in the order in which Playwright tries them
//! (`_retryPointerAction` in its `server/dom.ts`), with the same waits in between, in the page's
//! own time. It gives up after as many attempts as Playwright makes within the 500 ms of
//! BrowserGym's timeout. A hidden check box or radio button is clicked through its label, as people
//! do it.

use std::time::Duration;

use serde_json::{Value, json};

use crate::{ActionError, Error, Point, Session, act::element::ElementHandle, cdp::tracker::Page};

/// The attempts. Before each, the page's time runs on for the given duration, and the element is
/// scrolled to the given edge of the view. `None` scrolls it only if it is out of view.
const ATTEMPTS: [(Duration, Option<&str>); 5] = [
    (Duration::ZERO, None),
    (Duration::ZERO, Some("end")),
    (Duration::from_millis(20), Some("center")),
    (Duration::from_millis(100), Some("start")),
    (Duration::from_millis(100), None),
];
/// How many labels of one box are tried. It seldom has more than one.
const LABELS: usize = 3;

const SCROLL: &str =
    "function(place) { this.scrollIntoView({ block: place, inline: place, behavior: 'instant' }); }";

/// The n-th label of a check box or radio button.
const LABEL: &str = "function(n) {
    const ticked = this.localName === 'input' && ['checkbox', 'radio'].includes(this.type);
    return ticked && !this.disabled ? this.labels[n] ?? null : null;
}";

/// Returns null if the node at a point is the element, or belongs to it; otherwise the name of the
/// node. A label that stands for its box is not hit where something else in it would be clicked.
const OBSTRUCTION: &str = "function(hit, x, y, forBox) {
    if (hit.nodeType !== 9 && !hit.parentNode) {
        const box = this.getBoundingClientRect(), view = this.ownerDocument.defaultView;
        const at = view.parent === view ? [x, y] : [box.x + box.width / 2, box.y + box.height / 2];
        hit = this.getRootNode().elementFromPoint(...at) ?? hit;
    }
    const name = (node) => `<${node.localName ?? '#text'}${node.id ? ` id=\"${node.id}\"` : ''}>`;
    const used = (hit.closest ? hit : hit.parentElement)?.closest('a[href], button, input, select, textarea');
    if (forBox && used && used !== this.control && this.contains(used)) return name(used);
    for (let node = hit; node; node = node.parentNode ?? node.host) if (node === this) return null;
    const label = hit.closest?.('label');
    const beside = used && used !== this && label?.contains(used);
    if (label && !beside && (label.control === this || label.contains(this))) return null;
    for (let node = this; node; node = node.parentNode ?? node.host) if (node === hit && this.localName === 'option') return null;
    return name(hit);
}";

/// What the mouse has to hit.
#[derive(Debug, Clone, Copy)]
enum HitTarget {
    /// The element itself.
    Element,
    /// A label, instead of its box.
    Label,
}

impl Session {
    /// A point at which the mouse hits the element, or else its label.
    pub(crate) async fn hit_point(
        &self,
        page: &Page,
        bid: &str,
        element: &ElementHandle,
    ) -> Result<Point, ActionError> {
        let mut reason = ActionError::Invisible { bid: bid.to_owned() };
        for (wait, edge) in ATTEMPTS {
            if !wait.is_zero() {
                self.advance(page, wait).await?;
            }
            match self.try_hit_point(page, bid, element, edge, HitTarget::Element).await {
                Err(error @ (ActionError::Obstructed { .. } | ActionError::Invisible { .. })) => {
                    reason = error
                }
                result => return result,
            }
            for n in 0..LABELS {
                let Some(label) = self.related_element(page, element, LABEL, json!([{ "value": n }])).await?
                else {
                    break;
                };
                match self.try_hit_point(page, bid, &label, edge, HitTarget::Label).await {
                    Err(ActionError::Obstructed { .. } | ActionError::Invisible { .. }) => {}
                    result => return result,
                }
            }
        }
        Err(reason)
    }

    async fn try_hit_point(
        &self,
        page: &Page,
        bid: &str,
        element: &ElementHandle,
        edge: Option<&str>,
        target: HitTarget,
    ) -> Result<Point, ActionError> {
        let mut result = Err(ActionError::Invisible { bid: bid.to_owned() });
        for at in self.candidate_points(page, bid, element, edge, target).await? {
            result = self.check_hit_target(page, bid, element, at, target).await.map(|()| at);
            if !matches!(result, Err(ActionError::Obstructed { .. })) {
                break;
            }
        }
        result
    }

    /// The centre of an element's visible part, after it was scrolled into view. For a label also
    /// points near both of its ends.
    async fn candidate_points(
        &self,
        page: &Page,
        bid: &str,
        element: &ElementHandle,
        edge: Option<&str>,
        target: HitTarget,
    ) -> Result<Vec<Point>, ActionError> {
        let invisible = || ActionError::Invisible { bid: bid.to_owned() };
        let unseen = |error| match error {
            // It has no box, or has gone.
            Error::Refused { .. } => invisible(),
            error => ActionError::Browser(error),
        };
        let call = |method, params| self.cdp().call(Some(&page.session), method, params);
        let node = json!({ "backendNodeId": element.node });
        match edge {
            None => call("DOM.scrollIntoViewIfNeeded", node.clone()).await.map_err(unseen)?,
            Some(edge) => {
                self.call_on(page, element, SCROLL, json!([{ "value": edge }])).await.map_err(unseen)?
            }
        };
        let answer = call("DOM.getContentQuads", node).await.map_err(unseen)?;
        let quads = answer.get("quads").and_then(Value::as_array).ok_or_else(invisible)?;
        let rect = self.visible_rect(page, &element.frame).await.map_err(unseen)?;
        let visible = quads.iter().map(|quad| rect.clip(quad));
        Ok(match target {
            HitTarget::Element => visible.filter_map(|part| part.point(0.5)).take(1).collect(),
            HitTarget::Label => visible
                .flat_map(|part| [0.5, 0.05, 0.95].map(|across| part.point(across)))
                .flatten()
                .collect(),
        })
    }

    /// The part of the screen in which a frame's contents are visible: what the frames around it
    /// leave of it.
    async fn visible_rect(&self, page: &Page, frame: &str) -> Result<VisibleRect, Error> {
        const METHOD: &str = "DOM.getBoxModel";
        let (width, height) = self.launch.device.viewport;
        let mut rect = VisibleRect { x: (0.0, f64::from(width)), y: (0.0, f64::from(height)) };
        for owner in self.bids.owners_of(frame) {
            let model =
                self.cdp().call(Some(&page.session), METHOD, json!({ "backendNodeId": owner })).await?;
            let content = model
                .pointer("/model/content")
                .ok_or(Error::Shape { method: METHOD, field: "model.content" })?;
            rect = rect.clip(content);
        }
        Ok(rect)
    }

    async fn check_hit_target(
        &self,
        page: &Page,
        bid: &str,
        element: &ElementHandle,
        Point { x, y }: Point,
        target: HitTarget,
    ) -> Result<(), ActionError> {
        let metrics = self.cdp().call(Some(&page.session), "Page.getLayoutMetrics", json!({})).await?;
        let scrolled = |axis: &str| {
            metrics.pointer(&format!("/cssVisualViewport/{axis}")).and_then(Value::as_f64).unwrap_or(0.0)
        };
        // The coordinates are those of the document, in whole pixels.
        #[expect(clippy::cast_possible_truncation, reason = "a coordinate on the screen")]
        let (down, right) = ((y + scrolled("pageY")) as i64, (x + scrolled("pageX")) as i64);
        let params = json!({ "x": right, "y": down, "includeUserAgentShadowDOM": false });
        let hit = match self.cdp().call(Some(&page.session), "DOM.getNodeForLocation", params).await {
            Ok(hit) => hit,
            // There is only the page's background, so nothing is in front.
            Err(Error::Refused { .. }) => return Ok(()),
            Err(error) => return Err(error.into()),
        };
        let Some(node) = hit.get("backendNodeId").and_then(Value::as_i64) else { return Ok(()) };
        if node == element.node {
            return Ok(());
        }
        let covered = |by: &str| ActionError::Obstructed { bid: bid.to_owned(), by: by.to_owned() };
        // A node of another frame does not exist in the element's world, or the browser refuses to
        // resolve it.
        let hit = match self.resolve_node(page, node, element.isolated_world).await {
            Ok(hit) => hit,
            Err(Error::Refused { .. } | Error::Shape { .. }) => {
                let inside = self.call_on(page, element, "function() { return this.localName; }", json!([]));
                return match inside.await?.as_str() {
                    Some("iframe" | "frame" | "object" | "embed") => Ok(()),
                    _ => Err(covered("another frame")),
                };
            }
            Err(error) => return Err(error.into()),
        };
        let for_box = matches!(target, HitTarget::Label);
        let arguments = json!([{ "objectId": hit }, { "value": x }, { "value": y }, { "value": for_box }]);
        match self.call_on(page, element, OBSTRUCTION, arguments).await? {
            Value::String(by) => Err(covered(&by)),
            _ => Ok(()),
        }
    }
}

/// A part of the screen: its extent across and down.
#[derive(Debug, Clone, Copy, PartialEq)]
struct VisibleRect {
    x: (f64, f64),
    y: (f64, f64),
}

impl VisibleRect {
    /// Clips it to a quad: eight numbers, two for each corner.
    fn clip(self, quad: &Value) -> Self {
        let numbers: Vec<f64> = quad.as_array().into_iter().flatten().filter_map(Value::as_f64).collect();
        let span = |axis: usize, (from, to): (f64, f64)| {
            let along = numbers.iter().skip(axis).step_by(2).copied();
            let (low, high) = along.fold((f64::MAX, f64::MIN), |(low, high), n| (low.min(n), high.max(n)));
            (low.max(from), high.min(to))
        };
        Self { x: span(0, self.x), y: span(1, self.y) }
    }

    /// A point at half of its height and at a fraction of its width; `None` if it has no extent.
    fn point(self, across: f64) -> Option<Point> {
        let (width, height) = (self.x.1 - self.x.0, self.y.1 - self.y.0);
        let point = Point { x: self.x.0 + width * across, y: self.y.0 + height / 2.0 };
        (width >= 1.0 && height >= 1.0).then_some(point)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_is_that_of_the_visible_part() {
        let rect = VisibleRect { x: (0.0, 100.0), y: (0.0, 100.0) };
        let middle = |left: f64, top: f64, right: f64, bottom: f64| {
            rect.clip(&json!([left, top, right, top, right, bottom, left, bottom])).point(0.5)
        };
        assert_eq!(middle(10.0, 20.0, 30.0, 40.0), Some(Point { x: 20.0, y: 30.0 }));
        assert_eq!(middle(-50.0, 50.0, 50.0, 250.0), Some(Point { x: 25.0, y: 75.0 }));
        assert_eq!(middle(10.0, 20.0, 10.0, 40.0), None, "no width");
        assert_eq!(middle(110.0, 20.0, 130.0, 40.0), None, "outside");
        assert_eq!(rect.clip(&json!([])).point(0.5), None);
    }
}
