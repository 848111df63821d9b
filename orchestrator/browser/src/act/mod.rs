//! Carries out the actions of an agent, by the input events that a person's mouse and keyboard
//! cause.
//!
//! ```text
//! element, selector     from the name in an action to a handle on the element
//! actionability         where an element can be hit, and what is in front of it (`hit.js`)
//! input                 events of mouse and keyboard, and what is held down between them
//! mouse, scroll, drag   moving, clicking, scrolling, dragging
//! keyboard, keys        typing, filling, key combinations
//! closest_option        the option of a `<select>` that is most like a text
//! navigate, tabs        addresses and the history of a tab; tabs
//! dialogs, downloads, upload   what passes between a page and its user besides the page
//! state                 what the browser has told of these
//! ```
//!
//! How actions are written is in the crate [`actions`]. Nothing here waits until a page is done:
//! [`Session::settle`] follows each action.

mod actionability;
mod closest_option;
pub(crate) mod dialogs;
pub(crate) mod downloads;
mod drag;
pub(crate) mod element;
mod error;
pub(crate) mod input;
mod keyboard;
mod keys;
mod mouse;
mod navigate;
mod scroll;
mod selector;
pub(crate) mod state;
mod tabs;
pub(crate) mod upload;

use std::time::Duration;

use actions::{Action, Point, Press};
pub use error::ActionError;
use serde_json::json;

use crate::Session;
use crate::act::dialogs::DialogPolicy;
use crate::act::state::ActState;
use crate::cdp::tracker::Page;

/// The longest way to scroll at once, in CSS pixels. Chromium's pages end before that.
const LONGEST_SCROLL: f64 = 40_000_000.0;

impl Session {
    /// Carries out an action on the active page. [`Session::settle`] should follow. If the action
    /// has no effect, the next observation shows the reason, too.
    pub async fn act(&mut self, action: &Action) -> Result<(), ActionError> {
        self.last_action = Some(action.to_string());
        self.last_action_error = None;
        self.action_target = None;
        self.receiver = None;
        self.notices.clear();
        self.tracker.lock().part_mut::<ActState>().begin_action();
        let result = self.perform(action).await;
        if let Err(error) = &result {
            self.receiver = None;
            self.last_action_error = Some(format!("failed to {error}"));
        }
        result
    }

    async fn perform(&mut self, action: &Action) -> Result<(), ActionError> {
        self.check_places(action)?;
        let page = self.tracker.lock().active()?;
        // Before the action: keys may move the focus elsewhere.
        if is_of_keys(action) {
            self.receiver = self.describe_focused(&page).await;
        }
        match action {
            Action::Scroll { at, dx, dy } => self.wheel(&page, *at, (*dx, *dy)).await,
            Action::MouseMove(at) => self.move_mouse(&page, *at).await,
            Action::MouseDown(at, button) => self.move_and_press(&page, *at, *button, true).await,
            Action::MouseUp(at, button) => self.move_and_press(&page, *at, *button, false).await,
            Action::MouseClick(at, press) => self.click_at(&page, *at, press).await,
            Action::MouseDrag(from, to) => self.drag_between(&page, *from, *to).await,
            Action::UploadAt(at, files) => self.upload_at(&page, *at, files).await,
            Action::KeyPress(keys) => self.press_keys(&page, keys).await,
            Action::KeyDown(key) => self.press_or_release_key(&page, key, true).await,
            Action::KeyUp(key) => self.press_or_release_key(&page, key, false).await,
            Action::Type(text) => self.type_text(&page, text).await,
            Action::Insert(text) => self.insert_text(&page, text).await,
            Action::ScrollPage { by } => self.scroll_page(&page, *by).await,
            Action::Goto { url } => self.goto(&page, url).await,
            Action::Search { query } => self.goto(&page, &self.launch.search_url(query)).await,
            Action::GoBack => self.traverse_history(&page, false).await,
            Action::GoForward => self.traverse_history(&page, true).await,
            Action::NewTab => self.new_tab().await,
            Action::CloseTab => self.close_tab(&page).await,
            Action::FocusTab { index } => self.focus_tab(*index).await,
            Action::HandleDialogs { accept, text } => {
                self.tracker.lock().part_mut::<ActState>().dialog_policy =
                    Some(DialogPolicy { accept: *accept, text: text.clone() });
                Ok(())
            }
            Action::Noop => {
                Ok(self.advance(&page, Duration::from_secs_f64(Action::NOOP_MS / 1000.0)).await?)
            }
            Action::Wait { millis } => {
                Ok(self.advance(&page, Duration::from_millis((*millis).into())).await?)
            }
            Action::Say { .. }
            | Action::Note { .. }
            | Action::Answer { .. }
            | Action::Infeasible { .. }
            | Action::Stop => Ok(()),
            on_element => self.perform_on_element(&page, on_element).await,
        }
    }

