//! Solutions written by hand: actions on elements that are named by role and name, as a screen
//! reader would.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An element of the page, found in the accessibility tree when the step is taken.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Element {
    /// Its ARIA role, such as `link`; or `css`, for an element that no role and name tell.
    pub role: String,
    /// Its accessible name, in full; with the role `css` the selector that finds it, which ` >> `
    /// leads into the shadow root or the frame that a selector before has found: `#card >> button`.
    pub name: String,
    /// The index among several elements of that role and name, counted from 0 in page order.
    #[serde(default)]
    pub nth: usize,
}

/// The role of elements that are named by a selector of CSS.
pub const CSS_ROLE: &str = "css";

impl Element {
    /// The selector of an element that is named by one.
    pub fn css(&self) -> Option<&str> {
        (self.role == CSS_ROLE).then_some(&*self.name)
    }
}

/// One action of a solution.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OracleStep {
    /// Click an element: `click: {role: link, name: Timetable}`; also with another button, or while
    /// keys are held: `click: {role: link, name: Timetable, button: middle}`.
    Click(Click),
    /// Replace the text of a field: `fill: {role: textbox, name: From, value: Alton}`.
    Fill(Fill),
    /// Choose options of a list by label or value: `select: {role: combobox, name: Class, options:
    /// [First]}`.
    Select(Select),
    /// Fill in the field of a form, whatever its type: `field: {name: comment, value: fine}`.
    Field(FormField),
    /// Press keys on an element: `press: {role: textbox, name: From, keys: Enter}`.
    Press(Press),
    /// Scroll the page by CSS pixels: `scroll: {dx: 0, dy: 600}`.
    Scroll(Scroll),
    /// Load a URL: `goto: https://rail.test/`.
    Goto(String),
    /// Go one page back in history.
    GoBack,
    /// Go one page forward in history.
    GoForward,
    /// Open an empty tab.
    NewTab,
    /// Close the tab that is in front.
    CloseTab,
    /// Bring another tab to the front: `focus_tab: 0` is the first one.
    FocusTab(usize),
    /// Let a moment of page time pass.
    Noop,
    /// Give the answer and end the episode.
    Answer(String),
    /// Say that the goal cannot be reached, and why: `infeasible: There is no such order`.
    Infeasible(String),
}

/// See [`OracleStep::Click`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "ClickKeys", into = "ClickKeys")]
pub struct Click {
    /// The element to click.
    pub element: Element,
    /// With which button.
    pub button: MouseButton,
    /// Keys that are held meanwhile.
    pub modifiers: Vec<ModifierKey>,
}

/// A button of the mouse.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MouseButton {
    /// The primary button.
    #[default]
    Left,
    /// The wheel, which opens a link in a new tab.
    Middle,
    /// The button for context menus.
    Right,
}

/// A key that is held during a click.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum ModifierKey {
    /// `Alt`.
    Alt,
    /// `Control`.
    Control,
    /// `Control`, but on a Mac `Meta`: it opens a link in a new tab.
    ControlOrMeta,
    /// The Windows or command key.
    Meta,
    /// `Shift`.
    Shift,
}

/// See [`OracleStep::Fill`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "FillKeys", into = "FillKeys")]
pub struct Fill {
    /// The field.
    pub element: Element,
    /// Its new text.
    pub value: String,
}

/// See [`OracleStep::Select`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "SelectKeys", into = "SelectKeys")]
pub struct Select {
    /// The list.
    pub element: Element,
    /// Labels or values of the options to choose.
    pub options: Vec<String>,
}

/// See [`OracleStep::Field`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FormField {
    /// Its `name`. A field that the page does not show is tried once more after all other steps,
    /// and then passed over.
    pub name: String,
    /// The value to fill in; for boxes the values of those to tick, joined by `|`.
    pub value: String,
}

/// See [`OracleStep::Press`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "PressKeys", into = "PressKeys")]
pub struct Press {
    /// The element that receives the keys.
    pub element: Element,
    /// A key or a combination such as `Control+A`.
    pub keys: String,
}

/// See [`OracleStep::Scroll`].
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Scroll {
    /// To the right.
    #[serde(default)]
    pub dx: f64,
    /// Down.
    #[serde(default)]
    pub dy: f64,
}

impl OracleStep {
    /// The element that the step acts on, to be changed.
    pub fn element_mut(&mut self) -> Option<&mut Element> {
        match self {
            OracleStep::Click(Click { element, .. })
            | OracleStep::Fill(Fill { element, .. })
            | OracleStep::Select(Select { element, .. })
            | OracleStep::Press(Press { element, .. }) => Some(element),
            _ => None,
        }
    }

    /// The element that the step acts on.
    pub fn element(&self) -> Option<&Element> {
        match self {
            OracleStep::Click(Click { element, .. })
            | OracleStep::Fill(Fill { element, .. })
            | OracleStep::Select(Select { element, .. })
            | OracleStep::Press(Press { element, .. }) => Some(element),
            OracleStep::Field(_)
            | OracleStep::Scroll(_)
            | OracleStep::Goto(_)
            | OracleStep::GoBack
            | OracleStep::GoForward
            | OracleStep::NewTab
            | OracleStep::CloseTab
            | OracleStep::FocusTab(_)
            | OracleStep::Noop
            | OracleStep::Answer(_)
            | OracleStep::Infeasible(_) => None,
        }
    }
}

impl MouseButton {
    fn is_left(&self) -> bool {
        *self == MouseButton::Left
    }
}

impl From<Element> for Click {
    fn from(element: Element) -> Click {
        Click { element, button: MouseButton::Left, modifiers: Vec::new() }
    }
}

/// YAML spells element and arguments in one map; `#[serde(flatten)]` would give up refusing unknown
/// keys.
macro_rules! flat_keys {
    ($keys:ident for $step:ident { $($(#[$meta:meta])* $field:ident: $type:ty),+ }) => {
        #[derive(Serialize, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields)]
        struct $keys {
            role: String,
            name: String,
            #[serde(default)]
            nth: usize,
            $($(#[$meta])* $field: $type,)+
        }

        impl JsonSchema for $step {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($step).into()
            }

            fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                $keys::json_schema(generator)
            }
        }

        impl From<$keys> for $step {
            fn from(keys: $keys) -> $step {
                let $keys { role, name, nth, $($field),+ } = keys;
                $step { element: Element { role, name, nth }, $($field),+ }
            }
        }

        impl From<$step> for $keys {
            fn from(step: $step) -> $keys {
                let $step { element: Element { role, name, nth }, $($field),+ } = step;
                $keys { role, name, nth, $($field),+ }
            }
        }
    };
}

flat_keys!(ClickKeys for Click {
    #[serde(default, skip_serializing_if = "MouseButton::is_left")]
    button: MouseButton,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    modifiers: Vec<ModifierKey>
});
flat_keys!(FillKeys for Fill { value: String });
flat_keys!(SelectKeys for Select { options: Vec<String> });
flat_keys!(PressKeys for Press { keys: String });
