//! The mouse: movements, buttons, and the wheel.

use std::time::Duration;

use actions::{Button, Point, Press};
use serde_json::{Value, json};

use crate::act::actionability::Aim;
use crate::act::element::ElementHandle;
use crate::act::input::{InputEvent, InputHold, key};
use crate::act::keys;
use crate::cdp::tracker::Page;
use crate::{ActionError, Error, Session};

/// How long the page's time runs before the mouse follows an element that has moved away from it.
const FOLLOW: [Duration; 4] = [
    Duration::ZERO,
    Duration::from_millis(20),
    Duration::from_millis(100),
    Duration::from_millis(100),
];
/// How many times a hover follows an element.
const HOVERS: usize = 3;

impl Session {
    /// Clicks the centre of an element's visible part, once it is certain that the mouse, which is
    /// there already, hits the element.
    ///
    /// # Errors
    /// When the element cannot be hit, or moves away whenever the mouse comes. Nothing is pressed
    /// then. A double click ends after the first one if the element moves away in between.
    pub(crate) async fn click(
        &mut self,
        page: &Page,
        bid: &str,
        element: &ElementHandle,
        press: &Press,
    ) -> Result<(), ActionError> {
        let keys = self.press_modifiers(press);
        let clicked = self.click_while_held(page, bid, element, press, keys).await;
        // Also after a failure: a key that stays down would change all later input.
        let keys = self.release_modifiers(press);
        if !keys.is_empty() {
            self.send_input(page, keys).await?;
        }
        clicked
    }

    /// Clicks after the events `keys`.
    async fn click_while_held(
        &mut self,
        page: &Page,
        bid: &str,
        element: &ElementHandle,
        press: &Press,
        keys: Vec<InputEvent>,
    ) -> Result<(), ActionError> {
        let (aim, _hold) = self.reach(page, bid, element, keys).await?;
        self.press_and_release(page, press.button, 1).await?;
        if !press.twice {
            return Ok(());
        }
        // The browser does what the first click leads to, such as another tab.
        self.wait_until_idle().await;
        if let Some(by) = self.in_front(page, &aim).await?
            && self.aim_once(page, bid, element, None).await.is_ok()
        {
            return Err(ActionError::Shifted { bid: bid.to_owned(), by });
        }
        self.press_and_release(page, press.button, 2).await
    }

    /// Moves the mouse onto an element, and after it if it moves away. The events `keys` come
    /// first. While the hold lasts, nothing can come between the mouse and the element.
    pub(crate) async fn reach(
        &mut self,
        page: &Page,
        bid: &str,
        element: &ElementHandle,
        mut keys: Vec<InputEvent>,
    ) -> Result<(Aim, InputHold), ActionError> {
        let mut reason = ActionError::Invisible { bid: bid.to_owned() };
        for wait in FOLLOW {
            if !wait.is_zero() {
                self.advance(page, wait).await?;
            }
            let aim = self.aim(page, bid, element).await?;
            let hold = self.hold_input().await;
            keys.push(self.input_state.move_to(aim.at));
            // The keys go out with the first move alone. Later rounds only move.
            self.move_onto(page, std::mem::take(&mut keys)).await?;
            match self.in_front(page, &aim).await? {
                None => {
                    self.receiver = aim.receiver().map(str::to_owned).or(self.receiver.take());
                    return Ok((aim, hold));
                }
                Some(by) => reason = ActionError::Shifted { bid: bid.to_owned(), by },
            }
        }
        Err(reason)
    }

    /// Clicks at a point, whatever is there.
    pub(crate) async fn click_at(
        &mut self,
        page: &Page,
        at: Point,
        press: &Press,
    ) -> Result<(), ActionError> {
        let mut events = self.press_modifiers(press);
        events.push(self.input_state.move_to(at));
        let _hold = self.hold_input().await;
        self.send_input(page, events).await?;
        // Before the press, so that it hits what is there once the mouse has come.
        self.ensure_idle().await;
        self.receiver = self.describe_at(page, at).await;
        self.press_and_release(page, press.button, 1).await?;
        if press.twice {
            self.wait_until_idle().await;
            self.press_and_release(page, press.button, 2).await?;
        }
        let keys = self.release_modifiers(press);
        if keys.is_empty() { Ok(()) } else { self.send_input(page, keys).await }
    }

    /// Presses and releases a button where the mouse is, for the `count`-th time in a row.
    async fn press_and_release(
        &mut self,
        page: &Page,
        button: Button,
        count: u32,
    ) -> Result<(), ActionError> {
        let pressed = self.input_state.press(button, count);
        let released = self.input_state.release(button, count);
        self.send_input(page, vec![pressed, released]).await
    }

    fn press_modifiers(&mut self, press: &Press) -> Vec<InputEvent> {
        let events = press.modifiers.iter().map(|&modifier| {
            let (modifier, bit) = keys::modifier(modifier);
            self.input_state.modifiers |= bit;
            key("rawKeyDown", &modifier, self.input_state.modifiers)
        });
        events.collect()
    }

    fn release_modifiers(&mut self, press: &Press) -> Vec<InputEvent> {
        let events = press.modifiers.iter().rev().map(|&modifier| {
            let (modifier, bit) = keys::modifier(modifier);
            self.input_state.modifiers &= !bit;
            key("keyUp", &modifier, self.input_state.modifiers)
        });
        events.collect()
    }

    /// Moves the mouse over the centre of an element, and after it if it moves away. What covers
    /// the element then is what the hover has led to.
    pub(crate) async fn hover(
        &mut self,
        page: &Page,
        bid: &str,
        element: &ElementHandle,
    ) -> Result<(), ActionError> {
        let mut aim = self.aim(page, bid, element).await?;
        for _ in 0..HOVERS {
            let moved = self.input_state.move_to(aim.at);
            self.move_onto(page, vec![moved]).await?;
            if self.in_front(page, &aim).await?.is_none() {
                break;
            }
            match self.aim_once(page, bid, element, None).await {
                Ok(next) => aim = next,
                Err(ActionError::Browser(error)) => return Err(error.into()),
                Err(_) => break,
            }
        }
        self.receiver = aim.receiver().map(str::to_owned).or(self.receiver.take());
        Ok(())
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
        let _hold = self.hold_input().await;
        self.send_input(page, vec![moved]).await?;
        self.ensure_idle().await;
        self.receiver = self.describe_at(page, at).await;
        let then = if down {
            self.input_state.press(button, 1)
        } else {
            self.input_state.release(button, 1)
        };
        self.send_input(page, vec![then]).await
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
        let unfit =
            |reason: &str| ActionError::Unfit { bid: bid.to_owned(), reason: reason.to_owned() };
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