    /// Refuses places outside of the view. Chromium takes any number, and does not reply to some.
    fn check_places(&self, action: &Action) -> Result<(), ActionError> {
        let (width, height) = self.launch.device.viewport;
        let is_inside = |at: f64, size: u32| (0.0..=f64::from(size)).contains(&at);
        for Point { x, y } in action.points() {
            if !is_inside(x, width) || !is_inside(y, height) {
                return Err(ActionError::Outside { x, y, width, height });
            }
        }
        let distances = match action {
            Action::Scroll { dx, dy, .. } => [*dx, *dy],
            Action::ScrollPage { by } => [*by, 0.0],
            _ => [0.0, 0.0],
        };
        match distances.into_iter().find(|by| !(-LONGEST_SCROLL..=LONGEST_SCROLL).contains(by)) {
            Some(by) => Err(ActionError::ScrollDistance { by }),
            None => Ok(()),
        }
    }

    async fn perform_on_element(
        &mut self,
        page: &Page,
        action: &Action,
    ) -> Result<(), ActionError> {
        let Some(bid) = action.bid() else { return Ok(()) };
        let element = self.resolve_element(page, bid).await?;
        let (mut action_target, described) = self.describe_target(page, &element).await?;
        self.receiver = described;
        match action {
            Action::Click { press, .. } => self.click(page, bid, &element, press).await?,
            Action::Hover { .. } => self.hover(page, bid, &element).await?,
            Action::Fill { value, by_keys, .. } => {
                self.fill(page, bid, &element, value, *by_keys).await?;
                action_target.value.clone_from(value);
            }
            Action::FillAndEnter { value, .. } => {
                self.fill(page, bid, &element, value, false).await?;
                self.press(page, &element, "Enter").await?;
                action_target.value.clone_from(value);
            }
            Action::TypeInto { text, .. } => {
                self.click(page, bid, &element, &Press::default()).await?;
                self.type_text(page, text).await?;
            }
            Action::Clear { .. } => {
                self.fill(page, bid, &element, "", false).await?;
                action_target.value.clear();
            }
            Action::Tick { on, .. } => self.set_checked(page, bid, &element, *on).await?,
            Action::TickAll { bids } => {
                for bid in bids {
                    let element = self.resolve_element(page, bid).await?;
                    self.receiver = self.describe(page, &element).await;
                    self.set_checked(page, bid, &element, true).await?;
                }
            }
            Action::Select { options, .. } => {
                self.select_options(page, bid, &element, json!(options)).await?;
                action_target.value = options.join(", ");
            }
            Action::SelectClosest { label, .. } => {
                action_target.value =
                    self.select_closest_option(page, bid, &element, label).await?;
            }
            Action::Upload { files, .. } => self.upload(page, bid, &element, files).await?,
            Action::ScrollTo { .. } => self.scroll_to(page, &element).await?,
            Action::Press { keys, .. } => self.press(page, &element, keys).await?,
            Action::Focus { .. } => self.focus(page, &element).await?,
            Action::Drag { to, .. } => self.drag(page, bid, &element, to).await?,
            _ => {}
        }
        // Releases all objects that scripts returned for this action.
        drop(self.cdp().send(
            Some(&page.session),
            "Runtime.releaseObjectGroup",
            json!({ "objectGroup": "act" }),
        ));
        self.action_target = Some(action_target);
        Ok(())
    }
}

/// Whether an action is keys for whatever has the focus.
fn is_of_keys(action: &Action) -> bool {
    matches!(
        action,
        Action::KeyPress(_)
            | Action::KeyDown(_)
            | Action::KeyUp(_)
            | Action::Type(_)
            | Action::Insert(_)
    )
}
