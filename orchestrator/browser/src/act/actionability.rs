//! Finds a point at which the mouse can hit an element: scrolled into view, with nothing else in
//! front of it.
//!
//! Pages have headers and bars that stay in place while the page scrolls. An element under one of
//! them is scrolled to other positions, in the order in which Playwright tries them
//! (`_retryPointerAction` in its `server/dom.ts`), with the same waits in between, in the page's
//! own time. It gives up after as many attempts as Playwright makes within the 500 ms of
//! BrowserGym's timeout. A hidden check box or radio button is clicked through its label, as people
//! do it.
//!
//! The page changes when the mouse comes: rows grow, bars open. So the hit is checked again once
//! the mouse is there ([`Session::in_front`]), before anything is pressed.

use std::time::Duration;

use actions::Point;
use futures_util::future::{join, join3};
use serde_json::{Value, json};

use crate::act::element::ElementHandle;
use crate::cdp::tracker::Page;
use crate::{ActionError, Error, Session};

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

const SCROLL: &str = "function(place) { this.scrollIntoView({ block: place, inline: place, behavior: 'instant' }); }";

/// The n-th label of a check box or radio button.
const LABEL: &str = "function(n) {
    const ticked = this.localName === 'input' && ['checkbox', 'radio'].includes(this.type);
    return ticked && !this.disabled ? this.labels[n] ?? null : null;
}";

/// Whether the node at a point belongs to an element.
const HIT: &str = concat!(
    "function(hit, x, y, forBox) { const describe = ",
    include_str!("described.js"),
    ";\n",
    include_str!("hit.js"),
    "}"
);

/// The element that the mouse has to hit.
#[derive(Debug, Clone, Copy)]
enum HitTarget {
    /// The element itself.
    Element,
    /// A label, instead of its box.
    Label,
}

/// A point at which the mouse hits an element, and what it hits there.
#[derive(Debug, Clone)]
pub(crate) struct Aim {
    pub(crate) at: Point,
    /// The element, or its label.
    element: ElementHandle,
    target: HitTarget,
    hit: Hit,
}

impl Aim {
    /// The element that the mouse hits there, if it is not the element itself.
    pub(crate) fn receiver(&self) -> Option<&str> {
        self.hit.object.as_ref().map(|(_, text)| text.as_str())
    }
}

/// The node at a point.
#[derive(Debug, Clone)]
struct Hit {
    /// How far the page was scrolled to the right and down.
    scrolled: [f64; 2],
    /// The browser's number of the node; `None` if there is only the page's background.
    node: Option<i64>,
    /// A handle on the node, and its description, where it is not the element itself.
    object: Option<(String, String)>,
}

impl Session {
    /// A point at which the mouse hits the element, or else its label.
    pub(crate) async fn aim(
        &self,
        page: &Page,
        bid: &str,
        element: &ElementHandle,
    ) -> Result<Aim, ActionError> {
        let mut reason = ActionError::Invisible { bid: bid.to_owned() };
        for (wait, edge) in ATTEMPTS {
            if !wait.is_zero() {
                self.advance(page, wait).await?;
            }
            match self.aim_once(page, bid, element, edge).await {
                Err(error @ (ActionError::Obstructed { .. } | ActionError::Invisible { .. })) => {
                    reason = error
                }
                result => return result,
            }
        }
        Err(reason)
    }

    /// The same without another attempt: the element is scrolled to an edge of the view, or if
    /// there is none, only if it is out of view.
    pub(crate) async fn aim_once(
        &self,
        page: &Page,
        bid: &str,
        element: &ElementHandle,
        edge: Option<&str>,
    ) -> Result<Aim, ActionError> {
        let reason = match self.aim_at(page, bid, element, edge, HitTarget::Element).await {
            Err(error @ (ActionError::Obstructed { .. } | ActionError::Invisible { .. })) => error,
            result => return result,
        };
        for n in 0..LABELS {
            let Some(label) =
                self.related_element(page, element, LABEL, json!([{ "value": n }])).await?
            else {
                break;
            };
            match self.aim_at(page, bid, &label, edge, HitTarget::Label).await {
                Err(ActionError::Obstructed { .. } | ActionError::Invisible { .. }) => {}
                result => return result,
            }
        }
        Err(reason)
    }

    async fn aim_at(
        &self,
        page: &Page,
        bid: &str,
        element: &ElementHandle,
        edge: Option<&str>,
        target: HitTarget,
    ) -> Result<Aim, ActionError> {
        let mut result = Err(ActionError::Invisible { bid: bid.to_owned() });
        let (points, scrolled) = self.candidate_points(page, bid, element, edge, target).await?;
        for at in points {
            match self.hit_at(page, element, at, scrolled, target).await? {
                Ok(hit) => return Ok(Aim { at, element: element.clone(), target, hit }),
                Err(by) => result = Err(ActionError::Obstructed { bid: bid.to_owned(), by }),
            }
        }
        result
    }

