//! An input of a person in a page, as its script reports it.

use actions::{Button, Modifier};
use serde::Deserialize;

use super::Password;

/// An input of a person in a page.
#[derive(Debug, Clone, Deserialize)]
pub struct PersonInput {
    /// Its kind.
    pub kind: InputKind,
    /// The URL of the document, which may be a frame's.
    pub url: String,
    /// Whether the document is in a frame.
    pub frame: bool,
    /// The element.
    pub element: PersonTarget,
    /// The HTML of the document; empty for [`InputKind::Point`] and where it is longer than 8 MiB.
    #[serde(default)]
    pub html: String,
    /// The text of a field.
    #[serde(default)]
    pub value: String,
    /// The labels of the options of a list that are chosen.
    #[serde(default)]
    pub options: Vec<String>,
    /// A key, such as `Enter`.
    #[serde(default)]
    pub keys: String,
    /// The button of a click.
    #[serde(default)]
    pub button: Button,
    /// Keys that are held during a click.
    #[serde(default)]
    pub modifiers: Vec<Modifier>,
    /// The contents of the page's password fields.
    #[serde(default)]
    pub passwords: Vec<Password>,
    /// Whether the page shows a password in the clear, so that no picture of it is taken.
    #[serde(default)]
    pub shows_secret: bool,
}

/// The kinds of [`PersonInput`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InputKind {
    /// A button of the mouse went down. A click may follow.
    Point,
    /// A click.
    Click,
    /// A field has a new text.
    Fill,
    /// Other options of a list are chosen.
    Select,
    /// A key that does something besides writing.
    Press,
    /// A file was chosen.
    Upload,
}

/// The element of a [`PersonInput`], as it was before the page knew of the event.
#[derive(Debug, Clone, Deserialize)]
pub struct PersonTarget {
    /// Its role in the accessibility tree.
    pub role: String,
    /// Its accessible name.
    pub name: String,
    /// Its index among the elements of that role and name, from 0.
    pub nth: usize,
    /// How many there are of that role and name.
    pub alike: usize,
    /// Whether an agent finds it by role and name.
    pub named: bool,
    /// A selector of CSS that finds it and nothing else in its document or shadow root.
    pub css: String,
    /// Selectors that lead to it from the page down, through frames and shadow roots, as an action
    /// has them: `#card >> button`. In a frame of another site they begin there.
    pub locator: String,
    /// Its path from the root of the document, as a selector of CSS.
    pub path: String,
    /// Names this very element: others, also in other frames and documents, have other names.
    pub identity: String,
    /// Whether it is in a shadow root, where no selector of the document finds it.
    pub shadow: bool,
    /// The name of its tag.
    pub tag: String,
    /// Its text, cut at 200 characters.
    pub text: String,
    /// Its own HTML, cut at 10,000 characters.
    pub html: String,
    /// Its value or text, cut at 1,000 characters.
    pub value: String,
    /// Whether it is a password, whose value is not told.
    pub secret: bool,
    /// Left, top, width and height in CSS pixels of the page's visible part; `None` in a frame of
    /// another origin, whose place is not known.
    #[serde(rename = "box")]
    pub bounds: Option<[f64; 4]>,
}
