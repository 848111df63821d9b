//! The mouse: movements, buttons, and the wheel.

use serde_json::{Value, json};

use crate::{
    ActionError, Button, Error, Point, Press, Session,
    act::{element::ElementHandle, input::key, keys},
    cdp::tracker::Page,
};

impl Session {
    /// Clicks the centre of an element's visible part, once it is certain that the mouse hits the
    /// element.
    pub(crate) async fn click(
        &mut self,
        page: &Page,
        bid: &str,
        element: &ElementHandle,
        press: &Press,
    ) -> Result<(), ActionError> {
        let at = self.hit_point(page, bid, element).await?;
        self.click_at(page, at, press).await
    }

    /// Clicks at a point, whatever is there.
    pub(crate) async fn click_at(
        &mut self,
        page: &Page,
        at: Point,
        press: &Press,
    ) -> Result<(), ActionError> {
        let modifiers = press.modifiers.iter().map(|&modifier| keys::modifier(modifier));
        let modifiers: Vec<_> = modifiers.collect();
        let mut events = Vec::new();
        for (modifier, bit) in &modifiers {
            self.input_state.modifiers |= bit;
            events.push(key("rawKeyDown", modifier, self.input_state.modifiers));
        }
        events.push(self.input_state.move_to(at));
        events.push(self.input_state.press(press.button, 1));
        events.push(self.input_state.release(press.button, 1));
        let mut groups = Vec::new();
        if press.twice {
            groups.push(std::mem::take(&mut events));
            events.push(self.input_state.press(press.button, 2));
            events.push(self.input_state.release(press.button, 2));
        }
        for (modifier, bit) in modifiers.iter().rev() {
            self.input_state.modifiers &= !bit;
            events.push(key("keyUp", modifier, self.input_state.modifiers));
        }
        groups.push(events);
        self.send_input_groups(page, groups).await
    }

    /// Moves the mouse over the centre of an element.
    pub(crate) async fn hover(
        &mut self,
        page: &Page,
        bid: &str,
        element: &ElementHandle,
    ) -> Result<(), ActionError> {
        let at = self.hit_point(page, bid, element).await?;
        self.move_mouse(page, at).await
    }

    /// Moves the mouse to a point.
    pub(crate) async fn move_mouse(&mut self, page: &Page, at: Point) -> Result<(), ActionError> {
        let moved = self.input_state.move_to(at);
        self.send_input(page, vec![moved]).await
    }

    /// Moves the mouse to a point, and presses or releases a button there.
    pub(crate) async fn move_and_press(
        &mut self,
        page: &Page,
        at: Point,
        button: Button,
        down: bool,
    ) -> Result<(), ActionError> {
        let moved = self.input_state.move_to(at);
        let then = if down { self.input_state.press(button, 1) } else { self.input_state.release(button, 1) };
        self.send_input(page, vec![moved, then]).await
    }

    /// Checks or unchecks a checkbox or radio button, with a click if necessary.
    pub(crate) async fn set_checked(
        &mut self,
        page: &Page,
        bid: &str,
        element: &ElementHandle,
        on: bool,
    ) -> Result<(), ActionError> {
        const IS_CHECKED: &str = "function() {
            const box = this.localName === 'label' && this.control ? this.control : this;
            if (box.localName === 'input' && ['checkbox', 'radio'].includes(box.type)) return box.checked;
            return { true: true, false: false, mixed: false }[box.getAttribute('aria-checked')] ?? null;
        }";
        let unfit = |reason: &str| ActionError::Unfit { bid: bid.to_owned(), reason: reason.to_owned() };
        let is_checked = self.call_on(page, element, IS_CHECKED, json!([])).await?;
        let Some(is_checked) = is_checked.as_bool() else {
            return Err(unfit("it is no checkbox and no radio button"));
        };
        if is_checked == on {
            return Ok(());
        }
        self.click(page, bid, element, &Press::default()).await?;
        match self.call_on(page, element, IS_CHECKED, json!([])).await {
            Ok(Value::Bool(now)) if now == on => Ok(()),
            // The click has removed it, which is fine.
            Err(Error::Refused { .. }) => Ok(()),
            Err(error) => Err(error.into()),
            Ok(_) => Err(unfit("a click did not change its tick")),
        }
    }

    /// Turns the wheel over a point, or where the mouse is.
    pub(crate) async fn wheel(
        &mut self,
        page: &Page,
        at: Option<Point>,
        (dx, dy): (f64, f64),
    ) -> Result<(), ActionError> {
        let at = at.unwrap_or(self.input_state.at);
        let turned = self.input_state.wheel(at, dx, dy);
        self.send_input(page, vec![turned]).await
    }
}
