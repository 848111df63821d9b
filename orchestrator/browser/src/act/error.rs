//! The reasons for which an action has no effect. Their texts read after "failed to ...".

use crate::Error;

/// A reason why an action had no effect. The agent sees it, unless it is [`ActionError::Browser`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ActionError {
    /// No element has that bid, or it has gone.
    #[error("find element {bid}: {reason}")]
    NotFound {
        /// The bid.
        bid: String,
        /// The reason.
        reason: &'static str,
    },
    /// Something else is where the element has to be clicked.
    #[error("reach element {bid}: {by} is in front of it")]
    Obstructed {
        /// The bid.
        bid: String,
        /// The element in front, such as `<div id="banner">`.
        by: String,
    },
    /// The element is elsewhere whenever the mouse comes to it, or something comes in front of it.
    #[error(
        "press element {bid}: it does not stay where it is, and {by} is there once the mouse comes"
    )]
    Shifted {
        /// The bid.
        bid: String,
        /// The element in its place, such as `<button id="next">`.
        by: String,
    },
    /// The element is not visible on the page.
    #[error("reach element {bid}: it is not visible")]
    Invisible {
        /// The bid.
        bid: String,
    },
    /// The element is of the wrong kind, or disabled.
    #[error("use element {bid}: {reason}")]
    Unfit {
        /// The bid.
        bid: String,
        /// The reason.
        reason: String,
    },
    /// No key has that name.
    #[error("press {keys}: there is no key {key}")]
    Key {
        /// The whole combination.
        keys: String,
        /// The unknown part.
        key: String,
    },
    /// A URL could not be opened.
    #[error("open {url}: {reason}")]
    Navigation {
        /// The URL.
        url: String,
        /// The browser's reason.
        reason: String,
    },
    /// There is no page to go back or forward to.
    #[error("go {}: this is the {} page of the tab", if *forward { "forward" } else { "back" }, if *forward { "last" } else { "first" })]
    NoHistory {
        /// The direction.
        forward: bool,
    },
    /// A place, or a way to scroll, is outside of what a page can have.
    #[error("point at ({x}, {y}): the page is {width} wide and {height} high, as it is seen")]
    Outside {
        /// To the right.
        x: f64,
        /// Down.
        y: f64,
        /// Of the view, in CSS pixels.
        width: u32,
        /// Of the view, in CSS pixels.
        height: u32,
    },
    /// No page can be scrolled so far.
    #[error("scroll by {by}: no page is as long as that")]
    ScrollDistance {
        /// In CSS pixels, or in views.
        by: f64,
    },
    /// No tab has that number.
    #[error("go to tab {index}: there are {tabs}, counted from 0")]
    NoTab {
        /// The requested tab.
        index: usize,
        /// How many tabs there are.
        tabs: usize,
    },
    /// The page did not ask for a file.
    #[error("upload a file: a click there does not ask for one")]
    NoChooser,
    /// A file cannot be uploaded.
    #[error("upload {name}: {reason}")]
    File {
        /// Its name in the action.
        name: String,
        /// The reason.
        reason: &'static str,
    },
    /// The browser itself failed.
    #[error(transparent)]
    Browser(#[from] Error),
}
