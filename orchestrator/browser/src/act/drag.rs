//! Dragging: by the mouse alone, or by the browser's drag events if the page lets the browser drag
//! something.
//!
//! Chromium would hand a drag to the window system. With interception on, it reports the dragged
//! data and leaves the rest to us.

use std::time::Duration;

use serde_json::{Value, json};

use crate::{ActionError, Button, Error, Point, Session, act::element::ElementHandle, cdp::tracker::Page};

/// How long the browser may take to report the dragged data, once the page has allowed the drag.
const DRAG_TIMEOUT: Duration = Duration::from_secs(10);

/// Keeps the event that starts a drag. Whether the page prevents it is known only afterwards.
const RECORD_DRAG_START: &str = "globalThis.sandboxDrag = undefined, \
    addEventListener('dragstart', event => { globalThis.sandboxDrag = event; }, { capture: true, once: true })";
const IS_DRAGGING: &str = "!!globalThis.sandboxDrag && !globalThis.sandboxDrag.defaultPrevented";

impl Session {
    /// Drags one element onto another.
    pub(crate) async fn drag(
        &mut self,
        page: &Page,
        bid: &str,
        element: &ElementHandle,
        to: &str,
    ) -> Result<(), ActionError> {
        let onto = self.resolve_element(page, to).await?;
        let from = self.hit_point(page, bid, element).await?;
        self.begin_drag(page, from).await?;
        // Not earlier: it may have to be scrolled into view.
        match self.hit_point(page, to, &onto).await {
            Ok(to) => self.finish_drag(page, to).await,
            Err(error) => {
                self.intercept(page, false).await?;
                self.move_and_press(page, from, Button::Left, false).await?;
                Err(error)
            }
        }
    }

    /// Drags from one point to another.
    pub(crate) async fn drag_between(
        &mut self,
        page: &Page,
        from: Point,
        to: Point,
    ) -> Result<(), ActionError> {
        self.begin_drag(page, from).await?;
        self.finish_drag(page, to).await
    }

    async fn begin_drag(&mut self, page: &Page, from: Point) -> Result<(), ActionError> {
        self.intercept(page, true).await?;
        self.tracker.lock().intercepted_drag = None;
        self.evaluate_isolated(page, &page.target, RECORD_DRAG_START, crate::cdp::connection::CALL_TIMEOUT)
            .await?;
        self.move_and_press(page, from, Button::Left, true).await
    }

    async fn finish_drag(&mut self, page: &Page, to: Point) -> Result<(), ActionError> {
        let moved = self.move_mouse(page, to).await;
        let dropped = match moved {
            Ok(()) => self.drop_at(page, to).await,
            Err(error) => Err(error),
        };
        // In any case: later drags of the page's own are not intercepted.
        self.intercept(page, false).await?;
        dropped
    }

    async fn drop_at(&mut self, page: &Page, to: Point) -> Result<(), ActionError> {
        let Some(data) = self.take_intercepted_drag(page).await? else {
            return self.move_and_press(page, to, Button::Left, false).await;
        };
        let events = ["dragEnter", "dragOver", "drop"].map(|kind| self.input_state.drag(kind, &data));
        self.input_state.forget_button(Button::Left);
        self.send_input(page, events.into()).await
    }

    /// The data of the browser's drag, if there is one.
    async fn take_intercepted_drag(&self, page: &Page) -> Result<Option<Value>, Error> {
        let is_dragging = self
            .evaluate_isolated(page, &page.target, IS_DRAGGING, crate::cdp::connection::CALL_TIMEOUT)
            .await?;
        if is_dragging != Value::Bool(true) {
            // It may be in a frame of the page.
            return Ok(self.tracker.lock().intercepted_drag.take());
        }
        let condition = |_: &_| "the browser to report the dragged data".to_owned();
        self.tracker.wait_for(DRAG_TIMEOUT, condition, |state| state.intercepted_drag.clone()).await.map(Some)
    }

    async fn intercept(&self, page: &Page, enabled: bool) -> Result<(), ActionError> {
        const METHOD: &str = "Input.setInterceptDrags";
        let set = self.cdp().call(Some(&page.session), METHOD, json!({ "enabled": enabled })).await;
        self.ignore_if_closed(page, set)
    }
}