    /// Returns the element that the mouse hits at the point instead of the given one, if any: the
    /// page may have changed since, because the mouse is there. Takes one round trip as long as it
    /// has not.
    ///
    /// # Errors
    /// When the browser fails.
    pub(crate) async fn in_front(
        &self,
        page: &Page,
        aim: &Aim,
    ) -> Result<Option<String>, ActionError> {
        let Aim { at, element, target, hit } = aim;
        let same_hit = async {
            match &hit.object {
                Some((object, _)) => {
                    self.belongs(page, element, object, *at, *target).await.map(|hit| hit.is_ok())
                }
                None => Ok(true),
            }
        };
        let (scrolled, node, is_same) =
            join3(self.scrolled(page), self.node_at(page, *at, hit.scrolled), same_hit).await;
        let result = match (scrolled, node, is_same) {
            (Ok(scrolled), Ok(Some(node)), Ok(true))
                if scrolled == hit.scrolled && Some(node) == hit.node =>
            {
                return Ok(None);
            }
            (Err(error), ..) => Err(error),
            (Ok(scrolled), ..) => self.hit_at(page, element, *at, scrolled, *target).await,
        };
        match result {
            Ok(Ok(Hit { node: Some(_), .. })) => Ok(None),
            Ok(Ok(_)) if self.covers(page, element, *at).await? => Ok(None),
            Ok(Ok(_)) => Ok(Some("the page's background".to_owned())),
            Ok(Err(by)) => Ok(Some(by)),
            // The document has gone away while it was asked.
            Err(Error::Refused { .. } | Error::Script { .. }) => {
                Ok(Some("another page".to_owned()))
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Whether a point is within an element.
    async fn covers(&self, page: &Page, element: &ElementHandle, at: Point) -> Result<bool, Error> {
        let params = json!({ "backendNodeId": element.node });
        let answer = match self.cdp().call(Some(&page.session), "DOM.getContentQuads", params).await
        {
            Ok(answer) => answer,
            // An element without a layout has no quads.
            Err(Error::Refused { .. }) => return Ok(false),
            Err(error) => return Err(error),
        };
        let rect = VisibleRect { x: (at.x, at.x), y: (at.y, at.y) };
        let quads = answer.get("quads").and_then(Value::as_array).into_iter().flatten();
        Ok(quads
            .map(|quad| rect.clip(quad))
            .any(|part| part.x.0 <= part.x.1 && part.y.0 <= part.y.1))
    }

    /// The centre of an element's visible part, after it was scrolled into view. For a label also
    /// points near both of its ends. And how far the page is scrolled then.
    async fn candidate_points(
        &self,
        page: &Page,
        bid: &str,
        element: &ElementHandle,
        edge: Option<&str>,
        target: HitTarget,
    ) -> Result<(Vec<Point>, [f64; 2]), ActionError> {
        let invisible = || ActionError::Invisible { bid: bid.to_owned() };
        let unseen = |error| match error {
            // It has no box, or has gone.
            Error::Refused { .. } => invisible(),
            error => ActionError::Browser(error),
        };
        let node = json!({ "backendNodeId": element.node });
        let call = |method, params| self.cdp().call(Some(&page.session), method, params);
        let scroll = async {
            match edge {
                None => call("DOM.scrollIntoViewIfNeeded", node.clone()).await,
                Some(edge) => self.call_on(page, element, SCROLL, json!([{ "value": edge }])).await,
            }
        };
        // The page carries them out one after the other.
        let (shown, answer, scrolled) =
            join3(scroll, call("DOM.getContentQuads", node.clone()), self.scrolled(page)).await;
        shown.map_err(unseen)?;
        let answer = answer.map_err(unseen)?;
        let scrolled = scrolled.map_err(unseen)?;
        let quads = answer.get("quads").and_then(Value::as_array).ok_or_else(invisible)?;
        let rect = self.visible_rect(page, &element.frame).await.map_err(unseen)?;
        let visible = quads.iter().map(|quad| rect.clip(quad));
        let points = match target {
            HitTarget::Element => visible.filter_map(|part| part.point(0.5)).take(1).collect(),
            HitTarget::Label => visible
                .flat_map(|part| [0.5, 0.05, 0.95].map(|across| part.point(across)))
                .flatten()
                .collect(),
        };
        Ok((points, scrolled))
    }

    /// The part of the screen in which a frame's contents are visible: what the frames around it
    /// leave of it.
    async fn visible_rect(&self, page: &Page, frame: &str) -> Result<VisibleRect, Error> {
        const METHOD: &str = "DOM.getBoxModel";
        let (width, height) = self.launch.device.viewport;
        let mut rect = VisibleRect { x: (0.0, f64::from(width)), y: (0.0, f64::from(height)) };
        for owner in self.bids.owners_of(frame) {
            let model = self
                .cdp()
                .call(Some(&page.session), METHOD, json!({ "backendNodeId": owner }))
                .await?;
            let content = model
                .pointer("/model/content")
                .ok_or(Error::Shape { method: METHOD, field: "model.content" })?;
            rect = rect.clip(content);
        }
        Ok(rect)
    }

    /// How far the page is scrolled to the right and down.
    async fn scrolled(&self, page: &Page) -> Result<[f64; 2], Error> {
        let metrics =
            self.cdp().call(Some(&page.session), "Page.getLayoutMetrics", json!({})).await?;
        Ok(["pageX", "pageY"].map(|axis| {
            metrics
                .pointer(&format!("/cssVisualViewport/{axis}"))
                .and_then(Value::as_f64)
                .unwrap_or(0.0)
        }))
    }

    /// The browser's number of the node at a point; `None` if there is only the page's background.
    async fn node_at(
        &self,
        page: &Page,
        Point { x, y }: Point,
        [right, down]: [f64; 2],
    ) -> Result<Option<i64>, Error> {
        // The coordinates are those of the document, in whole pixels.
        #[expect(clippy::cast_possible_truncation, reason = "a coordinate on the screen")]
        let (x, y) = ((x + right) as i64, (y + down) as i64);
        let params = json!({ "x": x, "y": y, "includeUserAgentShadowDOM": false });
        match self.cdp().call(Some(&page.session), "DOM.getNodeForLocation", params).await {
            Ok(hit) => Ok(hit.get("backendNodeId").and_then(Value::as_i64)),
            Err(Error::Refused { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The node that the mouse hits at a point, if that belongs to the element; otherwise its name.
    async fn hit_at(
        &self,
        page: &Page,
        element: &ElementHandle,
        at: Point,
        scrolled: [f64; 2],
        target: HitTarget,
    ) -> Result<Result<Hit, String>, Error> {
        let node = self.node_at(page, at, scrolled).await?;
        let found = |object| Ok(Ok(Hit { scrolled, node, object }));
        // If there is only the page's background, nothing is in front.
        let is_known = |node: &i64| *node == element.node && matches!(target, HitTarget::Element);
        let Some(other) = node.filter(|node| !is_known(node)) else { return found(None) };
        // A node of another frame does not exist in the element's world, or the browser refuses to
        // resolve it.
        let object = match self.resolve_node(page, other, element.isolated_world).await {
            Ok(object) => object,
            Err(Error::Refused { .. } | Error::Shape { .. }) => {
                let inside =
                    self.call_on(page, element, "function() { return this.localName; }", json!([]));
                return match inside.await?.as_str() {
                    Some("iframe" | "frame" | "object" | "embed") => found(None),
                    _ => Ok(Err("another frame".to_owned())),
                };
            }
            Err(error) => return Err(error),
        };
        match self.belongs(page, element, &object, at, target).await? {
            Ok(text) => found(Some((object, text))),
            Err(by) => Ok(Err(by)),
        }
    }

    /// The description of a node at a point, if it belongs to the element; otherwise its name.
    async fn belongs(
        &self,
        page: &Page,
        element: &ElementHandle,
        object: &str,
        Point { x, y }: Point,
        target: HitTarget,
    ) -> Result<Result<String, String>, Error> {
        let for_box = matches!(target, HitTarget::Label);
        let arguments =
            json!([{ "objectId": object }, { "value": x }, { "value": y }, { "value": for_box }]);
        let answer = self.call_on(page, element, HIT, arguments).await?;
        let text = |key: &str| answer.get(key).and_then(Value::as_str).map(str::to_owned);
        Ok(match text("by") {
            Some(by) => Err(by),
            None => Ok(text("hit").unwrap_or_default()),
        })
    }

    /// Describes what the mouse hits at a point of the page, if it hits anything there.
    pub(crate) async fn describe_at(&self, page: &Page, at: Point) -> Option<String> {
        let (isolated_world, scrolled) =
            join(self.isolated_world(page, &page.target), self.scrolled(page)).await;
        let isolated_world = isolated_world.ok()?;
        let node = self.node_at(page, at, scrolled.ok()?).await.ok()??;
        let Ok(object) = self.resolve_node(page, node, isolated_world).await else {
            return Some("a frame".to_owned());
        };
        let element = ElementHandle { object, node, isolated_world, frame: page.target.clone() };
        self.describe(page, &element).await
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
        let numbers: Vec<f64> =
            quad.as_array().into_iter().flatten().filter_map(Value::as_f64).collect();
        let span = |axis: usize, (from, to): (f64, f64)| {
            let along = numbers.iter().skip(axis).step_by(2).copied();
            let (low, high) =
                along.fold((f64::MAX, f64::MIN), |(low, high), n| (low.min(n), high.max(n)));
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
