//! What is seen of a page.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::{Dialog, Download};

/// The state of the active page. Equal for equal pages of equal worlds. Formats that
/// [`ObservationOptions`](crate::ObservationOptions) does not ask for are empty.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Observation {
    /// The page's URL.
    pub url: String,
    /// Its title.
    pub title: String,
    /// Its accessibility tree, including frames.
    pub axtree: String,
    /// The bid of the focused element.
    pub focused: Option<String>,
    /// The last action, in BrowserGym's notation.
    pub last_action: Option<String>,
    /// The reason why the last action had no effect, if it had none.
    pub last_action_error: Option<String>,
    /// Dialogs since the last action began.
    pub dialogs: Vec<Dialog>,
    /// Downloads since then.
    pub downloads: Vec<Download>,
    /// Texts that have appeared in the page since the last action and are gone again, in order.
    /// They begin with `alert: ` or `status: ` where the page says that they are such.
    pub notices: Vec<String>,
    /// All open tabs, in the order of their opening.
    pub tabs: Vec<Tab>,
    /// The index of the observed tab, counted from 0.
    pub active_tab: usize,
    /// How long the episode has lasted by the page's clock, in milliseconds; by the machine's clock
    /// in a live browser.
    pub elapsed_ms: u64,
    /// The elements of the tree, in its order.
    pub elements: Vec<Element>,
    /// The boxes of the tree's elements that are in view, by their bids.
    pub boxes: BTreeMap<String, ElementBox>,
    /// The properties of all elements with a bid, in the order of their numbers, frame by frame.
    pub properties: Vec<(String, Properties)>,
    /// WebArena's text of the tree.
    pub webarena: Option<String>,
    /// VisualWebArena's list of interactive elements and texts in view.
    pub visualwebarena: Option<String>,
    /// WebCanvas's list of interactive elements.
    pub webcanvas: Option<String>,
    /// The fields of the page and its frames, and the HTML around each.
    pub turkingbench: Option<Vec<Field>>,
    /// The HTML of the documents, the page's own first. Frames that no script can reach are left
    /// out.
    pub html: Option<Vec<Html>>,
    /// BrowserGym's pruned HTML.
    pub pruned_html: Option<String>,
    /// BrowserGym's `dom_object`.
    pub dom: Option<Value>,
    /// BrowserGym's `axtree_object`.
    pub axtree_object: Option<Value>,
}

impl Observation {
    /// The first element with this role and name, exactly as the tree shows them.
    pub fn find(&self, role: &str, name: &str) -> Option<&Element> {
        self.elements.iter().find(|element| element.role == role && element.name == name)
    }
}

/// An element in the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Element {
    /// The id by which actions name it.
    pub bid: String,
    /// Its role, such as `link`.
    pub role: String,
    /// Its accessible name.
    pub name: String,
}

/// Left, top, width and height in whole CSS pixels from the upper left corner of the screen.
pub type ElementBox = [i32; 4];

/// The properties of one element.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Properties {
    /// The part of it that is in view: 0 is nothing, 1 all of it.
    pub visibility: f64,
    /// Left, top, width and height in CSS pixels from the upper left corner of the screen; `None`
    /// if it is not shown.
    pub bbox: Option<[f64; 4]>,
    /// It listens to clicks.
    pub clickable: bool,
    /// It gets a number on a picture with numbers.
    pub set_of_marks: bool,
}

impl Properties {
    /// At least half of it is in view.
    pub fn is_visible(&self) -> bool {
        self.visibility >= 0.5
    }
}

/// An open tab.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Tab {
    /// The page's URL.
    pub url: String,
    /// Its title.
    pub title: String,
}

/// A field, and the HTML around it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Field {
    /// The name by which actions mean it.
    pub name: String,
    /// `text`, `radio`, `checkbox`, `textarea`, `select` and so on.
    pub kind: String,
    /// The HTML around it; `None` if it has no grandparent element.
    pub html: Option<String>,
}

/// A document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Html {
    /// The bid of the element that shows it; empty for the page itself.
    pub frame: String,
    /// Its URL.
    pub url: String,
    /// Its HTML.
    pub html: String,
}
