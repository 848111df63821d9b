//! What an agent can do. Every [`Dialect`] that agents speak is read into [`Action`] and written from it.

mod arguments;
mod browsergym;
mod dialect;
mod error;
mod json5;
mod seeact;
mod turkingbench;
mod webarena;
mod webcanvas;

pub use dialect::{Dialect, UnknownDialect};
pub use error::ParseError;
pub use seeact::choice_name;

/// One action. Elements are named by the `bid` that the last observation shows, or by `css=SELECTOR`: the first element that the selector
/// finds, in the page itself or else in its frames, in their order.
#[derive(Debug, Clone, PartialEq)]
pub enum Action {
    /// Clicks in the middle of an element.
    Click {
        /// The element.
        bid: String,
        /// With which button, how often, and which keys held.
        press: Press,
    },
    /// Moves the mouse over an element.
    Hover {
        /// The element.
        bid: String,
    },
    /// Replaces what an input holds.
    Fill {
        /// The element.
        bid: String,
        /// Its new content.
        value: String,
        /// Key by key, so that menus of suggestions open; otherwise at once.
        by_keys: bool,
    },
    /// Replaces what an input holds, at once, and presses Enter in it.
    FillAndEnter {
        /// The element.
        bid: String,
        /// Its new content.
        value: String,
    },
    /// Clicks in the middle of an element and types there key by key, into what it holds; a line break is the Enter key.
    TypeInto {
        /// The element.
        bid: String,
        /// What is typed.
        text: String,
    },
    /// Empties an input.
    Clear {
        /// The element.
        bid: String,
    },
    /// Ticks a checkbox or radio button, or takes the tick away; nothing where it is so already.
    Tick {
        /// The element.
        bid: String,
        /// Whether it shall have a tick.
        on: bool,
    },
    /// Ticks several checkboxes, up to the first that cannot be.
    TickAll {
        /// The elements.
        bids: Vec<String>,
    },
    /// Chooses in a `<select>`, by value or by label.
    Select {
        /// The element.
        bid: String,
        /// All that shall be selected.
        options: Vec<String>,
    },
    /// Chooses the one option of a `<select>` whose label is most like a text, as Python's `difflib` measures it.
    SelectClosest {
        /// The element.
        bid: String,
        /// About what the option says.
        label: String,
    },
    /// Presses keys on an element, such as `Enter` or `Control+a`.
    Press {
        /// The element.
        bid: String,
        /// Modifiers and one key, joined by `+`.
        keys: String,
    },
    /// Gives an element the focus.
    Focus {
        /// The element.
        bid: String,
    },
    /// Drags one element onto another.
    Drag {
        /// What is dragged.
        from: String,
        /// Where it is let go.
        to: String,
    },
    /// Turns the mouse wheel, by CSS pixels.
    Scroll {
        /// Where the mouse goes first; it stays where it is unless said, in the upper left corner at first.
        at: Option<Point>,
        /// To the right.
        dx: f64,
        /// Down.
        dy: f64,
    },
    /// Scrolls the page itself, whatever is under the mouse.
    ScrollPage {
        /// Downwards, in heights of the window.
        by: f64,
    },
    /// Scrolls until an element is in the middle of the window.
    ScrollTo {
        /// The element.
        bid: String,
    },
    /// Moves the mouse.
    MouseMove(Point),
    /// Moves the mouse and presses a button, which stays down.
    MouseDown(Point, Button),
    /// Moves the mouse and lets go of a button.
    MouseUp(Point, Button),
    /// Clicks at a place.
    MouseClick(Point, Press),
    /// Drags from one place to another.
    MouseDrag(Point, Point),
    /// Clicks on an element that asks for files, and gives them.
    Upload {
        /// The element.
        bid: String,
        /// Files of the task or its downloads, by their names in the folder.
        files: Vec<String>,
    },
    /// Clicks at a place that asks for files, and gives them.
    UploadAt(Point, Vec<String>),
    /// Says how dialogs are to be answered from now on; see [`Dialog`](crate::Dialog).
    HandleDialogs {
        /// Whether they are accepted.
        accept: bool,
        /// What is entered into a `prompt`; what stands in it already unless said.
        text: Option<String>,
    },
    /// Presses keys on what has the focus.
    KeyPress(String),
    /// Presses a key, which stays down.
    KeyDown(String),
    /// Lets go of a key.
    KeyUp(String),
    /// Types a text into what has the focus, key by key.
    Type(String),
    /// Puts a text into what has the focus, at once.
    Insert(String),
    /// Opens an address in the active tab.
    Goto {
        /// An absolute URL.
        url: String,
    },
    /// Opens the results of the world's search engine ([`Launch::search`](crate::Launch::search)) in the active tab.
    Search {
        /// What is looked for.
        query: String,
    },
    /// Goes back in the tab's history.
    GoBack,
    /// Goes forward again.
    GoForward,
    /// Opens an empty tab, which becomes the active one.
    NewTab,
    /// Closes the active tab; the one used before becomes active. An empty tab takes the place of the only one.
    CloseTab,
    /// Makes another tab the active one.
    FocusTab {
        /// Counted from 0, in the order of their opening.
        index: usize,
    },
    /// Does nothing; the page's time runs on.
    Noop,
    /// Tells the user something, and goes on. What was said last is the answer of an agent that then stops without giving one.
    Say {
        /// What is said.
        text: String,
    },
    /// Keeps something in mind: it stands in the trace and changes nothing.
    Note {
        /// What is kept.
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
        /// Why not.
        reason: String,
    },
}

