//! The type [`Action`], and what actions are made of.

use serde::Deserialize;

use crate::turkingbench;

/// One action. It names elements by the bid in the last observation, or by `css=SELECTOR`: the
/// first element that the selector finds, in the page or else in its frames, in their order.
/// `css=SELECTOR >> SELECTOR` goes into the shadow root or the frame of what was found first.
#[derive(Debug, Clone, PartialEq)]
pub enum Action {
    /// Clicks the centre of an element.
    Click {
        /// The element.
        bid: String,
        /// The button, the number of clicks, and the held keys.
        press: Press,
    },
    /// Moves the mouse over an element.
    Hover {
        /// The element.
        bid: String,
    },
    /// Replaces the content of an input.
    Fill {
        /// The element.
        bid: String,
        /// Its new content.
        value: String,
        /// Key by key, so that suggestions open; otherwise at once.
        by_keys: bool,
    },
    /// Replaces the content of an input at once, and presses Enter in it.
    FillAndEnter {
        /// The element.
        bid: String,
        /// Its new content.
        value: String,
    },
    /// Clicks the centre of an element and types key by key, after its present content. A line
    /// break is the Enter key.
    TypeInto {
        /// The element.
        bid: String,
        /// The text.
        text: String,
    },
    /// Empties an input.
    Clear {
        /// The element.
        bid: String,
    },
    /// Checks or unchecks a checkbox or radio button, if it is not so already.
    Tick {
        /// The element.
        bid: String,
        /// Whether it has to be checked.
        on: bool,
    },
    /// Checks several checkboxes, up to the first that fails.
    TickAll {
        /// The elements.
        bids: Vec<String>,
    },
    /// Selects options of a `<select>`, by value or by label.
    Select {
        /// The element.
        bid: String,
        /// All options that have to be selected.
        options: Vec<String>,
    },
    /// Selects the one option of a `<select>` whose label is most like a text, by the measure of
    /// Python's `difflib`.
    SelectClosest {
        /// The element.
        bid: String,
        /// A text that is similar to the label.
        label: String,
    },
    /// Presses keys on an element, such as `Enter` or `Control+a`.
    Press {
        /// Presses keys on an element, such as `Enter` or `Control+a`.
        bid: String,
        /// Modifiers and one key, joined by `+`.
        keys: String,
    },
    /// Focuses an element.
    Focus {
        /// The element.
        bid: String,
    },
    /// Drags one element onto another.
    Drag {
        /// The dragged element.
        from: String,
        /// The element onto which it is dropped.
        to: String,
    },
    /// Turns the mouse wheel, in CSS pixels.
    Scroll {
        /// Where the mouse goes first; `None` leaves it in place, at first in the upper left
        /// corner.
        at: Option<Point>,
        /// To the right.
        dx: f64,
        /// Down.
        dy: f64,
    },
    /// Scrolls the page itself, whatever is under the mouse.
    ScrollPage {
        /// Down, as a multiple of the window's height.
        by: f64,
    },
    /// Scrolls until an element is in the centre of the window.
    ScrollTo {
        /// The element.
        bid: String,
    },
    /// Moves the mouse.
    MouseMove(Point),
    /// Moves the mouse and presses a button, which stays down.
    MouseDown(Point, Button),
    /// Moves the mouse and releases a button.
    MouseUp(Point, Button),
    /// Clicks at a point.
    MouseClick(Point, Press),
    /// Drags from one point to another.
    MouseDrag(Point, Point),
    /// Clicks an element that opens a file chooser, and uploads files.
    Upload {
        /// The element.
        bid: String,
        /// Files of the task or its downloads, by their names in the folder.
        files: Vec<String>,
    },
    /// Clicks at a point that opens a file chooser, and uploads files.
    UploadAt(Point, Vec<String>),
    /// Sets how dialogs are answered from now on; see `browser::Dialog`.
    HandleDialogs {
        /// Whether they are accepted.
        accept: bool,
        /// The text for a `prompt`; its default if `None`.
        text: Option<String>,
    },
    /// Presses keys on the focused element.
    KeyPress(String),
    /// Presses a key, which stays down.
    KeyDown(String),
    /// Releases a key.
    KeyUp(String),
    /// Types a text into the focused element, key by key.
    Type(String),
    /// Inserts a text into the focused element, at once.
    Insert(String),
    /// Opens a URL in the active tab.
    Goto {
        /// An absolute URL.
        url: String,
    },
    /// Opens the results of the world's search engine (`browser::Launch::search`) in the active
    /// tab.
    Search {
        /// The query.
        query: String,
    },
    /// Goes back in the tab's history.
    GoBack,
    /// Goes forward in the tab's history.
    GoForward,
    /// Opens an empty tab, which becomes the active one.
    NewTab,
    /// Closes the active tab. The one used before becomes active; an empty tab takes the place of
    /// the last.
    CloseTab,
    /// Makes another tab the active one.
    FocusTab {
        /// Its index from 0, in the order of opening.
        index: usize,
    },
    /// Does nothing for [`Action::NOOP_MS`] of the page's time.
    Noop,
    /// Does nothing for so long, in milliseconds of the page's time.
    Wait {
        /// At most [`Action::MAX_WAIT_MS`].
        millis: u32,
    },
    /// Sends the user a message, and goes on. The last message is the answer of an agent that stops
    /// without giving one.
    Say {
        /// The message.
        text: String,
    },
    /// Keeps a note: it is in the trace and changes nothing.
    Note {
        /// The note.
        text: String,
    },
    /// Ends the episode.
    Stop,
    /// Gives the answer, in the agent's words.
    Answer {
        /// The answer.
        text: String,
    },
    /// Declares that the task cannot be done.
    Infeasible {
        /// The reason.
        reason: String,
    },
}

