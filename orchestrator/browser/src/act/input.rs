//! Mouse and keyboard events for the browser, and what is held down between them.

use std::sync::Arc;
use std::time::Duration;

use actions::{Button, Point};
use serde_json::{Value, json};

use crate::act::keys::Key;
use crate::cdp::tracker::{BrowserState, Page, Tracker};
use crate::clock::response_ordering::SLOW_RESPONSE;
use crate::clock::screen::Shown;
use crate::clock::state::ClockState;
use crate::{ActionError, Error, Session};

/// How long the page's time runs so that animation frames and timers of 0 ms do.
const FRAME: Duration = Duration::from_millis(20);

/// An input command and its parameters.
pub(crate) type InputEvent = (&'static str, Value);

/// The position of the mouse, and the buttons and keys that are held down.
#[derive(Debug, Clone)]
pub(crate) struct InputState {
    pub(crate) at: Point,
    /// The bits of the pressed buttons.
    buttons: u32,
    /// The bits of the pressed modifier keys.
    pub(crate) modifiers: u32,
}

impl Default for InputState {
    fn default() -> Self {
        Self { at: Point { x: 0.0, y: 0.0 }, buttons: 0, modifiers: 0 }
    }
}

impl InputState {
    pub(crate) fn move_to(&mut self, at: Point) -> InputEvent {
        self.at = at;
        // While a button is down the event has to name it, because it drags.
        let pressed = Button::ALL.into_iter().find(|button| self.buttons & bit(*button) != 0);
        self.mouse("mouseMoved", pressed.map_or("none", Button::as_str), 0)
    }

    pub(crate) fn press(&mut self, button: Button, count: u32) -> InputEvent {
        self.buttons |= bit(button);
        self.mouse("mousePressed", button.as_str(), count)
    }

    pub(crate) fn release(&mut self, button: Button, count: u32) -> InputEvent {
        self.buttons &= !bit(button);
        self.mouse("mouseReleased", button.as_str(), count)
    }

    pub(crate) fn wheel(&mut self, at: Point, dx: f64, dy: f64) -> InputEvent {
        self.at = at;
        let (method, mut event) = self.mouse("mouseWheel", "none", 0);
        event["deltaX"] = json!(dx);
        event["deltaY"] = json!(dy);
        (method, event)
    }

    /// A drag event at the mouse's position.
    pub(crate) fn drag(&self, kind: &str, data: &Value) -> InputEvent {
        let Point { x, y } = self.at;
        let event =
            json!({ "type": kind, "x": x, "y": y, "data": data, "modifiers": self.modifiers });
        ("Input.dispatchDragEvent", event)
    }

    /// Releases a button without an event. A drop ends that way.
    pub(crate) fn forget_button(&mut self, button: Button) {
        self.buttons &= !bit(button);
    }

    fn mouse(&self, kind: &str, button: &str, count: u32) -> InputEvent {
        let event = json!({
            "type": kind,
            "x": self.at.x,
            "y": self.at.y,
            "button": button,
            "buttons": self.buttons,
            "modifiers": self.modifiers,
            "clickCount": count,
        });
        ("Input.dispatchMouseEvent", event)
    }
}

/// A key event, while the modifiers with these bits are down.
pub(crate) fn key(kind: &str, key: &Key, modifiers: u32) -> InputEvent {
    let mut event = json!({
        "type": kind,
        "modifiers": modifiers,
        "key": key.key,
        "code": key.code,
        "windowsVirtualKeyCode": key.number,
    });
    if kind == "keyDown" {
        event["text"] = json!(key.text);
    }
    ("Input.dispatchKeyEvent", event)
}

/// Input is under way, and pages get no response until this is dropped.
#[derive(Debug)]
pub(crate) struct InputHold {
    tracker: Arc<Tracker>,
    before: bool,
}

impl Drop for InputHold {
    fn drop(&mut self) {
        self.tracker.lock().part_mut::<ClockState>().input_in_flight = self.before;
        self.tracker.notify();
    }
}

/// The bit of a button among the pressed ones.
fn bit(button: Button) -> u32 {
    match button {
        Button::Left => 1,
        Button::Right => 2,
        Button::Middle => 4,
    }
}

impl Session {
    /// Keeps responses back from the pages, so that nothing comes between events. Returns once the
    /// response that was on its way has come.
    pub(crate) async fn hold_input(&self) -> InputHold {
        let before = std::mem::replace(
            &mut self.tracker.lock().part_mut::<ClockState>().input_in_flight,
            true,
        );
        let hold = InputHold { tracker: Arc::clone(&self.tracker), before };
        let condition = |_: &BrowserState| "a response to reach its page".to_owned();
        let has_come =
            |state: &BrowserState| (!state.part::<ClockState>().is_releasing).then_some(());
        // A response that does not come is not waited for, and a page that has gone gets none.
        let _ = self.tracker.wait_for(SLOW_RESPONSE, condition, has_come).await;
        hold
    }

    /// Sends events all at once, because nothing else may happen between them.
    pub(crate) async fn send_input(
        &self,
        page: &Page,
        events: Vec<InputEvent>,
    ) -> Result<(), ActionError> {
        let hold = self.hold_input().await;
        let results = self.dispatch(page, events).await;
        drop(hold);
        self.check_input(page, results)
    }

    /// Sends events that end with a movement of the mouse over something that the page shows.
    /// Returns when a frame is drawn in which the page got them, and the page has done what they
    /// lead to. The page's time stands still.
    pub(crate) async fn move_onto(
        &self,
        page: &Page,
        events: Vec<InputEvent>,
    ) -> Result<(), ActionError> {
        let hold = self.hold_input().await;
        let sent = self.send_events(page, events);
        let results = if self.begin_frame_control() {
            self.while_drawing(page, sent).await
        } else {
            sent.await
        };
        self.ensure_idle().await;
        drop(hold);
        self.check_input(page, results)
    }

    /// Lets a frame of the page's time pass, in which its animation frames run.
    pub(crate) async fn pass_frame(&self, page: &Page) -> Result<(), ActionError> {
        Ok(self.advance(page, FRAME).await?)
    }

    fn check_input(
        &self,
        page: &Page,
        results: Vec<Result<Value, Error>>,
    ) -> Result<(), ActionError> {
        results.into_iter().try_for_each(|result| self.ignore_if_closed(page, result))
    }

    fn send_events(
        &self,
        page: &Page,
        events: Vec<InputEvent>,
    ) -> impl Future<Output = Vec<Result<Value, Error>>> {
        let sent = events
            .into_iter()
            .map(|(method, params)| self.cdp().call(Some(&page.session), method, params));
        futures_util::future::join_all(sent)
    }

    async fn dispatch(&self, page: &Page, events: Vec<InputEvent>) -> Vec<Result<Value, Error>> {
        // The page gets wheel events and a final movement only when a frame is drawn. A document
        // without contents has none, and nothing that could get them.
        let needs_frame = |(_, event): &InputEvent| {
            event["type"] == "mouseMoved" || event["type"] == "mouseWheel"
        };
        let waits = self.begin_frame_control() && events.last().is_some_and(needs_frame);
        let mut events = events;
        if waits && self.shown(page).await == Shown::Nothing {
            events.retain(|event| !needs_frame(event));
        }
        let answers = self.send_events(page, events);
        if waits { self.while_drawing(page, answers).await } else { answers.await }
    }

    /// An input that closes its own tab has no reply, and worked.
    pub(crate) fn ignore_if_closed(
        &self,
        page: &Page,
        result: Result<Value, Error>,
    ) -> Result<(), ActionError> {
        match result {
            Err(Error::Refused { .. }) if !self.tracker.lock().is_open(&page.session) => Ok(()),
            result => Ok(result.map(|_| ())?),
        }
    }
}
