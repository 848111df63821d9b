//! Why an action had no effect. Texts read after "failed to ...".

use crate::Error;

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
    /// There is no page to go back or forward to.
    #[error("go {}: this is the {} page of the tab", if *forward { "forward" } else { "back" }, if *forward { "last" } else { "first" })]
    NoHistory {
        /// In which direction.
        forward: bool,
    },
    /// There is no such tab.
    #[error("go to tab {index}: there are {tabs}, counted from 0")]
    NoTab {
        /// The one that was asked for.
        index: usize,
        /// How many there are.
        tabs: usize,
    },
    /// A page asked for no file.
    #[error("upload a file: a click there does not ask for one")]
    NoChooser,
    /// A file cannot be given to the page.
    #[error("upload {name}: {reason}")]
    File {
        /// How it was named.
        name: String,
        /// What is wrong.
        reason: &'static str,
    },
    /// The browser itself failed.
    #[error(transparent)]
    Browser(#[from] Error),
}
