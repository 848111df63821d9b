//! The formats in which an agent wants its observations.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{PrunedHtml, TreeText};

/// What is observed, and how it is written. Each requested format is in the
/// [`Observation`](crate::Observation) under the same name. Other formats are not produced.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "each stands for a form of its own")]
pub struct ObservationOptions {
    /// BrowserGym's text of the accessibility tree. It is always produced; without it the agent
    /// does not get it.
    pub axtree: Option<TreeText>,
    /// Whether elements have properties: BrowserGym's `extra_element_properties`.
    pub properties: bool,
    /// WebArena's text of the accessibility tree.
    pub webarena: Option<WebArena>,
    /// VisualWebArena's list of interactive elements and texts in view.
    pub visualwebarena: bool,
    /// WebCanvas's list of interactive elements.
    pub webcanvas: bool,
    /// The HTML around each field, as TurkingBench's agents get it.
    pub turkingbench: bool,
    /// The HTML of the documents.
    pub html: bool,
    /// BrowserGym's pruned HTML.
    pub pruned_html: Option<PrunedHtml>,
    /// BrowserGym's `dom_object`: the browser's own snapshot of all documents.
    pub dom: bool,
    /// BrowserGym's `axtree_object`: the browser's own accessibility trees, put together.
    pub axtree_object: bool,
    /// How the screenshot is taken.
    pub screenshot: ScreenshotOptions,
}

impl Default for ObservationOptions {
    fn default() -> Self {
        Self {
            axtree: Some(TreeText::default()),
            properties: false,
            webarena: None,
            visualwebarena: false,
            webcanvas: false,
            turkingbench: false,
            html: false,
            pruned_html: None,
            dom: false,
            axtree_object: false,
            screenshot: ScreenshotOptions::default(),
        }
    }
}

impl ObservationOptions {
    /// Adds the formats of other options. These options decide where both have a format.
    #[must_use]
    pub fn and(self, other: ObservationOptions) -> ObservationOptions {
        ObservationOptions {
            axtree: self.axtree.or(other.axtree),
            properties: self.properties || other.properties,
            webarena: self.webarena.or(other.webarena),
            visualwebarena: self.visualwebarena || other.visualwebarena,
            webcanvas: self.webcanvas || other.webcanvas,
            turkingbench: self.turkingbench || other.turkingbench,
            html: self.html || other.html,
            pruned_html: self.pruned_html.or(other.pruned_html),
            dom: self.dom || other.dom,
            axtree_object: self.axtree_object || other.axtree_object,
            screenshot: self.screenshot,
        }
    }

    /// Whether it needs the properties of elements.
    pub fn needs_properties(&self) -> bool {
        self.properties
            || self.axtree.as_ref().is_some_and(TreeText::needs_properties)
            || self.pruned_html.as_ref().is_some_and(|pruned| pruned.as_tree().needs_properties())
    }

    /// Whether it needs the browser's snapshot of the page.
    pub fn needs_snapshot(&self) -> bool {
        let limited = self.webarena.as_ref().is_some_and(|webarena| webarena.viewport_only);
        self.needs_properties()
            || limited
            || self.pruned_html.is_some()
            || self.webcanvas
            || self.dom
    }
}

/// How WebArena's text is written. The default is that of its published runs (`run.py`,
/// `parallel_run.sh`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct WebArena {
    /// Leaves out nodes that are out of view: `current_viewport_only`.
    pub viewport_only: bool,
    /// Shows the contents of frames.
    pub frames: bool,
    /// `max_obs_length`; `None` cuts nothing.
    pub max_tokens: Option<usize>,
}

impl Default for WebArena {
    fn default() -> Self {
        Self { viewport_only: false, frames: false, max_tokens: Some(1920) }
    }
}

/// How a screenshot is taken.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ScreenshotOptions {
    /// The full page instead of the view; 16,384 pixels of it at most, in each direction.
    pub full_page: bool,
    /// The elements whose bids are drawn on it; none by default. Only elements in view have one.
    pub marks: Option<Marks>,
}

/// The benchmark whose choice of elements it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Marks {
    /// BrowserGym's: those with `set_of_marks`.
    BrowserGym,
    /// VisualWebArena's: the interactive ones of its list.
    VisualWebArena,
}
