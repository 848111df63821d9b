//! Carrying out actions, by the same input events that a person's mouse and keyboard cause.

use serde_json::json;

use crate::{Action, Error, Session};

/// Why an action had no effect. That is something for the agent to see, unless it is [`ActionError::Browser`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ActionError {
    /// No element has that id, or it has gone since.
    #[error("find element {bid}: {reason}")]
    NotFound {
        /// The id.
        bid: String,
        /// What was found instead.
        reason: &'static str,
    },
    /// Something else is where the element should be clicked.
    #[error("reach element {bid}: {by} is in front of it")]
    Obstructed {
        /// The id.
        bid: String,
        /// The element in front, such as `<div id="banner">`.
        by: String,
    },
    /// The element has no place on the page.
    #[error("reach element {bid}: it is not visible")]
    Invisible {
        /// The id.
        bid: String,
    },
    /// The element is of the wrong kind, or disabled.
    #[error("use element {bid}: {reason}")]
    Unfit {
        /// The id.
        bid: String,
        /// What is wrong.
        reason: String,
    },
    /// There is no such key.
    #[error("press {keys}: there is no key {key}")]
    Key {
        /// The whole combination.
        keys: String,
        /// The part that is unknown.
        key: String,
    },
    /// An address could not be opened.
    #[error("open {url}: {reason}")]
    Navigation {
        /// The address.
        url: String,
        /// The browser's reason.
        reason: String,
    },
    /// There is no page to go back to.
    #[error("go back: this is the first page of the tab")]
    NoHistory,
    /// The browser itself failed.
    #[error(transparent)]
    Browser(#[from] Error),
}

impl Session {
    /// Carries out an action on the active page. Follow it by [`Session::settle`]. What the page refuses is shown by the next observation
    /// too.
    pub async fn act(&mut self, action: &Action) -> Result<(), ActionError> {
        self.last_action_error = None;
        self.acted = None;
        let result = self.carry_out(action).await;
        if let Err(error) = &result {
            self.last_action_error = Some(format!("failed to {error}"));
        }
        result
    }

    async fn carry_out(&mut self, action: &Action) -> Result<(), ActionError> {
        let page = self.watch.lock().active()?;
        let Some(bid) = action.bid() else {
            return match action {
                Action::Goto { url } => self.goto(&page, url).await,
                Action::GoBack => self.go_back(&page).await,
                Action::Scroll { dx, dy } => self.wheel(&page, *dx, *dy).await,
                _ => Ok(()),
            };
        };
        let element = self.element(&page, bid).await?;
        let mut acted = self.describe(&page, &element).await?;
        match action {
            Action::Click { .. } => self.click(&page, bid, &element).await?,
            Action::Fill { value, .. } => {
                self.fill(&page, bid, &element, value).await?;
                acted.value.clone_from(value);
            }
            Action::Select { options, .. } => {
                self.choose(&page, bid, &element, options).await?;
                acted.value = options.join(", ");
            }
            Action::Press { keys, .. } => self.press(&page, &element, keys).await?,
            _ => {}
        }
        // All that a script got hold of for this action is let go.
        drop(self.cdp().send(
            Some(&page.session),
            "Runtime.releaseObjectGroup",
            json!({ "objectGroup": "act" }),
        ));
        self.acted = Some(acted);
        Ok(())
    }
}
