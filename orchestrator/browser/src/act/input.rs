//! Mouse and keyboard events for the browser, and what is held down between them.

use serde_json::{Value, json};

use crate::{
    ActionError, Button, Error, Point, Session, act::keys::Key, cdp::tracker::Page, clock::screen::Shown,
};

/// An input command and its parameters.
pub(crate) type InputEvent = (&'static str, Value);

/// Where the mouse is, and what is held down.
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
        let pressed = Button::ALL.into_iter().find(|button| self.buttons & button.bit() != 0);
        self.mouse("mouseMoved", pressed.map_or("none", Button::as_str), 0)
    }

    pub(crate) fn press(&mut self, button: Button, count: u32) -> InputEvent {
        self.buttons |= button.bit();
        self.mouse("mousePressed", button.as_str(), count)
    }

    pub(crate) fn release(&mut self, button: Button, count: u32) -> InputEvent {
        self.buttons &= !button.bit();
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
        let event = json!({ "type": kind, "x": x, "y": y, "data": data, "modifiers": self.modifiers });
        ("Input.dispatchDragEvent", event)
    }

    /// Releases a button without an event. A drop ends that way.
    pub(crate) fn forget_button(&mut self, button: Button) {
        self.buttons &= !button.bit();
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

impl Session {
    /// Sends events all at once, because nothing else may happen between them.
    pub(crate) async fn send_input(&self, page: &Page, events: Vec<InputEvent>) -> Result<(), ActionError> {
        self.send_input_groups(page, vec![events]).await
    }

    /// Sends groups of events, each all at once. Between two groups the browser does what the first
    /// one leads to, such as another tab. The page's time stands still, and it gets no response.
    pub(crate) async fn send_input_groups(
        &self,
        page: &Page,
        groups: Vec<Vec<InputEvent>>,
    ) -> Result<(), ActionError> {
        self.tracker.lock().input_in_flight = true;
        let mut results = Vec::new();
        for (n, events) in groups.into_iter().enumerate() {
            if n > 0 {
                self.wait_until_idle().await;
            }
            results.extend(self.dispatch(page, events).await);
        }
        self.tracker.lock().input_in_flight = false;
        self.tracker.notify();
        for result in results {
            self.ignore_if_closed(page, result)?;
        }
        Ok(())
    }

    async fn dispatch(&self, page: &Page, events: Vec<InputEvent>) -> Vec<Result<Value, Error>> {
        // The page gets wheel events and a final movement only when a frame is drawn. A document
        // without contents has none, and nothing that could get them.
        let needs_frame =
            |(_, event): &InputEvent| event["type"] == "mouseMoved" || event["type"] == "mouseWheel";
        let waits = self.begin_frame_control() && events.last().is_some_and(needs_frame);
        let mut events = events;
        if waits && self.shown(page).await == Shown::Nothing {
            events.retain(|event| !needs_frame(event));
        }
        let sent =
            events.into_iter().map(|(method, params)| self.cdp().call(Some(&page.session), method, params));
        let answers = futures_util::future::join_all(sent);
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