/// A place on the page, in CSS pixels from the upper left corner of what is visible.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// To the right.
    pub x: f64,
    /// Down.
    pub y: f64,
}

/// How a button of the mouse is pressed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Press {
    /// Which one.
    pub button: Button,
    /// Keys that are held meanwhile.
    pub modifiers: Vec<Modifier>,
    /// A double click.
    pub twice: bool,
}

/// A button of the mouse.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Button {
    /// The one that clicks.
    #[default]
    Left,
    /// The wheel.
    Middle,
    /// The one for menus.
    Right,
}

/// A key that is held while something else happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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
    /// All of them.
    pub const ALL: [Button; 3] = [Button::Left, Button::Middle, Button::Right];

    /// As the protocol and every dialect spell it.
    pub fn as_str(self) -> &'static str {
        match self {
            Button::Left => "left",
            Button::Middle => "middle",
            Button::Right => "right",
        }
    }

    /// Its bit among the buttons that are down.
    pub(crate) fn bit(self) -> u32 {
        match self {
            Button::Left => 1,
            Button::Right => 2,
            Button::Middle => 4,
        }
    }
}

impl Modifier {
    /// All of them.
    pub const ALL: [Modifier; 5] =
        [Modifier::Alt, Modifier::Control, Modifier::ControlOrMeta, Modifier::Meta, Modifier::Shift];

    /// As every dialect spells it.
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
    /// A plain click.
    pub fn click(bid: impl Into<String>) -> Self {
        Self::Click { bid: bid.into(), press: Press::default() }
    }

    /// Fills in the field of a form that has this type and name, as TurkingBench's solvers do. Boxes are named by their values, joined by `|`.
    /// None for types that they do not fill in.
    pub fn fill_in(kind: &str, name: &str, value: &str) -> Option<Self> {
        turkingbench::fill_in(kind, name, value)
    }

    /// The element that the action is about, if any; of several the first.
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

    /// The places on the screen that the action names, in its order; none where it is about elements or the page.
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

    /// Whether the episode ends with it.
    pub fn is_final(&self) -> bool {
        matches!(self, Self::Answer { .. } | Self::Infeasible { .. } | Self::Stop)
    }
}

/// Whether a text has the shape of the ids that observations show: the letters of a frame, the first of them a small one, or digits, or both.
fn is_bid(text: &str) -> bool {
    let digits = text.trim_start_matches(|c: char| c.is_ascii_alphabetic());
    let begins_well = text.starts_with(|c: char| c.is_ascii_lowercase() || c.is_ascii_digit());
    begins_well && digits.bytes().all(|byte| byte.is_ascii_digit())
}
