//! Dragging: by the mouse alone, or by the browser's drag events if the page lets the browser drag
//! something.
//!
//! Chromium would hand a drag to the window system. With interception on, it reports the dragged
//! data and leaves the rest to us.

use std::time::Duration;

use actions::{Button, Point};
use serde_json::{Value, json};

use crate::act::element::ElementHandle;
use crate::act::state::ActState;
use crate::cdp::tracker::Page;
use crate::{ActionError, Error, Session};

/// How long the browser may take to report the dragged data, once the page has allowed the drag.
const DRAG_TIMEOUT: Duration = Duration::from_secs(10);

/// Keeps the event that starts a drag. Whether the page prevents it is known only afterwards.
const RECORD_DRAG_START: &str = "globalThis.sandboxDrag = undefined, \
    addEventListener('dragstart', event => { globalThis.sandboxDrag = event; }, { capture: true, once: true })";
const IS_DRAGGING: &str = "!!globalThis.sandboxDrag && !globalThis.sandboxDrag.defaultPrevented";

/// How long the page's time runs before the drop. Libraries look where the pointer is at intervals
/// of 50 ms, too.
const BEFORE_DROP: Duration = Duration::from_millis(100);

/// The length of the first part of a drag, in CSS pixels. It is beyond the thresholds of libraries.
const FIRST_PART: f64 = 12.0;

impl Session {
    /// Drags one element onto another.
    ///
    /// # Errors
    /// When one of them cannot be hit. What was grabbed is released there then.
    pub(crate) async fn drag(
        &mut self,
        page: &Page,
        bid: &str,
        element: &ElementHandle,
        to: &str,
    ) -> Result<(), ActionError> {
        let onto = self.resolve_element(page, to).await?;
        self.expect_drag(page).await?;
        let dragged = match self.reach(page, bid, element, Vec::new()).await {
            Ok((aim, hold)) => {
                let grabbed = self.grab(page).await;
                // Not held while the target is looked for: the page may make room for what was
                // grabbed.
                drop(hold);
                let target = match grabbed {
                    Ok(()) => self.aim_of_drag(page, to, &onto).await,
                    Err(error) => Err(error),
                };
                self.finish_drag(page, aim.at, target).await
            }
            Err(error) => Err(error),
        };
        self.end_drag(page, dragged).await
    }

    /// Drags from one point to another.
    pub(crate) async fn drag_between(
        &mut self,
        page: &Page,
        from: Point,
        to: Point,
    ) -> Result<(), ActionError> {
        self.expect_drag(page).await?;
        let dragged = match self.move_mouse(page, from).await {
            Ok(()) => {
                self.receiver = self.describe_at(page, from).await;
                let grabbed = match self.grab(page).await {
                    Ok(()) => self.pass_frame(page).await,
                    Err(error) => Err(error),
                };
                self.finish_drag(page, from, grabbed.map(|()| to)).await
            }
            Err(error) => Err(error),
        };
        self.end_drag(page, dragged).await
    }

    async fn expect_drag(&self, page: &Page) -> Result<(), ActionError> {
        self.intercept(page, true).await?;
        self.tracker.lock().part_mut::<ActState>().intercepted_drag = None;
        self.evaluate_isolated(
            page,
            &page.target,
            RECORD_DRAG_START,
            crate::cdp::connection::CALL_TIMEOUT,
        )
        .await?;
        Ok(())
    }

    /// Later drags of the page's own are not intercepted, whatever became of this one.
    async fn end_drag(
        &self,
        page: &Page,
        dragged: Result<(), ActionError>,
    ) -> Result<(), ActionError> {
        self.intercept(page, false).await?;
        dragged
    }

    /// Presses the button where the mouse is.
    async fn grab(&mut self, page: &Page) -> Result<(), ActionError> {
        let pressed = self.input_state.press(Button::Left, 1);
        self.send_input(page, vec![pressed]).await
    }

    /// Finds the point at which to drop something that has just been grabbed. It is not known
    /// earlier: the element may have to be scrolled into view, or make room.
    async fn aim_of_drag(
        &self,
        page: &Page,
        to: &str,
        onto: &ElementHandle,
    ) -> Result<Point, ActionError> {
        self.pass_frame(page).await?;
        Ok(self.aim(page, to, onto).await?.at)
    }

