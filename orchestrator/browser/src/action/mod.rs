//! What an agent can do. Every dialect that agents speak is read into [`Action`] and written from it.

mod browsergym;

pub use browsergym::ParseError;

/// One action. Elements are named by the `bid` that the last observation shows.
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
    /// Chooses in a `<select>`, by value or by label.
    Select {
        /// The element.
        bid: String,
        /// All that shall be selected.
        options: Vec<String>,
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
        /// Where the mouse is; in the middle of the page unless said.
        at: Option<Point>,
        /// To the right.
        dx: f64,
        /// Down.
        dy: f64,
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

    /// The element that the action is about, if any.
    pub fn bid(&self) -> Option<&str> {
        match self {
            Self::Click { bid, .. }
            | Self::Hover { bid }
            | Self::Fill { bid, .. }
            | Self::Clear { bid }
            | Self::Tick { bid, .. }
            | Self::Select { bid, .. }
            | Self::Press { bid, .. }
            | Self::Focus { bid }
            | Self::Drag { from: bid, .. } => Some(bid),
            _ => None,
        }
    }

    /// Whether the episode ends with it.
    pub fn is_final(&self) -> bool {
        matches!(self, Self::Answer { .. } | Self::Infeasible { .. })
    }
}
