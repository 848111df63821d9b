//! Dragging: by the mouse alone, or, where the page lets the browser drag something, by the browser's own events of dragging.
//!
//! Chromium would hand a drag over to the window system. Told to intercept it, it says what is dragged and leaves the rest to us.

use std::time::Duration;

use serde_json::{Value, json};

use crate::{ActionError, Button, Error, Point, Session, act::element::Handle, cdp::tracker::Page};

/// How long the browser may take to say what is dragged, once the page has let it.
const INTERCEPTED: Duration = Duration::from_secs(10);

/// Remembers the beginning of a drag; whether the page has prevented it is known only afterwards.
const LISTEN: &str = "globalThis.sandboxDrag = undefined, \
    addEventListener('dragstart', event => { globalThis.sandboxDrag = event; }, { capture: true, once: true })";
const DRAGGED: &str = "!!globalThis.sandboxDrag && !globalThis.sandboxDrag.defaultPrevented";

impl Session {
    /// Drags one element onto another.
    pub(crate) async fn drag(
        &mut self,
        page: &Page,
        bid: &str,
        element: &Handle,
        to: &str,
    ) -> Result<(), ActionError> {
        let onto = self.named(page, to).await?;
        let from = self.reach(page, bid, element).await?;
        self.take(page, from).await?;
        // Only now: it may have to be scrolled into view.
        match self.reach(page, to, &onto).await {
            Ok(to) => self.carry(page, to).await,
            Err(error) => {
                self.intercept(page, false).await?;
                self.hold(page, from, Button::Left, false).await?;
                Err(error)
            }
        }
    }

    /// Drags from one place to another.
    pub(crate) async fn drag_between(
        &mut self,
        page: &Page,
        from: Point,
        to: Point,
    ) -> Result<(), ActionError> {
        self.take(page, from).await?;
        self.carry(page, to).await
    }

    async fn take(&mut self, page: &Page, from: Point) -> Result<(), ActionError> {
        self.intercept(page, true).await?;
        self.watch.lock().dragged = None;
        self.evaluate_apart(page, &page.target, LISTEN, crate::cdp::connection::CALL).await?;
        self.hold(page, from, Button::Left, true).await
    }

    async fn carry(&mut self, page: &Page, to: Point) -> Result<(), ActionError> {
        let moved = self.move_mouse(page, to).await;
        let dropped = match moved {
            Ok(()) => self.drop_there(page, to).await,
            Err(error) => Err(error),
        };
        // Whatever came of it, later drags of the page's own are none of ours.
        self.intercept(page, false).await?;
        dropped
    }

    async fn drop_there(&mut self, page: &Page, to: Point) -> Result<(), ActionError> {
        let Some(data) = self.dragged(page).await? else {
            return self.hold(page, to, Button::Left, false).await;
        };
        let events = ["dragEnter", "dragOver", "drop"].map(|kind| self.input_state.drag(kind, &data));
        self.input_state.let_go(Button::Left);
        self.input(page, events.into()).await
    }

    /// What the browser is dragging, if it is.
    async fn dragged(&self, page: &Page) -> Result<Option<Value>, Error> {
        let begun = self.evaluate_apart(page, &page.target, DRAGGED, crate::cdp::connection::CALL).await?;
        if begun != Value::Bool(true) {
            // Perhaps in a frame inside the page.
            return Ok(self.watch.lock().dragged.take());
        }
        let condition = |_: &_| "the browser to say what is dragged".to_owned();
        self.watch.until(INTERCEPTED, condition, |state| state.dragged.clone()).await.map(Some)
    }

    async fn intercept(&self, page: &Page, enabled: bool) -> Result<(), ActionError> {
        const METHOD: &str = "Input.setInterceptDrags";
        let set = self.cdp().call(Some(&page.session), METHOD, json!({ "enabled": enabled })).await;
        self.unless_closed(page, set)
    }
}