    /// Moves what was grabbed at `from` to a point, and drops it there. If there is none, it is
    /// released at `from`. A frame passes after each event, as between those of a person: libraries
    /// work out in the next frame where the pointer is, and begin with a drag in a timer.
    async fn finish_drag(
        &mut self,
        page: &Page,
        from: Point,
        to: Result<Point, ActionError>,
    ) -> Result<(), ActionError> {
        let moved = match to {
            Ok(to) => self.move_dragged(page, from, to).await.map(|()| to),
            Err(error) => Err(error),
        };
        match moved {
            Ok(to) => self.drop_at(page, to).await,
            Err(error) => {
                // The button must not stay pressed.
                self.move_and_press(page, from, Button::Left, false).await?;
                Err(error)
            }
        }
    }

    /// Moves the mouse in two parts: libraries begin a drag by the first movement, and work out by
    /// the next ones how far it has come. The first part is short, so that it leads over nothing
    /// else. A drag of the browser's gets no movement once it has begun.
    async fn move_dragged(
        &mut self,
        page: &Page,
        from: Point,
        to: Point,
    ) -> Result<(), ActionError> {
        let (right, down) = (to.x - from.x, to.y - from.y);
        let part = (FIRST_PART / right.hypot(down).max(1.0)).min(0.5);
        let begin = Point { x: from.x + right * part, y: from.y + down * part };
        self.move_mouse(page, begin).await?;
        self.pass_frame(page).await?;
        if self.is_drag_of_browser(page).await? {
            self.input_state.move_to(to);
            return Ok(());
        }
        self.move_mouse(page, to).await
    }

    /// Drops what is dragged, at a point where the mouse is already.
    async fn drop_at(&mut self, page: &Page, to: Point) -> Result<(), ActionError> {
        self.pass_frame(page).await?;
        let Some(data) = self.take_intercepted_drag(page).await? else {
            // The first movement has begun the drag.
            self.move_mouse(page, to).await?;
            self.advance(page, BEFORE_DROP).await?;
            let released = self.input_state.release(Button::Left, 1);
            return self.send_input(page, vec![released]).await;
        };
        for kind in ["dragEnter", "dragOver", "drop"] {
            if kind == "drop" {
                self.advance(page, BEFORE_DROP).await?;
                self.input_state.forget_button(Button::Left);
            }
            let event = self.input_state.drag(kind, &data);
            self.send_input(page, vec![event]).await?;
            if kind == "dragEnter" {
                self.pass_frame(page).await?;
            }
        }
        Ok(())
    }

    /// The data of the browser's drag, if there is one.
    async fn take_intercepted_drag(&self, page: &Page) -> Result<Option<Value>, Error> {
        if !self.has_drag_begun(page).await? {
            // It may be in a frame of the page.
            return Ok(self.tracker.lock().part_mut::<ActState>().intercepted_drag.take());
        }
        let condition = |_: &_| "the browser to report the dragged data".to_owned();
        self.tracker
            .wait_for(DRAG_TIMEOUT, condition, |state| {
                state.part::<ActState>().intercepted_drag.clone()
            })
            .await
            .map(Some)
    }

    async fn is_drag_of_browser(&self, page: &Page) -> Result<bool, Error> {
        let is_intercepted = self.tracker.lock().part::<ActState>().intercepted_drag.is_some();
        Ok(is_intercepted || self.has_drag_begun(page).await?)
    }

    /// Whether the page has allowed a drag of the browser's.
    async fn has_drag_begun(&self, page: &Page) -> Result<bool, Error> {
        let within = crate::cdp::connection::CALL_TIMEOUT;
        let begun = self.evaluate_isolated(page, &page.target, IS_DRAGGING, within).await?;
        Ok(begun == Value::Bool(true))
    }

    async fn intercept(&self, page: &Page, enabled: bool) -> Result<(), ActionError> {
        const METHOD: &str = "Input.setInterceptDrags";
        let set = self.cdp().call(Some(&page.session), METHOD, json!({ "enabled": enabled })).await;
        self.ignore_if_closed(page, set)
    }
}