/// A point on the page, in CSS pixels from the upper left corner of the view.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// To the right.
    pub x: f64,
    /// Down.
    pub y: f64,
}

/// How a mouse button is pressed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Press {
    /// The button.
    pub button: Button,
    /// Keys that are held meanwhile.
    pub modifiers: Vec<Modifier>,
    /// A double click.
    pub twice: bool,
}

/// A button of the mouse.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Button {
    /// The primary button.
    #[default]
    Left,
    /// The wheel.
    Middle,
    /// The button for context menus.
    Right,
}

/// A key that is held during another input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub enum Modifier {
    /// `Alt`.
    Alt,
    /// `Control`.
    Control,
    /// `Control`, but on a Mac `Meta`.
    ControlOrMeta,
    /// The Windows or command key.
    Meta,
    /// `Shift`.
    Shift,
}

impl Button {
    /// All buttons.
    pub const ALL: [Button; 3] = [Button::Left, Button::Middle, Button::Right];

    /// Its name in the protocol and in every dialect.
    pub fn as_str(self) -> &'static str {
        match self {
            Button::Left => "left",
            Button::Middle => "middle",
            Button::Right => "right",
        }
    }
}

impl Modifier {
    /// All modifiers.
    pub const ALL: [Modifier; 5] = [
        Modifier::Alt,
        Modifier::Control,
        Modifier::ControlOrMeta,
        Modifier::Meta,
        Modifier::Shift,
    ];

    /// Its name in every dialect.
    pub fn as_str(self) -> &'static str {
        match self {
            Modifier::Alt => "Alt",
            Modifier::Control => "Control",
            Modifier::ControlOrMeta => "ControlOrMeta",
            Modifier::Meta => "Meta",
            Modifier::Shift => "Shift",
        }
    }
}

impl Action {
    /// How long [`Action::Noop`] takes, as in BrowserGym, in milliseconds of the page's time.
    pub const NOOP_MS: f64 = 1000.0;
    /// How long [`Action::Wait`] takes at most, in milliseconds of the page's time.
    pub const MAX_WAIT_MS: f64 = 60_000.0;

    /// A plain click.
    pub fn click(bid: impl Into<String>) -> Self {
        Self::Click { bid: bid.into(), press: Press::default() }
    }

    /// Fills in the form field of this type and name, as TurkingBench's solvers do. Values of boxes
    /// are joined by `|`. `None` for types that they do not fill in.
    pub fn fill_in(kind: &str, name: &str, value: &str) -> Option<Self> {
        turkingbench::fill_in(kind, name, value)
    }

    /// The element of the action, if it has one; the first of several.
    pub fn bid(&self) -> Option<&str> {
        match self {
            Self::Click { bid, .. }
            | Self::Hover { bid }
            | Self::Fill { bid, .. }
            | Self::FillAndEnter { bid, .. }
            | Self::TypeInto { bid, .. }
            | Self::Clear { bid }
            | Self::Tick { bid, .. }
            | Self::Select { bid, .. }
            | Self::SelectClosest { bid, .. }
            | Self::ScrollTo { bid }
            | Self::Press { bid, .. }
            | Self::Focus { bid }
            | Self::Upload { bid, .. }
            | Self::Drag { from: bid, .. } => Some(bid),
            Self::TickAll { bids } => bids.first().map(String::as_str),
            _ => None,
        }
    }

    /// The points on the screen that the action names, in their order; none for elements or the
    /// page.
    pub fn points(&self) -> Vec<Point> {
        match self {
            Self::Scroll { at, .. } => at.iter().copied().collect(),
            Self::MouseMove(at)
            | Self::MouseDown(at, _)
            | Self::MouseUp(at, _)
            | Self::MouseClick(at, _)
            | Self::UploadAt(at, _) => vec![*at],
            Self::MouseDrag(from, to) => vec![*from, *to],
            _ => Vec::new(),
        }
    }

    /// Whether it ends the episode.
    pub fn is_final(&self) -> bool {
        matches!(self, Self::Answer { .. } | Self::Infeasible { .. } | Self::Stop)
    }
}

/// Whether a text looks like a bid: the letters of a frame, the first of them lower-case, or
/// digits, or both.
pub(crate) fn is_bid(text: &str) -> bool {
    let digits = text.trim_start_matches(|c: char| c.is_ascii_alphabetic());
    let begins_well = text.starts_with(|c: char| c.is_ascii_lowercase() || c.is_ascii_digit());
    begins_well && digits.bytes().all(|byte| byte.is_ascii_digit())
}
